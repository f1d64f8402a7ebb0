# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes to trees of plain data: RFC 7386 merge patches, and values at paths.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

Path = tuple[str, ...]


def merged(target: Any, patch: Any) -> Any:
    """What RFC 7386 makes of `target`: null takes a member away, everything but an object replaces."""
    if not isinstance(patch, Mapping):
        return deepcopy(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def at(tree: Any, path: Sequence[str]) -> Any:
    """The value at a path, or None."""
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Set the value at a path, whatever was there; None takes it away."""
    *way, last = path
    for name in way:
        inner = tree.get(name)
        if not isinstance(inner, dict):
            if value is None:
                return
            inner = tree[name] = {}
        tree = inner
    if value is None:
        tree.pop(last, None)
    else:
        tree[last] = value


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value that is no object, with its path; a list is one value."""
    if isinstance(tree, Mapping) and (tree or not path):
        for name, value in tree.items():
            yield from leaves(value, (*path, name))
    else:
        yield path, tree


def pruned(tree: Any) -> Any:
    """The same without objects and lists that hold nothing, and without null: to the API they say nothing."""
    if isinstance(tree, Mapping):
        inner = {name: pruned(value) for name, value in tree.items()}
        return {name: value for name, value in inner.items() if value is not None and value != {} and value != []}
    if isinstance(tree, (list, tuple)):
        return [pruned(value) for value in tree]
    return tree


def dotted(path: Sequence[str]) -> str:
    """A path as people write it; a name that holds dots itself stands in brackets."""
    text = "".join(f"[{name}]" if "." in name else f".{name}" for name in path)
    return text.lstrip(".")
