# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""hosted_cluster and node_pool against a real API server with HyperShift's kinds, without the operators."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure import secrets
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.immutables import (
    HOSTED_CLUSTER,
    NODE_POOL,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import PAUSED, PAUSED_AS
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CONFIG_MAPS,
    CRDS,
    CSRS,
    DEPLOYMENTS,
    HOSTED_CLUSTERS,
    INGRESS_CONTROLLERS,
    MAAS_MACHINES,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    SECRETS,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import at, put
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import MANAGED_BY
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.ownership import applied
from ansible_collections.metalshift.maas.plugins.plugin_utils._runner import module_of
from hosted import grounds
from hosted.cases import CLUSTER, KEYS, LIVES, LOOKING, POOL, PULL_SECRET, WRONG, Life, Wrong
from integration.harness import MODULES, Outcome, run_task
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator

OF_MACHINES = (MACHINES, MAAS_MACHINES, CSRS, INGRESS_CONTROLLERS)
WRITTEN = (NAMESPACES, HOSTED_CLUSTERS, NODE_POOLS, SECRETS, CONFIG_MAPS, DEPLOYMENTS, *OF_MACHINES)
OURS = ("clusters", "tenants", "clusters-demo", "tenants-demo", grounds.INGRESS, grounds.REQUEST)
STEPS = (("create", True), ("create", False), ("change", True), ("change", False), ("delete", True), ("delete", False))


@dataclass(frozen=True)
class Ground:
    """An API server with the kinds and nobody behind them, and a MAAS."""

    kube: Kube
    kubeconfig: str
    sim: Simulator
    folder: Path

    def run(self, module: str, args: Mapping[str, Any], *, check: bool = False) -> Outcome:
        given = {
            name: value.replace("{folder}", str(self.folder)) if isinstance(value, str) else value
            for name, value in args.items()
        }
        connect = module_of(module).SPEC.maas
        return run_task(self.sim, module, {"kubeconfig": self.kubeconfig, **given}, check=check, connect=connect)

    def done(self, module: str, args: Mapping[str, Any]) -> Outcome:
        outcome = self.run(module, args)
        assert not outcome.failed, outcome.msg
        return outcome

    def versions(self) -> dict[tuple[str, str], str]:
        """What there is in our namespaces and in our folder: whoever writes changes a version."""
        files = {("file", path.name): f"{path.stat().st_mode:o} {path.stat().st_mtime_ns}" for path in self.files}
        found = [each for kind in WRITTEN for each in self.kube.list(kind) if _is_ours(each)]
        return files | {
            (f"{each['kind']} {each['metadata'].get('namespace', '')}", each["metadata"]["name"]): each["metadata"][
                "resourceVersion"
            ]
            for each in found
        }

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    def clear(self) -> None:
        for kind in WRITTEN:
            for each in self.kube.list(kind) if kind is not NAMESPACES else ():
                if _is_ours(each):
                    metadata = each["metadata"]
                    self.kube.delete(kind, metadata["name"], metadata.get("namespace", ""))
        for path in self.files:
            path.unlink()

    def spec(self, kind: ObjectKind, name: str) -> dict[str, Any]:
        found = self.kube.get(kind, name, "clusters")
        assert found is not None
        return dict(found["spec"])

    def value(self, secret: str, key: str, namespace: str = "clusters") -> bytes:
        found = secrets.value_of(self.kube.get(SECRETS, secret, namespace), key)
        assert found is not None
        return found


def _is_ours(body: Mapping[str, Any]) -> bool:
    metadata = body["metadata"]
    return metadata.get("namespace", metadata["name"]) in OURS and metadata["name"] != "kube-root-ca.crt"


@pytest.fixture(scope="module")
def one_ground(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    folder: Path = tmp_path_factory.mktemp("bare")
    with api_server(programs, folder, kinds=True), Simulator() as sim:
        kubeconfig = folder / "kubeconfig"
        kube = Kube.from_kubeconfig(kubeconfig.read_text())
        kube.apply(grounds.INGRESS_KIND)
        while not kube.listing(INGRESS_CONTROLLERS).version:
            time.sleep(0.1)
        yield Ground(kube, str(kubeconfig), sim, tmp_path_factory.mktemp("files"))


@pytest.fixture
def ground(one_ground: Ground) -> Ground:
    one_ground.clear()
    one_ground.sim.reset()
    one_ground.sim.let_in(*KEYS)
    return one_ground


# -- lives -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("life", LIVES, ids=str)
def test_the_twelve_steps(ground: Ground, life: Life) -> None:
    for module, args in life.before:
        ground.done(module, args)
    if life.ground:
        getattr(grounds, life.ground)(ground.kube, ground.sim, ground.kubeconfig)
    for step, changes in STEPS:
        where = f"{life}: {step}{'' if changes else ' again'}"
        args = getattr(life, step)
        if args is None:
            continue
        if life.spoilt and (step, changes) == ("change", True):
            getattr(grounds, life.spoilt)(ground.folder)
        before = ground.versions()
        foreseen = ground.run(life.module, args, check=True)
        assert ground.versions() == before, f"{where} in check mode wrote"
        done = ground.run(life.module, args)
        for outcome, mode in ((foreseen, "in check mode"), (done, "for real")):
            assert not outcome.failed, f"{where} {mode}: {outcome.msg}"
            assert outcome.changed == changes, f"{where} {mode}: {outcome['diff']}"
            assert bool(outcome["diff"]) == changes, f"{where} {mode}: diff {outcome['diff']}"
        assert (ground.versions() != before) == changes, f"{where}: wrote"
        assert foreseen["diff"] == done["diff"], f"{where}: the plan shown is not the plan carried out"
        _assert_predicted(life, foreseen, done, where)


def _assert_predicted(life: Life, foreseen: Outcome, done: Outcome, where: str) -> None:
    noun = life.noun or life.module
    predicted, real = deepcopy(foreseen[noun]), done[noun]
    if foreseen.changed and isinstance(real, dict) and real:
        assert predicted.pop("predicted") is True, where
    if isinstance(real, list):
        # What a request was seconds ago it is older now.
        aging = ("predicted", "age")
        predicted, real = (
            [{k: v for k, v in one.items() if k not in aging} for one in some] for some in (predicted, real)
        )
    assert predicted == real, where


def test_every_module_that_writes_to_kubernetes_has_a_life() -> None:
    kubernetes = {module for module in MODULES if module_of(module).SPEC.kube}
    assert {life.module for life in LIVES} == kubernetes - LOOKING
    assert kubernetes > LOOKING


@pytest.fixture
def published(ground: Ground) -> dict[str, Any]:
    """What a task needs that keeps the kubeconfig of `demo` in a file."""
    ground.done("hosted_cluster", CLUSTER)
    grounds.a_published_kubeconfig(ground.kube, ground.sim, ground.kubeconfig)
    return {"name": "demo", "dest": str(ground.folder / "kubeconfig")}


def loaded(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def test_a_kubeconfig_is_the_owners_alone_and_kubectl_takes_it(ground: Ground, published: dict[str, Any]) -> None:
    file = ground.folder / "kubeconfig"
    for before in (None, "", file):
        if before is not None:
            file.write_text(before if isinstance(before, str) else before.read_text())
            file.chmod(0o644)
        assert ground.done("hosted_cluster_kubeconfig", published).changed
        assert file.stat().st_mode & 0o777 == 0o600
        assert Kube(Access.from_params({"kubeconfig": str(file)}, {})).version == ground.kube.version
    assert not ground.done("hosted_cluster_kubeconfig", published).changed


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        ("not a kubeconfig at all", "it is not a kubeconfig"),
        (yaml.safe_dump(grounds.kubeconfig_of_others()), "it holds the context prod, written by somebody else"),
    ],
    ids=["a text", "a kubeconfig"],
)
def test_a_file_of_somebody_else_is_neither_replaced_nor_removed(
    ground: Ground, published: dict[str, Any], theirs: str, said: str
) -> None:
    file = ground.folder / "kubeconfig"
    file.write_text(theirs)
    before = ground.versions()
    for check in (True, False):
        refused = ground.run("hosted_cluster_kubeconfig", published, check=check)
        assert refused["failure"]["kind"] == "conflict"
        assert refused.msg.startswith(f"{file} was left as it is: {said}.")
        assert "merge: true puts a context into a kubeconfig, backup: true keeps a copy" in refused.msg
        left = ground.run("hosted_cluster_kubeconfig", {**published, "state": "absent"}, check=check)
        assert (left.failed, left.changed) == (False, False)
        assert "holds nothing that was written there for clusters/demo" in left["warnings"][0]
    assert ground.versions() == before
    kept = ground.done("hosted_cluster_kubeconfig", {**published, "backup": True})["kubeconfig"]["backup_file"]
    assert (Path(kept).read_text(), Path(kept).stat().st_mode & 0o777) == (theirs, 0o600)
    assert ground.done("hosted_cluster_kubeconfig", {**published, "state": "absent"}).changed
    assert ground.files == [Path(kept)]


def test_a_context_comes_and_goes_beside_those_of_others(ground: Ground, published: dict[str, Any]) -> None:
    file, theirs = ground.folder / "kubeconfig", grounds.kubeconfig_of_others()
    file.write_text(yaml.safe_dump(theirs))
    file.chmod(0o640)
    merging = {**published, "merge": True}
    assert ground.done("hosted_cluster_kubeconfig", merging).changed
    both = loaded(file)
    assert [each["name"] for each in both["contexts"]] == ["prod", "demo"]
    assert both["current-context"] == "prod"
    assert [both[section][0] for section in ("clusters", "users", "contexts")] == [
        theirs[section][0] for section in ("clusters", "users", "contexts")
    ]
    own = {"kubeconfig": str(file), "context": "demo"}
    assert Kube(Access.from_params(own, {})).version == ground.kube.version
    # As kubectl does, which writes all of it anew in its own order.
    file.write_text(yaml.safe_dump({**both, "current-context": "demo"}))
    assert not ground.done("hosted_cluster_kubeconfig", merging).changed
    other = ground.run("hosted_cluster_kubeconfig", {**merging, "namespace": "tenants", "state": "absent"})
    assert (other.changed, loaded(file)["current-context"]) == (False, "demo")
    assert ground.done("hosted_cluster_kubeconfig", {**published, "state": "absent"}).changed
    assert loaded(file) == {**theirs, "current-context": ""}
    assert not ground.done("hosted_cluster_kubeconfig", {**published, "state": "absent"}).changed


def test_a_context_of_that_name_that_is_somebody_elses_stays(ground: Ground, published: dict[str, Any]) -> None:
    file, theirs = ground.folder / "kubeconfig", grounds.kubeconfig_of_others()
    theirs["contexts"][0]["name"] = "demo"
    file.write_text(yaml.safe_dump(theirs))
    refused = ground.run("hosted_cluster_kubeconfig", {**published, "merge": True})
    assert "has demo already, which was not written there for clusters/demo" in refused.msg
    assert loaded(file) == theirs


def test_what_is_no_file_is_refused_at_once(ground: Ground, published: dict[str, Any]) -> None:
    os.mkfifo(ground.folder / "kubeconfig")
    for state in ("present", "absent"):
        refused = ground.run("hosted_cluster_kubeconfig", {**published, "state": state})
        assert refused.msg.startswith("dest is not a file: ")
    (ground.folder / "link").symlink_to(ground.folder / "home")
    (ground.folder / "home").write_text(yaml.safe_dump(grounds.kubeconfig_of_others()))
    linked = {**published, "dest": str(ground.folder / "link"), "merge": True}
    assert ground.run("hosted_cluster_kubeconfig", linked).msg.startswith("dest is a symbolic link: ")


def test_what_a_killed_run_left_beside_the_file_is_swept(ground: Ground, published: dict[str, Any]) -> None:
    """A run that is writing holds its file locked; one that was killed holds nothing."""
    killed, writing = (ground.folder / f".kubeconfig.{name}.metalshift" for name in ("killed", "writing"))
    others = ground.folder / ".kubeconfig.other"
    for path in (killed, writing, others):
        path.write_text("the key of an administrator")
    with writing.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ground.done("hosted_cluster_kubeconfig", published)
        assert ground.files == sorted([writing, others, ground.folder / "kubeconfig"])
    ground.done("hosted_cluster_kubeconfig", {**published, "state": "absent"})
    assert ground.files == [others]


def annotations(ground: Ground) -> dict[str, dict[str, str]]:
    """Those of each Machine and MaasMachine that speak of a pause."""
    bodies = [body for kind in (MACHINES, MAAS_MACHINES) for body in ground.kube.list(kind, grounds.INNER)]
    found = {f"{body['kind']} {body['metadata']['name']}": body["metadata"].get("annotations") or {} for body in bodies}
    return {name: notes for name, notes in found.items() if notes}


def test_only_what_we_paused_goes_on(ground: Ground) -> None:
    grounds.machines_of_cluster_api(ground.kube, ground.sim, ground.kubeconfig)
    theirs = {"metadata": {"annotations": {PAUSED: ""}}}
    ground.kube.patch(MACHINES, "w-2", grounds.INNER, theirs)
    ground.kube.patch(MAAS_MACHINES, "w-2", grounds.INNER, theirs)
    ground.done("cluster_api_pause", {"name": "kvm2", "system_ids": ["ghi789"]})
    before = annotations(ground)
    paused = ground.done("cluster_api_pause", {"name": "kvm1", "system_ids": ["abc123", "def456"]})
    assert [one["paused_by_others"] for one in paused["machines"]] == [False, True]
    ours = {PAUSED: "true", PAUSED_AS: "kvm1"}
    assert annotations(ground) == {**before, "Machine w-1": ours, "MaasMachine w-1": ours}
    # A run that was killed between the two.
    ground.kube.patch(MAAS_MACHINES, "w-1", grounds.INNER, {"metadata": {"annotations": dict.fromkeys(ours)}})
    assert ground.done("cluster_api_pause", {"name": "kvm1", "system_ids": ["abc123"]}).changed
    assert annotations(ground)["MaasMachine w-1"] == ours
    ground.done("cluster_api_pause", {"name": "kvm1", "state": "absent"})
    assert annotations(ground) == before


def test_what_cluster_api_gives_back_is_not_held_up(ground: Ground) -> None:
    grounds.machines_of_cluster_api(ground.kube, ground.sim, ground.kubeconfig)
    ground.kube.patch(MACHINES, "w-1", grounds.INNER, {"metadata": {"finalizers": ["lab.example/drain"]}})
    ground.kube.delete(MACHINES, "w-1", grounds.INNER)
    came = ground.done("cluster_api_pause", {"name": "kvm1", "system_ids": ["abc123"]})
    ground.kube.patch(MACHINES, "w-1", grounds.INNER, {"metadata": {"finalizers": None}})
    assert (came.changed, annotations(ground)) == (False, {})


def test_a_wide_options_life_is_as_wished(ground: Ground) -> None:
    """What the options say is where HyperShift reads it."""
    life = next(each for each in LIVES if str(each) == "hosted_cluster with everything")
    spec = ground.done("hosted_cluster", life.create)["hosted_cluster"]["spec"]
    assert spec["services"][0]["servicePublishingStrategy"] == {
        "type": "LoadBalancer",
        "loadBalancer": {"hostname": "api.lab.example"},
    }
    assert spec["services"][1]["servicePublishingStrategy"]["nodePort"] == {"address": "192.0.2.10", "port": 30999}
    assert spec["networking"]["machineNetwork"] == [{"cidr": "192.0.2.0/24"}]
    assert spec["etcd"]["managed"]["storage"]["persistentVolume"] == {"size": "16384Mi", "storageClassName": "fast"}
    assert spec["kubeAPIServerDNSName"] == "api.shop.lab.example"
    assert spec["autoscaling"]["maxNodesTotal"] == 10
    assert ground.value("demo-maas-credentials", "MAAS_API_KEY", "tenants") == b"own:key:for-the-provider"
    bundle = ground.kube.get(CONFIG_MAPS, "demo-trust-bundle", "tenants") or {}
    assert "BEGIN CERTIFICATE" in bundle["data"]["ca-bundle.crt"]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong.module}-{wrong.says[:50]}")
