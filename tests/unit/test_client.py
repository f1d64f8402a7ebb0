# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes over the wire, what is sent again, and what is looked up first."""

from __future__ import annotations

import socket
import time

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK
from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import Deadline
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http import client as client_module
from ansible_collections.metalshift.maas.plugins.module_utils._http.client import ATTEMPTS
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from unit.scripted_maas import Call, HastyClock, html

ZONE = {"id": 2, "name": "az1", "description": ""}
PASSING_CONFLICT = {"headers": {"Retry-After": "5"}, "text": "<html/>", "content_type": "text/html"}


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# -- requests --------------------------------------------------------------------------------------


def test_a_request_is_signed_in_plaintext_with_the_three_parts_of_the_key(play, client):
    server = play(Call("GET zones/", json=[ZONE]))
    assert client(server).get("zones/") == [ZONE]
    signature = server.seen[0].signature
    assert signature["oauth_consumer_key"] == "consumer-k"
    assert signature["oauth_token"] == "token-k"
    assert signature["oauth_signature_method"] == "PLAINTEXT"
    assert signature["oauth_signature"] == "&secret-k"
    assert server.seen[0].headers["User-Agent"] == "metalshift.maas"


def test_every_attempt_is_signed_anew(play, client):
    server = play(*[Call("GET zones/", 503, text="")] * 2, Call("GET zones/", json=[]))
    client(server).get("zones/")
    assert len({seen.signature["oauth_nonce"] for seen in server.seen}) == 3


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        (True, [("x", "true")]),
        (False, [("x", "false")]),
        (0, [("x", "0")]),
        (1.5, [("x", "1.5")]),
        (None, []),
        ("", [("x", "")]),
        (["a", "b"], [("x", "a"), ("x", "b")]),
        ([], []),
        ([True, None], [("x", "true")]),
        ("ünïcode & = +%20\r\nHost: evil", [("x", "ünïcode & = +%20\r\nHost: evil")]),
        ("x" * 300_000, [("x", "x" * 300_000)]),
    ],
    ids=lambda value: repr(value)[:25],
)
def test_values_go_in_the_form_as_maas_reads_them(play, client, value, sent):
    server = play(Call("POST zones/", form=sent, json=ZONE))
    client(server).post("zones/", {"x": value})


def test_op_and_filters_go_in_the_query(play, client):
    server = play(Call("GET machines/", query=[("op", "power_parameters"), ("id", "a"), ("id", "b")], json={}))
    client(server).get("machines/", {"id": ["a", "b"]}, op="power_parameters")
    assert "Content-Type" not in server.seen[0].headers


def test_a_post_has_its_op_in_the_query_too(play, client):
    play_ = play(Call("POST machines/", query=[("op", "allocate")], form=[("zone", "az1")], json={}))
    client(play_).post("machines/", {"zone": "az1"}, op="allocate")


def test_texts_are_utf8_whatever_the_header_says(play, client):
    server = play(Call("GET x/", 404, text="No Zöne matches the given query."))
    with pytest.raises(Failure, match="No Zöne matches"):
        client(server).get("x/")


def test_a_word_is_an_answer_too(play, client):
    server = play(Call("POST maas/", text="OK"), Call("DELETE zones/az1/", 204, text=""))
    maas = client(server)
    assert maas.post("maas/", op="set_config") == "OK"
    assert maas.delete("zones/az1/") is True


def test_requests_of_many_threads_are_all_counted_and_all_signed_differently(play, client):
    server = play(*[Call("GET zones/", json=[])] * 40)
    maas = client(server)
    assert all(value == [] for _item, value in each(range(40), lambda _item: maas.get("zones/"), at_once=8))
    assert len(maas.exchanges) == 40
    assert len({seen.signature["oauth_nonce"] for seen in server.seen}) == 40


