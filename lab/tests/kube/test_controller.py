# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from metalshift_lab.kube.api import CONFIG_MAPS, SECRETS, Api, ApiError, Object, Objects, Resource, Unreachable, of_name
from metalshift_lab.kube.controller import Agenda, Controller, Mirror, own_key

LOG = logging.getLogger("lab.test")
SHORT = 0.15


def eventually(true: Callable[[], Any], seconds: float = 10) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.01)
    return found


# -- Agenda ---------------------------------------------------------------------------------------------------------


def take_all(agenda: Agenda[str]) -> list[str]:
    """What is due now, in order."""
    agenda.add("last", 0.001)
    found = []
    while (key := agenda.take()) != "last":
        assert key is not None
        found.append(key)
        agenda.done(key)
    agenda.done("last")
    return found


def test_keys_come_in_the_order_in_which_they_are_due() -> None:
    agenda: Agenda[str] = Agenda()
    for key, after in (("b", -1.0), ("late", 60.0), ("c", 0.0), ("a", -2.0)):
        agenda.add(key, after)
    assert take_all(agenda) == ["a", "b", "c"]


def test_a_key_that_is_due_already_is_not_added_twice() -> None:
    agenda: Agenda[str] = Agenda()
    for after in (0.0, 0.0, 0.5, -1.0, 30.0):
        agenda.add("key", after)
    assert take_all(agenda) == ["key"]
    assert take_all(agenda) == []


def test_a_key_comes_after_its_delay_and_sooner_when_there_is_a_reason() -> None:
    agenda: Agenda[str] = Agenda()
    began = time.monotonic()
    agenda.add("slow", SHORT)
    agenda.add("slow", 60)
    assert agenda.take() == "slow"
    assert time.monotonic() - began >= SHORT
    agenda.done("slow")
    agenda.add("soon", 60)
    agenda.add("soon")
    assert take_all(agenda) == ["soon"]


def test_a_waiting_worker_wakes_when_a_key_comes() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.add("far", 60)
    threading.Timer(SHORT, agenda.add, ("near",)).start()
    assert agenda.take() == "near"


def test_one_worker_at_a_time_has_a_key_and_others_go_on_with_the_rest() -> None:
    agenda: Agenda[str] = Agenda()
    agenda.add("one")
    assert agenda.take() == "one"
    agenda.add("one")
    agenda.add("two")
    assert agenda.take() == "two"
    found: list[str | None] = []
    waiting = threading.Thread(target=lambda: found.append(agenda.take()))
    waiting.start()
    waiting.join(SHORT)
    assert found == []
    agenda.done("one")
    waiting.join(5)
    assert found == ["one"], "what came meanwhile is not forgotten"


def test_an_agenda_that_ends_lets_its_workers_go() -> None:
    agenda: Agenda[str] = Agenda()
    found: list[str | None] = []
    workers = [threading.Thread(target=lambda: found.append(agenda.take())) for _number in range(3)]
    for worker in workers:
        worker.start()
    agenda.end()
    for worker in workers:
        worker.join(5)
    assert found == [None, None, None]
    agenda.add("late")
    assert agenda.take() is None


# -- Mirror ---------------------------------------------------------------------------------------------------------


class Feed:
    """A watch that a test writes: events, or an error that ends it."""

    def __init__(self) -> None:
        self._said: list[tuple[str, Object] | Exception | None] = []
        self._changed = threading.Condition()

    def say(self, what: tuple[str, Object] | Exception | None) -> None:
        """An event, an error, or None for the end."""
        with self._changed:
            self._said.append(what)
            self._changed.notify_all()

    def __iter__(self) -> Iterator[tuple[str, Object]]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._said))
                what = self._said.pop(0)
            if what is None:
                return
            if isinstance(what, Exception):
                raise what
            yield what

    def close(self) -> None:
        self.say(None)


