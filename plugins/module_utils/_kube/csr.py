# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which certificate requests of kubelets belong to which machines; everything else is somebody else's to decide.

The rules are those of OpenShift's cluster-machine-approver, and stricter: a machine counts only if it is vouched for.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

CLIENT = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING = "kubernetes.io/kubelet-serving"
SIGNERS: Mapping[str, str] = {CLIENT: "client", SERVING: "serving"}

NODE_USER = "system:node:"
NODES = "system:nodes"
AUTHENTICATED = "system:authenticated"
# The identity that Ignition gives to every machine of a hosted cluster, to ask for its first certificate.
BOOTSTRAP_NAMESPACE = "openshift-machine-config-operator"
BOOTSTRAP_USER = f"system:serviceaccount:{BOOTSTRAP_NAMESPACE}:node-bootstrapper"
BOOTSTRAP_GROUPS = frozenset({f"system:serviceaccounts:{BOOTSTRAP_NAMESPACE}", "system:serviceaccounts", AUTHENTICATED})
NODE_GROUPS = frozenset({NODES, AUTHENTICATED})

USAGES: Mapping[str, frozenset[str]] = {
    CLIENT: frozenset({"digital signature", "client auth"}),
    SERVING: frozenset({"digital signature", "server auth"}),
}
# RSA keys may encipher keys, and older kubelets ask for that.
RSA_ONLY = "key encipherment"

# Clocks of two servers differ by so many seconds at most.
SKEW = 10.0
# A machine that takes longer to join is no longer waited for: as in OpenShift.
MAX_AGE = 7200.0
# More requests than machines by this many are an attack or a defect: none is answered.
SPARE = 100


@dataclass(frozen=True)
class Reason:
    """Why a request is not approved. A passing one may be gone at the next look."""

    meaning: str
    passing: bool = False


REASONS: Mapping[str, Reason] = {
    "signer": Reason(
        "It is for another signer than the two that sign for kubelets. Whoever runs that signer decides about it."
    ),
    "unreadable": Reason(
        "What it holds is no certificate request, or one that was not signed with the key that it is for."
    ),
    "requestor": Reason(
        "It was not made by the one who makes such a request: the bootstrap user for a client, the node itself for a "
        "server. A node that renews its certificate as a client is answered by the hosted cluster's own controller."
    ),
    "groups": Reason("Whoever made it is in more or in other groups than a kubelet is."),
    "usages": Reason("It asks for more, or for other usages of the key than a kubelet needs."),
    "subject": Reason("It is not made out to O=system:nodes and CN=system:node: with a node's name, and nothing else."),
    "names": Reason(
        "It asks for names or other extensions that such a certificate has not: none at all in that of a client, DNS "
        "names and IP addresses in that of a server."
    ),
    "unknown_machine": Reason(
        "No machine that MAAS has given to this cluster has that name. If that lasts, the node calls itself by another "
        "name than MAAS does.",
        passing=True,
    ),
    "ambiguous": Reason(
        "Several Machines of the cluster stand for the machine of that name, so that one of them names a machine that "
        "is not its own any more.",
        passing=True,
    ),
    "not_in_maas": Reason("MAAS does not know the machine that the cluster names, or does not show it to this user."),
    "held": Reason(
        "MAAS says that the machine is held by another user than the provider, under a claim, or for another cluster."
    ),
    "doubtful": Reason(
        "It is not certain that the machine is still this cluster's: another MaasMachine names it as well, its "
        "deployment has failed before, or it is in another zone now.",
        passing=True,
    ),
    "not_deployed": Reason("MAAS says that the machine is neither Deploying nor Deployed.", passing=True),
    "leaving": Reason("The cluster is giving the machine back."),
    "node_exists": Reason(
        "There is a Node of that machine already. It was made with an earlier certificate; delete the Node if the "
        "machine was installed anew."
    ),
    "age": Reason(
        "It was made before the Machine that it would belong to, or later after that than O(max_age) seconds."
    ),
    "no_node": Reason("There is no Node of that name, and only a node serves.", passing=True),
    "node_not_linked": Reason(
        "Cluster API has not linked the Node to its Machine yet, which it does as soon as the provider for MAAS has "
        "written the Node's providerID.",
        passing=True,
    ),
    "other_machine": Reason("The Node's providerID or the Machine's nodeRef names another one."),
    "dns_name": Reason("It asks for a DNS name that is not the machine's in MAAS."),
    "address": Reason(
        "It asks for an IP address that MAAS does not know of the machine: a second network card, or a virtual address."
    ),
    "superseded": Reason("The same node has asked again since."),
    "flood": Reason(
        "There are over a hundred requests more than machines. None is answered until somebody has looked why."
    ),
    "maas_unavailable": Reason("MAAS could not be asked about the machine.", passing=True),
    "changed": Reason(
        "It was changed or removed at the same moment, by somebody else who answers requests for instance.",
        passing=True,
    ),
    "not_answered": Reason("The hosted API did not take the approval.", passing=True),
}


