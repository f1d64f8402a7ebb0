# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fact has one address: the key of an annotation, a label or a finalizer is written once."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
DOMAIN = r"(?:metalshift\.maas|(?:[a-z0-9-]+\.)*(?:openshift|x-k8s|kubernetes|k8s)\.io)"
# A key within any text, but not the version of an API, which the kinds of it share.
KEY = re.compile(rf"(?<![\w.-]){DOMAIN}/(?!v\d)[A-Za-z][\w.-]*")
FINALIZER = re.compile(r"[a-z]+\.(?:infrastructure\.)?cluster\.x-k8s\.io")
DOCUMENTATION = ("DOCUMENTATION", "EXAMPLES", "RETURN")
# The mark of this collection in MAAS: `metalshift_claim`.
OF_MAAS = re.compile(r"metalshift_[a-z_]+")


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """The texts in the code; not those of documentation, which people read as they are."""
    tree = ast.parse(file.read_text())
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and getattr(node.targets[0], "id", "") in ("DOCUMENTATION", "EXAMPLES", "RETURN")
    }
    sentences = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation | sentences:
            yield node.lineno, node.value


def test_a_key_is_written_once() -> None:
    places: dict[str, set[str]] = defaultdict(set)
    for file in sorted(PLUGINS.rglob("*.py")):
        if file.parent.name == "doc_fragments":
            continue
        for line, text in texts(file):
            whole = [text] if FINALIZER.fullmatch(text) or OF_MAAS.fullmatch(text) else []
            for key in {*KEY.findall(text), *whole}:
                places[key].add(f"{file.relative_to(PLUGINS)}:{line}")
    assert "hypershift.openshift.io/nodePool" in places
    assert {key: sorted(where) for key, where in places.items() if len(where) > 1} == {}


def test_a_failure_is_not_changed_but_replaced() -> None:
    """It may have been shown, or be another object's as well."""
    parts = {"object", "message", "reason", "hint", "events", "fields", "kind", "status"}
    changed = [
        f"{file.relative_to(PLUGINS)}:{target.lineno}"
        for file in sorted(PLUGINS.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, (ast.Assign, ast.AugAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute) and target.attr in parts and getattr(target.value, "id", "self") != "self"
    ]
    assert changed == []
