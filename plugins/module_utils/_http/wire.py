# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One server over HTTP with the standard library alone: over TLS, through a proxy, or over a socket of this machine.

Connections are kept for the next request. Every answer is bounded as a whole: a server that sends a byte now and then
is left in time, like one that is silent.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import io
import selectors
import socket
import ssl
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import within
from ansible_collections.metalshift.maas.plugins.module_utils._core.parent import end_if_orphaned

CONNECT_TIMEOUT = 10.0
BLOCK = 1 << 16
PORTS = {"http": 80, "https": 443}
AGENT = "metalshift.maas"


class NotSent(Exception):
    """Nothing of the request has left this machine; the cause says why."""


class ProxyRefused(OSError):
    """The proxy does not connect us with the server."""


class UnusableProxy(ValueError):
    """The proxy's URL is not one that can be used."""


class OtherCertificate(ssl.SSLError):
    """The server's certificate is not the one it is known by."""

    def __init__(self, fingerprint: str) -> None:
        super().__init__(f"its certificate has the fingerprint {fingerprint}")
        self.fingerprint = fingerprint


# What an exchange may raise.
BROKEN = (NotSent, OSError, http.client.HTTPException)


@dataclass(frozen=True)
class Received:
    """A whole answer."""

    status: int
    headers: http.client.HTTPMessage
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", errors="replace")


class Wire:
    """Connections to one server. Safe to use from several threads.

    `context` is asked for what verifies the server when the first connection is made. With a `pin`, the server is known
    by the SHA-256 fingerprint of its certificate.
    """

    def __init__(
        self,
        server: str,
        *,
        context: Callable[[], ssl.SSLContext] = ssl.create_default_context,
        pin: str = "",
        proxy: str = "",
    ) -> None:
        self._path = server if server.startswith("/") else ""
        self._server = urlsplit("http://localhost" if self._path else server)
        self._make_context = context
        self._context: ssl.SSLContext | None = None
        self._pin = pin
        self._proxy = proxy
        self._idle: list[_Connection] = []
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._idle)

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None, seconds: float
    ) -> Received:
        """Send one request and read its answer, which may take that long from its first byte to its last."""
        end_if_orphaned()
        connection = self._usable()
        try:
            until = monotonic() + seconds
            self._begin(connection, method, target, headers, body, seconds)
            connection.sock.allow_until(until)
            connection.endheaders(body)
            response = connection.getresponse()
            received = Received(response.status, response.headers, response.read())
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        return received

    def _usable(self) -> _Connection:
        """One that was used before and is still open, or a new one that is not open yet."""
        while True:
            with self._lock:
                if not self._idle:
                    return _Connection(self._server)
                connection = self._idle.pop()
            if connection.sock.is_quiet():
                return connection
            connection.close()

    def _begin(
        self,
        connection: _Connection,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
        seconds: float,
    ) -> None:
        """All that can fail before something is sent."""
        try:
            forwards = self._server.scheme == "http" and bool(self._proxy)
            connection.putrequest(method, f"http://{self._server.netloc}{target}" if forwards else target)
            connection.putheader("User-Agent", AGENT)
            for name, value in (*headers.items(), *(_login(_proxy(self._proxy)) if forwards else ())):
                connection.putheader(name, value)
            if body is not None or method in ("POST", "PUT", "PATCH"):
                connection.putheader("Content-Length", str(len(body or b"")))
            if connection.sock is None:
                # Nothing else bounds a name that is slow to resolve.
                made = self._connect() if self._path else within(seconds, self._connect)
                connection.sock = Socket(made)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise NotSent from error

    def _connect(self) -> socket.socket:
        if self._path:
            local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            local.settimeout(CONNECT_TIMEOUT)
            try:
                local.connect(self._path)
            except BlockingIOError:
                # Nobody takes the connections that wait already.
                raise ConnectionRefusedError from None
            return local
        plain = self._through_proxy() if self._proxy else _dial(self._server)
        return self._secured(plain) if self._server.scheme == "https" else plain

    def _through_proxy(self) -> socket.socket:
        proxy = _proxy(self._proxy)
        try:
            plain = _dial(proxy)
        except OSError as error:
            raise ProxyRefused from error
        if self._server.scheme == "https":
            _open_tunnel(plain, self._server, proxy)
        return plain

    def _secured(self, plain: socket.socket) -> ssl.SSLSocket:
        with self._lock:
            # Loading the authorities of a system takes longer than most requests.
            context = self._context = self._context or self._make_context()
        secured = context.wrap_socket(plain, server_hostname=self._server.hostname)
        if self._pin:
            shown = hashlib.sha256(secured.getpeercert(binary_form=True) or b"").hexdigest()
            if shown != self._pin:
                secured.close()
                raise OtherCertificate(shown)
        return secured


