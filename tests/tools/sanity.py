# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-test sanity, on a machine that reaches nothing but package registries.

ansible-test gives the programs that it starts a clean environment, which has three consequences, all met here:
version managers' stand-ins for Python do not know which one is meant, so the real ones come first on PATH;
pip's settings in variables are lost, so they are written into a configuration file of the HOME that it gets;
and get-pip.py, which it would download from a host that need not be reachable, is put where it caches it.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import nox
import trees
from trees import CACHE, Environment

# Every Python brings a pip along; that one installs the pip which ansible-test asks for.
GET_PIP = """\
# Stands in for get-pip.py: the pip that comes with Python installs what the arguments name.
# ensurepip has a process of its own, because it turns pip's settings off for the process it runs in.
import subprocess
import sys

packages = [argument for argument in sys.argv[1:] if argument not in ("--no-setuptools", "--no-wheel")]
subprocess.check_call([sys.executable, "-m", "ensurepip"], stdout=subprocess.DEVNULL)
subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", *packages])
"""


def run(session: nox.Session, environment: Environment, core: str, *arguments: str) -> None:
    """On what users get; the tests and the lab are read by ruff and mypy."""
    ignored = re.findall(r"^  - (tests/\S+)$", (trees.ROOT / "galaxy.yml").read_text(), re.MULTILINE)
    base = trees.staged(f"sanity-{core}", environment, without=(*ignored, "lab/", "noxfile.py"))
    home = CACHE / "ansible-test" / core
    _prepare_home(environment, home)
    folders = [folder for folder in os.environ["PATH"].split(":") if not folder.rstrip("/").endswith("/shims")]
    variables = environment.variables(HOME=home, ANSIBLE_COLLECTIONS_PATH=base)
    variables["PATH"] = ":".join([str(environment.bin), *folders])
    session.chdir(base / trees.NAME)
    command = environment.command("ansible-test", "sanity", "--color", "no", *arguments)
    session.run(*command, env=variables, include_outer_env=False, external=True)


def _prepare_home(environment: Environment, home: Path) -> None:
    cached = home / ".ansible" / "test" / "cache"
    cached.mkdir(parents=True, exist_ok=True)
    (requirements,) = environment.home.glob("lib/python3*/site-packages/ansible_test/_internal/python_requirements.py")
    # One for each Python, on ansible-core 2.16
    for pip in re.findall(r"\bpip='([0-9.]+)'", requirements.read_text()):
        (cached / f"get_pip_{pip.replace('.', '_')}.py").write_text(GET_PIP)
    _write_pip_settings(environment, home / ".config" / "pip" / "pip.conf")


def _write_pip_settings(environment: Environment, file: Path) -> None:
    """pip's settings from all places it reads, in one that survives ansible-test. They may hold a password."""
    command = environment.command("python", "-m", "pip", "config", "list")
    listing = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False).stdout
    found = re.findall(r"^(\S+?)\.(\S+?)='(.*)'$", listing, re.MULTILINE)
    sections: dict[str, dict[str, str]] = {}
    for section, option, value in sorted(found, key=lambda setting: setting[0] == ":env:"):
        sections.setdefault("global" if section == ":env:" else section, {})[option] = value
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(
        "".join(
            f"[{name}]\n" + "".join(f"{option} = {value}\n" for option, value in options.items())
            for name, options in sections.items()
        )
    )