def test_what_is_wrong_is_one_sentence_and_writes_nothing(ground: Ground, wrong: Wrong) -> None:
    for module, args in wrong.before:
        ground.done(module, args)
    before = ground.versions()
    outcome = ground.run(wrong.module, wrong.args)
    assert outcome.failed
    assert wrong.says in outcome.msg
    assert outcome["failure"]["kind"] == wrong.kind
    assert not outcome.changed
    assert "\n" not in outcome.msg
    assert len(outcome.msg) < 1200
    assert ground.versions() == before


# -- what cannot be changed ------------------------------------------------------------------------------------------

# Field → what it is, and what it may not become; where one value will not do.
SERVICE = {
    "service": "OVNSbDb",
    "servicePublishingStrategy": {"type": "NodePort", "nodePort": {"address": "127.0.0.1"}},
}
UUID = "09de66b7-d24b-41d4-ad17-695b668e016e"
VALUES: Mapping[str, tuple[Any, Any]] = {
    "platform.type": ("MAAS", "None"),
    "services": (None, SERVICE),
    "infraID": ("one", "two"),
    "clusterID": (UUID, UUID[::-1].replace("-", "")[:8] + UUID[8:]),
    "networking.clusterNetwork": ([{"cidr": "10.132.0.0/14"}], [{"cidr": "10.136.0.0/14"}]),
    "networking.serviceNetwork": ([{"cidr": "172.31.0.0/16"}], [{"cidr": "172.30.0.0/16"}]),
    "networking.machineNetwork": ([{"cidr": "192.0.2.0/24"}], [{"cidr": "198.51.100.0/24"}]),
    "networking.apiServer.port": (6443, 7443),
    "networking.apiServer.advertiseAddress": ("172.20.0.1", "172.20.0.2"),
    "fips": (False, True),
    "controllerAvailabilityPolicy": ("HighlyAvailable", "SingleReplica"),
    "etcd.managementType": ("Managed", "Unmanaged"),
    "etcd.managed.storage.persistentVolume.size": ("8Gi", "16Gi"),
    "capabilities": ({}, {"disabled": ["Insights"]}),
    "olmCatalogPlacement": ("management", "guest"),
    "issuerURL": ("https://one.example", "https://two.example"),
    "operatorConfiguration.clusterNetworkOperator.disableMultiNetwork": (False, True),
    "configuration.featureGate.featureSet": ("TechPreviewNoUpgrade", ""),
    "arch": ("amd64", "ppc64le"),
    "management.upgradeType": ("Replace", "InPlace"),
}
# What the API server would let pass.
OURS_ALONE = frozenset({"secretEncryption.type", "secretEncryption.aescbc"})
ENFORCED = [
    (kind, row)
    for kind, table in ((HOSTED_CLUSTERS, HOSTED_CLUSTER), (NODE_POOLS, NODE_POOL))
    for row in table
    if row.field not in OURS_ALONE
]
# What has to be so that the API comes to compare the field at all.
SURROUNDINGS = {"operatorConfiguration.clusterNetworkOperator.disableMultiNetwork": {"networkType": "Other"}}


