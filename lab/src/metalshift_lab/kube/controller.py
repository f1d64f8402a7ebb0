# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every stand-in that acts on objects is made of: mirrors of kinds, and a loop that looks at one key at a time."""

from __future__ import annotations

import heapq
import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from metalshift_lab.kube.api import Api, ApiError, Object, Resource, Unreachable, Watch, of_name, of_namespace

Key = TypeVar("Key", bound=Hashable)
Chooser = Callable[[Object], Iterable[str]]


def own_key(body: Object) -> list[str]:
    """NAMESPACE/NAME, or NAME alone for what has no namespace."""
    namespace = of_namespace(body)
    return [f"{namespace}/{of_name(body)}" if namespace else of_name(body)]


class Mirror:
    """The objects of one kind as they are now, kept by a watch in a thread."""

    def __init__(self, api: Api, resource: Resource, namespace: str | None, labels: str, log: logging.Logger) -> None:
        self.resource = resource
        self._api, self._namespace, self._labels, self._log = api, namespace, labels, log
        self._objects: dict[tuple[str | None, str], Object] = {}
        self._lock = threading.Lock()
        self._watch: Watch | None = None
        self._ended = threading.Event()
        self.listed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"mirror {resource}", daemon=True)
        self._listeners: list[Callable[[Object], None]] = []

    def listen(self, listener: Callable[[Object], None]) -> None:
        """Call this with each object that comes, changes or goes, in the mirror's thread."""
        self._listeners.append(listener)

    def get(self, name: str, namespace: str | None = None) -> Object | None:
        with self._lock:
            return self._objects.get((namespace, name))

    def all(self, namespace: str | None = None) -> list[Object]:
        with self._lock:
            return [body for (where, _name), body in self._objects.items() if namespace is None or where == namespace]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._watch is not None:
            self._watch.close()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(5)

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._follow(self._relist())
            except (ApiError, Unreachable) as error:
                # A kind that is not there yet, a server that restarts, a watch too old: look again.
                self._log.debug("the watch of %s ended: %s", self.resource, error)
                self._ended.wait(0.5)
            except Exception:  # a mirror that ends unseen would show its last sight for ever
                self._log.exception("the watch of %s failed", self.resource)
                self._ended.wait(0.5)

    def _relist(self) -> str:
        items, version = self._api.listing(self.resource, self._namespace, labels=self._labels)
        now = {(of_namespace(body), of_name(body)): body for body in items}
        with self._lock:
            before, self._objects = self._objects, now
        changed = [
            body
            for key, body in now.items()
            if key not in before or before[key]["metadata"]["resourceVersion"] != body["metadata"]["resourceVersion"]
        ]
        for body in (*changed, *(body for key, body in before.items() if key not in now)):
            self._tell(body)
        self.listed.set()
        return version

    def _follow(self, version: str) -> None:
        self._watch = self._api.watch(self.resource, self._namespace, version, labels=self._labels)
        if self._ended.is_set():
            return
        for event, body in self._watch:
            key = (of_namespace(body), of_name(body))
            with self._lock:
                if event == "DELETED":
                    self._objects.pop(key, None)
                else:
                    self._objects[key] = body
            self._tell(body)

    def _tell(self, body: Object) -> None:
        for listener in self._listeners:
            listener(body)


