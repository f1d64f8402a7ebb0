# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an LXD is, who we are there, and by what we know it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import Proxy, proxy_for
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pem import Certificate, certificates, public_key

LONGEST_TIMEOUT = 86400
# A certificate with its chain, or a key, is a few kilobytes. What is longer is some other file.
LONGEST_PEM = 16384
USUAL_PORT = 8443

# Those of the snap and of Debian's package.
SOCKETS = ("/var/snap/lxd/common/lxd/unix.socket", "/var/lib/lxd/unix.socket")
# As LXD's own client names the LXD of the machine where it runs.
THIS_MACHINE = ("unix:", "unix://")

NOT_IN_A_URL = re.compile(r"[\s\x00-\x1f\x7f\\]")
FINGERPRINT = re.compile(r"(sha256[:=])?((?:[0-9a-f]{2}:?){31}[0-9a-f]{2})", re.IGNORECASE)


@dataclass(frozen=True)
class ClientCertificate:
    """The client certificate with which we present ourselves, and its key."""

    certificate: Certificate
    chain: str
    key: str = field(repr=False)


@dataclass(frozen=True)
class LxdConnection:
    """All that a client needs to know, checked.

    The server is known by the fingerprint of its certificate, `pin`, or by `authorities`; by those of the system if
    neither is given. There is no way to leave it unverified.
    """

    endpoint: str
    identity: ClientCertificate | None = None
    pin: str = ""
    authorities: str = ""
    project: str = "default"
    read_timeout: float = 60.0
    proxy: Proxy | None = None

    @classmethod
    def from_params(cls, params: Mapping[str, Any], environment: Mapping[str, str]) -> LxdConnection:
        """The connection that a task's options and its environment describe."""
        where = endpoint(params.get("lxd_endpoint") or "")
        timeout = float(params["lxd_timeout"])
        if not 0 < timeout <= LONGEST_TIMEOUT:
            raise invalid(
                f"lxd_timeout must be more than 0 and at most {LONGEST_TIMEOUT} seconds, not {params['lxd_timeout']}."
            )
        project = params.get("lxd_project") or "default"
        if is_socket(where):
            return cls(where, project=project, read_timeout=timeout)
        pin, authorities = _known_by(params.get("lxd_server_cert") or "")
        return cls(
            where,
            identity=_identity(params),
            pin=pin,
            authorities=authorities,
            project=project,
            read_timeout=timeout,
            proxy=proxy_for(where, environment),
        )

    @property
    def is_local(self) -> bool:
        """Whether it is the socket of an LXD on this machine, which trusts everybody who may open it."""
        return is_socket(self.endpoint)


def is_socket(endpoint: str) -> bool:
    return endpoint.startswith("/")


def endpoint(text: str, sockets: Sequence[str] = SOCKETS) -> str:
    """The base URL of LXD, or the path of its socket."""
    text = text.strip()
    if text in THIS_MACHINE:
        return _socket_of_this_machine(sockets)
    if not text:
        raise invalid("lxd_endpoint is missing: give the option or set the environment variable LXD_ENDPOINT.")
    if text.startswith(("/", "~", "unix:")):
        path = re.sub(r"^unix:(//)?", "", text)
        return os.path.abspath(os.path.expanduser(path))
    url = text.rstrip("/")
    try:
        parts = urlsplit(url)
        good = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or NOT_IN_A_URL.search(url):
        raise invalid(
            f"lxd_endpoint is neither a URL of HTTPS nor the path of a socket: {_without_credentials(text)!r}.",
            hint="Give something like https://lxd.example.com:8443 or unix:///var/lib/lxd/unix.socket.",
        )
    if "@" in parts.netloc:
        raise invalid(
            "lxd_endpoint must not hold a user name or password.", hint="LXD knows its clients by lxd_client_cert."
        )
    if parts.query or parts.fragment or parts.path not in ("", "/1.0"):
        raise invalid("lxd_endpoint must end with the host and its port: leave out what follows them.")
    return f"https://{parts.netloc}" if parts.port else f"https://{parts.netloc.rstrip(':')}:{USUAL_PORT}"


def _socket_of_this_machine(sockets: Sequence[str]) -> str:
    found = next((path for path in sockets if os.path.exists(path)), "")
    if not found:
        raise Failure(
            "unreachable",
            f"There is no LXD on {socket.gethostname()}: neither {' nor '.join(sockets)} exists.",
            reason="there is no socket of LXD",
            hint="Install LXD there and start it, or give lxd_endpoint the path of its socket.",
        )
    return found


def fingerprint(text: str) -> str:
    """The SHA-256 fingerprint that a text is, in the form in which LXD writes it; empty if it is none."""
    match = FINGERPRINT.fullmatch(text.strip())
    return match[2].replace(":", "").lower() if match else ""


def pem(option: str, given: str) -> str:
    """The text in PEM that an option holds, or that is in the file that it names."""
    if "-----BEGIN" in given:
        return given
    path = os.path.expanduser(given.strip())
    if "\n" in path or not os.access(path, os.R_OK) or not os.path.isfile(path):
        # A text that is no PEM may be a key that lost its first line: it is not repeated.
        named = f": {path}" if "\n" not in path and len(path) < 256 else ""
        raise invalid(f"{option} names a file that does not exist or cannot be read{named}.")
    if os.path.getsize(path) > LONGEST_PEM:
        raise invalid(f"{option} names a file that is too long for certificates or a key: {path}.")
    text = Path(path).read_bytes().decode("utf-8", errors="replace")
    if "-----BEGIN" not in text:
        raise invalid(f"{option} names a file that is not in PEM form: {path}.")
    return text


def _identity(params: Mapping[str, Any]) -> ClientCertificate:
    for option, variable in (("lxd_client_cert", "LXD_CLIENT_CERT"), ("lxd_client_key", "LXD_CLIENT_KEY")):
        if not params.get(option):
            raise invalid(
                f"{option} is missing: give the option or set the environment variable {variable}.",
                hint="LXD knows its clients by their certificates.",
            )
    chain, key = (pem(option, params[option]) for option in ("lxd_client_cert", "lxd_client_key"))
    for option, text in (("lxd_client_cert", chain), ("lxd_client_key", key)):
        if len(text) > LONGEST_PEM:
            raise invalid(f"{option} is too long for certificates or a key.")
    first = certificates("lxd_client_cert", chain)[0]
    if public_key("lxd_client_key", key) != first.public_key:
        raise invalid("lxd_client_key is not the key of lxd_client_cert.")
    return ClientCertificate(first, chain, key)


def _known_by(given: str) -> tuple[str, str]:
    """The fingerprint by which the server is known, or the authorities that vouch for it; nothing: the system's."""
    if not given.strip():
        return "", ""
    pinned = fingerprint(given)
    if pinned:
        return pinned, ""
    text = pem("lxd_server_cert", given)
    first = certificates("lxd_server_cert", text)[0]
    # LXD's own certificate names its host name and loopback alone: whoever has it knows the server by it, wherever
    # it answers.
    return ("", text) if first.is_authority else (first.fingerprint, "")


def _without_credentials(text: str) -> str:
    return re.sub(r"//.*@", "//***@", text, flags=re.DOTALL)
