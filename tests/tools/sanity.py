# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-test sanity, on a machine that reaches nothing but package registries.

ansible-test gives the programs that it starts a clean environment, which has three consequences, all met here:
version managers' stand-ins for Python do not know which one is meant, so the real ones come first on PATH;
pip's settings in variables are lost, so they are written into a configuration file of the HOME that it gets;
and get-pip.py, which it would download from a host that need not be reachable, is put where it caches it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import trees
from environments import Environment, drop_unused
from parts import Failed, Part, check
from paths import CACHE
from pythons import Core, Python

HOMES = CACHE / "ansible-test"
PASSED = CACHE / "sanity"
# What no other core than the main one ever runs; pylint takes as long for it as for all the rest.
MAIN_ONLY = ("tests/hosted/", "tests/lab/kube/", "tests/lab/programs/")

# Every Python brings a pip along; that one installs the pip which ansible-test asks for. Placed always, so that
# a run does the same with and without that host.
GET_PIP = """\
# Stands in for get-pip.py: the pip that comes with Python installs what the arguments name.
# ensurepip has a process of its own, because it turns pip's settings off for the process it runs in.
import subprocess
import sys

packages = [argument for argument in sys.argv[1:] if argument not in ("--no-setuptools", "--no-wheel")]
subprocess.check_call([sys.executable, "-m", "ensurepip"], stdout=subprocess.DEVNULL)
subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", *packages])
"""


def part(environment: Environment, core: Core, pythons: list[Python], again: bool, *, whole: bool) -> Part:
    """With `again` false, what passed is not repeated while nothing that it depends on has changed."""
    return Part(f"sanity: ansible-core {core.version}", lambda: _sanity(environment, core, pythons, again, whole))


def _sanity(environment: Environment, core: Core, pythons: list[Python], again: bool, whole: bool) -> str:
    without = () if whole else MAIN_ONLY
    base = trees.staged(f"sanity-{core.version}", environment, without=without)
    passed = PASSED / f"{core.version}-{_key(environment, base, pythons)}"
    if passed.exists() and not again:
        passed.touch()
        return passed.read_text()
    said = "; ".join([_run(environment, core, pythons, base), *(f"without {folder}" for folder in without)])
    drop_unused(PASSED)
    PASSED.mkdir(parents=True, exist_ok=True)
    now = datetime.now(timezone.utc).isoformat(" ", "minutes").removesuffix("+00:00")
    passed.write_text(f"{said}; of these very files, on {now} UTC (make sanity repeats it)")
    return said


def _key(environment: Environment, base: Path, pythons: list[Python]) -> str:
    """Of all that can change the outcome: the files, the tools, the Pythons, and how they are used."""
    digest = hashlib.sha256()
    for path in trees.files(base / trees.NAME):
        content = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
        mode = path.lstat().st_mode
        digest.update(f"{path.relative_to(base)} {mode:o} {hashlib.sha256(content).hexdigest()}\n".encode())
    found = [shutil.which(f"python3.{minor}") for minor in range(20)]
    programs = [*filter(None, found), *filter(None, [shutil.which("pwsh")])]
    known = [environment.home.name, *map(str, pythons), *programs, *map(os.path.realpath, programs)]
    digest.update("\0".join(known).encode())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()[:24]


def _run(environment: Environment, core: Core, pythons: list[Python], base: Path) -> str:
    home = HOMES / core.version
    _prepare_home(environment, home)
    folders = [str(python.path.parent) for python in pythons if core.runs_on(python)]
    search = [
        folder for folder in os.environ.get("PATH", os.defpath).split(":") if not folder.rstrip("/").endswith("/shims")
    ]
    variables = environment.variables(HOME=home, ANSIBLE_COLLECTIONS_PATH=base)
    variables["PATH"] = ":".join([str(environment.bin), *folders, *search])
    try:
        return check(
            environment.command("ansible-test", "sanity", "--color", "no"), base / trees.NAME, variables, _what_ran
        )
    except Failed as failure:
        raise Failed(_what_matters(str(failure))) from None


def _what_ran(output: str) -> str:
    tests = set(re.findall(r'^Running sanity test "(.+?)"', output, re.MULTILINE))
    pythons = _versions(r'^Running sanity test ".+?" on Python (3\.\d+)', output)
    absent = _versions(r"^WARNING: Skipping .* on Python (3\.\d+) because it could not be found", output)
    missing = sorted(set(re.findall(r'^WARNING: Required program "(.+?)" not found', output, re.MULTILINE)))
    said = [f"{len(tests)} tests, on Python {', '.join(pythons)}"]
    said += [f"not on Python {', '.join(absent)}, which is not here"] if absent else []
    said += [f"not {', '.join(missing)}, which is not here"] if missing else []
    return "; ".join(said)


def _versions(pattern: str, output: str) -> list[str]:
    return sorted(set(re.findall(pattern, output, re.MULTILINE)), key=lambda version: int(version.removeprefix("3.")))


def _what_matters(output: str) -> str:
    """The findings without pip's chatter, if ansible-test came to its end."""
    if "sanity test(s) listed below" not in output:
        return output
    return "\n".join(line for line in output.splitlines() if line.startswith(("ERROR: ", "FATAL: ")))


def _prepare_home(environment: Environment, home: Path) -> None:
    cached = home / ".ansible" / "test" / "cache"
    cached.mkdir(parents=True, exist_ok=True)
    requirements = next(
        environment.home.glob("lib/python3*/site-packages/ansible_test/_internal/python_requirements.py")
    )
    (pip,) = re.findall(r"\bpip='([0-9.]+)'", requirements.read_text())
    (cached / f"get_pip_{pip.replace('.', '_')}.py").write_text(GET_PIP)
    _write_pip_settings(environment, home / ".config" / "pip" / "pip.conf")


def _write_pip_settings(environment: Environment, file: Path) -> None:
    """pip's settings from all places it reads, in one that survives ansible-test. They may hold a password."""
    listing = subprocess.run(
        environment.command("python", "-m", "pip", "config", "list"),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    found = re.findall(r"^(\S+?)\.(\S+?)='(.*)'$", listing.stdout, re.MULTILINE)
    sections: dict[str, dict[str, str]] = {}
    for section, option, value in sorted(found, key=lambda setting: setting[0] == ":env:"):
        sections.setdefault("global" if section == ":env:" else section, {})[option] = value
    lines = [
        line
        for name, options in sections.items()
        for line in (f"[{name}]", *(f"{o} = {v}" for o, v in options.items()))
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text("\n".join(lines) + "\n")
