# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator answers like the MAAS that was recorded."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from metalshift_lab.simulator import Simulator  # noqa: E402

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the driver needs Python 3.11")

APART = ("10_", "12_")  # storage; devices, controllers and the rest
STATUS, FULL = 98.0, 90.0
COUNTS = ("steps", "status", "shape", "full")


@pytest.fixture(scope="module")
def areas(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The comparison of every area, replayed against a fresh simulator."""
    import compare
    import driver

    out = tmp_path_factory.mktemp("conformance")
    with Simulator() as simulator:
        key = out / "key"
        key.write_text(simulator.api_key, encoding="ascii")
        arguments = ["--url", simulator.url, "--control", simulator.control_url, "--api-key-file", str(key)]
        command = [sys.executable, str(HERE / "driver.py"), "run", *arguments, "--out", str(out / "run")]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    golden = HERE / "golden"
    return compare.compare(compare.load(golden), compare.load(out / "run"), driver.load_ignore(golden, []))[0]


def share(rows: list[dict[str, Any]], what: str) -> float:
    return 100 * sum(r[what] for r in rows) / max(1, sum(r["steps"] for r in rows))


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'area':44} {'steps':>6} {'status%':>8} {'shape%':>8} {'full%':>8}"]
    for name, chosen in [*((r["area"], [r]) for r in rows), ("all but storage, devices and the rest", counted(rows))]:
        percentages = " ".join(f"{share(chosen, what):8.1f}" for what in COUNTS[1:])
        lines.append(f"{name:44} {sum(r['steps'] for r in chosen):6} {percentages}")
    return "\n".join(lines)


def counted(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [r for r in rows if not r["area"].startswith(APART)]


def test_the_simulator_answers_like_maas(areas: list[dict[str, Any]], record_property: Callable[..., None]) -> None:
    record_property("conformance", table(areas))  # conftest.py shows it
    rows = counted(areas)
    assert len(areas) == 14
    assert share(rows, "status") >= STATUS, "fewer answers than promised have the status of the real MAAS"
    assert share(rows, "full") >= FULL, "fewer answers than promised are those of the real MAAS"


def test_the_control_api_does_what_the_areas_ask(areas: list[dict[str, Any]]) -> None:
    assert {r["area"]: r["control"] for r in areas if r["control"]} == {}
