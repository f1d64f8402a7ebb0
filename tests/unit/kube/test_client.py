# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes over the wire to a Kubernetes API, what is sent again, and what a refusal is turned into."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK
from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import Deadline
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http import client as client_module
from ansible_collections.metalshift.maas.plugins.module_utils._http.client import ATTEMPTS
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Expired, Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure import errors
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import CONFIG_MAPS, NODE_POOLS, SECRETS
from unit.scripted_maas import Call, FakeClock, ScriptedMaas

POOLS = "/apis/hypershift.openshift.io/v1beta1/namespaces/clusters/nodepools"
POOL = {
    "apiVersion": NODE_POOLS.api,
    "kind": "NodePool",
    "metadata": {"name": "demo", "namespace": "clusters"},
    "spec": {"replicas": 2},
}
SEEN = {**POOL, "metadata": {"name": "demo", "namespace": "clusters", "resourceVersion": "8"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "demo", "namespace": "clusters"}}

Play = Callable[..., ScriptedMaas]


def status(code: int, reason: str, message: str, **details: Any) -> dict[str, Any]:
    """The Status with which the API refuses."""
    said = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message}
    return {**said, "code": code, "details": details}


def kube(server: ScriptedMaas, clock: FakeClock | None = None, **params: Any) -> Kube:
    reach = {"host": f"http://127.0.0.1:{server.port}", "api_key": "token-t", **params}
    return Kube(Access.from_params(reach, {}), clock=clock or FakeClock())


# -- what is sent ----------------------------------------------------------------------------------


def test_an_apply_goes_under_our_name_strictly_and_never_by_force(play: Play) -> None:
    server = play(Call(f"PATCH {POOLS}/demo", json=POOL))
    assert kube(server).apply(POOL) == POOL
    seen = server.seen[0]
    assert dict(seen.query) == {"fieldManager": "metalshift.maas", "fieldValidation": "Strict"}
    assert seen.headers["Content-Type"] == "application/apply-patch+yaml"
    assert seen.headers["authorization"] == "Bearer token-t"
    assert json.loads(seen.body) == POOL


def test_a_dry_run_says_so_and_is_no_write(play: Play) -> None:
    server = play(Call(f"PATCH {POOLS}/demo", json=POOL))
    api = kube(server)
    api.apply(POOL, dry_run=True)
    assert ("dryRun", "All") in server.seen[0].query
    assert not api.wrote
    assert "dryRun=All" in api.exchanges[0].query


