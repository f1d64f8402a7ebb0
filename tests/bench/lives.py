# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab takes: to be built, to start, in memory, and for hosted clusters to come and go."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ours

from metalshift_lab.kube.handle import Lab, LabError
from metalshift_lab.kube.journey import Journey
from metalshift_lab.processes import remains
from metalshift_lab.programs import NoPrograms, figures, programs

SPEED = 60
NODES = 2
CLUSTERS = ("one", "two", "three")


def report() -> None:
    """Prints its figures as they come; without programs, why there are none."""
    print("\nThe lab: programs, as they were built here from nothing; each has what was compiled for those before it")
    try:
        programs(lambda line: print(f"  {line}", flush=True))
    except NoPrograms as problem:
        print(f"  not measured: {problem}")
        return
    print("  program                      MB  packages  wall s   CPU s")
    for each in figures():
        warm = f"  not measured: {each.found} packages had been compiled before"
        took = f"{each.seconds:8.0f}{each.cpu_seconds:8.0f}" if each.cold else warm
        print(f"  {each.program:<24}{each.bytes / 1e6:7.0f}{each.packages:10d}{took}")
    print(f"\nThe lab: hosted clusters of {NODES} nodes at speed {SPEED}, requests for certificates approved at once")
    with tempfile.TemporaryDirectory(prefix="metalshift-bench-") as name:
        folder = Path(name)
        started = time.monotonic()
        with Lab.start(folder / "lab", speed=SPEED, machines=NODES * len(CLUSTERS)) as lab:
            _line("start of the lab, with the operator", started)
            try:
                _lives(lab, folder)
                ours.measure(lab, folder)
            except LabError as error:
                print(f"  not measured further: {error}")


def _lives(lab: Lab, folder: Path) -> None:
    first, *others = [Journey(lab, name, folder) for name in CLUSTERS]
    _memory(lab, "no hosted cluster")
    _born([first])
    _memory(lab, "one hosted cluster")
    _born(others)
    _memory(lab, f"{len(CLUSTERS)} hosted clusters")
    _gone([first])
    _gone(others)


def _born(journeys: list[Journey]) -> None:
    """From the manifests on; those of several clusters are applied at once."""
    who = _who(journeys)
    started = time.monotonic()
    _each(journeys, Journey.create)
    _each(journeys, Journey.until_available)
    _line(f"{who}: HostedCluster to Available", started)
    available = time.monotonic()
    _each(journeys, lambda journey: journey.until_nodes(NODES))
    _line(f"{who}: NodePool to Ready, from Available on", available)
    _line(f"{who}: both together", started)
    touches = [what for journey in journeys for what in journey.touches]
    said = f" ({', '.join(dict.fromkeys(touches))})" if touches else ""
    print(f"  {f'{who}: times that a silent operator was woken':<58}{len(touches):8d}{said}", flush=True)


def _gone(journeys: list[Journey]) -> None:
    started = time.monotonic()
    _each(journeys, Journey.delete)
    _each(journeys, Journey.until_gone)
    _line(f"{_who(journeys)}: deletion until its namespace is gone", started)


def _each(journeys: list[Journey], act: Callable[[Journey], None]) -> None:
    with ThreadPoolExecutor(len(journeys)) as pool:
        list(pool.map(act, journeys))


def _who(journeys: list[Journey]) -> str:
    return "one" if len(journeys) == 1 else f"{len(journeys)} more at once"


def _line(what: str, started: float) -> None:
    print(f"  {what:<58}{time.monotonic() - started:8.1f} s", flush=True)


def _memory(lab: Lab, when: str) -> None:
    found = remains(lab.folder)
    megabytes = sum(map(_resident, (each.pid for each in found))) / 1024
    print(f"  {f'memory with {when}, {len(found)} processes':<58}{megabytes:8.0f} MB", flush=True)


def _resident(pid: int) -> int:
    """kB of a process, with its share of what several have; all that it sees where the kernel does not say."""
    for file, name in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        try:
            lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            if line.startswith(name):
                return int(line.split()[1])
    return 0
