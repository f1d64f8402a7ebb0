# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""boot-resources/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import images, seed
from metalshift_lab.simulator.api import boot_sources
from metalshift_lab.simulator.errors import BadRequest, ServerError
from metalshift_lab.simulator.http import NO_CONTENT, Json, Request, text
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

TYPES = {"synced": "Synced", "uploaded": images.UPLOADED}
IMPORTING = "importing images"
IMPORT_SECONDS = 2.0


@resource("boot-resources/")
class BootResources:
    @get()
    def list(self, request: Request) -> Any:
        kind = request.query.get("type", "all")
        if kind != "all" and kind not in TYPES:
            raise BadRequest(f"'{kind}' is not a valid boot resource type. Available types: {list(TYPES)}")
        found = [r for r in request.state.boot_resources if kind == "all" or r.type == TYPES[kind]]
        return [images.render(r) for r in sorted(found, key=lambda r: (r.type, r.name, r.architecture))]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        return Json(images.render(images.upload(request, request.files.get("content")), with_sets=True), 201)

    @get("is_importing")
    def is_importing(self, request: Request) -> Any:
        return bool(request.state.extra.get(IMPORTING))

    @post("import", admin=True)
    def start_import(self, request: Request) -> Any:
        """Without a boot source there is nothing to do; nothing is downloaded, and so all is there when it ends."""
        state = request.state
        if len(state.boot_sources):
            state.extra[IMPORTING] = True
            state.engine.later(IMPORT_SECONDS, lambda: _imported(state))
        return text("Import of boot resources started")

    @post("stop_import", admin=True)
    def stop_import(self, request: Request) -> Any:
        request.state.extra[IMPORTING] = False
        return text("Import of boot resources is being stopped")


def _imported(state: State) -> None:
    for selection in state.boot_selections if state.extra.get(IMPORTING) else ():
        for arch in boot_sources.arches_of(selection):
            seed.add_ubuntu(state, selection.release, arch, boot_sources.INDEX[selection.release])
    state.extra[IMPORTING] = False


@resource("boot-resources/{id}/")
class BootResourceItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return images.render(request.state.boot_resources.get(id), with_sets=True)

    @delete(admin=True)
    def delete(self, request: Request, id: str) -> Any:
        found = request.state.boot_resources.find(id)
        if found is None:
            raise ServerError("BootResource matching query does not exist.")
        images.forget_sets(request.state, found)
        request.state.boot_resources.discard(found)
        return NO_CONTENT


@resource("boot-resources/{id}/upload/{file_id}/")
class BootResourceUpload:
    @put(admin=True)
    def update(self, request: Request, id: str, file_id: str) -> Any:
        found = request.state.boot_resources.get(id)
        images.receive(found, request.state.boot_files.get(file_id), request.body)
        return text("OK")