def test_a_list_is_read_in_pages_and_its_items_say_what_they_are(play: Play) -> None:
    first = {"metadata": {"continue": "more", "resourceVersion": "7"}, "items": [{"metadata": {"name": "a"}}]}
    last = {"metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "b"}}]}
    server = play(Call(f"GET {POOLS}", json=first), Call(f"GET {POOLS}", json=last))
    listing = kube(server).listing(NODE_POOLS, "clusters")
    assert [(each["kind"], each["metadata"]["name"]) for each in listing.items] == [
        ("NodePool", "a"),
        ("NodePool", "b"),
    ]
    assert listing.version == "7"
    assert ("continue", "more") in server.seen[1].query


def test_pages_that_grew_too_old_are_read_anew(play: Play) -> None:
    first = {"metadata": {"continue": "more", "resourceVersion": "7"}, "items": [{"metadata": {"name": "a"}}]}
    whole = {"metadata": {"resourceVersion": "9"}, "items": [{"metadata": {"name": "b"}}]}
    expired = Call(
        f"GET {POOLS}", status=410, json=status(410, "Expired", "The provided continue parameter is too old")
    )
    server = play(Call(f"GET {POOLS}", json=first), expired, Call(f"GET {POOLS}", json=whole))
    assert [each["metadata"]["name"] for each in kube(server).list(NODE_POOLS, "clusters")] == ["b"]


def test_an_approval_keeps_what_the_request_says(play: Play) -> None:
    request = {"metadata": {"name": "csr-1", "resourceVersion": "3"}, "spec": {"username": "u"}, "status": {}}
    path = "/apis/certificates.k8s.io/v1/certificatesigningrequests/csr-1/approval"
    server = play(Call(f"PUT {path}", json=request))
    kube(server).approve(request, reason="KnownMachine", message="It is node-1.")
    sent = json.loads(server.seen[0].body)
    assert sent["metadata"]["resourceVersion"] == "3"
    assert [each["type"] for each in sent["status"]["conditions"]] == ["Approved"]


def test_only_that_very_object_is_deleted(play: Play) -> None:
    gone = Call(f"DELETE {POOLS}/demo", status=409, json=status(409, "Conflict", "Precondition failed: UID"))
    server = play(gone)
    assert kube(server).delete(NODE_POOLS, "demo", "clusters", uid="u-1") is False
    assert json.loads(server.seen[0].body)["preconditions"] == {"uid": "u-1"}


def test_somebody_may_be_impersonated_with_all_groups(play: Play) -> None:
    server = play(Call("GET /version", json={"gitVersion": "v1.34.4"}))
    api = kube(server, impersonate_user="jo", impersonate_groups=["a", "b"])
    assert api.version["gitVersion"] == "v1.34.4"
    assert server.seen[0].headers["Impersonate-User"] == "jo"


# -- what is sent again ----------------------------------------------------------------------------


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_a_passing_failure_is_waited_out(play: Play, clock: FakeClock, code: int) -> None:
    server = play(
        Call(f"GET {POOLS}/demo", status=code, json=status(code, "Whatever", "not now")),
        Call(f"GET {POOLS}/demo", json=POOL),
    )
    assert kube(server, clock).get(NODE_POOLS, "demo", "clusters") == POOL
    assert clock.slept


def test_a_server_says_when_to_come_back(play: Play, clock: FakeClock) -> None:
    busy = Call(f"GET {POOLS}/demo", status=429, json=status(429, "TooManyRequests", "x"), headers={"Retry-After": "3"})
    kube(play(busy, Call(f"GET {POOLS}/demo", json=POOL)), clock).get(NODE_POOLS, "demo", "clusters")
    assert clock.slept == [3.0]


def test_patience_ends(play: Play) -> None:
    failing = Call(f"GET {POOLS}/demo", status=503, json=status(503, "ServiceUnavailable", "etcd is away"))
    with pytest.raises(Failure, match="etcd is away") as caught:
        kube(play(*[failing] * ATTEMPTS)).get(NODE_POOLS, "demo", "clusters")
    assert caught.value.kind == "unavailable"


def test_a_value_of_a_wrong_type_is_refused_at_once(play: Play) -> None:
    """The API answers a 500, as if it were its own fault."""
    said = status(500, "", "failed to create typed patch object (x): .spec.replicas: expected numeric")
    with pytest.raises(Failure, match="expected numeric") as caught:
        kube(play(Call(f"PATCH {POOLS}/demo", status=500, json=said))).apply(POOL)
    assert caught.value.kind == "rejected"


APPROVAL = "/apis/certificates.k8s.io/v1/certificatesigningrequests/csr-1"
REQUEST: dict[str, Any] = {"metadata": {"name": "csr-1", "resourceVersion": "3"}, "spec": {}, "status": {}}
APPROVED = {"type": "Approved", "status": "True", "reason": "KnownMachine", "message": "It is node-1."}


@pytest.mark.parametrize("lost", [{"breaks": True}, {"status": 503, "json": status(503, "", "etcd")}])
def test_an_approval_whose_answer_was_lost_is_found(play: Play, lost: dict[str, Any]) -> None:
    approved = {**REQUEST, "status": {"conditions": [APPROVED]}}
    modified = Call(f"PUT {APPROVAL}/approval", status=409, json=status(409, "Conflict", "has been modified"))
    server = play(Call(f"PUT {APPROVAL}/approval", **lost), modified, Call(f"GET {APPROVAL}", json=approved))
    assert kube(server).approve(REQUEST, reason="KnownMachine", message="It is node-1.") == approved


@pytest.mark.parametrize("conditions", [[], [{**APPROVED, "reason": "AutoApproved"}], [{**APPROVED, "type": "Denied"}]])
def test_what_others_say_of_a_request_is_no_approval_of_ours(play: Play, conditions: list[dict[str, Any]]) -> None:
    modified = Call(f"PUT {APPROVAL}/approval", status=409, json=status(409, "Conflict", "has been modified"))
    server = play(modified, Call(f"GET {APPROVAL}", json={**REQUEST, "status": {"conditions": conditions}}))
    with pytest.raises(Failure, match="has been modified"):
        kube(server).approve(REQUEST, reason="KnownMachine", message="It is node-1.")


@pytest.mark.parametrize("lost", [{"breaks": True}, {"status": 504, "json": status(504, "Timeout", "timed out")}])
def test_a_created_object_whose_answer_was_lost_is_found(play: Play, lost: dict[str, Any]) -> None:
    server = play(
        Call(f"POST {POOLS}", **lost),
        Call(f"POST {POOLS}", status=409, json=status(409, "AlreadyExists", "exists", name="demo")),
        Call(f"GET {POOLS}/demo", json=POOL),
    )
    assert kube(server).create(POOL) == POOL


@pytest.mark.parametrize("before", [[], [Call(f"POST {POOLS}", status=429, json=status(429, "", "later"))]])
def test_an_object_of_somebody_else_is_not_taken_for_the_one_created(play: Play, before: list[Call]) -> None:
    server = play(
        *before, Call(f"POST {POOLS}", status=409, json=status(409, "AlreadyExists", 'nodepools "demo" already exists'))
    )
    with pytest.raises(Failure, match="already exists") as caught:
        kube(server).create(POOL)
    assert caught.value.kind == "conflict"


def test_a_lost_answer_to_a_write_counts_as_a_write(play: Play) -> None:
    api = kube(play(Call(f"PATCH {POOLS}/demo", breaks=True), Call(f"PATCH {POOLS}/demo", json=POOL)))
    api.apply(POOL)
    assert api.wrote


def test_a_creation_that_cannot_be_looked_up_is_uncertain(play: Play) -> None:
    server = play(
        Call(f"POST {POOLS}", breaks=True),
        Call(f"POST {POOLS}", status=409, json=status(409, "AlreadyExists", "exists", name="demo")),
        Call(f"GET {POOLS}/demo", status=403, json=status(403, "Forbidden", "nodepools is forbidden")),
    )
    with pytest.raises(Failure, match="was asked to create the NodePool clusters/demo, its answer was lost") as caught:
        kube(server).create(POOL)
    assert caught.value.kind == "uncertain"


# -- in time ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("drips", ["drips_in_head", "drips_in_body"])
def test_an_answer_that_drips_is_given_up(play: Play, drips: str) -> None:
    """Each byte comes in time, and the whole answer would take minutes."""
    server = play(*[Call(f"GET {POOLS}/demo", text="x" * 5000, **{drips: 0.1})] * ATTEMPTS)  # type: ignore[arg-type]
    access = Access.from_params({"host": f"http://127.0.0.1:{server.port}", "api_key": "token-t"}, {})
    with pytest.raises(Failure, match=r"no answer within 0\.5 seconds"):
        Kube(access, clock=FakeClock(), read_timeout=0.5).get(NODE_POOLS, "demo", "clusters")


def test_a_request_ends_with_the_wait_of_its_task(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "LEAST_FOR_READS", 0.2)
    server = play(Call(f"GET {POOLS}/demo", hangs=30.0, json=POOL))
    access = Access.from_params({"host": f"http://127.0.0.1:{server.port}", "api_key": "token-t"}, {})
    deadline = Deadline(WALL_CLOCK)
    deadline.set(0.0)
    with pytest.raises(Failure, match=r"no answer within 0\.2 seconds"):
        Kube(access, deadline=deadline).get(NODE_POOLS, "demo", "clusters")


# -- what is not there -----------------------------------------------------------------------------


def test_an_object_that_is_not_there_is_none(play: Play) -> None:
    missing = status(404, "NotFound", 'nodepools "demo" not found', name="demo")
    assert kube(play(Call(f"GET {POOLS}/demo", status=404, json=missing))).get(NODE_POOLS, "demo", "clusters") is None


def test_a_kind_that_is_not_served_has_no_objects(play: Play) -> None:
    server = play(Call(f"GET {POOLS}", status=404, text="404 page not found"))
    assert kube(server).list(NODE_POOLS, "clusters") == []


def test_what_is_served_is_asked_once(play: Play) -> None:
    server = play(Call("GET /api/v1", json={"resources": [{"name": "secrets"}]}))
    api = kube(server)
    assert (api.serves(SECRETS), api.serves(CONFIG_MAPS)) == (True, False)


# -- watching --------------------------------------------------------------------------------------


def test_a_watch_yields_what_changes_and_ends_with_the_server(play: Play) -> None:
    lines = "".join(json.dumps({"type": kind, "object": SEEN}) + "\n" for kind in ("ADDED", "MODIFIED"))
    server = play(Call(f"GET {POOLS}", text=lines, content_type="application/json"))
    assert [kind for kind, _body in kube(server).watch(NODE_POOLS, "clusters", "7")] == ["ADDED", "MODIFIED"]
    assert ("resourceVersion", "7") in server.seen[0].query


TOO_OLD = json.dumps({"type": "ERROR", "object": status(410, "Expired", "too old resource version")}) + "\n"


@pytest.mark.parametrize(
    "call",
    [
        Call(f"GET {POOLS}", status=410, json=status(410, "Expired", "too old resource version: 1 (9)")),
        Call(f"GET {POOLS}", text=TOO_OLD, content_type="application/json"),
    ],
    ids=["when it is opened", "on the way"],
)
def test_a_version_that_is_too_old_is_said(play: Play, call: Call) -> None:
    with pytest.raises(Expired):
        list(kube(play(call)).watch(NODE_POOLS, "clusters", "1"))


@pytest.mark.parametrize(
    "line",
    ["<html>Good morning</html>", "[]", "{}", '{"type": "ADDED"}', '{"type": "ADDED", "object": {"metadata": {}}}'],
)
def test_who_streams_something_else_is_no_kubernetes(play: Play, line: str) -> None:
    server = play(Call(f"GET {POOLS}", text=f"{line}\n", content_type="application/json"))
    with pytest.raises(Failure, match="is not a Kubernetes API"):
        list(kube(server).watch(NODE_POOLS, "clusters", "1"))


@pytest.mark.parametrize("chunked", [True, False], ids=["in chunks", "as a proxy passes it on"])
def test_a_change_is_heard_before_the_next_one_comes(chunked: bool) -> None:
    event = json.dumps({"type": "ADDED", "object": SEEN}).encode() + b"\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
    said = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(event), event) if chunked else b"\r\n" + event
    with socket.create_server(("127.0.0.1", 0)) as listening:
        access = {"host": f"http://127.0.0.1:{listening.getsockname()[1]}", "api_key": "token-t"}
        api = Kube(Access.from_params(access, {}))
        with ThreadPoolExecutor(1) as reader:
            opened = reader.submit(api.watch, NODE_POOLS, "clusters", "7")
            connection, _address = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(head + said)
                stream = opened.result(10)
                heard = reader.submit(next, iter(stream))
                # The connection stays open, and nothing else comes on it.
                assert heard.result(10)[0] == "ADDED"
                stream.close()
    assert api.exchanges[0].received == len(event)


