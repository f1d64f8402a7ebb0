# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What MAAS can deploy, so that a wrong name is found before a machine is taken for it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import did_you_mean, listed
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client

CUSTOM = "custom"


@dataclass(frozen=True)
class Images:
    """The images that there are, as `osystem/series`, and the kernels of each that has several."""

    kernels: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, maas: Client) -> Images:
        return cls.from_resources(maas.get("boot-resources/"))

    @classmethod
    def from_resources(cls, resources: Iterable[Mapping[str, Any]]) -> Images:
        kernels: dict[str, set[str]] = {}
        for resource in resources:
            name = str(resource["name"])
            known = kernels.setdefault(name if "/" in name else f"{CUSTOM}/{name}", set())
            known.add(str(resource.get("architecture") or "").partition("/")[2])
            known.update(str(resource.get("subarches") or "").split(","))
        return cls({name: frozenset(known - {""}) for name, known in kernels.items()})

    def named(self, series: str) -> list[str]:
        """The images that a name stands for, with or without its system."""
        return [name for name in self.kernels if series in (name, name.partition("/")[2])]

    def why_not(self, series: str | None, kernel: str | None) -> Failure | None:
        """What keeps these from being deployed. Without a series MAAS takes its default, which is not known here."""
        found = self.named(series) if series else sorted(self.kernels)
        if not found:
            return _unknown(f"distro_series: {series} is not an image of this MAAS", str(series), self.kernels)
        known = frozenset[str]().union(*(self.kernels[name] for name in found))
        if kernel and kernel not in known:
            what = f"hwe_kernel: {kernel} is not a kernel {f'of {found[0]}' if series else 'of an image'} in this MAAS"
            return _unknown(what, kernel, known)
        return None


def _unknown(what: str, asked: str, known: Iterable[str]) -> Failure:
    names = list(known)
    said = f"{what}; it has {listed(names)}."
    hint = did_you_mean(asked, names, otherwise="Import or upload it first.")
    return Failure("rejected", said, object=asked, reason=said.rstrip("."), hint=hint)


def uploaded_later(series: str | None) -> bool:
    """Whether an earlier task of a play in check mode may be the one that would have uploaded the image."""
    return (series or "").startswith(f"{CUSTOM}/")
