# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A custom image: what a task says of it, and what MAAS shows of one.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

# The endings of files, the longest first, and what MAAS calls such a file.
FILETYPES: Mapping[str, str] = {
    ".tar.gz": "tgz",
    ".tgz": "tgz",
    ".tar.bz2": "tbz",
    ".tbz": "tbz",
    ".tar.xz": "txz",
    ".txz": "txz",
    ".gz": "ddgz",
    ".bz2": "ddbz2",
    ".xz": "ddxz",
    ".tar": "ddtar",
    ".raw": "ddraw",
    ".img": "ddraw",
}
CHOICES = ("tgz", "tbz", "txz", "ddraw", "ddgz", "ddbz2", "ddxz", "ddtar", "ddtgz", "ddtbz", "ddtxz")
CUSTOM = "custom/"
# What is shown of an image that goes or comes.
SHOWN = ("name", "architecture", "size", "sha256")


@dataclass(frozen=True)
class ImageSpec:
    """What a task says of an image. A title or base image that it does not name is MAAS's choice."""

    name: str
    architecture: str
    filetype: str = ""
    title: str = ""
    base_image: str = ""
    present: bool = True

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> ImageSpec:
        name = params["name"].strip().removeprefix(CUSTOM)
        if not name or "/" in name:
            raise invalid(
                f"name cannot be {params['name']!r}: it is a custom image's, such as rhcos-4-20.",
                "Images of an operating system with a stream of its own are imported by MAAS.",
            )
        present = params["state"] == "present"
        if present and not params["path"]:
            raise invalid("state: present needs path.", "Give the file of the image, where the module runs.")
        architecture = params["architecture"].strip()
        return cls(
            name=name,
            architecture=architecture if "/" in architecture else f"{architecture}/generic",
            filetype=(params["filetype"] or filetype_of(params["path"])) if present else "",
            title=(params["title"] or "").strip(),
            base_image=(params["base_image"] or "").strip(),
            present=present,
        )

    @property
    def label(self) -> str:
        return f"image {self.name} ({self.architecture})"


def filetype_of(path: str) -> str:
    """What MAAS calls a file with such a name."""
    found = next((kind for ending, kind in FILETYPES.items() if path.lower().endswith(ending)), "")
    if not found:
        raise invalid(
            f"What kind of image {path} is cannot be seen from its name.", f"Set filetype: {', '.join(CHOICES)}."
        )
    return found


@dataclass(frozen=True)
class ImageState:
    """An image as MAAS has it: its newest content, and how many bytes of that have arrived."""

    id: int | None = None
    name: str = ""
    architecture: str = ""
    title: str = ""
    base_image: str | None = ""
    size: int | None = None
    sha256: str = ""
    complete: bool = False
    received: int = 0
    # Below `api/2.0/`; empty once all has arrived.
    upload: str = ""
    last_deployed: str | None = None
    predicted: bool = False

    @classmethod
    def from_resource(cls, resource: Mapping[str, Any]) -> ImageState:
        """From what MAAS answers for one boot resource."""
        sets = resource.get("sets") or {}
        files = sets[max(sets, key=_version)]["files"] if sets else {}
        file: Mapping[str, Any] = next(iter(files.values()), {})
        size = int(file.get("size") or 0)
        complete = bool(file.get("complete"))
        return cls(
            id=resource["id"],
            name=str(resource["name"]),
            architecture=str(resource["architecture"]),
            title=str(resource.get("title") or ""),
            base_image=str(resource.get("base_image") or ""),
            size=size,
            sha256=str(file.get("sha256") or ""),
            complete=complete,
            received=size if complete else round(float(file.get("progress") or 0) * size / 100),
            upload=str(file.get("upload_uri") or "").rpartition("/api/2.0/")[2],
            last_deployed=resource.get("last_deployed"),
        )

    def as_result(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "architecture": self.architecture,
            "title": self.title,
            "base_image": self.base_image,
            "size": self.size,
            "sha256": self.sha256,
            "complete": self.complete,
            "last_deployed": self.last_deployed,
            **({"predicted": True} if self.predicted else {}),
        }


def _version(version: str) -> tuple[int, ...]:
    """Versions are days with a number, `20261120.2`: not to be compared as texts."""
    return tuple(int(number) for number in re.findall(r"\d+", version))
