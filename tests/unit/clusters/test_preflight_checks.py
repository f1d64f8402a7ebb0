# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would fail later is said before, with the name of what it fails at."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight import checks
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.checks import (
    Check,
    ClusterSpec,
    Demand,
    PoolSpec,
    Service,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.registry import (
    Image,
    RegistryAnswer,
    login_for,
)

Object = dict[str, Any]
RELEASE = "quay.example/ocp/release:4.20.8-x86_64"


def wish(**more: Any) -> ClusterSpec:
    return ClusterSpec(
        **{"namespace": "clusters", "name": "demo", "base_domain": "example.com", "release": RELEASE, **more}
    )


def pool(replicas: int = 2, name: str = "workers", **more: Any) -> PoolSpec:
    maas = more.pop("maas", {"tags": ["worker"]})
    return PoolSpec(name, replicas, image="custom/rhcos", maas=maas, **more)


def machine(name: str = "m", zone: str = "az1", *, disk: str = "sda", arch: str = "amd64") -> Object:
    return {
        "hostname": name,
        "zone": {"name": zone},
        "pool": {"name": "openshift"},
        "tag_names": ["worker"],
        "cpu_count": 8,
        "memory": 32768,
        "architecture": f"{arch}/generic",
        "blockdevice_set": [{"name": disk}],
    }


def node_pool(cluster: str, replicas: int, name: str = "np", **maas: Any) -> Object:
    spec = {"clusterName": cluster, "replicas": replicas, "platform": {"type": "MAAS", "maas": maas}}
    return {"metadata": {"name": name, "namespace": "clusters"}, "spec": spec}


def cluster(name: str, created: str, asks: str = "", uid: str = "1") -> Object:
    notes = {"metalshift.maas/asks-for": asks} if asks else {}
    metadata = {"name": name, "namespace": "clusters", "creationTimestamp": created, "uid": uid, "annotations": notes}
    return {"metadata": metadata, "status": {}}


def only(found: Iterable[Check]) -> Check:
    (check,) = found
    return check


def named(found: Iterable[Check], name: str) -> Check:
    return next(check for check in found if check.name == name)


def on_machines(wanted: ClusterSpec, ready: list[Object], clusters: Any = (), pools: Any = ()) -> list[Check]:
    return list(checks.capacity(Demand.of(wanted, clusters, pools, []), ready))


# -- machines ------------------------------------------------------------------------------------------------------


def test_enough_machines_with_one_to_spare() -> None:
    found = on_machines(wish(pools=[pool(2)]), [machine() for _each in range(3)])
    assert [check.status for check in found] == ["ok", "ok"]


def test_no_spare_machine_for_an_upgrade_is_only_a_warning() -> None:
    found = on_machines(wish(pools=[pool(2)]), [machine(), machine()])
    assert named(found, "machines for workers").status == "ok"
    spare = named(found, "spare machines")
    assert spare.status == "warning"
    assert "max_surge to 0" in spare.advice


@pytest.mark.parametrize("more", [{"upgrade_type": "InPlace"}, {"max_surge": 0}])
def test_who_upgrades_without_surge_needs_no_spare_machine(more: Any) -> None:
    assert len(on_machines(wish(pools=[pool(2, **more)]), [machine(), machine()])) == 1


def test_all_pools_are_counted_together() -> None:
    pools = [pool(2, "a"), pool(2, "b")]
    found = on_machines(wish(pools=pools), [machine(), machine(), machine()])
    assert (named(found, "machines for a").status, named(found, "machines for b").status) == ("ok", "failed")
    assert "clusters/demo/a still asks for 2" in named(found, "machines for b").found


def test_the_shortfall_names_the_zone_and_the_claim_of_the_other_cluster() -> None:
    found = on_machines(
        wish(pools=[pool(2, maas={"zone": "az1"})]),
        [machine(), machine(), machine("x", "az2")],
        pools=[node_pool("other", 1, zone="az1")],
    )
    check = named(found, "machines for workers")
    assert check.status == "failed"
    assert "2 machines asked for (zone az1" in check.found
    assert "1 available: az1: 2 ready, 2 fit" in check.found
    assert "clusters/other/np still asks for 1" in check.found
    assert "wait until clusters/other has what it asks for" in check.advice


def test_another_cluster_elsewhere_is_no_rival() -> None:
    found = on_machines(
        wish(pools=[pool(1, maas={"zone": "az1"})]),
        [machine(), machine("x", "az2")],
        pools=[node_pool("other", 1, zone="az2")],
    )
    assert named(found, "machines for workers").status == "ok"


def test_a_node_pool_that_exists_keeps_what_it_asks_for_where_nothing_else_is_wished() -> None:
    there = [node_pool("demo", 1, "workers", zone="az2", tags=["worker"])]
    found = on_machines(wish(pools=[pool(2, maas={})]), [machine(), machine("x", "az2")], pools=there)
    assert "zone az2, tag worker" in named(found, "machines for workers").found


ASKS = '[{"name":"workers","count":2,"maas":{}}]'


@pytest.mark.parametrize(("this", "status"), [("2026-01-01T00:00:00Z", "ok"), ("2026-01-01T00:00:02Z", "failed")])
def test_of_two_that_announced_the_elder_has_the_machines(this: str, status: str) -> None:
    clusters = [cluster("demo", this, ASKS), cluster("other", "2026-01-01T00:00:01Z", ASKS)]
    found = on_machines(wish(pools=[pool(2)]), [machine(), machine(), machine()], clusters)
    assert named(found, "machines for workers").status == status


def test_who_is_not_there_yet_comes_after_all_that_announced() -> None:
    found = on_machines(wish(pools=[pool(2)]), [machine(), machine()], [cluster("other", "2026-01-01T00:00:01Z", ASKS)])
    assert named(found, "machines for workers").status == "failed"


def announcing(asks: str, **spec: Any) -> Object:
    return {**cluster("other", "2026-01-01T00:00:01Z", asks), "spec": {"platform": {"type": "MAAS"}, **spec}}


@pytest.mark.parametrize(
    "asks",
    [
        '[{"name":"x","count":1,"maas":"boom"}]',
        '[{"name":"x","count":1,"maas":{"tags":7}}]',
        '[{"name":"x","count":1,"maas":{"minMemory":"much"}}]',
        '[{"name":"x","count":1,"maas":{"minCpu":[1]}}]',
        '[{"name":"x","count":-1,"maas":{}}]',
        '[{"name":"x","count":1.5,"maas":{}}]',
        "boom",
        "7",
        "[" * 100_000,
    ],
)
def test_an_announcement_that_nobody_understands_stops_nobody(asks: str) -> None:
    found = on_machines(wish(pools=[pool(2)]), [machine(), machine()], [announcing(asks)])
    assert named(found, "machines for workers").status == "ok"
    said = named(found, "announcements")
    assert (said.status, said.found) == (
        "warning",
        "What clusters/other announces cannot be understood. It was not counted.",
    )


def test_more_machines_than_there_are_are_not_counted() -> None:
    """In one entry, or in many small ones."""
    for entries in ('{"name":"a","count":100000}', '{"name":"a","count":2},{"name":"b","count":1}'):
        found = on_machines(wish(pools=[pool(2)]), [machine(), machine()], [announcing(f"[{entries}]")])
        assert named(found, "machines for workers").status == "ok"
        assert "more than are Ready. It was not counted." in named(found, "announcements").found


@pytest.mark.parametrize("spec", [{"platform": {"type": "None"}}, {"pausedUntil": "true"}])
def test_a_cluster_that_takes_no_machines_announces_none(spec: dict[str, Any]) -> None:
    found = on_machines(wish(pools=[pool(2)]), [machine(), machine()], [announcing(ASKS, **spec)])
    assert [check.status for check in found] == ["ok", "warning"], "there is only none to spare"


def test_names_that_maas_has_not_got_are_all_told() -> None:
    wanted = wish(pools=[pool(maas={"zone": "az9", "resourcePool": "openshift", "tags": ["gpu", "worker"]})])
    check = only(checks.known_names(wanted, [{"name": "az1"}], [{"name": "openshift"}], [{"name": "worker"}]))
    assert check.status == "failed"
    assert check.found == "MAAS does not have tag gpu and zone az9."


IMAGES = [
    {"name": "custom/rhcos", "architecture": "amd64/generic", "type": "Uploaded"},
    {"name": "arm-only", "architecture": "arm64/generic", "type": "Uploaded"},
    {"name": "ubuntu/noble", "architecture": "amd64/ga-24.04", "type": "Synced"},
]


@pytest.mark.parametrize(
    ("image", "status"),
    [
        ("custom/rhcos", "ok"),
        ("rhcos", "ok"),
        ("ubuntu/noble", "ok"),
        ("rhcos-2", "failed"),
        ("custom/arm-only", "failed"),
        ("", "failed"),
    ],
)
def test_the_image_must_be_in_maas_for_amd64(image: str, status: str) -> None:
    wanted = wish(pools=[PoolSpec("workers", 1, image=image)])
    assert only(checks.images(wanted, IMAGES)).status == status


def test_machines_with_nvme_only_are_named() -> None:
    demand = Demand.of(wish(pools=[pool()]), [], [], [])
    check = only(checks.disks(demand, [machine(), machine("fast", disk="nvme0n1")]))
    assert check.status == "warning"
    assert "fast has no such disk" in check.found


def test_other_architectures_among_the_candidates_are_named() -> None:
    wanted = wish(pools=[pool()])
    check = only(checks.architectures(wanted, Demand.of(wanted, [], [], []), [machine("pi", arch="arm64")]))
    assert check.status == "warning"
    assert "pi is not of amd64" in check.found


def test_a_node_pool_for_arm64_is_refused() -> None:
    wanted = wish(pools=[pool(arch="arm64")])
    assert only(checks.architectures(wanted, Demand.of(wanted, [], [], []), [])).status == "failed"


def test_the_fixed_user_is_always_told_and_mirrors_end_it() -> None:
    assert [check.status for check in checks.the_fork(wish())] == ["warning"]
    assert [check.status for check in checks.the_fork(wish(image_content_sources=True))] == ["warning", "failed"]


# -- MAAS ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("user", "dns", "status"),
    [
        ({"is_superuser": True}, True, "ok"),
        ({"username": "bob"}, True, "failed"),
        ({"username": "bob"}, False, "warning"),
    ],
)
def test_rights_in_maas(user: Object, dns: bool, status: str) -> None:
    assert only(checks.rights_in_maas(wish(dns_in_maas=dns), user)).status == status


