# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watching: what is known follows what is there, through time-outs, expiry and lost servers, without polling."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._kube import watch as watching
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import MACHINES, NODE_POOLS, NODES
from ansible_collections.metalshift.maas.plugins.module_utils._kube.watch import Place, Watching
from unit.kube.watched_api import BREAK, WatchedApi, refusal

PLACE: Place = (NODE_POOLS, "clusters")
PATH = NODE_POOLS.path("clusters")
OTHER: Place = (MACHINES, "clusters-demo")
OTHER_PATH = MACHINES.path("clusters-demo")


@pytest.fixture
def api() -> Iterator[WatchedApi]:
    server = WatchedApi()
    yield server
    server.stop()


@pytest.fixture
def watch(api: WatchedApi) -> Iterator[Callable[..., Watching]]:
    """Watch the places of the server."""
    opened: list[Watching] = []

    def begin(*places: Place) -> Watching:
        opened.append(Watching(Kube.from_kubeconfig(api.kubeconfig), places or (PLACE,)))
        return opened[-1]

    yield begin
    for each in opened:
        each.close()


def until(watched: Watching, holds: Callable[[], object]) -> None:
    """Wait for changes until it holds: no look but after news."""
    deadline = time.monotonic() + 20
    while not holds():
        assert watched.changed(max(deadline - time.monotonic(), 0.0)), "nothing changed any more"


def names(watched: Watching, place: Place = PLACE) -> list[str]:
    return sorted(watched.snapshot(*place))


