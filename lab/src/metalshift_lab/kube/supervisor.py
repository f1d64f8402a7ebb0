# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one process that starts a lab, watches it, does what it is told, and ends it."""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import secrets
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from metalshift_lab import labs
from metalshift_lab.authority import Authority, write
from metalshift_lab.kube import maas, people, prerequisites
from metalshift_lab.kube.api import ApiError, Unreachable
from metalshift_lab.kube.control_plane import ControlPlane
from metalshift_lab.kube.faults import Faults, Parts
from metalshift_lab.kube.hosted_apis import HostedApis
from metalshift_lab.kube.ignition import Ignition
from metalshift_lab.kube.keeper import DidNotStart, Keeper, plain_environment
from metalshift_lab.kube.machines import Machines
from metalshift_lab.kube.proxy import Proxy
from metalshift_lab.kube.registry import Registry
from metalshift_lab.kube.runs import Part
from metalshift_lab.kube.speed import Speed
from metalshift_lab.kube.surroundings import Surroundings
from metalshift_lab.kube.versions import Versions
from metalshift_lab.kube.workloads import Workloads
from metalshift_lab.lxd.server import RealLxd
from metalshift_lab.ports import LOOPBACK, Ports
from metalshift_lab.processes import MARK, PART, Process
from metalshift_lab.programs import NoPrograms, Programs, programs
from metalshift_lab.simulator import Simulator

log = logging.getLogger("lab.supervisor")
RELEASES = ("4.20.8", "4.20.10")
# Commands of the control server → what they cannot do without.
NEEDED = {"fault": ("name",), "user": ("name", "rules")}
# Where a control plane looks for catalogs when nobody says otherwise; the lab's registry has them.
PUBLIC_CATALOGS = "registry.redhat.io/redhat"


@dataclass(frozen=True)
class Wish:
    """What the lab is to be."""

    folder: Path
    binaries: Programs
    speed: Speed
    machines: int = 12
    operator: bool = True
    # Where a real LXD lives that MAAS is to drive.
    lxd: Path | None = None


