# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where MAAS is and who we are there.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import Proxy, proxy_for
from ansible_collections.metalshift.maas.plugins.module_utils._maas.lanes import MOST, USUAL

# Compiled here: the controller's parent process imports this once, and its workers need not do it again.
SPACE = re.compile(r"\s")
NOT_IN_A_URL = re.compile(r"[\s\x00-\x1f\x7f\\]")
NOT_IN_A_PATH = re.compile(r"[\x00\ud800-\udfff]")
SLASHES = re.compile(r"//+")
# What people copy: the address of the web interface, or of the API.
BELOW_MAAS = re.compile(r"(?<=/MAAS)/[lr](/.*)?$|/api(/\d\.\d)?$")
LONGEST_TIMEOUT = 86400


@dataclass(frozen=True)
class ApiKey:
    """An API key as MAAS shows it: three parts in one piece."""

    consumer: str
    token: str = field(repr=False)
    secret: str = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> ApiKey:
        parts = text.strip().split(":")
        if len(parts) != 3 or not all(parts) or SPACE.search(text.strip()):
            raise invalid(
                "maas_api_key is not an API key of MAAS: it has three parts separated by colons.",
                hint="Copy it in one piece from the API keys page of your MAAS user, or from `maas apikey`.",
            )
        return cls(*parts)

    def signature(self) -> str:
        """What signs one request, as RFC 5849 has it for the method PLAINTEXT; for one alone, since it has a nonce."""
        fields = {
            "oauth_nonce": secrets.token_hex(16),
            "oauth_timestamp": str(int(time.time())),
            "oauth_version": "1.0",
            "oauth_signature_method": "PLAINTEXT",
            "oauth_consumer_key": self.consumer,
            "oauth_token": self.token,
            "oauth_signature": f"&{quote(self.secret, safe='~')}",
        }
        return "OAuth " + ", ".join(f'{name}="{quote(value, safe="~")}"' for name, value in fields.items())


@dataclass(frozen=True)
class MaasConnection:
    """All that a client needs to know, checked."""

    base: str
    key: ApiKey
    verify: bool | str = True
    read_timeout: float = 60.0
    proxy: Proxy | None = None
    most_at_once: int = USUAL

    @classmethod
    def from_params(cls, params: Mapping[str, Any], environment: Mapping[str, str]) -> MaasConnection:
        """The connection that a task's options and its environment describe."""
        for option, variable in (("maas_endpoint", "MAAS_ENDPOINT"), ("maas_api_key", "MAAS_API_KEY")):
            if not params.get(option):
                raise invalid(f"{option} is missing: give the option or set the environment variable {variable}.")
        timeout = float(params["maas_timeout"])
        if not 0 < timeout <= LONGEST_TIMEOUT:
            raise invalid(
                f"maas_timeout must be more than 0 and at most {LONGEST_TIMEOUT} seconds, not {params['maas_timeout']}."
            )
        most = params.get("maas_max_requests", USUAL)
        if not 1 <= most <= MOST:
            raise invalid(f"maas_max_requests must be at least 1 and at most {MOST}, not {most}.")
        base = endpoint(params["maas_endpoint"])
        return cls(
            base=base,
            key=ApiKey.parse(params["maas_api_key"]),
            verify=_verify(params, environment),
            read_timeout=timeout,
            proxy=proxy_for(base, environment),
            most_at_once=most,
        )

    @property
    def api(self) -> str:
        return f"{self.base}/api/2.0/"


def endpoint(text: str) -> str:
    """The base URL of MAAS, however much or little of it was given."""
    url = text.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or NOT_IN_A_URL.search(url):
        raise invalid(
            f"maas_endpoint is not a URL: {_without_credentials(text)!r}.",
            hint="Give something like https://maas.example.com:5443/MAAS.",
        )
    if "@" in parts.netloc:
        raise invalid("maas_endpoint must not hold a user name or password.", hint="Give the key as maas_api_key.")
    if parts.query or parts.fragment:
        raise invalid("maas_endpoint must end with a path, not with a query or fragment: leave out what follows it.")
    path = BELOW_MAAS.sub("", SLASHES.sub("/", parts.path))
    return f"{parts.scheme}://{parts.netloc}{path or '/MAAS'}"


def _without_credentials(text: str) -> str:
    return re.sub(r"//.*@", "//***@", text, flags=re.DOTALL)


def _verify(params: Mapping[str, Any], environment: Mapping[str, str]) -> bool | str:
    if not params["maas_validate_certs"]:
        return False
    given = [("maas_ca_cert", params.get("maas_ca_cert"))]
    given += [(variable, environment.get(variable)) for variable in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")]
    source, path = next(((source, path) for source, path in given if path), ("", None))
    if path is None:
        return True
    path = os.path.expanduser(str(path))
    if NOT_IN_A_PATH.search(path) or not os.access(path, os.R_OK):
        raise invalid(f"{source} names a file that does not exist or cannot be read: {path}.")
    if os.path.isfile(path):
        # Not by loading it, which takes OpenSSL longer than all the rest of a task; a broken one fails the handshake.
        with open(path, "rb") as file:
            if b"CERTIFICATE-----" not in file.read():
                raise invalid(f"{source} names a file without certificates in PEM form: {path}.")
    return path
