# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""boot-sources/ and their selections. No source can be reached from here, so no selection ever finds an image."""

from __future__ import annotations

import base64
from typing import Any

from metalshift_lab.simulator.errors import NotFound
from metalshift_lab.simulator.forms import Field, Form, assign
from metalshift_lab.simulator.http import NO_CONTENT, Json, Request
from metalshift_lab.simulator.model import BootSource
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.settings import url

BOTH = "Only one of keyring_filename or keyring_data can be specified."
NEITHER = "One of keyring_data or keyring_filename must be specified."


def source_form(request: Request, source: BootSource | None = None) -> Form:
    form = Form(request.data, [Field("url", url, required=True), Field("keyring_filename")], partial=source is not None)
    taken = {s.url for s in request.state.boot_sources if s is not source}
    form.unique("url", "Boot source", taken)
    if "keyring_data" in request.files:
        form.cleaned["keyring_data"] = request.files["keyring_data"]
    filename = form.get("keyring_filename", source.keyring_filename if source else "")
    data = form.get("keyring_data", source.keyring_data if source else b"")
    if not form.unbound and not (filename or data):
        form.fail("__all__", NEITHER)
    if filename and data:
        form.fail("__all__", BOTH)
    form.finish()
    return form


@resource("boot-sources/")
class BootSources:
    @get()
    def list(self, request: Request) -> Any:
        return [_render(s) for s in request.state.boot_sources]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        state = request.state
        source = state.boot_sources.make(
            BootSource, created=state.now, updated=state.now, **source_form(request).cleaned
        )
        return Json(_render(source), 201)


@resource("boot-sources/{id}/")
class BootSourceItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return _render(request.state.boot_sources.get(id))

    @put(admin=True)
    def update(self, request: Request, id: str) -> Any:
        source = request.state.boot_sources.get(id)
        assign(source, source_form(request, source), ("url", "keyring_filename", "keyring_data"))
        source.updated = request.state.now
        return _render(source)

    @delete(admin=True)
    def delete(self, request: Request, id: str) -> Any:
        request.state.boot_sources.discard(request.state.boot_sources.get(id))
        return NO_CONTENT


@resource("boot-sources/{source_id}/selections/")
class Selections:
    @get()
    def list(self, request: Request, source_id: str) -> Any:
        request.state.boot_sources.get(source_id)
        return []

    @post(admin=True)
    def create(self, request: Request, source_id: str) -> Any:
        request.state.boot_sources.get(source_id)
        fields = [Field("os"), Field("release")]
        fields += [Field(name, many=True, required=True) for name in ("arches", "subarches", "labels")]
        form = Form(request.data, fields)
        what = f"OS {form.get('os')} with release {form.get('release')}"
        form.fail("os", f"{what} has no available images for download")
        form.finish()


@resource("boot-sources/{source_id}/selections/{id}/")
class SelectionItem:
    @get()
    def read(self, request: Request, source_id: str, id: str) -> Any:
        request.state.boot_sources.get(source_id)
        raise NotFound.of("BootSourceSelection")

    @put(admin=True)
    def update(self, request: Request, source_id: str, id: str) -> Any:
        return self.read(request, source_id, id)

    @delete(admin=True)
    def delete(self, request: Request, source_id: str, id: str) -> Any:
        return self.read(request, source_id, id)


def _render(source: BootSource) -> dict[str, Any]:
    return {
        "id": source.id,
        "url": source.url,
        "keyring_filename": source.keyring_filename,
        "keyring_data": base64.b64encode(source.keyring_data).decode(),
        "created": _moment(source.created),
        "updated": _moment(source.updated),
        "resource_uri": f"/MAAS/api/2.0/boot-sources/{source.id}/",
    }


def _moment(value: Any) -> str | None:
    return f"{value.strftime('%Y-%m-%dT%H:%M:%S.%f')[:-3]}Z" if value else None