class Supervisor:
    """All parts of one lab. `start` returns when everything serves; `stop` leaves nothing that runs."""

    def __init__(self, wish: Wish, say: Callable[[str], None]) -> None:
        self.wish, self._say = wish, say
        self.folder = wish.folder
        self.started = time.monotonic()
        self.ports = Ports()
        self.token = secrets.token_urlsafe(24)
        self._stops: list[Callable[[], None]] = []
        self._beginning = threading.Lock()
        self._ended = False
        self._build()

    def _build(self) -> None:
        wish, ports = self.wish, self.ports
        self.control_plane = ControlPlane(self.folder, wish.binaries, ports.take(), ports.node_ports)
        self.api = self.control_plane.api
        self.keeper = Keeper(self.folder, plain_environment())
        self.simulator = Simulator(port=ports.take(), control_port=ports.take())
        self.authority = Authority(self.folder / "pki", "registry-ca")
        certificate, key = self.folder / "pki" / "registry.crt", self.folder / "pki" / "registry.key"
        self.authority.server("registry", [LOOPBACK]).write(certificate, key)
        self.registry = Registry(certificate, key, port=ports.take(), versions=RELEASES)
        self.parts = Parts()
        self.parts.join(self.registry, "registry")
        self.hosted = HostedApis(self.api)
        self.proxy = Proxy(ports.take(), self.hosted.port)
        self.around = Surroundings(
            lab=self.folder,
            binaries=wish.binaries,
            control_plane=self.control_plane,
            ports=ports,
            proxy=self.proxy,
            speed=wish.speed,
            env=self._network(),
            hosted=self.hosted,
            parts={
                "ignition-server-proxy": self._ignition,
                "haproxy": self._ignition,
                "hosted-cluster-config-operator": self._versions,
            },
        )
        self.workloads: Workloads = Workloads(self.api, self.around)
        self.machines = self.parts.join(Machines(self.simulator, wish.speed), "machines")
        self.faults = Faults(self)
        self.lxd = RealLxd.find(wish.lxd) if wish.lxd else None

    def _network(self) -> dict[str, str]:
        """What the network around a cluster gives its programs: a registry that they trust."""
        return {
            "SSL_CERT_FILE": str(self.authority.file),
            "SSL_CERT_DIR": str(self.folder / "pki" / "none"),
            "OPENSHIFT_IMG_OVERRIDES": f"{PUBLIC_CATALOGS}={self.registry.host}/redhat",
        }

    def _ignition(self, namespace: str) -> Part:
        return self.parts.join(Ignition(self.api, namespace, self.wish.speed), "ignition", namespace)

    def _versions(self, namespace: str) -> Part:
        made = Versions(self.api, namespace, lambda: self.hosted.api(namespace), self.wish.speed)
        return self.parts.join(made, "versions", namespace)

    # -- starting and ending ----------------------------------------------------------------------------------------

    def start(self) -> None:
        maas.stock(self.simulator, self.wish.machines)
        maas.pace(self.simulator, self.wish.speed)
        if self.lxd is not None:
            maas.with_lxd(self.simulator, self.lxd)
        self._begin(self.simulator.start, self.simulator.stop)
        for part in (self.registry, self.proxy):
            self._begin(part.start, part.stop)
        self._begin(lambda: None, self.keeper.stop)
        manifests = ThreadPoolExecutor(1).submit(self._operator_manifests) if self.wish.operator else None
        for program in self.control_plane.programs():
            self.keeper.start(program)
        self._say(f"Kubernetes serves ({self._elapsed()})")
        prerequisites.prepare(self.api)
        if manifests:
            self.kubectl("apply", "--server-side", "-f", "-", text=manifests.result()[0])
            self._say(f"the kinds of HyperShift and Cluster API are there ({self._elapsed()})")
        self._begin(self.workloads.start, self.workloads.stop)
        self._begin(self.machines.start, self.machines.stop)
        if manifests:
            self.kubectl("apply", "--server-side", "-f", "-", text=manifests.result()[1])
            self.kubectl("-n", "hypershift", "rollout", "status", "deployment/operator", "--timeout=60s")
            self._say(f"the HyperShift operator runs ({self._elapsed()})")

    def _begin(self, start: Callable[[], object], stop: Callable[[], None]) -> None:
        """Start a part, unless the lab was told to end meanwhile."""
        with self._beginning:
            if self._ended:
                raise DidNotStart("it was told to end")
            self._stops.append(stop)
            start()

    def stop(self) -> None:
        """The last started ends first; what is about to start does not."""
        with self._beginning:
            self._ended = True
        while self._stops:
            stop = self._stops.pop()
            try:
                stop()
            except Exception:
                log.exception("a part did not end well")

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self.started:.1f} s"

    def _operator_manifests(self) -> tuple[str, str]:
        """Kinds, and the operator with its rights, as `hypershift install render` gives them."""
        return self._rendered("crds"), self._rendered("resources")

    def _rendered(self, outputs: str) -> str:
        command = [
            str(self.wish.binaries.hypershift),
            "install",
            "render",
            f"--hypershift-image={self.operator_image}",
            "--enable-conversion-webhook=false",
            "--limit-crd-install=MAAS",
            f"--outputs={outputs}",
        ]
        return self._output(command)

    @property
    def operator_image(self) -> str:
        return f"{self.registry.host}/lab/hypershift-operator:v0.1.70"

    def kubectl(self, *arguments: str, text: str | None = None) -> str:
        command = labs.kubectl(self.wish.binaries.kubectl, self.wish.folder, self.control_plane.kubeconfig_file)
        return self._output([*command, *arguments], text)

    def _output(self, command: list[str], text: str | None = None) -> str:
        own = plain_environment({MARK: str(self.folder), PART: Path(command[0]).name})
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=own, timeout=120)
        if done.returncode:
            words = " ".join([Path(command[0]).name, *(word for word in command[1:] if not word.startswith("-"))])
            raise DidNotStart(f"{words}: {done.stderr.strip()[-400:]}")
        return done.stdout

    def signal(self, pattern: str, number: signal.Signals) -> list[str]:
        """Send a signal to the programs whose name fits the pattern; their names."""
        chosen = {name: process for name, process in self.processes().items() if re.fullmatch(pattern, name)}
        for process in chosen.values():
            process.signal(number)
        return sorted(chosen)

    def processes(self) -> dict[str, Process]:
        """All programs: those of the lab by their name, those of workloads as NAMESPACE/NAME."""
        workloads = {name: run.process for name, run in self.workloads.runs().items()}
        return {**self.keeper.processes, **workloads}

    def user(self, name: str, rules: list[dict[str, Any]], namespace: str = "") -> Path:
        """The kubeconfig of a user with just these rights."""
        return people.user(self.control_plane, self.folder / "users", name, rules, namespace)

    # -- what is told -----------------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """What users and tests need to reach the lab; it has secrets in it."""
        return {
            "kubeconfig": str(self.control_plane.kubeconfig_file),
            "maas_url": self.simulator.url,
            "maas_api_key": self.simulator.api_key,
            "maas_control_url": self.simulator.control_url,
            "registry": self.registry.host,
            "releases": {version: self.registry.image(version) for version in RELEASES},
            "kubectl": str(self.wish.binaries.kubectl),
            "hypershift": str(self.wish.binaries.hypershift),
            "operator_image": self.operator_image,
            "speed": self.wish.speed.factor,
            "machines": self.wish.machines,
            "operator": self.wish.operator,
            "lxd": self.lxd.reached if self.lxd else {},
            "supervisor": os.getpid(),
            "token": self.token,
        }

    def machine_states(self) -> dict[str, str]:
        """system_id → state, as MAAS has it."""
        return {machine.system_id: machine.status.label for machine in self.simulator.state.machines}

    def status(self) -> dict[str, Any]:
        """Everything that runs, and every death so far."""
        return {
            "seconds": round(time.monotonic() - self.started),
            "speed": self.wish.speed.factor,
            "processes": {
                name: {"pid": process.pid, "state": process.end or "running"}
                for name, process in self.processes().items()
            },
            "machines": Counter(self.machine_states().values()),
            "faults": self.faults.active(),
            "deaths": [*self.keeper.deaths, *self.workloads.deaths],
        }


