# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the programs are: the Go modules beside this file, what is built from each, and what that takes."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .errors import NoPrograms

HERE = Path(__file__).resolve().parent

# Every program has the same ones: packages that are compiled with other flags are compiled again
FLAGS = ("-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false")

SYSTEMS = {"linux": "linux", "darwin": "darwin"}
MACHINES = {
    "x86_64": "amd64",
    "amd64": "amd64",
    "aarch64": "arm64",
    "arm64": "arm64",
    "ppc64le": "ppc64le",
    "s390x": "s390x",
}


@dataclass(frozen=True)
class Program:
    """One executable, called as its process is; CPU minutes as measured when the ones before it were built already."""

    name: str
    package: str
    cpu_minutes: float
    links: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return self.links or (self.name,)


@dataclass(frozen=True)
class Room:
    """What a module takes of the disk, in MB: sources from the module proxy, compiled packages, programs."""

    sources: int
    compiled: int
    programs: int


@dataclass(frozen=True)
class Module:
    """A folder with go.mod and go.sum; `copied` are the modules that get the lab's additions before they are built, and
    the names of their copies.
    """

    name: str
    programs: tuple[Program, ...]
    room: Room
    ingredients: tuple[str, ...]
    copied: Mapping[str, str] = field(default_factory=dict)
    stamped: str = ""

    @property
    def folder(self) -> Path:
        return HERE / self.name

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for program in self.programs for name in program.names)

    @property
    def files(self) -> list[Path]:
        return sorted({path for pattern in self.ingredients for path in HERE.glob(pattern)})

    @property
    def linker_flags(self) -> str:
        """Without symbols; and with its version, where a program that does not know it is refused by its clients."""
        return " ".join(
            ["-s -w", *(f"-X {package}.{key}={value}" for package in STAMPED for key, value in self._stamp)]
        )

    @property
    def _stamp(self) -> list[tuple[str, str]]:
        if not self.stamped:
            return []
        version = self.version(self.stamped)
        major, minor, _patch = version.removeprefix("v").split(".", 2)
        values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
        return list(values.items())

    def version(self, dependency: str) -> str:
        found = re.search(rf"^\s*{re.escape(dependency)} (v\S+)", (self.folder / "go.mod").read_text(), re.MULTILINE)
        if not found:
            raise NoPrograms(f"{self.folder / 'go.mod'} requires no {dependency}.")
        return found[1]

    @property
    def home(self) -> Path:
        """Where its programs are kept. The version of Go is no part of the key: one without Go finds them as well."""
        parts = [" ".join((*FLAGS, self.linker_flags, *system())).encode()]
        for path in self.files:
            parts += [path.relative_to(HERE).as_posix().encode(), path.read_bytes()]
        digests = b"".join(hashlib.sha256(part).digest() for part in parts)
        return cache() / f"{self.name}-{hashlib.sha256(digests).hexdigest()[:12]}"


STAMPED = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
HYPERSHIFT = "github.com/openshift/hypershift"
KUBERNETES = Module(
    name="kubernetes",
    programs=(
        Program(
            "kubelab",
            ".",
            cpu_minutes=9,
            links=("etcd", "kube-apiserver", "kube-controller-manager", "kubectl"),
        ),
    ),
    room=Room(sources=600, compiled=2700, programs=130),
    ingredients=("kubernetes/go.*", "kubernetes/*.go"),
    stamped="k8s.io/kubernetes",
)
CLUSTER_API = Module(
    name="cluster_api",
    programs=(Program("capi-core-manager", "sigs.k8s.io/cluster-api", cpu_minutes=3.5),),
    room=Room(sources=350, compiled=900, programs=60),
    ingredients=("cluster_api/go.*", "insertion.py", "patch_cluster_api.py"),
    copied={"sigs.k8s.io/cluster-api": "cluster-api"},
)
HYPERSHIFT_MODULE = Module(
    name="hypershift",
    programs=(
        Program("hypershift-operator", f"{HYPERSHIFT}/hypershift-operator", cpu_minutes=5.5),
        Program("control-plane-operator", f"{HYPERSHIFT}/control-plane-operator", cpu_minutes=1.2),
        Program("hypershift", HYPERSHIFT, cpu_minutes=1.3),
    ),
    room=Room(sources=1600, compiled=1900, programs=350),
    ingredients=(
        "hypershift/go.*",
        "hypershift/maas/*.go",
        "insertion.py",
        "patch_hypershift.py",
        "maas_properties.py",
        "crds/*.yaml",
    ),
    copied={HYPERSHIFT: "hypershift", f"{HYPERSHIFT}/api": "api"},
)
MODULES = (KUBERNETES, CLUSTER_API, HYPERSHIFT_MODULE)


def cache() -> Path:
    """Where programs are kept, one folder a key, and beside them what is needed while they are built."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "metalshift-maas" / "programs"


def system() -> tuple[str, str]:
    """This machine, in Go's words."""
    try:
        return SYSTEMS[sys.platform], MACHINES[platform.machine().lower()]
    except KeyError:
        raise NoPrograms(f"The lab's programs do not run on {sys.platform}, {platform.machine()}.") from None


def go_needed() -> tuple[int, ...]:
    """The oldest Go that builds all modules."""
    return max(_go_line(module) for module in MODULES)


def _go_line(module: Module) -> tuple[int, ...]:
    found = re.search(r"^go ([\d.]+)$", (module.folder / "go.mod").read_text(), re.MULTILINE)
    return tuple(map(int, found[1].split("."))) if found else ()