class Server:
    """Lists and watches of one kind, as an API server that can be down."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.version = 0
        self.down: Exception | None = None
        self.watches: list[tuple[Feed, str]] = []

    def put(self, name: str, **more: Any) -> Object:
        self.version += 1
        metadata = {"name": name, "namespace": "place", "resourceVersion": str(self.version)}
        self.objects[name] = {"metadata": metadata, **more}
        return self.objects[name]

    def listing(self, _resource: Resource, _namespace: str | None, *, labels: str = "") -> tuple[Objects, str]:
        if self.down:
            raise self.down
        return list(self.objects.values()), str(self.version)

    def watch(self, _resource: Resource, _namespace: str | None, version: str, *, labels: str = "") -> Feed:
        feed = Feed()
        self.watches.append((feed, version))
        return feed

    @property
    def feed(self) -> Feed:
        return self.watches[-1][0]


class Scene:
    def __init__(self) -> None:
        self.server = Server()
        self.told: list[str] = []
        self.mirror = Mirror(cast(Api, self.server), SECRETS, None, "", LOG)
        self.mirror.listen(lambda body: self.told.append(of_name(body)))

    def begin(self, *names: str) -> None:
        for name in names:
            self.server.put(name)
        self.mirror.start()
        eventually(lambda: self.server.watches)
        assert self.told == list(names)
        self.told.clear()

    def names(self) -> list[str]:
        return [of_name(body) for body in self.mirror.all()]


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.mirror.stop()


def test_a_mirror_shows_what_is_listed_and_follows_from_there(scene: Scene) -> None:
    scene.begin("one", "two")
    assert scene.server.watches[0][1] == "2"
    feed = scene.server.feed
    feed.say(("ADDED", scene.server.put("three")))
    feed.say(("MODIFIED", scene.server.put("one", data="new")))
    feed.say(("DELETED", scene.server.objects.pop("two")))
    eventually(lambda: scene.told == ["three", "one", "two"])
    assert scene.names() == ["one", "three"]
    assert (scene.mirror.get("one", "place") or {})["data"] == "new"
    assert scene.mirror.get("one") is None, "a name is one in its namespace"
    assert scene.mirror.all("elsewhere") == []


@pytest.mark.parametrize(
    "end",
    [None, Unreachable("connection reset"), ApiError(410, "Expired", "too old resource version"), ValueError("bug")],
    ids=["server ended it", "connection broke", "too old", "unforeseen"],
)
def test_a_watch_that_ends_is_begun_anew_and_what_happened_meanwhile_is_told(
    scene: Scene, caplog: pytest.LogCaptureFixture, end: Exception | None
) -> None:
    scene.begin("stays", "changes", "goes")
    scene.server.put("changes", data="new")
    del scene.server.objects["goes"]
    scene.server.put("comes")
    scene.server.feed.say(end)
    eventually(lambda: len(scene.server.watches) == 2)
    assert sorted(scene.told) == ["changes", "comes", "goes"]
    assert scene.names() == ["stays", "changes", "comes"]
    assert scene.server.watches[1][1] == str(scene.server.version)
    traces = [record for record in caplog.records if record.exc_info]
    assert bool(traces) is isinstance(end, ValueError), "only what nobody foresaw is worth a trace"


def test_an_object_made_again_while_the_watch_was_down_is_told(scene: Scene) -> None:
    scene.begin("one")
    scene.server.put("one")
    scene.server.feed.say(None)
    eventually(lambda: scene.told == ["one"])


def test_a_server_that_is_down_is_asked_till_it_answers(scene: Scene) -> None:
    scene.begin("one")
    scene.server.down = Unreachable("refused")
    scene.server.feed.say(None)
    time.sleep(SHORT)
    assert scene.names() == ["one"], "the last sight stays while nobody answers"
    scene.server.objects.clear()
    scene.server.down = None
    eventually(lambda: scene.told == ["one"])
    assert scene.names() == []


def test_a_mirror_is_complete_once_it_was_listed(scene: Scene) -> None:
    scene.server.down = ApiError(404, "NotFound", "no such kind yet")
    scene.mirror.start()
    assert not scene.mirror.listed.wait(SHORT)
    scene.server.down = None
    assert scene.mirror.listed.wait(5)


def test_a_mirror_stops_at_once(scene: Scene) -> None:
    scene.begin()
    began = time.monotonic()
    scene.mirror.stop()
    assert time.monotonic() - began < 2


# -- Controller -----------------------------------------------------------------------------------------------------


class Worker(Controller):
    """Notes each key; does with it what the test says."""

    backoff = (0.1, 0.3)
    workers = 4

    def __init__(self, server: Server, act: Callable[[str], float | None] = lambda key: None) -> None:
        super().__init__(cast(Api, server), "test")
        self.looks: list[str] = []
        self.act = act

    def reconcile(self, key: str) -> float | None:
        self.looks.append(key)
        return self.act(key)


@pytest.fixture
def started() -> Iterator[Callable[[Worker], Worker]]:
    running: list[Worker] = []

    def start(worker: Worker) -> Worker:
        worker.start()
        running.append(worker)
        return worker

    yield start
    for worker in running:
        worker.stop()


Start = Callable[[Worker], Worker]


def test_every_object_is_looked_at_once_and_again_when_it_changes(started: Start) -> None:
    server = Server()
    server.put("one")
    server.put("two")
    worker = Worker(server)
    worker.watch(SECRETS)
    started(worker)
    eventually(lambda: sorted(worker.looks) == ["place/one", "place/two"])
    server.feed.say(("MODIFIED", server.put("two")))
    eventually(lambda: worker.looks[2:] == ["place/two"])
    assert worker.mirror(SECRETS).get("two", "place")


def test_nothing_is_looked_at_before_all_kinds_are_known(started: Start) -> None:
    server, other = Server(), Server()
    server.put("one")
    other.down = Unreachable("not yet")
    worker = Worker(server)
    worker.watch(SECRETS)
    worker.api = cast(Api, other)
    worker.watch(CONFIG_MAPS)
    started(worker)
    time.sleep(SHORT)
    assert worker.looks == []
    other.down = None
    eventually(lambda: worker.looks == ["place/one"])


def test_a_key_is_looked_at_again_when_its_reconcile_says_so(started: Start) -> None:
    pauses = iter((0.01, 0.01, None))
    worker = started(Worker(Server(), lambda _key: next(pauses)))
    worker.agenda.add("key")
    eventually(lambda: len(worker.looks) == 3)
    time.sleep(SHORT)
    assert len(worker.looks) == 3


@pytest.mark.parametrize(
    ("error", "level", "sentence"),
    [
        (ApiError(409, "Conflict", "the object has been modified"), "INFO", "the object has been modified"),
        (ApiError(500, "", ""), "INFO", "ApiError"),
        (KeyError("spec"), "ERROR", "'spec'"),
    ],
)
def test_a_failure_is_logged_and_tried_again_later_and_later(
    started: Start, caplog: pytest.LogCaptureFixture, error: Exception, level: str, sentence: str
) -> None:
    caplog.set_level(logging.INFO, "lab.test")
    left = iter([error] * 4)

    def act(_key: str) -> float | None:
        if (failure := next(left, None)) is not None:
            raise failure
        return None

    worker = started(Worker(Server(), act))
    worker.agenda.add("key")
    eventually(lambda: len(worker.looks) == 5)
    said = [record.getMessage() for record in caplog.records if record.name == "lab.test"]
    assert said == [f"key: {sentence}; again in {pause} s" for pause in (0.1, 0.2, 0.3, 0.3)]
    assert {record.levelname for record in caplog.records if record.name == "lab.test"} == {level}
    assert all(bool(record.exc_info) is (level == "ERROR") for record in caplog.records)


def test_one_object_that_fails_does_not_keep_others_waiting(started: Start) -> None:
    def act(key: str) -> float | None:
        if key == "bad":
            raise RuntimeError("always")
        return None

    worker = started(Worker(Server(), act))
    worker.agenda.add("bad")
    worker.agenda.add("good")
    eventually(lambda: "good" in worker.looks and worker.looks.count("bad") > 2)


def test_no_key_is_looked_at_by_two_workers_at_once(started: Start) -> None:
    busy: list[str] = []
    clashes: list[str] = []

    def act(key: str) -> float | None:
        clashes.extend(busy.count(key) * [key])
        busy.append(key)
        time.sleep(0.01)
        busy.remove(key)
        return None

    worker = started(Worker(Server(), act))
    for number in range(60):
        worker.agenda.add(f"key-{number % 3}")
        time.sleep(0.002)
    eventually(lambda: len(worker.looks) > 5 and not busy)
    assert clashes == []


def test_a_stopped_controller_looks_at_nothing_more() -> None:
    worker = Worker(Server(), lambda _key: 0.01)
    worker.watch(SECRETS)
    worker.start()
    worker.agenda.add("key")
    eventually(lambda: worker.looks)
    worker.stop()
    count = len(worker.looks)
    time.sleep(SHORT)
    assert len(worker.looks) == count


def test_a_key_names_the_namespace_where_there_is_one() -> None:
    assert own_key({"metadata": {"name": "n", "namespace": "place"}}) == ["place/n"]
    assert own_key({"metadata": {"name": "n"}}) == ["n"]
