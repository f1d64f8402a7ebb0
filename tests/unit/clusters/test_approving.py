# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import copy
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates import approval
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    BOOTSTRAP_GROUPS,
    BOOTSTRAP_USER,
    CsrVerdict,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.wait import Approval
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from unit.conftest import KEY
from unit.kube.pem import signing_request
from unit.scripted_maas import Call, FakeClock, ScriptedMaas

BORN, ASKED, NOW = "2026-01-01T00:00:00Z", "2026-01-01T00:03:00Z", "2026-01-01T00:04:00Z"
NODE, SYSTEM_ID = "worker-1.maas", "abc123"


def at(stamp: str) -> float:
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).astimezone(timezone.utc).timestamp()


MAAS_MACHINE: Object = {
    "metadata": {"name": "pool-abc", "namespace": "clusters-demo", "creationTimestamp": BORN},
    "spec": {"providerID": f"maas:///az1/{SYSTEM_ID}", "image": "custom/rhcos"},
    "status": {"hostname": "worker-1", "addresses": [{"type": "InternalDNS", "address": NODE}]},
}
MACHINE: Object = {
    "metadata": {"name": "pool-abc", "creationTimestamp": BORN},
    "spec": {"infrastructureRef": {"kind": "MaasMachine", "name": "pool-abc"}},
    "status": {},
}
IN_MAAS: dict[str, Any] = {
    "system_id": SYSTEM_ID,
    "hostname": "worker-1",
    "fqdn": NODE,
    "status": 6,
    "owner": "capi",
    "osystem": "custom",
    "distro_series": "rhcos",
    "zone": {"name": "az1"},
    "ip_addresses": ["10.0.0.5"],
    "workload_annotations": {},
}
REQUEST: Object = {
    "metadata": {"name": "csr-1", "creationTimestamp": ASKED},
    "spec": {
        "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
        "username": BOOTSTRAP_USER,
        "groups": sorted(BOOTSTRAP_GROUPS),
        "usages": ["digital signature", "client auth"],
        "request": signing_request(NODE),
    },
    "status": {},
}
SIGHT = ClusterSnapshot(
    "clusters", "demo", machines=[MACHINE], maas_machines=[MAAS_MACHINE], nodes=[], requests=[REQUEST]
)


def changed(body: Object, *path: str, to: Any) -> Object:
    """A copy in which one thing is otherwise."""
    new = copy.deepcopy(body)
    inner = new
    for name in path[:-1]:
        inner = inner.setdefault(name, {})
    inner[path[-1]] = to
    return new


def only(sight: ClusterSnapshot, machines: Mapping[str, Any] | None = None, owners: Collection[str] = ()) -> CsrVerdict:
    found = approval.look(sight, {SYSTEM_ID: IN_MAAS} if machines is None else machines, owners, at(NOW))
    assert len(found) == 1
    return found[0]


def test_a_machine_that_maas_and_the_cluster_know_is_vouched_for() -> None:
    found = only(SIGHT)
    assert found.approved, found
    assert (found.machine, found.system_id, found.node, found.age) == ("pool-abc", SYSTEM_ID, NODE, 60.0)


def test_a_machine_that_is_being_installed_is_vouched_for() -> None:
    assert only(SIGHT, {SYSTEM_ID: {**IN_MAAS, "status": 9}}).approved


def test_a_machine_that_maas_has_marked_as_the_clusters_is_vouched_for() -> None:
    marks = {"metalshift_cluster": "clusters/demo", "metalshift_node_pool": "pool"}
    assert only(SIGHT, {SYSTEM_ID: {**IN_MAAS, "workload_annotations": marks}}).approved


