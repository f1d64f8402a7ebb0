# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/1.0/certificates: whom the server trusts, and the tokens with which clients come in."""

from __future__ import annotations

import base64
import binascii
import json
import secrets
import textwrap
from typing import Any

from metalshift_lab.simulator.lxd.api.asked import (
    BAD_REQUEST,
    CONFLICT,
    FORBIDDEN,
    NO_LONGER,
    NOT_AUTHORIZED,
    NOT_FOUND,
    Answer,
    Asked,
    Refused,
    address,
)
from metalshift_lab.simulator.lxd.api.operations import CANCELLED, TOKEN, Operation
from metalshift_lab.simulator.lxd.api.routing import resource
from metalshift_lab.simulator.lxd.server import Certificate, Server, encoded, fingerprint

OUTDATED = "Password authentication is no longer supported, please update your client"
KINDS = ("client", "metrics")


@resource("certificates")
class Certificates:
    def get(self, asked: Asked) -> Answer:
        found = {fingerprint(known): _document(asked.server, known) for known in sorted(asked.server.trusted)}
        return asked.listed({address("certificates", name): told for name, told in found.items()})

    def post(self, asked: Asked) -> Answer | Operation:
        """A trusted client adds whom it likes; others bring a password, or a token."""
        if asked.client.trusted and not _invitation(asked):
            asked.require_unrestricted()
            return self._token(asked) if asked.wish.get("token") else self._add(asked, asked.wish)
        return self._come_in(asked)

    def _token(self, asked: Asked) -> Operation:
        request = {"type": "client", "restricted": False, "projects": [], "certificate": "", "password": ""}
        told = {
            "addresses": [asked.server.door.address],
            "fingerprint": asked.server.door.fingerprint,
            "request": {**request, **asked.wish},
            "secret": secrets.token_hex(32),
        }
        return asked.operations.wait(TOKEN, "Executing operation", told)

    def _come_in(self, asked: Asked) -> Answer:
        version, password = asked.server.knows, asked.wish.get("password") or ""
        if password and not version.takes_passwords:
            raise Refused(NO_LONGER, OUTDATED)
        token = asked.wish.get("trust_token") if version.takes_trust_tokens else ""
        invited = _invited(asked, token or password)
        by_password = bool(asked.server.password) and password == asked.server.password
        if asked.client.trusted:
            raise Refused(BAD_REQUEST, "Client is already trusted")
        if invited is None and not by_password:
            raise Refused(FORBIDDEN, NOT_AUTHORIZED)
        wish = {**asked.wish, **(invited.metadata["request"] if invited else {}), "certificate": ""}
        answer = self._add(asked, {**wish, "certificate": asked.wish.get("certificate") or ""})
        if invited is not None:
            invited.status = CANCELLED  # once
        return answer

    def _add(self, asked: Asked, wish: dict[str, Any]) -> Answer:
        if wish.get("type", "client") not in KINDS:
            raise Refused(BAD_REQUEST, "Invalid certificate type")
        known = _pem(wish["certificate"]) if wish.get("certificate") else asked.client.known
        if not known:
            raise Refused(BAD_REQUEST, "No client certificate provided")
        if known in asked.server.trusted:
            raise Refused(CONFLICT, "Certificate already in trust store")
        about = Certificate(wish.get("name") or "", wish.get("type", "client"))
        _restrict(asked.server, about, wish)
        asked.server.trust(known, about)
        return Answer.created(address("certificates", fingerprint(known)))


@resource("certificates/{name}")
class OneCertificate:
    def get(self, asked: Asked, name: str) -> Answer:
        return asked.tagged(_document(asked.server, _find(asked.server, name)))

    def put(self, asked: Asked, name: str) -> Answer:
        return self._change(asked, name, {"name": "", "restricted": False, "projects": [], **asked.wish})

    def patch(self, asked: Asked, name: str) -> Answer:
        return self._change(asked, name, asked.wish)

    def delete(self, asked: Asked, name: str) -> Answer:
        asked.require_unrestricted()
        asked.server.distrust(_find(asked.server, name))
        return Answer()

    def _change(self, asked: Asked, name: str, wish: dict[str, Any]) -> Answer:
        asked.require_unrestricted()
        known = _find(asked.server, name)
        asked.require_current(_document(asked.server, known))
        about = asked.server.certificate(known)
        if wish.get("type", about.type) != about.type:
            raise Refused(FORBIDDEN, "The certificate type cannot be changed")
        _restrict(asked.server, about, wish)
        about.name = wish.get("name", about.name)
        return Answer()


def _restrict(server: Server, about: Certificate, wish: dict[str, Any]) -> None:
    projects = wish.get("projects")
    if any(project not in server.projects for project in projects or ()):
        raise Refused(NOT_FOUND, "Project not found")
    about.projects = list(about.projects if projects is None else projects)
    about.restricted = bool(wish.get("restricted", about.restricted))


def _invitation(asked: Asked) -> bool:
    return bool(asked.wish.get("password") or asked.wish.get("trust_token"))


def _invited(asked: Asked, token: str) -> Operation | None:
    """The token that is presented, if it is one of this server's."""
    try:
        secret = json.loads(base64.b64decode(token, validate=True))["secret"]
    except (ValueError, binascii.Error, KeyError, TypeError):
        return None
    return next((each for each in asked.operations.of_kind(TOKEN) if each.metadata["secret"] == secret), None)


def _pem(content: str) -> str:
    """As certificates are compared."""
    try:
        data = base64.b64decode("".join(content.split()), validate=True)
    except binascii.Error:
        data = b""
    # A sequence of ASN.1, and no word.
    if not data.startswith(b"\x30"):
        raise Refused(BAD_REQUEST, "Invalid certificate material: x509: malformed certificate")
    return f"-----BEGINCERTIFICATE-----{base64.b64encode(data).decode()}-----ENDCERTIFICATE-----"


def _find(server: Server, name: str) -> str:
    """The beginning of a fingerprint is enough."""
    found = next((known for known in sorted(server.trusted) if fingerprint(known).startswith(name)), None)
    if found is None:
        raise Refused(NOT_FOUND, "Certificate not found")
    return found


def _document(server: Server, known: str) -> dict[str, Any]:
    about = server.certificate(known)
    lines = "\n".join(textwrap.wrap(encoded(known), 64))
    return {
        "name": about.name,
        "type": about.type,
        "restricted": about.restricted,
        "projects": list(about.projects),
        "certificate": f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n",
        "fingerprint": fingerprint(known),
    }
