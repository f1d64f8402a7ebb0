# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be wrong with the node pools of a hosted cluster, its machines in MAAS, and its nodes. Pure.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    SIGNERS,
    CsrVerdict,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure import (
    cluster_progress,
    pool_progress,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import condition
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.evidence import Evidence
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.pure.findings import (
    GRACE,
    DiagnosisFinding,
    complaint,
    severity_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of, title_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of, stamp_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import RECOVERABLE, Status

# Why a certificate request waits that may be approved later: who has to do something before.
WAITS_FOR: Mapping[str, str] = {"node_not_linked": "provider", "no_node": "node", "leaving": "provider"}
WHO_ASKS = "Find out who asks. Nobody should approve it before that is known."
# Whoever can ask can ask a thousand times.
MOST_REQUESTS = 10


# -- node pools and machines -------------------------------------------------------------------------------------------


def node_pools(found: Evidence) -> Iterator[DiagnosisFinding]:
    """What is wrong with each pool, and how far it is."""
    seen = found.seen
    if seen.cluster is None:
        for name, pool in seen.pools.items():
            yield DiagnosisFinding(
                f"NodePool {seen.namespace}/{name}",
                f"NodePool {name} is of a hosted cluster that does not exist: the operator leaves it alone.",
                "user",
                "error",
                f"Create the hosted cluster {seen.name}, or delete the node pool.",
                text(pool, "metadata", "creationTimestamp"),
            )
        return
    if is_deleted(seen.cluster):
        return
    serving = cluster_progress.serves(seen)
    for name, pool in seen.pools.items():
        for one in pool_progress.pool_findings(seen, name, serving) if not is_deleted(pool) else ():
            # That it waits for the control plane is said of the control plane; machines are told by themselves.
            if one.is_fine or one.topic.startswith("machine ") or (not serving and one.topic == f"node pool {name}"):
                continue
            which = one.topic.rpartition(" ")[2]
            since = text(condition(pool, which), "lastTransitionTime") or _not_ready_since(pool)
            label = f"NodePool {seen.namespace}/{name}"
            if which == "IgnitionEndpointAvailable" and _is_overlooked(found, since):
                yield _overlooked(pool, label, since)
            else:
                yield complaint(one, label, since, found.now)


def _is_overlooked(found: Evidence, since: str) -> bool:
    """The ignition server is there, and the pool still waits for it: the operator looked a moment too early."""
    shown = condition(found.seen.cluster, "IgnitionEndpointAvailable")
    there = seconds_of(text(shown, "lastTransitionTime"))
    return text(shown, "status") == "True" and there is not None and found.now - there >= GRACE


def _overlooked(pool: Object, label: str, since: str) -> DiagnosisFinding:
    namespace, name = text(pool, "metadata", "namespace"), name_of(pool)
    return DiagnosisFinding(
        label,
        f"Node pool {name} waits for the ignition server, which is there: the operator has not looked again since.",
        "operator",
        "error",
        "Any change makes it look: "
        f"kubectl -n {namespace} annotate nodepool {name} metalshift.maas/looked-at=$(date +%s) --overwrite.",
        since,
    )


def _not_ready_since(pool: Object) -> str:
    ready = condition(pool, "Ready")
    if text(ready, "status") == "False":
        return text(ready, "lastTransitionTime")
    return "" if ready else text(pool, "metadata", "creationTimestamp")


def machines(found: Evidence) -> Iterator[DiagnosisFinding]:
    """Where each machine is that is not a Ready node, in the words of the provider and of MAAS."""
    for body in sorted(found.seen.machines, key=name_of):
        one = pool_progress.machine_finding(found.seen, body)
        if one.is_fine:
            continue
        own = pool_progress.maas_machine_of(found.seen, body)
        said = complaint(one, f"Machine {body['metadata']['namespace']}/{name_of(body)}", "", found.now)
        since = _machine_since(found, body, own)
        weight = severity_of(one.meaning.verdict, said.turn, since, found.now)
        yield DiagnosisFinding(
            said.object,
            f"{said.what} {_maas_says(found, own)}".rstrip(),
            said.turn,
            weight,
            said.next_step,
            since,
            one.topic,
            said.who,
        )


def _machine_since(found: Evidence, machine: Object, own: Object | None) -> str:
    """The provider tries again and again: what counts is since when the machine is on its way."""
    if is_deleted(machine):
        return text(machine, "metadata", "deletionTimestamp")
    deployed = condition(own, "MachineDeployed")
    if text(deployed, "status") != "True":
        return text(machine, "metadata", "creationTimestamp")
    node = pool_progress.node_of(found.seen, machine)
    ready = condition(node, "Ready") or condition(machine, "NodeHealthy")
    return text(ready, "lastTransitionTime") or text(deployed, "lastTransitionTime")


def _machine_in_maas(found: Evidence, own: Object | None) -> Machine | None:
    machines_known = found.in_maas.machines if found.in_maas else {}
    return machines_known.get(system_id_of(own)) if own else None


def _maas_says(found: Evidence, own: Object | None) -> str:
    machine = _machine_in_maas(found, own)
    if machine is None or machine["status"] == Status.DEPLOYED:
        return ""
    told = dict.fromkeys(
        str(machine.get(key) or "").rstrip(".") for key in ("status_name", "status_message", "error_description")
    )
    events = found.events.get(machine["system_id"], ())
    last = f" Its last event: {events[-1]}" if events else ""
    return f"MAAS says of {machine['hostname']}: {', '.join(part for part in told if part)}.{last}"


def strays(found: Evidence) -> Iterator[DiagnosisFinding]:
    """Machines that the provider has deployed, and that are not what it left: their state was changed in MAAS."""
    for own in found.seen.maas_machines:
        deployed, machine = condition(own, "MachineDeployed"), _machine_in_maas(found, own)
        if text(deployed, "status") != "True" or is_deleted(own) or found.in_maas is None or found.in_maas.trouble:
            continue
        if machine is None:
            what = f"MAAS does not know {system_id_of(own)} any more, or does not show it to this user"
            step = "Delete the Machine of this name: another one takes its place."
        elif machine["status"] != Status.DEPLOYED:
            what = f"Its machine was deployed, and is not any more. {_maas_says(found, own)}".rstrip(".")
            step = (
                "Pause a node pool before its machines are changed in MAAS. To have this one replaced, delete the "
                "Machine of this name: the provider deploys or releases it otherwise."
            )
        elif machine.get("power_state") == "off":
            yield DiagnosisFinding(
                title_of(own),
                f"{machine['hostname']} is deployed, and switched off.",
                "maas",
                "error",
                "The provider switches it on; when this lasts, look at its power in MAAS.",
            )
            continue
        else:
            continue
        failed = machine is not None and Status(machine["status"]) in RECOVERABLE
        yield DiagnosisFinding(title_of(own), f"{what}.", "maas" if failed else "user", "error", step)


def maas(found: Evidence) -> Iterator[DiagnosisFinding]:
    """Whether MAAS answers, us and the provider."""
    here = found.in_maas
    if here is not None and here.trouble:
        by_key = here.kind in ("credentials", "forbidden")
        step = "Check maas_api_key." if by_key else "Look whether MAAS is up, and whether it can be reached from here."
        yield DiagnosisFinding("MAAS", here.trouble, "user" if by_key else "maas", "error", step)
    if found.key_refused:
        yield DiagnosisFinding(
            f"HostedCluster {found.seen.label}",
            f"MAAS does not accept the API key that the provider has ({found.key_refused}).",
            "user",
            "error",
            "Give maas_api_key to metalshift.maas.hosted_cluster: it brings a changed key to the running provider.",
        )


# -- certificates and nodes ------------------------------------------------------------------------------------------


def certificates(found: Evidence) -> Iterator[DiagnosisFinding]:
    """The newest request of each node that waits: those that somebody should approve, and those that nobody should."""
    told = [each for each in found.verdicts if each.kind in SIGNERS.values() and not each.superseded]
    for verdict in told[:MOST_REQUESTS]:
        since = stamp_of(found.now - verdict.age)
        said = _of_request(found, verdict, since)
        yield DiagnosisFinding(f"CertificateSigningRequest {verdict.name}", *said, since, who=verdict.node)
    if len(told) > MOST_REQUESTS:
        more = f"{len(told) - MOST_REQUESTS} more certificate requests wait."
        step = "metalshift.maas.node_csr lists them all, with the reason of each that it does not approve."
        yield DiagnosisFinding("CertificateSigningRequests", more, "user", "error", step)


def _of_request(found: Evidence, verdict: CsrVerdict, since: str) -> tuple[str, str, str, str]:
    """What is said of it, the turn, the severity and the next step."""
    about = f"The {verdict.kind} certificate of {verdict.node or 'a node'} waits for approval"
    if verdict.approved:
        weight = severity_of("grace", "user", since, found.now)
        return f"{about}, and the machine is this cluster's.", "user", weight, "metalshift.maas.node_csr approves it."
    if verdict.passing and verdict.reason != "unknown_machine":
        turn = WAITS_FOR.get(verdict.reason, "maas")
        return f"{about}: {verdict.message}", turn, severity_of("wait", turn, since, found.now), ""
    weight = severity_of("grace", "user", since, found.now)
    return f"{about}, and is not to be approved: {verdict.message}", "user", weight, WHO_ASKS


def nodes(found: Evidence) -> Iterator[DiagnosisFinding]:
    """Nodes that belong to no Machine, and are not Ready; those of Machines are told with them."""
    linked = {text(body, "status", "nodeRef", "name") for body in found.seen.machines}
    for body in found.seen.nodes or ():
        ready = condition(body, "Ready")
        if name_of(body) in linked or text(ready, "status") == "True":
            continue
        yield DiagnosisFinding(
            f"Node {name_of(body)}",
            f"Node {name_of(body)} is not Ready: {text(ready, 'message') or 'its kubelet says nothing'}.",
            "node",
            "error" if text(ready, "status") == "Unknown" else "waiting",
            "Look at the machine's console, and at the pods of its network.",
            text(ready, "lastTransitionTime"),
        )
