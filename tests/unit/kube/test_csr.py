# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    BOOTSTRAP_GROUPS,
    BOOTSTRAP_USER,
    CLIENT,
    MAX_AGE,
    REASONS,
    SERVING,
    CertificateRequest,
    CsrContent,
    CsrVerdict,
    KnownMachine,
    KnownNode,
    judge,
)

BORN, NOW = 1000.0, 1300.0
NAME = "worker-1.maas"
HOST = KnownMachine("pool-abc", "abc123", frozenset({NAME, "worker-1"}), frozenset({"10.0.0.5", "fd00::5"}), BORN)
JOINED = replace(HOST, node=NAME)
HOST_4 = replace(HOST, name="pool-new", system_id="new444", names=frozenset({"worker-4.maas"}))
NODE = KnownNode(NAME, "abc123")
SUBJECT = CsrContent(("system:nodes",), (f"system:node:{NAME}",))
CLIENTS = CertificateRequest(
    "csr-c", CLIENT, BOOTSTRAP_USER, tuple(BOOTSTRAP_GROUPS), ("digital signature", "client auth"), 1200.0, SUBJECT
)
SERVERS = CertificateRequest(
    "csr-s",
    SERVING,
    f"system:node:{NAME}",
    ("system:nodes", "system:authenticated"),
    ("digital signature", "server auth"),
    1250.0,
    replace(SUBJECT, dns_names=(NAME,), addresses=("10.0.0.5", "fd00::5")),
)


def verdict(
    request: CertificateRequest, hosts: list[KnownMachine], nodes: list[KnownNode], **limits: float
) -> CsrVerdict:
    return judge([request], hosts, nodes, NOW, **limits)[0]


def of_client(asked: Mapping[str, Any] | None = None, **changes: Any) -> CsrVerdict:
    request = replace(CLIENTS, asked=replace(SUBJECT, **(asked or {})), **changes)
    return verdict(request, [HOST], [])


def of_server(asked: Mapping[str, Any] | None = None, **changes: Any) -> CsrVerdict:
    request = replace(SERVERS, asked=replace(SERVERS.asked or SUBJECT, **(asked or {})), **changes)
    return verdict(request, [JOINED], [NODE])


def test_a_machine_that_is_vouched_for_gets_its_client_certificate() -> None:
    found = of_client()
    assert found.approved, found
    assert (found.kind, found.node, found.machine, found.system_id) == ("client", NAME, "pool-abc", "abc123")
    assert (found.age, found.requestor, found.reason) == (100.0, BOOTSTRAP_USER, "")


def test_its_node_gets_its_serving_certificate() -> None:
    found = of_server()
    assert found.approved, found
    assert (found.kind, found.node, found.age) == ("serving", NAME, 50.0)


def test_the_short_name_of_the_machine_is_a_name_of_it() -> None:
    assert of_client({"common_names": ("system:node:worker-1",)}).approved


def test_only_rsa_keys_may_encipher_keys() -> None:
    more = ("digital signature", "key encipherment", "client auth")
    assert of_client({"rsa": True}, usages=more).approved
    assert of_client({"rsa": True}).approved
    assert of_client(usages=more).reason == "usages"


