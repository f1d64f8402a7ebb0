# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same thing for many objects, a few at a time.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure

Item = TypeVar("Item")
Value = TypeVar("Value")

# MAAS serves about twenty machine requests a second from four workers: more at once only queue there.
AT_ONCE = 4
# A Kubernetes API serves many more, and who looks at much waits for the slowest of all.
READS_AT_ONCE = 8


def each(
    items: Iterable[Item], act: Callable[[Item], Value], at_once: int = AT_ONCE
) -> Iterator[tuple[Item, Value | Failure]]:
    """Yield (item, what `act` returned or the Failure it raised) as they finish.

    The threads are daemons: a task that is killed or fails does not wait for them, and they begin nothing new when the
    caller stops listening. Anything but a Failure is a defect and is raised here, in the caller's thread.
    """
    todo: queue.SimpleQueue[Item] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Item, Value | BaseException]] = queue.SimpleQueue()
    stopped = threading.Event()
    count = 0
    for item in items:
        todo.put(item)
        count += 1

    def work() -> None:
        while not stopped.is_set():
            try:
                item = todo.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((item, act(item)))
            except Failure as failure:
                done.put((item, failure))
            except BaseException as defect:
                stopped.set()
                done.put((item, defect))

    for _worker in range(min(max(at_once, 1), count)):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _answer in range(count):
            item, outcome = done.get()
            if isinstance(outcome, BaseException) and not isinstance(outcome, Failure):
                raise outcome
            yield item, outcome
    finally:
        stopped.set()
