# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The LXD in memory says what the real one says: the same requests, one after the other, and the same answers."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import requests

from metalshift_lab.authority import self_signed
from metalshift_lab.lxd.server import RealLxd
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.lxd import Network, Server, StoragePool
from metalshift_lab.simulator.lxd.server import BRIDGE

VM = {"type": "virtual-machine", "source": {"type": "none"}}
ROOT = {"root": {"type": "disk", "path": "/", "pool": "default", "size": "64MiB"}}
NONE = {"ipv4.address": "none", "ipv6.address": "none"}
FEATURES = {"features.images": "true", "features.profiles": "true", "features.storage.volumes": "true"}
Step = tuple[str, str] | tuple[str, str, Any]
DISKS = {**ROOT, "disk1": {"type": "disk", "pool": "default", "source": "d1"}}
NIC = {"type": "nic", "nictype": "bridged", "parent": "BRIDGE", "hwaddr": "00:16:3e:00:00:01"}

# A request is a method, a path and perhaps a body. Each case begins with a server that has nothing but its defaults,
# and ends by taking away what it made.
CASES: dict[str, list[Step]] = {
    "what is not there": [
        ("GET", "/"),
        ("GET", "/1.0/nosuch"),
        ("GET", "/1.0/projects/nosuch"),
        ("GET", "/1.0/profiles/nosuch"),
        ("GET", "/1.0/storage-pools/nosuch"),
        ("GET", "/1.0/storage-pools/nosuch/resources"),
        ("GET", "/1.0/storage-pools/default/volumes/custom/nosuch"),
        ("GET", "/1.0/networks/nosuch"),
        ("GET", "/1.0/networks/nosuch/state"),
        ("GET", "/1.0/instances/nosuch"),
        ("GET", "/1.0/instances/nosuch/state"),
        ("GET", "/1.0/operations/nosuch"),
        ("GET", "/1.0/operations/nosuch/wait"),
        ("GET", "/1.0/certificates/nosuch"),
        ("GET", "/1.0/instances?project=nosuch"),
        ("GET", "/1.0/profiles?project=nosuch"),
        ("POST", "/1.0/instances?project=nosuch", {**VM, "name": "v1"}),
        ("DELETE", "/1.0/projects/nosuch"),
        ("DELETE", "/1.0/profiles/nosuch"),
        ("DELETE", "/1.0/storage-pools/nosuch"),
        ("DELETE", "/1.0/networks/nosuch"),
        ("DELETE", "/1.0/networks/eth0"),
        ("DELETE", "/1.0/operations/nosuch"),
        ("PUT", "/1.0/instances/nosuch", {"config": {}}),
        ("PUT", "/1.0/instances/nosuch/state", {"action": "start"}),
    ],
    "configuration of the server": [
        ("PATCH", "/1.0", {"config": {"core.nosuch": "1"}}),
        ("PATCH", "/1.0", {"config": {"images.auto_update_interval": "abc"}}),
        ("PATCH", "/1.0", {"config": {"core.trust_password": "sekret", "images.auto_update_interval": "0"}}),
        ("GET", "/1.0"),
        ("PATCH", "/1.0", {"config": {"core.trust_password": "", "images.auto_update_interval": ""}}),
        ("GET", "/1.0"),
    ],
    "projects": [
        ("POST", "/1.0/projects", {}),
        ("POST", "/1.0/projects", {"name": "a b"}),
        ("POST", "/1.0/projects", {"name": "p1", "config": {"features.nosuch": "true"}}),
        ("POST", "/1.0/projects", {"name": "p1", "description": "d"}),
        ("POST", "/1.0/projects", {"name": "p1"}),
        ("GET", "/1.0/projects/p1"),
        ("GET", "/1.0/profiles/default?project=p1"),
        ("PATCH", "/1.0/projects/p1", {"config": {"limits.cpu": "4"}}),
        ("GET", "/1.0/projects/p1"),
        ("PATCH", "/1.0/projects/p1", {"description": "only"}),
        ("PUT", "/1.0/projects/p1", {"config": {**FEATURES, "user.x": "1"}}),
        ("GET", "/1.0/projects/p1"),
        ("PUT", "/1.0/projects/p1", {"config": {"limits.nosuch": "1"}}),
        ("POST", "/1.0/projects/p1", {"name": "default"}),
        ("POST", "/1.0/projects/p1", {"name": "p2"}),
        ("GET", "/1.0/projects"),
        ("DELETE", "/1.0/projects/default"),
        ("DELETE", "/1.0/projects/p2"),
    ],
    "profiles": [
        ("POST", "/1.0/projects", {"name": "p1"}),
        ("POST", "/1.0/profiles?project=p1", {"name": "x", "config": {"limits.memory": "1GiB"}, "devices": ROOT}),
        ("POST", "/1.0/profiles?project=p1", {"name": "x"}),
        ("POST", "/1.0/profiles?project=p1", {"name": "y", "config": {"no.such": "1"}}),
        ("POST", "/1.0/profiles?project=p1", {"name": "y", "devices": {"a": {"type": "nic", "network": "nosuch"}}}),
        ("POST", "/1.0/profiles?project=p1", {"name": "y", "devices": {"a": {"type": "nosuch"}}}),
        ("POST", "/1.0/profiles?project=p1", {}),
        ("POST", "/1.0/profiles", {"name": "a/b"}),
        ("GET", "/1.0/profiles?project=p1"),
        ("PATCH", "/1.0/profiles/x?project=p1", {"config": {"user.a": "b"}}),
        ("GET", "/1.0/profiles/x?project=p1"),
        ("PUT", "/1.0/profiles/x?project=p1", {"config": {"user.c": "d"}}),
        ("GET", "/1.0/profiles/x?project=p1"),
        ("POST", "/1.0/profiles/x?project=p1", {"name": "z"}),
        ("POST", "/1.0/profiles/z?project=p1", {"name": "default"}),
        ("DELETE", "/1.0/profiles/default?project=p1"),
        ("DELETE", "/1.0/profiles/z?project=p1"),
        ("DELETE", "/1.0/projects/p1"),
    ],
    "storage pools": [
        ("POST", "/1.0/storage-pools", {"name": "s1"}),
        ("POST", "/1.0/storage-pools", {"driver": "dir"}),
        ("POST", "/1.0/storage-pools", {"name": "s1", "driver": "nosuch"}),
        ("POST", "/1.0/storage-pools", {"name": "s1", "driver": "lvm"}),
        ("POST", "/1.0/storage-pools", {"name": "s1", "driver": "dir", "config": {"nosuch": "1"}}),
        ("POST", "/1.0/storage-pools", {"name": "s1", "driver": "btrfs", "config": {"size": "x"}}),
        ("POST", "/1.0/storage-pools", {"name": "s1", "driver": "dir", "config": {"rsync.bwlimit": "100"}}),
        ("POST", "/1.0/storage-pools", {"name": "s1", "driver": "dir"}),
        ("GET", "/1.0/storage-pools/s1"),
        ("PATCH", "/1.0/storage-pools/s1", {"config": {"user.x": "1"}, "description": "e"}),
        ("PATCH", "/1.0/storage-pools/s1", {"config": {"source": "/elsewhere"}}),
        ("PATCH", "/1.0/storage-pools/s1", {"config": {"nosuch": "1"}}),
        ("PATCH", "/1.0/storage-pools/s1", {"config": {"user.y": "1"}}),
        ("GET", "/1.0/storage-pools/s1"),
        ("PUT", "/1.0/storage-pools/s1", {"description": "f", "config": {}}),
        ("DELETE", "/1.0/storage-pools/default"),
        ("DELETE", "/1.0/storage-pools/s1"),
        ("GET", "/1.0/storage-pools"),
    ],
    "volumes": [
        (
            "POST",
            "/1.0/storage-pools/default/volumes/custom",
            {"name": "v1", "content_type": "block"},
        ),
        ("POST", "/1.0/storage-pools/default/volumes/custom", {"name": "v1", "type": "custom"}),
        ("POST", "/1.0/storage-pools/default/volumes", {"name": "v2", "type": "custom", "config": {"size": "1MiB"}}),
        ("POST", "/1.0/storage-pools/default/volumes/custom", {"name": "v3", "type": "custom", "content_type": "no"}),
        ("GET", "/1.0/storage-pools/default/volumes"),
        ("GET", "/1.0/storage-pools/default/volumes/custom/v2"),
        ("DELETE", "/1.0/storage-pools/default/volumes/custom/v1"),
        ("DELETE", "/1.0/storage-pools/default/volumes/custom/v2"),
        ("DELETE", "/1.0/storage-pools/default/volumes/custom/v2"),
    ],
    "networks": [
        ("POST", "/1.0/networks", {"name": "msf1", "type": "bridge", "config": NONE, "description": "d"}),
        ("POST", "/1.0/networks", {"name": "msf1"}),
        ("POST", "/1.0/networks", {"name": "a-name-much-too-long-x"}),
        ("POST", "/1.0/networks", {}),
        ("POST", "/1.0/networks", {"name": "msf2", "type": "nosuch"}),
        ("POST", "/1.0/networks", {"name": "msf2", "config": {**NONE, "nosuch": "1"}}),
        ("POST", "/1.0/networks", {"name": "msf2", "config": {**NONE, "ipv4.address": "x"}}),
        ("GET", "/1.0/networks/msf1"),
        ("PATCH", "/1.0/networks/msf1", {"config": {"ipv4.nat": "true"}}),
        ("PATCH", "/1.0/networks/msf1", {"config": {"nosuch": "true"}}),
        ("PATCH", "/1.0/networks/msf1", {"type": "macvlan"}),
        ("GET", "/1.0/networks/msf1"),
        ("PUT", "/1.0/networks/msf1", {"config": NONE}),
        ("GET", "/1.0/networks/msf1"),
        ("GET", "/1.0/networks/msf1/leases"),
        ("POST", "/1.0/networks/msf1", {"name": "msf2"}),
        ("DELETE", "/1.0/networks/BRIDGE"),
        ("DELETE", "/1.0/networks/msf2"),
    ],
    "what is wrong with an instance": [
        ("POST", "/1.0/instances", {**VM, "name": "a_b"}),
        ("POST", "/1.0/instances", {"name": "x", "source": {"type": "nosuch"}}),
        ("POST", "/1.0/instances", {"name": "x", "type": "nosuch", "source": {"type": "none"}}),
        ("POST", "/1.0/instances", {"name": "x", "source": {"type": "image", "alias": "nosuch"}}),
        ("POST", "/1.0/instances", {**VM, "name": "v2", "config": {"no.such": "1"}}),
        ("POST", "/1.0/instances", {**VM, "name": "v2", "profiles": ["nosuch"]}),
        ("POST", "/1.0/instances", {**VM, "name": "v2", "profiles": []}),
        ("POST", "/1.0/instances", {**VM, "name": "v2", "devices": {"root": {**ROOT["root"], "pool": "nosuch"}}}),
        ("POST", "/1.0/instances", {**VM, "name": "v2", "devices": {**DISKS}}),
        ("POST", "/1.0/instances", {**VM, "name": "v2", "config": {"limits.memory": "x"}}),
        ("POST", "/1.0/instances", {**VM, "name": "v2", "config": {"limits.cpu": "x"}}),
        ("POST", "/1.0/instances", {**VM, "name": "v2", "devices": {"e": {"type": "nic", "network": "nosuch"}}}),
        ("POST", "/1.0/projects", {"name": "p1", "config": {"limits.virtual-machines": "0"}}),
        ("POST", "/1.0/instances?project=p1", {**VM, "name": "v1"}),
        ("DELETE", "/1.0/projects/p1"),
        ("GET", "/1.0/instances"),
    ],
    "the life of a virtual machine": [
        ("POST", "/1.0/instances", {**VM, "name": "v1", "config": {"limits.memory": "256MiB"}, "devices": ROOT}),
        ("POST", "/1.0/instances", {**VM, "name": "v1"}),
        ("GET", "/1.0/instances/v1"),
        ("GET", "/1.0/instances/v1/state"),
        ("GET", "/1.0/instances"),
        ("GET", "/1.0/virtual-machines"),
        ("GET", "/1.0/containers"),
        ("GET", "/1.0/containers/v1"),
        ("GET", "/1.0/instances?filter=name+eq+v1"),
        ("GET", "/1.0/instances?instance-type=container"),
        ("GET", "/1.0/instances?all-projects=true"),
        ("PATCH", "/1.0/instances/v1", {"config": {"limits.cpu": "1"}}),
        ("PATCH", "/1.0/instances/v1", {"config": {"no.such": "1"}}),
        ("PATCH", "/1.0/instances/v1", {"devices": {"root": {**ROOT["root"], "size": "128MiB"}}}),
        ("PUT", "/1.0/instances/v1", {"config": {}, "devices": ROOT, "profiles": ["default"]}),
        ("PUT", "/1.0/instances/v1/state", {"action": "nosuch"}),
        ("PUT", "/1.0/instances/v1/state", {"action": "stop"}),
        ("PUT", "/1.0/instances/v1/state", {"action": "start"}),
        ("PUT", "/1.0/instances/v1/state", {"action": "start"}),
        ("GET", "/1.0/instances/v1"),
        ("DELETE", "/1.0/instances/v1"),
        ("PATCH", "/1.0/instances/v1", {"config": {"limits.cpu": "999"}}),
        ("PATCH", "/1.0/instances/v1", {"config": {"limits.memory": "1GiB"}}),
        ("POST", "/1.0/instances/v1", {"name": "v9"}),
        ("PUT", "/1.0/instances/v1/state", {"action": "freeze"}),
        ("PUT", "/1.0/instances/v1/state", {"action": "unfreeze"}),
        ("PUT", "/1.0/instances/v1/state", {"action": "stop", "timeout": 20}),
        ("POST", "/1.0/instances/v1", {"name": "v9"}),
        ("GET", "/1.0/storage-pools/default/volumes"),
        ("DELETE", "/1.0/instances/v9"),
        ("DELETE", "/1.0/instances/v9"),
    ],
    "what cannot start": [
        ("POST", "/1.0/instances", {**VM, "name": "v1", "config": {"limits.cpu": "999"}, "devices": ROOT}),
        ("PUT", "/1.0/instances/v1/state", {"action": "start"}),
        ("DELETE", "/1.0/instances/v1"),
        ("POST", "/1.0/instances", {**VM, "name": "v1", "devices": {**ROOT, "eth0": {**NIC, "parent": "nosuch"}}}),
        ("PUT", "/1.0/instances/v1/state", {"action": "start"}),
        ("DELETE", "/1.0/instances/v1"),
    ],
    "as MAAS composes": [
        ("POST", "/1.0/projects", {"name": "p1"}),
        ("POST", "/1.0/storage-pools/default/volumes/custom?project=p1", {"name": "d1", "content_type": "block"}),
        ("POST", "/1.0/instances?project=p1", {**VM, "name": "v1", "profiles": [], "devices": {**DISKS, "eth0": NIC}}),
        ("GET", "/1.0/instances/v1?project=p1"),
        ("GET", "/1.0/instances?project=p1"),
        ("GET", "/1.0/storage-pools/default/volumes?project=p1"),
        ("GET", "/1.0/storage-pools/default/volumes/custom/d1?project=p1"),
        ("GET", "/1.0/storage-pools/default"),
        ("GET", "/1.0/networks/BRIDGE"),
        ("GET", "/1.0/projects/p1"),
        ("DELETE", "/1.0/storage-pools/default/volumes/custom/d1?project=p1"),
        ("DELETE", "/1.0/projects/p1"),
        ("DELETE", "/1.0/instances/v1?project=p1"),
        ("DELETE", "/1.0/storage-pools/default/volumes/custom/d1?project=p1"),
        ("DELETE", "/1.0/projects/p1"),
    ],
}


