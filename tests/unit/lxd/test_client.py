# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes over the wire to LXD, what is sent again, what is waited for, and what a refusal is turned into."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import ATTEMPTS, Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import LxdConnection
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.objects import Objects
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.kinds import POOLS
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust import store
from unit.lxd.conftest import Papers, Play, hello, refused, said
from unit.scripted_maas import Call, FakeClock, html

Start = Callable[..., Lxd]

PROJECTS = Call("GET /1.0/projects", json=said(["/1.0/projects/default"]))
CREATED = Call("POST /1.0/projects", 201, json=said())
BREAKS = Call("POST /1.0/projects", breaks=True)
BODY = {"name": "x"}


def create(lxd: Lxd, **settings: Any) -> Any:
    return lxd.post("projects", BODY, what="create the project x", **settings)


# -- what is sent ----------------------------------------------------------------------------------


def test_what_is_sent_is_counted_with_its_first_question(lxd: Start) -> None:
    client = lxd(PROJECTS)
    assert client.get("projects") == ["/1.0/projects/default"]
    assert [(each.method, each.path, each.status) for each in client.exchanges] == [
        ("GET", "/1.0", 200),
        ("GET", "/1.0/projects", 200),
    ]


def test_nothing_is_sent_before_the_first_use(play: Play, papers: Papers) -> None:
    server = play()
    where = {"lxd_endpoint": f"https://127.0.0.1:{server.port}"}
    Lxd(LxdConnection.from_params({**papers.params, **where}, {}))
    assert server.seen == []


def test_a_body_goes_as_json_and_its_etag_with_it(play: Play, papers: Papers) -> None:
    server = play(
        hello(),
        Call("GET /1.0/profiles/x", json=said({"name": "x"}), headers={"ETag": "abc"}, query=[("project", "maas")]),
        Call("PUT /1.0/profiles/x", json=said()),
        certificate=str(papers.server),
    )
    where = {"lxd_endpoint": f"https://127.0.0.1:{server.port}"}
    client = Lxd(LxdConnection.from_params({**papers.params, **where}, {}))
    seen = client.find("profiles/x", {"project": "maas"})
    assert seen
    client.put("profiles/x", {"description": "d"}, what="change the profile x", etag=seen.etag)
    assert client.wrote
    assert server.seen[-1].headers["If-Match"] == "abc"
    assert json.loads(server.seen[-1].body) == {"description": "d"}


def test_exchanges_hold_nothing_of_a_body(lxd: Start) -> None:
    client = lxd(CREATED)
    create(client)
    assert "x" not in json.dumps([str(each) for each in client.exchanges])


def test_a_redirect_is_not_followed(lxd: Start) -> None:
    client = lxd(first=Call("GET /1.0", 301, text="", headers={"Location": "https://elsewhere.invalid/"}))
    with pytest.raises(Failure, match="does not look like LXD: it redirects to somewhere else"):
        client.get("projects")


# -- what is sent again ----------------------------------------------------------------------------

AGAIN: list[Call] = [
    Call("GET /1.0/projects", breaks=True),
    Call("GET /1.0/projects", breaks_in_body=True),
    Call("GET /1.0/projects", 502, json=refused(502, "no")),
    Call("GET /1.0/projects", 503, json=refused(503, "LXD is shutting down")),
    html("GET /1.0/projects", 504),
]


@pytest.mark.parametrize("trouble", AGAIN, ids=["breaks", "breaks in body", "502", "503", "504 of a proxy"])
def test_a_read_is_repeated(lxd: Start, clock: FakeClock, trouble: Call) -> None:
    client = lxd(trouble, trouble, PROJECTS)
    assert client.get("projects")
    assert len(clock.slept) == 2


@pytest.mark.parametrize("status", [400, 403, 500, 501])
def test_a_read_that_is_refused_is_not_repeated(lxd: Start, clock: FakeClock, status: int) -> None:
    client = lxd(Call("GET /1.0/projects", status, json=refused(status, "no")))
    with pytest.raises(Failure, match="refused to show projects: no"):
        client.get("projects")
    assert clock.slept == []


def test_the_first_question_is_repeated_too(lxd: Start, clock: FakeClock) -> None:
    client = lxd(hello(), CREATED, first=Call("GET /1.0", 503, json=refused(503, "starting")))
    create(client)
    assert len(clock.slept) == 1


def test_a_write_that_could_not_even_begin_is_none(lxd: Start) -> None:
    client = lxd(*[Call("GET /1.0", 503, json=refused(503, "starting"))] * (ATTEMPTS - 1), first=BREAKS_HELLO)
    with pytest.raises(Failure) as caught:
        create(client)
    assert caught.value.kind == "unavailable"
    assert not client.wrote


BREAKS_HELLO = Call("GET /1.0", breaks=True)


