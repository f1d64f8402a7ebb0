# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A hosted cluster as one tree, from the HostedCluster down to machines in MAAS, and the way back up.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    CsrVerdict,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.meanings import Meaning
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import (
    condition,
    meaning_of,
    meanings_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    OF_NODE_POOL,
    is_paused,
    maas_machine_name_of,
    pool_name_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import shown
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine

Branch = dict[str, Any]

DEPLOYED = "MachineDeployed"
# Under these types a MaasMachine says what its machine is called; a node is called so too.
NAMES = ("Hostname", "InternalDNS", "ExternalDNS")


# -- looks at objects ------------------------------------------------------------------------------------------------


def status_of(body: Object | None) -> Mapping[str, Any]:
    return (body or {}).get("status") or {}


def is_true(body: Object | None, kind: str) -> bool:
    return (condition(body, kind) or {}).get("status") == "True"


# -- the tree --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeSources:
    """What the trees of some clusters are made of. What was not asked for is None, and has no place in a tree."""

    now: float
    machines: bool = True
    maas: Mapping[str, Machine] | None = None
    # Of each cluster, what is to become of the certificate requests that wait.
    verdicts: Mapping[str, Sequence[CsrVerdict]] | None = None
    kubeconfigs: Mapping[str, str] | None = None
    # Of each cluster, the platform that its own Infrastructure has; empty if that cannot be told.
    platforms: Mapping[str, str] | None = None


def tree(seen: ClusterSnapshot, grove: TreeSources) -> Branch:
    """One hosted cluster."""
    cluster = seen.cluster or {}
    spec, status = cluster.get("spec") or {}, status_of(cluster)
    found: Branch = {
        "namespace": seen.namespace,
        "name": seen.name,
        "state": state_of(seen.cluster, grove.now),
        "created": cluster.get("metadata", {}).get("creationTimestamp"),
        "deleting_since": cluster.get("metadata", {}).get("deletionTimestamp"),
        "paused": is_paused(spec, grove.now),
        "available": is_true(cluster, "Available"),
        "platform": (spec.get("platform") or {}).get("type"),
        "release": (spec.get("release") or {}).get("image"),
        **_versions(status.get("version") or {}),
        "endpoint": _endpoint(status.get("controlPlaneEndpoint") or {}),
        "console": _console(cluster),
        "ignition_endpoint": status.get("ignitionEndpoint") or None,
        "oauth_callback_url": status.get("oauthCallbackURLTemplate") or None,
        "kubeconfig_secret": (status.get("kubeconfig") or {}).get("name"),
        "kubeadmin_password_secret": (status.get("kubeadminPassword") or {}).get("name"),
        "infra_id": spec.get("infraID"),
        "cluster_id": spec.get("clusterID"),
        "control_plane_namespace": seen.control_plane_namespace,
        "conditions": _conditions("HostedCluster", cluster),
        "node_pools": [_pool(pool, seen, grove) for pool in seen.pools.values()],
        "troubles": list(seen.troubles),
    }
    if grove.machines:
        strays = [body for body in seen.machines if pool_name_of(body) not in seen.pools]
        found["other_machines"] = [_machine(body, seen, grove) for body in strays]
        found["other_maas_machines"] = [_maas_machine(body, grove) for body in _without_machine(seen)]
    if seen.nodes is not None:
        linked = {_node_name(body) for body in seen.machines}
        found["other_nodes"] = [_node(body) for body in seen.nodes if name_of(body) not in linked]
    if seen.requests is not None:
        verdicts = (grove.verdicts or {}).get(seen.label, ())
        found["certificate_requests"] = [_request(one) for one in verdicts if not one.superseded]
        found["superseded_requests"] = sum(one.superseded for one in verdicts)
    if grove.platforms is not None:
        found["infrastructure_platform"] = grove.platforms.get(seen.label) or None
    if grove.kubeconfigs is not None:
        found["kubeconfig"] = grove.kubeconfigs.get(seen.label) or None
    return found


def state_of(cluster: Object | None, now: float) -> str:
    """One word for the whole."""
    if cluster is None:
        return "remains"
    if is_deleted(cluster):
        return "deleting"
    if is_paused(cluster.get("spec"), now):
        return "paused"
    return "available" if is_true(cluster, "Available") else "unavailable"


def _versions(version: Mapping[str, Any]) -> Branch:
    history = [
        {
            "version": entry.get("version") or None,
            "state": entry.get("state"),
            "image": entry.get("image"),
            "started": entry.get("startedTime"),
            "completed": entry.get("completionTime"),
        }
        for entry in version.get("history") or []
    ]
    done = [entry["version"] for entry in history if entry["state"] == "Completed"]
    return {
        "version": done[0] if done else None,
        "desired_version": (version.get("desired") or {}).get("version") or None,
        "history": history,
        "available_updates": [update.get("version") for update in version.get("availableUpdates") or []],
    }


def _endpoint(endpoint: Mapping[str, Any]) -> str | None:
    """HyperShift writes an empty one until there is one."""
    return f"https://{endpoint['host']}:{endpoint['port']}" if endpoint.get("host") else None


def _console(cluster: Object) -> str | None:
    """Where OpenShift publishes it unless an administrator of the cluster has named another host."""
    dns = (cluster.get("spec") or {}).get("dns") or {}
    if not dns.get("baseDomain"):
        return None
    domain = ".".join(filter(None, (dns.get("baseDomainPrefix", name_of(cluster)), dns["baseDomain"])))
    return f"https://console-openshift-console.apps.{domain}"


def _conditions(kind: str, body: Object) -> list[Branch]:
    return [_condition(one, meaning) for one, meaning in meanings_of(kind, body)]


def _condition(one: Object, meaning: Meaning) -> Branch:
    return {
        "type": one.get("type"),
        "status": one.get("status"),
        "reason": one.get("reason") or None,
        "message": one.get("message") or None,
        "since": one.get("lastTransitionTime"),
        "meaning": meaning.line,
        "verdict": meaning.verdict,
        "hint": meaning.hint or None,
    }


def _pool(pool: Object, seen: ClusterSnapshot, grove: TreeSources) -> Branch:
    spec, status = pool.get("spec") or {}, status_of(pool)
    found: Branch = {
        "name": name_of(pool),
        "created": pool["metadata"].get("creationTimestamp"),
        "deleting_since": pool["metadata"].get("deletionTimestamp"),
        "paused": is_paused(spec, grove.now),
        "replicas": spec.get("replicas"),
        "autoscaling": spec.get("autoScaling"),
        "available_replicas": status.get("replicas", 0),
        "release": (spec.get("release") or {}).get("image"),
        "version": status.get("version"),
        "upgrade_type": (spec.get("management") or {}).get("upgradeType"),
        "platform": ((spec.get("platform") or {}).get("maas")) or {},
        "conditions": _conditions("NodePool", pool),
    }
    if grove.machines:
        own = [body for body in seen.machines if pool_name_of(body) == found["name"]]
        found["machines"] = [_machine(body, seen, grove) for body in sorted(own, key=name_of)]
    return found


def _machine(body: Object, seen: ClusterSnapshot, grove: TreeSources) -> Branch:
    status = status_of(body)
    infrastructure = _maas_machine_of(body, seen)
    found: Branch = {
        "name": name_of(body),
        "phase": status.get("phase"),
        "created": body["metadata"].get("creationTimestamp"),
        "deleting_since": body["metadata"].get("deletionTimestamp"),
        "version": (body.get("spec") or {}).get("version"),
        "provider_id": (body.get("spec") or {}).get("providerID"),
        "node_name": _node_name(body) or None,
        "addresses": status.get("addresses") or [],
        "conditions": _conditions("Machine", body),
        "maas_machine": _maas_machine(infrastructure, grove) if infrastructure else None,
    }
    if seen.nodes is not None:
        node = next((one for one in seen.nodes if name_of(one) == found["node_name"]), None)
        found["node"] = _node(node) if node else None
    return found


def _maas_machine(body: Object, grove: TreeSources) -> Branch:
    spec, status = body.get("spec") or {}, status_of(body)
    deployed = condition(body, DEPLOYED)
    system_id = system_id_of(body) or None
    found: Branch = {
        "name": name_of(body),
        "created": body["metadata"].get("creationTimestamp"),
        "deleting_since": body["metadata"].get("deletionTimestamp"),
        "system_id": system_id,
        "provider_id": spec.get("providerID"),
        "zone": spec.get("failureDomain"),
        "hostname": status.get("hostname"),
        "ready": bool(status.get("ready")),
        "state": status.get("machineState"),
        "powered": status.get("machinePowered"),
        "deployed": _condition(deployed, meaning_of("MaasMachine", deployed, body)) if deployed else None,
        "conditions": _conditions("MaasMachine", body),
    }
    if grove.maas is not None:
        machine = grove.maas.get(system_id or "")
        found["machine"] = shown(machine) if machine else None
    return found


def _node(body: Object) -> Branch:
    status = status_of(body)
    ready = condition(body, "Ready") or {}
    return {
        "name": name_of(body),
        "created": body["metadata"].get("creationTimestamp"),
        "ready": ready.get("status") == "True",
        "since": ready.get("lastTransitionTime"),
        "message": ready.get("message") or None,
        "unschedulable": bool((body.get("spec") or {}).get("unschedulable")),
        "provider_id": (body.get("spec") or {}).get("providerID"),
        "addresses": status.get("addresses") or [],
        "kubelet_version": (status.get("nodeInfo") or {}).get("kubeletVersion"),
        "os_image": (status.get("nodeInfo") or {}).get("osImage"),
    }


def _request(verdict: CsrVerdict) -> Branch:
    return {
        "name": verdict.name,
        "kind": verdict.kind or None,
        "node": verdict.node or None,
        "machine": verdict.machine or None,
        "system_id": verdict.system_id or None,
        "requestor": verdict.requestor,
        "age": round(verdict.age),
        "approvable": verdict.approved,
        "reason": verdict.reason or None,
        "message": verdict.message,
    }


def _node_name(machine: Object) -> str:
    return str((status_of(machine).get("nodeRef") or {}).get("name") or "")


def _maas_machine_of(machine: Object, seen: ClusterSnapshot) -> Object | None:
    return next((body for body in seen.maas_machines if name_of(body) == maas_machine_name_of(machine)), None)


def _without_machine(seen: ClusterSnapshot) -> list[Object]:
    named = {maas_machine_name_of(body) for body in seen.machines}
    return [body for body in seen.maas_machines if name_of(body) not in named]


# -- and back --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MachineUser:
    """Whose a machine is: each name as far as it is known."""

    namespace: str
    hosted_cluster: str
    node_pool: str
    machine: str
    maas_machine: str
    system_id: str
    node: str

    @property
    def cluster(self) -> tuple[str, str]:
        return self.namespace, self.hosted_cluster

    def to_dict(self) -> Branch:
        return {name: value or None for name, value in vars(self).items()}


def owners(seen: Iterable[ClusterSnapshot], *, system_id: str = "", node: str = "") -> list[MachineUser]:
    """Every cluster and pool to which a machine of MAAS or a node belongs.

    One is as it should be; several say that one machine is taken for the machine of several.
    """
    found: dict[MachineUser, None] = {}
    for one in seen:
        for owner, names in _held(one):
            if (system_id and owner.system_id == system_id) or (node and _is_called(node, names)):
                found[owner] = None
    return list(found)


def _held(seen: ClusterSnapshot) -> Iterator[tuple[MachineUser, Sequence[str]]]:
    """Every machine of a cluster, with the names that its node may have."""
    machines = {maas_machine_name_of(body): body for body in seen.machines}
    linked: set[str] = set()
    for body in seen.maas_machines:
        machine = machines.get(name_of(body))
        node = _node_name(machine) if machine else ""
        linked.add(node)
        addresses = status_of(body).get("addresses") or []
        called = [str(one.get("address")) for one in addresses if one.get("type") in NAMES]
        hostname = str(status_of(body).get("hostname") or "")
        owner = _owner(seen, pool_name_of(body), machine, name_of(body), system_id_of(body), node)
        yield owner, [name for name in (node, hostname, *called) if name]
    for body in seen.nodes or ():
        if name_of(body) not in linked:
            pool = str((body["metadata"].get("labels") or {}).get(OF_NODE_POOL, ""))
            yield _owner(seen, pool, None, "", system_id_of(body), name_of(body)), [name_of(body)]


def _owner(
    seen: ClusterSnapshot, pool: str, machine: Object | None, maas_machine: str, system_id: str, node: str
) -> MachineUser:
    return MachineUser(
        namespace=seen.namespace,
        hosted_cluster=seen.name,
        node_pool=pool or (pool_name_of(machine) if machine else ""),
        machine=name_of(machine) if machine else "",
        maas_machine=maas_machine,
        system_id=system_id,
        node=node,
    )


def _is_called(name: str, names: Iterable[str]) -> bool:
    """Whether one of the names is meant. MAAS calls a machine `node-1` and `node-1.maas`, and its node either way."""
    wanted = name.strip().lower().rstrip(".")
    known = {one.lower().rstrip(".") for one in names}
    return wanted in known or ("." not in wanted and wanted in {one.partition(".")[0] for one in known})
