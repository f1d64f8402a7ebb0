# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a node has all its certificates, and what is said of those that are missing."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.missing import (
    ASKS_WITHIN,
    READ_WITHIN,
    UNREAD,
    MissingCertificates,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    SERVING,
    CsrVerdict,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.progress import (
    GRACE,
    Assessment,
    assess,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import stamp_of
from unit.kube.shapes import NAME, Object, machine, node, whole
from unit.scripted_maas import FakeClock

BORN = time.time() - 600
LINK = CsrVerdict("csr-a", kind="serving", node="node-a", machine="a").refused("node_not_linked", "No providerID yet.")
WRONG = CsrVerdict("csr-a", kind="serving", node="node-a", machine="a").refused("address", "10.9.9.9: not among those.")


def born(body: Object, seconds: float = BORN) -> Object:
    return {**body, "metadata": {**body["metadata"], "creationTimestamp": stamp_of(seconds)}}


def request(name: str, after: float = 100.0, of: str = "node-a", said: str = "", **status: Any) -> Object:
    told = [{"type": said, "status": "True", "message": "it is too late."}] if said else []
    return {
        "metadata": {"name": name, "creationTimestamp": stamp_of(BORN + after)},
        "spec": {"signerName": SERVING, "username": f"system:node:{of}"},
        "status": {**({"conditions": told} if told else {}), **status},
    }


SIGNED: dict[str, Any] = {"said": "Approved", "certificate": "eA=="}


def sight(*requests: Object, **parts: Any) -> ClusterSnapshot:
    """Two nodes that are Ready, of which the second has its certificates."""
    names = ("a", "b")
    return whole(
        machines=[born(machine(name, f"node-{name}")) for name in names],
        nodes=[born(node(f"node-{name}")) for name in names],
        requests=[request("csr-of-b", of="node-b", **SIGNED), *requests],
        **parts,
    )


def look(seen: ClusterSnapshot, *verdicts: CsrVerdict, lasting: float = 0.0) -> Assessment:
    known = {one.name: one for one in verdicts}
    seen = MissingCertificates(FakeClock(), lambda: known).seen(seen)
    topics = assess(seen, "nodes", 0.0, {}).lines
    return assess(seen, "nodes", lasting, dict.fromkeys(topics, 0.0))


def test_a_node_is_reached_when_its_newest_serving_request_is_issued() -> None:
    assert look(sight(request("csr-a", **SIGNED))).reached
    assert look(sight(request("csr-a"), request("csr-c", 200, **SIGNED))).reached, "the older one is superseded"


MISSING: list[tuple[Object, str]] = [
    (request("csr-a"), "its node is Ready, its serving certificate waits for approval"),
    (request("csr-a", said="Approved"), "its node is Ready, its serving certificate is being signed"),
    (request("csr-a", said="Denied"), "its node is Ready, somebody has denied its serving certificate (csr-a)"),
    (request("csr-a", said="Failed"), "its node is Ready, its serving certificate could not be signed: it is too late"),
]


@pytest.mark.parametrize(("pending", "said"), MISSING)
def test_a_node_without_its_serving_certificate_is_not_reached(pending: Object, said: str) -> None:
    found = look(sight(request("csr-before", 50, **SIGNED), pending))
    assert not found.reached
    assert found.lines["machine a"] == f"machine a (node-a): {said}"
    assert found.lines[f"node pool {NAME}"] == f"node pool {NAME}: 2 of 2 nodes are Ready, 1 without a certificate"
    assert found.lines["machine b"] == "machine b (node-b): its node is Ready"


def test_what_does_not_pass_ends_the_wait_with_its_reason() -> None:
    waits = look(sight(request("csr-a")), LINK, lasting=2 * GRACE)
    assert waits.stop is None
    assert "its serving certificate waits: No providerID yet" in waits.lines["machine a"]
    wrong = look(sight(request("csr-a")), WRONG, lasting=2 * GRACE)
    assert wrong.stop is not None
    said = "machine a (node-a): its node is Ready, its serving certificate is not approved: 10.9.9.9: not among those"
    assert wrong.stop.text == said
    assert "metalshift.maas.node_csr lists" in wrong.stop.hint


def test_a_kubelet_that_asks_again_for_what_is_refused_begins_no_new_time() -> None:
    """Or a wait would never end by it: until its new request is judged, the answer is the one before."""
    known = {"csr-a": WRONG}
    missing = MissingCertificates(FakeClock(), lambda: known)
    first = missing.seen(sight(request("csr-a"))).certificates
    asked_again = sight(request("csr-a"), request("csr-c", 200))
    assert missing.seen(asked_again).certificates == first
    known["csr-c"] = replace(WRONG, name="csr-c", reason="", approved=True)
    assert "waits for approval" in str(missing.seen(asked_again).certificates)


def test_a_machine_that_is_not_let_in_says_why() -> None:
    """And ends no wait: whoever has the bootstrap identity could ask in its name."""
    verdict = CsrVerdict("csr-c", kind="client", node="node-a", machine="a").refused("age", "It came late.")
    joining = replace(sight(), machines=[born(machine("a")), born(machine("b", "node-b"))], nodes=[node("node-b")])
    found = look(joining, verdict, lasting=2 * GRACE)
    assert found.lines["machine a"] == "machine a (node-a): deployed, its certificate is not approved: It came late"
    assert found.stop is None


def test_what_a_machine_asked_in_a_former_life_says_nothing_of_it() -> None:
    assert not look(sight(request("csr-a", -300, **SIGNED))).reached
    assert look(sight(request("csr-a", -300), request("csr-c", **SIGNED))).reached


def test_a_node_that_has_not_asked_yet_is_waited_for_and_not_for_ever() -> None:
    clock = FakeClock()
    missing = MissingCertificates(clock, dict)
    assert missing.seen(sight()).certificates
    clock.sleep(ASKS_WITHIN)
    assert missing.seen(sight()).certificates == {}


def test_of_an_old_node_no_request_means_that_it_has_been_answered() -> None:
    """Kubernetes forgets what was answered within an hour."""
    old = replace(sight(), nodes=[born(node(f"node-{name}"), BORN - 3600) for name in ("a", "b")], requests=[])
    assert look(old).reached


@pytest.mark.parametrize("lost", [{"nodes": None}, {"requests": None}])
def test_an_api_that_cannot_be_read_is_said_and_not_waited_for(lost: dict[str, None]) -> None:
    clock = FakeClock()
    missing = MissingCertificates(clock, dict)
    seen = replace(sight(), **lost)
    assert not assess(missing.unread(seen), "nodes", 0.0, {}).reached
    clock.sleep(READ_WITHIN)
    assert assess(missing.unread(seen), "nodes", 0.0, {}).reached
    assert missing.lines == {"certificates": UNREAD}
    missing.seen(sight())
    assert missing.lines == {}


def test_an_api_that_is_known_to_be_silent_is_not_waited_for_at_all() -> None:
    missing = MissingCertificates(FakeClock(), dict)
    seen = replace(sight(), nodes=None, requests=None)
    assert assess(missing.unread(seen, is_silent=True), "nodes", 0.0, {}).reached
    assert missing.lines == {"certificates": UNREAD}


def test_who_waits_for_no_certificates_is_told_of_none() -> None:
    assert assess(sight(request("csr-a")), "nodes", 0.0, {}).reached
