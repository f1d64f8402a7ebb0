# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the collection adds to the time that the systems themselves take for a hosted cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import CURRENT_PROVIDER, PROVIDER, Journey

COLLECTIONS = Path(os.environ["ANSIBLE_COLLECTIONS_PATH"])
NAME = "ours"
NODES = 2
# How often it is looked from outside how far the systems are; figures are no finer than this.
LOOK = 0.2


def measure(lab: Lab, folder: Path) -> None:
    """Prints how long both tasks take beyond the systems."""
    journey = Journey(lab, NAME, folder)
    begun = _Moment(lambda: bool(journey.cluster()))
    ready = _Moment(lambda: journey.pool().get("status", {}).get("replicas") == NODES and journey.settled())
    create = _play(lab, folder, _create(lab))
    _line("create, hosted_cluster and node_pool", create, begun.time, ready.time)
    asked = _Moment(lambda: "deletionTimestamp" in journey.cluster().get("metadata", {}))
    gone = _Moment(lambda: not journey.cluster())
    destroy = _play(lab, folder, [{"metalshift.maas.hosted_cluster": {"name": NAME, "state": "absent"}}])
    _line("destroy, hosted_cluster", destroy, asked.time, gone.time)


class _Moment:
    """When something was so for the first time, as seen by somebody else."""

    def __init__(self, holds: Callable[[], bool]) -> None:
        self._holds = holds
        self._when: list[float] = []
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._holds():
            time.sleep(LOOK)
        self._when.append(time.monotonic())

    @property
    def time(self) -> float:
        self._thread.join(10)
        if not self._when:
            sys.exit("a task said that it was done, and others do not see it")
        return self._when[0]


def _create(lab: Lab) -> list[dict[str, Any]]:
    login = {"auths": {lab.facts["registry"]: {"auth": "bGFiOmxhYg=="}}}
    cluster = {
        "name": NAME,
        "release": lab.release(),
        "base_domain": "lab.example",
        "services_address": "127.0.0.1",
        "pull_secret": json.dumps(login),
        "ssh_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG1ldGFsc2hpZnQubWFhcyBsYWIsIG5vdCBmb3IgdXNl lab",
        "provider_image": PROVIDER.format(version=CURRENT_PROVIDER),
        "wait_for": "control_plane",
    }
    pool = {"name": NAME, "cluster": NAME, "image": "custom/rhcos-4.20", "replicas": NODES}
    return [{"metalshift.maas.hosted_cluster": cluster}, {"metalshift.maas.node_pool": pool}]


def _play(lab: Lab, folder: Path, tasks: list[dict[str, Any]]) -> tuple[float, float]:
    """Run the tasks with ansible-playbook; when it began and ended."""
    playbook = folder / "ours.json"
    playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "K8S_AUTH_KUBECONFIG": str(lab.kubeconfig),
        "MAAS_ENDPOINT": str(lab.facts["maas_url"]),
        "MAAS_API_KEY": str(lab.facts["maas_api_key"]),
    }
    environment.pop("PYTHONPATH", None)
    began = time.monotonic()
    done = subprocess.run(
        [Path(sys.executable).parent / "ansible-playbook", "-i", "localhost,", "-c", "local", playbook],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")
    return began, time.monotonic()


def _line(what: str, run: tuple[float, float], first: float, reached: float) -> None:
    began, ended = run
    added = f"{first - began:.1f} s before the systems begin, {max(ended - reached, 0):.1f} s after they are done"
    print(f"  {what}: {ended - began:.1f} s; ours are {added}", flush=True)
