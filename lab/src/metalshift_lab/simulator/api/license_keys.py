# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""license-keys/ and license-key/: only Windows needs keys, and there are no images of it, so none is ever accepted"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.errors import NotFound
from metalshift_lab.simulator.forms import Field, Form, listed
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.routing import delete, get, post, put, resource


@resource("license-keys/")
class LicenseKeys:
    @get(admin=True)
    def list(self, _request: Request) -> Any:
        return []

    @post(admin=True)
    def create(self, request: Request) -> Any:
        fields = [
            Field("osystem", listed("osystem", ()), required=True),
            Field("distro_series", listed("distro_series", ()), required=True),
            Field("license_key", required=True),
        ]
        Form(request.data, fields).finish()


@resource("license-key/{osystem}/{distro_series}")
class LicenseKeyItem:
    @get(admin=True)
    def read(self, _request: Request, osystem: str, distro_series: str) -> Any:
        raise NotFound.of("LicenseKey")

    @put(admin=True)
    def update(self, _request: Request, osystem: str, distro_series: str) -> Any:
        raise NotFound.of("LicenseKey")

    @delete(admin=True)
    def delete(self, _request: Request, osystem: str, distro_series: str) -> Any:
        raise NotFound.of("LicenseKey")