GROUPS = tuple(sorted(BOOTSTRAP_GROUPS))
FORGED_CLIENTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("signer", {}, {"signer": "kubernetes.io/kube-apiserver-client"}),
    ("signer", {}, {"signer": "kubernetes.io/legacy-unknown"}),
    ("signer", {}, {"signer": "example.com/serving"}),
    ("requestor", {}, {"username": "system:serviceaccount:default:default"}),
    ("requestor", {}, {"username": f"system:node:{NAME}"}),
    ("requestor", {}, {"username": f"{BOOTSTRAP_USER}2"}),
    ("requestor", {}, {"username": ""}),
    ("groups", {}, {"groups": (*GROUPS, "system:masters")}),
    ("groups", {}, {"groups": GROUPS[:2]}),
    ("groups", {}, {"groups": (*GROUPS, GROUPS[0])}),
    ("groups", {}, {"groups": ()}),
    ("usages", {}, {"usages": ("digital signature", "server auth")}),
    ("usages", {}, {"usages": ("digital signature", "client auth", "server auth")}),
    ("usages", {}, {"usages": ("client auth",)}),
    ("usages", {}, {"usages": ("digital signature", "client auth", "cert sign")}),
    ("usages", {}, {"usages": ("any",)}),
    ("usages", {}, {"usages": ()}),
    ("subject", {"organizations": ("system:masters",)}, {}),
    ("subject", {"organizations": ("system:nodes", "system:masters")}, {}),
    ("subject", {"organizations": ()}, {}),
    ("subject", {"common_names": ("admin",)}, {}),
    ("subject", {"common_names": (NAME,)}, {}),
    ("subject", {"common_names": ("system:node:",)}, {}),
    ("subject", {"common_names": ("system:node",)}, {}),
    ("subject", {"common_names": ()}, {}),
    ("subject", {"common_names": (f"system:node:{NAME}", "admin")}, {}),
    ("subject", {"other_subject": ("organizationalUnitName=x",)}, {}),
    ("names", {"dns_names": (NAME,)}, {}),
    ("names", {"addresses": ("10.0.0.5",)}, {}),
    ("names", {"other_names": ("RFC822Name a@b.c",)}, {}),
    ("names", {"other_extensions": ("basicConstraints",)}, {}),
    ("unknown_machine", {"common_names": ("system:node:worker-2.maas",)}, {}),
    ("unknown_machine", {"common_names": ("system:node:Worker-1.maas",)}, {}),
    ("unknown_machine", {"common_names": (f"system:node:{NAME}.",)}, {}),
    ("unknown_machine", {"common_names": (f"system:node: {NAME}",)}, {}),
    ("superseded", {}, {"created": BORN - 11}),
    ("age", {}, {"created": BORN + MAX_AGE + 1}),
]


@pytest.mark.parametrize(("reason", "asked", "changes"), FORGED_CLIENTS)
def test_a_client_of_which_one_thing_is_wrong_is_refused(
    reason: str, asked: dict[str, Any], changes: dict[str, Any]
) -> None:
    found = of_client(asked, **changes)
    assert (found.approved, found.reason) == (False, reason)
    assert found.message.endswith(".")


FORGED_SERVERS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("requestor", {}, {"username": "system:node:worker-2.maas"}),
    ("requestor", {}, {"username": BOOTSTRAP_USER}),
    ("groups", {}, {"groups": ("system:nodes",)}),
    ("groups", {}, {"groups": ("system:nodes", "system:authenticated", "system:masters")}),
    ("groups", {}, {"groups": GROUPS}),
    ("usages", {}, {"usages": ("digital signature", "client auth")}),
    ("usages", {}, {"usages": ("digital signature", "server auth", "client auth")}),
    ("usages", {}, {"usages": ("digital signature", "server auth", "key encipherment")}),
    ("subject", {"organizations": ("system:masters",)}, {}),
    ("subject", {"common_names": ("worker-1.maas",)}, {}),
    ("names", {"dns_names": (), "addresses": ()}, {}),
    ("names", {"other_names": ("UniformResourceIdentifier https://x",)}, {}),
    ("names", {"other_extensions": ("keyUsage",)}, {}),
    ("dns_name", {"dns_names": (NAME, "kubernetes.default.svc")}, {}),
    ("dns_name", {"dns_names": ("*.maas",)}, {}),
    ("address", {"addresses": ("10.0.0.5", "10.0.0.6")}, {}),
    ("address", {"addresses": ("127.0.0.1",)}, {}),
    ("superseded", {}, {"created": BORN - 11}),
]


@pytest.mark.parametrize(("reason", "asked", "changes"), FORGED_SERVERS)
def test_a_server_of_which_one_thing_is_wrong_is_refused(
    reason: str, asked: dict[str, Any], changes: dict[str, Any]
) -> None:
    found = of_server(asked, **changes)
    assert (found.approved, found.reason) == (False, reason)