ADMIN, TENANT = {"username": "admin", "is_superuser": True}, {"username": "tenant", "is_superuser": False}


@pytest.mark.parametrize(
    ("wanted", "user", "is_there", "status"),
    [
        ({}, ADMIN, False, "ok"),
        ({}, TENANT, False, "failed"),
        ({"allow_plain_maas_user": True}, TENANT, False, "warning"),
        ({}, TENANT, True, "ok"),
        ({"own_provider_key": True}, TENANT, True, "failed"),
    ],
    ids=["administrator", "plain", "plain and allowed", "keeps its own", "gets a plain one"],
)
def test_the_key_of_the_provider_must_be_an_administrators(
    wanted: dict[str, Any], user: Object, is_there: bool, status: str
) -> None:
    clusters = [cluster("demo", "2026-01-01T00:00:00Z")] if is_there else []
    assert only(checks.provider_key(wish(**wanted), user, clusters)).status == status


def test_the_control_plane_operator_of_a_release_is_a_warning_unless_another_is_named() -> None:
    assert only(checks.control_plane_operator(wish(), [])).status == "warning"
    named = wish(control_plane_operator_image="registry.example/hypershift:maas")
    assert only(checks.control_plane_operator(named, [])).status == "ok"
    there = cluster("demo", "2026-01-01T00:00:00Z")
    there["metadata"]["annotations"]["hypershift.openshift.io/control-plane-operator-image"] = "x"
    assert only(checks.control_plane_operator(wish(), [there])).status == "ok"