# -- what is said ----------------------------------------------------------------------------------


def test_a_conflict_names_who_keeps_the_field() -> None:
    said = status(
        409,
        "Conflict",
        'Apply failed with 1 conflict: conflict with "kubectl-scale" using x.io/v1beta1: .spec.replicas',
        causes=[
            {"reason": "FieldManagerConflict", "message": 'conflict with "kubectl-scale"', "field": ".spec.replicas"}
        ],
    )
    failure = errors.from_answer("apply the NodePool clusters/demo", errors.KubeAnswer(409, body=said), "https://api")
    assert failure.kind == "conflict"
    assert "spec.replicas is kept by kubectl-scale" in str(failure)


def test_a_refused_secret_is_not_quoted(play: Play) -> None:
    said = status(422, "Invalid", 'Secret "demo" is invalid: data[x]: Invalid value: "s3cr3t"')
    with pytest.raises(Failure) as caught:
        kube(play(Call("PATCH /api/v1/namespaces/clusters/secrets/demo", status=422, json=said))).apply(SECRET)
    assert "s3cr3t" not in str(caught.value) + str(caught.value.to_dict())


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (401, "Unauthorized", "credentials"),
        (403, 'nodepools is forbidden: User "jo" cannot list', "forbidden"),
        (
            403,
            'pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4',
            "capacity",
        ),
        (404, 'namespaces "clusters" not found', "not_found"),
        (422, "NodePool is invalid: spec.replicas: Required value", "rejected"),
        (405, "the server does not allow this method", "unsupported"),
        (503, "etcd", "unavailable"),
    ],
)
def test_each_status_is_a_kind_of_failure(code: int, message: str, kind: str) -> None:
    answer = errors.KubeAnswer(code, body=status(code, "", message))
    assert errors.from_answer("list nodepools", answer, "https://api").kind == kind


