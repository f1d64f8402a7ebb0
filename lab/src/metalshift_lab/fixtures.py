# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labs for tests: one that tests share, with names of their own, and empty ones for tests that break theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from metalshift_lab.kube.handle import Lab
from metalshift_lab.lxd.obstacles import obstacles
from metalshift_lab.lxd.places import place_for_tests
from metalshift_lab.lxd.server import RealLxd
from metalshift_lab.programs import NoPrograms, Programs, figures
from metalshift_lab.programs import programs as all_programs
from metalshift_lab.programs.given import given
from metalshift_lab.programs.sources import MODULES

# Real minutes become fractions of a second; what real programs count themselves stays as it is.
SPEED = 240


@pytest.fixture(scope="session")
def programs() -> Programs:
    """Those that are there: a test is no place for a build that takes minutes."""
    try:
        yours = given(lambda line: None)
        needed = {each.name for module in MODULES for each in module.programs if not module.names <= yours.keys()}
        if not needed <= {figure.program for figure in figures()}:
            pytest.skip("the lab's programs are not built: make programs, or metalshift-lab build")
        return all_programs(lambda line: None)
    except NoPrograms as problem:
        pytest.skip(str(problem))


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


@pytest.fixture(scope="session")
def real_lxd(request: pytest.FixtureRequest) -> Iterator[RealLxd]:
    """A real LXD that the tests of this process share. Where it cannot run, the tests that need it say why."""
    reasons = obstacles()
    if reasons:
        pytest.skip(f"LXD cannot run here. {' '.join(reasons)}")
    with place_for_tests() as folder, RealLxd.start(folder, _teller(request.config)) as lxd:
        yield lxd


def _teller(config: pytest.Config) -> Callable[[str], None]:
    """For what takes a while: on the terminal at once, though what tests print is kept back."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")

    def tell(line: str) -> None:
        if terminal is not None:
            terminal.write_line(line)

    return tell
