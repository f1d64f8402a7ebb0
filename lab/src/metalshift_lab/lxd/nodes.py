# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes: system containers that pass for machines, reached by ssh as root."""

from __future__ import annotations

import ipaddress
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metalshift_lab.kube.serving import LOCAL
from metalshift_lab.labs import LabError
from metalshift_lab.lxd import image
from metalshift_lab.lxd.local import Refused
from metalshift_lab.lxd.server import RealLxd

PROFILE = "node"
# What LXD in a node needs of the machine below; what that does not have, nodes do not have.
DEVICES = ("/dev/kvm", "/dev/vsock", "/dev/net/tun")
# Lower ones are for what has no fixed address.
FIRST_ADDRESS = 21
BOOT_LIMIT = 60
QUIETLY = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR")
HOST_ARGUMENTS = " ".join(f"-o {option}" for option in QUIETLY)


@dataclass(frozen=True)
class Node:
    """A node that has booted."""

    name: str
    address: str
    mac: str
    key: Path

    @property
    def variables(self) -> dict[str, str]:
        """For an inventory of Ansible."""
        return {
            "ansible_host": self.address,
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(self.key),
            "ansible_ssh_common_args": HOST_ARGUMENTS,
            "ansible_python_interpreter": "/usr/bin/python3",
        }

    def run(self, *command: str) -> str:
        """What a command on the node printed; LabError when it failed."""
        done = self._ssh(*command)
        if done.returncode:
            raise LabError(f"{self.name}: {command[0]} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def booted(self) -> bool:
        return self._ssh("systemctl", "is-system-running", "--wait").stdout.strip() in ("running", "degraded")

    def _ssh(self, *command: str) -> subprocess.CompletedProcess[str]:
        options = [word for option in (*QUIETLY, "ConnectTimeout=5", "BatchMode=yes") for word in ("-o", option)]
        return subprocess.run(
            ["ssh", "-i", str(self.key), *options, f"root@{self.address}", *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


def nodes(
    lxd: RealLxd, names: Sequence[str], *, suite: str = image.BOOKWORM, say: Callable[[str], None] = lambda line: None
) -> list[Node]:
    """Nodes with these names, booted: those that are there already are left as they are."""
    wanted = image.image(suite, say)
    image.have(lxd, wanted)
    key = _key(lxd)
    _have_profile(lxd, key)
    there = _nodes(lxd)
    free = _free_addresses(lxd, there)
    for name in names:
        if name not in there:
            _launch(lxd, name, next(free), wanted.alias)
        elif there[name]["status"] != "Running":
            lxd.local("PUT", f"/1.0/instances/{name}/state", {"action": "start"})
    there = _nodes(lxd)
    found = [_node(there[name], key) for name in names]
    _await_boot(found)
    return found


def inventory(found: Sequence[Node]) -> dict[str, Any]:
    """As Ansible reads it from a file."""
    return {"all": {"hosts": {node.name: node.variables for node in found}}}


def introduce(found: Sequence[Node], lxd: RealLxd, control: str, zones: Sequence[str]) -> None:
    """Let a simulated MAAS, by its control API, know nodes as deployed machines in zones in turn, and LXDs on them."""
    for number, node in enumerate(found):
        place = {"hostname": node.name, "mac": node.mac, "ip": node.address, "network": lxd.subnet}
        _tell(control, "standing", **place, zone=zones[number % len(zones)])
    _tell(control, "lxd", real=lxd.subnet)


def _tell(control: str, act: str, **values: str) -> None:
    try:
        request = urllib.request.Request(f"{control}/{act}?{urllib.parse.urlencode(values)}", method="POST")
        LOCAL.open(request, timeout=30).close()
    except OSError as error:
        raise LabError(f"The simulated MAAS at {control} failed at {act}: {error}.") from None


def remove(lxd: RealLxd, names: Sequence[str]) -> None:
    """Delete these nodes, with all that runs on them; those that are not there are no trouble."""
    for name in names:
        try:
            lxd.local("PUT", f"/1.0/instances/{name}/state", {"action": "stop", "force": True, "timeout": 30})
        except Refused as refusal:
            if refusal.status not in (400, 404):  # stopped already, or not there
                raise
        try:
            lxd.local("DELETE", f"/1.0/instances/{name}")
        except Refused as refusal:
            if refusal.status != 404:
                raise


def _nodes(lxd: RealLxd) -> dict[str, Any]:
    return {each["name"]: each for each in lxd.local.get("/1.0/instances?recursion=1")}


def _free_addresses(lxd: RealLxd, there: dict[str, Any]) -> Iterator[str]:
    taken = {device.get("ipv4.address") for each in there.values() for device in each["devices"].values()}
    hosts = list(ipaddress.ip_network(lxd.subnet).hosts())[FIRST_ADDRESS - 1 :]
    return (str(host) for host in hosts if str(host) not in taken)


def _launch(lxd: RealLxd, name: str, address: str, alias: str) -> None:
    nic = {"type": "nic", "name": "eth0", "network": lxd.bridge, "ipv4.address": address}
    wish: dict[str, Any] = {
        "name": name,
        "source": {"type": "image", "alias": alias},
        "profiles": ["default", PROFILE],
        "config": {"user.nameserver": lxd.gateway},
        "devices": {"eth0": nic},
    }
    lxd.local("POST", "/1.0/instances", wish)
    lxd.local("PUT", f"/1.0/instances/{name}/state", {"action": "start"})


def _node(told: dict[str, Any], key: Path) -> Node:
    config, devices = told["config"], told["devices"]
    return Node(told["name"], devices["eth0"]["ipv4.address"], config["volatile.eth0.hwaddr"], key)


def _have_profile(lxd: RealLxd, key: Path) -> None:
    names = {path.rpartition("/")[2] for path in lxd.local.get("/1.0/profiles")}
    if PROFILE in names:
        return
    devices = {
        Path(path).name: {"type": "unix-char", "path": path, "mode": "0666"} for path in DEVICES if Path(path).exists()
    }
    public = key.with_suffix(".pub").read_text().strip()
    config = {"security.nesting": "true", "user.authorized_key": public}
    told = {"name": PROFILE, "description": "a machine that can be an LXD host", "config": config, "devices": devices}
    lxd.local("POST", "/1.0/profiles", told)


def _key(lxd: RealLxd) -> Path:
    key = lxd.folder / "pki" / "id_ed25519"
    if not key.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(key)], check=True)
    return key


def _await_boot(found: Sequence[Node]) -> None:
    deadline = time.monotonic() + BOOT_LIMIT
    for node in found:
        while not node.booted():
            if time.monotonic() > deadline:
                raise LabError(f"{node.name} has not booted within {BOOT_LIMIT} s; lxc console {node.name} shows more.")
            time.sleep(0.2)