AROUND_CLIENTS: list[tuple[str, list[KnownMachine], list[KnownNode]]] = [
    ("unknown_machine", [], []),
    ("unknown_machine", [replace(HOST, names=frozenset())], []),
    ("ambiguous", [HOST, replace(HOST, name="pool-xyz")], []),
    ("held", [replace(HOST, doubt="held", says="No.")], []),
    ("not_deployed", [replace(HOST, doubt="not_deployed", says="No.")], []),
    ("node_exists", [HOST], [KnownNode(NAME)]),
    ("node_exists", [HOST], [KnownNode("worker-1", "abc123")]),
    ("node_exists", [HOST], [KnownNode("called-otherwise", "abc123")]),
    ("node_exists", [JOINED], []),
]


@pytest.mark.parametrize(("reason", "hosts", "nodes"), AROUND_CLIENTS)
def test_a_client_whose_machine_is_not_as_it_should_be_is_refused(
    reason: str, hosts: list[KnownMachine], nodes: list[KnownNode]
) -> None:
    found = verdict(CLIENTS, hosts, nodes)
    assert (found.approved, found.reason) == (False, reason)


AROUND_SERVERS: list[tuple[str, list[KnownMachine], list[KnownNode]]] = [
    ("unknown_machine", [], [NODE]),
    # The node was one of this cluster when it asked, and has left with its machine.
    ("superseded", [], []),
    ("no_node", [JOINED], []),
    ("no_node", [JOINED], [KnownNode("worker-2.maas", "abc123")]),
    ("node_not_linked", [JOINED], [KnownNode(NAME)]),
    ("node_not_linked", [HOST], [NODE]),
    ("other_machine", [JOINED], [KnownNode(NAME, "zzz999")]),
    ("other_machine", [replace(JOINED, node="worker-2.maas")], [NODE]),
    ("leaving", [replace(JOINED, doubt="leaving", says="It goes.")], [NODE]),
]


@pytest.mark.parametrize(("reason", "hosts", "nodes"), AROUND_SERVERS)
def test_a_server_whose_node_is_not_as_it_should_be_is_refused(
    reason: str, hosts: list[KnownMachine], nodes: list[KnownNode]
) -> None:
    found = verdict(SERVERS, hosts, nodes)
    assert (found.approved, found.reason) == (False, reason)


def test_a_request_that_cannot_be_read_is_refused_with_the_reason() -> None:
    found = verdict(replace(CLIENTS, asked=None, trouble="it is not base64"), [HOST], [])
    assert (found.reason, found.message) == ("unreadable", "It cannot be read: it is not base64.")


def test_how_long_a_machine_may_take_can_be_told() -> None:
    late = replace(CLIENTS, created=BORN + MAX_AGE + 1)
    assert verdict(late, [HOST], [], max_age=MAX_AGE + 2).approved


def test_a_renewed_serving_certificate_has_no_age() -> None:
    assert of_server(created=BORN + 100 * MAX_AGE).approved


def test_of_several_requests_of_a_node_the_newest_is_approved() -> None:
    again = replace(CLIENTS, name="csr-again", created=1210.0)
    forged = replace(CLIENTS, name="csr-forged", created=1220.0, username="somebody")
    found = {one.name: one for one in judge([again, forged, CLIENTS], [HOST], [], NOW)}
    assert [name for name, one in found.items() if one.approved] == ["csr-again"]
    assert found["csr-c"].reason == "superseded"
    assert "csr-again" in found["csr-c"].message


# -- those who ask again, and those who ask too often ------------------------------------------------------------------


def keyed(request: CertificateRequest, number: int, **changes: Any) -> CertificateRequest:
    """Another one of the same asker, so many seconds later and for another key."""
    asked = replace(request.asked or SUBJECT, key=f"key-{number}")
    wish = {"name": f"{request.name}-{number}", "created": request.created + number, "asked": asked, **changes}
    return replace(request, **wish)


def judged(
    requests: list[CertificateRequest], hosts: list[KnownMachine], nodes: list[KnownNode], **more: Any
) -> dict[str, CsrVerdict]:
    return {one.name: one for one in judge(requests, hosts, nodes, NOW, **more)}