def test_what_comes_changes_and_goes_is_followed(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    api.put(PATH, "one")
    watched = watch()
    until(watched, lambda: names(watched) == ["one"])
    api.put(PATH, "two")
    until(watched, lambda: names(watched) == ["one", "two"])
    api.put(PATH, "two", spec={"replicas": 3})
    until(watched, lambda: watched.snapshot(*PLACE)["two"].get("spec") == {"replicas": 3})
    api.remove(PATH, "one")
    until(watched, lambda: names(watched) == ["two"])
    assert api.lists(PATH) == len(api.watches(PATH)) == 1


def test_a_place_is_complete_only_when_it_was_listed(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    watched = watch(PLACE, OTHER)
    until(watched, lambda: watched.complete)
    assert watched.listed(*PLACE)
    assert watched.listed(*OTHER)
    assert not watched.snapshot(*PLACE)


def test_a_snapshot_stays_as_it_was(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    api.put(PATH, "one")
    watched = watch()
    until(watched, lambda: names(watched) == ["one"])
    before = watched.snapshot(*PLACE)
    api.put(PATH, "two")
    until(watched, lambda: len(names(watched)) == 2)
    assert list(before) == ["one"]


def test_objects_of_all_namespaces_do_not_cover_each_other(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    path = NODE_POOLS.path()
    for namespace in ("a", "b"):
        api.put(path, "same", namespace=namespace)
    watched = watch((NODE_POOLS, ""))
    until(watched, lambda: watched.listed(NODE_POOLS))
    assert names(watched, (NODE_POOLS, "")) == ["a/same", "b/same"]


def test_kinds_without_namespace_have_plain_names(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    api.put(NODES.path(), "node-1")
    watched = watch((NODES, ""))
    until(watched, lambda: names(watched, (NODES, "")) == ["node-1"])


def test_a_watch_that_timed_out_goes_on_where_it_was(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    watched = watch()
    assert api.watched(PATH)
    last = api.put(PATH, "one")
    until(watched, lambda: names(watched) == ["one"])
    api.end_watches()
    assert api.watched(PATH, times=2)
    api.put(PATH, "two")
    until(watched, lambda: names(watched) == ["one", "two"])
    assert api.watches(PATH) == ["100", last["metadata"]["resourceVersion"]]
    assert api.lists(PATH) == 1


def test_nothing_that_happens_between_two_watches_is_missed(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    api.put(PATH, "one")
    watched = watch()
    assert api.watched(PATH)
    api.end_watches()
    api.remove(PATH, "one")
    api.put(PATH, "two")
    until(watched, lambda: names(watched) == ["two"])


def test_a_bookmark_moves_the_version_and_is_no_news(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    watched = watch()
    assert api.watched(PATH)
    until(watched, lambda: watched.complete)
    watched.changed(0)
    version = api.bookmark(PATH)
    assert not watched.changed(0.2)
    api.end_watches()
    assert api.watched(PATH, times=2)
    assert api.watches(PATH)[1] == version
    assert not watched.snapshot(*PLACE)


def test_an_expired_version_is_listed_anew(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    api.put(PATH, "one")
    watched = watch()
    assert api.watched(PATH)
    api.end_watches()
    api.remove(PATH, "one")
    api.put(PATH, "two")
    api.forget()
    until(watched, lambda: names(watched) == ["two"])
    assert api.watched(PATH, times=3)
    assert api.lists(PATH) == 2
    assert not watched.troubles


def test_a_version_that_expires_while_it_is_watched_is_listed_anew(
    api: WatchedApi, watch: Callable[..., Watching]
) -> None:
    watched = watch()
    assert api.watched(PATH)
    api.say(PATH, {"type": "ERROR", "object": refusal(410, "Expired", "too old resource version: 1 (2)")})
    assert api.watched(PATH, times=2)
    assert api.lists(PATH) == 2
    assert not watched.troubles


def test_a_broken_connection_is_no_trouble_when_the_server_is_there(
    api: WatchedApi, watch: Callable[..., Watching]
) -> None:
    watched = watch()
    assert api.watched(PATH)
    until(watched, lambda: watched.complete)
    api.end_watches(BREAK)
    assert api.watched(PATH, times=2)
    api.put(PATH, "one")
    until(watched, lambda: names(watched) == ["one"])
    assert watched.lost is None
    assert api.lists(PATH) == 1


def test_a_lost_server_is_one_trouble_and_over_when_it_is_back(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    watched = watch(PLACE, OTHER)
    assert api.watched(PATH)
    assert api.watched(OTHER_PATH)
    api.stop()
    until(watched, lambda: watched.lost)
    lost = watched.lost
    assert lost is not None
    assert lost.failure.kind == "unreachable"
    api.start()
    until(watched, lambda: watched.lost is None)
    api.put(PATH, "one")
    api.put(OTHER_PATH, "two")
    until(watched, lambda: names(watched) == ["one"] and names(watched, OTHER) == ["two"])
    assert api.lists(PATH) == api.lists(OTHER_PATH) == 1


def test_a_server_is_lost_till_all_of_it_is_back(
    api: WatchedApi, watch: Callable[..., Watching], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LONGEST_REST", 0.05)
    watched = watch(PLACE, OTHER)
    assert api.watched(PATH)
    assert api.watched(OTHER_PATH)
    api.stop()
    until(watched, lambda: watched.lost)
    lost = watched.lost
    api.refusals[OTHER_PATH] = refusal(429, "TooManyRequests", "storage is (re)initializing")
    api.start()
    api.put(PATH, "one")
    until(watched, lambda: names(watched) == ["one"])
    assert watched.lost == lost
    del api.refusals[OTHER_PATH]
    until(watched, lambda: watched.lost is None)


def test_one_kind_that_cannot_be_read_is_no_loss(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    watched = watch(PLACE, OTHER)
    assert api.watched(PATH)
    api.refusals[PATH] = refusal(429, "TooManyRequests", "storage is (re)initializing")
    api.end_watches()
    until(watched, lambda: watched.troubles)
    assert list(watched.troubles) == [PLACE]
    assert watched.lost is None


def test_the_time_of_a_loss_is_that_of_its_beginning(
    api: WatchedApi, watch: Callable[..., Watching], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LONGEST_REST", 0.05)
    watched = watch()
    assert api.watched(PATH)
    api.stop()
    until(watched, lambda: watched.lost)
    first = watched.lost
    watched.changed(0)
    assert not watched.changed(0.5), "a further failure of the same kind is no news"
    assert watched.lost == first


def test_a_server_that_is_lost_is_asked_ever_less_often(watch: Callable[..., Watching], api: WatchedApi) -> None:
    watched = watch(PLACE, OTHER)
    until(watched, lambda: watched.complete)
    rests = [watching.FIRST_REST]
    while rests[-1] < watching.LONGEST_REST:
        rests.append(min(rests[-1] * 2, watching.LONGEST_REST))
    # Half an hour without a server: some hundred requests for each watch, not thousands.
    assert len(rests) + (1800 - sum(rests)) / watching.LONGEST_REST < 400


def test_a_kind_that_the_server_lacks_has_no_objects(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    api.refusals[PATH] = refusal(404, "NotFound", "the server could not find the requested resource")
    watched = watch(PLACE, OTHER)
    until(watched, lambda: watched.complete)
    assert watched.listed(*PLACE)
    assert not watched.snapshot(*PLACE)
    assert not watched.troubles


def test_a_kind_that_comes_later_is_seen(
    api: WatchedApi, watch: Callable[..., Watching], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LONGEST_REST_REFUSED", 0.05)
    api.refusals[PATH] = refusal(404, "NotFound", "the server could not find the requested resource")
    watched = watch()
    until(watched, lambda: watched.complete)
    api.put(PATH, "one")
    del api.refusals[PATH]
    until(watched, lambda: names(watched) == ["one"])


def test_what_may_not_be_read_is_told_and_the_rest_is_watched(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    api.refusals[PATH] = refusal(403, "Forbidden", 'nodepools is forbidden: User "u" cannot list resource "nodepools"')
    api.put(OTHER_PATH, "m")
    watched = watch(PLACE, OTHER)
    until(watched, lambda: watched.complete and names(watched, OTHER))
    assert {place: trouble.failure.kind for place, trouble in watched.troubles.items()} == {PLACE: "forbidden"}
    assert watched.lost is None
    assert not watched.listed(*PLACE)


def test_an_idle_watch_sends_nothing(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    watched = watch(PLACE, OTHER)
    assert api.watched(PATH)
    assert api.watched(OTHER_PATH)
    until(watched, lambda: watched.complete)
    watched.changed(0)
    before = len(api.requests)
    for _look in range(50):
        watched.snapshot(*PLACE)
    assert not watched.changed(0.5)
    assert len(api.requests) == before == 4


def test_closing_ends_every_thread(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    before = set(threading.enumerate())
    watched = watch(PLACE, OTHER)
    mine = {thread for thread in set(threading.enumerate()) - before if thread.name.startswith("watch ")}
    assert len(mine) == 2
    assert all(thread.daemon for thread in mine)
    assert api.watched(PATH)
    assert api.watched(OTHER_PATH)
    watched.close()
    for thread in mine:
        thread.join(5)
    assert not any(thread.is_alive() for thread in mine)


def test_closing_ends_those_that_rest(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    before = set(threading.enumerate())
    api.refusals[PATH] = refusal(403, "Forbidden", "no")
    watched = watch()
    until(watched, lambda: watched.complete)
    (thread,) = [each for each in set(threading.enumerate()) - before if each.name.startswith("watch ")]
    watched.close()
    thread.join(5)
    assert not thread.is_alive()


def test_a_defect_in_a_thread_is_raised_to_whoever_looks(api: WatchedApi, watch: Callable[..., Watching]) -> None:
    watched = watch()
    assert api.watched(PATH)
    until(watched, lambda: watched.complete)
    watched.changed(0)
    api.say(PATH, {"type": "ADDED", "object": {"metadata": {"resourceVersion": "9"}}})
    assert watched.changed(10)
    with pytest.raises(KeyError):
        watched.snapshot(*PLACE)
