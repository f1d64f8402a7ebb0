# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Suites that passed with these very files, and need not run again for a change elsewhere.

Most are tests of the lab: nothing in it, and none of them, reads a file of the collection.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import trees
from environments import Environment, drop_unused
from parts import Result
from paths import CACHE, ROOT

PASSED = CACHE / "suites"
SUITES: Mapping[str, tuple[str, ...]] = {
    "simulation": ("tests/lab/simulation",),
    "conformance": ("tests/conformance",),
    "lxd": ("tests/lxd",),
    "labs": ("tests/lab/programs", "tests/lab/lxd", "tests/lab/kube"),
    "hosted": ("tests/hosted",),
}
# What they depend on, and on nothing else of the clone.
FILES = ("tests/lab/", "tests/conformance/", "tests/conftest.py", "tests/pytest.ini", "tests/tools/conftest.py")
FILES_OF: Mapping[str, tuple[str, ...]] = {
    "lxd": (
        *("tests/", "plugins/", "roles/lxd_host/", "playbooks/", "meta/"),
        *("docs/docsite/rst/lxd_guide.rst", "galaxy.yml"),
    ),
    "hosted": (
        *("tests/", "plugins/", "roles/", "playbooks/", "extensions/", "meta/", "docs/"),
        *("galaxy.yml", "README.md"),
    ),
}
# They change which programs are built or used, and which checks can be made.
VARIABLES = ("METALSHIFT_PROGRAMS", "KUBEBUILDER_ASSETS", "GOFLAGS", "GOTOOLCHAIN", "REFERENCE_CRDS")
# Those of them that name folders with programs of the user's: too big to be read each time.
PROGRAMS = ("METALSHIFT_PROGRAMS", "KUBEBUILDER_ASSETS")
# Where tests/lab/programs/conftest.py looks for the CRDs that ours are compared with, when nobody names a folder.
REFERENCE = "*/crds"
FORK = "hypershift-maas-*"


def key(suite: str, environment: Environment) -> str:
    """Of all that can change the outcome: the files, the tools, and the programs that are found rather than built."""
    digest = hashlib.sha256()
    for path in sorted(path for path in trees.known_files() if str(path).startswith(FILES_OF.get(suite, FILES))):
        file = ROOT / path
        if file.exists():
            digest.update(f"{path} {file.stat().st_mode:o} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    # Root alone can run LXD.
    found = [
        environment.home.name,
        shutil.which("go") or "",
        str(os.geteuid()),
        *(os.environ.get(name, "") for name in VARIABLES),
    ]
    digest.update("\0".join([*found, *_references(), *_given()]).encode())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()[:24]


def _references() -> Iterator[str]:
    """The CRDs of the reference with what is in them; they lie beside the clone, or elsewhere, or nowhere."""
    named = os.environ.get("REFERENCE_CRDS")
    for folder in [Path(named)] if named else sorted(ROOT.parent.glob(REFERENCE)):
        for path in sorted(path for path in folder.glob(f"{FORK}/**/*") if path.is_file()):
            # Where the clone and the reference lie does not matter.
            yield f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def _given() -> Iterator[str]:
    """The user's programs: another build has another size or another time."""
    for folder in (os.environ.get(name) for name in PROGRAMS):
        for path in sorted(Path(folder).expanduser().glob("*")) if folder else ():
            found = path.stat()
            yield f"{path} {found.st_size} {found.st_mtime_ns}"


def passed(environment: Environment) -> list[Result]:
    """One result for each suite that needs not run."""
    results = []
    for suite in SUITES:
        record = _record(suite, environment)
        if record.exists():
            record.touch()
            results.append(Result(f"tests: {suite}", "ok", remark=record.read_text()))
    return results


def remember(outcomes: Path, environment: Environment) -> None:
    """Keep what tests/tools/conftest.py wrote of a run: of each folder, what became of its tests, if none failed."""
    said = json.loads(outcomes.read_text())["whole"] if outcomes.exists() else {}
    drop_unused(PASSED)
    PASSED.mkdir(parents=True, exist_ok=True)
    now = datetime.now(timezone.utc).isoformat(" ", "minutes").removesuffix("+00:00")
    for suite, folders in SUITES.items():
        found = [said.get(folder.removeprefix("tests/") + "/", {}) for folder in folders]
        if all(each.get("passed") for each in found):
            remark = f"{counted(found)}; of these very files, on {now} UTC (make {suite} repeats it)"
            _record(suite, environment).write_text(remark)


def counted(found: list[dict[str, Any]]) -> str:
    """What passed, and what was left out and why: one that is not run again must not hide it."""
    skips = [reason for each in found for reason in each["skipped"]]
    passed = f"{sum(each['passed'] for each in found)} passed"
    return f"{passed}, {len(skips)} skipped ({'; '.join(dict.fromkeys(skips))})" if skips else passed


def _record(suite: str, environment: Environment) -> Path:
    return PASSED / f"{suite}-{key(suite, environment)}"
