# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ignition, as a machine runs it on its first boot: user data in, the files of the merged configuration out.

It retries as Ignition 2.x does: no answer and every 5xx (511 too) for ever, with growing pauses; anything else that is
not a success ends in the emergency shell. One thing differs: the image trusts no public authority, so a server is
believed exactly when one of the authorities in the configuration has signed it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import http.client
import json
import logging
import ssl
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from metalshift_lab.kube.speed import Speed

Config = dict[str, Any]
Resource = Mapping[str, Any]

SPECIFICATIONS = ("3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0")
HEADERS = {
    "User-Agent": "Ignition/2.22.0 (a machine of the lab)",
    "Accept": f"application/vnd.coreos.ignition+json;version={SPECIFICATIONS[-1]}, */*;q=0.1",
    "Accept-Encoding": "identity",
}
HASHES: dict[str, Callable[[bytes], Any]] = {"sha512": hashlib.sha512, "sha256": hashlib.sha256}
HEADER_TIMEOUT = 10
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
# However fast the lab: a hundred machines that wait for one server must not occupy it.
LEAST_PAUSE = 0.5


class Emergency(Exception):
    """Ignition gave up; the machine stands in its emergency shell."""


def of_user_data(data: bytes | None) -> Config | None:
    """The configuration that user data are; None for anything else (cloud-init, a script, nothing)."""
    try:
        config = json.loads(data or b"")
    except ValueError:
        return None
    ignition = config.get("ignition") if isinstance(config, dict) else None
    return config if isinstance(ignition, dict) and "version" in ignition else None


def decoded(url: str) -> bytes:
    """What a data URL carries."""
    head, comma, body = url.partition(",")
    if not comma:
        raise Emergency("A data URL has no comma, so it carries nothing.")
    content = unquote_to_bytes(body)
    if not head.endswith(";base64"):
        return content
    try:
        return base64.b64decode(content, validate=True)
    except ValueError:
        raise Emergency("A data URL that says base64 is none.") from None


def unpacked(content: bytes, resource: Resource) -> bytes:
    """The content of a resource after its hash was checked and its compression undone."""
    wanted = (resource.get("verification") or {}).get("hash")
    if wanted:
        kind, _dash, digest = wanted.partition("-")
        if kind not in HASHES:
            raise Emergency(f"Nothing is known of hashes of kind {kind}.")
        if HASHES[kind](content).hexdigest() != digest:
            raise Emergency(f"The hash of {shown(resource)} is not the one that its configuration names.")
    packed = resource.get("compression")
    if packed not in (None, "", "gzip"):
        raise Emergency(f"Nothing is known of compression {packed}.")
    if not packed:
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise Emergency(f"{shown(resource)} is not compressed with gzip.") from None


def shown(resource: Resource) -> str:
    """A source without what it carries: data URLs hold keys."""
    source = str(resource.get("source", ""))
    return source if not source.startswith("data:") else "a data URL"


def without_proxy(host: str, exceptions: list[str]) -> bool:
    """Whether `noProxy` names this host: exactly, or a domain above it."""
    return any(
        each == "*" or host == each.lstrip(".") or host.endswith(f".{each.lstrip('.')}") for each in exceptions if each
    )


