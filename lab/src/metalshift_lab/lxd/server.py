# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real LXD of the lab:

with RealLxd.start(folder) as lxd:
    client = pylxd.Client(endpoint=lxd.endpoint, cert=(lxd.client_cert, lxd.client_key), verify=lxd.server_cert)
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from metalshift_lab import labs
from metalshift_lab.authority import Authority
from metalshift_lab.kube.keeper import plain_environment
from metalshift_lab.labs import LabError
from metalshift_lab.lxd import network, packages, places, remains, shims
from metalshift_lab.lxd.local import Local, Refused
from metalshift_lab.lxd.obstacles import obstacles
from metalshift_lab.ports import LOOPBACK, Ports
from metalshift_lab.processes import Process, Remains
from metalshift_lab.processes import remains as processes

FACTS = "lxd.json"
NAMESPACE, DAEMON, LXCFS = "namespace", "lxd", "lxcfs"
BRIDGE = "mslab"
POOL, POOL_SIZE = "default", "20GiB"
# Every system in a container takes several, out of a budget of the machine.
INOTIFY, INOTIFY_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances"), 1024
TUNNEL = Path("/dev/net/tun")
LXCFS_MOUNT = Path("/var/lib/lxcfs")
START_LIMIT, END_LIMIT = 60, 30


@dataclass(frozen=True)
class RealLxd:
    """An LXD in its folder, whether it runs or was killed."""

    folder: Path
    port: int
    bridge: str
    subnet: str

    @classmethod
    def start(cls, folder: Path, say: Callable[[str], None] = lambda line: None) -> RealLxd:
        """Start one in a folder that is its own; one that runs there is left as it is. LabError when it cannot run."""
        folder = folder.resolve()
        reasons = obstacles()
        if reasons:
            raise LabError(f"LXD cannot run here. {' '.join(reasons)}")
        with places.coming_up():
            if cls.runs(folder):
                return cls.find(folder)
            remains.clear(folder)
            packages.install(packages.DAEMON, say)
            labs.claim(folder)
            folder.chmod(0o711)  # containers' users pass it
            subnet = network.free_subnet()
            lxd = cls(folder, Ports().take(), network.free_bridge(BRIDGE), str(subnet))
            try:
                lxd.resume()
                lxd._set_up()
                (folder / FACTS).write_text(json.dumps({**asdict(lxd), "folder": str(folder)}))
            except BaseException as problem:
                remains.clear(folder)
                if isinstance(problem, Refused):
                    raise LabError(f"LXD did not take its configuration: {problem}.") from None
                raise
        return lxd

    @classmethod
    def find(cls, folder: Path) -> RealLxd:
        """The one in this folder."""
        try:
            facts = json.loads((folder.resolve() / FACTS).read_text())
        except OSError:
            raise LabError(f"There is no LXD in {folder}.") from None
        return cls(**{**facts, "folder": folder.resolve()})

    @classmethod
    def runs(cls, folder: Path) -> bool:
        return (folder / FACTS).exists() and cls.find(folder).pid is not None

    # -- how it is reached --------------------------------------------------------------------------------------------

    @property
    def endpoint(self) -> str:
        return f"https://{LOOPBACK}:{self.port}"

    @property
    def lxd_dir(self) -> Path:
        return remains.state_folder(self.folder)

    @property
    def socket(self) -> str:
        return str(self.lxd_dir / "unix.socket")

    @property
    def client_cert(self) -> str:
        """Of a client that is trusted for everything."""
        return str(self.folder / "pki" / "client.crt")

    @property
    def client_key(self) -> str:
        return str(self.folder / "pki" / "client.key")

    @property
    def server_cert(self) -> str:
        """It names 127.0.0.1, and is its own authority."""
        return str(self.lxd_dir / "server.crt")

    @property
    def gateway(self) -> str:
        """The address of the bridge: also of the names' server there."""
        return self.subnet.replace(".0/", ".1/").partition("/")[0]

    @property
    def local(self) -> Local:
        """Its API, over the socket."""
        return Local(Path(self.socket))

    @property
    def environment(self) -> dict[str, str]:
        """With it, `lxc` is about this LXD."""
        return {"LXD_DIR": str(self.lxd_dir), "LXD_CONF": str(self.folder / "lxc")}

    @property
    def drivers(self) -> frozenset[str]:
        """What kinds of instances run: lxc, and qemu where the machine has /dev/kvm."""
        said: str = self.local.get("/1.0")["environment"]["driver"]
        return frozenset(said.split(" | "))

    @property
    def macs(self) -> list[str]:
        """Of the machine's network cards: by them MAAS knows the machine that LXD runs on."""
        cards = self.local.get("/1.0/resources")["network"]["cards"] or ()
        return [port["address"] for card in cards for port in card.get("ports") or ()]

    @property
    def reached(self) -> dict[str, str]:
        """How modules reach it, and `lxc`, as variables of the environment."""
        return {
            "LXD_ENDPOINT": self.endpoint,
            "LXD_CLIENT_CERT": self.client_cert,
            "LXD_CLIENT_KEY": self.client_key,
            "LXD_SERVER_CERT": self.server_cert,
            "LXD_DIR": str(self.lxd_dir),
        }

    @property
    def pid(self) -> int | None:
        """Of the daemon, if it serves."""
        try:
            return int(Local(Path(self.socket), limit=0).get("/1.0")["environment"]["server_pid"])
        except (OSError, http.client.HTTPException, KeyError):
            return None

    # -- its life -----------------------------------------------------------------------------------------------------

    def kill(self) -> None:
        """End the daemon as a power failure would. What runs on it goes on, and is found again by the next one."""
        pid = self.pid
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
            _await_end(pid)

    def resume(self) -> None:
        """Start the daemon, and what it needs; it serves when this returns."""
        _prepare_machine()
        variables = shims.write(self.folder / "bin") | {"LXD_DIR": str(self.lxd_dir), "LC_ALL": "C"}
        self.lxd_dir.mkdir(mode=0o711, parents=True, exist_ok=True)
        # Mounts and loop devices are in a namespace of its own: they go with its processes, however these end.
        self._keep_running(NAMESPACE, ["unshare", "--mount", "--propagation=private", "sleep", "infinity"])
        inside = ["nsenter", f"--mount=/proc/{self._pid_of(NAMESPACE)}/ns/mnt", "--"]
        pid_file = self.folder / "lxcfs.pid"
        self._keep_running(LXCFS, [*inside, "lxcfs", "--foreground", f"--pidfile={pid_file}", str(LXCFS_MOUNT)])
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        command = [*inside, "env", f"PATH={path}", "lxd", f"--logfile={self.folder / 'logs' / 'lxd.log'}"]
        daemon = Process(self.folder, DAEMON, command, env=plain_environment(variables), cwd=self.folder)
        _await_ready(daemon, Local(Path(self.socket), limit=START_LIMIT))

    def stop(self) -> None:
        """Nothing of it runs or is left afterwards."""
        with suppress(OSError, http.client.HTTPException, Refused):
            self._stop_instances()
            # It ends its networks and pools, and then itself.
            pid = self.pid
            self.local("PUT", "/internal/shutdown")
            _await_end(pid)
        remains.clear(self.folder)

    def __enter__(self) -> RealLxd:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _keep_running(self, part: str, command: list[str | Path]) -> None:
        if self._pid_of(part) is None:
            Process(self.folder, part, command, env=plain_environment(), cwd=self.folder)
            _await(lambda: self._pid_of(part) is not None, f"{part} did not start")

    def _pid_of(self, part: str) -> int | None:
        return next((each.pid for each in processes(self.folder) if each.part == part), None)

    def _stop_instances(self) -> None:
        instances = self.local.get("/1.0/instances?recursion=1&all-projects=true")
        for each in instances:
            if each["status"] != "Stopped":
                path = f"/1.0/instances/{each['name']}/state?project={each['project']}"
                self.local("PUT", path, {"action": "stop", "force": True, "timeout": END_LIMIT})

    # -- what it has from the start -----------------------------------------------------------------------------------

    def _set_up(self) -> None:
        pair = Authority(self.folder / "pki", "client-ca").client("metalshift-lab")
        pair.write(Path(self.client_cert), Path(self.client_key))
        body = "".join(pair.certificate.decode().splitlines()[1:-1])
        self.local("PATCH", "/1.0", {"config": {"core.https_address": f"{LOOPBACK}:{self.port}"}})
        self.local("POST", "/1.0/certificates", {"type": "client", "name": "lab", "certificate": body})
        address = {"ipv4.address": f"{self.gateway}/24", "ipv4.nat": "true", "ipv6.address": "none"}
        self.local("POST", "/1.0/networks", {"name": self.bridge, "type": "bridge", "config": address})
        self.local("POST", "/1.0/storage-pools", {"name": POOL, **_storage()})
        devices = {
            "root": {"type": "disk", "path": "/", "pool": POOL},
            "eth0": {"type": "nic", "name": "eth0", "network": self.bridge},
        }
        self.local("PUT", "/1.0/profiles/default", {"config": {}, "devices": devices})