class Agenda(Generic[Key]):
    """Keys that are due now or later; each is worked on by one thread at a time, and never twice for one reason."""

    def __init__(self) -> None:
        self._due: dict[Key, float] = {}
        self._heap: list[tuple[float, int, Key]] = []
        self._count = 0
        self._taken: set[Key] = set()
        self._changed = threading.Condition()
        self._ended = False

    def add(self, key: Key, after: float = 0.0) -> None:
        """Look at the key then, unless it is due earlier already."""
        when = time.monotonic() + after
        with self._changed:
            if key in self._due and self._due[key] <= when:
                return
            self._due[key] = when
            self._count += 1
            heapq.heappush(self._heap, (when, self._count, key))
            self._changed.notify()

    def take(self) -> Key | None:
        """The next key that is due, when it is; None when the agenda has ended."""
        with self._changed:
            while not self._ended:
                now, wait = time.monotonic(), None
                later = []
                found: Key | None = None
                while self._heap and found is None:
                    when, _count, key = self._heap[0]
                    if self._due.get(key) != when:
                        heapq.heappop(self._heap)
                    elif when > now:
                        wait = when - now
                        break
                    elif key in self._taken:
                        later.append(heapq.heappop(self._heap))
                    else:
                        heapq.heappop(self._heap)
                        found = key
                for entry in later:
                    heapq.heappush(self._heap, entry)
                if found is not None:
                    del self._due[found]
                    self._taken.add(found)
                    return found
                self._changed.wait(wait)
        return None

    def done(self, key: Key) -> None:
        with self._changed:
            self._taken.discard(key)
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()


class Controller:
    """Mirrors some kinds and reconciles keys. `reconcile` says after how many seconds it looks again, if at all.

    An exception is one line in the log, and the key is tried again with growing pauses.
    """

    #: Seconds before the second try, and at most between two tries.
    backoff = (0.2, 5.0)
    #: Failures that are part of life: logged as a sentence, without a trace.
    expected: tuple[type[Exception], ...] = (ApiError, Unreachable)
    workers = 1

    def __init__(self, api: Api, name: str) -> None:
        self.api, self.name = api, name
        self.log = logging.getLogger(f"lab.{name}")
        self.agenda: Agenda[str] = Agenda()
        self._mirrors: dict[Resource, Mirror] = {}
        self._failures: dict[str, int] = {}
        self._threads: list[threading.Thread] = []
        self.ended = threading.Event()

    def watch(
        self, resource: Resource, *, namespace: str | None = None, labels: str = "", key: Chooser = own_key
    ) -> Mirror:
        """Keep a mirror of this kind; each change puts the keys that `key` names on the agenda."""
        mirror = Mirror(self.api, resource, namespace, labels, self.log)

        def put_on_agenda(body: Object) -> None:
            for each in key(body):
                self.agenda.add(each)

        mirror.listen(put_on_agenda)
        self._mirrors[resource] = mirror
        return mirror

    def mirror(self, resource: Resource) -> Mirror:
        return self._mirrors[resource]

    def reconcile(self, key: str) -> float | None:
        raise NotImplementedError

    def start(self) -> None:
        for mirror in self._mirrors.values():
            mirror.start()
        for number in range(self.workers):
            thread = threading.Thread(target=self._work, name=f"{self.name} {number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        self.ended.set()
        self.agenda.end()
        for mirror in self._mirrors.values():
            mirror.stop()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(10)

    def _work(self) -> None:
        # No key is looked at before all mirrors are complete: what is missing would be taken for gone.
        while not all(mirror.listed.wait(0.2) for mirror in self._mirrors.values()):
            if self.ended.is_set():
                return
        while (key := self.agenda.take()) is not None:
            try:
                again = self.reconcile(key)
                self._failures.pop(key, None)
                if again is not None:
                    self.agenda.add(key, again)
            except Exception as error:  # a stand-in must go on whatever one object does to it
                self._failed(key, error)
            finally:
                self.agenda.done(key)

    def _failed(self, key: str, error: Exception) -> None:
        tries = self._failures[key] = self._failures.get(key, 0) + 1
        first, most = self.backoff
        after = min(first * 2.0 ** min(tries - 1, 60), most)
        expected = isinstance(error, self.expected)
        self.log.log(
            logging.INFO if expected else logging.ERROR,
            "%s: %s; again in %.1f s",
            key,
            str(error) or type(error).__name__,
            after,
            exc_info=not expected,
        )
        self.agenda.add(key, after)
