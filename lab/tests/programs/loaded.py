# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""API servers that have CRDs and nothing else: one with ours, one with those that ours are compared with."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from metalshift_lab.kube.api import CRDS, Api, Object
from metalshift_lab.kube.control_plane import ControlPlane
from metalshift_lab.kube.keeper import Keeper, plain_environment
from metalshift_lab.ports import Ports
from metalshift_lab.programs import Programs

ESTABLISHED_WITHIN = 60


@dataclass(frozen=True)
class Loaded:
    """An API server, the CRDs that it was given, and what kubectl had to say against them."""

    api: Api
    crds: list[Object]
    warnings: str


@contextmanager
def bare_server(programs: Programs, folder: Path) -> Iterator[ControlPlane]:
    ports = Ports()
    plane = ControlPlane(folder, programs, ports.take(), ports.node_ports)
    keeper = Keeper(folder, plain_environment())
    try:
        for program in plane.programs():
            if program.name != "kube-controller-manager":
                keeper.start(program)
        yield plane
    finally:
        keeper.stop()


def load(plane: ControlPlane, programs: Programs, manifests: str, *source: str) -> Loaded:
    """Apply the CRDs, and wait until their kinds are served."""
    own = (f"--kubeconfig={plane.kubeconfig_file}", f"--cache-dir={plane.folder}/kubectl")
    command = [str(programs.kubectl), "apply", "--server-side", *own, "--filename", *source]
    done = subprocess.run(
        command, env=plain_environment(), input=manifests, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    deadline = time.monotonic() + ESTABLISHED_WITHIN
    while not all(map(_established, crds := plane.api.list(CRDS))):
        assert time.monotonic() < deadline, [crd["metadata"]["name"] for crd in crds if not _established(crd)]
        time.sleep(0.05)
    return Loaded(plane.api, crds, done.stderr)


def _established(crd: Object) -> bool:
    conditions = crd.get("status", {}).get("conditions") or ()
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
