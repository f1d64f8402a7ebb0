# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab stands alone: Python's standard library, and what its pyproject.toml names."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import metalshift_lab

PACKAGE = Path(metalshift_lab.__file__).parent
PROJECT = Path(__file__).parents[2] / "pyproject.toml"
IMPORTED_AS = {"PyYAML": "yaml"}
# For tests of others that use the lab: pytest brings it.
FOR_TESTS = {PACKAGE / "fixtures.py": {"pytest"}}


def dependencies() -> set[str]:
    (listed,) = re.findall(r"^dependencies = \[(.*)\]$", PROJECT.read_text(), re.MULTILINE)
    return {IMPORTED_AS.get(name, name) for name in re.findall(r'"([\w-]+)', listed)}


def imported(file: Path) -> set[str]:
    """The packages that a file imports from elsewhere."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).partition(".")[0])
    return found


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_file_imports_what_the_package_brings(file: Path) -> None:
    allowed = {"metalshift_lab", *sys.stdlib_module_names, *dependencies(), *FOR_TESTS.get(file, ())}
    assert imported(file) <= allowed
