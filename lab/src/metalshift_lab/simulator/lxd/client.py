# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of a real LXD, as MAAS's rack is one: HTTPS with a certificate, and the server's is not verified."""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from metalshift_lab.simulator.lxd.troubles import Trouble, Unreachable

LIMIT = 60
NEEDED = ("projects", "virtual-machines", "custom_block_volumes")
NOT_FOUND = 404


class Refusal(Trouble):
    """What LXD answered, with its status, or what its operation failed with."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Client:
    """Requests to one LXD in one project, with one certificate, each on a connection of its own."""

    def __init__(self, host: str, port: int, project: str, certificate: str, key: str) -> None:
        self.host, self.port, self.project = host, port, project
        self._context = _context(certificate, key)

    def get(self, *parts: str, **query: str) -> Any:
        return self("GET", *parts, **query)

    def __call__(self, method: str, *parts: str, body: Any = None, **query: str) -> Any:
        """What the answer is about, once the operation has ended well if there is one."""
        path = "/".join(["/1.0", *(quote(part, safe="") for part in parts)])
        answer = self._ask(method, f"{path}?{urlencode({'project': self.project, **query})}", body)
        if answer["type"] == "async":
            done = self._ask("GET", f"{answer['operation']}/wait?timeout={LIMIT}", None)["metadata"]
            if done["status_code"] != 200:
                raise Refusal(done["status_code"], done["err"] or f"{done['description']} did not end in time")
        return answer["metadata"]

    def there(self, *parts: str, **query: str) -> Any:
        """The same of something that may not be there: None."""
        try:
            return self.get(*parts, **query)
        except Refusal as refusal:
            if refusal.status == NOT_FOUND:
                return None
            raise

    def enter(self, password: str | None) -> None:
        """Be trusted, and have the project, as MAAS sees to it."""
        told = self.get()
        if told["auth"] != "trusted":
            self._log_in(password, "explicit_trust_token" in told["api_extensions"])
        missing = [name for name in NEEDED if name not in told["api_extensions"]]
        if missing:
            raise Trouble(f"Please upgrade your LXD host to 4.16 or higher for {', '.join(missing)} support.")
        if self.there("projects", self.project) is None:
            self("POST", "projects", body={"name": self.project, "description": "Project managed by MAAS"})

    def _log_in(self, password: str | None, takes_tokens: bool) -> None:
        if not password:
            raise Trouble("Certificate is not trusted and no password was given")
        secret = "trust_token" if takes_tokens and _is_token(password) else "password"
        try:
            self("POST", "certificates", body={"type": "client", "name": "maas", secret: password})
        except Refusal as refusal:
            raise Trouble(f"Password authentication failed: {refusal}") from None

    def _ask(self, method: str, target: str, body: Any) -> dict[str, Any]:
        connection = http.client.HTTPSConnection(self.host, self.port, timeout=LIMIT + 10, context=self._context)
        try:
            connection.request(method, target, None if body is None else json.dumps(body))
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            where = f"HTTPSConnectionPool(host='{self.host}', port={self.port})"
            raise Unreachable(f"Failed to connect to the LXD REST API: {where}: {error}") from None
        finally:
            connection.close()
        if answer["type"] == "error":
            raise Refusal(answer["error_code"], answer["error"])
        return answer


def _context(certificate: str, key: str) -> ssl.SSLContext:
    """Python reads certificates from files alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    descriptor, name = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{certificate.strip()}\n{key.strip()}\n")
        context.load_cert_chain(name)
    except ssl.SSLError as error:
        raise Trouble(f"Failed to connect to the LXD REST API: {error}") from None
    finally:
        Path(name).unlink()
    return context


def _is_token(secret: str) -> bool:
    try:
        return "secret" in json.loads(base64.b64decode(secret, validate=True))
    except (ValueError, TypeError):
        return False
