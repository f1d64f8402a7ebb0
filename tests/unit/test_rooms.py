# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rooms of module_utils: a layer imports only what is below it, and what lies in a folder `pure` does no I/O."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = "ansible_collections.metalshift.maas.plugins.module_utils"
UTILS = Path(__file__).resolve().parents[2] / "plugins" / "module_utils"
# The parts of the standard library that compute and do nothing else.
PLAIN = {
    *("__future__", "base64", "binascii", "collections", "collections.abc", "copy", "dataclasses", "datetime"),
    *("decimal", "difflib", "enum", "functools", "ipaddress", "itertools", "json", "re", "typing", "urllib.parse"),
}
# Which layers a layer may import, besides itself.
LAYERS = {
    "_core": set(),
    "_http": {"_core"},
    "_maas": {"_core", "_http"},
    "_lxd": {"_core", "_http"},
    "_kube": {"_core", "_http"},
    "_vms": {"_core", "_http", "_maas", "_lxd"},
    "_clusters": {"_core", "_http", "_maas", "_lxd", "_kube"},
}
# The task opens the client that its module needs, when it is first asked for.
OPENED_BY_THE_TASK = {"_maas.client", "_maas.connection", "_lxd.client", "_lxd.connection"}
OPENED_BY_THE_TASK |= {"_kube.client", "_kube.connection"}
FILES = {".".join(file.relative_to(UTILS).with_suffix("").parts): file for file in sorted(UTILS.rglob("*.py"))}
PURE = {name for name in FILES if "pure" in name.split(".")}


def imported(name: str) -> set[str]:
    """The modules that a module imports; those of module_utils by their names below it."""
    names = set()
    for node in ast.walk(ast.parse(FILES[name].read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            base = f"{node.module}"[len(PACKAGE) + 1 :]
            # `from ._maas.named import tags` imports a module, `from ._maas.named.tags import Tag` a name of one.
            modules = {f"{base}.{alias.name}".lstrip(".") for alias in node.names} & set(FILES)
            names |= modules or {base}
        elif isinstance(node, ast.ImportFrom):
            names.add(f"{node.module}")
    return names


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_in_a_room(name: str) -> None:
    assert name.partition(".")[0] in LAYERS


@pytest.mark.parametrize("name", sorted(PURE))
def test_what_is_pure_imports_nothing_that_acts(name: str) -> None:
    assert imported(name) <= PURE | PLAIN


@pytest.mark.parametrize("name", FILES)
def test_a_layer_imports_only_what_is_below_it(name: str) -> None:
    layer = name.partition(".")[0]
    above = {each for each in imported(name) & set(FILES) if each.partition(".")[0] not in {layer, *LAYERS[layer]}}
    assert above <= (OPENED_BY_THE_TASK if name == "_core.task" else set())


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("_lxd.")])
def test_what_knows_lxd_knows_nothing_of_ansible(name: str) -> None:
    assert not any(each.partition(".")[0] == "ansible" for each in imported(name))
    assert "_core.task" not in imported(name) or name.endswith(".engine")


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for name, file in FILES.items():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(name)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


@pytest.mark.parametrize("folder", ["plugins", "roles", "playbooks", "meta"])
def test_what_users_install_knows_nothing_of_the_lab(folder: str) -> None:
    root = UTILS.parents[1] / folder
    files = [file for file in sorted(root.rglob("*")) if file.is_file() and file.suffix in (".py", ".yml", ".j2")]
    assert files
    assert [str(file) for file in files if "metalshift_lab" in file.read_text()] == []