@pytest.mark.parametrize(("kind", "row"), ENFORCED, ids=lambda one: getattr(one, "field", ""))
def test_the_api_refuses_what_the_table_says_is_immutable(ground: Ground, kind: ObjectKind, row: Any) -> None:
    now, asked = VALUES.get(row.field, ("one", "two"))
    networking = SURROUNDINGS.get(row.field)
    overrides: dict[str, Any] = {"networking": networking} if networking else {}
    if now is not None and kind is HOSTED_CLUSTERS and row.field not in ("platform.type",):
        put(overrides, row.path[1:], now)
    ground.done("hosted_cluster", {**CLUSTER, "spec_overrides": overrides})
    if kind is NODE_POOLS:
        ground.done("node_pool", POOL)
    name = "demo" if kind is HOSTED_CLUSTERS else "w"
    change: dict[str, Any] = {"spec": {}}
    put(change, row.path, [*ground.spec(kind, name)["services"], asked] if row.field == "services" else asked)
    body = {"apiVersion": kind.api, "kind": kind.name}
    with pytest.raises(Exception, match=r"immutable|may not be changed") as refused:
        ground.kube.patch(kind, name, "clusters", {**body, **change}, dry_run=True)
    assert getattr(refused.value, "status", None) == 422


OTHER_PLATFORMS = ("platform.aws", "platform.azure", "platform.kubevirt", "platform.powervs", "platform.openstack")


