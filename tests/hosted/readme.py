# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples in the READMEs of roles, as files to run."""

from __future__ import annotations

import re
from pathlib import Path

ROLES = Path(__file__).resolve().parents[2] / "roles"
EXAMPLE = re.compile(r"^<!-- example -->\n```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def example(role: str, folder: Path, number: int = 0, **words: str) -> str:
    """A marked example of a role's README, as a playbook that stands there, with these words in the place of others."""
    found = EXAMPLE.findall((ROLES / role / "README.md").read_text())
    if len(found) <= number:
        raise ValueError(f"The README of {role} has no example {number}.")
    text = found[number]
    for word, instead in words.items():
        if word not in text:
            raise ValueError(f"Example {number} of {role} does not say {word}.")
        text = text.replace(word, instead)
    file = folder / "example.yml"
    file.write_text(text)
    return str(file)