OTHERWISE: list[tuple[str, Mapping[str, Any]]] = [
    ("not_deployed", {"status": 4, "owner": ""}),
    ("not_deployed", {"status": 10}),
    ("not_deployed", {"status": 11}),
    ("not_deployed", {"status": 17}),
    ("not_deployed", {"status": 8}),
    ("held", {"owner": ""}),
    ("held", {"workload_annotations": {"metalshift_claim": "storage"}}),
    ("held", {"workload_annotations": {"metalshift_cluster": "clusters/other"}}),
    ("held", {"distro_series": "noble", "osystem": "ubuntu"}),
    ("doubtful", {"zone": {"name": "az2"}}),
    ("unknown_machine", {"hostname": "worker-2", "fqdn": "worker-2.maas"}),
]


@pytest.mark.parametrize(("reason", "machine"), OTHERWISE)
def test_what_maas_says_otherwise_is_a_reason(reason: str, machine: Mapping[str, Any]) -> None:
    found = only(SIGHT, {SYSTEM_ID: {**IN_MAAS, **machine}})
    assert (found.approved, found.reason) == (False, reason), found.message


def test_what_another_user_of_maas_holds_is_not_vouched_for() -> None:
    """As far as it is known who the provider is."""
    assert only(SIGHT, owners=("capi", "me")).approved
    found = only(SIGHT, owners=("me",))
    assert (found.approved, found.reason) == (False, "held")
    assert "the MAAS user capi holds it, and not me" in found.message


def test_a_machine_that_maas_does_not_know_is_told() -> None:
    found = only(SIGHT, {})
    assert (found.approved, found.reason, found.system_id) == (False, "not_in_maas", SYSTEM_ID)


FAILED = [{"type": "MachineDeployed", "status": "False", "reason": "MachineDeployFailed"}]
ELSEWHERE: list[tuple[str, Callable[[ClusterSnapshot], ClusterSnapshot]]] = [
    ("unknown_machine", lambda seen: replace(seen, maas_machines=[])),
    ("unknown_machine", lambda seen: replace(seen, maas_machines=[changed(MAAS_MACHINE, "spec", to={})])),
    ("leaving", lambda seen: replace(seen, machines=[])),
    ("leaving", lambda seen: replace(seen, machines=[changed(MACHINE, "metadata", "deletionTimestamp", to=NOW)])),
    (
        "leaving",
        lambda seen: replace(seen, maas_machines=[changed(MAAS_MACHINE, "metadata", "deletionTimestamp", to=NOW)]),
    ),
    (
        "ambiguous",
        lambda seen: replace(seen, maas_machines=[MAAS_MACHINE, changed(MAAS_MACHINE, "metadata", "name", to="x")]),
    ),
    (
        "doubtful",
        lambda seen: replace(seen, maas_machines=[changed(MAAS_MACHINE, "status", "conditions", to=FAILED)]),
    ),
    ("held", lambda seen: replace(seen, maas_machines=[changed(MAAS_MACHINE, "status", "hostname", to="other")])),
    ("node_exists", lambda seen: replace(seen, nodes=[{"metadata": {"name": NODE}, "spec": {}}])),
    (
        "node_exists",
        lambda seen: replace(seen, machines=[changed(MACHINE, "status", "nodeRef", to={"name": NODE})]),
    ),
    (
        "age",
        lambda seen: replace(
            seen, machines=[changed(MACHINE, "metadata", "creationTimestamp", to="2025-12-31T21:00:00Z")]
        ),
    ),
    ("unreadable", lambda seen: replace(seen, requests=[changed(REQUEST, "spec", "request", to="bm90IHBlbQ==")])),
    ("unreadable", lambda seen: replace(seen, requests=[changed(REQUEST, "spec", "request", to=None)])),
    ("signer", lambda seen: replace(seen, requests=[changed(REQUEST, "spec", "signerName", to="example.com/x")])),
]


@pytest.mark.parametrize(("reason", "otherwise"), ELSEWHERE)
def test_what_the_cluster_says_otherwise_is_a_reason(
    reason: str, otherwise: Callable[[ClusterSnapshot], ClusterSnapshot]
) -> None:
    found = only(otherwise(SIGHT))
    assert (found.approved, found.reason) == (False, reason), found.message