@dataclass(frozen=True)
class Side:
    """One of the two, and how it is asked."""

    endpoint: str
    pair: tuple[str, str]
    bridge: str
    folder: str

    def ask(self, method: str, path: str, body: Any = None, pair: tuple[str, str] | None = None) -> Any:
        """The answer, and what became of its operation, without what is never the same."""
        session = session_of(pair or self.pair)
        text = None if body is None else self._own(json.dumps(body))
        answer = session.request(method, self.endpoint + self._own(path), data=text, timeout=60)
        said = answer.json()
        told: Any = said["error"] or said["metadata"]
        if said["type"] == "async" and said["metadata"]["class"] == "task":
            waited = session.get(f"{self.endpoint}{said['operation']}/wait", timeout=60).json()["metadata"]
            told = {key: waited[key] for key in ("description", "status", "status_code", "resources", "err")}
        where = answer.headers.get("Location", "") if answer.status_code == 201 else ""
        of_both = json.loads(json.dumps(told).replace(self.bridge, "BRIDGE").replace(self.folder, "/LXD"))
        return answer.status_code, where, alike(of_both)

    def _own(self, text: str) -> str:
        return text.replace("BRIDGE", self.bridge)


@cache
def session_of(pair: tuple[str, str]) -> requests.Session:
    session = requests.Session()
    session.trust_env, session.verify, session.cert = False, False, pair
    return session


