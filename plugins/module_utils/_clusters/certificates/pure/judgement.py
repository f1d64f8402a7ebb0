# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which certificate requests of kubelets belong to which machines; everything else is somebody else's to decide.

The rules are those of OpenShift's cluster-machine-approver, and stricter: a machine counts only if it is vouched for.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

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
# Names that the bootstrap user asks for. More than machines by this many are guesses: no new node is let in then.
SPARE = 100
# Keys for which one node gets a serving certificate while Kubernetes remembers them, which is an hour.
MOST_KEYS = 10


@dataclass(frozen=True)
class CsrReason:
    """Why a request is not approved. A passing one may be gone at the next look."""

    meaning: str
    passing: bool = False


REASONS: Mapping[str, CsrReason] = {
    "signer": CsrReason(
        "It is for another signer than the two that sign for kubelets. Whoever runs that signer decides about it."
    ),
    "unreadable": CsrReason(
        "What it holds is no certificate request, or one that was not signed with the key that it is for."
    ),
    "requestor": CsrReason(
        "It was not made by the one who makes such a request: the bootstrap user for a client, the node itself for a "
        "server. A node that renews its certificate as a client is answered by the hosted cluster's own controller."
    ),
    "groups": CsrReason("The requestor's groups are not exactly those of a kubelet."),
    "usages": CsrReason("It asks for more, or for other usages of the key than a kubelet needs."),
    "subject": CsrReason(
        "It is not made out to O=system:nodes and CN=system:node: with a node's name, and nothing else."
    ),
    "names": CsrReason(
        "It asks for names or other extensions that such a certificate has not: none at all in that of a client, DNS "
        "names and IP addresses in that of a server."
    ),
    "unknown_machine": CsrReason(
        "No machine that MAAS has given to this cluster has that name. If that lasts, the node calls itself by another "
        "name than MAAS does.",
        passing=True,
    ),
    "ambiguous": CsrReason(
        "Several Machines of the cluster stand for the machine of that name, so that one of them names a machine that "
        "is not its own any more.",
        passing=True,
    ),
    "not_in_maas": CsrReason(
        "MAAS does not know the machine that the cluster names, or does not show it to this user."
    ),
    "held": CsrReason(
        "MAAS says that the machine is held by another user than the provider, under a claim, or for another cluster."
    ),
    "doubtful": CsrReason(
        "It is not certain that the machine is still this cluster's: another MaasMachine names it as well, its "
        "deployment has failed before, or it is in another zone now.",
        passing=True,
    ),
    "not_deployed": CsrReason("MAAS says that the machine is neither Deploying nor Deployed.", passing=True),
    "leaving": CsrReason("The cluster is giving the machine back."),
    "issued": CsrReason(
        "This deployment of the machine has had a client certificate for another key. Kubernetes remembers that for an "
        "hour. When no Node has come of it by then, the next request is approved. O(reissue) approves it at once."
    ),
    "node_exists": CsrReason(
        "There is a Node of that machine already. It was made with an earlier certificate; delete the Node if the "
        "machine was installed anew."
    ),
    "age": CsrReason(
        "It was made more than O(max_age) seconds after the Machine that it belongs to. A machine that took so long "
        "needs a larger O(max_age)."
    ),
    "no_node": CsrReason("There is no Node of that name, and only a node serves.", passing=True),
    "node_not_linked": CsrReason(
        "Cluster API has not linked the Node to its Machine yet, which it does as soon as the provider for MAAS has "
        "written the Node's providerID.",
        passing=True,
    ),
    "other_machine": CsrReason("The Node's providerID or the Machine's nodeRef names another one."),
    "dns_name": CsrReason("It asks for a DNS name that is not the machine's in MAAS."),
    "address": CsrReason(
        "It asks for an IP address that MAAS does not know of the machine: a second network card, or a virtual address."
    ),
    "superseded": CsrReason(
        "Nobody waits for it any more: the same node has asked again since, its Node has gone, or it is from before "
        "the machine was given to the cluster. Such requests are counted, not listed. Kubernetes forgets them after a "
        "day."
    ),
    "flood": CsrReason(
        "The bootstrap user asks for over a hundred nodes more than there are machines, and no new node is let in "
        "until somebody has removed these requests. Or one node has had ten serving certificates within an hour; "
        "nothing is kept from other nodes then."
    ),
    "maas_unavailable": CsrReason("MAAS could not be asked about the machine.", passing=True),
    "changed": CsrReason(
        "It was changed or removed at the same moment, by somebody else who answers requests for instance.",
        passing=True,
    ),
    "not_answered": CsrReason("The hosted API did not take the approval.", passing=True),
}


@dataclass(frozen=True)
class CsrContent:
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
    # The public key, shortened.
    key: str = ""