def test_names_that_nobody_resolves_are_told() -> None:
    check = only(checks.names_in_dns(wish(), [], {"api.demo.example.com": "10.0.0.1"}))
    assert check.status == "warning"
    assert "api-int.demo.example.com and console.apps.demo.example.com do not resolve" in check.found


EARLY, LATE = "2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z"


@pytest.mark.parametrize(
    ("own", "other", "status"),
    [
        ("", {}, "failed"),
        (LATE, {}, "failed"),
        (EARLY, {}, "warning"),
        ("", {"name": "another"}, "ok"),
        ("", {"base": "example.org"}, "ok"),
        ("", {"name": "another", "prefix": "demo"}, "failed"),
    ],
)
def test_a_name_and_base_domain_that_another_cluster_has(own: str, other: dict[str, str], status: str) -> None:
    rival = cluster(other.get("name", "demo"), "2026-03-01T00:00:00Z")
    rival["metadata"]["namespace"] = "tenants"
    rival["spec"] = {"dns": {"baseDomain": other.get("base", "example.com"), "baseDomainPrefix": other.get("prefix")}}
    clusters = [rival, *([cluster("demo", own)] if own else [])]
    check = only(checks.names_taken(wish(), clusters))
    assert check.status == status
    assert ("tenants/" in check.found) is (status != "ok")


