# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the supervisor is spoken to, and what a start that fails says and leaves."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from metalshift_lab.kube import handle
from metalshift_lab.kube import supervisor as module
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.speed import Speed
from metalshift_lab.kube.supervisor import ControlServer, Supervisor
from metalshift_lab.labs import LabError
from metalshift_lab.ports import LOOPBACK, Ports
from metalshift_lab.processes import remains

TOKEN = "right"

# -- commands -------------------------------------------------------------------------------------------------------


class Answering:
    """What a supervisor answers, without a lab."""

    def __init__(self) -> None:
        self.ports, self.token = Ports(), TOKEN
        self.done: list[Any] = []
        self.faults = SimpleNamespace(set=self._fault, heal=lambda name, **words: f"healed {name}{words or ''}")

    def _fault(self, name: str, /, **words: str) -> str:
        self.done.append((name, words))
        if name == "unknown":
            raise ValueError("There is no fault unknown; there is one.")
        if name == "broken":
            raise RuntimeError("of the worst kind")
        return f"{name} has begun"

    def status(self) -> dict[str, Any]:
        return {"deaths": []}

    def machine_states(self) -> dict[str, str]:
        return {"abc123": "Ready"}


class Scene:
    def __init__(self) -> None:
        self.supervisor = Answering()
        self.stopped = threading.Event()
        self.server = ControlServer(cast(Supervisor, self.supervisor), self.stopped.set)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.lab = Lab(Path("nowhere"), {"control": self.server.port, "token": TOKEN})

    def says(self, line: bytes) -> Any:
        """What comes back for this line."""
        with socket.create_connection((LOOPBACK, self.server.port), timeout=10) as connection:
            connection.sendall(line)
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answers:
                return json.loads(answers.readline())

    def asks(self, **asked: Any) -> Any:
        return self.says(json.dumps({"token": TOKEN, **asked}).encode() + b"\n")

    def end(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.end()


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({"do": "status"}, {"deaths": []}),
        ({"do": "machines"}, {"abc123": "Ready"}),
        ({"do": "fault", "name": "hold", "parameters": {"name": "etcd"}}, "hold has begun"),
        ({"do": "heal", "name": "hold"}, "healed hold"),
        ({"do": "heal"}, "healed "),
        ({"do": "stop"}, "stopping"),
    ],
)
def test_a_command_is_a_line_and_so_is_its_answer(scene: Scene, asked: dict[str, Any], answer: Any) -> None:
    assert scene.asks(**asked) == {"answer": answer}
    assert scene.stopped.is_set() is (asked["do"] == "stop")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"do": "dance"}, "The supervisor knows no command 'dance'."),
        ({}, "The supervisor knows no command 'None'."),
        ({"do": "fault"}, "The command fault needs name."),
        ({"do": "user", "name": "alice"}, "The command user needs rules."),
        ({"do": "fault", "name": "unknown"}, "There is no fault unknown; there is one."),
        ({"do": "fault", "name": "broken"}, "RuntimeError: of the worst kind"),
    ],
)
def test_what_cannot_be_done_is_said(scene: Scene, asked: dict[str, Any], error: str) -> None:
    assert scene.asks(**asked) == {"error": error}
    assert scene.asks(do="machines"), "and the next command is done"


@pytest.mark.parametrize("token", ["wrong", "", None, 7, "r\N{LATIN SMALL LETTER I WITH DIAERESIS}ght", [TOKEN]])
def test_without_the_token_nothing_is_done(scene: Scene, token: Any) -> None:
    for asked in ({"do": "stop"}, {"do": "fault", "name": "hold"}, {"do": "dance"}):
        assert scene.asks(**{**asked, "token": token}) == {"error": "This is not the token of the lab."}
    assert not scene.stopped.is_set()
    assert scene.supervisor.done == []


@pytest.mark.parametrize(
    "line", [b"", b"\n", b"{\n", b'{"do": \n', b"[]\n", b'"stop"\n', b"7\n", b"\xff\xfe\n", b"GET / HTTP/1.1\r\n\r\n"]
)
def test_what_is_no_command_is_refused(scene: Scene, line: bytes) -> None:
    assert scene.says(line) == {"error": "A command is one line of JSON with token and do."}


def test_a_client_that_goes_away_disturbs_nobody(scene: Scene) -> None:
    socket.create_connection((LOOPBACK, scene.server.port)).close()
    assert scene.lab.status() == {"deaths": []}


def test_the_handle_says_what_the_supervisor_said(scene: Scene) -> None:
    assert scene.lab.fault("hold", name="etcd") == "hold has begun"
    assert scene.supervisor.done == [("hold", {"name": "etcd"})]
    with pytest.raises(LabError, match="There is no fault unknown"):
        scene.lab.fault("unknown")
    scene.end()
    with pytest.raises(LabError, match="The supervisor of the lab in nowhere does not answer: "):
        scene.lab.status()


# -- starts that fail -----------------------------------------------------------------------------------------------

