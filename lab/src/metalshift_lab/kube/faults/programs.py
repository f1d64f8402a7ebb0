# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of the programs themselves: they stand still, end, stutter, or forget what watches ask for."""

from __future__ import annotations

import re
import signal
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from metalshift_lab.kube import hosted
from metalshift_lab.kube.etcd import Etcd
from metalshift_lab.kube.faults.fault import MUST, Effect, Fault, Words, number

if TYPE_CHECKING:
    from metalshift_lab.kube.supervisor import Supervisor

API_SERVER = "kube-apiserver"
PROVIDERS = ".*/capi-provider"
# Seconds for an end in good order.
PATIENCE = 2.0


@dataclass(frozen=True, eq=False)
class Pause:
    """Programs that stand still: nobody else's cure may continue them."""

    pattern: re.Pattern[str]

    def holds(self, name: str) -> bool:
        return self.pattern.fullmatch(name) is not None


class Pauses:
    """Those of each lab. A lock keeps a stutter from continuing what is paused this moment."""

    def __init__(self) -> None:
        self._standing: WeakKeyDictionary[Supervisor, list[Pause]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def begin(self, lab: Supervisor, pause: Pause) -> list[str]:
        with self._lock:
            chosen = _signalled(lab, pause.pattern.pattern, signal.SIGSTOP)
            self._standing.setdefault(lab, []).append(pause)
        return chosen

    def end(self, lab: Supervisor, pause: Pause) -> None:
        with self._lock:
            self._standing[lab] = [each for each in self._standing[lab] if each is not pause]
        self.go_on(lab, pause)

    def go_on(self, lab: Supervisor, pause: Pause) -> None:
        """Continue what it held and no pause of the lab holds."""
        with self._lock:
            standing = self._standing.get(lab, [])
            for name, process in lab.processes().items():
                if pause.holds(name) and not any(each.holds(name) for each in standing):
                    process.signal(signal.SIGCONT)


PAUSES = Pauses()


def _called(lab: Supervisor, name: str) -> list[str]:
    """Who has the name now; ValueError when nobody has."""
    known = sorted(lab.processes())
    chosen = [each for each in known if re.fullmatch(name, each)]
    if not chosen:
        raise ValueError(f"Nothing that runs is called {name}; there are {', '.join(known)}.")
    return chosen


def _signalled(lab: Supervisor, name: str, number: signal.Signals) -> list[str]:
    """Who got the signal; ValueError when nobody has the name."""
    return lab.signal(name, number) or _called(lab, name)


def _pause(lab: Supervisor, words: Words) -> Effect:
    pause = Pause(re.compile(words["name"]))
    chosen = ", ".join(PAUSES.begin(lab, pause))
    return Effect(f"{chosen} is frozen", lambda: PAUSES.end(lab, pause))


def _kill(lab: Supervisor, words: Words) -> Effect:
    return Effect(f"{', '.join(_signalled(lab, words['name'], signal.SIGKILL))} was killed")


def _down(lab: Supervisor, words: Words) -> Effect:
    name = words["name"]
    lab.keeper.keep_down(name)
    return Effect(f"{name} is stopped, and not started again", lambda: lab.keeper.let_up(name))


def _stutter(lab: Supervisor, words: Words) -> Effect:
    """A program that stands still most of the time answers, and late."""
    share = number("stutter", words, "share", 0.01, 0.99)
    every = number("stutter", words, "every", 0.01, 3600)
    chosen = ", ".join(_called(lab, words["name"]))
    own = Pause(re.compile(words["name"]))
    ended = threading.Event()

    def stutter() -> None:
        while not ended.is_set():
            lab.signal(words["name"], signal.SIGSTOP)
            ended.wait(every * share)
            PAUSES.go_on(lab, own)
            ended.wait(every * (1 - share))

    thread = threading.Thread(target=stutter, name=f"stutter {words['name']}", daemon=True)
    thread.start()

    def cure() -> None:
        ended.set()
        thread.join()

    return Effect(f"{chosen} is frozen {share:.0%} of the time", cure)


def _restart_api(lab: Supervisor, words: Words) -> Effect:
    name = _api_server(lab, words["namespace"])
    _end(lab, name)
    return Effect(f"{name} has ended, and is started again")


def _expire_watches(lab: Supervisor, words: Words) -> Effect:
    """History that is compacted can be read no more; a server that starts anew knows only what is read."""
    name = _api_server(lab, words["namespace"])
    revision = Etcd(_etcd_folder(lab, words["namespace"])).forget_history()
    _end(lab, name)
    return Effect(f"the history before revision {revision} is compacted, and {name} is started again")


def _end(lab: Supervisor, name: str) -> None:
    """Ask it to end; when asked again, an API server does not wait for its watches any more."""
    process = lab.processes().get(name)
    _signalled(lab, name, signal.SIGTERM)
    if process is not None:
        process.stop(PATIENCE)


def _api_server(lab: Supervisor, namespace: str) -> str:
    """Its name; ValueError when no control plane of that namespace runs."""
    name = f"{namespace}/{API_SERVER}" if namespace else API_SERVER
    known = lab.processes()
    if name not in known:
        raise ValueError(f"Nothing that runs is called {name}; there are {', '.join(sorted(known))}.")
    return name


def _etcd_folder(lab: Supervisor, namespace: str) -> Path:
    return hosted.folder(lab.folder, namespace) if namespace else lab.folder


def _of_provider(meaning: str, variable: str, value: str) -> Fault:
    """A provider that does what the real one does, and the stand-in only when told: those that run start anew."""

    def begin(lab: Supervisor, _words: Words) -> Effect:
        lab.around.provider[variable] = value
        lab.signal(PROVIDERS, signal.SIGKILL)

        def cure() -> None:
            lab.around.provider.pop(variable, None)
            lab.signal(PROVIDERS, signal.SIGKILL)

        return Effect(meaning, cure)

    return Fault(meaning, begin)


FAULTS = {
    "provider-sleeps": _of_provider(
        "after a failure the provider sleeps as long as the real one, up to 1000 s, whatever the lab's speed is",
        "LAB_BACKOFF",
        "real",
    ),
    "provider-releases-twice": _of_provider(
        "the provider releases a machine a second time, 0.4 s after the first release", "LAB_RELEASES", "twice"
    ),
    "provider-storms": _of_provider(
        "the provider reconciles a MaasCluster fifty times a second until its control plane is initialised",
        "LAB_STORMS",
        "yes",
    ),
    "pause": Fault(
        "a program is frozen, but not ended (name is a regular expression: etcd, clusters-demo/.*)",
        _pause,
        {"name": MUST},
    ),
    "kill": Fault("a program is killed, and the lab starts it again", _kill, {"name": MUST}),
    "down": Fault(
        "etcd, kube-apiserver or kube-controller-manager is stopped and not started again", _down, {"name": MUST}
    ),
    "stutter": Fault(
        "a program is frozen for a share of each period (every= seconds), so that it answers late",
        _stutter,
        {"name": API_SERVER, "share": "0.8", "every": "1"},
    ),
    "restart-api": Fault(
        "the API server ends and is started again; with namespace= that of a hosted cluster",
        _restart_api,
        {"namespace": ""},
    ),
    "watch-expiry": Fault(
        "all watches end, and the resource versions that they continue from are too old (410 Gone)",
        _expire_watches,
        {"namespace": ""},
    ),
}
