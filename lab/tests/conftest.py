# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of all tests of the lab: a simulated MAAS for each, and those of metalshift_lab.fixtures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import settings

from caller import Caller
from metalshift_lab.simulator import Simulator

# A loaded machine makes single examples slow; that is no property of the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ("metalshift_lab.fixtures",)

TESTS = Path(__file__).parent
# They run real programs for minutes, and come last.
HEAVY = (TESTS / "programs", TESTS / "kube")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: any(folder in item.path.parents for folder in HEAVY))


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def maas(sim: Simulator) -> Caller:
    return Caller(sim, sim.api_key)


@pytest.fixture
def plain(sim: Simulator, maas: Caller) -> Caller:
    """A user without rights of an administrator."""
    alice = {"username": "alice", "email": "a@example.com", "password": "pw", "is_superuser": "0"}
    assert maas("POST", "users/", alice).ok
    return Caller(sim, sim.key_of("alice"))


@pytest.fixture
def control(sim: Simulator) -> Any:
    def call(name: str, **params: Any) -> requests.Response:
        return requests.post(f"{sim.control_url}/{name}", params=params, timeout=10)

    return call