@dataclass(frozen=True)
class Asked:
    """What the certificate request itself says."""

    organizations: Sequence[str] = ()
    common_names: Sequence[str] = ()
    # Further parts of the subject, and names that are neither DNS names nor addresses.
    other_subject: Sequence[str] = ()
    other_names: Sequence[str] = ()
    other_extensions: Sequence[str] = ()
    dns_names: Sequence[str] = ()
    addresses: Sequence[str] = ()
    rsa: bool = False


@dataclass(frozen=True)
class Request:
    """A certificate request that waits. The API server has written who made it and when; nobody can forge that."""

    name: str
    signer: str
    username: str
    groups: Sequence[str]
    usages: Sequence[str]
    created: float
    asked: Asked | None = None
    # Why it could not be read.
    trouble: str = ""


@dataclass(frozen=True)
class Host:
    """A machine that the cluster says is its own, with the names and addresses that the owner of machines knows."""

    name: str
    system_id: str
    names: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()
    created: float = 0.0
    # The Node that Cluster API has linked it to.
    node: str = ""
    # Why it is not vouched for: one of REASONS, and the sentence.
    doubt: str = ""
    says: str = ""


@dataclass(frozen=True)
class Node:
    """A Node of the cluster and the machine that its providerID names."""

    name: str
    system_id: str = ""


@dataclass(frozen=True)
class Verdict:
    """What is to become of one request, and why."""

    name: str
    kind: str = ""
    signer: str = ""
    node: str = ""
    machine: str = ""
    system_id: str = ""
    requestor: str = ""
    age: float = 0.0
    approved: bool = False
    reason: str = ""
    message: str = ""

    @property
    def passing(self) -> bool:
        """Whether it may be approved later without anybody's doing."""
        return bool(self.reason) and REASONS[self.reason].passing

    def refused(self, reason: str, message: str) -> Verdict:
        return replace(self, approved=False, reason=reason, message=message)


@dataclass(frozen=True)
class Case:
    """One request beside all that is known."""

    request: Request
    asked: Asked
    hosts: Sequence[Host]
    nodes: Sequence[Node]
    max_age: float = MAX_AGE

    @property
    def is_client(self) -> bool:
        return self.request.signer == CLIENT

    @property
    def user(self) -> str:
        return self.asked.common_names[0] if self.asked.common_names else ""

    @property
    def node(self) -> str:
        """The node that it is made out to."""
        return self.user[len(NODE_USER) :] if self.user.startswith(NODE_USER) else ""

    @property
    def fitting(self) -> list[Host]:
        # Kubelets write the name of their node in small letters, and so it has to be: no other spelling is a Node's.
        return [host for host in self.hosts if self.node in host.names]

    @property
    def host(self) -> Host:
        return self.fitting[0]


No = tuple[str, str]


def judge(
    requests: Iterable[Request],
    hosts: Sequence[Host],
    nodes: Sequence[Node],
    now: float,
    max_age: float = MAX_AGE,
) -> list[Verdict]:
    """A verdict on each request, in the order in which they were made."""
    waiting = sorted(requests, key=lambda request: (request.created, request.name))
    of_kubelets = sum(request.signer in SIGNERS for request in waiting)
    most = max(len(hosts), len(nodes)) + SPARE
    verdicts = [_judged(request, hosts, nodes, now, max_age) for request in waiting]
    if of_kubelets > most:
        says = f"{of_kubelets} requests of kubelets wait, and the cluster has {len(hosts)} machines."
        return [verdict.refused("flood", says) if verdict.approved else verdict for verdict in verdicts]
    newest = {(verdict.kind, verdict.node): verdict.name for verdict in verdicts if verdict.approved}
    return [
        verdict.refused("superseded", f"{verdict.node} has asked again with {newest[verdict.kind, verdict.node]}.")
        if verdict.approved and newest[verdict.kind, verdict.node] != verdict.name
        else verdict
        for verdict in verdicts
    ]


def _judged(request: Request, hosts: Sequence[Host], nodes: Sequence[Node], now: float, max_age: float) -> Verdict:
    verdict = Verdict(
        request.name,
        SIGNERS.get(request.signer, ""),
        request.signer,
        requestor=request.username,
        age=max(0.0, now - request.created),
    )
    if request.signer not in SIGNERS:
        return verdict.refused("signer", f"It is for the signer {request.signer}, which does not sign for kubelets.")
    if request.asked is None:
        return verdict.refused("unreadable", f"It cannot be read: {request.trouble}.")
    case = Case(request, request.asked, hosts, nodes, max_age)
    verdict = replace(verdict, node=case.node)
    if len(case.fitting) == 1:
        verdict = replace(verdict, machine=case.host.name, system_id=case.host.system_id)
    for rule in RULES[request.signer]:
        no = rule(case)
        if no is not None:
            return verdict.refused(*no)
    return replace(verdict, approved=True, message=f"It is that of the machine {case.host.name}.")


