# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates for the nodes of a hosted cluster: approved when MAAS vouches for the machine, and never otherwise.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    MAX_AGE,
    SIGNERS,
    STRANGE,
    CertificateRequest,
    CsrVerdict,
    KnownMachine,
    KnownNode,
    judge,
    waiting_requests,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.signing_request import read
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.controllers import Controllers
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import (
    MachineNames,
    belonging,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    PASSED_OVER,
    maas_machine_name_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import CSRS, NODES, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

if TYPE_CHECKING:
    # Its library takes longer to import than a task on MAAS takes.
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube

REASON = "MetalshiftMachineKnown"
MESSAGE = "metalshift.maas approved this: {machine} of the cluster is the machine {system_id} in MAAS."

# A machine that runs what was installed for the cluster, or is just being installed.
VOUCHED = frozenset({Status.DEPLOYING, Status.DEPLOYED})
# What belonging says of a machine in those statuses, as a reason of a verdict.
DOUBTS: Mapping[str, str] = {"foreign": "held", "free": "held", "unsure": "doubtful"}
# What cannot be told without MAAS.
MAAS_KNOWS = frozenset({"not_in_maas", "unknown_machine"})
# What an approval is answered with when others have been quicker.
CHANGED, GONE_MEANWHILE = "changed", frozenset({"conflict", "not_found"})


def approve_due(
    task: Task,
    hosted: Kube,
    seen: ClusterSnapshot,
    approved: Collection[str] = (),
    *,
    owners: Callable[[Machines], Collection[str]],
    max_age: float = MAX_AGE,
) -> list[CsrVerdict]:
    """One tick of a wait: approve what is due, and say why the rest is not.

    What is seen may be late: `approved` are the requests that are approved by now. MAAS is asked once for all machines,
    and not at all while no kubelet waits; `owners` is asked only then. What passes is a reason, not a failure.
    """
    fleet = Machines(task.maas)
    try:
        machines = in_maas(fleet, seen, approved)
        users = owners(fleet) if machines else ()
    except Failure as failure:
        if failure.kind not in PASSING:
            raise
        says = f"MAAS could not be asked: {failure.reason or failure.message}"
        doubtful = look(seen, {}, approved=approved, max_age=max_age)
        return [
            verdict.refused("maas_unavailable", says) if verdict.reason in MAAS_KNOWS else verdict
            for verdict in doubtful
        ]
    return approve(hosted, seen, look(seen, machines, users, approved=approved, max_age=max_age))


def owners_of(task: Task, seen: ClusterSnapshot, machines: Machines) -> frozenset[str]:
    """The users of MAAS in whose name the cluster's provider may hold machines; empty if that cannot be told."""
    return Controllers(task, seen.namespace, seen.name).known_owners(machines)


def in_maas(machines: Machines, seen: ClusterSnapshot, approved: Collection[str] = ()) -> dict[str, Machine]:
    """The cluster's machines as MAAS has them, a hundred a request, if any kubelet waits for an answer."""
    if not waiting_requests(requests_of(seen, approved)):
        return {}
    ids = {system_id for body in seen.maas_machines if (system_id := system_id_of(body))}
    return machines.read(ids)


def look(
    seen: ClusterSnapshot,
    machines: Mapping[str, Machine],
    owners: Collection[str] = (),
    now: float | None = None,
    *,
    approved: Collection[str] = (),
    max_age: float = MAX_AGE,
    reissue: Collection[str] = (),
) -> list[CsrVerdict]:
    """A verdict on each request that waits. Sends nothing; `machines` are those of `in_maas`, `owners` of `owners_of`.

    Without `owners`, who holds a machine in MAAS is not looked at. What is seen may be late: `approved` are by now.
    """
    if not pending(seen):
        return []
    nodes = [KnownNode(name_of(body), system_id_of(body)) for body in seen.nodes or ()]
    moment = time.time() if now is None else now
    hosts = hosts_of(seen, machines, owners)
    return judge(requests_of(seen, approved), hosts, nodes, moment, max_age, reissue)


def approve(hosted: Kube, seen: ClusterSnapshot, verdicts: Iterable[CsrVerdict]) -> list[CsrVerdict]:
    """Carry out the verdicts; those whose approval the API did not take come back as not approved.

    A machine that has a Node by now gets no second client certificate, whatever was seen.
    """
    requests, judged = {name_of(body): body for body in pending(seen)}, list(verdicts)
    rivals = _rivals(requests, judged)
    return [
        _approved(hosted, requests[one.name], one, rivals.get(one.name, ())) if one.approved else one for one in judged
    ]


def _rivals(requests: Mapping[str, Object], judged: Sequence[CsrVerdict]) -> dict[str, list[str]]:
    """For each request of a client that is approved: those of the same machine with other keys that wait."""
    of_machine: dict[str, list[str]] = defaultdict(list)
    for one in judged:
        if one.kind == "client" and one.machine and one.reason not in STRANGE:
            of_machine[one.machine].append(one.name)
    several = {name for names in of_machine.values() if len(names) > 1 for name in names}
    keys = {name: _key(requests[name]) for name in several}
    return {
        one.name: [name for name in of_machine[one.machine] if keys[name] != keys[one.name]]
        for one in judged
        if one.approved and one.name in several
    }


def pending(seen: ClusterSnapshot) -> list[Object]:
    """The requests that nobody has approved or denied."""
    return [body for body in seen.requests or () if not _conditions(body)]


def requests_of(seen: ClusterSnapshot, approved: Collection[str] = ()) -> list[CertificateRequest]:
    """All requests, those that were answered as well, and `approved` among these."""
    return [_request(body, _outcome(body, approved)) for body in seen.requests or ()]


def _approved(hosted: Kube, request: Object, verdict: CsrVerdict, rivals: Iterable[str]) -> CsrVerdict:
    try:
        if verdict.kind == "client" and hosted.get(NODES, verdict.node) is not None:
            return verdict.refused("node_exists", f"The machine has the Node {verdict.node} by now.")
        if quicker := next((rival for rival in rivals if not _pass_over(hosted, rival, verdict.name)), None):
            return verdict.refused(CHANGED, f"{quicker} of the same machine has just been answered by somebody else.")
        hosted.approve(request, reason=REASON, message=MESSAGE.format(**vars(verdict)))
    except Failure as failure:
        if failure.kind in GONE_MEANWHILE:
            return verdict.refused(CHANGED, str(failure))
        if failure.kind in PASSING:
            return verdict.refused("not_answered", str(failure))
        raise
    return verdict


def _pass_over(hosted: Kube, rival: str, name: str) -> bool:
    """Keep another task from approving a request; whether it had not been answered before.

    Of two tasks that look at the same moment, one may know of a request that the other does not know of yet, and each
    would approve the one that is the newest to it. Whoever approves does so only with the request as it was read: the
    API refuses it after this, and that task looks again.
    """
    mark = {"metadata": {"annotations": {PASSED_OVER: f"{name} {uuid.uuid4().hex}"}}}
    try:
        return not _conditions(hosted.patch(CSRS, rival, "", mark))
    except Failure as failure:
        if failure.kind != "not_found":
            raise
        return True


# -- the machines of a cluster, vouched for or not --------------------------------------------------------------------


def hosts_of(
    seen: ClusterSnapshot, machines: Mapping[str, Machine], owners: Collection[str] = ()
) -> list[KnownMachine]:
    """Each machine that a MaasMachine of the cluster names, with what MAAS says about it."""
    by_reference = {maas_machine_name_of(body): body for body in seen.machines}
    named: dict[str, list[Object]] = defaultdict(list)
    for body in seen.maas_machines:
        if system_id := system_id_of(body):
            named[system_id].append(body)
    return [
        _host(seen, body, by_reference.get(name_of(body)), machines.get(system_id), _others(body, bodies), owners)
        for system_id, bodies in named.items()
        for body in bodies
    ]


def _host(
    seen: ClusterSnapshot,
    maas_machine: Object,
    owner: Object | None,
    machine: Machine | None,
    rivals: Sequence[str],
    owners: Collection[str],
) -> KnownMachine:
    body = owner if owner is not None else maas_machine
    node = str((((owner or {}).get("status") or {}).get("nodeRef") or {}).get("name") or "")
    doubt, says = _doubt(seen, maas_machine, owner, machine, node, rivals, owners)
    known = machine or {}
    # Without MAAS's word, the provider's tells at least which machine a request is about.
    names = [known.get("hostname"), known.get("fqdn")] if machine is not None else _told_names(maas_machine)
    return KnownMachine(
        name=name_of(body),
        system_id=system_id_of(maas_machine),
        names=frozenset(str(name).lower().rstrip(".") for name in names if name),
        addresses=frozenset(str(ip_address(address)) for address in known.get("ip_addresses") or [] if address),
        created=seconds_of(text(body, "metadata", "creationTimestamp")) or 0.0,
        node=node,
        doubt=doubt,
        says=says,
    )


def _doubt(
    seen: ClusterSnapshot,
    maas_machine: Object,
    owner: Object | None,
    machine: Machine | None,
    node: str,
    rivals: Sequence[str],
    owners: Collection[str],
) -> tuple[str, str]:
    """Why the machine is not vouched for, as a reason of a verdict and its sentence; nothing when it is."""
    name, system_id = name_of(maas_machine), system_id_of(maas_machine)
    if machine is None:
        return "not_in_maas", f"MAAS does not know {system_id}, which the MaasMachine {name} names."
    called = f"{machine.get('hostname')} ({system_id})"
    status = Status(machine["status"])
    if status not in VOUCHED:
        return "not_deployed", f"MAAS says that {called} is {status.label}."
    verdict = belonging(machine, MachineNames(maas_machine, seen.label, node, rivals), owners)
    if verdict.verdict != "ours":
        return DOUBTS[verdict.verdict], f"{called} may be somebody else's: {verdict.reason}."
    if owner is None:
        return "leaving", f"No Machine of the cluster stands for the MaasMachine {name}."
    if is_deleted(owner) or is_deleted(maas_machine):
        return "leaving", f"The Machine {name_of(owner)} is being deleted."
    return "", ""


def _told_names(maas_machine: Object) -> list[str]:
    status = maas_machine.get("status") or {}
    addresses = status.get("addresses") or []
    return [str(status.get("hostname") or ""), *(one["address"] for one in addresses if one["type"].endswith("DNS"))]


def _others(body: Object, bodies: Iterable[Object]) -> list[str]:
    return [f"{one['metadata'].get('namespace', '')}/{name_of(one)}" for one in bodies if one is not body]


# -- requests -----------------------------------------------------------------------------------------------------


def _conditions(body: Object) -> Sequence[Object]:
    return (body.get("status") or {}).get("conditions") or ()


def _outcome(body: Object, approved: Collection[str]) -> str:
    said = {one["type"] for one in _conditions(body)}
    if not said:
        return "approved" if name_of(body) in approved else ""
    if "Failed" in said:
        return "failed"
    return "approved" if "Approved" in said and "Denied" not in said else "denied"


def _request(body: Object, outcome: str) -> CertificateRequest:
    spec = body["spec"]
    asked, trouble = None, ""
    if spec["signerName"] in SIGNERS:
        try:
            asked = read(str(spec.get("request") or ""))
        except ValueError as error:
            trouble = str(error)
    return CertificateRequest(
        name=name_of(body),
        signer=str(spec["signerName"]),
        username=str(spec.get("username") or ""),
        groups=tuple(spec.get("groups") or ()),
        usages=tuple(spec.get("usages") or ()),
        created=seconds_of(text(body, "metadata", "creationTimestamp")) or 0.0,
        asked=asked,
        trouble=trouble,
        outcome=outcome,
    )


def _key(body: Object) -> str:
    asked = _request(body, "").asked
    return asked.key if asked else ""
