# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The calls that the provider makes to MAAS, signed and spelled as its Go client does.

There is no time-out: a MAAS that does not answer holds the worker that asked.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import secrets
import ssl
import string
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

from metalshift_lab.kube.provider.texts import escaped

Form = Mapping[str, str]

_NONCE = string.ascii_letters + string.digits
_FORM = "application/x-www-form-urlencoded"
#: Decoded into Go's int: a number with a fraction fails.
_INTEGERS = ("memory", "swap_size")


_TEXTS = {
    "system_id": "system_id",
    "fqdn": "fqdn",
    "hostname": "hostname",
    "state": "status_name",
    "power_state": "power_state",
    "power_type": "power_type",
}


class MaasError(Exception):
    """A call failed; the text is the Go client's. `status` is 0 when no answer came."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


def wrapped(context: str, error: Exception) -> MaasError:
    """The error with what was being done in front of it."""
    return MaasError(f"{context}: {error}", getattr(error, "status", 0))


def authorization(method: str, url: str, form: Form, key: str, *, nonce: str, timestamp: int) -> str:
    """The header Authorization: OAuth 1 with HMAC-SHA1. A key that has not three parts gives an empty one."""
    parts = key.split(":", 2)
    if len(parts) != 3:
        return ""
    consumer, token, secret = parts
    values = {
        "oauth_nonce": nonce,
        "oauth_consumer_key": consumer,
        "oauth_signature_method": "HMAC-SHA1",
        "oauth_timestamp": str(timestamp),
        "oauth_token": token,
        "oauth_version": "1.0",
    }
    # The Go client leaves the body of a PUT out of what it signs.
    signed = {**values, **(form if method != "PUT" else {})}
    parameters = urlencode(sorted(signed.items())).replace("+", "%20")
    base = f"{method}&{quote_plus(url.partition('?')[0])}&{quote_plus(parameters)}"
    digest = hmac.new(f"&{quote_plus(secret)}".encode(), base.encode(), hashlib.sha1).digest()
    values["oauth_signature"] = base64.b64encode(digest).decode()
    return "OAuth " + ", ".join(f'{name}="{quote_plus(value)}"' for name, value in values.items())


class Maas:
    """One MAAS as one user, for one pass: its connection lives as long."""

    def __init__(self, endpoint: str, key: str) -> None:
        self._base, self._key = f"{endpoint}/api/2.0", key
        address = urlsplit(endpoint)
        self._where = f"{address.hostname}:{address.port or (443 if address.scheme == 'https' else 80)}"
        self._connection: http.client.HTTPConnection
        if address.scheme == "https":
            # The provider does not verify certificates.
            context = ssl._create_unverified_context()
            self._connection = http.client.HTTPSConnection(address.netloc, context=context)
        else:
            self._connection = http.client.HTTPConnection(address.netloc)

    def close(self) -> None:
        self._connection.close()

    def call(self, method: str, path: str, form: Form | None = None) -> Any:
        """The answer's JSON, or None if MAAS has none to give."""
        status, text = self._exchange(method, f"{self._base}{path}", form or {})
        if status == http.HTTPStatus.NO_CONTENT:
            return None
        if status not in (200, 201, 202):
            raise MaasError(f"status: {status}, message: {text.decode(errors='replace')}", status)
        return text

    def json(self, method: str, path: str, form: Form | None = None) -> Any:
        """The answer, which has to be JSON."""
        text = self.call(method, path, form)
        if text is None:
            return None
        try:
            return json.loads(text)
        except ValueError:
            said = text.decode(errors="replace").strip()
            if not said:
                raise MaasError("unexpected end of JSON input") from None
            raise MaasError(f"invalid character '{said[0]}' looking for beginning of value") from None

    def _exchange(self, method: str, url: str, form: Form) -> tuple[int, bytes]:
        encoded = urlencode(sorted(form.items()))
        headers = {
            "Accept": "application/json; charset=utf-8",
            "Content-Type": _FORM,
            "User-Agent": "Go-http-client/1.1",
            "Authorization": authorization(method, url, form, self._key, nonce=_nonce(), timestamp=int(time.time())),
        }
        shown = f"{url}?{encoded}" if method == "GET" and encoded else url
        target = shown[len(shown.partition("://")[0]) + 3 :].partition("/")[2]
        try:
            self._connection.request(method, f"/{target}", None if method == "GET" else encoded, headers)
            response = self._connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise MaasError(f'{method.capitalize()} "{shown}": {self._spelled(error)}') from None

    def _spelled(self, error: Exception) -> str:
        if isinstance(error, ConnectionRefusedError):
            return f"dial tcp {self._where}: connect: connection refused"
        if isinstance(error, (http.client.RemoteDisconnected, http.client.IncompleteRead)):
            return "EOF"
        if isinstance(error, ConnectionResetError):
            return f"read tcp {self._where}: read: connection reset by peer"
        return str(error) or type(error).__name__

    # -- machines ---------------------------------------------------------------------------------------------------

    def machine(self, system_id: str) -> Machine:
        """A machine of which only the ID is known."""
        return Machine(self, system_id)

    def allocate(self, form: Form) -> Machine:
        found = Machine(self, "")
        found.decode(self.json("POST", "/machines/", {**form, "op": "allocate"}))
        return found

    def list_machines(self) -> list[dict[str, Any]]:
        return list(self.json("GET", "/machines/") or [])

    # -- tags -------------------------------------------------------------------------------------------------------

    def tag(self, name: str, change: str, system_id: str) -> None:
        """Add or remove (`change`) the tag; the answer does not matter to the provider, and 404 is usual."""
        try:
            self.call("POST", f"/tags/{name}/op-update_nodes", {change: system_id})
        except MaasError as error:
            if not error.status:
                raise

    def ensure_tag(self, name: str) -> None:
        """Make the tag; that there is one of this name already is fine."""
        try:
            self.call("POST", "/tags/", {"name": name})
        except MaasError as error:
            if not error.status:
                raise

    # -- VM hosts ---------------------------------------------------------------------------------------------------

    def vm_hosts(self) -> list[dict[str, Any]]:
        return list(self.json("GET", "/vm-hosts/") or [])

    def compose(self, host: int, form: Form) -> str:
        """The system_id of the new VM."""
        return str((self.json("POST", f"/vm-hosts/{host}/", {**form, "op": "compose"}) or {}).get("system_id", ""))


