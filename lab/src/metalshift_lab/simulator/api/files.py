# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""files/: small files of a user, readable by everyone who knows their key"""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

from metalshift_lab.simulator.errors import BadRequest, NotFound
from metalshift_lab.simulator.forms import mandatory
from metalshift_lab.simulator.http import NO_CONTENT, Request, Response
from metalshift_lab.simulator.model import StoredFile
from metalshift_lab.simulator.routing import delete, get, post, resource

HTML = "text/html; charset=utf-8"


def find(request: Request, filename: str) -> StoredFile | None:
    return request.state.files.first(owner=request.user, filename=filename)


@resource("files/")
class Files:
    @get()
    def list(self, request: Request) -> Any:
        prefix = request.query.get("prefix", "")
        mine = [f for f in request.state.files.where(owner=request.user) if f.filename.startswith(prefix)]
        return [_render(f) for f in sorted(mine, key=lambda f: f.filename)]

    @post()
    def create(self, request: Request) -> Any:
        """The same name again replaces the file."""
        filename = request.data.get("filename")
        if not filename:
            raise BadRequest("Filename not supplied")
        if not request.files:
            raise BadRequest("File not supplied")
        if len(request.files) != 1:
            raise BadRequest("Exactly one file must be supplied")
        content = next(iter(request.files.values()))
        known = find(request, filename)
        if known is not None:
            known.content = content
        else:
            state = request.state
            state.files.make(StoredFile, filename=filename, content=content, key=state.new_uuid(), owner=request.user)
        return Response(201, b"", HTML)

    @delete()
    def delete(self, request: Request) -> Any:
        return FileItem().delete(request, mandatory(request.query, "filename"))

    @get("get")
    def get_by_name(self, request: Request) -> Any:
        found = find(request, mandatory(request.query, "filename"))
        if found is None:
            raise NotFound("File not found")
        return Response(200, found.content, HTML)

    @get("get_by_key", anonymous=True)
    def get_by_key(self, request: Request) -> Any:
        return Response(200, request.state.files.only(key=mandatory(request.query, "key")).content, HTML)


@resource("files/{filename:.+}/")
class FileItem:
    @get()
    def read(self, request: Request, filename: str) -> Any:
        found = find(request, filename)
        if found is None:
            # The header tells a missing file from a missing resource.
            return Response(404, "Not Found", HTML, {"Workaround": "bug1123986"})
        content = base64.b64encode(found.content).decode()
        return {**_render(found), "content": content}

    @delete()
    def delete(self, request: Request, filename: str) -> Any:
        found = find(request, filename)
        if found is None:
            raise NotFound.of("FileStorage")
        request.state.files.discard(found)
        return NO_CONTENT


def _render(found: StoredFile) -> dict[str, Any]:
    return {
        "filename": found.filename,
        "anon_resource_uri": f"/MAAS/api/2.0/files/?op=get_by_key&key={found.key}",
        "resource_uri": f"/MAAS/api/2.0/files/{quote(found.filename)}/",
    }
