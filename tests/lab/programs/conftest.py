# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""API servers that have CRDs and nothing else: one with ours, one with those that ours are compared with."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.kube.api import CRDS, Api, Object
from lab.kube.bare import rendered_kinds
from lab.kube.control_plane import ControlPlane
from lab.kube.keeper import Keeper, plain_environment
from lab.ports import Ports
from lab.programs import Programs

CLONE = Path(__file__).resolve().parents[3]
FORK = "hypershift-maas-4.20"
ESTABLISHED_WITHIN = 60


@dataclass(frozen=True)
class Loaded:
    """An API server, the CRDs that it was given, and what kubectl had to say against them."""

    api: Api
    crds: list[Object]
    warnings: str


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder with the CRDs that the fork of HyperShift installs; they are no part of this collection."""
    named = os.environ.get("REFERENCE_CRDS")
    folders = [Path(named)] if named else sorted(CLONE.parent.glob("*/crds"))
    found = [folder / FORK for folder in folders if (folder / FORK).is_dir()]
    if named and not found:
        pytest.fail(f"REFERENCE_CRDS is {named}, which holds no {FORK}.")
    if not found:
        pytest.skip(f"no CRDs to compare with: REFERENCE_CRDS names no folder that holds {FORK}")
    return found[0]


@pytest.fixture(scope="session")
def ours(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """What our `hypershift install` brings."""
    with _server(programs, tmp_path_factory.mktemp("ours")) as plane:
        yield _load(plane, programs, rendered_kinds(programs), "-")


@pytest.fixture(scope="session")
def theirs(programs: Programs, reference: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """What the fork's `hypershift install` brings."""
    with _server(programs, tmp_path_factory.mktemp("theirs")) as plane:
        yield _load(plane, programs, "", str(reference), "--recursive")


@contextmanager
def _server(programs: Programs, folder: Path) -> Iterator[ControlPlane]:
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


def _load(plane: ControlPlane, programs: Programs, manifests: str, *source: str) -> Loaded:
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