def named(name: str, request: CertificateRequest = CLIENTS) -> CertificateRequest:
    """The same request, made out to another node."""
    asked = replace(request.asked or SUBJECT, common_names=(f"system:node:{name}",))
    return replace(request, name=f"csr-{name}", asked=asked)


def test_a_cluster_that_nobody_looked_after_for_a_day_is_as_good_as_new() -> None:
    """Three nodes that asked every quarter of an hour, and a machine that has just come."""
    names = [f"worker-{number}.maas" for number in (1, 2, 3)]
    hosts, nodes, pending = [HOST_4], [], []
    for number, name in enumerate(names):
        hosts.append(replace(JOINED, name=name, system_id=f"id{number}", names=frozenset({name}), node=name))
        nodes.append(KnownNode(name, f"id{number}"))
        first = replace(named(name, SERVERS), username=f"system:node:{name}")
        first = replace(first, asked=replace(first.asked or SUBJECT, dns_names=(name,)))
        pending += [keyed(first, again) for again in range(93)]
    found = judged([*pending, named("worker-4.maas")], hosts, nodes)
    newest = {f"csr-{name}-92" for name in names}
    assert {one.name for one in found.values() if one.approved} == newest | {"csr-worker-4.maas"}
    assert sum(one.superseded for one in found.values()) == 3 * 92


def test_a_worker_that_asks_a_thousand_times_stops_nobody_but_itself() -> None:
    asked = [keyed(SERVERS, again) for again in range(1000)]
    found = judged([*asked, named("worker-4.maas")], [JOINED, HOST_4], [NODE])
    assert [one.name for one in found.values() if one.approved] == ["csr-worker-4.maas", "csr-s-999"]
    assert sum(one.superseded for one in found.values()) == 999


def test_a_worker_gets_so_many_keys_and_no_more() -> None:
    had = [keyed(SERVERS, number, outcome="approved") for number in range(10)]
    assert judged([*had[1:], keyed(SERVERS, 50)], [JOINED], [NODE])["csr-s-50"].approved
    refused = judged([*had, keyed(SERVERS, 50)], [JOINED], [NODE])["csr-s-50"]
    assert (refused.reason, refused.approved) == ("flood", False)
    assert f"system:node:{NAME} has had 10 serving certificates for different keys" in refused.message


def test_whoever_guesses_names_lets_no_node_in() -> None:
    guesses = [named(f"guess-{number}.maas") for number in range(100)]
    enough = judged([*guesses, CLIENTS, SERVERS], [HOST], [])
    assert enough["csr-c"].approved
    one_more = judged([*guesses, named("guess-x.maas"), CLIENTS], [HOST], [])["csr-c"]
    assert one_more.reason == "flood"
    assert "asks for 102 different nodes, 101 more than the cluster has machines." in one_more.message
    assert "delete these requests: kubectl get csr --field-selector" in one_more.message
    leftover = [KnownNode(f"old-{number}.maas") for number in range(2)]
    assert judged([*guesses, named("guess-x.maas"), CLIENTS], [HOST], leftover)["csr-c"].approved, "a node counts too"
    # Nobody is told to be a flood who is somebody else, or has an identity of its own.
    others = [replace(each, username="somebody") for each in [*guesses, named("guess-x.maas")]]
    assert judged([*others, CLIENTS], [HOST], [])["csr-c"].approved
    joined = judged([*guesses, named("guess-x.maas"), SERVERS], [JOINED], [NODE])["csr-s"]
    assert joined.approved, "a node has an identity of its own"


ISSUED = keyed(CLIENTS, 1, outcome="approved")


