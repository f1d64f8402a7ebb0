# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who wrote which field of an object, as the API server notes it in `metadata.managedFields`.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import MANAGER


def applied(body: Object, manager: str = MANAGER) -> Object:
    """The part of an object that a manager applied, as it is now: what it must apply again to keep it."""
    part: Object = {}
    for entry in _entries(body):
        if entry.get("manager") == manager and entry.get("operation") == "Apply" and not entry.get("subresource"):
            part = _part(body, entry.get("fieldsV1") or {})
    return part


def managers(body: Object, path: Sequence[str]) -> list[str]:
    """Everybody who wrote the value at a path, or something in it."""
    return list(dict.fromkeys(entry["manager"] for entry in entries(body, path)))


def entries(body: Object, path: Sequence[str]) -> list[Mapping[str, Any]]:
    """The same with what else is noted of them, such as when they wrote it."""
    return [entry for entry in _entries(body) if _has(entry.get("fieldsV1") or {}, path)]


def _entries(body: Object) -> Iterator[Mapping[str, Any]]:
    yield from body.get("metadata", {}).get("managedFields") or ()


def _has(fields: Mapping[str, Any], path: Sequence[str]) -> bool:
    for name in path:
        if f"f:{name}" not in fields:
            return False
        fields = fields[f"f:{name}"]
        if not fields:
            return True
    return True


def _part(value: Any, fields: Mapping[str, Any]) -> Any:
    if not fields:
        return deepcopy(value)
    if isinstance(value, Mapping):
        names = {key[2:]: inner for key, inner in fields.items() if key.startswith("f:")}
        return {name: _part(value[name], inner) for name, inner in names.items() if name in value}
    if isinstance(value, list):
        return [_part(item, inner) for item in value for inner in _of_item(item, fields)]
    return deepcopy(value)


def _of_item(item: Any, fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The fields of one item of a list, if the manager wrote any: items are known by their keys or their value."""
    for key, inner in fields.items():
        kind, _colon, text = key.partition(":")
        if kind == "k" and isinstance(item, Mapping) and json.loads(text).items() <= item.items():
            yield inner
        elif kind == "v" and json.loads(text) == item:
            yield {}
