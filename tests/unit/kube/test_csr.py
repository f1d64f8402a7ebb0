# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._kube.csr import (
    BOOTSTRAP_GROUPS,
    BOOTSTRAP_USER,
    CLIENT,
    MAX_AGE,
    REASONS,
    SERVING,
    SPARE,
    Asked,
    Host,
    Node,
    Request,
    Verdict,
    judge,
)

BORN, NOW = 1000.0, 1300.0
NAME = "worker-1.maas"
HOST = Host("pool-abc", "abc123", frozenset({NAME, "worker-1"}), frozenset({"10.0.0.5", "fd00::5"}), BORN)
JOINED = replace(HOST, node=NAME)
NODE = Node(NAME, "abc123")
SUBJECT = Asked(("system:nodes",), (f"system:node:{NAME}",))
CLIENTS = Request(
    "csr-c", CLIENT, BOOTSTRAP_USER, tuple(BOOTSTRAP_GROUPS), ("digital signature", "client auth"), 1200.0, SUBJECT
)
SERVERS = Request(
    "csr-s",
    SERVING,
    f"system:node:{NAME}",
    ("system:nodes", "system:authenticated"),
    ("digital signature", "server auth"),
    1250.0,
    replace(SUBJECT, dns_names=(NAME,), addresses=("10.0.0.5", "fd00::5")),
)


def verdict(request: Request, hosts: list[Host], nodes: list[Node], **limits: float) -> Verdict:
    return judge([request], hosts, nodes, NOW, **limits)[0]


def of_client(asked: Mapping[str, Any] | None = None, **changes: Any) -> Verdict:
    request = replace(CLIENTS, asked=replace(SUBJECT, **(asked or {})), **changes)
    return verdict(request, [HOST], [])


def of_server(asked: Mapping[str, Any] | None = None, **changes: Any) -> Verdict:
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
    ("age", {}, {"created": BORN - 11}),
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
    ("age", {}, {"created": BORN - 11}),
]


@pytest.mark.parametrize(("reason", "asked", "changes"), FORGED_SERVERS)
def test_a_server_of_which_one_thing_is_wrong_is_refused(
    reason: str, asked: dict[str, Any], changes: dict[str, Any]
) -> None:
    found = of_server(asked, **changes)
    assert (found.approved, found.reason) == (False, reason)


AROUND_CLIENTS: list[tuple[str, list[Host], list[Node]]] = [
    ("unknown_machine", [], []),
    ("unknown_machine", [replace(HOST, names=frozenset())], []),
    ("ambiguous", [HOST, replace(HOST, name="pool-xyz")], []),
    ("held", [replace(HOST, doubt="held", says="No.")], []),
    ("not_deployed", [replace(HOST, doubt="not_deployed", says="No.")], []),
    ("node_exists", [HOST], [Node(NAME)]),
    ("node_exists", [HOST], [Node("worker-1", "abc123")]),
    ("node_exists", [HOST], [Node("called-otherwise", "abc123")]),
    ("node_exists", [JOINED], []),
]


@pytest.mark.parametrize(("reason", "hosts", "nodes"), AROUND_CLIENTS)
def test_a_client_whose_machine_is_not_as_it_should_be_is_refused(
    reason: str, hosts: list[Host], nodes: list[Node]
) -> None:
    found = verdict(CLIENTS, hosts, nodes)
    assert (found.approved, found.reason) == (False, reason)


AROUND_SERVERS: list[tuple[str, list[Host], list[Node]]] = [
    ("unknown_machine", [], [NODE]),
    ("no_node", [JOINED], []),
    ("no_node", [JOINED], [Node("worker-2.maas", "abc123")]),
    ("node_not_linked", [JOINED], [Node(NAME)]),
    ("node_not_linked", [HOST], [NODE]),
    ("other_machine", [JOINED], [Node(NAME, "zzz999")]),
    ("other_machine", [replace(JOINED, node="worker-2.maas")], [NODE]),
    ("leaving", [replace(JOINED, doubt="leaving", says="It goes.")], [NODE]),
]


@pytest.mark.parametrize(("reason", "hosts", "nodes"), AROUND_SERVERS)
def test_a_server_whose_node_is_not_as_it_should_be_is_refused(
    reason: str, hosts: list[Host], nodes: list[Node]
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


def test_a_flood_is_not_answered() -> None:
    flood = [replace(CLIENTS, name=f"csr-{number}", username="somebody") for number in range(SPARE + 1)]
    found = judge([*flood, CLIENTS], [HOST], [], NOW)
    assert {one.reason for one in found} == {"flood", "requestor"}
    assert len(judge([*flood[1:], CLIENTS], [HOST], [], NOW)) == SPARE + 1
    assert any(one.approved for one in judge([*flood[1:], CLIENTS], [HOST], [], NOW))
    others = [replace(one, signer="example.com/other") for one in flood]
    assert any(one.approved for one in judge([*others, CLIENTS], [HOST], [], NOW))


def test_every_verdict_names_a_reason_that_the_documentation_has() -> None:
    told = {reason for reason, _asked, _changes in FORGED_CLIENTS + FORGED_SERVERS}
    told |= {reason for reason, _hosts, _nodes in AROUND_CLIENTS + AROUND_SERVERS}
    elsewhere = {
        "unreadable",
        "superseded",
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
