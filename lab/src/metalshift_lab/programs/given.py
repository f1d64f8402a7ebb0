# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that the user has: where METALSHIFT_PROGRAMS says, or KUBEBUILDER_ASSETS as for other tools of testing."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .errors import NoPrograms
from .sources import KUBERNETES, MODULES
from .toolchain import words

ALL = frozenset(name for module in MODULES for name in module.names)
ASKED_VERSION: Mapping[str, tuple[str, ...]] = {
    "kube-apiserver": ("--version",),
    "kube-controller-manager": ("--version",),
    "kubectl": ("version", "--client"),
}
# How many minor versions each may be away from kube-apiserver: (older, newer)
SKEW = {"kube-controller-manager": (1, 0), "kubectl": (1, 1)}


@dataclass(frozen=True)
class Folder:
    """A variable that names a folder, which programs are looked for there, and which of them must be there."""

    variable: str
    programs: frozenset[str]
    complete: frozenset[str]


FOLDERS = (
    Folder("METALSHIFT_PROGRAMS", ALL, frozenset()),
    Folder("KUBEBUILDER_ASSETS", KUBERNETES.names, frozenset({"etcd", "kube-apiserver", "kubectl"})),
)


def given(say: Callable[[str], None]) -> dict[str, Path]:
    """The programs that the user named, by name; refused where they would not work together, or with ours."""
    chosen: dict[str, Path] = {}
    for folder in FOLDERS:
        found = {name: path for name, path in _found(folder).items() if name not in chosen}
        if found:
            say(f"{words(sorted(found))}: yours, from {folder.variable}={os.environ[folder.variable]}")
        chosen |= found
    if chosen.keys() & ASKED_VERSION.keys():
        _compare(chosen)
    return chosen


def _found(folder: Folder) -> dict[str, Path]:
    value = os.environ.get(folder.variable)
    if not value:
        return {}
    here = Path(value).expanduser().absolute()
    found = {
        name: here / name for name in folder.programs if os.access(here / name, os.X_OK) and (here / name).is_file()
    }
    missing = folder.complete - found.keys()
    if not found or missing:
        lacking = words(sorted(missing)) if missing else "none of the lab's programs"
        verb = "lacks" if missing else "holds"
        raise NoPrograms(f"{folder.variable} is {value}, which {verb} {lacking}. Unset it, and the lab uses its own.")
    return found


def _compare(chosen: Mapping[str, Path]) -> None:
    versions = {
        name: _version(chosen[name], arguments) if name in chosen else KUBERNETES.version("k8s.io/kubernetes")
        for name, arguments in ASKED_VERSION.items()
    }
    server = _minor(versions["kube-apiserver"])
    for name, (older, newer) in SKEW.items():
        if not server - older <= _minor(versions[name]) <= server + newer:
            raise NoPrograms(
                f"{_described(name, versions, chosen)} does not work with"
                f" {_described('kube-apiserver', versions, chosen)}."
                f" Use the same version of both, or unset {words(_set())}."
            )


def _described(name: str, versions: Mapping[str, str], chosen: Mapping[str, Path]) -> str:
    return f"{name} {versions[name]} ({chosen.get(name, 'which the lab builds')})"


def _set() -> list[str]:
    return [folder.variable for folder in FOLDERS if os.environ.get(folder.variable)]


def _version(program: Path, arguments: tuple[str, ...]) -> str:
    try:
        answer = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoPrograms(f"{program} does not run here: {problem}") from None
    found = re.search(r"\bv\d+\.\d+\.\d+\S*", answer.stdout)
    if not found:
        raise NoPrograms(f"{program} does not say its version: {(answer.stderr or answer.stdout).strip()[:200]}")
    return found[0]


def _minor(version: str) -> int:
    major, minor, _patch = version.removeprefix("v").split(".", 2)
    return int(major) * 1000 + int(minor)