# What LXD notes for itself, and what belongs to the machine it runs on.
NEVER_THE_SAME = re.compile(
    r"volatile\.(uuid|cloud-init\..*|.*\.host_name|.*\.hwaddr|vsock_id)|created_at|last_used_at"
)
OF_THE_MACHINE = (
    "api_extensions", "environment", "core.https_address", "pid", "processes", "cpu", "memory", "disk", "network",
)  # fmt: skip


def alike(told: Any) -> Any:
    if isinstance(told, dict):
        kept = {key: value for key, value in told.items() if not NEVER_THE_SAME.fullmatch(key)}
        return {key: alike(value) for key, value in kept.items() if key not in OF_THE_MACHINE}
    return sorted((alike(each) for each in told), key=str) if isinstance(told, list) else told


@pytest.fixture
def real(real_lxd: RealLxd) -> Side:
    if "qemu" not in real_lxd.drivers:
        pytest.skip("LXD has no virtual machines where there is no /dev/kvm.")
    pair = (real_lxd.client_cert, real_lxd.client_key)
    return Side(real_lxd.endpoint, pair, real_lxd.bridge, str(real_lxd.lxd_dir))


@pytest.fixture
def memory(real_lxd: RealLxd) -> Iterator[Side]:
    """Equipped as the real one."""
    told = real_lxd.local.get("/1.0/storage-pools/default")
    config = {**told["config"], "source": told["config"]["source"].replace(str(real_lxd.lxd_dir), "/var/lib/lxd")}
    address = {"ipv4.address": f"{real_lxd.gateway}/24", "ipv4.nat": "true", "ipv6.address": "none"}
    with Simulator() as sim:
        server: Server = sim.lxd(
            address="127.0.0.1:8450",
            version=real_lxd.local.get("/1.0")["environment"]["server_version"],
            password="",
            cores=os.cpu_count(),
            pools=[StoragePool("default", told["driver"], config=config)],
            pool_drivers=["btrfs", "dir"],
            networks={BRIDGE: Network(BRIDGE, config=address), "eth0": Network("eth0", "physical", managed=False)},
        )
        server.about("default").profiles["default"].description = ""
        yield Side(server.endpoint, (server.client_cert, server.client_key), BRIDGE, "/var/lib/lxd")


