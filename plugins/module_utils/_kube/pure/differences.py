# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an apply would change.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import Path, at, dotted, leaves
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.units import same

# They name the object; they are no wishes.
_IDENTITY = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}


@dataclass(frozen=True)
class Difference:
    """One field that is not as wished; a wish of None is that it be taken away."""

    path: Path
    now: Any
    wanted: Any

    @property
    def field(self) -> str:
        return dotted(self.path)


def differences(live: Object, wanted: Object, owned: Object) -> list[Difference]:
    """The fields that applying `wanted` would change, and those of `owned` that it would take away.

    Values that mean the same are the same: programs rewrite `10m` as `10m0s` and leave out what is empty.
    """
    return [*_unlike(live, wanted), *_taken_away(live, wanted, owned)]


def _unlike(live: Object, wanted: Object) -> Iterator[Difference]:
    for path, value in leaves(wanted):
        now = at(live, path)
        if path not in _IDENTITY and not alike(now, value):
            yield Difference(path, now, value)


def _taken_away(live: Object, wanted: Object, owned: Object) -> Iterator[Difference]:
    for path, _value in leaves(owned):
        if path not in _IDENTITY and not alike(at(live, path), None) and at(wanted, path) is None:
            yield Difference(path, at(live, path), None)


def alike(one: Any, other: Any) -> bool:
    """Whether two values mean the same; what is empty is as what is not there."""
    if _empty(one) or _empty(other):
        return _empty(one) and _empty(other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(alike(one.get(name), other.get(name)) for name in {*one, *other})
    if _is_list(one) and _is_list(other):
        return len(one) == len(other) and all(map(alike, one, other))
    return same(one, other)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _empty(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_empty, value.values()))
    return value is None or (isinstance(value, (str, list, tuple)) and not value)
