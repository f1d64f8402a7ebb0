# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What decides about hosted clusters does no I/O: it imports the standard library's plain parts, and what decides."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module

import pytest

PACKAGE = "ansible_collections.metalshift.maas.plugins.module_utils"
PURE = {
    f"{PACKAGE}._failure",
    f"{PACKAGE}._printable",
    *(
        f"{PACKAGE}._kube.{name}"
        for name in (
            "capability",
            "cluster_manifest",
            "cluster_progress",
            "condition_docs",
            "conditions",
            "conditions_cluster_api",
            "conditions_hypershift",
            "control_plane_owner",
            "csr",
            "differences",
            "errors",
            "fields",
            "findings",
            "immutables",
            "kinds",
            "letting_go",
            "meanings",
            "merge",
            "moments",
            "ownership",
            "pool_manifest",
            "pool_progress",
            "programs",
            "progress",
            "provider_id",
            "provider_pauses",
            "publishing",
            "releases",
            "removal",
            "removal_progress",
            "secrets",
            "shared_rows",
            "sight",
            "units",
            "views",
        )
    ),
}
PLAIN = {
    *("__future__", "base64", "binascii", "collections", "collections.abc", "copy", "dataclasses", "decimal"),
    *("datetime", "functools", "ipaddress", "itertools", "json", "re", "typing"),
}


def imported(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # `from ._kube import conditions` imports a module, `from .conditions import TABLE` a name of one.
            modules = {f"{node.module}.{alias.name}" for alias in node.names} & PURE
            names |= modules or {f"{node.module}"}
    return names


@pytest.mark.parametrize("name", sorted(PURE))
def test_what_decides_imports_nothing_that_acts(name: str) -> None:
    assert imported(inspect.getsource(import_module(name))) <= PURE | PLAIN
