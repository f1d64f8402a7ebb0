# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody gives back what a run is still making, at any of its requests: it stays given back."""

from __future__ import annotations

from typing import Any

import pytest

from chaos.assassin import HELD, Door
from chaos.runs import Run
from chaos.test_machine_set import COUNT, assert_deployed, assert_nothing_left, furnish, held, requests_of, wish
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.model import Status

# While machines are taken, and while they are deployed.
SAMPLED = (6, 19)


@pytest.mark.parametrize(
    ("fails", "sampled"),
    [
        pytest.param("", SAMPLED, id="sampled"),
        pytest.param("", (), id="everywhere", marks=pytest.mark.thorough),
        pytest.param("node0[1-3]", (), id="everywhere with a failed one", marks=pytest.mark.thorough),
    ],
)
def test_what_is_given_back_during_a_deployment_is_not_taken_again(
    sim: Simulator, fails: str, sampled: tuple[int, ...]
) -> None:
    def prepare() -> None:
        furnish(sim)
        if fails:
            sim.fault("machine", hostname=fails, action="deploy", times=1)

    with Door(sim) as door:
        prepare()
        stopped = 0
        for at in sampled or range(1, requests_of(sim, door) + 1):
            prepare()
            made, absent, was_whole = given_back_at(sim, door, at)
            if not (absent.get("changed") or absent.get("failed")):
                # It came before the first machine, or after the last request.
                assert not made.get("failed"), f"request {at}: {made['msg']}"
                assert_deployed(sim)
                continue
            sim.forward(1)
            assert_nothing_left(sim)
            assert absent.get("failure", {}).get("kind") in (None, "conflict"), f"request {at}: {absent['msg']}"
            assert made.get("failed") or was_whole, f"request {at}: {made['summary']}, and all of it was given back"
            if made.get("failed"):
                assert made["failure"]["kind"] == "conflict", f"request {at}: {made['msg']}"
                assert "somebody" in made["msg"]
                stopped += 1
        assert stopped >= (len(sampled) or COUNT)


def given_back_at(sim: Simulator, door: Door, at: int) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """The results of a run, of another that gave all back at its request `at`, and whether all was deployed by then."""
    absent: dict[str, Any] = {}
    was_whole = False

    def give_back() -> None:
        nonlocal was_whole
        was_whole = [machine.status for machine in held(sim)].count(Status.DEPLOYED) >= COUNT
        other = wish(sim, door, state="absent")
        absent.update(Run("machine_set", {**other, "maas_endpoint": sim.url}).end() or {})

    run = Run("machine_set", wish(sim, door))
    door.kill(give_back, at, HELD)
    made = run.end()
    door.spare()
    assert made is not None
    return made, absent, was_whole
