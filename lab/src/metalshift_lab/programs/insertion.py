# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is put into copied source. Every insertion names a line that must be there exactly once, so that another
version of the source is never changed in another place than was meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .errors import NoPrograms


@dataclass(frozen=True)
class Insertion:
    """A file below the folder of copied modules, a line of it, and what follows that line, as far indented as it is."""

    file: str
    after: str
    text: str


def insert(source: Path, insertions: Iterable[Insertion]) -> None:
    for insertion in insertions:
        _insert(source / insertion.file, insertion)


def _insert(file: Path, insertion: Insertion) -> None:
    lines = file.read_text().splitlines()
    found = [number for number, line in enumerate(lines) if line.strip() == insertion.after]
    if len(found) != 1:
        raise NoPrograms(
            f"The lab's additions do not fit these sources: {insertion.file} has the line {insertion.after!r}"
            f" {len(found)} times instead of once."
        )
    above = lines[found[0]]
    indentation = above[: len(above) - len(above.lstrip())]
    lines[found[0] + 1 : found[0] + 1] = [indentation + line for line in insertion.text.splitlines()]
    file.write_text("\n".join([*lines, ""]))