def test_an_exchange_tells_sizes_and_status_but_no_form_values(play, client):
    server = play(Call("POST zones/", json=ZONE))
    maas = client(server)
    maas.post("zones/", {"power_pass": "hunter2"}, query={"verbose": True})
    (exchange,) = maas.exchanges
    assert (exchange.status, exchange.sent) == (200, len("power_pass=hunter2"))
    assert exchange.received > 10
    assert "hunter2" not in repr(exchange) + str(exchange)
    assert str(exchange).startswith("POST zones/?verbose=true -> 200, ")


def test_the_version_is_asked_for_once(play, client):
    server = play(Call("GET version/", json={"version": "3.6.5", "subversion": "", "capabilities": []}))
    maas = client(server)
    assert maas.capabilities.version == (3, 6)
    assert maas.capabilities.has("reserved IP addresses")


# -- reads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trouble",
    [
        {"status": 502, "text": "bad gateway"},
        {"status": 503, "text": "no capacity"},
        {"status": 504, "text": "too late"},
        {"status": 409, **PASSING_CONFLICT},
        {"status": 409, **PASSING_CONFLICT, "headers": {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}},
        {"status": 429, "text": "slow down", "headers": {"Retry-After": "1"}},
        {"breaks": True},
        {"breaks_in_body": True},
    ],
    ids=["502", "503", "504", "conflict", "conflict with a date", "429", "broken", "broken in the body"],
)
def test_a_read_is_repeated_when_that_can_help(play, client, trouble):
    server = play(Call("GET zones/", **trouble), Call("GET zones/", **trouble), Call("GET zones/", json=[ZONE]))
    assert client(server).get("zones/") == [ZONE]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 410, 413, 500])
def test_a_read_is_not_repeated_when_that_cannot_help(play, client, clock, status):
    server = play(Call("GET zones/", status, text="No X matches the given query."))
    with pytest.raises(Failure):
        client(server).get("zones/")
    assert clock.slept == []


def test_attempts_are_bounded_and_the_pauses_grow(play, client, clock):
    server = play(*[Call("GET zones/", 503, text="away")] * ATTEMPTS)
    with pytest.raises(Failure) as caught:
        client(server).get("zones/")
    assert caught.value.kind == "unavailable"
    assert len(clock.slept) == ATTEMPTS - 1
    assert [0.25, 0.5, 1, 2] <= clock.slept <= [0.5, 1, 2, 4]


def test_retry_after_is_obeyed_within_reason(play, client, clock):
    server = play(
        Call("GET zones/", 503, text="", headers={"Retry-After": "3"}),
        Call("GET zones/", 503, text="", headers={"Retry-After": "7200"}),
        Call("GET zones/", json=[]),
    )
    client(server).get("zones/")
    assert clock.slept == [3, 30]


def test_a_refused_connection_is_tried_again(client, clock):
    with pytest.raises(Failure, match="connection refused") as caught:
        client(f"http://127.0.0.1:{closed_port()}/MAAS").get("zones/")
    assert caught.value.kind == "unreachable"
    assert len(clock.slept) == ATTEMPTS - 1


def test_a_name_that_does_not_exist_is_said_at_once(client, clock):
    with pytest.raises(Failure, match="its name cannot be resolved"):
        client("http://no-such-host.invalid/MAAS").get("zones/")
    assert clock.slept == []


def test_a_server_that_is_silent_is_left_after_the_time_out(play, client):
    server = play(*[Call("GET zones/", hangs=0.5, json=[])] * ATTEMPTS)
    with pytest.raises(Failure, match=r"no answer within 0\.05 seconds"):
        client(server, read_timeout=0.05).get("zones/")


@pytest.mark.parametrize("drips", ["drips_in_head", "drips_in_body"])
def test_a_server_that_drips_is_left_after_the_time_out_too(play, client, drips):
    """Each byte comes in time, and the whole answer would take minutes."""
    server = play(Call("POST zones/", text="x" * 5000, **{drips: 0.1}))
    with pytest.raises(Failure, match=r"no answer within 0\.5 seconds"):
        client(server, read_timeout=0.5).post("zones/")


