# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A CONNECT proxy that stands in for the cluster's service names.

Programs of a hosted control plane reach its API as https://kube-apiserver:6443. In a cluster that name is resolved in
the pod's namespace; here the namespace is the user name of the proxy that the program is given.
"""

from __future__ import annotations

import base64
import binascii
import logging
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from metalshift_lab.ports import LOOPBACK

#: (namespace, host, port) → the port on the loopback interface, or None for a name that nobody serves.
Names = Callable[[str, str, int], "int | None"]
REFUSED = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
AGREED = b"HTTP/1.1 200 Connection established\r\n\r\n"
LONGEST = 65536
log = logging.getLogger("lab.proxy")


class Proxy:
    """Listens on a port of the loopback interface; opens tunnels to what `names` knows, and to nothing else."""

    name = "proxy"

    def __init__(self, port: int, names: Names) -> None:
        self.port, self._names = port, names
        self._listening = socket.create_server((LOOPBACK, port), backlog=128)
        self._ended = False

    def url(self, namespace: str) -> str:
        return f"http://{namespace}@{LOOPBACK}:{self.port}"

    def start(self) -> None:
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()

    def stop(self) -> None:
        self._ended = True
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        while not self._ended:
            try:
                client, _address = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            head, _end, early = _head(client).partition(b"\r\n\r\n")
            asked = _asked(head)
            port = self._names(*asked) if asked else None
            if port is None:
                log.debug("refused: %s", asked)
                client.sendall(REFUSED)
                return
            try:
                server = socket.create_connection((LOOPBACK, port), timeout=10)
            except OSError:
                client.sendall(REFUSED)
                return
            with server:
                client.sendall(AGREED)
                server.sendall(early)
                server.settimeout(None)
                client.settimeout(None)
                back = threading.Thread(target=_pour, args=(server, client), daemon=True)
                back.start()
                _pour(client, server)
                back.join()


def _head(client: socket.socket) -> bytes:
    client.settimeout(30)
    head = b""
    while b"\r\n\r\n" not in head and len(head) < LONGEST:
        more = client.recv(4096)
        if not more:
            break
        head += more
    return head


def _asked(head: bytes) -> tuple[str, str, int] | None:
    """Namespace, host and port of a CONNECT request; None for anything else."""
    request, *headers = head.decode("latin-1").split("\r\n")
    method, _space, rest = request.partition(" ")
    host, _colon, port = rest.partition(" ")[0].rpartition(":")
    if method != "CONNECT" or not port.isdecimal():
        return None
    namespace = ""
    for header in headers:
        name, _colon, value = header.partition(":")
        if name.lower() == "proxy-authorization":
            with suppress(binascii.Error, UnicodeDecodeError):
                namespace = base64.b64decode(value.strip().partition(" ")[2]).decode().partition(":")[0]
    return namespace, host, int(port)


def _pour(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    # The other direction may still have something to say.
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
