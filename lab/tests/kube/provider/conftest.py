# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kube.provider.scene import Scene, lenient, running_plane, running_scene
from metalshift_lab.kube.control_plane import ControlPlane
from metalshift_lab.programs import Programs


@pytest.fixture(scope="session")
def plane(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An API server with the CRDs that HyperShift brings, and Cluster API's core manager."""
    with running_plane(programs, tmp_path_factory.mktemp("plane"), lambda crd: crd) as running:
        yield running


@pytest.fixture(scope="session")
def other_plane(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The same with MAAS's kinds as other providers bring them: newer conditions, virtual machines."""
    with running_plane(programs, tmp_path_factory.mktemp("other"), lenient) as running:
        yield running


@pytest.fixture
def scene(plane: ControlPlane, tmp_path: Path) -> Iterator[Scene]:
    with running_scene(plane, tmp_path) as made:
        yield made


@pytest.fixture
def other_scene(other_plane: ControlPlane, tmp_path: Path) -> Iterator[Scene]:
    with running_scene(other_plane, tmp_path) as made:
        yield made
