# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that may be left of a hosted cluster, read wherever its parts leave something. Nothing is written.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.controllers import Controllers
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.namesakes import owners_in
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.control_plane_owner import (
    ControlPlaneOwner,
    clusters_of_pools,
    namesakes,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import has_maas
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import READS_AT_ONCE, each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    HOSTED_CLUSTERS,
    MAAS_MACHINES,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    PERSISTENT_VOLUMES,
    SECRETS,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, address
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import HELD, Status


@dataclass(frozen=True)
class ClusterRecord:
    """What was noted of the cluster before, if anything was: it names what nothing else attributes any more."""

    system_ids: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()
    node_pools: frozenset[str] = frozenset()
    infra_id: str = ""

    @classmethod
    def of(cls, noted: Any) -> ClusterRecord:
        """Out of the result of `hosted_cluster_info`, of `hosted_cluster` with state absent, or any part of those."""
        found: dict[str, set[str]] = {name: set() for name in WORTH_NOTING}
        for key, value in _walk(noted):
            for name, keys in WORTH_NOTING.items():
                if key in keys:
                    values = value if isinstance(value, list) else [value]
                    found[name].update(str(one) for one in values if isinstance(one, str) and one)
        addresses = {one for one in found["addresses"] if re.fullmatch(r"[0-9a-fA-F:.]+", one) and not one.isalnum()}
        return cls(
            frozenset(found["system_ids"]),
            frozenset(addresses),
            frozenset(found["node_pools"]),
            next(iter(sorted(found["infra_ids"])), ""),
        )


WORTH_NOTING: Mapping[str, Collection[str]] = {
    "system_ids": ("system_id",),
    "addresses": ("ip_addresses", "addresses", "address", "host", "ip"),
    "node_pools": ("node_pool",),
    "infra_ids": ("infra_id", "infraID"),
}


def _walk(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key), inner
            yield from _walk(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _walk(inner)


@dataclass(frozen=True)
class LeftoverState:
    """All that was read; what could not be is None, and its reason is in `unchecked`."""

    namespace: str
    name: str
    memory: ClusterRecord = field(default_factory=ClusterRecord)
    cluster: Object | None = None
    others: Sequence[Object] = ()
    # In all namespaces, or in the control plane's alone for a user who may not look further.
    maas_machines: Sequence[Object] = ()
    machines: Sequence[Object] = ()
    node_pools: Sequence[Object] = ()
    place: Object | None = None
    volumes: Sequence[Object] | None = None
    secrets: Sequence[Object] | None = None
    config_maps: Sequence[Object] | None = None
    roles: Sequence[Object] | None = None
    held: Sequence[Mapping[str, Any]] | None = None
    noted_machines: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    vms: Sequence[Mapping[str, Any]] | None = None
    dns: Sequence[Mapping[str, Any]] | None = None
    reservations: Sequence[Mapping[str, Any]] | None = None
    tags: Sequence[Mapping[str, Any]] | None = None
    # The hosted clusters that objects in the control plane's namespace say they are of.
    stated: frozenset[str] = frozenset()
    # The users of MAAS in whose name the provider acts; empty if that is not known any more.
    owners: frozenset[str] = frozenset()
    unchecked: Sequence[str] = ()

    @property
    def label(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def control_plane_namespace(self) -> str:
        return control_plane_namespace(self.namespace, self.name)

    @property
    def owner(self) -> ControlPlaneOwner:
        """What tells this cluster's objects from others' in the namespace of its control plane."""
        return ControlPlaneOwner(
            self.namespace,
            self.name,
            self.cluster,
            clusters_of_pools(self.node_pools, self.namespace),
            namesakes=namesakes(self.others, self.namespace, self.name),
        )

    @property
    def neighbours(self) -> Sequence[str]:
        """Other hosted clusters whose the control plane's namespace is."""
        return self.owner.namesakes or sorted(self.stated - {self.label})

    @property
    def infra_id(self) -> str:
        return str(((self.cluster or {}).get("spec") or {}).get("infraID") or "") or self.memory.infra_id

    @property
    def is_there(self) -> bool:
        return self.cluster is not None and not is_deleted(self.cluster)

    @property
    def named(self) -> set[str]:
        """The machines that some MaasMachine names."""
        return {system_id for system_id in map(system_id_of, self.maas_machines) if system_id}


# -- reading -------------------------------------------------------------------------------------------


def gather(task: Task, namespace: str, name: str, noted: Any = None) -> LeftoverState:
    """Look wherever something may be left. What this user may not read is told as unchecked."""
    memory = ClusterRecord.of(noted)
    place = control_plane_namespace(namespace, name)
    answers, unchecked = _answered({**_kube_looks(task, namespace, place), **_maas_looks(task, memory)})
    if not has_maas(task.params):
        unchecked.append(
            "MAAS was not asked: maas_endpoint and maas_api_key are not set, so machines, virtual machines, DNS "
            "records, reservations and tags were not looked at."
        )
    elif not memory.addresses:
        unchecked.append(
            "Reservations of addresses cannot be told from others without noted: MAAS does not say what one is for."
        )
    clusters = answers.get("clusters") or []
    roles = [answers.get("cluster_roles"), answers.get("cluster_role_bindings")]
    everywhere = answers.get("all_maas_machines")
    owners: frozenset[str] = frozenset()
    if has_maas(task.params) and answers.get("held") is not None:
        owners = Controllers(task, namespace, name).owners(Machines(task.maas).me)
    remains = LeftoverState(
        namespace=namespace,
        name=name,
        memory=memory,
        cluster=next((body for body in clusters if name_of(body) == name), None),
        others=[*(body for body in clusters if name_of(body) != name), *(answers.get("other_clusters") or [])],
        maas_machines=everywhere if everywhere is not None else (answers.get("maas_machines") or []),
        machines=answers.get("machines") or [],
        node_pools=[
            body for body in answers.get("node_pools") or [] if (body.get("spec") or {}).get("clusterName") == name
        ],
        place=answers.get("place"),
        volumes=answers.get("volumes"),
        secrets=answers.get("secrets"),
        config_maps=answers.get("config_maps"),
        roles=None if None in roles else [body for some in roles for body in some or ()],
        held=answers.get("held"),
        noted_machines=answers.get("noted_machines") or {},
        vms=answers.get("vms"),
        dns=answers.get("dns"),
        reservations=answers.get("reservations") if memory.addresses else None,
        tags=answers.get("tags"),
        owners=owners,
        unchecked=sorted(unchecked),
    )
    if remains.place is None or remains.cluster is not None:
        return remains
    return replace(remains, stated=frozenset(owners_in(task.kube, remains.owner)))


Look = Callable[[], Any]


def _kube_looks(task: Task, namespace: str, place: str) -> dict[str, Look]:
    kube = task.kube

    def listed(kind: ObjectKind, where: str = "") -> Look:
        return lambda: kube.list(kind, where)

    return {
        "clusters": listed(HOSTED_CLUSTERS, namespace),
        "other_clusters": lambda: [
            body for body in kube.list(HOSTED_CLUSTERS) if body["metadata"].get("namespace") != namespace
        ],
        "node_pools": listed(NODE_POOLS, namespace),
        "all_maas_machines": listed(MAAS_MACHINES),
        "maas_machines": listed(MAAS_MACHINES, place),
        "machines": listed(MACHINES, place),
        "place": lambda: kube.get(NAMESPACES, place),
        "volumes": listed(PERSISTENT_VOLUMES),
        "secrets": listed(SECRETS, namespace),
        "config_maps": listed(CONFIG_MAPS, namespace),
        "cluster_roles": listed(CLUSTER_ROLES),
        "cluster_role_bindings": listed(CLUSTER_ROLE_BINDINGS),
    }


def _maas_looks(task: Task, memory: ClusterRecord) -> dict[str, Look]:
    if not has_maas(task.params):
        return {}
    maas, machines = task.maas, Machines(task.maas)
    return {
        "held": lambda: machines.listed(status=[status.filter for status in sorted(HELD)]),
        "noted_machines": lambda: machines.read(memory.system_ids),
        "vms": lambda: [
            machine
            for machine in machines.listed(status=[Status.READY.filter, Status.NEW.filter])
            if address(machine).startswith("vm-")
        ],
        "dns": lambda: maas.get("dnsresources/"),
        "reservations": lambda: maas.get("ipaddresses/", {"all": True} if machines.sees_all else {}),
        "tags": lambda: maas.get("tags/"),
    }


def _answered(looks: Mapping[str, Look]) -> tuple[dict[str, Any], list[str]]:
    answers: dict[str, Any] = {}
    unchecked: list[str] = []
    for name, answer in each(looks, lambda name: looks[name](), READS_AT_ONCE):
        if not isinstance(answer, Failure):
            answers[name] = answer
            continue
        # What nobody may do without is a failure of the task; the rest is told.
        if answer.kind not in ("forbidden", "unsupported", "not_found") or name == "clusters":
            raise answer
        unchecked.append(f"{name.replace('_', ' ').capitalize()}: {(answer.reason or answer.message).rstrip('.')}.")
    return answers, unchecked
