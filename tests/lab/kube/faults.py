# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults on demand: a table of what can go wrong in a lab, each with its parameters and its cure."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.kube.supervisor import Supervisor

Words = dict[str, str]


@dataclass(frozen=True)
class Fault:
    """A sentence for the user, parameters with their defaults (None: must be given), what it does, and its cure."""

    meaning: str
    parameters: dict[str, str | None]
    begin: Callable[[Supervisor, Words], str]
    end: Callable[[Supervisor], None]


def _hold(lab: Supervisor, words: Words) -> str:
    lab.workloads.hold(words["namespace"], words["name"])
    return f"pods of {words['namespace']}/{words['name']} do not run"


def _paused(lab: Supervisor, words: Words) -> str:
    chosen = lab.signal(words["name"], signal.SIGSTOP)
    return f"paused: {', '.join(chosen) or 'nothing has that name'}"


def _go_on(lab: Supervisor) -> None:
    lab.signal(".*", signal.SIGCONT)


def _killed(lab: Supervisor, words: Words) -> str:
    chosen = lab.signal(words["name"], signal.SIGKILL)
    return f"killed: {', '.join(chosen) or 'nothing has that name'}"


def _nothing(_lab: Supervisor) -> None:
    """What happened once needs no cure."""


FAULTS: dict[str, Fault] = {
    "hold": Fault(
        "the pods of a workload do not run; real programs are stopped",
        {"name": None, "namespace": ".*"},
        _hold,
        lambda lab: lab.workloads.release(),
    ),
    "pause": Fault("a program stands still", {"name": None}, _paused, _go_on),
    "kill": Fault("a program is killed; it is started again", {"name": None}, _killed, _nothing),
}


class Faults:
    """The faults of one lab: what is set, and how it is cured."""

    def __init__(self, lab: Supervisor) -> None:
        self._lab = lab
        self._set: dict[str, list[str]] = {}

    def set(self, name: str, /, **words: str) -> str:
        fault = FAULTS.get(name)
        if fault is None:
            raise ValueError(f"There is no fault {name}; there are {', '.join(sorted(FAULTS))}.")
        unknown = sorted(set(words) - set(fault.parameters))
        missing = sorted(key for key, default in fault.parameters.items() if default is None and key not in words)
        if unknown or missing:
            wrong = f"does not take {', '.join(unknown)}" if unknown else f"needs {', '.join(missing)}"
            raise ValueError(f"The fault {name} {wrong}; its parameters are {', '.join(fault.parameters) or 'none'}.")
        defaults = {key: value for key, value in fault.parameters.items() if value is not None}
        done = fault.begin(self._lab, {**defaults, **words})
        self._set.setdefault(name, []).append(done)
        return done

    def heal(self, name: str = "") -> str:
        """End one kind of fault, or all."""
        chosen = [name] if name else list(self._set)
        for each in chosen:
            if each not in FAULTS:
                raise ValueError(f"There is no fault {each}; there are {', '.join(sorted(FAULTS))}.")
            FAULTS[each].end(self._lab)
            self._set.pop(each, None)
        return f"healed: {', '.join(chosen)}" if chosen else "there was no fault"

    def active(self) -> list[str]:
        return [f"{name}: {done}" for name, each in self._set.items() for done in each]