def test_attempts_end(lxd: Start, clock: FakeClock) -> None:
    client = lxd(*[Call("GET /1.0/projects", 503, json=refused(503, "starting"))] * ATTEMPTS)
    with pytest.raises(Failure, match="failed to show projects: starting") as caught:
        client.get("projects")
    assert caught.value.kind == "unavailable"
    assert len(clock.slept) == ATTEMPTS - 1


def test_a_server_that_says_when_to_come_back_is_obeyed(lxd: Start, clock: FakeClock) -> None:
    busy = Call("GET /1.0/projects", 503, json=refused(503, "busy"), headers={"Retry-After": "7"})
    assert lxd(busy, PROJECTS).get("projects")
    assert clock.slept == [7.0]


def test_a_lost_write_is_looked_up_before_it_is_sent_again(lxd: Start) -> None:
    client = lxd(BREAKS, Call("GET /1.0/projects/x", 404, json=refused(404, "Project not found")), CREATED)
    create(client, settled=lambda: client.find("projects/x"))


def test_a_lost_write_that_took_effect_is_not_sent_again(lxd: Start) -> None:
    client = lxd(BREAKS, Call("GET /1.0/projects/x", json=said({"name": "x"})))
    assert create(client, settled=lambda: client.find("projects/x")).body == {"name": "x"}
    assert client.wrote


def test_a_write_that_a_proxy_did_not_see_the_end_of_is_looked_up(lxd: Start) -> None:
    client = lxd(html("POST /1.0/projects", 504), Call("GET /1.0/projects/x", json=said({"name": "x"})))
    assert create(client, settled=lambda: client.find("projects/x")).body == {"name": "x"}


def test_a_lost_write_that_arrives_late_is_found_when_the_second_is_refused(lxd: Start) -> None:
    client = lxd(
        BREAKS,
        Call("GET /1.0/projects/x", 404, json=refused(404, "Project not found")),
        Call("POST /1.0/projects", 409, json=refused(409, "A project named x already exists")),
        Call("GET /1.0/projects/x", json=said({"name": "x"})),
    )
    assert create(client, settled=lambda: client.find("projects/x")).body == {"name": "x"}


def test_a_lost_write_that_cannot_be_looked_up_is_uncertain(lxd: Start) -> None:
    client = lxd(BREAKS)
    with pytest.raises(Failure, match="was asked to create the project x, its answer was lost") as caught:
        create(client)
    assert caught.value.kind == "uncertain"
    assert client.wrote


def test_a_removal_that_was_lost_and_then_finds_nothing_has_removed_it(lxd: Start) -> None:
    gone = Call("DELETE /1.0/projects/x", 404, json=refused(404, "Project not found"))
    client = lxd(Call("DELETE /1.0/projects/x", breaks=True), gone)
    assert client.delete("projects/x", what="remove the project x")


def test_a_removal_of_nothing_is_said(lxd: Start) -> None:
    client = lxd(Call("DELETE /1.0/projects/x", 404, json=refused(404, "Project not found")))
    assert not client.delete("projects/x", what="remove the project x")


# -- what is waited for ----------------------------------------------------------------------------


def begun(number: str = "op-1") -> Call:
    path = f"/1.0/operations/{number}"
    running = {"type": "async", "operation": path, "metadata": {"id": number, "status_code": 103}}
    return Call("POST /1.0/projects", 202, json=running)


def ended(code: int, err: str = "", number: str = "op-1") -> Call:
    return Call(f"GET /1.0/operations/{number}/wait", json=said({"id": number, "status_code": code, "err": err}))


def test_an_operation_is_waited_for(lxd: Start) -> None:
    assert create(lxd(begun(), ended(103), ended(200)))["status_code"] == 200


def test_an_operation_is_not_waited_for_longer_than_allowed(lxd: Start, clock: FakeClock) -> None:
    client = lxd(begun(), ended(103))
    with pytest.raises(Failure, match="create the project x and is still at it after 0 seconds") as caught:
        create(client, timeout=0)
    assert caught.value.kind == "timeout"


def test_an_operation_that_failed_says_why(lxd: Start) -> None:
    client = lxd(begun(), ended(400, 'Project "x" already exists'))
    with pytest.raises(Failure, match='refused to create the project x: Project "x" already exists') as caught:
        create(client)
    assert caught.value.kind == "conflict"


GONE = Call("GET /1.0/operations/op-1/wait", 404, json=refused(404, "not found"))


def test_an_operation_that_lxd_forgot_is_looked_up(lxd: Start) -> None:
    client = lxd(begun(), GONE, Call("GET /1.0/projects/x", json=said({"name": "x"})))
    assert create(client, settled=lambda: client.find("projects/x")).body == {"name": "x"}


def test_an_operation_that_lxd_forgot_and_that_cannot_be_looked_up_is_uncertain(lxd: Start) -> None:
    with pytest.raises(Failure, match="LXD no longer knows how that ended") as caught:
        create(lxd(begun(), GONE))
    assert caught.value.kind == "uncertain"


def test_an_operation_is_returned_as_it_begins_if_it_is_not_waited_for(lxd: Start) -> None:
    assert create(lxd(begun()), waits=False)["id"] == "op-1"


