# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""API servers with nothing around them, for tests of a single part."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metalshift_lab.kube.api import CRDS, Api, Objects
from metalshift_lab.kube.control_plane import ControlPlane
from metalshift_lab.kube.keeper import Keeper, plain_environment
from metalshift_lab.ports import Ports
from metalshift_lab.programs import Programs

RENDER = (
    "install",
    "render",
    "--hypershift-image=registry.example/hypershift:lab",
    "--enable-conversion-webhook=false",
    "--limit-crd-install=MAAS",
    "--outputs=crds",
    "--format=json",
)


def rendered_kinds(programs: Programs) -> str:
    """What our `hypershift install` brings: a list of CRDs, as JSON."""
    command = [str(programs.hypershift), *RENDER]
    done = subprocess.run(command, env=plain_environment(), capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def kinds_of(programs: Programs) -> Objects:
    """The same, one by one."""
    crds: Objects = json.loads(rendered_kinds(programs))["items"]
    return crds


@contextmanager
def api_server(programs: Programs, folder: Path, *, kinds: bool = False, controllers: bool = False) -> Iterator[Api]:
    """An API server while it is used, with the kinds of HyperShift and Cluster API if wanted.

    With `controllers`, Kubernetes' own run as well: what has an owner goes with it, and namespaces end.
    """
    ports = Ports()
    plane = ControlPlane(folder, programs, ports.take(), ports.node_ports)
    keeper = Keeper(folder, plain_environment())
    try:
        for program in plane.programs()[: 3 if controllers else 2]:
            keeper.start(program)
        if kinds:
            for crd in kinds_of(programs):
                plane.api.apply(CRDS, crd)
        yield plane.api
    finally:
        keeper.stop()
