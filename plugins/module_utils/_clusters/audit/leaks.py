# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hosted cluster has left behind, listed with the reason: decided from what was read, without any request.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.audit.state import LeftoverState, gather
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.dns_names import domains_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.erasure import claim_to_erase, tag_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import (
    LEAVING,
    MachineNames,
    belonging,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    HOSTED_CONTROL_PLANE_LABEL,
    MADE_FOR_CLUSTER,
    OF_INFRA,
    OWNER_NAME,
    OWNER_NAMESPACE,
    PAUSED,
    REFERENCED,
    maas_machine_name_of,
    node_name_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import (
    MANAGED_BY,
    MANAGER,
    is_deleted,
    name_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import CLAIM, CLUSTER
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import address
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

# leak: it should be gone. suspect: it may be this cluster's, and nothing proves it. kept: it stays on purpose.
VERDICTS = ("leak", "suspect", "kept")

# What is looked for; each is in the summary, with 0 where nothing is left.
KINDS = (
    "machine",
    "provider_id",
    "vm",
    "dns_record",
    "ip_reservation",
    "tag",
    "namespace",
    "volume",
    "secret",
    "config_map",
    "node_pool",
    "cluster_role",
)

OURS = {MANAGED_BY: MANAGER}
SHARED_ROLE = "hypershift-cluster-api"
# Made for clusters whose machines are LXD hosts; the provider takes none of them away.
LXD_TAGS = ("maas-lxd-hcp-op-", "maas-lxd-wlc-", "maas-lxd-ready-op-", "maas-lxd-host-")
# What people and the CLI call what they make for a cluster.
USUAL_SECRETS = (
    "pull-secret",
    "ssh-key",
    "etcd-encryption-key",
    "maas-credentials",
    "admin-kubeconfig",
    "kubeadmin-password",
)


@dataclass(frozen=True)
class Leak:
    """One thing that is left, as people name it, why it is there, and what to do."""

    kind: str
    object: str
    reason: str
    hint: str = ""
    verdict: str = "leak"

    def to_dict(self) -> dict[str, str]:
        return {
            "kind": self.kind,
            "object": self.object,
            "reason": self.reason,
            "hint": self.hint,
            "verdict": self.verdict,
        }


def find(task: Task, seen: ClusterSnapshot | tuple[str, str], noted: Any = None) -> list[Leak]:
    """What a hosted cluster has left, or what of it is wrong while it is there."""
    namespace, name = (seen.namespace, seen.name) if isinstance(seen, ClusterSnapshot) else seen
    return leaks_in(gather(task, namespace, name, noted))


def leaks_in(remains: LeftoverState) -> list[Leak]:
    """What of all that is left of this cluster, in the order of KINDS."""
    found = [leak for look in LOOKS for leak in look(remains)]
    return sorted(found, key=lambda leak: (KINDS.index(leak.kind), VERDICTS.index(leak.verdict), leak.object))


def _machines(remains: LeftoverState) -> Iterator[Leak]:
    named = remains.named
    told = set()
    for machine in remains.held or ():
        system_id, notes = machine["system_id"], machine.get("workload_annotations") or {}
        status = Status(machine["status"]).label
        if system_id in named or notes.get(CLUSTER) not in (None, "", remains.label):
            continue
        told.add(system_id)
        if notes.get(CLUSTER) == remains.label:
            yield Leak(
                "machine",
                _title(machine),
                f"MAAS has it {status} and marked as this cluster's, and no MaasMachine names it: its finalizer was "
                "removed by force, or it was allocated and the answer was lost",
                "Destroying the hosted cluster with force: true releases it.",
            )
        elif machine.get("owner") in remains.owners and not notes.get(CLAIM):
            was = system_id in remains.memory.system_ids
            yield Leak(
                "machine",
                _title(machine),
                f"{machine.get('owner')}, in whose name the MAAS provider acts, has it {status}, and no MaasMachine "
                f"and no claim names it{'; it was noted as one of this cluster' if was else ''}",
                "If nobody else uses it, release it with the module machine and state: ready.",
                "suspect",
            )
    for system_id, machine in remains.noted_machines.items():
        status_ = Status(machine["status"])
        if system_id in named | told:
            continue
        if status_ in LEAVING:
            yield Leak(
                "machine", _title(machine), f"it is {status_.label}, and not Ready yet", "Wait until MAAS is through."
            )
        elif status_ in (Status.FAILED_RELEASING, Status.FAILED_DISK_ERASING):
            said = str(machine.get("status_message") or "").rstrip(".")
            why = f" ({said})" if said and said != status_.label else ""
            yield Leak(
                "machine",
                _title(machine),
                f"it is in {status_.label}{why}",
                "Look at its events in MAAS, then release it with the module machine, state: ready and recover.",
            )


def _provider_ids(remains: LeftoverState) -> Iterator[Leak]:
    """MaasMachines of this cluster that name a machine which is somebody else's: deleting them releases it."""
    held = {machine["system_id"]: machine for machine in remains.held or ()}
    nodes = {maas_machine_name_of(body): node_name_of(body) for body in remains.machines}
    owner = remains.owner
    for body in remains.maas_machines:
        system_id = system_id_of(body)
        if body["metadata"].get("namespace") != remains.control_plane_namespace or system_id not in held:
            continue
        if owner.stated(body) not in (remains.label, *([] if owner.namesakes else [""])):
            continue
        rivals = tuple(
            f"{one['metadata'].get('namespace')}/{name_of(one)}"
            for one in remains.maas_machines
            if system_id_of(one) == system_id and one is not body
        )
        named = MachineNames(body, remains.label, nodes.get(name_of(body), ""), rivals)
        found = belonging(held[system_id], named, remains.owners)
        if _mark(held[system_id]) == remains.label:
            # Whoever else names it is in the wrong, and is told below.
            continue
        if found.verdict in ("foreign", "unsure") or rivals:
            why = found.reason if found.verdict != "ours" else f"MaasMachine {' and '.join(rivals)} names it as well"
            yield Leak(
                "provider_id",
                f"MaasMachine {body['metadata'].get('namespace')}/{name_of(body)}",
                f"it names {_title(held[system_id])}, but {why}",
                f"{_how_to_pause(body)} A task that waits for this cluster does so by itself, and lets it go without "
                "a release when the Machine of its name is deleted. Without the pause its deletion would release that "
                "machine.",
                "leak" if found.verdict == "foreign" else "suspect",
            )
    for body in remains.maas_machines:
        machine = held.get(system_id_of(body))
        place = str(body["metadata"].get("namespace"))
        if machine and place != remains.control_plane_namespace and _mark(machine) == remains.label:
            yield Leak(
                "provider_id",
                f"MaasMachine {place}/{name_of(body)}",
                f"it is another cluster's, and names {_title(machine)}, which MAAS has marked as this cluster's: its "
                "provider deploys or releases that machine",
                f"{_how_to_pause(body)} A task that waits for the other cluster does so by itself.",
            )


def _mark(machine: Mapping[str, Any]) -> str:
    return str((machine.get("workload_annotations") or {}).get(CLUSTER) or "")


def _how_to_pause(body: Object) -> str:
    notes = body["metadata"].get("annotations") or {}
    if PAUSED in notes:
        return "It is paused."
    place = body["metadata"].get("namespace")
    return f"Pause it: kubectl -n {place} annotate maasmachine {name_of(body)} {PAUSED}=true."


def _vms(remains: LeftoverState) -> Iterator[Leak]:
    named = remains.named
    pools = {*remains.memory.node_pools, *(name_of(body) for body in remains.node_pools)}
    known = {name_of(body) for body in remains.maas_machines}
    for machine in remains.vms or ():
        name = address(machine)
        if machine["system_id"] in named or any(name.startswith(f"vm-{one}") for one in known):
            continue
        ours = machine["system_id"] in remains.memory.system_ids or any(
            re.fullmatch(rf"vm-{re.escape(pool)}-[a-z0-9]{{5,10}}-[a-z0-9]{{5}}(-[a-z0-9]{{5}})?", name)
            for pool in pools
        )
        yield Leak(
            "vm",
            _title(machine),
            "it has the name that the MAAS provider gives its virtual machines, and no MaasMachine names it: the "
            "provider releases them, and cannot delete them without its Secret capmaas-manager-bootstrap-credentials",
            "Delete it with the module machine and state: absent.",
            "leak" if ours else "suspect",
        )


def _dns(remains: LeftoverState) -> Iterator[Leak]:
    if remains.is_there:
        return
    living = [other for other in remains.others if not is_deleted(other)]
    # The provider calls its names after the cluster, and another namespace may have one of the same name.
    shared = {text(other, "metadata", "name") for other in living}
    own = [name for name in dict.fromkeys((remains.name, remains.infra_id)) if name and name not in shared]
    made_by_provider = re.compile(rf"({'|'.join(map(re.escape, own)) or '(?!)'})-[a-z0-9]{{6}}\..+")
    made_for_it = re.compile(
        rf"(api|api-int|\*\.apps|apps|oauth|konnectivity|ignition)\.(?P<domain>{re.escape(remains.name)}\..+)"
    )
    taken = frozenset().union(*map(domains_of, living))
    for record in remains.dns or ():
        fqdn = str(record.get("fqdn") or "")
        by_provider, for_it = made_by_provider.fullmatch(fqdn), made_for_it.fullmatch(fqdn)
        if by_provider or (for_it and for_it["domain"].lower() not in taken):
            whose = "the MAAS provider makes it and never removes it" if by_provider else "it was made for this cluster"
            yield Leak("dns_record", fqdn, f"{whose}, and the cluster is gone", "Remove it with the module dns_record.")


def _reservations(remains: LeftoverState) -> Iterator[Leak]:
    if remains.is_there:
        return
    for one in remains.reservations or ():
        ip = str(one.get("ip") or "")
        users = [link for link in one.get("interface_set") or () if link]
        if ip in remains.memory.addresses and not users:
            yield Leak(
                "ip_reservation",
                ip,
                f"{one.get('alloc_type_name') or 'reserved'}, and used by nothing; it was noted as an address of this "
                "cluster",
                "Release it in MAAS, with ipaddresses op=release or the module ip_reservation.",
            )


def _tags(remains: LeftoverState) -> Iterator[Leak]:
    mine = [name for name in dict.fromkeys((remains.infra_id, remains.memory.infra_id)) if name]
    for tag in remains.tags or ():
        name = str(tag["name"])
        if remains.is_there:
            continue
        if name == tag_of(claim_to_erase(f"{remains.namespace}/{remains.name}")):
            yield Leak(
                "tag",
                name,
                "the machines that carry it were to be erased when they left the cluster, and no run has come to it",
                "Remove the cluster once more with metalshift.maas.hosted_cluster and erase: true.",
            )
        if not name.startswith(LXD_TAGS):
            continue
        ours = any(part in name for part in mine)
        yield Leak(
            "tag",
            name,
            "the MAAS provider makes it for machines that serve as LXD hosts, and never removes it",
            "Remove it with the module tag when no cluster uses it.",
            "leak" if ours else "suspect",
        )


def _namespaces(remains: LeftoverState) -> Iterator[Leak]:
    place = remains.place
    if place is None or remains.is_there:
        return
    if HOSTED_CONTROL_PLANE_LABEL not in (place["metadata"].get("labels") or {}):
        yield Leak(
            "namespace",
            name_of(place),
            "it has the name of the control plane's namespace, and HyperShift did not make it",
            "",
            "kept",
        )
        return
    if remains.neighbours:
        others = " and ".join(remains.neighbours)
        yield Leak("namespace", name_of(place), f"it is that of hosted cluster {others}", "", "kept")
        return
    if remains.cluster is None and not remains.stated:
        yield Leak(
            "namespace",
            name_of(place),
            "it is the namespace of a control plane, and nothing in it says whose that was",
            f"When nobody needs it: kubectl delete namespace {name_of(place)}.",
            "suspect",
        )
        return
    said = [
        str(one.get("message") or one.get("reason")).rstrip(".")
        for one in (place.get("status") or {}).get("conditions") or ()
        if one.get("status") == "True"
    ]
    why = f"it is being deleted and does not go: {'; '.join(said) or 'Kubernetes does not say why'}"
    yield Leak(
        "namespace",
        name_of(place),
        why if is_deleted(place) else "it is the namespace of the control plane, and the cluster is gone",
        "Destroying the hosted cluster takes it away; with force: true also when it hangs.",
    )


def _volumes(remains: LeftoverState) -> Iterator[Leak]:
    for body in remains.volumes or ():
        spec = body.get("spec") or {}
        claim = spec.get("claimRef") or {}
        if claim.get("namespace") != remains.control_plane_namespace or remains.is_there or remains.neighbours:
            continue
        what = "etcd's data, Secrets among them" if str(claim.get("name")).startswith("data-etcd") else "data"
        phase = (body.get("status") or {}).get("phase") or "unknown"
        yield Leak(
            "volume",
            f"PersistentVolume {name_of(body)}",
            f"it holds {what} ({claim.get('name')}), is {phase}, and its reclaim policy is "
            f"{spec.get('persistentVolumeReclaimPolicy') or 'not set'}",
            "Delete it, and what is behind it in your storage, when nobody needs the data.",
        )


def _secrets(remains: LeftoverState) -> Iterator[Leak]:
    for kind, bodies in (("secret", remains.secrets), ("config_map", remains.config_maps)):
        for body in bodies or ():
            found = None if remains.is_there else _kept_object(remains, kind, body)
            if found is not None:
                yield found


def _kept_object(remains: LeftoverState, kind: str, body: Object) -> Leak | None:
    metadata = body["metadata"]
    labels, notes = metadata.get("labels") or {}, metadata.get("annotations") or {}
    name = f"{body['kind']} {metadata.get('namespace')}/{name_of(body)}"
    made_by_us = OURS.items() <= labels.items() and labels.get(MADE_FOR_CLUSTER) == remains.name
    credentials = name_of(body) == f"{remains.name}-maas-credentials"
    if made_by_us and credentials:
        return Leak(
            kind,
            name,
            "the credentials outlive their cluster on purpose",
            "hosted_cluster with state: absent and remove_credentials: true removes it.",
            "kept",
        )
    if made_by_us:
        return Leak(kind, name, "it was made for this cluster", "hosted_cluster with state: absent removes it.")
    usual = name_of(body) in {f"{remains.name}-{what}" for what in USUAL_SECRETS}
    referenced = REFERENCED.format(remains.name) in notes
    of_infra = remains.infra_id and labels.get(OF_INFRA) == remains.infra_id
    if not (usual or referenced or of_infra):
        return None
    why = "the cluster used it" if referenced else "it has the name, or the label, of something made for this cluster"
    owners = metadata.get("ownerReferences") or ()
    if any(one["kind"] == "HostedCluster" and one["name"] == remains.name for one in owners):
        return Leak(kind, name, "it belongs to the HostedCluster, and its garbage collection is due", "Wait a minute.")
    return Leak(kind, name, f"{why}, and this collection did not make it", "Delete it if no one needs it.", "kept")


def _pools(remains: LeftoverState) -> Iterator[Leak]:
    if remains.cluster is not None:
        return
    for body in remains.node_pools:
        yield Leak(
            "node_pool",
            f"NodePool {remains.label.partition('/')[0]}/{name_of(body)}",
            "its cluster is gone" + (", and it is being deleted" if is_deleted(body) else ""),
            "node_pool with state: absent removes it.",
        )


def _roles(remains: LeftoverState) -> Iterator[Leak]:
    for body in remains.roles or ():
        labels, name = body["metadata"].get("labels") or {}, name_of(body)
        owner = (labels.get(OWNER_NAMESPACE), labels.get(OWNER_NAME))
        # With a namespace of several readings in its name, a role is only whose its labels say.
        by_name = name == f"{SHARED_ROLE}-{remains.control_plane_namespace}" and not (any(owner) or remains.neighbours)
        if not remains.is_there and (owner == (remains.namespace, remains.name) or by_name):
            yield Leak(
                "cluster_role",
                f"{body['kind']} {name}",
                "the operator made it for this cluster, and the cluster is gone",
                "Delete it.",
            )
        elif name == SHARED_ROLE and body["kind"] == "ClusterRole" and not remains.others and not remains.cluster:
            yield Leak(
                "cluster_role",
                f"{body['kind']} {name}",
                "all hosted clusters share it, and the operator never removes it; no hosted cluster is left",
                "The next hosted cluster uses it again; the role hypershift_operator removes it with the operator.",
                "kept",
            )


LOOKS: Sequence[Callable[[LeftoverState], Iterator[Leak]]] = (
    _machines,
    _provider_ids,
    _vms,
    _dns,
    _reservations,
    _tags,
    _namespaces,
    _volumes,
    _secrets,
    _pools,
    _roles,
)


def _title(machine: Mapping[str, Any]) -> str:
    name = address(machine)
    return name if name == machine["system_id"] else f"{name} ({machine['system_id']})"


def summary(found: Iterable[Leak]) -> dict[str, int]:
    """How many of each kind, those that stay on purpose apart."""
    counted = list(found)
    return {kind: sum(leak.kind == kind and leak.verdict != "kept" for leak in counted) for kind in KINDS}