@dataclass(frozen=True)
class CertificateRequest:
    """A certificate request. The API server has written who made it and when; nobody can forge that."""

    name: str
    signer: str
    username: str
    groups: Sequence[str]
    usages: Sequence[str]
    created: float
    asked: CsrContent | None = None
    # Why it could not be read.
    trouble: str = ""
    # What has become of it: `approved`, `denied` or `failed`; empty while it waits.
    outcome: str = ""

    @property
    def moment(self) -> Moment:
        """When it was made, among others of the same second."""
        return self.created, self.name

    @property
    def node(self) -> str:
        """The node that it is made out to."""
        user = self.asked.common_names[0] if self.asked and self.asked.common_names else ""
        return user[len(NODE_USER) :] if user.startswith(NODE_USER) else ""

    @property
    def asker(self) -> Asker:
        """Who asks for what: the newest request of an asker is the one whose answer somebody waits for."""
        return self.signer, self.username, self.node


# Why a request is none of a kubelet's: each of these is told, whatever a kubelet has asked since.
STRANGE = frozenset({"signer", "unreadable", "usages", "subject", "requestor", "groups", "names"})

# Signer, user and node.
Asker = tuple[str, str, str]
Moment = tuple[float, str]


@dataclass(frozen=True)
class KnownMachine:
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
class KnownNode:
    """A Node of the cluster and the machine that its providerID names."""

    name: str
    system_id: str = ""


@dataclass(frozen=True)
class CsrVerdict:
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

    @property
    def superseded(self) -> bool:
        """Whether nobody waits for it any more."""
        return self.reason == "superseded"

    def refused(self, reason: str, message: str) -> CsrVerdict:
        return replace(self, approved=False, reason=reason, message=message)


@dataclass(frozen=True)
class CsrContext:
    """All that a request is judged by, found by name: a thousand requests are a thousand looks."""

    requests: Sequence[CertificateRequest]
    hosts: Sequence[KnownMachine]
    nodes: Sequence[KnownNode]
    max_age: float = MAX_AGE
    # The nodes whose machine may have a second client certificate.
    reissue: Collection[str] = ()

    @cached_property
    def hosts_by_name(self) -> Mapping[str, Sequence[KnownMachine]]:
        found: dict[str, list[KnownMachine]] = defaultdict(list)
        for host in self.hosts:
            for name in host.names:
                found[name].append(host)
        return found

    @cached_property
    def nodes_by_name(self) -> Mapping[str, KnownNode]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def nodes_by_machine(self) -> Mapping[str, KnownNode]:
        return {node.system_id: node for node in self.nodes if node.system_id}

    @cached_property
    def answered(self) -> Mapping[Asker, Moment]:
        return answered(self.requests)

    @cached_property
    def approved(self) -> Mapping[tuple[str, str], Sequence[CertificateRequest]]:
        """By signer and node: the requests that were approved, whoever did that."""
        found: dict[tuple[str, str], list[CertificateRequest]] = defaultdict(list)
        for each in self.requests:
            if each.outcome == "approved":
                found[each.signer, each.node].append(each)
        return found

    @cached_property
    def surplus(self) -> int:
        """How many names more than machines the bootstrap user asks for."""
        return len(self.bootstrapped) - max(len(self.hosts), len(self.nodes))

    @cached_property
    def bootstrapped(self) -> Collection[str]:
        """The nodes that the bootstrap user asks for, and has not been answered."""
        asked = (each for each in waiting_requests(self.requests) if each.signer == CLIENT)
        return {each.node for each in asked if each.username == BOOTSTRAP_USER}


def answered(requests: Iterable[CertificateRequest]) -> Mapping[Asker, Moment]:
    """When the newest request was made to which each asker has had an answer."""
    found: dict[Asker, Moment] = {}
    for each in requests:
        if each.outcome in ("approved", "failed"):
            found[each.asker] = max(found.get(each.asker, each.moment), each.moment)
    return found


def waiting_requests(requests: Sequence[CertificateRequest]) -> list[CertificateRequest]:
    """The requests of kubelets that are not answered, neither themselves nor by the answer to a later one."""
    last = answered(requests)
    never = (0.0, "")
    return [
        each
        for each in requests
        if not each.outcome and each.signer in SIGNERS and each.moment > last.get(each.asker, never)
    ]


@dataclass(frozen=True)
class CsrCase:
    """One request beside all that is known."""

    request: CertificateRequest
    asked: CsrContent
    background: CsrContext

    @property
    def is_client(self) -> bool:
        return self.request.signer == CLIENT

    @property
    def user(self) -> str:
        return self.asked.common_names[0] if self.asked.common_names else ""

    @property
    def node(self) -> str:
        """The node that it is made out to."""
        return self.request.node

    @property
    def fitting(self) -> Sequence[KnownMachine]:
        # Kubelets write the name of their node in small letters, and so it has to be: no other spelling is a Node's.
        return self.background.hosts_by_name.get(self.node, ())

    @property
    def host(self) -> KnownMachine:
        return self.fitting[0]