@pytest.mark.parametrize(
    ("kind", "table"), [(HOSTED_CLUSTERS, HOSTED_CLUSTER), (NODE_POOLS, NODE_POOL)], ids=["HostedCluster", "NodePool"]
)
def test_the_table_has_every_field_that_the_kinds_say_is_immutable(
    ground: Ground, kind: ObjectKind, table: Any
) -> None:
    crd = ground.kube.get(CRDS, kind.resource)
    assert crd is not None
    schema = at(crd["spec"]["versions"][0], ("schema", "openAPIV3Schema", "properties", "spec"))
    told = {path for path in _transitions(schema, ()) if not path.startswith(OTHER_PLATFORMS)}
    # The whole spec has rules about its services, and about keeping an arch.
    told = {{"": "services" if kind is HOSTED_CLUSTERS else "arch"}.get(path, path) for path in told}
    covered = {row.field for row in table} - OURS_ALONE
    within = {path for path in told if any(path.startswith(f"{field}.") for field in covered)}
    assert told - within == covered


def _transitions(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    if any("oldSelf" in rule["rule"] for rule in schema.get("x-kubernetes-validations") or ()):
        yield ".".join(path)
    for name, inner in (schema.get("properties") or {}).items():
        yield from _transitions(inner, (*path, name))


# -- Secrets ---------------------------------------------------------------------------------------------------------


def test_the_encryption_key_is_made_once_and_never_written_again(ground: Ground) -> None:
    ground.done("hosted_cluster", CLUSTER)
    key = ground.value("demo-etcd-encryption-key", "key")
    assert len(key) == 32
    version = ground.versions()["Secret clusters", "demo-etcd-encryption-key"]
    ground.done("hosted_cluster", {**CLUSTER, "etcd_encryption": True, "channel": "stable-4.20"})
    ground.kube.delete(HOSTED_CLUSTERS, "demo", "clusters")
    ground.done("hosted_cluster", CLUSTER)
    assert ground.value("demo-etcd-encryption-key", "key") == key
    assert ground.versions()["Secret clusters", "demo-etcd-encryption-key"] == version


def test_an_encryption_key_without_its_key_is_refused(ground: Ground) -> None:
    """HyperShift would wait for ever, without a word."""
    ground.done("hosted_cluster", CLUSTER)
    ground.clear()
    empty = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "demo-etcd-encryption-key"}}
    empty["metadata"]["namespace"] = "clusters"  # type: ignore[index]
    ground.kube.create(empty)
    outcome = ground.run("hosted_cluster", CLUSTER)
    assert "needs Secret clusters/demo-etcd-encryption-key, which has no key." in outcome.msg
    assert ground.kube.get(HOSTED_CLUSTERS, "demo", "clusters") is None


