# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import gzip
import hashlib
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from metalshift_lab.authority import Authority, encoded
from metalshift_lab.kube import first_boot
from metalshift_lab.kube.first_boot import Emergency, Ignition
from metalshift_lab.kube.https import Handler, Server, server_context
from metalshift_lab.kube.speed import Speed

LOG = logging.getLogger("lab.test")


class SwitchedOff(Exception):
    """The machine was switched off while it waited."""


class Door:
    """An HTTPS server of one's own: answers by path, in turn, the last for ever."""

    def __init__(self, authority: Authority, folder: Path) -> None:
        pair = authority.server("ignition", ["127.0.0.1"])
        pair.write(folder / "door.crt", folder / "door.key")
        self.answers: dict[str, list[tuple[int, bytes]]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        door = self

        class Answers(Handler):
            def do_GET(self) -> None:
                door.asked.append((self.path, dict(self.headers.items())))
                answers = door.answers[self.path]
                status, body = answers.pop(0) if len(answers) > 1 else answers[0]
                self.answer(status, body, "application/json")

        self.server = Server(0, server_context(str(folder / "door.crt"), str(folder / "door.key")), Answers)
        self.server.open()

    def url(self, path: str) -> str:
        return f"https://127.0.0.1:{self.server.port}{path}"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "ignition-ca")


@pytest.fixture
def door(authority: Authority, tmp_path: Path) -> Iterator[Door]:
    made = Door(authority, tmp_path)
    yield made
    made.server.close()


def data(content: bytes) -> str:
    return f"data:text/plain;base64,{encoded(content)}"


def config(*files: tuple[str, str], merge: Any = (), authorities: Any = (), **ignition: Any) -> dict[str, Any]:
    return {
        "ignition": {
            "version": "3.2.0",
            "config": {"merge": list(merge)},
            "security": {"tls": {"certificateAuthorities": list(authorities)}},
            **ignition,
        },
        "storage": {"files": [{"path": path, "contents": {"source": source}} for path, source in files]},
    }


def text(*files: tuple[str, str], **more: Any) -> bytes:
    return json.dumps(config(*files, **more)).encode()


def run(wanted: dict[str, Any], pauses: int = 0) -> dict[str, bytes]:
    """The files of a first boot; the machine is switched off when it waits more often than this."""
    waited: list[float] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) > pauses:
            raise SwitchedOff

    return Ignition(pause, Speed(60), LOG, "worker01").run(wanted)


@pytest.mark.parametrize(
    ("url", "content"),
    [
        ("data:,plain", b"plain"),
        ("data:,a%20b%0A", b"a b\n"),
        (f"data:;base64,{encoded(b'x')}", b"x"),
        (f"data:text/plain;charset=utf-8;base64,{quote(encoded(b'???'))}", b"???"),
    ],
)
def test_data_urls_are_read(url: str, content: bytes) -> None:
    assert first_boot.decoded(url) == content


@pytest.mark.parametrize("url", ["data:nothing", "data:;base64,x"])
def test_broken_data_urls_are_an_emergency(url: str) -> None:
    with pytest.raises(Emergency):
        first_boot.decoded(url)


@pytest.mark.parametrize(
    "user_data", [None, b"", b"#cloud-config\n", b"#!/bin/sh\n", b"[]", b'{"a": 1}', b"\x1f\x8b\x00"]
)
def test_what_is_no_ignition_is_left_to_others(user_data: bytes | None) -> None:
    assert first_boot.of_user_data(user_data) is None


def test_resources_are_checked_and_unpacked() -> None:
    packed = gzip.compress(b"content")
    hashed = {"hash": f"sha512-{hashlib.sha512(packed).hexdigest()}"}
    resource = {"source": data(packed), "compression": "gzip", "verification": hashed}
    assert first_boot.unpacked(packed, resource) == b"content"
    for broken in ({"compression": "xz"}, {"compression": "gzip"}, {"verification": {"hash": "sha512-00"}}):
        with pytest.raises(Emergency):
            first_boot.unpacked(b"content", {"source": "data:,", **broken})


@pytest.mark.parametrize(
    ("host", "exceptions", "direct"),
    [
        ("api.lab.example", [".lab.example"], True),
        ("api.lab.example", ["lab.example"], True),
        ("api.collab.example", ["lab.example"], False),
        ("127.0.0.1", ["127.0.0.1"], True),
        ("other.example", ["", "lab.example"], False),
        ("other.example", ["*"], True),
    ],
)
def test_some_hosts_are_reached_without_the_proxy(host: str, exceptions: list[str], direct: bool) -> None:
    assert first_boot.without_proxy(host, exceptions) is direct