def waiting(server, seconds: float) -> Client:
    """A client of a task that waits so long at most, and of a MAAS that may take a minute for an answer."""
    deadline = Deadline(WALL_CLOCK)
    deadline.set(seconds)
    return Client(MaasConnection(base=server.url, key=ApiKey("a", "b", "c"), read_timeout=60), deadline=deadline)


def test_a_server_that_hangs_in_a_wait_is_left_when_that_ends(play, monkeypatch):
    monkeypatch.setattr(client_module, "LEAST_FOR_READS", 0.2)
    server = play(Call("GET zones/", hangs=30.0, json=[]))
    with pytest.raises(Failure, match=r"no answer within 0\.5 seconds"):
        waiting(server, 0.5).get("zones/")


@pytest.mark.parametrize(("method", "least"), [("get", "LEAST_FOR_READS"), ("post", "LEAST_FOR_WRITES")])
def test_a_request_at_the_end_of_a_wait_has_some_seconds_and_is_not_repeated(play, monkeypatch, method, least):
    monkeypatch.setattr(client_module, least, 0.3)
    server = play(Call(f"{method.upper()} zones/", hangs=30.0, json=[]))
    with pytest.raises(Failure, match=r"no answer within 0\.3 seconds"):
        getattr(waiting(server, 0.0), method)("zones/")


def test_a_pause_before_another_attempt_ends_with_the_wait(play, clock):
    deadline = Deadline(clock)
    deadline.set(3.0)
    server = play(*[Call("POST zones/", status=409, **PASSING_CONFLICT)] * 2)
    maas = Client(MaasConnection(base=server.url, key=ApiKey("a", "b", "c")), clock=clock, deadline=deadline)
    with pytest.raises(Failure, match="others kept changing"):
        maas.post("zones/")
    assert clock.slept == [3.0]


def test_a_maas_that_hangs_is_not_asked_five_times(play):
    server = play(*[Call("GET zones/", 503, text="")] * 2)
    maas = Client(
        MaasConnection(base=server.url, key=ApiKey("a", "b", "c"), read_timeout=60), clock=HastyClock(step=20)
    )
    with pytest.raises(Failure):
        maas.get("zones/")


# -- writes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trouble",
    [{"status": 409, **PASSING_CONFLICT}, {"status": 429, "text": "", "headers": {"Retry-After": "1"}}],
    ids=["conflict", "429"],
)
def test_a_write_that_was_rolled_back_is_sent_again_without_looking(play, client, trouble):
    server = play(Call("POST zones/", **trouble), Call("POST zones/", json=ZONE))
    assert client(server).post("zones/", {"name": "az1"}) == ZONE


def test_a_write_that_never_left_is_sent_again(clock):
    maas = Client(MaasConnection(base=f"http://127.0.0.1:{closed_port()}/MAAS", key=ApiKey("a", "b", "c")), clock=clock)
    with pytest.raises(Failure) as caught:
        maas.post("zones/", {"name": "az1"}, settled=lambda: pytest.fail("nothing to look up"))
    assert caught.value.kind == "unreachable"
    assert len(clock.slept) == ATTEMPTS - 1
    assert not maas.wrote


LOST = [
    pytest.param({"status": 502, "text": ""}, id="502"),
    pytest.param({"status": 503, "text": "No rack controllers can access the BMC"}, id="503"),
    pytest.param({"status": 504, "text": ""}, id="504"),
    pytest.param({"breaks": True}, id="broken"),
    pytest.param({"breaks_in_body": True}, id="broken in the body"),
]


@pytest.mark.parametrize("trouble", LOST)
def test_a_lost_answer_is_looked_up_and_the_write_not_repeated_when_it_took_effect(play, client, trouble):
    server = play(Call("POST zones/", **trouble))
    maas = client(server)
    assert maas.post("zones/", {"name": "az1"}, settled=lambda: ZONE) == ZONE
    assert maas.wrote


@pytest.mark.parametrize("trouble", LOST)
def test_a_lost_answer_is_looked_up_and_the_write_repeated_when_it_did_not(play, client, trouble):
    server = play(Call("POST zones/", **trouble), Call("POST zones/", json=ZONE))
    assert client(server).post("zones/", {"name": "az1"}, settled=lambda: None) == ZONE