def running(ground: Ground, data: Mapping[str, str]) -> None:
    """What HyperShift makes of the credentials in the namespace of a control plane."""
    metadata = {"namespace": "clusters-demo"}
    if ground.kube.get(NAMESPACES, "clusters-demo") is None:
        ground.kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "clusters-demo"}})
    ground.kube.create(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {**metadata, "name": "demo-maas-credentials"},
            "stringData": data,
        }
    )
    labels = {"app": "capi-provider"}
    ground.kube.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {**metadata, "name": "capi-provider"},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "manager", "image": "x"}]},
                },
            },
        }
    )


def template_annotations(ground: Ground) -> dict[str, str]:
    deployment = ground.kube.get(DEPLOYMENTS, "capi-provider", "clusters-demo")
    return dict(at(deployment, ("spec", "template", "metadata", "annotations")) or {})


def test_a_changed_key_reaches_the_provider_that_runs(ground: Ground) -> None:
    ground.done("hosted_cluster", {**CLUSTER, "provider_maas_api_key": "old:key:sesame"})
    running(ground, {"MAAS_ENDPOINT": ground.sim.url, "MAAS_API_KEY": "old:key:sesame"})
    assert not ground.done("hosted_cluster", CLUSTER).changed
    outcome = ground.done("hosted_cluster", {**CLUSTER, "provider_maas_api_key": "new:key:sesame"})
    assert [each["before_header"] for each in outcome["diff"]] == [
        "Secret clusters/demo-maas-credentials",
        "Secret clusters-demo/demo-maas-credentials",
        "Deployment clusters-demo/capi-provider",
    ]
    assert ground.value("demo-maas-credentials", "MAAS_API_KEY", "clusters-demo") == b"new:key:sesame"
    assert "metalshift.maas/restarted-at" in template_annotations(ground)
    assert "sesame" not in json.dumps(outcome.result)
    assert not ground.done("hosted_cluster", CLUSTER).changed


def test_the_key_of_whoever_runs_a_task_is_not_given_to_a_provider_that_runs(ground: Ground) -> None:
    """Two people with keys of their own would start it anew in turn, and one who leaves would take its key along."""
    ground.done("hosted_cluster", CLUSTER)
    running(ground, {"MAAS_ENDPOINT": ground.sim.url, "MAAS_API_KEY": ground.sim.api_key})
    versions = ground.versions()
    theirs = {**CLUSTER, "maas_api_key": "one:two:open-sesame", "maas_endpoint": "http://other.example:5240/MAAS"}
    outcome = ground.done("hosted_cluster", theirs)
    assert not outcome.changed
    assert ground.versions() == versions
    assert [warning.partition(" of Secret")[0] for warning in outcome["warnings"]] == [
        "The provider keeps the MAAS_ENDPOINT",
        "The provider keeps the MAAS_API_KEY",
    ]
    assert outcome["warnings"][1].endswith("To give it a new one, set provider_maas_api_key.")
    assert "open-sesame" not in json.dumps(outcome.result)
    assert "warnings" not in ground.done("hosted_cluster", CLUSTER).result


PLAIN, STRANGER = "a:plain:sesame", "a:stranger:sesame"