@pytest.mark.parametrize("case", CASES)
def test_both_answer_alike(real: Side, memory: Side, case: str) -> None:
    for step in CASES[case]:
        assert memory.ask(*step) == real.ask(*step), f"after {step[0]} {step[1]}"


def test_both_let_clients_in_alike(real: Side, memory: Side, tmp_path: Path) -> None:
    """Passwords, tokens, and what a client that is let in for one project may not do."""
    said = [tuple(_let_in(side, tmp_path / name)) for side, name in ((memory, "memory"), (real, "real"))]
    assert said[0] == said[1]


def _let_in(side: Side, folder: Path) -> Iterator[Any]:
    folder.mkdir()
    certificate, key = folder / "client.crt", folder / "client.key"
    self_signed("guest").write(certificate, key)
    guest = (str(certificate), str(key))
    wish = {"type": "client", "name": "guest"}
    text = "".join(certificate.read_text().splitlines()[1:-1])
    yield side.ask("GET", "/1.0", pair=guest)
    yield side.ask("GET", "/1.0/projects", pair=guest)
    yield side.ask("POST", "/1.0/certificates", wish, guest)
    yield side.ask("POST", "/1.0/certificates", {**wish, "certificate": "nonsense"})
    yield side.ask("POST", "/1.0/certificates", {**wish, "type": "nosuch", "certificate": text})
    yield side.ask("PATCH", "/1.0", {"config": {"core.trust_password": "sekret"}})
    yield side.ask("POST", "/1.0/certificates", {**wish, "password": "wrong"}, guest)
    status, where, told = side.ask("POST", "/1.0/certificates", {**wish, "password": "sekret"}, guest)
    yield status, told
    yield side.ask("POST", "/1.0/certificates", {**wish, "password": "sekret"}, guest)
    yield side.ask("POST", "/1.0/certificates", {**wish, "certificate": text})
    yield side.ask("PATCH", where, {"restricted": True, "projects": ["nosuch"]})
    yield side.ask("PATCH", where, {"name": "renamed", "restricted": True, "projects": ["default"]})
    yield side.ask("PATCH", where, {"type": "server"})
    yield {key: value for key, value in side.ask("GET", where)[2].items() if key not in ("certificate", "fingerprint")}
    for path in ("/1.0/projects", "/1.0/instances", "/1.0/instances?project=nosuch", "/1.0/storage-pools/default"):
        yield side.ask("GET", path, pair=guest)
    for path, body in (("/1.0/projects", {"name": "x"}), ("/1.0/storage-pools", {"name": "x", "driver": "dir"})):
        yield side.ask("POST", path, body, guest)
    yield side.ask("PATCH", "/1.0", {"config": {}}, guest)
    yield side.ask("DELETE", where, pair=guest)
    yield side.ask("DELETE", where)
    yield side.ask("DELETE", where)
    yield side.ask("PATCH", "/1.0", {"config": {"core.trust_password": ""}})
    yield side.ask("POST", "/1.0/certificates", {**wish, "password": "sekret"}, guest)
