# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples in the READMEs of roles, as files to run."""

from __future__ import annotations

import re
from pathlib import Path

ROLES = Path(__file__).resolve().parents[2] / "roles"
EXAMPLE = re.compile(r"^<!-- example -->\n```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def example(role: str, folder: Path) -> str:
    """The first marked example of a role's README, as a playbook that stands there."""
    found = EXAMPLE.search((ROLES / role / "README.md").read_text())
    if found is None:
        raise ValueError(f"The README of {role} has no example.")
    file = folder / "example.yml"
    file.write_text(found[1])
    return str(file)
