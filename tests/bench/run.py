# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make bench`: what a task costs, how near a large deployment comes to what the server allows, what the lab takes."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lives
import lxd_hosts
import lxd_tasks
import placing
import vms
import waits

from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.contention import COSTS, WORKERS

DEPLOYMENT = 10.0
TASKS = 40
ROUNDS = 3
COLLECTIONS = Path(os.environ["ANSIBLE_COLLECTIONS_PATH"])
COLLECTION = Path("ansible_collections/metalshift/maas")


def main() -> int:
    print(f"Per task, on localhost (slope between 1 and {TASKS} tasks, median of {ROUNDS} rounds)")
    with modules_only() as without_runner:
        for label, path in (
            ("machine_info in the controller", COLLECTIONS),
            ("machine_info as a module", without_runner),
        ):
            print(f"  {label:<40}{per_task(path) * 1000:8.1f} ms", flush=True)
    print(
        f"\nmachine_set, {WORKERS} workers that hold up each other as those of MAAS do, {DEPLOYMENT:.0f} s a deployment"
    )
    print("  machines  requests  of which ticks  per machine      kB  wall s  floor s  ratio  rolled back  given up")
    for count in (20, 100):
        print(f"  {deployment(count)}", flush=True)
    placing.report()
    vms.report()
    lxd_tasks.report()
    lxd_hosts.report()
    lives.report()
    waits.report()
    return 0


# -- what a task costs ------------------------------------------------------------------------------


def per_task(collections: Path) -> float:
    """Seconds that one more task adds to a run."""
    with Simulator() as maas:
        maas.machine(hostname="node-1", status="Ready")
        many, one = playbook([info_task()] * TASKS), playbook([info_task()])
        slopes = []
        for _round in range(ROUNDS):
            few_seconds = run(one, maas, collections)
            slopes.append((run(many, maas, collections) - few_seconds) / (TASKS - 1))
    return statistics.median(slopes)


def info_task() -> dict[str, Any]:
    return {"metalshift.maas.machine_info": {"machines": ["node-1"]}}


@contextmanager
def modules_only() -> Iterator[Path]:
    """The same collection without its action plugins: Ansible then runs every task as an ordinary module."""
    with tempfile.TemporaryDirectory(prefix="metalshift-bench-") as folder:
        base = Path(folder)
        shutil.copytree(COLLECTIONS / COLLECTION, base / COLLECTION, symlinks=True)
        shutil.rmtree(base / COLLECTION / "plugins" / "action")
        yield base


# -- how near a deployment comes to its floor -------------------------------------------------------


def deployment(count: int) -> str:
    """One line: a claim on `count` machines, deployed, and what it took."""
    with Simulator() as maas:
        for number in range(count):
            maas.machine(hostname=f"node-{number}", status="Ready", zone=f"az{number % 3}")
        maas.auto(DEPLOYMENT)
        empty = statistics.median(run(playbook([]), maas, COLLECTIONS) for _round in range(ROUNDS))
        maas.clear()
        contention = maas.workers()
        task = {
            "metalshift.maas.machine_set": {"claim": "bench", "count": count, "state": "deployed", "wait_sleep": 0.5}
        }
        wall = run(playbook([task]), maas, COLLECTIONS) - empty
        log = list(maas.requests)
    ticks = sum(request.method == "GET" and request.path.endswith("/machines/") for request in log)
    # What cannot be done at once, and the deployment of the last one.
    floor = count * COSTS["allocate"].seconds + count * COSTS["deploy"].seconds + DEPLOYMENT
    size = sum(request.bytes for request in log) / 1000
    return (
        f"{count:8d}{len(log):10d}{ticks:16d}{(len(log) - ticks) / count:13.2f}{size:8.0f}"
        f"{wall:8.1f}{floor:9.1f}{wall / floor:7.2f}{sum(contention.rolled_back.values()):13d}"
        f"{sum(contention.given_up.values()):10d}"
    )


# -- running ----------------------------------------------------------------------------------------


def playbook(tasks: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": list(tasks)}])


def run(text: str, maas: Simulator, collections: Path) -> float:
    """Seconds that ansible-playbook takes for a playbook; raises when it fails."""
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write(text)
        file.flush()
        environment = {
            **os.environ,
            "MAAS_ENDPOINT": maas.url,
            "MAAS_API_KEY": maas.api_key,
            "ANSIBLE_COLLECTIONS_PATH": str(collections),
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "ANSIBLE_LOCALHOST_WARNING": "False",
        }
        environment.pop("PYTHONPATH", None)
        began = time.monotonic()
        done = subprocess.run(
            [Path(sys.executable).parent / "ansible-playbook", "-i", "localhost,", "-c", "local", file.name],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - began
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