@pytest.mark.parametrize(("name", "status"), [("prod-x", "failed"), ("prod.x", "failed"), ("x", "ok")])
def test_a_namespace_that_is_anothers(name: str, status: str) -> None:
    """clusters-prod-x is that of clusters/prod-x, and of clusters-prod/x."""
    check = only(
        checks.control_plane_namespace_is_free(wish(namespace="clusters-prod", name="x"), [cluster(name, EARLY)])
    )
    assert check.status == status
    assert ("clusters/prod" in check.found) is (status == "failed")


# -- the management cluster ----------------------------------------------------------------------------------------


def crd(types: list[str], **platforms: Any) -> Object:
    platform = {"properties": {"type": {"enum": types}, **platforms}}
    schema = {"properties": {"spec": {"properties": {"platform": platform}}}}
    return {"spec": {"versions": [{"name": "v1beta1", "served": True, "schema": {"openAPIV3Schema": schema}}]}}


MAAS = {"properties": {"identityRef": {}}}


@pytest.mark.parametrize(
    ("found", "platform", "status"),
    [
        (crd(["None", "MAAS"], maas=MAAS), "maas", "ok"),
        (crd(["None", "MAAS"]), "maas", "failed"),
        (crd(["None", "AWS"]), "maas", "failed"),
        (crd(["None", "AWS"]), "none", "ok"),
        (None, "maas", "failed"),
        ({"spec": {"versions": [{"name": "v1alpha1", "served": True}]}}, "maas", "failed"),
    ],
    ids=["fork", "prototype", "upstream", "upstream for none", "nothing", "too old"],
)
def test_the_platform_must_be_served_with_its_fields(found: Object | None, platform: str, status: str) -> None:
    assert only(checks.platform(wish(platform=platform), found)).status == status


def deployment(available: int) -> Object:
    containers = [{"image": "registry/hypershift:1"}]
    return {
        "metadata": {"name": "operator", "namespace": "hypershift"},
        "spec": {"template": {"spec": {"containers": containers}}},
        "status": {"availableReplicas": available},
    }


@pytest.mark.parametrize(("found", "status"), [([deployment(1)], "ok"), ([deployment(0)], "failed"), ([], "failed")])
def test_the_operator_must_run(found: list[Object], status: str) -> None:
    assert only(checks.operator(found)).status == status


@pytest.mark.parametrize(
    ("release", "versions", "status"),
    [
        (RELEASE, ["4.20", "4.19"], "ok"),
        (RELEASE, ["4.19"], "failed"),
        ("quay.example/ocp/release@sha256:0", ["4.19"], "unknown"),
        (RELEASE, None, "unknown"),
    ],
)
def test_the_operator_must_support_the_release(release: str, versions: list[str] | None, status: str) -> None:
    config = None if versions is None else {"data": {"supported-versions": json.dumps({"versions": versions})}}
    assert only(checks.supported_versions(wish(release=release), config)).status == status


OLD, FIT = "registry/maas:v4.9.3-spectro", "registry/maas:v4.9.5-spectro"
TOLD = [
    {
        "metadata": {"name": "operator"},
        "spec": {"template": {"spec": {"containers": [{"env": [{"name": "IMAGE_MAAS_CAPI_PROVIDER", "value": FIT}]}]}}},
    }
]


@pytest.mark.parametrize(
    ("asked", "kept", "operators", "status"),
    [
        (FIT, "", [], "ok"),
        (OLD, "", [], "failed"),
        ("", "", [], "failed"),
        ("", "", TOLD, "ok"),
        (OLD, "", TOLD, "failed"),
        ("", FIT, [], "ok"),
        # It is there already, and keeps what it was made with.
        ("", OLD, [], "warning"),
        ("registry/maas:mine", "", [], "warning"),
    ],
)
def test_nodes_must_be_able_to_join_with_the_provider(
    asked: str, kept: str, operators: list[Object], status: str
) -> None:
    there = cluster("demo", "2026-01-01T00:00:00Z")
    there["metadata"]["annotations"] = {"hypershift.openshift.io/capi-provider-maas-image": kept}
    found = checks.provider(wish(provider_image=asked), operators, [there] if kept else [])
    assert only(found).status == status


