# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From options to manifests: what is written, what is kept, and what is refused."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure import (
    cluster_manifest,
    pool_manifest,
    secrets,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    HEALTH_TIMEOUT,
    NODE_DELETION_TIMEOUT,
    STARTUP_TIMEOUT,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import at
from ansible_collections.metalshift.maas.plugins.modules import hosted_cluster, node_pool


def options(module: Any, given: dict[str, Any]) -> dict[str, Any]:
    """As Ansible hands them over."""
    return {**{name: option.get("default") for name, option in module.SPEC.argument_spec.items()}, **given}


def cluster_options(**given: Any) -> dict[str, Any]:
    return options(hosted_cluster, {"name": "demo", **given})


def pool_options(**given: Any) -> dict[str, Any]:
    return options(node_pool, {"name": "w", "cluster": "demo", **given})


WHOLE: dict[str, Any] = {
    "release": "registry.example/ocp:4.20.8",
    "base_domain": "lab.example",
    "services_address": "192.0.2.10",
    "pull_secret": '{"auths": {"registry.example": {}}}',
}
LIVE = {
    "metadata": {"name": "demo", "namespace": "clusters"},
    "spec": {
        "platform": {"type": "MAAS", "maas": {"identityRef": {"name": "demo-maas-credentials"}}},
        "pullSecret": {"name": "other"},
        "release": {"image": "registry.example/ocp:4.20.8"},
        "networking": {"networkType": "OVNKubernetes"},
    },
}
POOL = {
    "metadata": {"name": "w", "namespace": "clusters"},
    "spec": {
        "clusterName": "demo",
        "platform": {"type": "MAAS"},
        "replicas": 2,
        "management": {
            "upgradeType": "Replace",
            "replace": {"strategy": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        },
    },
}


def test_a_new_cluster_is_encrypted_published_and_on_maas() -> None:
    spec = cluster_manifest.manifest(cluster_options(**WHOLE), None, {})["spec"]
    assert spec["secretEncryption"] == {
        "type": "aescbc",
        "aescbc": {"activeKey": {"name": "demo-etcd-encryption-key"}},
    }
    assert spec["platform"] == {"type": "MAAS", "maas": {"identityRef": {"name": "demo-maas-credentials"}}}
    assert [each["service"] for each in spec["services"]] == [
        "APIServer",
        "Ignition",
        "Konnectivity",
        "OAuthServer",
        "OIDC",
    ]
    assert spec["pullSecret"] == {"name": "demo-pull-secret"}
    assert "sshKey" not in spec


def test_a_cluster_that_is_there_gets_only_what_the_task_says() -> None:
    body = cluster_manifest.manifest(cluster_options(paused=True), LIVE, {})
    assert body["spec"] == {"pausedUntil": "true"}
    assert body["metadata"] == {"name": "demo", "namespace": "clusters"}


def test_what_was_applied_before_is_applied_again() -> None:
    kept = {"spec": {"release": {"image": "old"}, "fips": False}, "metadata": {"labels": {"a": "b"}}}
    body = cluster_manifest.manifest(cluster_options(release="new"), LIVE, kept)
    assert body["spec"] == {"release": {"image": "new"}, "fips": False}
    assert body["metadata"]["labels"]["a"] == "b"


def test_overrides_come_last_and_null_takes_away() -> None:
    given = {"release": {"image": "override"}, "networking": None, "autoscaling": {"maxNodesTotal": 5}}
    kept = {"spec": {"networking": {"networkType": "Other"}}}
    body = cluster_manifest.manifest(cluster_options(release="new", spec_overrides=given), LIVE, kept)
    assert body["spec"] == {"release": {"image": "override"}, "autoscaling": {"maxNodesTotal": 5}}


def test_annotations_take_the_place_of_earlier_ones_but_not_of_our_own() -> None:
    image = cluster_manifest.PROVIDER_IMAGE
    kept = {"metadata": {"annotations": {"old": "1", image: "x:v4.9.5-spectro"}}, "spec": {}}
    body = cluster_manifest.manifest(cluster_options(annotations={"new": 2, "none": None}), LIVE, kept)
    assert body["metadata"]["annotations"] == {"new": "2", image: "x:v4.9.5-spectro"}


@pytest.mark.parametrize(
    ("there", "paused", "wanted"),
    [
        (None, True, "true"),
        ("True", True, "True"),
        (None, False, None),
        ("true", False, "false"),
        ("false", False, None),
        ("2030-01-01T00:00:00Z", True, "true"),
    ],
)
def test_a_pause(there: str | None, paused: bool, wanted: str | None) -> None:
    live = {"metadata": {}, "spec": {**({"pausedUntil": there} if there else {})}}
    body = cluster_manifest.manifest(cluster_options(paused=paused), live, {})
    assert at(body, ("spec", "pausedUntil")) == wanted


def test_our_own_pause_is_taken_away() -> None:
    live = {"metadata": {}, "spec": {**LIVE["spec"], "pausedUntil": "true"}}
    body = cluster_manifest.manifest(cluster_options(paused=False), live, {"spec": {"pausedUntil": "true"}})
    assert "spec" not in body


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "lacks release (the release image), base_domain (the domain"),
    ({**WHOLE, "pull_secret": None}, "lacks pull_secret or pull_secret_name"),
    ({**WHOLE, "services_address": None}, "lacks services_address or services"),
]


