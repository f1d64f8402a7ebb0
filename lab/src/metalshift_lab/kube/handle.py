# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A running lab, as tests and the command line have it in hand:

with Lab.start(folder, speed=120) as lab:
    maas = {"maas_endpoint": lab.facts["maas_url"], "maas_api_key": lab.facts["maas_api_key"]}
    lab.apply(hosted_cluster("demo", lab.release(), **maas))
    lab.fault("hold", name="etcd")
"""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from metalshift_lab import labs
from metalshift_lab.kube import releases
from metalshift_lab.kube.api import Api, Object
from metalshift_lab.kube.keeper import plain_environment
from metalshift_lab.kube.serving import LOCAL
from metalshift_lab.labs import FACTS, READY, STARTING, SUPERVISOR, LabError
from metalshift_lab.ports import LOOPBACK
from metalshift_lab.processes import GRACE, MARK, PART, remains

if TYPE_CHECKING:
    from metalshift_lab.lxd.server import RealLxd

__all__ = ["Lab", "LabError"]

PACKAGES = Path(__file__).resolve().parents[2]
# Where the user's programs are. The rest of the user's environment is no business of a lab.
PROGRAMS = ("XDG_CACHE_HOME", "METALSHIFT_PROGRAMS", "KUBEBUILDER_ASSETS")
# Seconds from the programs, however long their build took, to a lab that serves; a busy machine needs minutes.
START_LIMIT = 600.0
# Instead of a line, when there are no more.
ENDED = ""


@dataclass(frozen=True)
class Lab:
    """A lab in its folder. Everything that is secret is in files there, for the owner alone."""

    folder: Path
    facts: dict[str, Any]

    # -- from start to stop -----------------------------------------------------------------------------------------

    @classmethod
    def start(
        cls,
        folder: Path,
        *,
        speed: float = 60,
        machines: int = 12,
        operator: bool = True,
        lxd: RealLxd | None = None,
        outlives: bool = False,
        say: Callable[[str], None] = lambda line: None,
    ) -> Lab:
        """Start a lab in a folder that is its own: what a dead one left there is ended and removed first.

        With a real LXD, the lab's MAAS drives it; it is not the lab's to end. Unless it `outlives` the process that
        starts it, it ends with that one, however that one dies.
        """
        folder = folder.resolve()
        if cls.runs(folder):
            raise LabError(f"A lab runs in {folder} already.")
        cls.clear(folder)
        labs.claim(folder)
        command = [
            sys.executable,
            "-m",
            "metalshift_lab.kube.supervisor",
            f"--folder={folder}",
            f"--speed={speed:g}",
            f"--machines={machines}",
            *(() if operator else ("--without-operator",)),
            *((f"--lxd={lxd.folder}",) if lxd else ()),
            *(() if outlives else (f"--starter-pid={os.getpid()}",)),
        ]
        own = {
            **{name: os.environ[name] for name in PROGRAMS if name in os.environ},
            MARK: str(folder),
            PART: SUPERVISOR,
            "PYTHONPATH": str(PACKAGES),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        supervisor = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=plain_environment(own),
            start_new_session=True,
        )
        try:
            _await_ready(supervisor, say)
        except BaseException:
            supervisor.terminate()
            # It ends in good order, or is killed with what it started.
            with suppress(subprocess.TimeoutExpired):
                supervisor.wait(GRACE)
            cls.clear(folder)
            raise
        return cls.find(folder)

    @classmethod
    def find(cls, folder: Path) -> Lab:
        """The lab that runs in this folder."""
        folder = folder.resolve()
        try:
            return cls(folder, json.loads((folder / FACTS).read_text()))
        except OSError:
            raise LabError(f"No lab runs in {folder}.") from None

    @staticmethod
    def runs(folder: Path) -> bool:
        """Whether a supervisor serves this folder."""
        return any(each.part == SUPERVISOR for each in remains(folder.resolve()))

    @staticmethod
    def clear(folder: Path) -> list[str]:
        """End whatever runs for this folder, and remove it; the names of what ran."""
        return labs.clear(folder)

    def stop(self) -> None:
        """Nothing of it runs or is left afterwards, also when its supervisor has died."""
        self.clear(self.folder)

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- asking and telling -----------------------------------------------------------------------------------------

    def ask(self, do: str, **more: Any) -> Any:
        """A command for the supervisor."""
        asked = {"do": do, "token": self.facts["token"], **more}
        try:
            with socket.create_connection((LOOPBACK, self.facts["control"]), timeout=60) as connection:
                connection.sendall(json.dumps(asked).encode() + b"\n")
                with connection.makefile("r") as answers:
                    answer = json.loads(answers.readline() or "{}")
        except OSError as error:
            raise LabError(f"The supervisor of the lab in {self.folder} does not answer: {error}.") from None
        if "answer" not in answer:
            raise LabError(answer.get("error", "The supervisor ended instead of answering."))
        return answer["answer"]

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("status")
        return found

    def machines(self) -> dict[str, str]:
        """system_id → state of all machines, as the lab's MAAS has it."""
        found: dict[str, str] = self.ask("machines")
        return found

    def simulate(self, act: str, **values: str) -> None:
        """An act of the simulated MAAS's control API: `simulate("power", system_id="abc123", state="off")`."""
        url = f"{self.facts['maas_control_url']}/{act}?{urlencode(values)}"
        try:
            LOCAL.open(urllib.request.Request(url, method="POST"), timeout=30).close()
        except OSError as error:
            raise LabError(f"The simulated MAAS failed at {act}: {error}.") from None

    def fault(self, which: str, /, **parameters: str) -> str:
        """Begin a fault; what was done, in words."""
        return str(self.ask("fault", name=which, parameters=parameters))

    def heal(self, which: str = "", /, **parameters: str) -> str:
        """End the faults of this name that were begun with these parameters, or all."""
        return str(self.ask("heal", name=which, parameters=parameters))

    def user(self, name: str, rules: Iterable[dict[str, Any]], *, namespace: str = "") -> Path:
        """The kubeconfig of a user with just these rules of RBAC, everywhere or in one namespace."""
        return Path(self.ask("user", name=name, rules=list(rules), namespace=namespace))

    # -- what runs in it --------------------------------------------------------------------------------------------

    @property
    def kubeconfig(self) -> Path:
        return Path(self.facts["kubeconfig"])

    @property
    def api(self) -> Api:
        """As the administrator of the management cluster."""
        return Api(json.loads(self.kubeconfig.read_text()))

    def release(self, version: str = "4.20.8") -> str:
        """The image of a release, whether the lab's registry has it or not."""
        return f"{self.facts['registry']}/{releases.RELEASES}:{version}"

    def kubectl(self, *arguments: str, text: str | None = None, kubeconfig: Path | None = None) -> str:
        """The real kubectl; what it printed. LabError with its words when it failed."""
        command = labs.kubectl(self.facts["kubectl"], self.folder, kubeconfig or self.kubeconfig)
        done = subprocess.run(
            [*command, *arguments], input=text, capture_output=True, text=True, check=False, env=plain_environment()
        )
        if done.returncode:
            raise LabError(done.stderr.strip())
        return done.stdout

    def apply(self, objects: Iterable[Object]) -> None:
        """Apply manifests on the server's side, as a user would."""
        text = "\n---\n".join(json.dumps(body) for body in objects)
        self.kubectl("apply", "--server-side", "--field-manager=lab-test", "-f", "-", text=text)

    def until(self, what: str, holds: Callable[[], Any], limit: float = 60) -> Any:
        """Wait till `holds` returns something true, and return it; LabError with the last it returned otherwise."""
        deadline = time.monotonic() + limit
        while True:
            found = holds()
            if found:
                return found
            if time.monotonic() > deadline:
                raise LabError(f"Not within {limit:.0f} s: {what} (last seen: {found!r}).")
            time.sleep(0.2)


def _await_ready(supervisor: subprocess.Popen[str], say: Callable[[str], None]) -> None:
    """Pass on what it says, till it serves; LabError when it ends, or takes too long once it has its programs."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_pass_on, args=(supervisor, lines.put), name="supervisor's words", daemon=True).start()
    last, deadline = "", None
    while True:
        try:
            line = lines.get(timeout=None if deadline is None else max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise LabError(
                f"The lab does not serve after {START_LIMIT:.0f} s. Its last message: {last or 'none'}."
            ) from None
        if line == READY:
            return
        if line == STARTING:
            deadline = time.monotonic() + START_LIMIT
        elif line == ENDED:
            ended = last or "The supervisor of the lab ended without a word"
            raise LabError(f"{ended} (exit status {supervisor.wait()}).")
        else:
            last = line
            say(last)


def _pass_on(supervisor: subprocess.Popen[str], hear: Callable[[str], None]) -> None:
    for line in supervisor.stdout or ():
        hear(line.strip() or " ")
    hear(ENDED)