# -- what the request says of itself ----------------------------------------------------------------------------------


def _usages(case: Case) -> No | None:
    asked, needed = frozenset(case.request.usages), USAGES[case.request.signer]
    allowed = {needed, needed | {RSA_ONLY}} if case.asked.rsa else {needed}
    if asked in allowed and len(asked) == len(case.request.usages):
        return None
    return "usages", f"It asks for {_all(case.request.usages)}, not for {_all(sorted(needed))}."


def _subject(case: Case) -> No | None:
    asked = case.asked
    single = list(asked.organizations) == [NODES] and len(asked.common_names) == 1 and not asked.other_subject
    if single and case.node:
        return None
    parts = [f"O={each}" for each in asked.organizations] + [f"CN={each}" for each in asked.common_names]
    return "subject", f"It is made out to {_all([*parts, *asked.other_subject])}."


def _requestor(case: Case) -> No | None:
    wanted = BOOTSTRAP_USER if case.is_client else case.user
    if case.request.username == wanted:
        return None
    return "requestor", f"{case.request.username or 'Nobody'} made it, not {wanted}."


def _groups(case: Case) -> No | None:
    asked, wanted = case.request.groups, BOOTSTRAP_GROUPS if case.is_client else NODE_GROUPS
    if frozenset(asked) == wanted and len(asked) == len(wanted):
        return None
    return "groups", f"Its maker is in the groups {_all(asked)}, not in {_all(sorted(wanted))}."


def _names(case: Case) -> No | None:
    asked = case.asked
    odd = [*asked.other_names, *asked.other_extensions]
    if case.is_client:
        odd = [*asked.dns_names, *asked.addresses, *odd]
    if odd:
        return "names", f"It asks for {_all(odd)} as well."
    if not case.is_client and not asked.dns_names and not asked.addresses:
        return "names", "It names nothing under which the node could be reached."
    return None


# -- the machine that it belongs to -----------------------------------------------------------------------------------


def _machine(case: Case) -> No | None:
    if not case.fitting:
        return "unknown_machine", f"No machine of the cluster is called {case.node} in MAAS."
    if len(case.fitting) > 1:
        return "ambiguous", f"{_all(sorted(host.name for host in case.fitting))} all stand for {case.node}."
    return (case.host.doubt, case.host.says) if case.host.doubt else None


def _age(case: Case) -> No | None:
    after = case.request.created - case.host.created
    if after < -SKEW:
        return "age", f"It is {-after:.0f} seconds older than the Machine {case.host.name}."
    if case.is_client and after > case.max_age:
        return "age", f"It came {after:.0f} seconds after the Machine {case.host.name}, more than {case.max_age:.0f}."
    return None


def _no_node_yet(case: Case) -> No | None:
    host = case.host
    known = [node.name for node in case.nodes if node.name in host.names or node.system_id == host.system_id]
    if known:
        return "node_exists", f"The machine has the Node {_all(known)} already."
    return ("node_exists", f"The Machine {host.name} had the Node {host.node} already.") if host.node else None


def _node(case: Case) -> No | None:
    host = case.host
    node = next((node for node in case.nodes if node.name == case.node), None)
    if node is None:
        return "no_node", f"There is no Node {case.node}."
    if not node.system_id:
        return "node_not_linked", f"The Node {node.name} has no providerID yet."
    if node.system_id != host.system_id:
        return "other_machine", f"The Node {node.name} is that of {node.system_id}, not of {host.system_id}."
    if not host.node:
        return "node_not_linked", f"The Machine {host.name} has no nodeRef yet."
    if host.node != node.name:
        return "other_machine", f"The Machine {host.name} has the Node {host.node}, not {node.name}."
    return None


def _dns_names(case: Case) -> No | None:
    strange = [name for name in case.asked.dns_names if name not in case.host.names]
    return ("dns_name", f"{_all(strange)}: not among {_all(sorted(case.host.names))}.") if strange else None


def _addresses(case: Case) -> No | None:
    strange = [address for address in case.asked.addresses if address not in case.host.addresses]
    known = _all(sorted(case.host.addresses))
    return ("address", f"{_all(strange)}: not among the addresses in MAAS, {known}.") if strange else None


Rule = Callable[[Case], "No | None"]
ITSELF: Sequence[Rule] = (_usages, _subject, _requestor, _groups, _names)
RULES: Mapping[str, Sequence[Rule]] = {
    CLIENT: (*ITSELF, _machine, _age, _no_node_yet),
    SERVING: (*ITSELF, _machine, _age, _node, _dns_names, _addresses),
}


def _all(words: Iterable[str]) -> str:
    return ", ".join(words) or "nothing"