@pytest.mark.parametrize(("given", "says"), REFUSED, ids=[says for _given, says in REFUSED])
def test_a_cluster_cannot_be_created_from_too_little(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Failure) as caught:
        cluster_manifest.refuse_incomplete(cluster_options(**given), "X")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"etcd_encryption": True}, "etcd_encryption: true"),
        ({"etcd_encryption_secret": "key"}, "etcd_encryption_secret: key"),
        ({"spec_overrides": {"secretEncryption": {"type": "kms"}}}, "spec_overrides with secretEncryption"),
    ],
)
def test_what_is_not_encrypted_is_not_encrypted_later(given: dict[str, Any], says: str) -> None:
    options, live = cluster_options(**given), {"spec": {"platform": {"type": "MAAS"}}}
    wanted = cluster_manifest.manifest(options, live, {})
    with pytest.raises(Failure, match=f"it is not encrypted, and {says} is asked for"):
        cluster_manifest.refuse_late_encryption(options, live, wanted, "X")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"platform": "none", "zone": "az1"}, "zone is for platform maas, not None"),
        ({"platform": "none", "zone": "az1", "provider_image": "x"}, "zone, provider_image are for platform maas"),
        ({"platform": "none", "wait_for": "nodes"}, "wait_for: nodes is not possible on platform none"),
        ({"platform": "none", "wait_for": "complete"}, "wait_for: complete is not possible on platform none"),
        ({"etcd_encryption": False, "etcd_encryption_secret": "x"}, "contradicts etcd_encryption_secret"),
    ],
)
def test_contradictions_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Failure, match=says):
        cluster_manifest.refuse_contradictions(cluster_options(**given), None)


def test_platform_none_may_wait_for_its_control_plane() -> None:
    cluster_manifest.refuse_contradictions(cluster_options(platform="none"), None)
    cluster_manifest.refuse_contradictions(cluster_options(platform="none", wait_for="nodes", wait=False), None)
    cluster_manifest.refuse_contradictions(cluster_options(platform="none", wait_for="ignition"), None)


@pytest.mark.parametrize(
    ("there", "asked", "refused"),
    [("aescbc", False, True), (None, True, True), ("aescbc", True, False), (None, None, False), (None, False, False)],
)
def test_encryption_cannot_come_or_go_later(there: str | None, asked: bool | None, refused: bool) -> None:
    live = {"spec": {"secretEncryption": {"type": there}} if there else {}}
    wish = cluster_options(etcd_encryption=asked)
    if refused:
        with pytest.raises(Failure, match="cannot be encrypted otherwise"):
            cluster_manifest.refuse_late_encryption(wish, live, live, "X")
    else:
        cluster_manifest.refuse_late_encryption(wish, live, live, "X")


# -- node pools ------------------------------------------------------------------------------------------------------


def pool(live: Any = None, kept: Any = None, **given: Any) -> dict[str, Any]:
    return pool_manifest.manifest(pool_options(**given), live, kept or {}, LIVE, None)


def test_a_new_pool_has_bounded_removals_and_the_release_of_its_cluster() -> None:
    body = pool(image="custom/rhcos", replicas=2)
    spec = body["spec"]
    assert (spec["nodeDrainTimeout"], spec["nodeVolumeDetachTimeout"]) == ("20m0s", "10m0s")
    assert body["metadata"]["annotations"] == {NODE_DELETION_TIMEOUT: "5m0s"}
    assert spec["release"] == LIVE["spec"]["release"]
    assert spec["platform"]["maas"]["identityRef"] == {"name": "demo-maas-credentials"}
    assert spec["management"]["replace"] == {
        "strategy": "RollingUpdate",
        "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0},
    }


def test_a_pool_that_repairs_itself_gives_maas_its_time() -> None:
    annotations = pool(image="x", auto_repair=True)["metadata"]["annotations"]
    assert annotations[STARTUP_TIMEOUT] == "1h0m0s"
    assert annotations[HEALTH_TIMEOUT] == "15m0s"


