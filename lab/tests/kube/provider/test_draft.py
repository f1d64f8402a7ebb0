# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from metalshift_lab.kube.provider.draft import difference


@pytest.mark.parametrize(
    ("before", "now", "patch"),
    [
        ({}, {}, {}),
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": 1}, {}, {"a": None}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
        ({"a": [1]}, {"a": [1, 2]}, {"a": [1, 2]}),
    ],
)
def test_a_patch_is_the_difference(before: dict[str, Any], now: dict[str, Any], patch: dict[str, Any]) -> None:
    assert difference(before, now) == patch
