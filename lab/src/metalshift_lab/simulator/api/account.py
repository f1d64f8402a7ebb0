# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""account/: API keys and SSH keys of the user who asks."""

from __future__ import annotations

import base64
import binascii
import shlex
from typing import Any

from metalshift_lab.simulator.errors import BadRequest, Forbidden, NotFound
from metalshift_lab.simulator.forms import Field, Form, Wrong, mandatory, optional
from metalshift_lab.simulator.http import NO_CONTENT, Json, Request, text
from metalshift_lab.simulator.model import SSHKey, Token
from metalshift_lab.simulator.render import URI
from metalshift_lab.simulator.routing import delete, get, post, resource

KEY_TYPES = ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-dss", "ssh-ed25519", "ssh-rsa")
NOT_A_SOURCE = "Importing SSH keys failed. Input needs to be in protocol:auth_id or auth_id format."


@resource("account/")
class Account:
    @get("list_authorisation_tokens")
    def list_tokens(self, request: Request) -> Any:
        return [{"name": t.name, "token": t.api_key} for t in request.state.tokens.where(user=request.me)]

    @post("create_authorisation_token")
    def create_token(self, request: Request) -> Any:
        token = request.state.new_token(request.me, optional(request.data, "name", "MAAS consumer"))
        return {
            "token_key": token.key,
            "token_secret": token.secret,
            "consumer_key": token.consumer,
            "name": token.name,
        }

    @post("update_token_name")
    def update_token_name(self, request: Request) -> Any:
        given, name = mandatory(request.data, "token"), mandatory(request.data, "name")
        parts = given.split(":")
        _own_token(request, parts[1] if len(parts) == 3 else given).name = name
        return text("Accepted", 202)

    @post("delete_authorisation_token")
    def delete_token(self, request: Request) -> Any:
        request.state.tokens.discard(_own_token(request, mandatory(request.data, "token_key")))
        return NO_CONTENT


def _own_token(request: Request, key: str) -> Token:
    token = request.state.tokens.first(user=request.me, key=key)
    if token is None:
        raise NotFound.of("Token")
    return token


@resource("account/prefs/sshkeys/")
class SSHKeys:
    @get()
    def list(self, request: Request) -> Any:
        return [_render(k) for k in request.state.ssh_keys.where(user=request.me)]

    @post()
    def create(self, request: Request) -> Any:
        form = Form(request.data, [Field("key", _public_key, required=True)])
        if not form.errors and request.state.ssh_keys.first(user=request.me, key=form.get("key")):
            form.fail("__all__", "This key has already been added for this user.")
        form.finish()
        key = request.state.ssh_keys.make(SSHKey, user=request.me, key=form.get("key"))
        return Json({"id": key.id, "key": key.key}, 201)

    @post("import")
    def import_keys(self, request: Request) -> Any:
        source = optional(request.data, "keysource")
        protocol, _ignored, auth_id = source.rpartition(":")
        if not auth_id or protocol not in ("", "lp", "gh"):
            raise BadRequest(NOT_A_SOURCE)
        raise BadRequest(
            f"Importing SSH keys failed. Unable to import SSH keys. Nothing is reachable from here for {auth_id}."
        )


@resource("account/prefs/sshkeys/{id}/")
class SSHKeyItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return _render(request.state.ssh_keys.get(id))

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        key = request.state.ssh_keys.get(id)
        if key.user is not request.me:
            raise Forbidden("Can't delete a key you don't own.")
        request.state.ssh_keys.discard(key)
        return NO_CONTENT


def _render(key: SSHKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "key": key.key,
        "keysource": key.keysource,
        "resource_uri": f"{URI}account/prefs/sshkeys/{key.id}/",
    }


def _public_key(value: str) -> str:
    parts = value.split()
    if len(parts) < 2:
        raise Wrong(
            "Invalid SSH public key: Key should contain 2 or more space separated parts "
            f"(key type, base64-encoded key, optional comments), not {len(parts)}: {' '.join(map(shlex.quote, parts))}"
        )
    kind, blob = parts[:2]
    if kind not in KEY_TYPES:
        raise Wrong(
            f"Invalid SSH public key: Key type {shlex.quote(kind)} not recognised; "
            f"it should be one of: {' '.join(KEY_TYPES)}"
        )
    try:
        decoded = base64.b64decode(blob, validate=True)
    except binascii.Error:
        decoded = b""
    if decoded[4 : 4 + len(kind)] != kind.encode():
        raise Wrong("Invalid SSH public key: Key could not be converted to RFC4716 form.")
    return " ".join(parts)