def test_a_pool_that_comes_to_repair_itself_gives_maas_its_time_as_well() -> None:
    there = {**POOL, "spec": {**POOL["spec"], "management": {"autoRepair": False}}}
    annotations = pool(there, {}, auto_repair=True)["metadata"]["annotations"]
    assert annotations == {STARTUP_TIMEOUT: "1h0m0s", HEALTH_TIMEOUT: "15m0s"}
    there["metadata"] = {**POOL.get("metadata", {}), "annotations": {STARTUP_TIMEOUT: "45m0s"}}
    annotations = pool(there, {}, auto_repair=True)["metadata"]["annotations"]
    assert annotations == {HEALTH_TIMEOUT: "15m0s"}
    there["spec"]["management"]["autoRepair"] = True
    assert not pool(there, {}, auto_repair=True)["metadata"].get("annotations")


def test_labels_of_a_pool_keep_the_one_that_names_its_cluster() -> None:
    ours = secrets.labels("demo")
    kept = {"metadata": {"labels": {**ours, "tier": "gold"}}}
    for cluster in (None, "demo"):
        assert pool(POOL, kept, labels={"tier": "silver"}, cluster=cluster)["metadata"]["labels"] == {
            **ours,
            "tier": "silver",
        }


def test_replicas_and_autoscaling_take_each_others_place() -> None:
    kept = {"spec": {"replicas": 2}}
    assert pool(POOL, kept, autoscaling={"min": 1, "max": 3})["spec"] == {
        "autoScaling": {"min": 1, "max": 3},
        "clusterName": "demo",
    }
    kept = {"spec": {"autoScaling": {"min": 1, "max": 3}}}
    assert pool(POOL, kept, replicas=0)["spec"] == {"replicas": 0, "clusterName": "demo"}


@pytest.mark.parametrize(
    ("given", "replace"),
    [
        ({"strategy": "OnDelete"}, {"strategy": "OnDelete"}),
        ({"max_unavailable": "1"}, {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}),
        ({"max_surge": "25%"}, {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}),
    ],
)
def test_the_way_of_upgrades_is_written_whole(given: dict[str, Any], replace: dict[str, Any]) -> None:
    assert pool(POOL, {}, **given)["spec"]["management"]["replace"] == replace


def test_an_upgrade_in_place_says_nothing_of_replacing() -> None:
    management = pool(image="x", upgrade_type="InPlace", max_unavailable="2")["spec"]["management"]
    assert management == {"upgradeType": "InPlace", "inPlace": {"maxUnavailable": 2}, "autoRepair": False}


def test_an_empty_list_takes_away_what_was_applied() -> None:
    kept = {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
    assert "taints" not in pool(POOL, kept, taints=[])["spec"]
    assert pool(POOL, kept)["spec"]["taints"] == kept["spec"]["taints"]


POOLS_REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "image is missing"),
    ({"image": "x", "arch": "arm64"}, "arch arm64 is not possible on platform maas"),
    ({"image": "x", "min_cpu": 0}, "min_cpu is 0"),
    ({"image": "x", "min_memory": 512}, "min_memory is 512 MiB, and must be at least 1024 MiB"),
    ({"image": "x", "tags": list("abcdefghijk")}, "tags has 11 entries"),
    ({"image": "x", "replicas": 1, "autoscaling": {"min": 1, "max": 2}}, "replicas and autoscaling exclude each other"),
    ({"image": "x", "replicas": -1}, "replicas is -1"),
    ({"image": "x", "autoscaling": {"min": 0, "max": 2}}, "autoscaling.min is 0"),
    ({"image": "x", "autoscaling": {"min": 3, "max": 2}}, "autoscaling.max is 2, less than"),
    ({"image": "x", "machine_type": "m1"}, "machine_type would be accepted and ignored by HyperShift; instead, give"),
    ({"image": "x", "min_disk_size": 100}, "min_disk_size would be accepted and ignored"),
    ({"image": "x", "lxd": {"enabled": True}}, "lxd would be accepted and ignored"),
    ({"image": "x", "static_ip": {"ip": "192.0.2.1"}}, "static_ip would be accepted and ignored"),
    ({"image": "x", "upgrade_type": "InPlace", "strategy": "OnDelete"}, "strategy is for upgrade_type Replace"),
    ({"image": "x", "strategy": "OnDelete", "max_surge": "1"}, "max_surge is for strategy RollingUpdate"),
    ({"image": "x", "max_surge": "0", "max_unavailable": "0"}, "no node could ever be replaced"),
    ({"image": "x", "max_surge": "0"}, "max_surge and max_unavailable would both be 0 (max_unavailable is not said)"),
    ({"image": "x", "max_surge": "00%", "max_unavailable": "0%"}, "no node could ever be replaced"),
    ({"image": "x", "max_surge": "many"}, "max_surge is 'many', neither a number nor a percentage"),
]


@pytest.mark.parametrize(("given", "says"), POOLS_REFUSED, ids=[says for _given, says in POOLS_REFUSED])
def test_a_pool_that_would_fail_later_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Failure) as caught:
        pool_manifest.refuse_contradictions(pool_options(**given), None, LIVE, "X")
    assert says in str(caught.value)