def test_what_somebody_has_decided_is_left_out() -> None:
    for kind in ("Approved", "Denied", "Failed"):
        decided = changed(REQUEST, "status", "conditions", to=[{"type": kind, "status": "True"}])
        assert approval.look(replace(SIGHT, requests=[decided]), {}) == []


def test_a_sight_without_the_hosted_api_has_no_requests() -> None:
    assert approval.look(replace(SIGHT, nodes=None, requests=None), {}) == []


# -- while something waits ------------------------------------------------------------------------------------------

ASKS_MAAS = Call("GET machines/", json=[IN_MAAS])
CLUSTER_OBJECT = Call(
    "GET /apis/hypershift.openshift.io/v1beta1/namespaces/clusters/hostedclusters/demo",
    json={"spec": {"platform": {"maas": {"identityRef": {"name": "keys"}}}}},
)


def secret_of(url: str, key: str, place: str = "clusters-demo") -> Call:
    data = {"MAAS_ENDPOINT": url, "MAAS_API_KEY": key}
    coded = {name: base64.b64encode(value.encode()).decode() for name, value in data.items()}
    return Call(f"GET /api/v1/namespaces/{place}/secrets/keys", json={"metadata": {"name": "keys"}, "data": coded})


def unread(place: str) -> Call:
    path = f"/api/v1/namespaces/{place}/secrets/keys"
    return Call(f"GET {path}", 403, json={"kind": "Status", "code": 403, "reason": "Forbidden", "message": "No."})


# Who may not read the key of the provider cannot tell who holds its machines.
NOBODY_KNOWN = (CLUSTER_OBJECT, unread("clusters-demo"))
NO_NODE = Call(
    f"GET /api/v1/nodes/{NODE}", 404, json={"kind": "Status", "code": 404, "details": {"name": NODE, "kind": "nodes"}}
)
APPROVAL = "PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/csr-1/approval"
MODIFIED = {
    "kind": "Status",
    "code": 409,
    "reason": "Conflict",
    "message": 'Operation cannot be fulfilled on certificatesigningrequests.certificates.k8s.io "csr-1": the object '
    "has been modified; please apply your changes to the latest version and try again",
}
SAID = {"request csr-1": f"certificate request csr-1 of {NODE}: approved (client)"}


def beside_a_wait(server: ScriptedMaas) -> Approval:
    """What approves beside a wait; the same server is MAAS and the hosted API."""
    hosted = Kube(
        Access.from_params({"host": f"http://127.0.0.1:{server.port}", "api_key": "t"}, {}), clock=FakeClock()
    )
    options = {
        "maas_endpoint": server.url,
        "maas_api_key": ":".join(vars(KEY).values()),
        "maas_ca_cert": None,
        "maas_validate_certs": True,
        "maas_timeout": 5.0,
        "host": f"http://127.0.0.1:{server.port}",
        "api_key": "t",
    }
    return Approval(Task(options, environment={}), lambda: hosted, knows_maas=True)


def test_what_was_approved_is_not_approved_again(play: Callable[..., ScriptedMaas]) -> None:
    """Though a watch that is late shows it as it was, and its node beside it."""
    approved = beside_a_wait(play(ASKS_MAAS, *NOBODY_KNOWN, NO_NODE, Call(APPROVAL, json=REQUEST)))
    assert approved.waiting(SIGHT)
    done = approved.approve(SIGHT)
    assert (done.lines, done.again) == (SAID, False)
    late = replace(SIGHT, nodes=[{"metadata": {"name": NODE}, "spec": {}}])
    assert approved.waiting(late) is None
    assert approved.approve(late).lines == SAID


