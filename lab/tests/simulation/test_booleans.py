# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MAAS has two ways to read a boolean; taking one for the other erases disks."""

from __future__ import annotations

from typing import Any

import pytest

from metalshift_lab.simulator import Simulator


@pytest.mark.parametrize("value", ["0", "no", "off", "n", "x", "1", "true", "True"])
def test_whatever_is_not_false_erases(sim: Simulator, maas: Any, value: str) -> None:
    sim.machine("node01", status="Allocated")
    assert maas.op("node01", "release", erase=value).json()["status_name"] == "Disk erasing"


@pytest.mark.parametrize("value", ["false", "False", ""])
def test_only_false_and_nothing_do_not_erase(sim: Simulator, maas: Any, value: str) -> None:
    sim.machine("node01", status="Allocated")
    assert maas.op("node01", "release", erase=value).json()["status_name"] == "Ready"


@pytest.mark.parametrize("option", ["secure_erase", "quick_erase"])
def test_each_kind_of_erasing_erases(sim: Simulator, maas: Any, option: str) -> None:
    sim.machine("node01", status="Allocated")
    assert maas.op("node01", "release", **{option: "true"}).json()["status_name"] == "Disk erasing"


@pytest.mark.parametrize(
    ("value", "status"), [("true", 200), ("NO", 200), ("off", 200), ("1", 200), ("maybe", 400), ("2", 400), ("", 400)]
)
def test_parameters_know_words_and_refuse_junk(sim: Simulator, maas: Any, value: str, status: int) -> None:
    sim.machine("node01")
    assert maas("POST", "machines/?op=allocate", {"dry_run": value}).status_code == status