class Ignition:
    """One run. `pause` waits, and ends the run by an exception when the machine is switched off."""

    def __init__(self, pause: Callable[[float], None], speed: Speed, log: logging.Logger, hostname: str) -> None:
        self._pause, self._speed, self._log, self._hostname = pause, speed, log, hostname
        self._trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._proxy: Mapping[str, Any] = {}
        self._answers_within: float = HEADER_TIMEOUT
        self._gives_up_after = 0.0  # never

    def run(self, config: Config) -> dict[str, bytes]:
        """Path and content of every file that the configuration, with all it merges, asks for."""
        files = self._files(config)
        self._learn(config["ignition"])
        return {path: self._content(file) for path, file in files.items()}

    def _files(self, config: Config) -> dict[str, Config]:
        version = config["ignition"].get("version")
        if version not in SPECIFICATIONS:
            raise Emergency(f"Ignition does not know the specification {version}.")
        self._learn(config["ignition"])
        sources = config["ignition"].get("config") or {}
        if (sources.get("replace") or {}).get("source"):
            return self._files(self._config(sources["replace"]))
        files = {file["path"]: file for file in (config.get("storage") or {}).get("files") or []}
        for resource in sources.get("merge") or []:
            if resource.get("source"):
                files.update(self._files(self._config(resource)))
        return files

    def _learn(self, ignition: Mapping[str, Any]) -> None:
        """Time limits, proxy and authorities for what is fetched from here on; without new authorities the old ones."""
        limits = ignition.get("timeouts") or {}
        self._answers_within = limits.get("httpResponseHeaders") or HEADER_TIMEOUT
        self._gives_up_after = float(limits.get("httpTotal") or 0)
        self._proxy = ignition.get("proxy") or {}
        authorities = ((ignition.get("security") or {}).get("tls") or {}).get("certificateAuthorities") or []
        if not authorities:
            return
        pem = b"\n".join(self._fetch(each) for each in authorities)
        self._trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            self._trust.load_verify_locations(cadata=pem.decode("ascii", "replace"))
        except (ssl.SSLError, ValueError):
            raise Emergency("What the configuration calls certificate authorities are no certificates.") from None

    def _config(self, resource: Resource) -> Config:
        found = of_user_data(self._fetch(resource))
        if found is None:
            raise Emergency(f"What {shown(resource)} gave is no Ignition configuration.")
        return found

    def _content(self, file: Mapping[str, Any]) -> bytes:
        parts = [file.get("contents") or {}, *(file.get("append") or [])]
        return b"".join(self._fetch(part) for part in parts if part.get("source"))

    def _fetch(self, resource: Resource) -> bytes:
        source = resource["source"]
        scheme = urlsplit(source).scheme
        if scheme == "data":
            return unpacked(decoded(source), resource)
        if scheme not in ("http", "https"):
            raise Emergency(f"{source}: the lab's machines read data, http and https URLs only.")
        wait, begin = FIRST_PAUSE, time.monotonic()
        while True:
            try:
                return unpacked(self._get(source, resource), resource)
            except (OSError, http.client.HTTPException) as error:
                self._log.info("%s: %s gives no configuration yet: %s", self._hostname, source, error)
            if self._gives_up_after and time.monotonic() > begin + self._speed.seconds(self._gives_up_after):
                raise Emergency(f"{source} gave nothing within {self._gives_up_after:g} s.")
            self._pause(max(self._speed.seconds(wait), LEAST_PAUSE))
            wait = min(2 * wait, LONGEST_PAUSE)

    def _get(self, source: str, resource: Resource) -> bytes:
        headers = {header["name"]: header.get("value") or "" for header in resource.get("httpHeaders") or []}
        request = urllib.request.Request(source, headers={**HEADERS, **headers})
        try:
            with self._opener(source).open(request, timeout=self._answers_within) as answer:
                content: bytes = answer.read()
                return content
        except urllib.error.HTTPError as error:
            if error.code >= 500:
                raise
            raise Emergency(f"{source} answered {error.code} {error.reason}, which Ignition does not retry.") from None

    def _opener(self, source: str) -> urllib.request.OpenerDirector:
        host = urlsplit(source).hostname or ""
        direct = without_proxy(host, self._proxy.get("noProxy") or [])
        proxies = {
            scheme: self._proxy[name]
            for scheme, name in (("http", "httpProxy"), ("https", "httpsProxy"))
            if not direct and self._proxy.get(name)
        }
        return urllib.request.build_opener(
            urllib.request.ProxyHandler(proxies), urllib.request.HTTPSHandler(context=self._trust)
        )