def storage_class(name: str, default: str = "", key: str = "storageclass.kubernetes.io/is-default-class") -> Object:
    notes = {key: default} if default else {}
    return {"metadata": {"name": name, "annotations": notes}}


@pytest.mark.parametrize(
    ("wanted", "classes", "status"),
    [
        ("", [storage_class("a", "true"), storage_class("b")], "ok"),
        ("", [storage_class("a", "true", "storageclass.beta.kubernetes.io/is-default-class")], "ok"),
        ("", [storage_class("a", "false")], "failed"),
        ("", [], "failed"),
        ("", [storage_class("a", "true"), storage_class("b", "true")], "warning"),
        ("b", [storage_class("b")], "ok"),
        ("c", [storage_class("b", "true")], "failed"),
    ],
)
def test_etcd_needs_a_storage_class(wanted: str, classes: list[Object], status: str) -> None:
    assert only(checks.storage(wish(storage_class=wanted), classes)).status == status


def service(name: str, namespace: str, port: int) -> Object:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"ports": [{"nodePort": port}]}}


def published(*ports: int) -> ClusterSpec:
    names = ("APIServer", "OAuthServer", "Ignition")
    return wish(
        services=[Service(name, "NodePort", "10.0.0.1", port) for name, port in zip(names, ports, strict=False)]
    )


@pytest.mark.parametrize(
    ("ports", "status", "says"),
    [
        ((30001, 30002), "ok", "30001 and 30002 are free"),
        ((30443,), "failed", "30443 (APIServer) is that of shop/web"),
        ((30005, 30005), "failed", "30005 is named twice"),
        ((8443,), "warning", "8443 is outside"),
        ((30444,), "ok", "30444 is free"),
    ],
    ids=["free", "taken", "twice", "outside", "its own"],
)
def test_node_ports(ports: tuple[int, ...], status: str, says: str) -> None:
    there = [service("web", "shop", 30443), service("kube-apiserver", "clusters-demo", 30444)]
    check = only(checks.ports(published(*ports), there))
    assert check.status == status
    assert says in check.found


NODES = [{"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}}]


@pytest.mark.parametrize(
    ("address", "resolved", "status"),
    [
        ("10.0.0.1", {"10.0.0.1": "10.0.0.1"}, "ok"),
        ("lb.example", {"lb.example": "10.0.0.1"}, "ok"),
        ("10.0.0.9", {"10.0.0.9": "10.0.0.9"}, "warning"),
        ("lb.example", {}, "warning"),
    ],
)
def test_the_address_should_lead_to_a_node(address: str, resolved: dict[str, str], status: str) -> None:
    wanted = wish(services=[Service("APIServer", "NodePort", address)])
    assert only(checks.node_address(wanted, NODES, resolved)).status == status


@pytest.mark.parametrize(
    ("services", "names"),
    [
        ([Service("APIServer", "NodePort", "a"), Service("Ignition", "Route")], []),
        ([Service("APIServer", "NodePort", "a"), Service("Ignition", "LoadBalancer")], ["services"]),
        ([Service("APIServer", "NodePort", "a")], ["services"]),
    ],
)
def test_ignition_by_anything_but_node_port_or_route_fails(services: list[Service], names: list[str]) -> None:
    assert [check.name for check in checks.publishing(wish(services=services))] == names


@pytest.mark.parametrize(
    ("refused", "status", "said"),
    [
        ({"create": [], "destroy": []}, "ok", "may do all that is needed to create and upgrade it, scale it, diagnose"),
        ({"create": ["get things"], "destroy": []}, "failed", "To create and upgrade it the user"),
        ({"create": [], "destroy": ["list a in x", "watch a in x"]}, "warning", "lacks: list a in x, watch a in x."),
    ],
)
def test_rights_are_told_by_what_they_are_for(refused: dict[str, list[str]], status: str, said: str) -> None:
    """Who may create a cluster learns before it that he could not remove it."""
    check = only(checks.rights_in_kubernetes(refused))
    assert check.status == status
    assert said in check.found


# -- the registry --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "statuses"),
    [
        (RegistryAnswer("there"), ["ok"]),
        (RegistryAnswer("there", architectures=("amd64", "arm64")), ["ok"]),
        (RegistryAnswer("there", architectures=("arm64",)), ["ok", "failed"]),
        (RegistryAnswer("missing"), ["failed"]),
        (RegistryAnswer("refused"), ["failed"]),
        (RegistryAnswer("unreachable"), ["warning"]),
        (RegistryAnswer("untrusted"), ["warning"]),
        (RegistryAnswer("strange"), ["warning"]),
        (None, ["failed"]),
    ],
)
def test_what_a_registry_says(answer: RegistryAnswer | None, statuses: list[str]) -> None:
    assert [check.status for check in checks.release(wish(), answer)] == statuses


@pytest.mark.parametrize(
    ("secret", "status"),
    [
        ('{"auths": {"quay.io": {"auth": "eDp5"}}}', "ok"),
        ('{"auths": {}}', "failed"),
        ('{"auths": []}', "failed"),
        ("{}", "failed"),
        ("[]", "failed"),
        ("{", "failed"),
        ("", "failed"),
    ],
)
def test_a_pull_secret_that_is_none_is_told(secret: str, status: str) -> None:
    check = only(checks.pull_secret(wish(pull_secret=secret)))
    assert check.status == status
    assert "eDp5" not in str(check)
    assert secret not in repr(wish(pull_secret=secret)) or not secret


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("quay.io/a/b:1.2", Image("quay.io", "a/b", "1.2")),
        ("127.0.0.1:5000/a:1", Image("127.0.0.1:5000", "a", "1")),
        ("quay.io/a/b@sha256:ff", Image("quay.io", "a/b", "sha256:ff")),
        ("quay.io/a/b:1@sha256:ff", Image("quay.io", "a/b", "sha256:ff")),
        ("localhost/a:1", Image("localhost", "a", "1")),
        ("quay.io/a/b", None),
        ("library/nginx:1", None),
        ("4.20.8", None),
    ],
)
def test_names_of_images(name: str, image: Image | None) -> None:
    assert Image.parse(name) == image