def _command(line: bytes) -> dict[str, Any]:
    try:
        asked = json.loads(line)
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        raise ValueError("A command is one line of JSON with token and do.")
    return asked


class _Line(socketserver.StreamRequestHandler):
    """One command a connection: a line of JSON in, a line of JSON out."""

    server: ControlServer

    def handle(self) -> None:
        try:
            answer = {"answer": self.server.answer(_command(self.rfile.readline()))}
        except re.error as error:
            answer = {"error": f"{error.pattern!r} is no regular expression: {error}."}
        except ApiError as error:
            answer = {"error": f"Kubernetes refuses: {error}"}
        except (ValueError, KeyError, TypeError, LookupError) as error:
            answer = {"error": str(error) or type(error).__name__}
        except Exception as error:  # the answer must come, whatever a fault runs into
            log.exception("a command failed")
            answer = {"error": f"{type(error).__name__}: {error}"}
        self.wfile.write(json.dumps(answer).encode() + b"\n")


class ControlServer(socketserver.ThreadingTCPServer):
    """Commands for the supervisor, from whoever can read the token in the lab's folder."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, supervisor: Supervisor, stop: Callable[[], None]) -> None:
        super().__init__((LOOPBACK, supervisor.ports.take()), _Line)
        self._supervisor, self._stop = supervisor, stop

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def answer(self, asked: dict[str, Any]) -> Any:
        supervisor = self._supervisor
        if not secrets.compare_digest(str(asked.get("token")).encode(), supervisor.token.encode()):
            raise ValueError("This is not the token of the lab.")
        verb = str(asked.get("do"))
        missing = [word for word in NEEDED.get(verb, ()) if word not in asked]
        if missing:
            raise ValueError(f"The command {verb} needs {', '.join(missing)}.")
        if verb == "status":
            return supervisor.status()
        if verb == "machines":
            return supervisor.machine_states()
        if verb == "stop":
            self._stop()
            return "stopping"
        if verb == "fault":
            return supervisor.faults.set(asked["name"], **asked.get("parameters", {}))
        if verb == "heal":
            return supervisor.faults.heal(asked.get("name", ""), **asked.get("parameters", {}))
        if verb == "user":
            return str(supervisor.user(asked["name"], asked["rules"], asked.get("namespace", "")))
        raise ValueError(f"The supervisor knows no command {verb!r}.")


def say(line: str) -> None:
    """To whoever started the lab."""
    print(line, flush=True)


def run(wish: Wish, detach: Callable[[], None] = lambda: None, starter_pid: int = 0) -> int:
    """A lab from its start to its end; 0 when it served, 1 when it could not start.

    `detach` is called when it serves: whoever started it does not listen any more. With `starter_pid`, the lab ends
    when that parent has died: nobody would stop the lab of a test that was killed.
    """
    ending = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ending.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    left = ExitStack()
    left.callback(labs.remove, wish.folder)
    starter = ThreadPoolExecutor(1)
    try:
        supervisor = Supervisor(wish, say)
        server = ControlServer(supervisor, ending.set)
        threading.Thread(target=server.serve_forever, name="control", daemon=True).start()
        left.callback(server.shutdown)
        left.callback(starter.shutdown)
        left.callback(supervisor.stop)
        started = starter.submit(supervisor.start)
        while not started.done() and not ending.is_set() and starter_pid in (0, os.getppid()):
            ending.wait(0.1)
        if started.done() and not ending.is_set():
            started.result()
            write(wish.folder / labs.FACTS, json.dumps({**supervisor.facts(), "control": server.port}, indent=1))
            say(labs.READY)
            detach()
        while not ending.wait(1) and starter_pid in (0, os.getppid()):
            pass
        return 0
    except (DidNotStart, OSError, ApiError, Unreachable, subprocess.TimeoutExpired) as error:
        say(f"the lab did not start: {error}")
        return 1
    finally:
        left.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m metalshift_lab.kube.supervisor", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--machines", type=int, default=12)
    parser.add_argument("--without-operator", action="store_true")
    parser.add_argument("--lxd", type=Path)
    parser.add_argument("--starter-pid", type=int, default=0)
    given = parser.parse_args()
    folder: Path = given.folder
    try:
        labs.claim(folder)
    except labs.LabError as error:
        say(str(error))
        return 1
    journal = folder / "supervisor.log"
    logging.basicConfig(
        filename=journal,
        level=logging.INFO,
        format="%(asctime)s %(name)s %(levelname)s %(message)s",
    )
    try:
        binaries = programs(say)
        say(labs.STARTING)
        wish = Wish(folder, binaries, Speed(given.speed), given.machines, not given.without_operator, given.lxd)
    except (NoPrograms, ValueError) as error:
        say(str(error))
        return 1
    threading.excepthook = _note_death
    return run(wish, lambda: _write_to(journal), given.starter_pid)


def _note_death(what: threading.ExceptHookArgs) -> None:
    if what.exc_value is not None:
        log.error("the thread %s died", what.thread and what.thread.name, exc_info=what.exc_value)


def _write_to(journal: Path) -> None:
    """From now on, what would be printed goes to the log."""
    with journal.open("a") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())


if __name__ == "__main__":
    sys.exit(main())
