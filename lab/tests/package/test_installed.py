# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The package as pip installs it, away from the clone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import metalshift_lab
from metalshift_lab.kube.faults import FAULTS
from metalshift_lab.programs.sources import MODULES

PACKAGE = Path(metalshift_lab.__file__).parent
LAB = PACKAGE.parents[1]
HOMES = "from metalshift_lab.programs.sources import MODULES; print(*(module.home for module in MODULES))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip put it. The build backend is the one of this environment: no package index is asked."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(LAB, folder / "lab", ignore=shutil.ignore_patterns("__pycache__", "tests", "build", "*.egg-info"))
    alone = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--no-input")
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        *alone,
        "--target",
        folder / "site",
        folder / "lab",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def environment(site: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}


def said(site: Path, *command: str) -> str:
    return subprocess.check_output([sys.executable, *command], env=environment(site), cwd=site.parent, text=True)


def files(folder: Path) -> dict[str, tuple[bytes, bool]]:
    """What is in them, and whether they are programs."""
    return {
        str(file.relative_to(folder)): (file.read_bytes(), os.access(file, os.X_OK))
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }


def test_every_file_of_the_package_is_installed(site: Path) -> None:
    assert files(site / "metalshift_lab") == files(PACKAGE)


def test_it_runs_from_there(site: Path) -> None:
    assert said(site, "-c", "import metalshift_lab; print(metalshift_lab.__file__)").startswith(str(site))
    assert json.loads(said(site, str(site / "bin" / "metalshift-lab"), "faults", "--json")).keys() == FAULTS.keys()


def test_it_finds_the_programs_that_a_clone_has_built(site: Path) -> None:
    assert said(site, "-c", HOMES).split() == [str(module.home) for module in MODULES]


def test_its_simulator_serves(site: Path, tmp_path: Path) -> None:
    command: list[str | Path] = [
        sys.executable,
        site / "bin" / "metalshift-lab",
        "simulator",
        "--port=0",
        "--key-file=key.txt",
    ]
    process = subprocess.Popen(command, env=environment(site), cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith("MAAS 3.6.5 (simulated) listens on http://127.0.0.1:")
        assert (tmp_path / "key.txt").exists()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        process.stdout.close()
