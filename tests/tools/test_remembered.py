# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of suites that passed: when it counts no more, and that it says what was left out."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOLS = Path(__file__).parent


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(TOOLS)
    for name in ("REFERENCE_CRDS", "METALSHIFT_PROGRAMS", "KUBEBUILDER_ASSETS"):
        monkeypatch.delenv(name, raising=False)
    return importlib.import_module("remembered")


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.delenv("METALSHIFT_WITHOUT_PROGRAMS", raising=False)
    spec = importlib.util.spec_from_file_location("account", TOOLS / "conftest.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Environment:
    home = Path("main")


class Report:
    def __init__(self, nodeid: str, reason: str = "") -> None:
        self.nodeid, self.longrepr = nodeid, ("file.py", 1, f"Skipped: {reason}")


@pytest.mark.parametrize(
    ("variable", "file"),
    [
        ("REFERENCE_CRDS", "hypershift-maas-4.20/crds.yaml"),
        ("METALSHIFT_PROGRAMS", "etcd"),
        ("KUBEBUILDER_ASSETS", "etcd"),
    ],
)
def test_what_lies_elsewhere_counts_with_what_is_in_it(
    remembered: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, file: str
) -> None:
    keys = [remembered.key("labs", Environment())]
    monkeypatch.setenv(variable, str(tmp_path))
    keys.append(remembered.key("labs", Environment()))
    (tmp_path / file).parent.mkdir(exist_ok=True)
    for text in ("one", "another"):
        (tmp_path / file).write_text(text)
        keys.append(remembered.key("labs", Environment()))
    assert len({*keys}) == len(keys)
    assert remembered.key("labs", Environment()) == keys[-1]


def test_crds_beside_the_clone_count_with_what_is_in_them(
    remembered: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(remembered, "ROOT", tmp_path / "clone")
    monkeypatch.setattr("trees.known_files", list)
    keys = [remembered.key("labs", Environment())]
    file = tmp_path / "beside" / "crds" / "hypershift-maas-4.20" / "deep" / "crds.yaml"
    file.parent.mkdir(parents=True)
    for text in ("one", "two"):
        file.write_text(text)
        keys.append(remembered.key("labs", Environment()))
    assert len({*keys}) == len(keys)


def test_what_was_skipped_is_told_with_what_passed(remembered: ModuleType, account: ModuleType) -> None:
    why = "no CRDs to compare with"
    stats: dict[str, list[Any]] = {
        "passed": [Report("lab/programs/a"), Report("lab/kube/b"), Report("unit/c")],
        "skipped": [Report("lab/programs/d", why), Report("lab/programs/e", why)],
        "failed": [Report("hosted/f")],
    }
    whole = account._whole(stats)
    assert "hosted/" not in whole
    found = [whole["lab/programs/"], whole["lab/kube/"]]
    assert remembered.counted(found) == f"2 passed, 2 skipped ({why})"
    assert remembered.counted(found[1:]) == "1 passed"