@pytest.mark.parametrize(
    ("earlier", "reason"),
    [
        (ISSUED, "issued"),
        (replace(ISSUED, asked=replace(SUBJECT, common_names=("system:node:worker-1",), key="key-1")), "issued"),
        (replace(ISSUED, outcome="failed"), ""),
        (replace(ISSUED, outcome="denied"), ""),
        (replace(ISSUED, asked=replace(SUBJECT, key="key-2")), ""),
        (replace(ISSUED, created=BORN - 20), ""),
        (replace(ISSUED, username=f"system:node:{NAME}"), ""),
        (replace(ISSUED, signer=SERVING), ""),
    ],
)
def test_a_deployment_of_a_machine_gets_one_client_certificate(earlier: CertificateRequest, reason: str) -> None:
    """And another one when the first has failed, is for the same key, or was not of this deployment's kubelet."""
    later = keyed(CLIENTS, 2)
    assert judged([earlier, later], [HOST], [])[later.name].reason == reason


def test_the_second_certificate_comes_on_request() -> None:
    later = keyed(CLIENTS, 2)
    refused = judged([ISSUED, later], [HOST], [])[later.name]
    assert f"metalshift.maas.node_csr with reissue: [{NAME}]." in refused.message
    assert judged([ISSUED, later], [HOST], [], reissue=[NAME])[later.name].approved
    assert judged([ISSUED, later], [HOST], [], reissue=["worker-2.maas"])[later.name].reason == "issued"


def test_of_a_machine_that_asks_under_two_names_the_newer_is_approved() -> None:
    found = judged([CLIENTS, replace(named("worker-1"), created=1201.0)], [HOST], [])
    assert [one.name for one in found.values() if one.approved] == ["csr-worker-1"]


def test_what_was_asked_before_an_answer_is_superseded_by_it() -> None:
    for outcome, expected in (("approved", True), ("failed", True), ("denied", False)):
        answered = keyed(SERVERS, 5, outcome=outcome)
        assert judged([SERVERS, answered], [JOINED], [NODE])["csr-s"].superseded == expected, outcome


def test_of_requests_that_are_refused_for_the_same_reason_the_newest_is_told() -> None:
    wrong = [named_otherwise(keyed(SERVERS, number)) for number in range(30)]
    found = judged([*wrong, SERVERS], [JOINED], [NODE])
    assert [(one.name, one.reason) for one in found.values() if not one.superseded] == [
        ("csr-s", ""),
        ("csr-s-29", "dns_name"),
    ]
    assert judged([*wrong, keyed(SERVERS, 99)], [JOINED], [NODE])["csr-s-29"].superseded, "it has been put right"


def named_otherwise(request: CertificateRequest) -> CertificateRequest:
    return replace(request, asked=replace(request.asked or SUBJECT, dns_names=("other.maas",)))


def test_what_no_kubelet_asks_is_told_whatever_was_asked_since() -> None:
    forged = keyed(CLIENTS, 1, usages=("any",))
    for later in (keyed(CLIENTS, 2), keyed(CLIENTS, 2, outcome="approved")):
        assert judged([forged, later], [HOST], [])[forged.name].reason == "usages"


@pytest.mark.parametrize(
    ("usages", "said"),
    [
        (("digital signature", "client auth", "server auth"), "It asks for server auth as well."),
        (("client auth",), "It does not ask for digital signature."),
        (("client auth", "client auth", "digital signature"), "It asks for the same usage twice: client auth, client"),
    ],
)
def test_of_usages_the_wrong_ones_are_named(usages: tuple[str, ...], said: str) -> None:
    assert of_client(usages=usages).message.startswith(said)


def test_every_verdict_names_a_reason_that_the_documentation_has() -> None:
    told = {reason for reason, _asked, _changes in FORGED_CLIENTS + FORGED_SERVERS}
    told |= {reason for reason, _hosts, _nodes in AROUND_CLIENTS + AROUND_SERVERS}
    elsewhere = {
        "unreadable",
        "issued",
        "flood",
        "not_in_maas",
        "doubtful",
        "maas_unavailable",
        "not_answered",
        "changed",
    }
    assert told | elsewhere == set(REASONS)


def test_what_may_pass_is_told_apart() -> None:
    assert verdict(SERVERS, [HOST], [NODE]).passing
    assert not of_client(username="somebody").passing
    assert not of_client().passing
