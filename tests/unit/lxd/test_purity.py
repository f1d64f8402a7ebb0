# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What decides does no I/O, and what knows LXD knows nothing else."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = "ansible_collections.metalshift.maas.plugins.module_utils"
UTILS = Path(__file__).resolve().parents[3] / "plugins" / "module_utils"
PURE = {
    f"{PACKAGE}._failure",
    f"{PACKAGE}._plan",
    f"{PACKAGE}._printable",
    *(
        f"{PACKAGE}._lxd.{name}"
        for name in (
            "capabilities",
            "errors",
            "kinds",
            "server",
            "settings",
            "tokens",
            "trust_wish",
            "users",
            "wire",
        )
    ),
}
PLAIN = {
    *("__future__", "base64", "collections", "collections.abc", "dataclasses", "datetime", "json", "re", "typing"),
    "urllib.parse",
}
# Which layer may import which, besides itself and what all share.
LAYERS = {
    "_maas": set(),
    "_kube": set(),
    "_lxd": set(),
    "_journey": {"_maas", "_kube", "_lxd"},
    "_vms": {"_maas", "_lxd"},
}


def imported(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # `from ._lxd import users` imports a module, `from .users import listed` a name of one.
            modules = {f"{node.module}.{alias.name}" for alias in node.names} & PURE
            names |= modules or {f"{node.module}"}
    return names


@pytest.mark.parametrize("name", sorted(PURE))
def test_what_decides_imports_nothing_that_acts(name: str) -> None:
    assert imported(inspect.getsource(import_module(name))) <= PURE | PLAIN


def files() -> Iterator[tuple[str, Path]]:
    for layer in LAYERS:
        for file in sorted((UTILS / layer).glob("*.py")):
            yield layer, file


@pytest.mark.parametrize(("layer", "file"), [pytest.param(*each, id=f"{each[0]}.{each[1].stem}") for each in files()])
def test_a_layer_imports_only_what_is_below_it(layer: str, file: Path) -> None:
    ours = {
        name.removeprefix(f"{PACKAGE}.").partition(".")[0] for name in imported(file.read_text()) if PACKAGE in name
    }
    assert ours & set(LAYERS) <= {layer, *LAYERS[layer]}


@pytest.mark.parametrize("file", sorted((UTILS / "_lxd").glob("*.py")), ids=lambda file: file.stem)
def test_what_knows_lxd_knows_nothing_of_ansible(file: Path) -> None:
    assert not any(name.startswith("ansible.") for name in imported(file.read_text()))
    assert f"{PACKAGE}._task" not in imported(file.read_text())