def _storage() -> dict[str, Any]:
    """A copy costs nothing on btrfs."""
    loops = Path("/dev/loop-control").exists() and "btrfs" in Path("/proc/filesystems").read_text().split()
    return {"driver": "btrfs", "config": {"size": POOL_SIZE}} if loops else {"driver": "dir"}


def _prepare_machine() -> None:
    """What udev and packages do elsewhere. It is more than there was, never less, and stays."""
    with suppress(OSError):
        TUNNEL.chmod(0o666)  # QEMU runs as nobody
    if int(INOTIFY.read_text()) < INOTIFY_INSTANCES:
        INOTIFY.write_text(str(INOTIFY_INSTANCES))
    LXCFS_MOUNT.mkdir(parents=True, exist_ok=True)


def _await_ready(daemon: Process, local: Local) -> None:
    """LXD serves before it has found its instances again."""
    deadline = time.monotonic() + START_LIMIT
    while daemon.alive and time.monotonic() < deadline:
        with suppress(OSError, http.client.HTTPException, Refused):
            local.get("/internal/ready")
            return
        time.sleep(0.1)
    raise LabError(f"LXD {daemon.end or f'does not serve after {START_LIMIT} s'}: {daemon.last_words(5)}")


def _await_end(pid: int | None) -> None:
    ending = Remains.of(pid or 0, DAEMON)
    _await(lambda: not ending.alive(), "LXD did not end")


def _await(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + END_LIMIT
    while not holds():
        if time.monotonic() > deadline:
            raise LabError(f"{otherwise} within {END_LIMIT} s.")
        time.sleep(0.05)