def trusting(*, file: str | None = None, folder: str | None = None, text: str | None = None) -> ssl.SSLContext:
    """Verifies servers by these authorities; by those of the system if none are given."""
    context = ssl.create_default_context(cafile=file, capath=folder, cadata=text)
    # From Python 3.13 on it is set, and private authorities often leave out what it asks for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def trusting_all() -> ssl.SSLContext:
    """Verifies nothing: for a fingerprint that is compared afterwards, or on the user's word."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _close(connections: list[_Connection]) -> None:
    for connection in connections:
        connection.close()


def _proxy(url: str) -> SplitResult:
    try:
        proxy = urlsplit(url)
        if proxy.scheme == "http" and proxy.hostname and proxy.port != 0:
            return proxy
    except ValueError:
        pass
    raise UnusableProxy


def _dial(server: SplitResult) -> socket.socket:
    made = socket.create_connection((server.hostname, server.port or PORTS[server.scheme]), CONNECT_TIMEOUT)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _open_tunnel(plain: socket.socket, server: SplitResult, proxy: SplitResult) -> None:
    port = server.port or PORTS[server.scheme]
    host = f"[{server.hostname}]" if ":" in str(server.hostname) else f"{server.hostname}"
    lines = [f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}"]
    lines += [f"{name}: {value}" for name, value in _login(proxy)]
    plain.sendall("\r\n".join([*lines, "", ""]).encode())
    response = http.client.HTTPResponse(plain, method="CONNECT")
    response.begin()
    response.close()
    if response.status != 200:
        raise ProxyRefused(f"it answers {response.status}")


def _login(proxy: SplitResult) -> list[tuple[str, str]]:
    if proxy.username is None:
        return []
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return [("Proxy-Authorization", f"Basic {base64.b64encode(login.encode()).decode()}")]


class Socket:
    """As much of a socket as http.client asks for. Whatever it waits for ends when the answer must be there."""

    def __init__(self, plain: socket.socket) -> None:
        self._plain = plain
        self._until = 0.0

    def allow_until(self, moment: float) -> None:
        self._until = moment

    def is_quiet(self) -> bool:
        """Whether nothing came since the last answer: what comes unasked is the end of the connection."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._plain, selectors.EVENT_READ)
            return not selector.select(0)

    def bound(self) -> None:
        """Let the next wait end in time."""
        left = self._until - monotonic()
        if left <= 0:
            raise TimeoutError
        self._plain.settimeout(left)

    def sendall(self, content: bytes) -> None:
        self.bound()
        self._plain.sendall(content)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Pieces(self._plain.makefile("rb", buffering=0), self.bound), BLOCK)

    def close(self) -> None:
        self._plain.close()


class _Pieces(io.RawIOBase):
    """What a socket receives, piece by piece."""

    def __init__(self, raw: Any, bound: Callable[[], None]) -> None:
        self._raw = raw
        self._bound = bound

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._bound()
        read: int | None = self._raw.readinto(buffer)
        return read

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Connection(http.client.HTTPConnection):
    """Writes and reads HTTP on a socket that it is given."""

    sock: Any

    def __init__(self, server: SplitResult) -> None:
        # For the header Host alone.
        self.default_port = PORTS[server.scheme]
        super().__init__(server.hostname or "", server.port)