@pytest.mark.parametrize("trouble", LOST)
def test_a_lost_answer_that_cannot_be_looked_up_is_said_to_be_uncertain(play, client, clock, trouble):
    server = play(Call("POST machines/", **trouble))
    maas = client(server)
    with pytest.raises(Failure, match=r"MAAS was asked to allocate a machine, and its answer was lost") as caught:
        maas.post("machines/", op="allocate")
    assert caught.value.kind == "uncertain"
    assert maas.wrote
    assert clock.slept == []


@pytest.mark.parametrize("trouble", LOST)
def test_a_repeatable_write_is_repeated(play, client, trouble):
    server = play(Call("PUT zones/az1/", **trouble), Call("PUT zones/az1/", json=ZONE))
    assert client(server).put("zones/az1/", {"description": "x"}) == ZONE


def test_a_write_that_arrives_late_is_found_when_the_repetition_is_refused(play, client):
    looks = iter([None, ZONE])
    server = play(Call("POST zones/", breaks=True), Call("POST zones/", 400, json={"name": ["already exists."]}))
    assert client(server).post("zones/", {"name": "az1"}, settled=lambda: next(looks)) == ZONE


def test_a_look_up_that_fails_leaves_the_write_uncertain(play, client):
    server = play(Call("POST zones/", breaks=True), *[Call("GET zones/az1/", 503, text="")] * ATTEMPTS)
    maas = client(server)
    with pytest.raises(Failure) as caught:
        maas.post("zones/", {"name": "az1"}, settled=lambda: maas.get("zones/az1/"))
    assert caught.value.kind == "uncertain"


@pytest.mark.parametrize("settled", [None, lambda: None], ids=["not looked up", "looked up"])
def test_a_500_is_an_answer_and_never_repeated(play, client, clock, settled):
    server = play(Call("POST machines/", 500, text="Failed talking to node's BMC"))
    with pytest.raises(Failure, match="Failed talking to node's BMC") as caught:
        client(server).post("machines/", settled=settled)
    assert (caught.value.kind, caught.value.status) == ("unavailable", 500)
    assert clock.slept == []


def test_a_500_after_the_commit_is_found(play, client):
    server = play(Call("POST machines/", 500, text="Failed talking to node's BMC"))
    assert client(server).post("machines/", settled=lambda: {"system_id": "abc"}) == {"system_id": "abc"}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409])
def test_a_refused_write_is_neither_repeated_nor_looked_up(play, client, clock, status):
    server = play(Call("POST x/", status, text="No X matches the given query."))
    maas = client(server)
    with pytest.raises(Failure):
        maas.post("x/", settled=lambda: pytest.fail("nothing to look up"))
    assert clock.slept == []
    assert not maas.wrote


def test_writes_are_bounded_too(play, client):
    server = play(*[Call("PUT zones/az1/", 503, text="")] * ATTEMPTS)
    with pytest.raises(Failure) as caught:
        client(server).put("zones/az1/", {"description": "x"})
    assert caught.value.kind == "unavailable"


def test_removing_what_is_not_there_removes_nothing(play, client):
    server = play(Call("DELETE tags/t1/", 404, text="No Tag matches the given query."))
    maas = client(server)
    assert maas.delete("tags/t1/") is False
    assert not maas.wrote


def test_what_a_lost_delete_removed_counts_as_removed(play, client):
    server = play(
        Call("DELETE tags/t1/", breaks=True), Call("DELETE tags/t1/", 404, text="No Tag matches the given query.")
    )
    maas = client(server)
    assert maas.delete("tags/t1/") is True
    assert maas.wrote


def test_no_real_time_is_spent_on_pauses(play, client):
    began = time.monotonic()
    with pytest.raises(Failure):
        client(play(*[html("GET zones/", 503)] * ATTEMPTS)).get("zones/")
    assert time.monotonic() - began < 3.5, "the pauses alone would be longer"