def test_a_request_that_changed_is_looked_at_again_and_nothing_is_said(play: Callable[..., ScriptedMaas]) -> None:
    ask = (ASKS_MAAS, *NOBODY_KNOWN, NO_NODE)
    refused = (
        Call(APPROVAL, 409, json=MODIFIED),
        Call(APPROVAL.removesuffix("/approval").replace("PUT", "GET"), json=REQUEST),
    )
    approved = beside_a_wait(play(*ask, *refused, *ask, Call(APPROVAL, json=REQUEST)))
    done = approved.approve(SIGHT)
    assert (done.lines, done.again) == ({}, True)
    assert approved.waiting(SIGHT)
    assert approved.approve(SIGHT).lines == SAID


def test_who_holds_the_machines_is_asked_once_in_a_wait(play: Callable[..., ScriptedMaas]) -> None:
    """And what another user holds is not approved."""
    script = [ASKS_MAAS, CLUSTER_OBJECT, Call("GET users/", json={"username": "me"}), ASKS_MAAS]
    server = play(*script)
    key = ":".join(vars(KEY).values())
    server.script[2:2] = [secret_of(server.url, key, place) for place in ("clusters-demo", "clusters")]
    approved = beside_a_wait(server)
    for _time in range(2):
        line = approved.approve(SIGHT).lines[f"request client {NODE}"]
        assert "the MAAS user capi holds it, and not me" in line


# -- those who ask again ----------------------------------------------------------------------------------------------


def later(minutes: int) -> Object:
    """Another request of the same machine."""
    stamp = f"2026-01-01T00:{minutes}:00Z"
    again = changed(REQUEST, "metadata", to={"name": f"csr-{minutes}", "creationTimestamp": stamp})
    return changed(again, "spec", "request", to=signing_request(NODE))


def test_a_refusal_is_told_once_however_often_the_kubelet_asks(play: Callable[..., ScriptedMaas]) -> None:
    """And what it has asked before is a number, told when it has doubled."""
    elsewhere = Call("GET machines/", json=[{**IN_MAAS, "status": 4, "owner": ""}])
    approved = beside_a_wait(play(*(elsewhere, *NOBODY_KNOWN) * 8))
    requests, lines = [REQUEST], []
    for minutes in range(20, 28):
        requests.append(later(minutes))
        lines.append(approved.approve(replace(SIGHT, requests=requests)).lines)
    assert {each[f"request client {NODE}"] for each in lines} == {
        f"certificate request csr-20 of {NODE}: waits: MAAS says that worker-1 (abc123) is Ready"
    }
    counted = [each["requests superseded"] for each in lines]
    assert list(dict.fromkeys(counted)) == [
        f"certificate requests: {number} older ones do not count any more" for number in (1, 2, 4, 8)
    ]


def test_what_an_answer_has_superseded_asks_nobody_for_anything(play: Callable[..., ScriptedMaas]) -> None:
    answered = changed(later(30), "status", to={"conditions": [{"type": "Approved", "status": "True"}]})
    seen = replace(SIGHT, requests=[REQUEST, later(20), answered])
    assert beside_a_wait(play()).waiting(seen) is None
    found = approval.look(seen, {})
    assert [(one.name, one.superseded) for one in found] == [("csr-1", True), ("csr-20", True)]


def test_a_machine_that_asks_with_another_key_is_told_with_what_to_do(play: Callable[..., ScriptedMaas]) -> None:
    """In a wait, though the watch does not know of the first approval yet."""
    server = play(ASKS_MAAS, *NOBODY_KNOWN, NO_NODE, Call(APPROVAL, json=REQUEST), ASKS_MAAS, *NOBODY_KNOWN)
    approved = beside_a_wait(server)
    assert approved.approve(SIGHT).lines == SAID
    done = approved.approve(replace(SIGHT, requests=[REQUEST, later(20)]))
    assert "csr-1 has had a certificate for this deployment of the machine" in done.lines[f"request client {NODE}"]
    assert approved.verdicts["csr-20"].reason == "issued"