def test_the_key_of_a_plain_user_is_refused_before_anything_is_written(ground: Ground) -> None:
    """With it the provider allocates and releases for ever: what it does in between needs an administrator."""
    ground.sim.let_in(PLAIN, username="tenant")
    versions = ground.versions()
    for given in ({"provider_maas_api_key": PLAIN}, {"maas_api_key": PLAIN}):
        for check in (True, False):
            refused = ground.run("hosted_cluster", {**CLUSTER, **given}, check=check)
            assert refused["failure"]["kind"] == "forbidden"
            assert "The provider's API key is that of the MAAS user tenant, who is not an administrator" in refused.msg
            assert "sesame" not in json.dumps(refused.result)
    assert ground.versions() == versions
    allowed = ground.done("hosted_cluster", {**CLUSTER, "provider_maas_api_key": PLAIN, "allow_plain_maas_user": True})
    assert any("the MAAS user tenant, who is not an administrator" in warning for warning in allowed["warnings"])


def test_a_key_that_maas_does_not_know_is_refused_and_one_that_cannot_be_asked_about_is_told(ground: Ground) -> None:
    versions = ground.versions()
    refused = ground.run("hosted_cluster", {**CLUSTER, "provider_maas_api_key": STRANGER})
    assert refused["failure"]["kind"] == "credentials"
    assert refused.msg.startswith(f"MAAS at {ground.sim.url} does not accept the provider's API key.")
    assert ground.versions() == versions
    elsewhere = {"provider_maas_endpoint": "http://127.0.0.1:1/MAAS", "provider_maas_api_key": STRANGER}
    told = ground.done("hosted_cluster", {**CLUSTER, **elsewhere})
    assert any("is an administrator's, as it must be, could not be told" in warning for warning in told["warnings"])
    assert "sesame" not in json.dumps(told.result)


def test_preflight_says_whose_key_the_provider_would_get(ground: Ground) -> None:
    ground.sim.let_in(PLAIN, username="tenant")

    def check(**given: Any) -> tuple[str, str]:
        asked = {"name": "demo", "checks": ["key of the provider"], "fail": False, **given}
        [found] = ground.done("hosted_cluster_preflight_info", asked)["preflight"]["checks"]
        return found["status"], found["found"]

    assert check() == ("ok", "It is that of admin, an administrator.")
    assert check(provider_maas_api_key=PLAIN)[0] == "failed"
    assert "that of tenant, who is no administrator of MAAS" in check(maas_api_key=PLAIN)[1]
    assert check(maas_api_key=PLAIN, provider_maas_api_key=KEYS[0])[0] == "ok"
    assert check(provider_maas_api_key=PLAIN, allow_plain_maas_user=True)[0] == "warning"
    ground.done("hosted_cluster", CLUSTER)
    assert check(maas_api_key=PLAIN) == ("ok", "The cluster keeps the key that it has.")


def test_another_control_plane_operator_than_that_of_the_release_is_an_annotation_that_stays(ground: Ground) -> None:
    def annotation() -> Any:
        body = ground.kube.get(HOSTED_CLUSTERS, "demo", "clusters")
        return at(body, ("metadata", "annotations", "hypershift.openshift.io/control-plane-operator-image"))

    ours = {"control_plane_operator_image": "registry.example/hypershift:4.20-maas"}

    def preflight(**given: Any) -> str:
        asked = {"name": "demo", "checks": ["control plane operator"], "fail": False, **given}
        return str(ground.done("hosted_cluster_preflight_info", asked)["preflight"]["checks"][0]["status"])

    assert (preflight(), preflight(**ours)) == ("warning", "ok")
    ground.done("hosted_cluster", {**CLUSTER, **ours})
    assert annotation() == "registry.example/hypershift:4.20-maas"
    assert not ground.done("hosted_cluster", CLUSTER).changed
    assert annotation() == "registry.example/hypershift:4.20-maas"
    assert preflight() == "ok"


@pytest.mark.parametrize("platform", ["MAAS", "None"])
def test_a_platform_that_openshift_refuses_is_told_before_there_is_a_node(ground: Ground, platform: str) -> None:
    """What the control-plane operator of a stock release writes, and what that of the fork does."""
    ground.done("hosted_cluster", CLUSTER)
    grounds.be_there(ground.kube, grounds.INNER)
    manifest = json.dumps({"spec": {"platformSpec": {"type": platform}}, "status": {"platform": platform}})
    content = {"data": {"cluster-infrastructure-02-config.yaml": manifest}}
    ground.kube.create(grounds.body_of(CONFIG_MAPS, "machine-config-server", grounds.INNER, **content))
    diagnosis = ground.done("hosted_cluster_diagnosis_info", {"name": "demo", "leaks": False})["diagnosis"]
    [tree] = ground.done("hosted_cluster_info", {"name": "demo", "gather": ["infrastructure"]})["hosted_clusters"]
    told = [one for one in diagnosis if "writes platform MAAS into the Infrastructure" in one["what"]]
    assert (len(told), tree["infrastructure_platform"]) == (int(platform == "MAAS"), platform)


def test_credentials_that_somebody_else_made_are_not_written(ground: Ground) -> None:
    """Also not by a later task that does not name them."""
    theirs = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "shared", "namespace": "clusters"}}
    theirs["metadata"]["labels"] = {MANAGED_BY: "metalshift.maas"}  # type: ignore[index]
    data = {"MAAS_ENDPOINT": "http://maas.example:5240/MAAS", "MAAS_API_KEY": "one:two:open-sesame"}
    ground.done("hosted_cluster", CLUSTER)
    ground.clear()
    ground.kube.create({**theirs, "stringData": data})
    ground.done("hosted_cluster", {**CLUSTER, "credentials_secret": "shared"})
    versions = ground.versions()
    outcome = ground.done("hosted_cluster", CLUSTER)
    assert not outcome.changed
    assert ground.versions() == versions


