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
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

import trees
from environments import Environment, drop_unused
from parts import Result
from paths import CACHE, ROOT

PASSED = CACHE / "suites"
SUITES: Mapping[str, tuple[str, ...]] = {
    "simulation": ("tests/lab/simulation",),
    "conformance": ("tests/conformance",),
    "labs": ("tests/lab/programs", "tests/lab/kube"),
    "hosted": ("tests/hosted",),
}
# What they depend on, and on nothing else of the clone.
FILES = ("tests/lab/", "tests/conformance/", "tests/conftest.py", "tests/pytest.ini", "tests/tools/conftest.py")
FILES_OF: Mapping[str, tuple[str, ...]] = {
    "hosted": ("tests/", "plugins/", "roles/", "playbooks/", "extensions/", "meta/", "docs/", "galaxy.yml", "README.md")
}
# They change which programs are built or used, and which checks can be made.
VARIABLES = ("KUBEBUILDER_ASSETS", "GOFLAGS", "GOTOOLCHAIN")


def key(suite: str, environment: Environment) -> str:
    """Of all that can change the outcome: the files, the tools, and the programs that are found rather than built."""
    digest = hashlib.sha256()
    for path in sorted(path for path in trees.known_files() if str(path).startswith(FILES_OF.get(suite, FILES))):
        file = ROOT / path
        if file.exists():
            digest.update(f"{path} {file.stat().st_mode:o} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    found = [environment.home.name, shutil.which("go") or "", *(os.environ.get(name, "") for name in VARIABLES)]
    # The reference CRDs, which lie beside the clone or do not.
    beside = sorted(str(path.relative_to(ROOT.parent)) for path in ROOT.parent.glob("*/crds/*"))
    digest.update("\0".join([*found, *beside]).encode())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()[:24]


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
    """Keep what tests/tools/conftest.py wrote of a run: of each folder, how many passed, if all that there is did."""
    said = json.loads(outcomes.read_text())["whole"] if outcomes.exists() else {}
    drop_unused(PASSED)
    PASSED.mkdir(parents=True, exist_ok=True)
    now = datetime.now(timezone.utc).isoformat(" ", "minutes").removesuffix("+00:00")
    for suite, folders in SUITES.items():
        counts = [said.get(folder.removeprefix("tests/") + "/", 0) for folder in folders]
        if all(counts):
            record = _record(suite, environment)
            record.write_text(f"{sum(counts)} passed; of these very files, on {now} UTC (make {suite} repeats it)")


def _record(suite: str, environment: Environment) -> Path:
    return PASSED / f"{suite}-{key(suite, environment)}"
