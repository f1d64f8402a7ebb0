# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All faults by name, and those of one lab that are in force."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metalshift_lab.kube.faults import maas, parts, programs, rules, workloads
from metalshift_lab.kube.faults.fault import Fault, Words

if TYPE_CHECKING:
    from metalshift_lab.kube.supervisor import Supervisor

log = logging.getLogger("lab.faults")

FAULTS: Mapping[str, Fault] = {
    **programs.FAULTS,
    **workloads.FAULTS,
    **rules.FAULTS,
    **maas.FAULTS,
    **parts.FAULTS,
}


@dataclass(frozen=True, eq=False)
class Active:
    """A fault in force."""

    name: str
    words: Words
    said: str
    cure: Callable[[], None]

    def fits(self, name: str, words: Words) -> bool:
        return name in ("", self.name) and words.items() <= self.words.items()


class Faults:
    """The faults of one lab: which are in force, and how they are cured."""

    def __init__(self, lab: Supervisor) -> None:
        self._lab = lab
        self._active: list[Active] = []
        self._lock = threading.Lock()

    def set(self, which: str, /, **given: str) -> str:
        """Begin a fault; what was done, in words."""
        fault = _known(which)
        words = fault.words(which, given)
        effect = fault.begin(self._lab, words)
        log.info("%s: %s", which, effect.said)
        if effect.cure is not None:
            with self._lock:
                self._active.append(Active(which, words, effect.said, effect.cure))
        return effect.said

    def heal(self, which: str = "", /, **words: str) -> str:
        """End all faults of this name and with these words, or all: the last first. What cannot be cured now stays."""
        if which:
            _known(which)
        with self._lock:
            chosen = [each for each in self._active if each.fits(which, words)]
            self._active = [each for each in self._active if each not in chosen]
        failed = {}
        for each in reversed(chosen):
            try:
                each.cure()
            except Exception as error:  # the other cures must not wait for this one
                failed[each] = error
        if failed:
            with self._lock:
                self._active = [*(each for each in chosen if each in failed), *self._active]
            raise ValueError("; ".join(f"{each.name} could not be ended: {error}" for each, error in failed.items()))
        return f"healed: {', '.join(each.name for each in chosen)}" if chosen else "this fault is not set"

    def active(self) -> list[str]:
        with self._lock:
            return [f"{each.name}: {each.said}" for each in self._active]


def _known(name: str) -> Fault:
    fault = FAULTS.get(name)
    if fault is None:
        raise ValueError(f"There is no fault {name}; there are {', '.join(sorted(FAULTS))}.")
    return fault