@pytest.mark.parametrize(
    ("secret", "login"),
    [
        ('{"auths": {"quay.io": {"auth": "eDp5"}}}', "eDp5"),
        ('{"auths": {"https://quay.io": {"auth": "eDp5"}}}', "eDp5"),
        ('{"auths": {"quay.io": {"username": "x", "password": "y"}}}', "eDp5"),
        ('{"auths": {"quay.io/team": {"auth": "eDp5"}, "quay.io": {"auth": "b3RoZXI="}}}', "eDp5"),
        ('{"auths": {"quay.io/team/release": {"auth": "eDp5"}, "quay.io/team": {"auth": "b3RoZXI="}}}', "eDp5"),
        ('{"auths": {"quay.io/tea": {"auth": "eDp5"}, "quay.io/team/other": {"auth": "eDp5"}}}', ""),
        ('{"auths": {"other.io": {"auth": "eDp5"}}}', ""),
        ("{", ""),
        ("[]", ""),
        ("", ""),
    ],
)
def test_logins_in_a_pull_secret(secret: str, login: str) -> None:
    assert login_for("quay.io/team/release", secret) == login


def test_the_table_begins_with_what_is_worst() -> None:
    lines = checks.table([Check("a", "ok", "Fine."), Check("long name", "failed", "Broken.", "Mend it.")])
    assert lines == ["failed  long name  Broken. Mend it.", "ok      a          Fine."]


@pytest.mark.parametrize(
    ("asked", "allowed", "status"),
    [
        ("x/r:4.20.8", False, "failed"),
        ("x/r:4.20.8", True, "warning"),
        ("x/r:4.20.10", False, "ok"),
        ("x/r:4.20.11", False, "ok"),
        ("x/r@sha256:1efb", False, "unknown"),
    ],
)
def test_a_step_back_is_found(asked: str, allowed: bool, status: str) -> None:
    history = [{"state": "Completed", "version": "4.20.10", "image": "x/r:4.20.10"}]
    there = {
        "metadata": {"namespace": "clusters", "name": "demo"},
        "spec": {"release": {"image": "x/r:4.20.10"}},
        "status": {"version": {"history": history}},
    }
    found = only(checks.upgrade(wish(release=asked, allow_downgrade=allowed), [there]))
    assert found.status == status
    assert "4.20.10" in found.found
    assert not list(checks.upgrade(wish(release=asked), []))
