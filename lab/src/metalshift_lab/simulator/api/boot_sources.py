# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""boot-sources/ and their selections. No source is reached from here: the index of the usual one is written down."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from metalshift_lab.simulator.errors import NotFound
from metalshift_lab.simulator.forms import Field, Form, assign
from metalshift_lab.simulator.http import NO_CONTENT, Json, Request
from metalshift_lab.simulator.model import BootSource, BootSourceSelection
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.seed import ARCHES, IMAGES_HOST, OFFERED, UBUNTU
from metalshift_lab.simulator.settings import url

INDEX: Mapping[str, Sequence[str]] = {**OFFERED, **UBUNTU}
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
        source = request.state.boot_sources.get(id)
        for selection in [each for each in request.state.boot_selections if each.source is source]:
            request.state.boot_selections.discard(selection)
        request.state.boot_sources.discard(source)
        return NO_CONTENT


def selection_form(request: Request, source: BootSource, selection: BootSourceSelection | None = None) -> Form:
    """A release is taken only if the index of its source has it."""
    fields = [Field("os", required=True), Field("release", required=True)]
    fields += [Field(name, many=True, required=True) for name in ("arches", "subarches", "labels")]
    form = Form(request.data, fields, partial=selection is not None)
    name, release = (form.get(field, getattr(selection, field, "")) for field in ("os", "release"))
    if not form.errors and not form.unbound:
        wrong = set(form.get("arches", [])) - {"*", *ARCHES}
        if name != "ubuntu" or release not in _index(source):
            form.fail("os", f"OS {name} with release {release} has no available images for download")
        elif wrong:
            form.fail("arches", f"No available images to download for {sorted(wrong)}")
        same = request.state.boot_selections.first(source=source, os=name, release=release)
        if same is not None and same is not selection:
            form.fail("__all__", "Boot source selection with this Boot source, Os and Release already exists.")
    form.finish()
    return form


def _index(source: BootSource) -> Mapping[str, Sequence[str]]:
    """What can be had from a source: of those on the network only the one of a new MAAS is known here."""
    return INDEX if urlsplit(source.url).hostname == IMAGES_HOST else {}


def arches_of(selection: BootSourceSelection) -> Sequence[str]:
    return ARCHES if "*" in selection.arches else selection.arches


@resource("boot-sources/{source_id}/selections/")
class Selections:
    @get()
    def list(self, request: Request, source_id: str) -> Any:
        source = request.state.boot_sources.get(source_id)
        return [_render_selection(each) for each in request.state.boot_selections if each.source is source]

    @post(admin=True)
    def create(self, request: Request, source_id: str) -> Any:
        source = request.state.boot_sources.get(source_id)
        form = selection_form(request, source)
        made = request.state.boot_selections.make(BootSourceSelection, source=source, **form.cleaned)
        return Json(_render_selection(made), 201)


@resource("boot-sources/{source_id}/selections/{id}/")
class SelectionItem:
    @get()
    def read(self, request: Request, source_id: str, id: str) -> Any:
        return _render_selection(_selection(request, source_id, id))

    @put(admin=True)
    def update(self, request: Request, source_id: str, id: str) -> Any:
        selection = _selection(request, source_id, id)
        form = selection_form(request, selection.source, selection)
        assign(selection, form, ("os", "release", "arches", "subarches", "labels"))
        return _render_selection(selection)

    @delete(admin=True)
    def delete(self, request: Request, source_id: str, id: str) -> Any:
        request.state.boot_selections.discard(_selection(request, source_id, id))
        return NO_CONTENT


def _selection(request: Request, source_id: str, id: str) -> BootSourceSelection:
    source, found = request.state.boot_sources.get(source_id), request.state.boot_selections.get(id)
    if found.source is not source:
        raise NotFound.of("BootSourceSelection")
    return found


def _render_selection(selection: BootSourceSelection) -> dict[str, Any]:
    return {
        "id": selection.id,
        "os": selection.os,
        "release": selection.release,
        "arches": selection.arches,
        "subarches": selection.subarches,
        "labels": selection.labels,
        "boot_source_id": selection.source.id,
        "resource_uri": f"/MAAS/api/2.0/boot-sources/{selection.source.id}/selections/{selection.id}/",
    }


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
