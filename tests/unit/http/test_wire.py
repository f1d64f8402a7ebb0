# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What carries requests: sockets, proxies, connections that are kept, and answers that come too slowly."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http.causes import Cause, cause_of
from ansible_collections.metalshift.maas.plugins.module_utils._http.pure.answer import seconds_of
from ansible_collections.metalshift.maas.plugins.module_utils._http.wire import (
    BROKEN,
    NotSent,
    ProxyRefused,
    Wire,
    trusting,
)
from metalshift_lab.authority import Authority
from unit.scripted_maas import Call, ScriptedMaas

Play = Callable[..., ScriptedMaas]


def get(wire: Wire, target: str = "/x", seconds: float = 5.0) -> str:
    return wire.exchange("GET", target, {}, None, seconds).text


def wire_to(server: ScriptedMaas, **settings: Any) -> Wire:
    return Wire(f"{server.scheme}://127.0.0.1:{server.port}", **settings)


# -- connections -----------------------------------------------------------------------------------


def test_a_connection_is_used_again(play: Play) -> None:
    ports: list[int] = []
    server = play(Call("GET /a", text="1"), Call("GET /b", text="2"))
    accept = server._server.get_request
    server._server.get_request = lambda: (ports.append(1), accept())[1]  # type: ignore[method-assign,func-returns-value]
    wire = wire_to(server)
    assert (get(wire, "/a"), get(wire, "/b")) == ("1", "2")
    assert len(ports) == 1


def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        wire = Wire(f"http://127.0.0.1:{listening.getsockname()[1]}")

        def serve() -> None:
            for _request in range(2):
                connection, _address = listening.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        assert get(wire) == "ok"
        # Closed by the server, and noticed before the next request is risked on it.
        while wire._idle[0].sock.is_quiet():
            pass
        assert get(wire) == "ok"
        serving.join(10)


def test_a_socket_of_this_machine_carries_requests_too(tmp_path: Path) -> None:
    path = tmp_path / "unix.socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        heard: list[bytes] = []

        def serve() -> None:
            connection, _address = listening.accept()
            with connection:
                heard.append(connection.recv(65536))
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        assert get(Wire(str(path)), "/1.0") == "ok"
    assert heard[0].startswith(b"GET /1.0 HTTP/1.1\r\nHost: localhost\r\n")


# -- proxies ---------------------------------------------------------------------------------------


@pytest.fixture
def tunnel() -> Iterator[tuple[str, list[str]]]:
    """A proxy that connects whoever asks, and what it was asked."""
    heard: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def pump(source: socket.socket, target: socket.socket) -> None:
            with suppress(OSError):
                while piece := source.recv(65536):
                    target.sendall(piece)
                target.shutdown(socket.SHUT_WR)

        def serve() -> None:
            with suppress(OSError):
                while True:
                    client, _address = listening.accept()
                    asked = client.recv(65536).decode()
                    heard.append(asked)
                    host, port = asked.split()[1].rsplit(":", 1)
                    if host == "refused.example.com":
                        client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
                        continue
                    server = socket.create_connection((host, int(port)))
                    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    for pair in ((client, server), (server, client)):
                        threading.Thread(target=pump, args=pair, daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://jo:s%20cret@127.0.0.1:{listening.getsockname()[1]}", heard


def test_tls_goes_through_a_tunnel_and_is_verified(play: Play, tunnel: tuple[str, list[str]], tmp_path: Path) -> None:
    proxy, heard = tunnel
    authority = Authority(tmp_path, "authority")
    pair = authority.server("127.0.0.1", ["127.0.0.1"])
    (tmp_path / "server.pem").write_bytes(pair.certificate + pair.key)
    server = play(Call("GET /x", text="ok"), certificate=str(tmp_path / "server.pem"))
    wire = wire_to(server, proxy=proxy, context=lambda: trusting(file=str(authority.file)))
    assert get(wire) == "ok"
    assert heard[0].startswith(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic am86cyBjcmV0" in heard[0]
    with pytest.raises(NotSent):
        get(wire_to(server, proxy=proxy))


def test_a_proxy_that_refuses_is_said(tunnel: tuple[str, list[str]]) -> None:
    cause = failed(Wire("https://refused.example.com", proxy=tunnel[0]))
    assert (cause.reason, cause.never_sent) == ("the proxy does not let us through (it answers 403)", True)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "https://127.0.0.1:9", "127.0.0.1:9", "http://[::1"])
@pytest.mark.parametrize("server", ["http://127.0.0.1:9", "https://127.0.0.1:9"])
def test_a_proxy_of_another_kind_is_said_and_not_passed_by(server: str, proxy: str) -> None:
    cause = failed(Wire(server, proxy=proxy))
    assert cause.reason == "the proxy cannot be used"
    assert (cause.never_sent, cause.is_passing) == (True, False)


def failed(wire: Wire) -> Cause:
    with pytest.raises(BROKEN) as caught:
        get(wire)
    return cause_of(caught.value, seconds=5)


# -- why there is no answer ------------------------------------------------------------------------


def after(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "reason", "never_sent", "is_passing"),
    [
        (after(NotSent(), ConnectionRefusedError(111, "refused")), "connection refused", True, True),
        (after(NotSent(), socket.gaierror(socket.EAI_NONAME, "x")), "its name cannot be resolved", True, False),
        (after(NotSent(), socket.gaierror(socket.EAI_AGAIN, "x")), "its name cannot be resolved", True, True),
        (after(NotSent(), TimeoutError()), "no connection within 10 seconds", True, True),
        (after(NotSent(), ProxyRefused()), "the proxy does not let us through (it does not answer)", True, True),
        (after(NotSent(), http.client.InvalidURL()), "the request could not be made (InvalidURL)", True, False),
        (TimeoutError(), "no answer within 7 seconds", False, True),
        (http.client.IncompleteRead(b""), "the connection broke", False, True),
        (http.client.RemoteDisconnected(), "the connection broke", False, True),
        (ssl.SSLEOFError(), "the connection broke", False, True),
        (BrokenPipeError(), "the connection broke", False, True),
        (
            UnicodeEncodeError("ascii", "ü", 0, 1, "x"),
            "the request could not be made (UnicodeEncodeError)",
            True,
            False,
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_why_there_is_no_answer(error: BaseException, reason: str, never_sent: bool, is_passing: bool) -> None:
    cause = cause_of(error, seconds=7)
    assert (cause.reason, cause.never_sent, cause.is_passing, cause.is_tls) == (reason, never_sent, is_passing, False)


def test_what_failed_before_says_nothing_about_what_fails_now() -> None:
    """A request may be sent while the failure of another one is handled."""
    before = Failure("unreachable", "MAAS does not answer.")
    before.__cause__ = after(NotSent(), ConnectionRefusedError())
    error = TimeoutError()
    error.__context__ = before
    cause = cause_of(error, seconds=7)
    assert (cause.reason, cause.never_sent) == ("no answer within 7 seconds", False)


@pytest.mark.parametrize(("header", "seconds"), [(None, None), ("7", 7.0), ("-1", 0.0), ("Wed, 21 Oct", 5.0)])
def test_when_to_come_back_is_understood(header: str | None, seconds: float | None) -> None:
    assert seconds_of(header) == seconds
