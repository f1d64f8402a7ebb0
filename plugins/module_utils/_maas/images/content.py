# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of an image: what it holds, and how it reaches MAAS in pieces.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.images.pure.spec import ImageState

# What MAAS's own command sends at once.
PIECE = 4 << 20
BLOCK = 1 << 20
# So many seconds pass between two lines.
LINES_EVERY = 10.0


@dataclass(frozen=True)
class Content:
    """A file, its size, and the hash of all of it."""

    path: Path
    size: int
    sha256: str

    @classmethod
    def of(cls, path: str) -> Content:
        """Reads all of the file, once."""
        file, digest, size = Path(path), hashlib.sha256(), 0
        try:
            with file.open("rb") as opened:
                while block := opened.read(BLOCK):
                    digest.update(block)
                    size += len(block)
        except OSError as error:
            raise invalid(f"The file {path} cannot be read: {error.strerror}.") from error
        if not size:
            raise invalid(f"The file {path} is empty.")
        return cls(file, size, digest.hexdigest())


@dataclass(frozen=True)
class Upload:
    """Sends what MAAS does not have yet of a file, and says how far it is."""

    maas: Client
    content: Content
    read: Callable[[], ImageState]
    say: Callable[[str], None]
    clock: Clock

    def send(self, image: ImageState) -> ImageState:
        """All pieces from where MAAS is; the image then, whose content MAAS has compared with the hash."""
        began = said = self.clock.now()
        sent = self._begin(image)
        while not image.complete:
            piece = self._piece(sent)
            sent = self._put(image.upload, piece, sent)
            now = self.clock.now()
            if sent >= self.content.size:
                return self.read()
            if now - said >= LINES_EVERY:
                said = now
                self.say(self._line(sent, now - began))
        return image

    def _begin(self, image: ImageState) -> int:
        """MAAS tells a percentage; what has arrived are whole pieces."""
        return min(round(image.received / PIECE) * PIECE, self.content.size)

    def _piece(self, start: int) -> bytes:
        try:
            with self.content.path.open("rb") as opened:
                opened.seek(start)
                piece = opened.read(min(PIECE, self.content.size - start))
        except OSError as error:
            raise invalid(f"The file {self.content.path} cannot be read any more: {error.strerror}.") from error
        if not piece:
            raise Failure(
                "conflict",
                f"The file {self.content.path} became shorter while it was uploaded.",
                object=str(self.content.path),
                reason="the file became shorter while it was uploaded",
                hint="Run the task again when nobody writes the file.",
            )
        return piece

    def _put(self, path: str, piece: bytes, start: int) -> int:
        """Send one piece; how many bytes MAAS has then. MAAS appends, so a lost answer is looked up, not repeated."""
        end = start + len(piece)

        def settled() -> int | None:
            image = self.read()
            return end if image.complete or self._begin(image) >= end else None

        self.maas.upload(path, piece, settled=settled)
        return end

    def _line(self, sent: int, seconds: float) -> str:
        return f"{sent >> 20} of {self.content.size >> 20} MiB uploaded, {seconds:.0f}s"
