# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the process was told: arguments, environment."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from metalshift_lab.kube.provider import versions
from metalshift_lab.kube.provider.maas import Maas
from metalshift_lab.kube.provider.versions import Behaviour
from metalshift_lab.kube.speed import Speed

#: However fast the lab is, a timer brings an object up twice a second at most.
AGAIN_AT_LEAST = 0.5

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
#: What the program says, in this order, when it was not told where MAAS is.
_NEEDED = (
    ("MAAS_ENDPOINT", "missing env MAAS_ENDPOINT; e.g: MAAS_ENDPOINT=http://10.11.130.10:5240/MAAS"),
    ("MAAS_API_KEY", "missing env MAAS_API_KEY; e.g: MAAS_API_KEY=x:y:z>"),
)


@dataclass(frozen=True)
class Settings:
    kubeconfig: str
    namespace: str
    behaviour: Behaviour
    speed: Speed
    #: Real seconds between two looks at everything.
    sync_period: float
    concurrency: int
    leader_elect: bool
    verbosity: int
    proxy: str
    environment: Mapping[str, str] = field(repr=False)

    @property
    def backoff(self) -> tuple[float, float]:
        """The first pause after a failure, and the longest: in the lab's time, or where asked for in real time."""
        speed = Speed(1) if self.environment.get("LAB_BACKOFF") == "real" else self.speed
        return speed.seconds(0.005), speed.seconds(min(1000, self.sync_period))

    @property
    def releases_twice(self) -> bool:
        return self.environment.get("LAB_RELEASES") == "twice"

    @property
    def between_releases(self) -> float:
        """Real seconds, as measured."""
        return 0.4

    @property
    def storms(self) -> bool:
        """Whether MaasClusters are looked at without a pause till their control plane is initialised."""
        return self.environment.get("LAB_STORMS") == "yes"

    def again(self, real: float | None) -> float:
        """In how many seconds of the lab to look again; with everything else when nothing is to be waited for."""
        wanted = self.sync_period if real is None else min(real, self.sync_period)
        return max(self.speed.seconds(wanted), AGAIN_AT_LEAST)

    def maas(self) -> Maas:
        """MAAS for one pass. Without its address or a key the whole program ends, as the real one does then."""
        values = []
        for name, complaint in _NEEDED:
            if not self.environment.get(name):
                panic(complaint)
            values.append(self.environment[name])
        return Maas(*values)


def panic(text: str) -> NoReturn:
    print(f"panic: {text}", file=sys.stderr, flush=True)
    # Raised in a worker, SystemExit would end the worker alone.
    os._exit(2)


def duration(text: str) -> float:
    """Seconds of a duration as Go writes it: 15m, 1h30m, 90s."""
    if not re.fullmatch(r"(\d+(\.\d+)?(ms|s|m|h))+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration such as 15m")
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text))


def boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text == "true"


def parse(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """LookupError or ValueError in one sentence if the environment will not do."""
    parser = argparse.ArgumentParser(
        prog="python -m metalshift_lab.kube.provider", allow_abbrev=False, description=__doc__
    )
    parser.add_argument("--v", type=int, default=0, help="how much is logged; from 4 on every look at an object")
    parser.add_argument("--leader-elect", type=boolean, nargs="?", const=True, default=False)
    parser.add_argument("--sync-period", type=duration, default=duration("120m"))
    parser.add_argument("--machine-concurrency", type=int, default=2)
    parser.add_argument("--namespace", default="", help="the only namespace to look at")
    options = parser.parse_args(arguments)
    if not environment.get("KUBECONFIG"):
        raise LookupError("The provider needs KUBECONFIG, the file with the way to the management cluster.")
    return Settings(
        kubeconfig=environment["KUBECONFIG"],
        namespace=options.namespace,
        behaviour=versions.chosen(environment),
        speed=Speed(float(environment.get("LAB_SPEED") or 1)),
        sync_period=options.sync_period,
        concurrency=options.machine_concurrency,
        leader_elect=options.leader_elect,
        verbosity=options.v,
        proxy=environment.get("HTTPS_PROXY", ""),
        environment=environment,
    )
