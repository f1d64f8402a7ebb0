# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/MAAS/metadata/: the index of what booting machines ask for. No machine boots here, so there is no more of it."""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.http import Request, text
from metalshift_lab.simulator.routing import get, resource

VERSIONS = ("latest", "2012-03-01")
CONTENTS = ("meta-data", "user-data")


@resource("/MAAS/metadata/", public=True)
class Metadata:
    @get(anonymous=True)
    def read(self, _request: Request) -> Any:
        return text("\n".join(VERSIONS))


@resource("/MAAS/metadata/{version:latest|2012-03-01}/", public=True)
class MetadataVersion:
    @get(anonymous=True)
    def read(self, _request: Request, version: str) -> Any:
        return text("\n".join(CONTENTS))
