# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterator

import pytest

from metalshift_lab.kube.proxy import AGREED, REFUSED, Proxy
from metalshift_lab.ports import LOOPBACK

LIMIT = 10


class Echo:
    """Says everything back, and when the other side has said all, a last word."""

    def __init__(self) -> None:
        self._listening = socket.create_server((LOOPBACK, 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                client, _address = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            while said := client.recv(65536):
                client.sendall(said)
            client.sendall(b"last word")

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


class Scene:
    """A proxy that knows api:6443, in the namespace `one` alone and, as api.two, from everywhere."""

    def __init__(self) -> None:
        self.echo = Echo()
        self.asked: list[tuple[str, str, int]] = []
        with socket.create_server((LOOPBACK, 0)) as probe:
            port = int(probe.getsockname()[1])
        self.proxy = Proxy(port, self._names)
        self.proxy.start()

    def _names(self, namespace: str, host: str, port: int) -> int | None:
        self.asked.append((namespace, host, port))
        known = {("one", "api", 6443): self.echo.port, ("one", "dead", 1): 1}
        return known.get((namespace, host, port)) or (self.echo.port if host == "api.two" else None)

    def connect(self, request: str, namespace: str | None = None, early: bytes = b"") -> socket.socket:
        """A connection on which this was asked."""
        headers = [request, "Host: whatever"]
        if namespace is not None:
            headers.append(f"Proxy-Authorization: Basic {base64.b64encode(f'{namespace}:'.encode()).decode()}")
        connection = socket.create_connection((LOOPBACK, self.proxy.port), timeout=LIMIT)
        connection.sendall("\r\n".join([*headers, "", ""]).encode("latin-1") + early)
        return connection


def read(connection: socket.socket, count: int) -> bytes:
    with connection.makefile("rb") as stream:
        return stream.read(count)


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.proxy.stop()
    made.echo.close()


def test_a_tunnel_leads_to_what_the_name_means_in_the_namespace(scene: Scene) -> None:
    with scene.connect("CONNECT api:6443 HTTP/1.1", "one") as connection:
        assert read(connection, len(AGREED)) == AGREED
        connection.sendall(b"hello")
        assert read(connection, 5) == b"hello"
    assert scene.asked == [("one", "api", 6443)]
    assert scene.proxy.url("one") == f"http://one@{LOOPBACK}:{scene.proxy.port}"


def test_without_a_namespace_only_full_names_are_known(scene: Scene) -> None:
    with scene.connect("CONNECT api.two:6443 HTTP/1.1") as connection:
        assert read(connection, len(AGREED)) == AGREED
    with scene.connect("CONNECT api:6443 HTTP/1.1") as connection:
        assert read(connection, -1) == REFUSED
    assert scene.asked == [("", "api.two", 6443), ("", "api", 6443)]


@pytest.mark.parametrize(
    "request_line",
    [
        "CONNECT unknown:6443 HTTP/1.1",
        "CONNECT api:443 HTTP/1.1",
        "CONNECT dead:1 HTTP/1.1",
        "CONNECT api HTTP/1.1",
        "CONNECT api:6443x HTTP/1.1",
        "CONNECT api:\N{SUPERSCRIPT TWO} HTTP/1.1",
        "GET https://api:6443/ HTTP/1.1",
        "",
    ],
)
def test_everything_else_is_refused(scene: Scene, request_line: str) -> None:
    with scene.connect(request_line, "one") as connection:
        assert read(connection, -1).startswith(b"HTTP/1.1 502 ")


def test_a_login_that_cannot_be_read_is_none(scene: Scene) -> None:
    with socket.create_connection((LOOPBACK, scene.proxy.port), timeout=LIMIT) as connection:
        connection.sendall(b"CONNECT api:6443 HTTP/1.1\r\nProxy-Authorization: Basic =!\r\n\r\n")
        assert read(connection, -1) == REFUSED


def test_who_has_said_all_still_hears_the_answer(scene: Scene) -> None:
    with scene.connect("CONNECT api:6443 HTTP/1.1", "one") as connection:
        assert read(connection, len(AGREED)) == AGREED
        connection.sendall(b"all")
        connection.shutdown(socket.SHUT_WR)
        assert read(connection, -1) == b"alllast word"


def test_what_is_said_before_the_tunnel_is_there_goes_through_it(scene: Scene) -> None:
    with scene.connect("CONNECT api:6443 HTTP/1.1", "one", early=b"early") as connection:
        assert read(connection, len(AGREED) + 5) == AGREED + b"early"


def test_much_goes_through_many_tunnels_at_once(scene: Scene) -> None:
    load = b"x" * 300_000
    connections = [scene.connect("CONNECT api:6443 HTTP/1.1", "one") for _number in range(5)]
    for connection in connections:
        assert read(connection, len(AGREED)) == AGREED
        threading.Thread(target=connection.sendall, args=(load,), daemon=True).start()
    for connection in connections:
        assert read(connection, len(load)) == load
        connection.close()


def test_a_stopped_proxy_leaves_its_port(scene: Scene) -> None:
    scene.proxy.stop()
    with pytest.raises(OSError):
        socket.create_connection((LOOPBACK, scene.proxy.port), timeout=LIMIT)
    socket.create_server((LOOPBACK, scene.proxy.port)).close()