def test_files_of_all_merged_configurations_are_one_tree() -> None:
    first, second = text(("/a", "data:,1"), ("/b", "data:,1")), text(("/b", "data:,2"))
    merge = [{"source": data(first)}, {"source": data(gzip.compress(second)), "compression": "gzip"}]
    assert run(config(("/a", "data:,0"), ("/c", "data:,0"), merge=merge)) == {"/a": b"1", "/b": b"2", "/c": b"0"}


def test_a_replacement_is_all_there_is() -> None:
    wanted = config(("/a", "data:,0"))
    wanted["ignition"]["config"] = {"replace": {"source": data(text(("/b", "data:,1")))}}
    assert run(wanted) == {"/b": b"1"}


def test_the_payload_is_fetched_with_the_headers_and_trusted_by_the_authority(door: Door, authority: Authority) -> None:
    door.answers["/ignition"] = [(200, text(("/etc/x", "data:,y"), version="3.4.0"))]
    headers = [{"name": "Authorization", "value": "Bearer abc"}, {"name": "TargetConfigVersionHash", "value": "0a1b"}]
    merge = [{"source": door.url("/ignition"), "httpHeaders": headers}]
    assert run(config(merge=merge, authorities=[{"source": data(authority.pem)}])) == {"/etc/x": b"y"}
    shown = {name.lower(): value for name, value in door.asked[0][1].items()}
    assert (shown["authorization"], shown["targetconfigversionhash"]) == ("Bearer abc", "0a1b")
    assert shown["user-agent"].startswith("Ignition/")


@pytest.mark.parametrize("status", [500, 503, 511])
def test_server_errors_are_tried_again(door: Door, authority: Authority, status: int) -> None:
    door.answers["/ignition"] = [(status, b"Token not found"), (status, b""), (200, text(("/etc/x", "data:,y")))]
    wanted = config(merge=[{"source": door.url("/ignition")}], authorities=[{"source": data(authority.pem)}])
    assert run(wanted, pauses=2) == {"/etc/x": b"y"}
    assert len(door.asked) == 3


@pytest.mark.parametrize("status", [401, 404])
def test_refusals_are_an_emergency(door: Door, authority: Authority, status: int) -> None:
    door.answers["/ignition"] = [(status, b"Unauthorized")]
    wanted = config(merge=[{"source": door.url("/ignition")}], authorities=[{"source": data(authority.pem)}])
    with pytest.raises(Emergency, match=str(status)):
        run(wanted)


def test_a_server_of_another_authority_is_not_believed(door: Door, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other-ca")
    door.answers["/ignition"] = [(200, text())]
    for authorities in ([], [{"source": data(other.pem)}]):
        with pytest.raises(SwitchedOff):
            run(config(merge=[{"source": door.url("/ignition")}], authorities=authorities), pauses=1)
    assert door.asked == []


def test_nobody_at_the_address_is_waited_for(authority: Authority) -> None:
    with pytest.raises(SwitchedOff):
        run(
            config(merge=[{"source": "https://127.0.0.1:1/ignition"}], authorities=[{"source": data(authority.pem)}]), 3
        )


def test_the_proxy_is_asked_unless_the_host_is_an_exception() -> None:
    asked: list[str] = []

    class Refuses(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            asked.append(self.path)
            self.send_error(502)

        def log_message(self, format: str, *args: Any) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        proxy = {"httpsProxy": f"http://127.0.0.1:{server.server_port}", "noProxy": ["127.0.0.1"]}
        for host in ("api.lab.example", "127.0.0.1"):
            with pytest.raises(SwitchedOff):
                run(config(merge=[{"source": f"https://{host}:1/ignition"}], proxy=proxy))
        server.shutdown()
    assert asked == ["api.lab.example:1"]


def test_a_time_limit_ends_the_waiting() -> None:
    merge = [{"source": "https://127.0.0.1:1/ignition"}]
    with pytest.raises(Emergency, match="within"):
        run(config(merge=merge, timeouts={"httpTotal": 0.001}), pauses=10)


@pytest.mark.parametrize(
    "wanted",
    [
        config(version="4.0.0"),
        config(merge=[{"source": "s3://bucket/key"}]),
        config(merge=[{"source": "data:,no%20config"}]),
        config(authorities=[{"source": "data:,no%20certificate"}]),
    ],
)
def test_what_ignition_does_not_understand_is_an_emergency(wanted: dict[str, Any]) -> None:
    with pytest.raises(Emergency):
        run(wanted)
