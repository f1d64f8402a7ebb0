# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create, again, change, again, delete, delete again; each in check mode first."""

from __future__ import annotations

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import LISTS as MACHINE_LISTS
from integration.cases import LIVES, Case
from integration.harness import Outcome, run_task
from metalshift_lab.simulator import Simulator

LISTS = {*MACHINE_LISTS, "mac_addresses"}

STEPS = (
    ("create", True),
    ("create", False),
    ("change", True),
    ("change", False),
    ("delete", True),
    ("delete", False),
)


@pytest.mark.smoke
@pytest.mark.parametrize("case", LIVES, ids=str)
def test_the_twelve_steps(sim: Simulator, case: Case) -> None:
    case.arrange(sim)
    for step, changes in STEPS:
        where = f"{case}: {step}{'' if changes else ' again'}"
        foreseen = _run(sim, case, step, check=True)
        assert sim.requests.writes() == [], f"{where} in check mode wrote"
        done = _run(sim, case, step, check=False)
        for outcome, mode in ((foreseen, "in check mode"), (done, "for real")):
            assert not outcome.failed, f"{where} {mode}: {outcome.msg}"
            assert outcome.changed == changes, f"{where} {mode}"
            assert bool(outcome["diff"]) == changes, f"{where} {mode}: diff {outcome['diff']}"
        assert bool(sim.requests.writes()) == changes, f"{where}: wrote {sim.requests.writes()}"
        assert foreseen["diff"] == done["diff"], f"{where}: the plan shown is not the plan carried out"
        assert foreseen["plan"] == done["plan"], f"{where}: the plan returned is not the plan carried out"
        assert bool(done["plan"]) == changes, f"{where}: plan {done['plan']}"
        assert_predicted(case, foreseen, done, where)


def _run(sim: Simulator, case: Case, step: str, *, check: bool) -> Outcome:
    sim.requests.clear()
    return run_task(sim, case.module, getattr(case, step), check=check)


def assert_predicted(case: Case, foreseen: Outcome, done: Outcome, where: str) -> None:
    """What check mode shows has the keys of the real thing, and every value that it claims to know."""
    noun = case.noun or case.module
    predicted, real = foreseen[noun], done[noun]
    if not isinstance(real, dict):
        return
    if foreseen.changed and real:
        assert predicted.pop("predicted") is True, where
    missing = set(real) - set(predicted) - set(case.unpredictable)
    assert not missing, f"{where}: the predicted {noun} lacks {missing}"
    # A list that is not known yet is empty, so that templates can loop over it.
    known = {key: value for key, value in predicted.items() if value is not None and (value != [] or key not in LISTS)}
    wrong = {key: (value, real.get(key)) for key, value in known.items() if value != real.get(key)}
    assert not wrong, f"{where}: predicted, real: {wrong}"
