# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`metalshift-lab simulator`, from start to Ctrl-C."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests

from caller import oauth
from metalshift_lab.__main__ import parse

SIMULATOR = (sys.executable, "-B", "-m", "metalshift_lab", "simulator")


def free_port() -> int:
    """A port whose successor is free as well."""
    while True:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            port = int(one.getsockname()[1])
            try:
                two.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    process = subprocess.Popen(
        [*SIMULATOR, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    lines = []
    try:
        for line in process.stdout:
            lines.append(line.rstrip())
            if line.startswith("Ctrl-C"):
                break
        yield process, lines
    finally:
        process.kill()
        process.wait()


def test_it_runs_until_ctrl_c(tmp_path: pathlib.Path) -> None:
    key_file, port = tmp_path / "my key.txt", free_port()
    key_file.write_text("old")
    key_file.chmod(0o644)
    with running("--port", str(port), "--key-file", str(key_file), "--auto", "0.2", "--seed", "3") as (process, lines):
        assert key_file.stat().st_mode & 0o777 == 0o600
        assert f"  export MAAS_ENDPOINT=http://127.0.0.1:{port}/MAAS" in lines
        assert f"  export MAAS_API_KEY=\"$(cat '{key_file}')\"" in lines
        key = key_file.read_text().strip()
        assert not any(re.search(re.escape(key), line) for line in lines)
        url = f"http://127.0.0.1:{port}/MAAS/api/2.0/machines/"
        machine = requests.post(url, params={"op": "allocate"}, auth=oauth(key), timeout=10).json()
        requests.post(f"{url}{machine['system_id']}/", params={"op": "deploy"}, auth=oauth(key), timeout=10)
        time.sleep(0.3)
        seen = requests.get(f"{url}{machine['system_id']}/", auth=oauth(key), timeout=10).json()
        assert seen["status_name"] == "Deployed"
        assert requests.get(f"http://127.0.0.1:{port + 1}/status", timeout=10).json()["auto"] == 0.2
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 0


def test_it_opens_an_lxd_when_it_is_told_to(tmp_path: pathlib.Path) -> None:
    with running("--port", str(free_port()), "--key-file", str(tmp_path / "key"), "--lxd") as (_process, lines):
        told = dict(line.removeprefix("  export ").split("=", 1) for line in lines if "export LXD_" in line)
        pair = (told["LXD_CLIENT_CERT"], told["LXD_CLIENT_KEY"])
        with requests.Session() as session:
            session.trust_env, session.verify, session.cert = False, told["LXD_SERVER_CERT"], pair
            answer = session.get(f"{told['LXD_ENDPOINT']}/1.0", timeout=10)
        assert answer.json()["metadata"]["auth"] == "trusted"


def test_a_taken_port_is_said_in_a_sentence(tmp_path: pathlib.Path) -> None:
    port = free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        done = subprocess.run(
            [
                *SIMULATOR,
                "--port",
                str(port),
                "--key-file",
                str(tmp_path / "key"),
            ],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == (
        f"Port {port} or {port + 1} of 127.0.0.1 is taken: "
        f"choose another one, as in  metalshift-lab simulator --port {port + 100}\n"
    )


def test_a_key_file_that_cannot_be_written_is_said_too(tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [
            *SIMULATOR,
            "--port",
            "0",
            "--key-file",
            str(tmp_path / "no" / "key"),
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Cannot write the API key to")
    assert "Traceback" not in done.stderr


def test_the_defaults_are_those_of_the_readme() -> None:
    options = parse(["simulator"])
    assert (options.port, str(options.key_file), options.host) == (5240, "key.txt", "127.0.0.1")


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        *((f"--port={port}", f"{port!r} is not a number from 0 to 65534") for port in ("65535", "-1", "http")),
        *((f"--auto={auto}", f"{auto!r} is not a number of seconds") for auto in ("-1", "nan", "inf", "soon")),
        *((f"--seed={seed}", f"{seed!r} is not a number of machines") for seed in ("-1", "1.5", "many")),
    ],
)
def test_what_cannot_be_is_refused(option: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["simulator", option])
    assert sentence in capsys.readouterr().err