# -- what is said ----------------------------------------------------------------------------------


def test_a_client_that_is_not_trusted_is_told_so(lxd: Start) -> None:
    client = lxd(Call("GET /1.0/projects", 403, json=refused(403, "not authorized")), first=hello("untrusted"))
    with pytest.raises(Failure, match=r"does not trust the client certificate [0-9a-f]{12}\.") as caught:
        client.get("projects")
    assert caught.value.kind == "credentials"


def test_a_client_that_may_not_is_told_so(lxd: Start) -> None:
    client = lxd(Call("GET /1.0/projects", 403, json=refused(403, "Certificate is restricted to project")))
    with pytest.raises(Failure, match="refused to show projects: Certificate is restricted") as caught:
        client.get("projects")
    assert caught.value.kind == "forbidden"


@pytest.mark.parametrize(
    "words", ["Project not found", 'Failed loading project "nope": Project not found', "project not found"]
)
def test_a_project_that_is_not_there_is_no_missing_object(lxd: Start, words: str) -> None:
    client = lxd(Call("GET /1.0/profiles/x", 404, json=refused(404, words)))
    with pytest.raises(Failure, match="has no project nope") as caught:
        client.find("profiles/x", {"project": "nope"})
    assert caught.value.kind == "not_found"


def test_an_object_that_is_not_there_is_none(lxd: Start) -> None:
    assert lxd(Call("GET /1.0/profiles/x", 404, json=refused(404, "Profile not found"))).find("profiles/x") is None


@pytest.mark.parametrize(
    "stranger",
    [
        html("GET /1.0", 200),
        html("GET /1.0", 404),
        Call("GET /1.0", 200, json={"hello": "world"}),
        Call("GET /1.0", 200, json=said(None)),
        Call("GET /1.0", 200, json=[1]),
        Call("GET /1.0", 401, json={"kind": "Status"}),
    ],
    ids=["a page", "a page of 404", "other JSON", "nothing", "a list", "Kubernetes"],
)
def test_who_is_not_lxd_is_told_apart(lxd: Start, stranger: Call) -> None:
    with pytest.raises(Failure, match="does not look like LXD: ") as caught:
        lxd(first=stranger).get("projects")
    assert caught.value.kind == "unreachable"


def test_nobody_there_is_one_sentence(papers: Papers, clock: FakeClock) -> None:
    where = {"lxd_endpoint": "https://127.0.0.1:9"}
    with pytest.raises(Failure, match="does not answer: connection refused") as caught:
        Lxd(LxdConnection.from_params({**papers.params, **where}, {}), clock=clock).get("projects")
    assert caught.value.kind == "unreachable"
    assert len(clock.slept) == ATTEMPTS - 1


def test_an_unknown_name_is_not_tried_again(papers: Papers, clock: FakeClock) -> None:
    where = {"lxd_endpoint": "https://lxd.invalid"}
    with pytest.raises(Failure, match="its name cannot be resolved"):
        Lxd(LxdConnection.from_params({**papers.params, **where}, {}), clock=clock).get("projects")
    assert clock.slept == []


def test_who_became_trusted_knows_it(lxd: Start) -> None:
    """What is refused afterwards is not for want of trust."""
    client = lxd(Call("POST /1.0/certificates", 201, json=said()), hello(), first=hello("untrusted"))
    assert not client.trusted
    store.enrol(client, "jo", "a-token", is_token=True)
    assert client.trusted


def pool(status: str) -> Call:
    return Call("GET /1.0/storage-pools/x", json=said({"name": "x", "status": status}))


def test_a_lost_creation_that_lxd_has_not_finished_is_not_taken_for_done(lxd: Start) -> None:
    again = Call("POST /1.0/storage-pools", 409, json=refused(409, "The storage pool already exists"))
    client = lxd(Call("POST /1.0/storage-pools", breaks=True), pool("Pending"), again, pool("Created"))
    Objects(client, POOLS).create("x", {"driver": "dir"})


def test_that_something_else_exists_is_a_refusal(lxd: Start) -> None:
    client = lxd(
        Call("POST /1.0/storage-pools", 500, json=refused(500, "Directory /x already exists")),
        Call("GET /1.0/storage-pools/x", 404, json=refused(404, "Storage pool not found")),
    )
    with pytest.raises(Failure, match="refused to create the storage pool x: Directory /x already exists"):
        Objects(client, POOLS).create("x", {"driver": "dir"})


def test_an_lxd_without_settings_hides_none(lxd: Start) -> None:
    client = lxd()
    assert (client.restricted, client.settings) == (False, {})


def test_a_restricted_client_sees_no_settings(lxd: Start) -> None:
    client = lxd(first=Call("GET /1.0", json=said({"auth": "trusted", "config": None, "api_extensions": []})))
    assert client.restricted
    with pytest.raises(Failure, match="hides the settings of LXD itself") as caught:
        print(client.settings)
    assert caught.value.kind == "forbidden"