def test_what_is_no_kubernetes_is_said(play: Play) -> None:
    server = play(Call("GET /version", text="<html>Hello</html>", content_type="text/html"))
    with pytest.raises(Failure, match="not a Kubernetes API"):
        assert kube(server).version


# -- how it is reached -----------------------------------------------------------------------------


def kubeconfig(server: str, **user: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


def test_a_kubeconfig_may_be_given_whole_or_by_its_path(play: Play, tmp_path: Path) -> None:
    version = Call("GET /version", json={"gitVersion": "v1"})
    server = play(*[version] * 5)
    whole = kubeconfig(f"http://127.0.0.1:{server.port}", token="token-k")
    file = tmp_path / "config"
    file.write_text(json.dumps(whole))
    for given in (whole, str(file), json.dumps(whole), json.dumps(whole, indent=2), f"---\n{yaml.safe_dump(whole)}"):
        assert Kube(Access.from_params({"kubeconfig": given}, {})).version == {"gitVersion": "v1"}
    assert {seen.headers["authorization"] for seen in server.seen} == {"Bearer token-k"}


def test_the_usual_variable_names_the_kubeconfig(play: Play, tmp_path: Path) -> None:
    server = play(Call("GET /version", json={"gitVersion": "v1"}))
    file = tmp_path / "config"
    file.write_text(json.dumps(kubeconfig(f"http://127.0.0.1:{server.port}", token="t")))
    assert Kube(Access.from_params({}, {"KUBECONFIG": str(file)})).version


def test_a_password_is_sent_as_such(play: Play) -> None:
    server = play(Call("GET /version", json={"gitVersion": "v1"}))
    params = {"host": f"http://127.0.0.1:{server.port}", "username": "jo", "password": "pw"}
    assert Kube(Access.from_params(params, {})).version
    assert server.seen[0].headers["authorization"] == f"Basic {base64.b64encode(b'jo:pw').decode()}"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"kubeconfig": "/nowhere/config"}, "no kubeconfig at /nowhere/config"),
        ({"kubeconfig": {"clusters": []}}, "cannot be used"),
        ({"host": "api.example.com", "api_key": "t"}, "not a URL"),
        ({"host": "https://api", "api_key": "t", "ca_cert": "/nowhere/ca.crt"}, "ca_cert names a file"),
    ],
)
def test_what_cannot_be_reached_so_is_one_sentence(params: dict[str, Any], words: str) -> None:
    with pytest.raises(Failure, match=words) as caught:
        Access.from_params(params, {})
    assert caught.value.kind == "invalid"


