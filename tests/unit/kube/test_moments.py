# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import is_paused
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of, stamp_of

NOON = 1795003200.0


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("2026-11-18T12:00:00Z", NOON),
        ("2026-11-18T14:00:00+02:00", NOON),
        ("2026-11-18T12:00:00.25Z", NOON + 0.25),
        ("2026-11-18T12:00:00.123456789Z", NOON + 0.123456789),
    ],
)
def test_every_form_of_a_time_is_read(stamp: str, seconds: float) -> None:
    assert seconds_of(stamp) == pytest.approx(seconds)


@pytest.mark.parametrize("stamp", ["", None, 5, "soon", "2026-11-18", "2026-11-18T25:00:00Z", "2026-11-18T12:00:00"])
def test_what_is_no_time_is_none(stamp: Any) -> None:
    assert seconds_of(stamp) is None


def test_a_time_comes_back_as_it_was_written() -> None:
    assert stamp_of(NOON) == "2026-11-18T12:00:00Z"


@pytest.mark.parametrize(
    ("until", "paused"),
    [
        ("true", True),
        ("True", True),
        ("false", False),
        ("", False),
        (None, False),
        ("2026-11-18T12:00:01Z", True),
        ("2026-11-18T12:00:00Z", False),
    ],
)
def test_a_pause_holds_as_long_as_it_says(until: str | None, paused: bool) -> None:
    assert is_paused({"pausedUntil": until}, NOON) is paused
    assert is_paused(None, NOON) is False