class Machine:
    """A machine as the Go client keeps it: each answer is decoded into the same object.

    IP addresses come on top of those that the answers before have given.
    """

    def __init__(self, maas: Maas, system_id: str) -> None:
        self._maas, self.system_id = maas, system_id
        self.fqdn = self.hostname = self.state = self.power_state = self.power_type = ""
        self.zone: str | None = None
        self.ips: list[str] = []
        self.tags: list[str] = []

    @property
    def path(self) -> str:
        return f"/machines/{self.system_id}/"

    def decode(self, answer: Any) -> Machine:
        if answer is None:
            return self
        for name in _INTEGERS:
            value = answer.get(name)
            if isinstance(value, float):
                raise MaasError(f"json: cannot unmarshal number {value} into Go struct field .{name} of type int")
        for attribute, name in _TEXTS.items():
            setattr(self, attribute, str(answer.get(name) or ""))
        self.zone = (answer.get("zone") or {}).get("name")
        self.ips += answer.get("ip_addresses") or []
        self.tags = list(answer.get("tag_names") or answer.get("tags") or [])
        return self

    @property
    def powered(self) -> bool:
        return self.power_state == "on"

    def get(self) -> Machine:
        return self.decode(self._maas.json("GET", self.path))

    def update(self, **form: str) -> Machine:
        return self.decode(self._maas.json("PUT", self.path, form))

    def deploy(self, **form: str) -> Machine:
        return self.decode(self._maas.json("POST", self.path, {**form, "op": "deploy"}))

    def release(self, **form: str) -> Machine:
        return self.decode(self._maas.json("POST", self.path, {**form, "op": "release"}))

    def power_on(self) -> None:
        # The comment is escaped before it is escaped with the form.
        self._maas.json("POST", f"{self.path}op-power_on", {"comment": escaped("maas provider power on")})

    def delete(self) -> None:
        self._maas.call("DELETE", self.path)


def _nonce() -> str:
    return "".join(secrets.choice(_NONCE) for _each in range(48))


def joined(values: Sequence[str]) -> str:
    """Several values in one field."""
    return " ".join(values)
