# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from metalshift_lab.processes import MARK, PART, Process, Remains, end_remains, remains

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
POLITE = f"import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(3)); {SLEEP}"


def eventually(true: Callable[[], Any], seconds: float = 10) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.01)
    return found


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start Python code as a process of the lab in tmp_path; returns when it has said something."""
    started: list[Process] = []

    def start(code: str = SLEEP, name: str = "thing", *, says: str = "up") -> Process:
        process = Process(tmp_path, name, [sys.executable, "-c", code], env={})
        started.append(process)
        eventually(lambda: says in process.last_words(9))
        return process

    yield start
    for process in started:
        process.kill()


Start = Callable[..., Process]


def state(pid: int) -> str:
    """As the kernel has it: S sleeping, T stopped, Z a zombie."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


# -- how a process ends ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "end"),
    [
        (SLEEP, "was killed by SIGTERM"),
        (POLITE, "ended with exit status 3"),
    ],
)
def test_a_process_is_asked_to_end(run: Start, code: str, end: str) -> None:
    process = run(code)
    assert process.alive
    assert process.end == ""
    process.stop()
    assert not process.alive
    assert process.end == end


def test_one_that_does_not_listen_is_killed(run: Start) -> None:
    process = run(STUBBORN)
    process.stop(grace=0.2)
    assert process.end == "was killed by SIGKILL"


def test_a_paused_process_ends_when_it_is_asked(run: Start) -> None:
    process = run(POLITE)
    process.signal(signal.SIGSTOP)
    eventually(lambda: state(process.pid) == "T")
    process.stop(grace=5)
    assert process.end == "ended with exit status 3"


def test_a_kill_is_at_once_and_may_be_repeated(run: Start) -> None:
    process = run(STUBBORN)
    process.signal(signal.SIGSTOP)
    began = time.monotonic()
    process.kill()
    process.kill()
    process.stop()
    process.signal(signal.SIGTERM)
    assert process.end == "was killed by SIGKILL"
    assert time.monotonic() - began < 2


def test_the_last_words_are_those_of_this_run(run: Start, tmp_path: Path) -> None:
    run("print('first run')", says="first run").wait()
    process = run("import sys; print('one'); sys.exit('two')", says="two")
    process.wait()
    assert process.end == "ended with exit status 1"
    assert sorted(process.last_words(5).splitlines()) == ["one", "two"]
    assert len(process.last_words().splitlines()) == 1
    assert "first run" in (tmp_path / "logs" / "thing.log").read_text(), "the log goes on"


def test_a_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Process(tmp_path, "thing", [tmp_path / "nowhere"], env={})


# -- what others left -----------------------------------------------------------------------------------------------


def test_remains_are_found_by_their_mark_alone(run: Start, tmp_path: Path) -> None:
    one, two = run(name="one"), run(name="two")
    other = Process(tmp_path / "other", "one", [sys.executable, "-c", SLEEP], env={}, cwd=tmp_path)
    unmarked = subprocess.Popen([sys.executable, "-c", SLEEP, f"{MARK}={tmp_path}"], stdout=subprocess.DEVNULL)
    try:
        assert {(each.pid, each.part) for each in remains(tmp_path)} == {(one.pid, "one"), (two.pid, "two")}
        assert [each.pid for each in remains(tmp_path / "other")] == [other.pid]
        assert remains(tmp_path.parent) == []
    finally:
        other.kill()
        unmarked.kill()
        unmarked.wait()


def test_children_of_a_marked_process_are_remains_too(run: Start, tmp_path: Path) -> None:
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEP!r}]).wait()"
    parent = run(code)
    parent.kill()
    (child,) = remains(tmp_path)
    assert (child.part, child.pid == parent.pid) == ("thing", False)
    end_remains([child])
    assert remains(tmp_path) == []


def test_this_process_is_not_among_them(tmp_path: Path) -> None:
    seen = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from metalshift_lab.processes import remains; print(remains(sys.argv[1]))",
            tmp_path,
        ],
        env={**os.environ, MARK: str(tmp_path), PART: "self"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert seen.stdout.strip() == "[]"


@pytest.mark.parametrize("code", [SLEEP, POLITE, STUBBORN])
def test_remains_end_whether_they_listen_or_not(run: Start, tmp_path: Path, code: str) -> None:
    processes = [run(code, name=name) for name in ("one", "two")]
    processes[0].signal(signal.SIGSTOP)
    found = remains(tmp_path)
    assert len(found) == 2
    end_remains(found, grace=0.5)
    assert [process.alive for process in processes] == [False, False]
    assert not any(each.alive() for each in found)
    assert remains(tmp_path) == []


def test_remains_that_are_paused_are_woken_to_end(run: Start, tmp_path: Path) -> None:
    process = run(POLITE)
    process.signal(signal.SIGSTOP)
    eventually(lambda: state(process.pid) == "T")
    end_remains(remains(tmp_path), grace=10)
    assert process.end == "ended with exit status 3"


def test_a_process_that_ended_is_no_remains_though_nobody_asked_how(run: Start, tmp_path: Path) -> None:
    process = run()
    (found,) = remains(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    eventually(lambda: state(process.pid) == "Z")
    assert remains(tmp_path) == []
    assert not found.alive()


def test_a_pid_that_another_process_has_by_now_is_left_alone(run: Start) -> None:
    process = run()
    former = Remains(process.pid, "thing", born="1")
    assert not former.alive()
    end_remains([former])
    time.sleep(0.1)
    assert process.alive
