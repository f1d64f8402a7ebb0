# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from metalshift_lab.kube.bare import rendered_kinds
from metalshift_lab.programs import Programs
from programs.loaded import Loaded, bare_server, load

CLONE = Path(__file__).resolve().parents[3]
FORK = "hypershift-maas-4.20"


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder with the CRDs that the fork of HyperShift installs; they are no part of this collection."""
    named = os.environ.get("REFERENCE_CRDS")
    folders = [Path(named)] if named else sorted(CLONE.parent.glob("*/crds"))
    found = [folder / FORK for folder in folders if (folder / FORK).is_dir()]
    if named and not found:
        pytest.fail(f"REFERENCE_CRDS is {named}, which holds no {FORK}.")
    if not found:
        pytest.skip(f"no CRDs to compare with: REFERENCE_CRDS names no folder that holds {FORK}")
    return found[0]


@pytest.fixture(scope="session")
def ours(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """What our `hypershift install` brings."""
    with bare_server(programs, tmp_path_factory.mktemp("ours")) as plane:
        yield load(plane, programs, rendered_kinds(programs), "-")


@pytest.fixture(scope="session")
def theirs(programs: Programs, reference: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    """What the fork's `hypershift install` brings."""
    with bare_server(programs, tmp_path_factory.mktemp("theirs")) as plane:
        yield load(plane, programs, "", str(reference), "--recursive")