PLACE = {"name": "demo-maas-credentials", "namespace": "clusters"}


def test_a_stored_key_that_nobody_could_use_is_replaced(ground: Ground) -> None:
    ground.done("hosted_cluster", CLUSTER)
    broken = applied(ground.kube.get(SECRETS, "demo-maas-credentials", "clusters") or {})
    broken["data"]["MAAS_API_KEY"] = base64.b64encode(b"no key").decode()
    ground.kube.apply({"apiVersion": "v1", "kind": "Secret", **broken, "metadata": {**broken["metadata"], **PLACE}})
    assert ground.done("hosted_cluster", CLUSTER).changed
    assert ground.value("demo-maas-credentials", "MAAS_API_KEY").decode() == ground.sim.api_key


def test_a_provider_that_was_not_started_anew_is_by_the_next_run(ground: Ground) -> None:
    ground.done("hosted_cluster", {**CLUSTER, "provider_maas_api_key": "new:key:sesame"})
    running(ground, {"MAAS_ENDPOINT": ground.sim.url, "MAAS_API_KEY": "new:key:sesame"})
    due = {"metadata": {"annotations": {"metalshift.maas/restart-due": "true"}}}
    ground.kube.patch(SECRETS, "demo-maas-credentials", "clusters-demo", due)
    assert ground.done("hosted_cluster", CLUSTER).changed
    assert "metalshift.maas/restarted-at" in template_annotations(ground)
    assert not ground.done("hosted_cluster", CLUSTER).changed


def test_no_secret_is_shown(ground: Ground) -> None:
    args = {**CLUSTER, "provider_maas_api_key": "one:two:open-sesame"}
    for given in (args, {**args, "provider_maas_api_key": "one:two:open-sesame-too"}, {**args, "fips": True}):
        for check in (True, False):
            outcome = ground.run("hosted_cluster", given, check=check)
            shown = json.dumps(outcome.result) + "\n".join([*outcome.screen.shown, *outcome.screen.traced])
            for secret in (
                "open-sesame",
                "c2VzYW1lOm9wZW4tc2VzYW1l",
                json.loads(PULL_SECRET)["auths"]["registry.example"]["auth"],
            ):
                assert secret not in shown
            assert base64.b64encode(b"one:two:open-sesame").decode() not in shown


@pytest.mark.parametrize(("until", "paused"), [("2099-01-01T00:00:00Z", True), ("2020-01-01T00:00:00Z", False)])
def test_a_pause_with_an_end_holds_until_then(ground: Ground, until: str, paused: bool) -> None:
    """What is paused is not waited for, and what is not any more is."""
    given = {"spec_overrides": {"pausedUntil": until}, "wait": True, "wait_timeout": 1.0, "approve_csrs": False}
    outcome = ground.run("hosted_cluster", {**CLUSTER, **given})
    assert outcome["hosted_cluster"]["paused"] is paused
    assert outcome.failed is not paused, outcome.msg


# -- who keeps what --------------------------------------------------------------------------------------------------


def test_a_field_that_somebody_else_keeps_is_never_taken(ground: Ground) -> None:
    ground.done("hosted_cluster", CLUSTER)
    ground.done("node_pool", POOL)
    body = {
        "apiVersion": NODE_POOLS.api,
        "kind": "NodePool",
        "metadata": {"name": "w", "namespace": "clusters"},
        "spec": {"replicas": 5},
    }
    other = {"Content-Type": "application/apply-patch+yaml"}
    ground.kube._patiently(  # as somebody else would: the client itself never forces
        "PATCH", NODE_POOLS.path("clusters", "w"), {"fieldManager": "scaler", "force": "true"}, body, other
    )
    assert not ground.done("node_pool", {**POOL, "replicas": 5}).changed
    outcome = ground.run("node_pool", POOL)
    assert outcome["failure"]["kind"] == "conflict"
    assert "spec.replicas is kept by scaler" in outcome.msg
    assert ground.spec(NODE_POOLS, "w")["replicas"] == 5
    assert (
        "replicas, which scaler set" in ground.run("node_pool", {"name": "w", "autoscaling": {"min": 1, "max": 2}}).msg
    )


def test_how_a_hosted_administrator_publishes_applications_is_left(ground: Ground) -> None:
    """Also where OpenShift has taken an earlier strategy into its status: that one was removed and made anew."""
    ground.done("hosted_cluster", CLUSTER)
    grounds.an_ingress_controller(ground.kube, ground.sim, ground.kubeconfig)
    ours = {"name": "demo", "publish": "HostNetwork"}
    assert ground.done("hosted_cluster_ingress", ours).changed
    chosen = {"spec": {"endpointPublishingStrategy": {"type": "LoadBalancerService"}}}
    taken = {"status": {"endpointPublishingStrategy": {"type": "LoadBalancerService"}}}
    path, merging = (
        INGRESS_CONTROLLERS.path(grounds.INGRESS, "default"),
        {"Content-Type": "application/merge-patch+json"},
    )
    ground.kube._patiently("PATCH", path, {"fieldManager": "kubectl-edit"}, {**chosen, **taken}, merging)
    before = ground.kube.get(INGRESS_CONTROLLERS, "default", grounds.INGRESS)
    for check in (True, False):
        kept = ground.run("hosted_cluster_ingress", ours, check=check)
        assert (kept.failed, kept.changed, kept["diff"]) == (False, False, [])
        assert kept["ingress_controller"]["publish"] == "LoadBalancer"
        assert "by LoadBalancer, which kubectl-edit chose in the hosted cluster. It was left so." in kept["warnings"][0]
    assert ground.kube.get(INGRESS_CONTROLLERS, "default", grounds.INGRESS) == before
    taking = {**ours, "take_over": ["spec.endpointPublishingStrategy"], "wait_timeout": 5}
    foreseen = ground.run("hosted_cluster_ingress", taking, check=True)
    assert (foreseen.changed, foreseen["ingress_controller"]["publish"]) == (True, "HostNetwork")
    assert ground.done("hosted_cluster_ingress", taking).changed


