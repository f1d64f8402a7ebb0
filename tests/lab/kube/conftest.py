# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labs for tests: one that tests share, with names of their own, and empty ones for tests that break theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from lab.kube.handle import Lab
from lab.programs import Programs

# Real minutes become fractions of a second; what real programs count themselves stays as it is.
SPEED = 240


@pytest.fixture(scope="session")
def lab(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab with the operator installed. Tests that share it use hosted clusters and machines of their own."""
    with Lab.start(tmp_path_factory.mktemp("labs") / "shared", speed=SPEED, machines=24) as running:
        yield running


@pytest.fixture
def new_lab(programs: Programs, tmp_path: Path) -> Iterator[Callable[..., Lab]]:
    """Start a lab that the test may break: `new_lab(operator=False)`."""
    with ExitStack() as started:

        def start(name: str = "lab", **wish: object) -> Lab:
            return started.enter_context(Lab.start(tmp_path / name, **{"speed": SPEED, **wish}))  # type: ignore[arg-type]

        yield start
