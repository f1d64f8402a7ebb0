# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What users type: metalshift-lab, which make lab and its like call."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
import requests

from caller import oauth
from metalshift_lab import labs
from metalshift_lab.__main__ import Refused, parse, start
from metalshift_lab.lxd.server import RealLxd
from metalshift_lab.processes import MARK, PART, Remains, remains
from metalshift_lab.programs import Programs

PACKAGES = Path(labs.__file__).parents[1]
NAME = "tried"


@dataclass(frozen=True)
class Command:
    """`metalshift-lab` of a user whose home and cache are a folder of its own."""

    cache: Path
    programs: Path | None = None

    @property
    def lab(self) -> Path:
        return self.cache / "metalshift-maas" / "labs" / NAME

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        own = {"PYTHONPATH": str(PACKAGES), "PYTHONDONTWRITEBYTECODE": "1"}
        own |= {"HOME": str(self.cache), "XDG_CACHE_HOME": str(self.cache)}
        programs = {"METALSHIFT_PROGRAMS": str(self.programs)} if self.programs else {}
        return subprocess.Popen(
            [sys.executable, "-m", "metalshift_lab", *arguments],
            env={**os.environ, **own, **programs},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __call__(self, *arguments: str) -> tuple[int, str]:
        """The exit status, and what it said."""
        with self.begin(*arguments) as process:
            said = process.communicate(timeout=180)[0]
        return process.returncode, said

    def of_lab(self, verb: str, *arguments: str) -> tuple[int, str]:
        return self(verb, "--name", NAME, *arguments)

    def running(self) -> list[Remains]:
        return remains(self.lab.resolve())


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
def built(tmp_path: Path, programs: Programs) -> Iterator[Command]:
    """With all programs, as a user has them who built them elsewhere."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, path in asdict(programs).items():
        (folder / name.replace("_", "-")).symlink_to(path)
    command = Command(tmp_path, folder)
    yield command
    command.of_lab("stop")


@contextmanager
def left_behind(command: Command) -> Iterator[subprocess.Popen[bytes]]:
    """A program of a lab whose supervisor is not there any more."""
    command.lab.mkdir(parents=True)
    marked = {**os.environ, MARK: str(command.lab.resolve()), PART: "etcd"}
    with subprocess.Popen(["sleep", "600"], env=marked) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(what: Path) -> None:
    deadline = time.monotonic() + 60
    while not what.exists():
        assert time.monotonic() < deadline, f"{what} did not appear"
        time.sleep(0.05)


# -- without a lab --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [("status",), ("fault", "kill", "name=etcd"), ("heal",), ("kubectl",)])
def test_where_no_lab_runs_it_says_so(command: Command, arguments: tuple[str, ...]) -> None:
    assert command(*arguments) == (3, "No lab called lab runs. To start it: metalshift-lab start\n")


def test_stopping_what_does_not_run_is_no_mistake(command: Command) -> None:
    assert command.of_lab("stop") == (0, "No lab called tried runs. There is nothing to stop.\n")


def test_where_lxd_cannot_run_a_lab_with_it_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(
        Refused, match=r"LXD cannot run here\. It needs root: .* A lab without LXD can be started\."
    ) as told:
        start(parse(["start", "--name", NAME, "--lxd", "yes"]))
    assert told.value.status == 77


@pytest.mark.parametrize("name", ["", "Lab", "a b", "../elsewhere", "-x", "a" * 33])
def test_a_name_stays_in_its_folder(command: Command, name: str) -> None:
    status, said = command("stop", f"--name={name}")
    assert (status, said) == (
        1,
        f"{name!r} is not a valid name for a lab. Use up to 32 lowercase letters, digits and hyphens, as in lab-2.\n",
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("start", "--speed", "0.5"), "'0.5' is not a speed"),
        (("start", "--speed", "fast"), "'fast' is not a speed"),
        (("start", "--machines", "-3"), "'-3' is not a number of machines"),
        (("start", "--operator", "maybe"), "invalid choice: 'maybe'"),
        (("example", "--provider", "v0.9.0"), "invalid choice: 'v0.9.0'"),
        (("fault", "pause etcd"), "'etcd' is not a parameter of a fault"),
        (("fault", "pause name='etcd"), "cannot be read: No closing quotation"),
    ],
)
def test_wrong_arguments_are_said(command: Command, arguments: tuple[str, ...], sentence: str) -> None:
    status, said = command(*arguments)
    assert status == 2
    assert sentence in said


def test_faults_are_listed_for_people_and_programs(command: Command) -> None:
    status, said = command("fault", "")
    table = json.loads(command("faults", "--json")[1])
    assert status == 0
    assert table["pause"] == {"meaning": table["pause"]["meaning"], "parameters": {"name": None}}
    assert {line.split()[0] for line in said.splitlines() if re.match(r"  \S", line)} == set(table)


def test_nobody_who_reads_it_is_no_failure_to_speak_of(command: Command) -> None:
    """As `| head` ends a program: by the status of SIGPIPE, and without a traceback."""
    with command.begin("faults") as process:
        assert process.stdout is not None
        process.stdout.close()
    assert process.returncode == 128 + signal.SIGPIPE


def test_without_go_it_says_what_is_not_available(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    status, said = command.of_lab("start")
    assert status == 4
    assert "the simulated MAAS works without them" in said
    assert not command.lab.exists()


def test_a_full_disk_is_said_first(
    command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from metalshift_lab import __main__ as module

    monkeypatch.setenv("XDG_CACHE_HOME", str(command.cache))
    monkeypatch.setattr(module, "ROOM_NEEDED", 1 << 60)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        assert module.main(["start"]) == 1
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert "MB free, and a lab needs" in capsys.readouterr().err


# -- after a supervisor that was killed -----------------------------------------------------------------------------


def test_what_a_killed_supervisor_left_is_said_and_cleared(command: Command) -> None:
    with left_behind(command) as process:
        status, said = command.of_lab("status")
        assert status == 3
        assert "was killed. Still running: 1 program (etcd)." in said
        assert command.of_lab("stop") == (0, "The lab tried has ended: 1 program (etcd). Nothing is left of it.\n")
        assert process.wait(5) == -signal.SIGTERM
    assert not command.lab.exists()


def test_all_labs_can_be_ended_at_once(command: Command) -> None:
    (command.lab.parent / "other").mkdir(parents=True)
    with left_behind(command):
        status, said = command("stop", "--all")
    assert status == 0
    assert re.findall(r"The lab (\S+) has ended", said) == ["other", "tried"]
    assert [path for path in command.lab.parent.iterdir() if path.is_dir()] == []


# -- with a real LXD ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("real_lxd")
def test_the_labs_maas_drives_the_real_lxd(built: Command) -> None:
    status, said = built.of_lab("start", "--operator", "no", "--machines", "1", "--lxd", "yes")
    assert status == 0, said
    facts = json.loads((built.lab / "lab.json").read_text())
    told = facts["lxd"]
    assert all(f"export {name}={value}" in said for name, value in told.items())
    lxd = RealLxd.find(Path(told["LXD_DIR"]).parent)
    pair = {"certificate": Path(lxd.client_cert).read_text(), "key": Path(lxd.client_key).read_text()}
    form = {"type": "lxd", "power_address": lxd.endpoint, "project": "maas", **pair}
    key = oauth(facts["maas_api_key"])
    made = requests.post(f"{facts['maas_url']}/api/2.0/vm-hosts/", form, auth=key, timeout=30).json()
    assert made["version"] == lxd.local.get("/1.0")["environment"]["server_version"]
    assert "maas" in {each["name"] for each in lxd.local.get("/1.0/projects?recursion=1")}
    status, said = built.of_lab("stop")
    assert (status, "lxd" in said, lxd.folder.exists()) == (0, True, False)


# -- with the real programs -----------------------------------------------------------------------------------------


def test_a_lab_stays_until_it_is_stopped(built: Command) -> None:
    status, said = built.of_lab("start", "--operator", "no", "--machines", "3")
    assert status == 0, said
    facts = json.loads((built.lab / "lab.json").read_text())
    key = built.lab / "maas-api-key"
    assert f"export KUBECONFIG={facts['kubeconfig']}" in said
    assert f'export MAAS_API_KEY="$(cat {key})"' in said
    assert all(image in said for image in facts["releases"].values())
    assert key.read_text().strip() == facts["maas_api_key"]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert not any(secret in said for secret in (facts["maas_api_key"], facts["token"]))

    status, again = built.of_lab("start")
    assert (status, again.partition("\n\n")) == (
        0,
        (
            "The lab tried runs already and is not changed (machines 3, not 12; operator no, not yes).",
            "\n\n",
            said.partition("\n\n")[2],
        ),
    )

    status, looked = built.of_lab("status")
    assert status == 0
    assert "3 Ready" in looked
    assert re.search(r"kube-apiserver +\d+ +running", looked)
    assert built.of_lab("kubectl", "--", "get", "namespace", "default", "-o", "name") == (0, "namespace/default\n")

    older = built.of_lab("example", "--provider", "v0.6.1-spectro-4.7.0")[1]
    assert re.search(r"capi-provider-maas-image: \S+:v0\.6\.1-spectro-4\.7\.0\n", older)
    assert "image: rhcos-4.20" in older

    assert built.of_lab("fault", "pause name=etcd")[0] == 0
    assert "\nfaults\n  pause" in built.of_lab("status")[1]
    assert built.of_lab("heal")[0] == 0
    status, refused = built.of_lab("fault", "no-such-fault")
    assert status == 1
    assert "There is no fault no-such-fault" in refused

    os.kill(facts["supervisor"], signal.SIGKILL)
    deadline = time.monotonic() + 10
    while any(each.part == labs.SUPERVISOR for each in built.running()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert built.of_lab("status")[0] == 3
    status, cleared = built.of_lab("start", "--operator", "no")
    assert status == 0, cleared
    assert (
        "What was left of it is removed; ended: 3 programs (etcd, kube-apiserver, kube-controller-manager)." in cleared
    )

    status, ended = built.of_lab("stop")
    assert status == 0
    assert ended.startswith("The lab tried has ended: 4 programs")
    assert (built.running(), built.lab.exists()) == ([], False)
    assert not (built.cache / ".kube").exists()


@pytest.mark.parametrize("moment", ["etcd.log", "kube-apiserver.log"])
def test_an_interrupted_start_leaves_nothing(built: Command, moment: str) -> None:
    with built.begin("start", "--name", NAME) as process:
        wait_for(built.lab / "logs" / moment)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[0]
    assert process.returncode == 130, said
    assert said.endswith("Interrupted. What was started has been removed.\n")
    assert (built.running(), built.lab.exists()) == ([], False)


def test_two_starts_at_once_make_one_lab(built: Command) -> None:
    starts = [built.begin("start", "--name", NAME, "--operator", "no") for _each in range(2)]
    said = [start.communicate(timeout=120)[0] for start in starts]
    assert [start.returncode for start in starts] == [0, 0]
    assert sum("Starting the lab" in each for each in said) == 1
    assert sum("runs already" in each for each in said) == 1
    assert sum(each.part == labs.SUPERVISOR for each in built.running()) == 1
