# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.conftest import eavesdropped, one_simulator, sim
from lxd.place import Place
from metalshift_lab.lxd.server import RealLxd

__all__ = ["eavesdropped", "one_simulator", "sim"]


@pytest.fixture
def lxd(real_lxd: RealLxd, tmp_path: Path) -> Iterator[Place]:
    """A real LXD, reached over HTTPS; what a test makes there with names of its own is gone afterwards."""
    place = Place(real_lxd, tmp_path)
    yield place
    place.clear()
