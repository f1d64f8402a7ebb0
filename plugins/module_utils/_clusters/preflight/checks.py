# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What would fail later, judged from what was read. Nothing here asks anybody.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.dns_names import sharing
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.capability import (
    FIT,
    PROVIDER_VARIABLE,
    is_unknown,
    provider_of,
    what_is_wrong,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.releases import (
    NO_WAY_BACK,
    is_older,
    running,
    version_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.control_plane_owner import (
    namesakes,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.pure.capacity import (
    MachineDemand,
    allotted,
    announced,
    ask_of,
    constraints_of,
    is_elder,
    is_misannounced,
    machines_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.registry import RegistryAnswer
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.rights import FIRST, JOURNEYS, NEEDED
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    ASKS_FOR,
    CONTROL_PLANE_OPERATOR_IMAGE,
    PROVIDER_IMAGE,
    is_default_class,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.printable import line
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import (
    Constraints,
    Machine,
    shortfall,
)

Verdict = Literal["ok", "warning", "failed", "unknown"]

NODE_PORTS = range(30000, 32768)
# Before these, the provider publishes no internal names, by which HyperShift approves certificates.
HOST_TYPES = ("InternalIP", "ExternalIP", "InternalDNS", "ExternalDNS", "Hostname")


@dataclass(frozen=True)
class Check:
    """One line of the table."""

    name: str
    status: Verdict
    found: str
    advice: str = ""

    def __post_init__(self) -> None:
        for part in ("found", "advice"):
            object.__setattr__(self, part, line(getattr(self, part)))

    def to_dict(self) -> dict[str, str]:
        return {"name": self.name, "status": self.status, "found": self.found, "advice": self.advice}

    def __str__(self) -> str:
        return f"{self.status:<8} {self.name}: {self.found}" + (f" {self.advice}" if self.advice else "")


@dataclass(frozen=True)
class PoolSpec:
    """A node pool as it is to be."""

    name: str
    replicas: int
    image: str = ""
    arch: str = "amd64"
    upgrade_type: str = "Replace"
    max_surge: int | None = None
    maas: Mapping[str, Any] = field(default_factory=dict)

    @property
    def surge(self) -> int:
        """The machines beside those of the pool that an upgrade takes. The operator's default is one."""
        if self.upgrade_type != "Replace":
            return 0
        return 1 if self.max_surge is None else self.max_surge


@dataclass(frozen=True)
class Service:
    """How one service of the control plane is to be published."""

    name: str
    type: str
    address: str = ""
    port: int = 0


@dataclass(frozen=True)
class ClusterSpec:
    """The hosted cluster that is to be."""

    namespace: str
    name: str
    platform: str = "maas"
    release: str = ""
    allow_downgrade: bool = False
    base_domain: str = ""
    base_domain_prefix: str = ""
    storage_class: str = ""
    provider_image: str = ""
    # Whether the provider gets a key that is not the task's own.
    own_provider_key: bool = False
    control_plane_operator_image: str = ""
    allow_plain_maas_user: bool = False
    # As JSON; None where it is not known.
    pull_secret: str | None = field(default=None, repr=False)
    image_content_sources: bool = False
    dns_in_maas: bool = False
    pools: Sequence[PoolSpec] = ()
    services: Sequence[Service] = ()

    @property
    def label(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def domain(self) -> str:
        return f"{self.base_domain_prefix or self.name}.{self.base_domain}"

    @property
    def on_maas(self) -> bool:
        return self.platform == "maas"


def table(checks: Sequence[Check]) -> list[str]:
    """The checks as lines of equal columns, the worst first."""
    order = ("failed", "unknown", "warning", "ok")
    width = max((len(check.name) for check in checks), default=0)
    return [
        f"{check.status:<8}{check.name:<{width + 2}}{check.found}" + (f" {check.advice}" if check.advice else "")
        for check in sorted(checks, key=lambda check: order.index(check.status))
    ]


# -- machines ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Demand:
    """What this hosted cluster still asks for, and what others do who were there first."""

    own: Sequence[MachineDemand]
    spare: Sequence[MachineDemand]
    others: Sequence[MachineDemand]
    # The clusters that announce something that cannot be understood.
    misannounced: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        wish: ClusterSpec,
        clusters: Sequence[Object],
        pools: Sequence[Object],
        maas_machines: Sequence[Object],
        now: float = 0.0,
    ) -> Demand:
        this = next((each for each in clusters if _full_name(each) == wish.label), None)
        there = {each["metadata"]["name"]: each for each in pools if _cluster_of(each) == wish.label}
        own = [_own_ask(wish, pool, there.get(pool.name), maas_machines) for pool in wish.pools]
        named = {pool.name for pool in wish.pools}
        # Node pools of this cluster that the task does not speak of ask on as they did.
        rest = [ask_of(each, maas_machines) for name, each in there.items() if name not in named]
        others = [ask_of(each, maas_machines) for each in pools if _cluster_of(each) != wish.label]
        elders = [each for each in clusters if each is not this and (this is None or is_elder(each, this))]
        for cluster in elders:
            others += announced(cluster, pools, now)
        misannounced = [_full_name(each) for each in elders if is_misannounced(each, now)]
        spare = [
            MachineDemand(wish.label, pool.name, pool.surge, constraints_of(pool.maas))
            for pool in wish.pools
            if pool.surge
        ]
        return cls(own, spare, [ask for ask in [*others, *rest] if ask is not None and ask.count], misannounced)

    @property
    def asks(self) -> list[MachineDemand]:
        """Others first: they have written down what they want."""
        return [*self.others, *self.own, *self.spare]


def _own_ask(wish: ClusterSpec, pool: PoolSpec, there: Object | None, maas_machines: Sequence[Object]) -> MachineDemand:
    have = machines_of(there, maas_machines) if there else []
    got = sum(1 for each in have if each["spec"].get("systemID") or each["spec"].get("providerID"))
    return MachineDemand(wish.label, pool.name, max(pool.replicas - got, 0), _constraints(pool, there))


def _constraints(pool: PoolSpec, there: Object | None) -> Constraints:
    """What a node pool that exists asks for stays, where nothing else is wished."""
    kept = ((there or {}).get("spec", {}).get("platform") or {}).get("maas") or {}
    return constraints_of({**kept, **pool.maas})


def capacity(demand: Demand, ready: Sequence[Machine]) -> Iterator[Check]:
    """Enough free machines for all pools at once, and one to spare for upgrades."""
    exaggerating = _exaggerating(demand, ready)
    asks = [ask for ask in demand.asks if not (ask.announced and ask.owner in exaggerating)]
    got = dict(zip(map(id, asks), allotted(asks, ready), strict=True))
    for ask in demand.own:
        name = f"machines for {ask.pool}"
        fitting = sum(1 for machine in ready if ask.constraints.matches(machine))
        if not ask.count:
            yield Check(name, "ok", "It has its machines already.")
        elif got[id(ask)] >= ask.count:
            yield Check(name, "ok", f"{_machines(ask.count)} asked for, {fitting} ready that fit ({ask.wanted}).")
        else:
            rivals = [
                other
                for other in asks
                if other is not ask and got[id(other)] and other not in demand.spare and _overlap(other, ask, ready)
            ]
            yield Check(name, "failed", _too_few(ask, got[id(ask)], ready, rivals), _how_to_get_more(rivals, ask.owner))
    yield from _not_counted(demand, exaggerating)
    if short := [ask for ask in demand.spare if got[id(ask)] < ask.count]:
        yield Check(
            "spare machines",
            "warning",
            f"There is no machine to spare for an upgrade of {_and(ask.pool for ask in short)}, which replaces one "
            "by one after taking another.",
            "Add a machine before an upgrade, or set max_surge to 0 and max_unavailable to 1.",
        )
    elif demand.spare:
        yield Check("spare machines", "ok", "There is a machine to spare for upgrades.")


def _exaggerating(demand: Demand, ready: Sequence[Machine]) -> Mapping[str, int]:
    """Who announces more machines than there are, and how many: nobody could have begun with that."""
    announced_by = Counter[str]()
    for ask in demand.others:
        if ask.announced:
            announced_by[ask.owner] += ask.count
    return {owner: count for owner, count in announced_by.items() if count > len(ready)}


def _not_counted(demand: Demand, exaggerating: Mapping[str, int]) -> Iterator[Check]:
    told = [f"{owner} announces {count} machines, more than are Ready" for owner, count in exaggerating.items()]
    told += [f"what {owner} announces cannot be understood" for owner in demand.misannounced]
    if told:
        advice = f"See the annotation {ASKS_FOR} of these HostedClusters, and who wrote it."
        text = "; ".join(told)
        yield Check("announcements", "warning", f"{text[:1].upper()}{text[1:]}. It was not counted.", advice)


def _too_few(ask: MachineDemand, got: int, ready: Sequence[Machine], rivals: Sequence[MachineDemand]) -> str:
    lines = shortfall(ready, ask.constraints)
    stock = "; ".join(lines) if lines else "no machine is Ready"
    text = f"{_machines(ask.count)} asked for ({ask.wanted}), {got} available: {stock}."
    if rivals:
        claims = _and(f"{other.label} still asks for {other.count}" for other in rivals)
        text += f" Of those that fit, {claims}."
    return text


def _how_to_get_more(rivals: Sequence[MachineDemand], owner: str) -> str:
    others = sorted({other.owner for other in rivals if other.owner != owner})
    wait = f", or wait until {_and(others)} has what it asks for and add the rest" if others else ""
    return f"Add machines to MAAS, release some, or ask for fewer{wait}."


def _overlap(one: MachineDemand, other: MachineDemand, ready: Sequence[Machine]) -> bool:
    return any(one.constraints.matches(machine) and other.constraints.matches(machine) for machine in ready)


def known_names(
    wish: ClusterSpec, zones: Sequence[Object], pools: Sequence[Object], tags: Sequence[Object]
) -> Iterator[Check]:
    """Zones, resource pools and tags that MAAS has not got: nobody will ever match them."""
    have = {
        "zones": {each["name"] for each in zones},
        "pools": {each["name"] for each in pools},
        "tags": {each["name"] for each in tags},
    }
    missing = sorted(
        {
            f"{kind.removesuffix('s')} {value}"
            for pool in wish.pools
            for kind, known in have.items()
            for value in getattr(constraints_of(pool.maas), kind)
            if value not in known
        }
    )
    if missing:
        yield Check(
            "names in MAAS", "failed", f"MAAS does not have {_and(missing)}.", "Check the spelling, or make it first."
        )
    else:
        yield Check("names in MAAS", "ok", "MAAS has all zones, pools and tags that the node pools name.")


def images(wish: ClusterSpec, resources: Sequence[Object]) -> Iterator[Check]:
    """The image of each node pool, in MAAS, for the architecture of the pool."""
    for image in sorted({pool.image for pool in wish.pools}):
        name = f"image {image or '(none)'}"
        if not image:
            yield Check(
                name,
                "failed",
                "A node pool names no image; the operator would take ubuntu/focal, which no node can start from.",
                "Name the image of RHCOS that MAAS has, such as custom/rhcos-4.20.",
            )
            continue
        found = [each for each in resources if _image_name(each["name"]) == _image_name(image)]
        archs = sorted({each["architecture"].partition("/")[0] for each in found})
        if not found:
            has = sorted({each["name"] for each in resources if each.get("type") == "Uploaded"})
            yield Check(
                name,
                "failed",
                f"MAAS does not have it; of uploaded images it has {_and(has) or 'none'}.",
                "Upload it, or name one of these.",
            )
        elif "amd64" not in archs:
            yield Check(name, "failed", f"MAAS has it for {_and(archs)} only.", "Upload the one for amd64.")
        else:
            yield Check(name, "ok", f"MAAS has it for {_and(archs)}.")


def disks(demand: Demand, ready: Sequence[Machine]) -> Iterator[Check]:
    """The fork's Ignition wipes partition 5 of /dev/sda, whatever the disks are called."""
    without = sorted(
        machine["hostname"]
        for machine in ready
        if any(ask.constraints.matches(machine) for ask in demand.own)
        and "sda" not in {disk.get("name") for disk in machine.get("blockdevice_set") or ()}
    )
    if without:
        yield Check(
            "disk /dev/sda",
            "warning",
            f"The operator of platform MAAS wipes partition 5 of /dev/sda on every worker, and {_some(without)} "
            f"{_has(without)} no such disk: Ignition stops there.",
            "Keep machines with NVMe disks only out of the node pools, by a tag.",
        )
    elif any(ask.constraints.matches(machine) for ask in demand.own for machine in ready):
        yield Check("disk /dev/sda", "ok", "All machines that fit have it.")


def architectures(wish: ClusterSpec, demand: Demand, ready: Sequence[Machine]) -> Iterator[Check]:
    """Platform MAAS knows amd64 only, and its provider asks MAAS for no architecture."""
    if others := sorted(pool.name for pool in wish.pools if pool.arch != "amd64"):
        yield Check(
            "architecture",
            "failed",
            f"{_and(others)} {_is(others)} not for amd64, and platform MAAS is refused on other architectures.",
            "Use machines of amd64.",
        )
        return
    strangers = sorted(
        machine["hostname"]
        for machine in ready
        if any(ask.constraints.matches(machine) for ask in demand.own)
        and not str(machine.get("architecture", "")).startswith("amd64")
    )
    if strangers:
        yield Check(
            "architecture",
            "warning",
            f"{_some(strangers)} {_is(strangers)} not of amd64 and would be taken: nobody asks MAAS for amd64.",
            "Keep other architectures out of the node pools, by a tag or a resource pool.",
        )
    else:
        yield Check("architecture", "ok", "amd64.")


def the_fork(wish: ClusterSpec) -> Iterator[Check]:
    """What the operator of platform MAAS does unasked."""
    yield Check(
        "user spectro",
        "warning",
        "The operator of platform MAAS puts a user spectro with a fixed password and SSH key on every worker.",
        "Lock it by a MachineConfig of your own, or keep SSH to the workers closed.",
    )
    if wish.image_content_sources:
        yield Check(
            "image content sources",
            "failed",
            "With imageContentSources, node pools of platform MAAS wait for ever: the operator counts one core "
            "ignition config too many.",
            "Leave image_content_sources out; give mirrors to the nodes with a MachineConfig.",
        )


def rights_in_maas(wish: ClusterSpec, user: Object) -> Iterator[Check]:
    """An administrator of MAAS may all of it; somebody else only what needs no administrator."""
    name = user.get("username", "?")
    if user.get("is_superuser"):
        yield Check("rights in MAAS", "ok", f"{name} is an administrator.")
    elif wish.dns_in_maas:
        yield Check(
            "rights in MAAS",
            "failed",
            f"{name} is no administrator, and only administrators may write names into the DNS of MAAS.",
            "Use an administrator's key, or keep the names of the cluster elsewhere.",
        )
    else:
        yield Check(
            "rights in MAAS",
            "warning",
            f"{name} is no administrator: it sees and annotates only machines that are free or its own.",
            "Use an administrator's key, so that the machines of the cluster can be told and marked.",
        )


def provider_key(wish: ClusterSpec, user: Object, clusters: Sequence[Object]) -> Iterator[Check]:
    """MAAS lets only administrators do what the provider does before each deployment."""
    name = "key of the provider"
    kept = any(_full_name(each) == wish.label for each in clusters) and not wish.own_provider_key
    if kept and not user.get("is_superuser"):
        yield Check(name, "ok", "The cluster keeps the key that it has.")
    elif user.get("is_superuser"):
        yield Check(name, "ok", f"It is that of {user.get('username', '?')}, an administrator.")
    else:
        allowed = wish.allow_plain_maas_user
        yield Check(
            name,
            "warning" if allowed else "failed",
            f"It is that of {user.get('username', '?')}, who is no administrator of MAAS: no machine would ever be "
            "deployed.",
            ""
            if allowed
            else "Give the key of an administrator as provider_maas_api_key; where the rights in MAAS come from "
            "elsewhere (RBAC), set allow_plain_maas_user: true.",
        )


def names_in_dns(wish: ClusterSpec, domains: Sequence[Object], resolved: Mapping[str, str]) -> Iterator[Check]:
    """The names of the API and of the applications: in MAAS, or known already."""
    names = wanted_names(wish)
    if not wish.dns_in_maas:
        lost = [name for name in names if not resolved.get(name)]
        if lost:
            yield Check(
                "DNS",
                "warning",
                f"{_and(lost)} {'does' if len(lost) == 1 else 'do'} not resolve here.",
                "Make the names before the cluster is used, or let MAAS hold them.",
            )
        else:
            yield Check("DNS", "ok", f"{_and(names)} resolve here.")
        return
    have = {str(each["name"]).lower() for each in domains}
    missing = [domain for domain in (wish.domain, f"apps.{wish.domain}") if domain.lower() not in have]
    if missing:
        yield Check("DNS", "ok", f"MAAS does not have {_and(missing)} yet; it will be made.")
    else:
        yield Check("DNS", "ok", f"MAAS has {wish.domain} and apps.{wish.domain}.")


def names_taken(wish: ClusterSpec, clusters: Sequence[Object]) -> Iterator[Check]:
    """Of two hosted clusters with one domain, whoever is created later takes the names of the other."""
    name = "names of the cluster"
    this = next((each for each in clusters if _full_name(each) == wish.label), None)
    others = sharing(clusters, wish.namespace, wish.name, wish.domain)
    if not others:
        yield Check(name, "ok", f"No other hosted cluster has the domain {wish.domain}.")
        return
    found = f"{wish.domain} is the domain of hosted cluster {_and(map(_full_name, others))} as well."
    was_first = this is not None and all(is_elder(this, other) for other in others)
    yield Check(name, "warning" if was_first else "failed", found, "Choose another name or base domain.")


def wanted_names(wish: ClusterSpec) -> list[str]:
    return [f"api.{wish.domain}", f"api-int.{wish.domain}", f"console.apps.{wish.domain}"] if wish.base_domain else []


# -- the management cluster ----------------------------------------------------------------------------------------


def control_plane_namespace_is_free(wish: ClusterSpec, clusters: Sequence[Object]) -> Iterator[Check]:
    """Two names may spell the same namespace, and HyperShift deletes it with the first of them that goes."""
    name, place = "namespace", control_plane_namespace(wish.namespace, wish.name)
    if others := namesakes(clusters, wish.namespace, wish.name):
        yield Check(
            name,
            "failed",
            f"The control plane would be in {place}, which is the namespace of hosted cluster {_and(others)}.",
            "Choose another name or namespace.",
        )
    else:
        yield Check(name, "ok", f"The control plane has {place} to itself.")


def platform(wish: ClusterSpec, crd: Object | None) -> Iterator[Check]:
    """Whether the installed kind of HostedCluster knows the platform, and keeps what is written about it."""
    wanted = {"maas": "MAAS", "none": "None"}[wish.platform]
    if crd is None:
        yield Check("platform", "failed", "The cluster does not know HostedClusters.", "Install HyperShift's operator.")
        return
    served = [version for version in crd["spec"]["versions"] if version.get("served") and version["name"] == "v1beta1"]
    try:
        schema = served[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["platform"]["properties"]
        types = schema["type"]["enum"]
    except (IndexError, KeyError):
        yield Check(
            "platform", "failed", "HostedClusters are not served as v1beta1 there.", "Install a newer operator."
        )
        return
    if wanted not in types:
        yield Check(
            "platform",
            "failed",
            f"The installed HyperShift does not know platform {wanted}; it knows {_and(types)}.",
            "Install the fork that does (4.19 or 4.20), or use platform: none.",
        )
    elif wish.on_maas and "identityRef" not in (schema.get("maas") or {}).get("properties", {}):
        yield Check(
            "platform",
            "failed",
            "The installed HyperShift accepts platform MAAS and drops what is written about it.",
            "Install the fork of 4.19 or 4.20.",
        )
    else:
        yield Check("platform", "ok", f"HyperShift knows platform {wanted}.")


def release(wish: ClusterSpec, answer: RegistryAnswer | None) -> Iterator[Check]:
    """The release image, as the registry answers who asks with the pull secret."""
    name = "release"
    if answer is None:
        yield Check(
            name,
            "failed",
            f"{wish.release} is no name of an image: it must begin with a registry and end in a tag or digest.",
            "Write something like quay.io/openshift-release-dev/ocp-release:4.20.8-x86_64.",
        )
        return
    told = {
        "there": ("ok", f"The registry has {wish.release}.", ""),
        "missing": ("failed", f"The registry does not have {wish.release}.", "Check the tag or digest."),
        "refused": (
            "failed",
            f"The registry does not give {wish.release} to this pull secret ({answer.said}).",
            "Check the login for the registry in the pull secret.",
        ),
        "unreachable": (
            "warning",
            f"The registry of {wish.release} cannot be reached from here ({answer.said}); perhaps the management "
            "cluster reaches it.",
            "Check that its pods do.",
        ),
        "untrusted": (
            "warning",
            f"The certificate of the registry of {wish.release} is not trusted here ({answer.said}).",
            "Name the authority with release_ca_cert, and make sure that the management cluster trusts it.",
        ),
        "strange": (
            "warning",
            f"The registry of {wish.release} answers strangely ({answer.said}).",
            "Try again, and look at it with skopeo inspect.",
        ),
    }
    status, found, advice = told[answer.verdict]
    yield Check(name, status, found, advice)  # type: ignore[arg-type]
    if answer.architectures and "amd64" not in answer.architectures:
        yield Check(
            "release for amd64", "failed", f"It is for {_and(answer.architectures)} only.", "Use the one for amd64."
        )


def pull_secret(wish: ClusterSpec) -> Iterator[Check]:
    """A pull secret that is none is noticed late, and told in words that do not name it."""
    try:
        logins = json.loads(wish.pull_secret or "")["auths"]
        usable = bool(logins) and isinstance(logins, dict)
    except (ValueError, KeyError, TypeError):
        usable = False
    if usable:
        yield Check(
            "pull secret", "ok", f"It has logins for {len(logins)} registr{'y' if len(logins) == 1 else 'ies'}."
        )
    else:
        yield Check(
            "pull secret",
            "failed",
            "It is not what a registry's login file holds, or has no login at all.",
            'Give JSON such as {"auths": {"quay.io": {"auth": "..."}}}.',
        )


def upgrade(wish: ClusterSpec, clusters: Sequence[Object]) -> Iterator[Check]:
    """From which version to which, for a hosted cluster that is installed."""
    name = "upgrade"
    this = next((each for each in clusters if _full_name(each) == wish.label), None)
    history = ((this or {}).get("status") or {}).get("version", {}).get("history") or []
    now, then = running(this), version_of(wish.release, history)
    if not now:
        return
    if not then:
        yield Check(name, "unknown", f"The tag of {wish.release} tells no version; {wish.label} has {now}.")
    elif not is_older(wish.release, now, history):
        yield Check(
            name, "ok", f"{wish.label} has {now}" + (f" and gets {then}." if then != now else ", as asked for.")
        )
    else:
        yield Check(
            name,
            "warning" if wish.allow_downgrade else "failed",
            f"{wish.label} has {now}, and {then} is older. {NO_WAY_BACK}",
            "" if wish.allow_downgrade else "Correct the release, or allow the downgrade.",
        )


def supported_versions(wish: ClusterSpec, config: Object | None) -> Iterator[Check]:
    """Whether the operator supports the release, as far as its tag tells the version."""
    name = "operator and release"
    minor = _minor(wish.release)
    try:
        listed = json.loads((config or {})["data"]["supported-versions"])["versions"]
        versions = [str(version) for version in listed]
    except (KeyError, TypeError, ValueError):
        yield Check(
            name,
            "unknown",
            "The operator has not said which versions of OpenShift it supports (ConfigMap supported-versions).",
            "See whether the operator runs.",
        )
        return
    if not minor:
        yield Check(name, "unknown", f"The tag of {wish.release} tells no version; supported are {_and(versions)}.", "")
    elif minor in versions:
        yield Check(name, "ok", f"The operator supports {minor}.")
    else:
        yield Check(
            name,
            "failed",
            f"The operator does not support {minor}; it supports {_and(versions)}.",
            "Take a release that it supports, or another version of the operator.",
        )


def operator(deployments: Sequence[Object]) -> Iterator[Check]:
    """The operator's Deployment, by its name, wherever it is installed."""
    found = [each for each in deployments if each["metadata"]["name"] == "operator"]
    if not found:
        yield Check("operator", "failed", "HyperShift's operator is not installed there.", "Install it first.")
        return
    body = found[0]
    where = _full_name(body)
    if (body.get("status") or {}).get("availableReplicas"):
        image = body["spec"]["template"]["spec"]["containers"][0].get("image", "?")
        yield Check("operator", "ok", f"{where} runs ({image}).")
    else:
        yield Check(
            "operator",
            "failed",
            f"{where} has no available pod: nothing that is written will be acted on.",
            f"See why: kubectl -n {body['metadata']['namespace']} describe pods -l name=operator.",
        )


def provider(wish: ClusterSpec, deployments: Sequence[Object], clusters: Sequence[Object]) -> Iterator[Check]:
    """Whether nodes can join with the image of the provider that the hosted cluster would run."""
    operators = [each for each in deployments if each["metadata"]["name"] == "operator"]
    this = next((each for each in clusters if _full_name(each) == wish.label), None)
    kept = ((this or {}).get("metadata", {}).get("annotations") or {}).get(PROVIDER_IMAGE)
    found = provider_of(operators[0] if operators else None, wish.provider_image or kept)
    wrong = what_is_wrong(found)
    name, text = "provider", f"{found.image} ({found.source})"
    if wish.provider_image and found.image != wish.provider_image:
        yield Check(
            name,
            "failed",
            f"{wish.provider_image} is asked for, but {found.source} says {found.image}, which wins.",
            f"Change {PROVIDER_VARIABLE} of Deployment operator, or leave provider_image out.",
        )
    elif wrong:
        # One that exists keeps what it was made with, and its nodes may have joined in another way.
        verdict: Verdict = "failed" if this is None or wish.provider_image else "warning"
        yield Check(name, verdict, f"No node could join: {text} {wrong}.", f"Name an image of {FIT} in provider_image.")
    elif is_unknown(found):
        yield Check(
            name, "warning", f"Whether nodes can join with {text} cannot be told by its tag.", f"It should be {FIT}."
        )
    else:
        yield Check(name, "ok", f"Nodes can join with {text}.")


def control_plane_operator(wish: ClusterSpec, clusters: Sequence[Object]) -> Iterator[Check]:
    """Which control-plane operator the cluster gets: that of a stock release spoils platform MAAS."""
    this = next((each for each in clusters if _full_name(each) == wish.label), None)
    kept = ((this or {}).get("metadata", {}).get("annotations") or {}).get(CONTROL_PLANE_OPERATOR_IMAGE)
    image = wish.control_plane_operator_image or kept
    name = "control plane operator"
    if image:
        yield Check(name, "ok", f"{image}.")
    else:
        yield Check(
            name,
            "warning",
            "It is that of the release. A stock release's writes platform MAAS into the hosted cluster, which "
            "OpenShift refuses.",
            "Name the fork's in control_plane_operator_image, unless the release has it.",
        )


def storage(wish: ClusterSpec, classes: Sequence[Object]) -> Iterator[Check]:
    """Where etcd keeps its data."""
    names = sorted(each["metadata"]["name"] for each in classes)
    default = [each["metadata"]["name"] for each in classes if is_default_class(each)]
    have = f"there {'is' if len(names) == 1 else 'are'} {_and(names)}" if names else "there is none"
    if wish.storage_class and wish.storage_class not in names:
        yield Check(
            "storage class",
            "failed",
            f"There is no storage class {wish.storage_class} for etcd; {have}.",
            "Name one of these, or make it first.",
        )
    elif wish.storage_class or len(default) == 1:
        yield Check("storage class", "ok", f"etcd will be on {wish.storage_class or default[0]}.")
    elif default:
        yield Check(
            "storage class",
            "warning",
            f"{_and(default)} are all marked as the default; the newest will be taken for etcd.",
            "Name one for etcd.",
        )
    else:
        yield Check(
            "storage class",
            "failed",
            f"No storage class is the default, and etcd would wait for a volume for ever; {have}.",
            "Mark one as the default, or name one for etcd.",
        )


def ports(wish: ClusterSpec, services: Sequence[Object]) -> Iterator[Check]:
    """Node ports that are named, and taken, or out of range."""
    asked = {service.port: service.name for service in wish.services if service.type == "NodePort" and service.port}
    if not asked:
        return
    own = control_plane_namespace(wish.namespace, wish.name)
    taken = {
        port["nodePort"]: _full_name(body)
        for body in services
        for port in body["spec"].get("ports") or ()
        if port.get("nodePort") and body["metadata"]["namespace"] != own
    }
    clashes = [f"{port} ({name}) is that of {taken[port]}" for port, name in asked.items() if port in taken]
    numbers = [service.port for service in wish.services if service.type == "NodePort" and service.port]
    twice = sorted({port for port in numbers if numbers.count(port) > 1})
    outside = sorted(port for port in asked if port not in NODE_PORTS)
    if clashes:
        yield Check("node ports", "failed", f"Node port {_and(clashes)}.", "Name free ones, or none.")
    elif twice:
        yield Check("node ports", "failed", f"Node port {_and(map(str, twice))} is named twice.", "Each needs its own.")
    elif outside:
        yield Check(
            "node ports",
            "warning",
            f"{_and(map(str, outside))} {_is(outside)} outside of 30000-32767, the usual range of node ports.",
            "Make sure that the API server was started with another range.",
        )
    else:
        yield Check("node ports", "ok", f"{_and(map(str, sorted(asked)))} {_is(asked)} free.")


def publishing(wish: ClusterSpec) -> Iterator[Check]:
    """Combinations that the API takes, and that lead nowhere."""
    ignition = next((service for service in wish.services if service.name == "Ignition"), None)
    if wish.services and (ignition is None or ignition.type not in ("NodePort", "Route")):
        how = f"published by {ignition.type}" if ignition else "not published"
        yield Check(
            "services",
            "failed",
            f"Ignition is {how}, and the operator then does nothing and says nothing.",
            "Publish Ignition by NodePort or Route.",
        )


def node_address(wish: ClusterSpec, nodes: Sequence[Object], resolved: Mapping[str, str]) -> Iterator[Check]:
    """With NodePort nobody checks whether the address leads to the management cluster."""
    asked = sorted({service.address for service in wish.services if service.type == "NodePort" and service.address})
    if not asked:
        return
    known = {
        entry["address"]
        for node in nodes
        for entry in (node.get("status") or {}).get("addresses") or ()
        if entry.get("type") in HOST_TYPES
    }
    if unresolved := [address for address in asked if address not in known and not resolved.get(address)]:
        yield Check(
            "address of services",
            "warning",
            f"{_and(unresolved)} does not resolve here.",
            "The machines of the node pools must be able to resolve it.",
        )
    elif [address for address in asked if address not in known and resolved.get(address) not in known]:
        yield Check(
            "address of services",
            "warning",
            f"{_and(asked)} is the address of no node of the management cluster, and nobody else checks it.",
            "Name an address that leads to all its nodes, such as that of a load balancer in front of them.",
        )
    else:
        yield Check("address of services", "ok", f"{_and(asked)} leads to a node of the management cluster.")


def rights_in_kubernetes(refused: Mapping[str, Sequence[str]]) -> Iterator[Check]:
    """What the user may not do, by journey: who may create a cluster may not yet be able to remove it."""
    name, lacking = "rights in Kubernetes", {journey: found for journey, found in refused.items() if found}
    if not lacking:
        able = _and(JOURNEYS[journey] for journey in NEEDED)
        yield Check(name, "ok", f"The user of the management cluster may do all that is needed to {able}.")
        return
    told = [
        f"To {JOURNEYS[journey]} the user of the management cluster lacks: {', '.join(found)}."
        for journey, found in lacking.items()
    ]
    status: Verdict = "failed" if set(lacking) & set(FIRST) else "warning"
    yield Check(name, status, " ".join(told), "Bind a role with these rights to it.")


# -- words ---------------------------------------------------------------------------------------------------------


def _minor(image: str) -> str:
    """4.20 of a tag 4.20.8-x86_64; empty if there is no such thing in it."""
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    parts = tag.split(".")
    return ".".join(parts[:2]) if len(parts) > 2 and parts[0].isdigit() and parts[1].isdigit() else ""


def _image_name(name: str) -> str:
    """MAAS lists its own uploads with and without `custom/`."""
    return name.removeprefix("custom/")


def _full_name(body: Object) -> str:
    return f"{body['metadata']['namespace']}/{body['metadata']['name']}"


def _cluster_of(pool: Object) -> str:
    return f"{pool['metadata']['namespace']}/{pool['spec']['clusterName']}"


def _machines(count: int) -> str:
    return f"{count} machine{'' if count == 1 else 's'}"


def _and(words: Iterable[str]) -> str:
    listed = list(words)
    return f"{', '.join(listed[:-1])} and {listed[-1]}" if len(listed) > 1 else "".join(listed)


def _some(names: Sequence[str], most: int = 4) -> str:
    return _and(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most} more"


def _is(names: Collection[object]) -> str:
    return "is" if len(names) == 1 else "are"


def _has(names: Sequence[object]) -> str:
    return "has" if len(names) == 1 else "have"
