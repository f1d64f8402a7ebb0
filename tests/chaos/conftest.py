# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Iterator

import pytest

from metalshift_lab.simulator import Simulator


@pytest.fixture(scope="session")
def one_simulator() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def sim(one_simulator: Simulator) -> Simulator:
    """A simulated MAAS in its seed state, its log empty, without faults."""
    one_simulator.clear()
    one_simulator.reset()
    return one_simulator
