# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task on a real LXD costs, in the controller and as a module, beside one of community.general."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metalshift_lab.labs import LabError
from metalshift_lab.lxd.places import place_for_tests
from metalshift_lab.lxd.server import RealLxd

COLLECTIONS = Path(os.environ["ANSIBLE_COLLECTIONS_PATH"])
OURS = Path("ansible_collections/metalshift/maas")
GENERAL = Path("ansible_collections/community/general")
ROUNDS = 3
# In the controller more of them fit into the same time.
IN_PROCESS, AS_MODULES = 20, 4

# Each finds what it asks for, as most tasks of most runs do.
TASKS: Mapping[str, Mapping[str, Any]] = {
    "lxd_info": {},
    "lxd_profile": {"name": "bench", "description": "", "config": {"limits.cpu": 2}},
    "lxd_project": {"name": "default"},
    "lxd_network": {"name": "BRIDGE", "type": "bridge"},
    "lxd_storage_pool": {"name": "default"},
    "lxd_server": {"config": {"images.auto_update_interval": 6}},
    "lxd_trust": {},
}


def report() -> None:
    """Prints its figures as they come; where LXD cannot run, why there are none."""
    print(
        f"\nPer task on a real LXD, nothing to change, on localhost (slope between 1 and {IN_PROCESS} tasks, or "
        f"{AS_MODULES} as modules; median of {ROUNDS} rounds)"
    )
    try:
        with place_for_tests() as folder, RealLxd.start(folder) as lxd, _trees() as (with_runner, modules):
            lxd.local("POST", "/1.0/profiles", {"name": "bench", "config": {"limits.cpu": "2"}})
            print("  module                             in the controller    as a module")
            for module, args in TASKS.items():
                task = {f"metalshift.maas.{module}": _named(args, lxd)}
                quick, slow = _slope(task, lxd, with_runner, IN_PROCESS), _slope(task, lxd, modules, AS_MODULES)
                print(f"  {module:<34}{quick * 1000:14.0f} ms{slow * 1000:12.0f} ms", flush=True)
            theirs = {"community.general.lxd_profile": _theirs(lxd)}
            print(f"  {'community.general.lxd_profile':<34}{_slope(theirs, lxd, modules, AS_MODULES) * 1000:29.0f} ms")
    except LabError as problem:
        print(f"  not measured: {problem}")


def _named(args: Mapping[str, Any], lxd: RealLxd) -> Any:
    return json.loads(json.dumps(args).replace("BRIDGE", lxd.bridge))


def _theirs(lxd: RealLxd) -> dict[str, Any]:
    """The same profile. It knows no certificate of the server, so it is asked through the socket."""
    return {
        "name": "bench",
        "url": f"unix:{lxd.socket}",
        "config": {"limits.cpu": "2"},
        "description": "",
        "devices": {},
    }


@contextmanager
def _trees() -> Iterator[tuple[Path, Path]]:
    """Collections with our runner, and without it: Ansible then runs every task as an ordinary module."""
    with tempfile.TemporaryDirectory(prefix="metalshift-bench-") as folder:
        base = Path(folder)
        shutil.copytree(COLLECTIONS / OURS, base / OURS, symlinks=True)
        shutil.rmtree(base / OURS / "plugins" / "action")
        (base / GENERAL).parent.mkdir(parents=True)
        (base / GENERAL).symlink_to(os.environ["METALSHIFT_COMMUNITY_GENERAL"])
        yield COLLECTIONS, base


def _slope(task: Mapping[str, Any], lxd: RealLxd, collections: Path, count: int) -> float:
    """Seconds that one more task adds to a run."""
    slopes = []
    for _round in range(ROUNDS):
        few = _run([task], lxd, collections)
        slopes.append((_run([task] * count, lxd, collections) - few) / (count - 1))
    return statistics.median(slopes)


def _run(tasks: list[Mapping[str, Any]], lxd: RealLxd, collections: Path) -> float:
    """Seconds that ansible-playbook takes; ends all if it fails or changes something."""
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}], file)
        file.flush()
        environment = {
            **os.environ,
            "LXD_ENDPOINT": lxd.endpoint,
            "LXD_CLIENT_CERT": lxd.client_cert,
            "LXD_CLIENT_KEY": lxd.client_key,
            "LXD_SERVER_CERT": lxd.server_cert,
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
    if done.returncode or "changed=0" not in done.stdout:
        sys.exit(f"{done.stdout}{done.stderr}")
    return seconds