No = tuple[str, str]


def judge(
    requests: Iterable[CertificateRequest],
    hosts: Sequence[KnownMachine],
    nodes: Sequence[KnownNode],
    now: float,
    max_age: float = MAX_AGE,
    reissue: Collection[str] = (),
) -> list[CsrVerdict]:
    """A verdict on each request that waits, in the order in which they were made.

    Those that were answered are given as well: what they say of an asker decides about its other requests.
    """
    ordered = sorted(requests, key=lambda request: request.moment)
    background = CsrContext(ordered, hosts, nodes, max_age, reissue)
    judged = [(request, _judged(request, background, now)) for request in ordered if not request.outcome]
    # Whom a valid request supersedes does not depend on what somebody else forges after it.
    valid = {_party(request, verdict): request for request, verdict in judged if verdict.approved}
    alike = {(_party(request, verdict), verdict.message): request for request, verdict in judged}
    return [
        _newest_alone(
            request, verdict, valid.get(_party(request, verdict)), alike[_party(request, verdict), verdict.message]
        )
        for request, verdict in judged
    ]


def _party(request: CertificateRequest, verdict: CsrVerdict) -> Asker:
    """Its asker; a machine may ask under each of its names."""
    return request.signer, request.username, verdict.machine or request.node


def _newest_alone(
    request: CertificateRequest, verdict: CsrVerdict, valid: CertificateRequest | None, alike: CertificateRequest
) -> CsrVerdict:
    if verdict.reason in STRANGE or verdict.superseded:
        return verdict
    later = valid if valid and valid.moment > request.moment else alike
    return verdict if later is request else verdict.refused("superseded", _again(request, later.name))


def _again(request: CertificateRequest, later: str) -> str:
    return f"{request.node or request.username} has asked again with {later}."


def _judged(request: CertificateRequest, background: CsrContext, now: float) -> CsrVerdict:
    verdict = CsrVerdict(
        request.name,
        SIGNERS.get(request.signer, ""),
        request.signer,
        requestor=request.username,
        age=max(0.0, now - request.created),
    )
    if request.signer not in SIGNERS:
        return verdict.refused("signer", f"It is for the signer {request.signer}, which does not sign for kubelets.")
    verdict = replace(verdict, node=request.node)
    if request.asked is None:
        return verdict.refused("unreadable", f"It cannot be read: {request.trouble}.")
    case = CsrCase(request, request.asked, background)
    if len(case.fitting) == 1:
        verdict = replace(verdict, machine=case.host.name, system_id=case.host.system_id)
    for rule in (*ITSELF, _unanswered, *RULES[request.signer]):
        no = rule(case)
        if no is not None:
            return verdict.refused(*no)
    return replace(verdict, approved=True, message=f"It is that of the machine {case.host.name}.")


# -- what the request says of itself ----------------------------------------------------------------------------------


def _usages(case: CsrCase) -> No | None:
    asked, needed = frozenset(case.request.usages), USAGES[case.request.signer]
    allowed = needed | {RSA_ONLY} if case.asked.rsa else needed
    if needed <= asked <= allowed and len(asked) == len(case.request.usages):
        return None
    if more := sorted(asked - allowed):
        return "usages", f"It asks for {_all(more)} as well."
    if lacking := sorted(needed - asked):
        return "usages", f"It does not ask for {_all(lacking)}."
    return "usages", f"It asks for the same usage twice: {_all(sorted(case.request.usages))}."


def _subject(case: CsrCase) -> No | None:
    asked = case.asked
    single = list(asked.organizations) == [NODES] and len(asked.common_names) == 1 and not asked.other_subject
    if single and case.node:
        return None
    parts = [f"O={each}" for each in asked.organizations] + [f"CN={each}" for each in asked.common_names]
    return "subject", f"It is made out to {_all([*parts, *asked.other_subject])}."


def _requestor(case: CsrCase) -> No | None:
    wanted = BOOTSTRAP_USER if case.is_client else case.user
    if case.request.username == wanted:
        return None
    return "requestor", f"{case.request.username or 'Nobody'} made it, not {wanted}."


def _groups(case: CsrCase) -> No | None:
    asked, wanted = case.request.groups, BOOTSTRAP_GROUPS if case.is_client else NODE_GROUPS
    if frozenset(asked) == wanted and len(asked) == len(wanted):
        return None
    return "groups", f"Its maker is in the groups {_all(asked)}, not in {_all(sorted(wanted))}."


