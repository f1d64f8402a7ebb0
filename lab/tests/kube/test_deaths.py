# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever dies in a lab: it recovers, or says what died; and nothing of it outlives it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from metalshift_lab.fixtures import SPEED
from metalshift_lab.kube.api import NAMESPACES
from metalshift_lab.kube.handle import PACKAGES, Lab
from metalshift_lab.kube.journey import Journey, condition
from metalshift_lab.labs import LabError
from metalshift_lab.ports import LOOPBACK
from metalshift_lab.processes import Remains, remains
from metalshift_lab.programs import Programs

MANAGEMENT = ("etcd", "kube-apiserver", "kube-controller-manager", "hypershift/operator")
HOSTED = (
    "control-plane-operator",
    "cluster-api",
    "capi-provider",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
)


@pytest.fixture(scope="module")
def mortal(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """A hosted cluster with a node, for tests that kill what it is made of."""
    journey = Journey(lab, "mortal", tmp_path_factory.mktemp("kubeconfigs"))
    journey.create(replicas=1)
    journey.until_available()
    journey.until_nodes(1)
    yield journey
    journey.delete()
    journey.until_gone()


def pid(lab: Lab, name: str) -> int:
    """Of a program that runs now; 0 between two runs."""
    process = lab.status()["processes"].get(name, {})
    return int(process["pid"]) if process.get("state") == "running" else 0


def runs_anew(lab: Lab, name: str, before: int) -> bool:
    return pid(lab, name) not in (0, before)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def listening(process: int) -> list[int]:
    """The ports of a process, as the kernel has them: local address, …, state (0A: listening), …, socket."""
    folder = Path("/proc") / str(process)
    own = {os.readlink(each) for each in (folder / "fd").iterdir()}
    lines = [line.split() for name in ("tcp", "tcp6") for line in (folder / "net" / name).read_text().splitlines()[1:]]
    return [int(line[1].rpartition(":")[2], 16) for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in own]


@pytest.mark.thorough
def test_every_killed_program_is_started_again_and_the_lab_goes_on(mortal: Journey, lab: Lab) -> None:
    names = [*MANAGEMENT, *(f"{mortal.namespace}/{name}" for name in HOSTED)]
    for name in names:
        before = pid(lab, name)
        assert before, name
        os.kill(before, signal.SIGKILL)
        lab.until(f"{name} runs again", partial(runs_anew, lab, name, before), 60)
    # Each is a time and a sentence.
    deaths = [each.partition(" ")[2] for each in lab.status()["deaths"]]
    assert {f"{name} was killed by SIGKILL; it is started again" for name in names} <= {*deaths}, "it says what died"

    mortal.scale(2)
    mortal.until_nodes(2)
    lab.until("it is available", lambda: condition(mortal.cluster(), "Available").get("status") == "True", 60)


def test_the_lab_of_a_test_that_is_killed_ends_with_it(programs: Programs, tmp_path: Path) -> None:
    folder = tmp_path / "short"
    start = f"Lab.start(Path({str(folder)!r}), speed={SPEED}, machines=1, operator=False)"
    imports = "import os\nfrom pathlib import Path\nfrom metalshift_lab.kube.handle import Lab"
    script = f"{imports}\n{start}\nos.kill(os.getpid(), 9)\n"
    killed = subprocess.run([sys.executable, "-c", script], cwd=PACKAGES, timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL
    for _ in range(120):
        if not Lab.runs(folder) and not remains(folder):
            return
        time.sleep(0.5)
    assert remains(folder) == []


@dataclass(frozen=True)
class Succession:
    """What a lab with a hosted cluster left when its supervisor was killed, and the lab that came after it."""

    ran: set[int]
    left: list[Remains]
    refusal: str
    heir: Lab


@pytest.fixture(scope="module")
def succession(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Succession]:
    folder = tmp_path_factory.mktemp("labs") / "one"
    kubeconfigs = tmp_path_factory.mktemp("kubeconfigs")
    with ExitStack() as started:
        before = started.enter_context(Lab.start(folder, speed=SPEED, machines=1))
        orphan = Journey(before, "orphan", kubeconfigs)
        orphan.create(replicas=1)
        orphan.until_available()
        names = ("hypershift/operator", *(f"{orphan.namespace}/{name}" for name in HOSTED))
        before.until("all of it runs", lambda: all(pid(before, name) for name in names))
        ran = {pid(before, name) for name in (*MANAGEMENT, *names)}
        os.kill(before.facts["supervisor"], signal.SIGKILL)
        left = remains(folder)
        with pytest.raises(LabError) as refusal:
            before.status()
        heir = started.enter_context(Lab.start(folder, speed=SPEED, machines=1))
        yield Succession(ran, left, str(refusal.value), heir)


def test_what_a_killed_supervisor_leaves_is_found_and_cleared_by_the_next_start(succession: Succession) -> None:
    """Operators, the provider, and both control planes."""
    assert succession.ran <= {each.pid for each in succession.left}
    assert "does not answer" in succession.refusal
    assert not [each for each in succession.left if each.alive()]
    after = succession.heir
    assert after.api.get(NAMESPACES, "default")
    assert after.api.get(NAMESPACES, "clusters-orphan") is None
    assert not list(after.folder.glob("hosted/*"))
    pids = {each["pid"] for each in after.status()["processes"].values()}
    assert {each.pid for each in remains(after.folder)} == {*pids, after.facts["supervisor"]}


def test_a_supervisor_that_is_asked_to_end_takes_everything_with_it(succession: Succession) -> None:
    """By itself: nobody clears up behind it."""
    lab = succession.heir
    running = remains(lab.folder)
    assert len(running) > len(MANAGEMENT)
    ports = [port for each in running for port in listening(each.pid)]
    assert len(ports) > len(MANAGEMENT)
    os.kill(lab.facts["supervisor"], signal.SIGTERM)
    lab.until("nothing runs", lambda: not remains(lab.folder), 30)
    assert not lab.folder.exists()
    assert not any(map(listens, ports))


def test_a_folder_with_somebody_s_files_is_not_made_a_lab_s(new_lab: Callable[..., Lab], tmp_path: Path) -> None:
    thesis = tmp_path / "mine" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("years of work")
    with pytest.raises(LabError, match=r"is no lab's folder: it has files"):
        new_lab("mine", operator=False)
    assert thesis.read_text() == "years of work"


def test_a_stopped_lab_leaves_no_process_no_port_and_no_data(new_lab: Callable[..., Lab]) -> None:
    lab = new_lab(operator=False)
    ports = [int(url.rpartition(":")[2].split("/")[0]) for url in (lab.facts["maas_url"], lab.facts["registry"])]
    ports += [int(lab.api.server.rpartition(":")[2]), lab.facts["control"]]
    assert all(map(listens, ports))
    lab.stop()
    assert remains(lab.folder) == []
    assert not any(map(listens, ports))
    assert not lab.folder.exists()


@pytest.mark.thorough
def test_a_second_start_in_the_same_place_says_that_one_runs(new_lab: Callable[..., Lab]) -> None:
    first = new_lab("one", operator=False)
    with pytest.raises(LabError, match=r"runs in .* already"):
        new_lab("one", operator=False)
    assert first.status()["deaths"] == []
