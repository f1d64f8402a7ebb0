# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS that asks clients for a certificate and takes any, as LXD does: whom it trusts is decided afterwards."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

from metalshift_lab.simulator.lxd.server import normal
from metalshift_lab.simulator.server import Answer, Connection, Server

# Of a certificate message: 1 byte says what it is and 3 how long; then come lengths of 3 bytes.
HEADER, LENGTH = 4, 3


class TlsConnection(Connection):
    def certificate(self) -> str:
        found = self.connection.getpeercert(binary_form=True)
        return normal(ssl.DER_cert_to_PEM_cert(found)) if found else ""


class TlsServer(Server):
    """As over HTTP, with a client's certificate in the request."""

    def __init__(self, host: str, port: int, answer: Answer, certificate: Path, key: Path) -> None:
        self._certificate, self._key = certificate, key
        super().__init__(host, port, answer, TlsConnection)

    def get_request(self) -> tuple[socket.socket, Any]:
        """The handshake is left to the connection's own thread."""
        plain, address = self.socket.accept()
        context = context_for_any_client(self._certificate, self._key)
        return context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False), address


LAST_TO_TELL = (3, 1)


def context_for_any_client(certificate: Path, key: Path) -> ssl.SSLContext:
    """For one connection: whatever certificate comes is trusted in the moment before OpenSSL looks whether it is.

    Python offers OpenSSL's verification or none, and without it no certificate is asked for.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    # From some version after 3.0 on, OpenSSL tells of a certificate in TLS 1.3 only when it has looked.
    if ssl.OPENSSL_VERSION_INFO > LAST_TO_TELL:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    # Short keys are no concern of a lab.
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    context._msg_callback = _truster(context)  # type: ignore[attr-defined]
    return context


def _truster(context: ssl.SSLContext) -> Callable[..., None]:
    def trust(_connection: Any, direction: str, version: Any, _content: Any, kind: Any, message: bytes) -> None:
        if direction == "read" and getattr(kind, "name", "") == "CERTIFICATE":
            first = first_certificate(message, newest=version == ssl.TLSVersion.TLSv1_3)
            if first:
                context.load_verify_locations(cadata=first)

    return trust


def first_certificate(message: bytes, *, newest: bool) -> bytes:
    """DER; empty when the client has none. TLS 1.3 has a context before the list, whose length is in one byte."""
    content = message[HEADER:]
    chain = content[1 + content[0] :] if newest else content
    length = int.from_bytes(chain[LENGTH : 2 * LENGTH], "big")
    return chain[2 * LENGTH : 2 * LENGTH + length]
