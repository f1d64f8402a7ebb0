# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What it takes to make an LXD host of a machine, to see that it is one, and to take it back."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lxd.machine import Machine, changes, deployed
from metalshift_lab.labs import LabError
from metalshift_lab.lxd.places import place_for_tests
from metalshift_lab.lxd.server import RealLxd

RUNS: Mapping[str, Mapping[str, Any]] = {
    "first run, with packages and a proof": {},
    "second run": {},
    "state: absent": {"state": "absent"},
}


def report() -> None:
    """Prints its figures as they come; where LXD cannot run, why there are none."""
    print("\nlxd_host on a system container with systemd, over SSH, the role alone in its playbook")
    try:
        with _machine() as machine:
            print("  run                                     wall s  changes")
            for label, wish in RUNS.items():
                print(f"  {label:<38}{_run(machine, wish)}", flush=True)
    except LabError as problem:
        print(f"  not measured: {problem}")


@contextmanager
def _machine() -> Iterator[Machine]:
    with place_for_tests() as home, RealLxd.start(home) as lxd:
        if "qemu" not in lxd.drivers:
            raise LabError("LXD has no virtual machines where there is no /dev/kvm.")
        with tempfile.TemporaryDirectory(prefix="metalshift-bench-") as folder, deployed(lxd, Path(folder)) as machine:
            yield machine


def _run(machine: Machine, wish: Mapping[str, Any]) -> str:
    began = time.monotonic()
    played = machine.role(bridge_create=True, **wish)
    wall = time.monotonic() - began
    if played.status:
        sys.exit(played.output)
    return f"{wall:8.1f}{changes(played):9d}"


if __name__ == "__main__":
    report()