def test_a_field_that_is_named_is_taken_over_and_no_other(ground: Ground) -> None:
    """As after a `kubectl scale`, which keeps the field for ever."""
    ground.done("hosted_cluster", CLUSTER)
    ground.done("node_pool", POOL)

    def scaled(replicas: int, **more: Any) -> None:
        change = {"spec": {"replicas": replicas, **more}}
        query = {"fieldManager": "kubectl"}
        merging = {"Content-Type": "application/merge-patch+json"}
        ground.kube._patiently("PATCH", NODE_POOLS.path("clusters", "w"), query, change, merging)

    scaled(5)
    refused = ground.run("node_pool", {**POOL, "replicas": 3})
    assert "spec.replicas is kept by kubectl" in refused.msg
    assert "take it over with take_over: [spec.replicas]." in refused.msg
    assert refused.msg == ground.run("node_pool", {**POOL, "replicas": 3, "take_over": ["spec.nodeLabels"]}).msg
    taking = {**POOL, "replicas": 3, "take_over": ["spec.replicas"]}
    before = ground.versions()
    foreseen = ground.run("node_pool", taking, check=True)
    assert (foreseen.failed, ground.versions()) == (False, before), foreseen.msg
    assert ground.done("node_pool", taking)["diff"] == foreseen["diff"]
    assert ground.spec(NODE_POOLS, "w")["replicas"] == 3
    assert ground.done("node_pool", {**POOL, "replicas": 4}).changed, "it is ours from then on"
    scaled(6, nodeLabels={"a": "b"})
    both = ground.run("node_pool", {**taking, "node_labels": {"a": "c"}})
    assert "spec.nodeLabels.a, spec.replicas are kept by kubectl" in both.msg
    assert ground.spec(NODE_POOLS, "w")["replicas"] == 6
    assert ground.done("node_pool", {**taking, "node_labels": {"a": "c"}, "take_over": [".spec"]}).changed
    assert ground.spec(NODE_POOLS, "w")["nodeLabels"] == {"a": "c"}


def test_a_run_without_change_asks_little(ground: Ground) -> None:
    """The cluster, the three things that the task gives the content of, and the provider's copy of one of them."""
    ground.done("hosted_cluster", CLUSTER)
    ground.done("node_pool", POOL)
    assert len(ground.done("hosted_cluster", CLUSTER).screen.traced) <= 5
    assert len(ground.done("hosted_cluster", {"name": "demo", "paused": False, "wait": False}).screen.traced) <= 3
    assert len(ground.done("node_pool", POOL).screen.traced) <= 2


def test_a_journey_can_be_foreseen_on_an_empty_cluster(ground: Ground) -> None:
    cluster = ground.run("hosted_cluster", CLUSTER, check=True)
    pool = ground.run("node_pool", POOL, check=True)
    for outcome, noun in ((cluster, "hosted_cluster"), (pool, "node_pool")):
        assert not outcome.failed, outcome.msg
        assert outcome[noun]["predicted"] is True
    assert ground.kube.list(HOSTED_CLUSTERS) == []


def test_a_cluster_that_is_going_is_not_called_back(ground: Ground) -> None:
    ground.done("hosted_cluster", CLUSTER)
    held = {"metadata": {"finalizers": ["lab.example/held"]}}
    ground.kube.patch(HOSTED_CLUSTERS, "demo", "clusters", held)
    ground.kube.delete(HOSTED_CLUSTERS, "demo", "clusters")
    outcome = ground.run("hosted_cluster", CLUSTER)
    ground.kube.patch(HOSTED_CLUSTERS, "demo", "clusters", {"metadata": {"finalizers": None}})
    assert "is being deleted, and cannot be kept" in outcome.msg


@pytest.mark.parametrize("kind", [HOSTED_CLUSTERS, NODE_POOLS], ids=str)
def test_what_somebody_removes_while_it_is_waited_for_is_not_made_again(ground: Ground, kind: ObjectKind) -> None:
    module, args = ("hosted_cluster", CLUSTER) if kind is HOSTED_CLUSTERS else ("node_pool", POOL)
    if kind is NODE_POOLS:
        ground.done("hosted_cluster", CLUSTER)

    def remove() -> None:
        while not ground.kube.delete(kind, str(args["name"]), "clusters"):
            time.sleep(0.05)

    somebody = threading.Thread(target=remove)
    somebody.start()
    outcome = ground.run(module, {**args, "wait": True, "wait_timeout": 30, "wait_sleep": 0.1})
    somebody.join()
    assert outcome.failed
    assert outcome["failure"]["kind"] == "conflict", outcome.msg
    assert "somebody removed it while this task waited for it" in outcome.msg
    assert ground.kube.list(kind) == []
