# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What users ask of machines: commission, deploy, release and so on, each with the states it is allowed in."""

from __future__ import annotations

from collections.abc import Iterable

from lab.simulator.errors import Refusal
from lab.simulator.http import Request
from lab.simulator.model import Machine, ResultType, Status


def commission(
    request: Request, machine: Machine, scripts: Iterable[str] | None = None, tests: Iterable[str] | None = None
) -> None:
    """Start commissioning. When the machine cannot be switched on it is New again, and the answer an error."""
    state, engine = request.state, request.state.engine
    machine.previous_status = machine.status
    machine.owner = request.user
    engine.asked(machine, "User starting node commissioning", request.user)
    engine.start_scripts(machine, ResultType.COMMISSIONING, scripts)
    engine.start_scripts(machine, ResultType.TESTING, tests)
    engine.enter(machine, Status.COMMISSIONING)
    engine.say(machine, "Commissioning")

    def switch_on() -> None:
        try:
            engine.switch_on(machine)
        except Refusal:
            machine.owner = None
            engine.enter(machine, machine.previous_status)
            raise

    request.after_commit(switch_on)
    machine.updated = state.now
