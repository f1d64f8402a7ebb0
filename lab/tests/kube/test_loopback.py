# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing of a lab can be reached from another machine."""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path

import pytest

from metalshift_lab.kube.api import MAAS_MACHINES
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey
from metalshift_lab.processes import Remains, remains

PROC = Path("/proc")
LISTENS = "0A"
pytestmark = pytest.mark.skipif(not PROC.joinpath("net/tcp").exists(), reason="listening sockets are read from /proc")


def address(text: str) -> str:
    """`0100007F:1F90` → `127.0.0.1:8080`: words of four bytes, each in the order of this machine."""
    host, port = text.split(":")
    words = [int(host[start : start + 8], 16) for start in range(0, len(host), 8)]
    return f"{ip_address(struct.pack(f'={len(words)}I', *words))}:{int(port, 16)}"


def listening() -> dict[str, str]:
    """The inode of each socket that listens for TCP → its address."""
    tables = [PROC / "net" / name for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables if table.exists() for line in table.read_text().splitlines()[1:]]
    return {row[9]: address(row[1]) for row in rows if row[3] == LISTENS}


def sockets(process: Remains) -> Iterator[str]:
    """The inodes of the sockets that it has open."""
    with suppress(FileNotFoundError):
        for descriptor in (PROC / str(process.pid) / "fd").iterdir():
            with suppress(FileNotFoundError):
                yield from re.findall(r"^socket:\[(\d+)]$", os.readlink(descriptor))


def servers(lab: Lab) -> dict[str, list[str]]:
    """What of the lab listens: the name of the process → its addresses."""
    known = listening()
    found = {each.part: [known[inode] for inode in sockets(each) if inode in known] for each in remains(lab.folder)}
    return {part: sorted(addresses) for part, addresses in found.items() if addresses}


def beyond_loopback(found: dict[str, list[str]]) -> dict[str, list[str]]:
    def reachable(place: str) -> bool:
        host = ip_address(place.rpartition(":")[0])
        inner = host.ipv4_mapped if isinstance(host, IPv6Address) else None
        return not (inner or host).is_loopback

    outside = {part: list(filter(reachable, addresses)) for part, addresses in found.items()}
    return {part: addresses for part, addresses in outside.items() if addresses}


@pytest.mark.parametrize(
    ("family", "host", "seen"),
    [
        (socket.AF_INET, "127.0.0.1", False),
        (socket.AF_INET, "0.0.0.0", True),
        (socket.AF_INET6, "::1", False),
        (socket.AF_INET6, "::", True),
    ],
)
def test_a_server_is_seen_and_where_it_listens(family: socket.AddressFamily, host: str, seen: bool) -> None:
    with socket.socket(family) as server:
        try:
            server.bind((host, 0))
        except OSError as problem:
            pytest.skip(f"this machine has no {host}: {problem.strerror}")
        server.listen()
        place = f"{host}:{server.getsockname()[1]}"
        own = [known for inode, known in listening().items() if inode in sockets(Remains(os.getpid(), "test", ""))]
        assert place in own
        assert bool(beyond_loopback({"test": [place]})) is seen


@pytest.mark.thorough
def test_all_of_a_lab_listens_on_the_loopback_interface_only(lab: Lab, tmp_path: Path) -> None:
    """Looked at when every kind of program runs: those of a hosted cluster and of its machines among them."""
    journey = Journey(lab, "inward", tmp_path)
    journey.create(replicas=1)
    try:
        journey.until_available()
        expected = ("supervisor", f"{journey.namespace}.cluster-api", f"{journey.namespace}.kube-apiserver")
        lab.until("all of it listens", lambda: set(expected) <= servers(lab).keys())
        lab.until("a machine is asked for", lambda: lab.api.list(MAAS_MACHINES, journey.namespace))
        assert beyond_loopback(servers(lab)) == {}
    finally:
        journey.delete()
        journey.until_gone()