PROGRAMS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kubectl",
    "capi-core-manager",
    "hypershift-operator",
    "control-plane-operator",
    "hypershift",
)
VERSION = 'case "$*" in *version*) echo v1.34.4; exit 0;; esac'
SERVES = "touch etcd.sock:0; exec sleep 60"
SLEEPS = "exec sleep 60"


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Programs of the user, by name: shell scripts that say their version, and otherwise do this."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("METALSHIFT_PROGRAMS", str(folder))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)

    def write(**scripts: str) -> None:
        for name in PROGRAMS:
            file = folder / name
            file.write_text(f"#!/bin/sh\n{VERSION}\n{scripts.get(name.replace('-', '_'), 'exit 0')}\n")
            file.chmod(0o755)

    return write


Pretend = Callable[..., None]


def refusal(folder: Path, **wish: Any) -> str:
    """Why the lab did not start; nothing of it may be left."""
    with pytest.raises(LabError) as raised:
        Lab.start(folder, **wish)
    assert remains(folder) == []
    assert not folder.exists()
    sentence = str(raised.value)
    assert "Traceback" not in sentence
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("scripts", "sentence"),
    [
        (
            {"etcd": "echo 'unknown flag: --name' >&2; exit 2"},
            "the lab did not start: etcd ended with exit status 2: unknown flag: --name",
        ),
        (
            {"etcd": SERVES, "kube_apiserver": "echo 'bind: address already in use' >&2; exit 1"},
            "the lab did not start: kube-apiserver ended with exit status 1: bind: address already in use",
        ),
        (
            {"etcd": SERVES, "kube_apiserver": "kill -9 $$"},
            "the lab did not start: kube-apiserver was killed by SIGKILL",
        ),
    ],
    ids=["other options", "port in use", "killed"],
)
def test_a_program_that_ends_is_quoted(
    pretend: Pretend, tmp_path: Path, scripts: dict[str, str], sentence: str
) -> None:
    pretend(**scripts)
    assert refusal(tmp_path / "lab").startswith(sentence)


def test_a_lab_that_does_not_come_to_serve_is_given_up(
    pretend: Pretend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handle, "START_LIMIT", 1.0)
    pretend(etcd=SLEEPS)
    assert refusal(tmp_path / "lab").startswith("The lab does not serve after 1 s. Its last message: ")


def test_a_file_that_is_no_program_is_named(pretend: Pretend, tmp_path: Path) -> None:
    pretend()
    (tmp_path / "programs" / "etcd").write_bytes(b"\x7fELF of another machine")
    sentence = refusal(tmp_path / "lab")
    assert sentence.startswith("the lab did not start: [Errno 8] Exec format error: ")
    assert str(tmp_path / "programs" / "etcd") in sentence


def test_programs_that_do_not_go_together_are_refused(pretend: Pretend, tmp_path: Path) -> None:
    pretend()
    kubectl = tmp_path / "programs" / "kubectl"
    kubectl.write_text("#!/bin/sh\necho v1.20.0\n")
    assert "kubectl v1.20.0" in refusal(tmp_path / "lab")


def test_a_folder_without_programs_is_named(pretend: Pretend, tmp_path: Path) -> None:
    assert f"METALSHIFT_PROGRAMS is {tmp_path / 'programs'}, which holds none" in refusal(tmp_path / "lab")


def test_time_runs_no_slower_than_in_real_life(pretend: Pretend, tmp_path: Path) -> None:
    pretend()
    assert "A lab's speed is 1 (real time) or more, not 0.5." in refusal(tmp_path / "lab", speed=0.5)


def test_a_disk_without_room_is_said(pretend: Pretend, tmp_path: Path) -> None:
    """Nothing can be written: as when a disk is full, which needs rights to arrange."""
    pretend()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        sentence = refusal(tmp_path / "lab")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sentence == "the lab did not start: [Errno 27] File too large (exit status 1)."


def test_used_up_ports_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, where the ports can be taken away."""

    def none_left(_ports: Ports) -> int:
        raise OSError("All ports of the lab, 20200 to 20399, are in use.")

    monkeypatch.setattr(Ports, "take", none_left)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    folder = tmp_path / "lab"
    folder.mkdir()
    try:
        wish = module.Wish(folder, cast(Any, SimpleNamespace()), Speed(60))
        assert module.run(wish) == 1
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert capsys.readouterr().out == ("the lab did not start: All ports of the lab, 20200 to 20399, are in use.\n")
    assert not folder.exists()


def test_a_start_that_is_called_off_leaves_nothing(pretend: Pretend, tmp_path: Path) -> None:
    pretend(etcd=SLEEPS)
    folder = (tmp_path / "lab").resolve()
    packages = str(Path(module.__file__).resolve().parents[2])
    supervisor = subprocess.Popen(
        [sys.executable, "-m", "metalshift_lab.kube.supervisor", f"--folder={folder}"],
        env={**os.environ, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 30
    while not remains(folder):
        assert time.monotonic() < deadline, "it does not even begin"
        time.sleep(0.05)
    supervisor.send_signal(signal.SIGTERM)
    assert supervisor.wait(15) == 0
    assert remains(folder) == []
    assert not folder.exists()
