# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create, again, change, again, delete, delete again; each in check mode first, on a real LXD over HTTPS."""

from __future__ import annotations

from typing import Any

import pytest

from integration.harness import Outcome
from integration.test_twelve_steps import STEPS
from lxd.cases import LIVES, Case
from lxd.place import Place

WRITES = (": POST", ": PUT", ": PATCH", ": DELETE")


@pytest.mark.parametrize("case", LIVES, ids=str)
def test_the_twelve_steps(lxd: Place, case: Case) -> None:
    case.arrange(lxd)
    for step, changes in STEPS:
        where = f"{case}: {step}{'' if changes else ' again'}"
        before = lxd.snapshot()
        foreseen = lxd.run(case.module, getattr(case, step), check=True)
        assert writes(foreseen) == [], f"{where} in check mode wrote"
        assert lxd.snapshot() == before, f"{where} in check mode changed something"
        done = lxd.run(case.module, getattr(case, step))
        for outcome, mode in ((foreseen, "in check mode"), (done, "for real")):
            assert not outcome.failed, f"{where} {mode}: {outcome.msg}"
            assert outcome.changed == changes, f"{where} {mode}"
            assert bool(outcome["diff"]) == changes, f"{where} {mode}: diff {outcome['diff']}"
        assert bool(writes(done)) == changes, f"{where}: wrote {writes(done)}"
        assert (lxd.snapshot() != before) == changes, where
        assert foreseen["diff"] == done["diff"], f"{where}: the plan shown is not the plan carried out"
        assert_predicted(case, foreseen, done, where)


def writes(outcome: Outcome) -> list[str]:
    return [line for line in outcome.screen.traced if any(method in line for method in WRITES)]


def assert_predicted(case: Case, foreseen: Outcome, done: Outcome, where: str) -> None:
    """What check mode shows has the keys of the real thing, and every value that it claims to know."""
    predicted, real = foreseen[case.noun], done[case.noun]
    if foreseen.changed and real:
        assert predicted.pop("predicted") is True, where
    assert set(real) == set(predicted), where
    for key, value in predicted.items():
        wrong = differing(value, real[key], case.unpredictable)
        assert not wrong, f"{where}: {key}: predicted, real: {wrong}"


def differing(predicted: Any, real: Any, unpredictable: Any) -> Any:
    """What LXD fills in by itself may be more than what was foreseen."""
    if predicted is None or predicted == real:
        return {}
    if not isinstance(predicted, dict):
        return predicted, real
    return {
        key: (value, real.get(key))
        for key, value in predicted.items()
        if key not in unpredictable and value not in (None, real.get(key))
    }
