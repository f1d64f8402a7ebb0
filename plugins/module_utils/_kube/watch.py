# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects as they are now, kept by one watch for each kind and namespace, whatever their number.

Each watch has a thread of its own, which displays nothing and never ends the task: what goes wrong is kept for whoever
looks, and tried again. A server's time-out costs one request, an expired version one list.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Expired, Kube, Stream
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object, ObjectKind

Place = tuple[ObjectKind, str]

# A server that does not answer is asked again after this long, then after twice as long, up to the longest.
FIRST_REST = 0.2
LONGEST_REST = 5.0
# What was refused, or a kind that the server does not have, is seldom there a second later.
LONGEST_REST_REFUSED = 30.0
# A watch that ends sooner was not ended by its time-out: a server on its way down accepts and drops them.
SHORT_LIFE = 2.0


class Bell:
    """Told by any thread that there is news; one thread waits for it."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._rung = 0
        self._heard = 0

    def ring(self) -> None:
        with self._condition:
            self._rung += 1
            self._condition.notify_all()

    def heard(self, timeout: float) -> bool:
        """Wait for news since the last call; whether there are any."""
        with self._condition:
            news = self._condition.wait_for(lambda: self._rung != self._heard, timeout)
            self._heard = self._rung
            return news


@dataclass(frozen=True)
class Trouble:
    """Why objects cannot be read, and since when: on the wall, and as time.monotonic() has it."""

    failure: Failure
    at: str
    since: float


@dataclass
class Mirror:
    """The objects of one kind and namespace, as far as they are known."""

    objects: Mapping[str, Object] = field(default_factory=dict)
    listed: bool = False
    trouble: Trouble | None = None
    stream: Stream | None = None


class Watching:
    """What several kinds have in their namespaces; namespace "" means all of them."""

    def __init__(self, kube: Kube, places: Iterable[Place], *, bell: Bell | None = None) -> None:
        self._kube = kube
        self._bell = bell or Bell()
        self._mirrors: dict[Place, Mirror] = {place: Mirror() for place in places}
        self._lock = threading.Condition()
        self._closed = False
        self._returns = 0
        self._lost: Trouble | None = None
        self._defect: BaseException | None = None
        for kind, namespace in self._mirrors:
            threading.Thread(
                target=self._run, args=((kind, namespace),), name=f"watch {kind.plural} {namespace}", daemon=True
            ).start()

    def __enter__(self) -> Watching:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- for whoever looks ----------------------------------------------------------------------------------------

    def snapshot(self, kind: ObjectKind, namespace: str = "") -> Mapping[str, Object]:
        """Name → object; of all namespaces, NAMESPACE/NAME → object. Never changes afterwards."""
        self._raise_defect()
        return self._mirrors[kind, namespace].objects

    def listed(self, kind: ObjectKind, namespace: str = "") -> bool:
        """Whether `snapshot` says what is there; before, it is empty because nobody has looked."""
        return self._mirrors[kind, namespace].listed

    @property
    def complete(self) -> bool:
        """Whether every kind has been listed or refused: there is nothing more to come at once."""
        self._raise_defect()
        return all(mirror.listed or mirror.trouble for mirror in self._mirrors.values())

    def changed(self, timeout: float) -> bool:
        """Wait until something is different, or so many seconds; whether something is."""
        return self._bell.heard(timeout)

    @property
    def troubles(self) -> Mapping[Place, Trouble]:
        """What cannot be read now."""
        with self._lock:
            return {place: mirror.trouble for place, mirror in self._mirrors.items() if mirror.trouble}

    @property
    def lost(self) -> Trouble | None:
        """The first trouble, when it is the server that does not answer; till all can be read again."""
        with self._lock:
            troubles = [mirror.trouble for mirror in self._mirrors.values() if mirror.trouble]
            passing = [trouble for trouble in troubles if trouble.failure.kind in PASSING]
            silent = any(trouble.failure.kind == "unreachable" for trouble in passing)
            if not passing:
                self._lost = None
            elif self._lost is None and (silent or len(passing) == len(self._mirrors)):
                self._lost = min(passing, key=lambda trouble: trouble.since)
            return self._lost

    def close(self) -> None:
        """End all watches. Their threads end by themselves, whatever they are at."""
        with self._lock:
            self._closed = True
            streams = [mirror.stream for mirror in self._mirrors.values() if mirror.stream is not None]
            self._lock.notify_all()
        for stream in streams:
            stream.close()

    def _raise_defect(self) -> None:
        if self._defect is not None:
            raise self._defect

    # -- in a thread for each place -------------------------------------------------------------------------------

    def _run(self, place: Place) -> None:
        try:
            self._keep(place)
        except BaseException as defect:  # a watch that ends unseen would show its last sight for ever
            if not self._closed:
                self._defect = defect
                self._bell.ring()

    def _keep(self, place: Place) -> None:
        """List, then follow from there; a version that is too old means to list again."""
        version = ""
        rest = FIRST_REST
        while not self._closed:
            began = time.monotonic()
            try:
                version = self._follow(place, version or self._list(place))
            except Expired:
                version = ""
            except Failure as failure:
                if self._closed:
                    return
                self._note(place, failure)
                rest = self._rest(rest, LONGEST_REST if failure.kind in PASSING else LONGEST_REST_REFUSED)
                continue
            lived = time.monotonic() - began
            rest = FIRST_REST if lived >= SHORT_LIFE else self._rest(rest, LONGEST_REST)

    def _list(self, place: Place) -> str:
        """Take what is there now; the version from which to follow."""
        listing = self._kube.listing(*place)
        mirror = self._mirrors[place]
        now = {_key(place, body): body for body in listing.items}
        different = not mirror.listed or _versions(now) != _versions(mirror.objects)
        mirror.objects, mirror.listed = now, True
        self._fine(place, different)
        return listing.version

    def _follow(self, place: Place, version: str) -> str:
        """Take what changes until the server ends the watch; the version from which to go on."""
        kind, namespace = place
        mirror = self._mirrors[place]
        stream = self._kube.watch(kind, namespace, version)
        with self._lock:
            mirror.stream = stream
            if self._closed:
                stream.close()
        self._fine(place, False)
        try:
            for event, body in stream:
                version = body["metadata"]["resourceVersion"]
                if event != "BOOKMARK":
                    self._take(place, event, body)
        except Failure as failure:
            # A connection that broke says nothing yet: the next request tells whether the server is there.
            if isinstance(failure, Expired) or failure.kind not in PASSING:
                raise
        finally:
            stream.close()
        return version

    def _take(self, place: Place, event: str, body: Object) -> None:
        mirror = self._mirrors[place]
        key = _key(place, body)
        others = {name: known for name, known in mirror.objects.items() if name != key}
        mirror.objects = others if event == "DELETED" else {**others, key: body}
        self._bell.ring()

    def _note(self, place: Place, failure: Failure) -> None:
        """Keep what went wrong, with the time of the first time."""
        mirror = self._mirrors[place]
        with self._lock:
            known = mirror.trouble
            if failure.kind == "not_found":
                # The server has no such kind, perhaps not yet: there are no objects of it.
                different = bool(mirror.objects or known) or not mirror.listed
                mirror.objects, mirror.listed, mirror.trouble = {}, True, None
            elif known is not None and known.failure.kind == failure.kind:
                different = False
            else:
                different = True
                mirror.trouble = Trouble(failure, time.strftime("%H:%M:%S"), time.monotonic())
        if different:
            self._bell.ring()

    def _fine(self, place: Place, different: bool) -> None:
        """The server has answered: those who rest may go on."""
        mirror = self._mirrors[place]
        with self._lock:
            recovered = mirror.trouble is not None
            mirror.trouble = None
            if recovered:
                self._returns += 1
                self._lock.notify_all()
        if different or recovered:
            self._bell.ring()

    def _rest(self, seconds: float, longest: float) -> float:
        """Wait, unless it ends or another watch finds the server back; how long to wait the next time."""
        with self._lock:
            before = self._returns
            woken = self._lock.wait_for(lambda: self._closed or self._returns != before, min(seconds, longest))
        return FIRST_REST if woken else min(seconds * 2, longest)


def _key(place: Place, body: Object) -> str:
    kind, namespace = place
    metadata = body["metadata"]
    return str(metadata["name"]) if namespace or not kind.namespaced else f"{metadata['namespace']}/{metadata['name']}"


def _versions(objects: Mapping[str, Object]) -> dict[str, str]:
    return {name: body["metadata"]["resourceVersion"] for name, body in objects.items()}
