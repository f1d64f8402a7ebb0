# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings the parts of `make test` that ran before pytest into its account, so that its last line counts them too."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

RECORD = os.environ.get("METALSHIFT_PARTS")
PARTS: list[dict[str, Any]] = json.loads(Path(RECORD).read_text()) if RECORD else []


@pytest.mark.parametrize("part", PARTS, ids=[part["name"] for part in PARTS])
def test_part(part: dict[str, Any]) -> None:
    if part["outcome"] == "not run":
        pytest.skip(part["remark"])
    if part["outcome"] == "failed":
        pytest.fail(f"{part['name']} failed; its output is further up", pytrace=False)