def test_what_is_ignored_is_written_when_that_is_said() -> None:
    given = {"image": "x", "machine_type": "m1", "min_disk_size": 100, "allow_ignored": True}
    pool_manifest.refuse_contradictions(pool_options(**given), None, LIVE, "X")
    maas = pool(**given)["spec"]["platform"]["maas"]
    assert (maas["machineType"], maas["minDiskSize"]) == ("m1", 100)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"image": "x", "wait": False}, "image is for platform maas, not None"),
        ({}, "wait_for: nodes is not possible for X: on platform none nobody makes nodes"),
        ({"wait_for": "complete"}, "wait_for: complete is not possible for X"),
    ],
)
def test_a_pool_on_platform_none_has_no_machines(given: dict[str, Any], says: str) -> None:
    cluster = {"spec": {"platform": {"type": "None"}}}
    with pytest.raises(Failure, match=says):
        pool_manifest.refuse_contradictions(pool_options(**given), None, cluster, "X")


def test_a_number_that_somebody_else_set_is_named_with_whose_it_is() -> None:
    fields = [{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]
    live = {**POOL, "metadata": {**POOL["metadata"], "managedFields": fields}}
    with pytest.raises(Failure, match="cannot have autoscaling while it has replicas, which kubectl set"):
        pool_manifest.refuse_foreign_replicas(pool_options(autoscaling={"min": 1, "max": 2}), live, "X")


# -- secrets ---------------------------------------------------------------------------------------------------------

SSH = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG1ldGFsc2hpZnQ someone@example"


@pytest.mark.parametrize(
    ("make", "text", "says"),
    [
        (secrets.pull_secret, "not json", "pull_secret is not JSON"),
        (secrets.pull_secret, "{}", "pull_secret has no auths"),
        (secrets.pull_secret, '{"auths": {}}', "pull_secret has no auths"),
        (secrets.ssh_key, "-----BEGIN OPENSSH PRIVATE KEY-----", "holds a private key"),
        (secrets.ssh_key, "hello", "not a public key of SSH"),
        (secrets.ssh_key, "", "not a public key of SSH"),
        (secrets.trust_bundle, "hello", "holds no certificate"),
    ],
)
def test_content_that_is_none_is_refused_and_not_shown(make: Any, text: str, says: str) -> None:
    with pytest.raises(Failure, match=says) as caught:
        make("n", "ns", "demo", text)
    assert "hello" not in str(caught.value)


def test_several_ssh_keys_are_fine() -> None:
    body = secrets.ssh_key("n", "ns", "demo", f"{SSH}\n{SSH}\n")
    assert base64.b64decode(body["data"]["id_rsa.pub"]).decode() == f"{SSH}\n{SSH}"


def test_logins_that_mean_the_same_are_the_same() -> None:
    one = secrets.pull_secret("n", "ns", "demo", '{"auths": {"a": {"auth": "x"}}}')
    other = {"data": {".dockerconfigjson": base64.b64encode(b'{"auths":{"a":{"auth":"x"}}}\n').decode()}}
    assert secrets.same_content(other, one)
    assert not secrets.same_content(secrets.pull_secret("n", "ns", "demo", '{"auths": {"b": {}}}'), one)


def test_what_a_secret_holds_is_not_shown() -> None:
    body = secrets.credentials("n", "ns", "demo", "http://maas", "a:b:secret")
    assert secrets.shown(body)["data"] == {"MAAS_ENDPOINT": secrets.HIDDEN, "MAAS_API_KEY": secrets.HIDDEN}


@pytest.mark.parametrize(
    ("surge", "unavailable", "given", "refused"),
    [
        (0, 1, {"max_unavailable": "0"}, True),
        ("25%", 0, {"max_surge": "0%"}, True),
        (1, 0, {"max_unavailable": "0"}, False),
        (0, 1, {"max_surge": "0"}, False),
        (0, 0, {}, False),
    ],
)
def test_what_a_pool_has_counts_with_what_is_asked(
    surge: Any, unavailable: Any, given: dict[str, Any], refused: bool
) -> None:
    """Both are written together, so that one alone may make a pool that could never be upgraded."""
    update = {"maxSurge": surge, "maxUnavailable": unavailable}
    replace = {"strategy": "RollingUpdate", "rollingUpdate": update}
    live = {**POOL, "spec": {**POOL["spec"], "management": {"replace": replace}}}
    options = pool_options(**given)
    if refused:
        with pytest.raises(Failure, match="would both be 0"):
            pool_manifest.refuse_contradictions(options, live, LIVE, "X")
    else:
        pool_manifest.refuse_contradictions(options, live, LIVE, "X")
