# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where MAAS is and who we are there.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._failure import invalid

CONNECT_TIMEOUT = 10.0


@dataclass(frozen=True)
class ApiKey:
    """An API key as MAAS shows it: three parts in one piece."""

    consumer: str
    token: str = field(repr=False)
    secret: str = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> ApiKey:
        parts = text.strip().split(":")
        if len(parts) != 3 or not all(parts) or re.search(r"\s", text.strip()):
            raise invalid(
                "maas_api_key is not an API key of MAAS: it has three parts separated by colons.",
                hint="Copy it in one piece from the API keys page of your MAAS user, or from `maas apikey`.",
            )
        return cls(*parts)


@dataclass(frozen=True)
class Connection:
    """All that a client needs to know, checked."""

    base: str
    key: ApiKey
    verify: bool | str = True
    read_timeout: float = 60.0
    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def from_params(cls, params: Mapping[str, Any], environment: Mapping[str, str]) -> Connection:
        """The connection that a task's options and its environment describe."""
        for option, variable in (("maas_endpoint", "MAAS_ENDPOINT"), ("maas_api_key", "MAAS_API_KEY")):
            if not params.get(option):
                raise invalid(f"{option} is missing: give the option or set the environment variable {variable}.")
        if params["maas_timeout"] <= 0:
            raise invalid(f"maas_timeout must be more than 0 seconds, not {params['maas_timeout']}.")
        base = endpoint(params["maas_endpoint"])
        return cls(
            base=base,
            key=ApiKey.parse(params["maas_api_key"]),
            verify=_verify(params, environment),
            read_timeout=float(params["maas_timeout"]),
            proxies=_proxies(base, environment),
        )

    @property
    def api(self) -> str:
        return f"{self.base}/api/2.0/"


def endpoint(text: str) -> str:
    """The base URL of MAAS, however much or little of it was given."""
    url = text.strip().rstrip("/")
    parts = urlsplit(url)
    try:
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        port_is_good = False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_good:
        raise invalid(
            f"maas_endpoint is not a URL: {_without_credentials(text)!r}.",
            hint="Give something like https://maas.example.com:5443/MAAS.",
        )
    if parts.username or parts.password:
        raise invalid("maas_endpoint must not hold a user name or password.", hint="Give the key as maas_api_key.")
    if parts.query or parts.fragment:
        raise invalid(f"maas_endpoint must end with a path, not with a query or fragment: {parts.path!r} is enough.")
    path = re.sub(r"/api(/\d\.\d)?$", "", re.sub(r"//+", "/", parts.path))
    return f"{parts.scheme}://{parts.netloc}{path or '/MAAS'}"


def _without_credentials(text: str) -> str:
    return re.sub(r"//[^/@]*@", "//***@", text)


def _verify(params: Mapping[str, Any], environment: Mapping[str, str]) -> bool | str:
    if not params["maas_validate_certs"]:
        return False
    bundle = params.get("maas_ca_cert")
    if bundle:
        path = os.path.expanduser(str(bundle))
        if not os.path.exists(path):
            raise invalid(f"maas_ca_cert does not exist: {path}.")
        return path
    return environment.get("REQUESTS_CA_BUNDLE") or environment.get("CURL_CA_BUNDLE") or True


def _proxies(base: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The proxy that the environment asks for.

    Read here and not by the HTTP library, because asking macOS for its proxy settings crashes a forked process,
    and because the task's `environment` must count.
    """
    parts = urlsplit(base)
    settings = {name.lower(): value for name, value in environment.items() if name.lower().endswith("_proxy")}
    host = (parts.hostname or "").lower()
    for entry in settings.get("no_proxy", "").replace(" ", "").lower().split(","):
        name = entry.lstrip(".").split(":")[0]
        if entry == "*" or (name and (host == name or host.endswith("." + name))):
            return {}
    proxy = settings.get(f"{parts.scheme}_proxy") or settings.get("all_proxy")
    return {parts.scheme: proxy} if proxy else {}