def _names(case: CsrCase) -> No | None:
    asked = case.asked
    odd = [*asked.other_names, *asked.other_extensions]
    if case.is_client:
        odd = [*asked.dns_names, *asked.addresses, *odd]
    if odd:
        return "names", f"It asks for {_all(odd)} as well."
    if not case.is_client and not asked.dns_names and not asked.addresses:
        return "names", "It names nothing under which the node could be reached."
    return None


def _unanswered(case: CsrCase) -> No | None:
    answered = case.background.answered.get(case.request.asker)
    return ("superseded", _again(case.request, answered[1])) if answered and answered > case.request.moment else None


# -- the machine that it belongs to -----------------------------------------------------------------------------------


def _machine(case: CsrCase) -> No | None:
    if not case.fitting:
        if not case.is_client and case.node not in case.background.nodes_by_name:
            return "superseded", f"There is no Node {case.node} any more, and no machine of that name."
        return "unknown_machine", f"No machine of the cluster is called {case.node} in MAAS."
    if len(case.fitting) > 1:
        return "ambiguous", f"{_all(sorted(host.name for host in case.fitting))} all stand for {case.node}."
    return (case.host.doubt, case.host.says) if case.host.doubt else None


def _age(case: CsrCase) -> No | None:
    after, limit = case.request.created - case.host.created, case.background.max_age
    if after < -SKEW:
        return "superseded", f"It is from before the machine became the Machine {case.host.name}."
    if case.is_client and after > limit:
        late = f"It came more than {limit:.0f} seconds after the Machine {case.host.name}."
        return "age", f"{late} Give metalshift.maas.node_csr a larger max_age if the machine took so long."
    return None


def _no_node_yet(case: CsrCase) -> No | None:
    host = case.host
    named = (case.background.nodes_by_name.get(name) for name in sorted(host.names))
    known = [node for node in (*named, case.background.nodes_by_machine.get(host.system_id)) if node]
    if known:
        return "node_exists", f"The machine has the Node {known[0].name} already."
    return ("node_exists", f"The Machine {host.name} had the Node {host.node} already.") if host.node else None


def _not_issued_yet(case: CsrCase) -> No | None:
    """The bootstrap user is every machine's: whoever has it could become one that is still on its way."""
    host = case.host
    if not host.names.isdisjoint(case.background.reissue):
        return None
    for earlier in (each for name in sorted(host.names) for each in case.background.approved.get((CLIENT, name), ())):
        of_this_life = earlier.username == BOOTSTRAP_USER and earlier.created - host.created >= -SKEW
        if of_this_life and earlier.asked and earlier.asked.key != case.asked.key:
            return "issued", (
                f"{earlier.name} has had a certificate for this deployment of the machine, and this has another key. "
                f"If the machine has lost the first one: metalshift.maas.node_csr with reissue: [{case.node}]."
            )
    return None


def _few_names(case: CsrCase) -> No | None:
    background = case.background
    if background.surplus <= SPARE:
        return None
    return "flood", (
        f"{BOOTSTRAP_USER} asks for {len(background.bootstrapped)} different nodes, {background.surplus} more than "
        "the cluster has machines. Find out who asks for nodes that are not there, and delete these requests: "
        f"kubectl get csr --field-selector spec.signerName={CLIENT} lists them. Until then no new node is let in."
    )


def _few_keys(case: CsrCase) -> No | None:
    earlier = case.background.approved.get((SERVING, case.node), ())
    keys = {each.asked.key for each in earlier if each.asked and each.username == case.request.username}
    if len(keys | {case.asked.key}) <= MOST_KEYS:
        return None
    return "flood", (
        f"{case.request.username} has had {len(keys)} serving certificates for different keys within an hour. Look why "
        "that machine asks again and again; it gets the next one when Kubernetes has forgotten these."
    )


def _node(case: CsrCase) -> No | None:
    host = case.host
    node = case.background.nodes_by_name.get(case.node)
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


def _dns_names(case: CsrCase) -> No | None:
    strange = [name for name in case.asked.dns_names if name not in case.host.names]
    return ("dns_name", f"{_all(strange)}: not among {_all(sorted(case.host.names))}.") if strange else None


def _addresses(case: CsrCase) -> No | None:
    strange = [address for address in case.asked.addresses if address not in case.host.addresses]
    known = _all(sorted(case.host.addresses))
    return ("address", f"{_all(strange)}: not among the addresses in MAAS, {known}.") if strange else None


Rule = Callable[[CsrCase], "No | None"]
ITSELF: Sequence[Rule] = (_usages, _subject, _requestor, _groups, _names)
RULES: Mapping[str, Sequence[Rule]] = {
    CLIENT: (_machine, _age, _no_node_yet, _not_issued_yet, _few_names),
    SERVING: (_machine, _age, _node, _dns_names, _addresses, _few_keys),
}


def _all(words: Iterable[str]) -> str:
    return ", ".join(words) or "nothing"
