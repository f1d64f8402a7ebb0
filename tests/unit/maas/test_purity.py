# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What decides does no I/O: it imports the standard library's plain parts, and what decides."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module

import pytest

PACKAGE = "ansible_collections.metalshift.maas.plugins.module_utils"
PURE = {
    *(
        f"{PACKAGE}.{name}"
        for name in ("_failure", "_placement", "_plan", "_printable", "_static_addresses", "_vm_set_plan")
    ),
    *(
        f"{PACKAGE}._maas.{name}"
        for name in (
            "addresses",
            "changes",
            "claims",
            "constraints",
            "disks",
            "forms",
            "lifecycle",
            "lifecycle_docs",
            "lifecycle_table",
            "links",
            "machine_fields",
            "naming",
            "networks",
            "refusals",
            "sizes",
            "spreading",
            "statuses",
            "vm_hosts_address",
            "vm_hosts_capacity",
            "vm_hosts_discovery",
            "vm_hosts_fields",
            "vm_hosts_guests",
            "vm_hosts_token",
            "wishes",
        )
    ),
}
PLAIN = {
    "__future__",
    "base64",
    "collections",
    "collections.abc",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "functools",
    "ipaddress",
    "itertools",
    "json",
    "re",
    "typing",
    "urllib.parse",
}


def imported(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # `from ._maas import disks` imports a module, `from .disks import Disk` a name of one.
            modules = {f"{node.module}.{alias.name}" for alias in node.names} & PURE
            names |= modules or {f"{node.module}"}
    return names


@pytest.mark.parametrize("name", sorted(PURE))
def test_what_decides_imports_nothing_that_acts(name: str) -> None:
    assert imported(inspect.getsource(import_module(name))) <= PURE | PLAIN
