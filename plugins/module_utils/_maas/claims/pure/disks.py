# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Storage constraints: what is written, what MAAS is sent, and whether a machine has the disks.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes

WRITTEN = re.compile(r"(?:(?P<label>[^:()]*):)?(?P<size>[^:()]+)(?:\((?P<tags>[^()]*)\))?")
COMMA_OUTSIDE_PARENTHESES = re.compile(r",(?![^()]*\))")
HINT = "Write LABEL:SIZE(TAG,TAG) such as root:100GB(ssd), or a dictionary with size, and label and tags if wanted."


@dataclass(frozen=True)
class DiskConstraint:
    """One disk that a machine has to have. MAAS takes the first of several as the one with the root file system."""

    size: int  # bytes
    label: str = ""
    tags: tuple[str, ...] = ()

    @property
    def constraint(self) -> str:
        """As MAAS reads it: root:100(ssd)."""
        label = f"{self.label}:" if self.label else ""
        tags = f"({','.join(self.tags)})" if self.tags else ""
        return f"{label}{sizes.gigabytes(self.size)}{tags}"

    def __str__(self) -> str:
        return sizes.text(self.size) + (f" ({', '.join(self.tags)})" if self.tags else "")


def parse(value: object) -> tuple[DiskConstraint, ...]:
    """The disks that the option `storage` asks for."""
    if value is None:
        return ()
    parts: list[object] = []
    for item in value if isinstance(value, list | tuple) else [value]:
        parts += COMMA_OUTSIDE_PARENTHESES.split(item) if isinstance(item, str) else [item]
    found = tuple(_from_dict(part) if isinstance(part, Mapping) else _from_text(part) for part in parts)
    labels = [disk.label for disk in found if disk.label]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise invalid(f"storage has the label {twice[0]} twice.", "Give every disk a label of its own.")
    return found


def why_not(machine: Mapping[str, Any], wanted: tuple[DiskConstraint, ...]) -> list[str]:
    """The disks that a machine lacks, in plain words."""
    # As MAAS chooses: the first is the root disk; of the others, those with the most tags choose first.
    lacking = []
    taken: set[object] = set()
    for disk in [*wanted[:1], *sorted(wanted[1:], key=lambda disk: -len(disk.tags))]:
        root = disk is wanted[0]
        kind = "partition" if "partition" in disk.tags else "disk"
        tags = set(disk.tags) - {"partition"}
        fits = [
            device
            for device in _devices(machine, kind, root)
            if device["size"] >= disk.size and tags.issubset(device.get("tags") or ()) and _key(device) not in taken
        ]
        if fits:
            taken.add(_key(min(fits, key=lambda device: (device["size"], str(device.get("id"))))))
        else:
            lacking.append(f"no {'root' if root else 'unused'} {kind} of {disk}")
    return lacking


def _devices(machine: Mapping[str, Any], kind: str, root: bool) -> list[Mapping[str, Any]]:
    """Disks or partitions that carry the root file system, or that nothing uses."""
    found = []
    for disk in machine.get("blockdevice_set") or ():
        partitions = disk.get("partitions") or ()
        if kind == "partition":
            found += [part for part in partitions if (_is_root(part) if root else not part.get("filesystem"))]
        elif root:
            found += [disk] if any(map(_is_root, (disk, *partitions))) else []
        elif not disk.get("filesystem") and not disk.get("partition_table_type"):
            found.append(disk)
    return found


def _is_root(device: Mapping[str, Any]) -> bool:
    return (device.get("filesystem") or {}).get("mount_point") == "/"


def _key(device: Mapping[str, Any]) -> object:
    return (device.get("type"), device.get("id"))


def _from_text(value: object) -> DiskConstraint:
    found = None if isinstance(value, bool) else WRITTEN.fullmatch(str(value).strip())
    if found is None:
        raise _wrong(value)
    return _disk(value, found["label"], found["size"], (found["tags"] or "").split(",") if found["tags"] else ())


def _from_dict(value: Mapping[str, Any]) -> DiskConstraint:
    unknown = sorted(set(value) - {"label", "size", "tags"})
    if unknown or value.get("size") is None:
        raise _wrong(value)
    tags = value.get("tags") or ()
    return _disk(value, value.get("label") or None, value["size"], tags.split(",") if isinstance(tags, str) else tags)


def _disk(value: object, label: str | None, size: object, tags: Iterable[str]) -> DiskConstraint:
    words = tuple(str(tag).strip() for tag in tags)
    if (label is not None and not re.fullmatch("[a-zA-Z0-9]+", label)) or not all(
        re.fullmatch(r"[^(),\s]+", word) for word in words
    ):
        raise _wrong(value)
    return DiskConstraint(sizes.parse(size, "storage", "GB"), label or "", words)


def _wrong(value: object) -> Failure:
    return invalid(f"storage cannot contain {value!r}.", HINT)