def test_a_file_that_is_no_kubeconfig_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("users: [{token: s3cr3t\n")
    with pytest.raises(Failure, match="not a kubeconfig") as caught:
        Access.from_params({"kubeconfig": str(file)}, {})
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    "params",
    [
        {"kubeconfig": "apiVersion: v1\nusers: [{user: {token: s3cr3t\n"},
        {"kubeconfig": '{"users": [{"user": {"token": "s3cr3t"}}]}'},
        {"kubeconfig": yaml.safe_dump({**kubeconfig("https://x", token="s3cr3t"), "current-context": "other"})},
        {"host": "https://x", "api_key": "t", "client_key": "-----BEGIN PRIVATE KEY-----\ns3cr3t\n"},
    ],
)
def test_a_text_that_cannot_be_used_is_not_shown(params: dict[str, Any]) -> None:
    with pytest.raises(Failure, match=r"the one given|holds the content of a file") as caught:
        Access.from_params(params, {})
    assert "s3cr3t" not in str(caught.value)


def test_nobody_at_home_is_said() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    params = {"host": f"http://127.0.0.1:{port}", "api_key": "t"}
    with pytest.raises(Failure, match="connection refused") as caught:
        assert Kube(Access.from_params(params, {}), clock=FakeClock()).version
    assert caught.value.kind == "unreachable"
