# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role lxd_host documents is what it reads, and what its playbook takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

COLLECTION = Path(__file__).resolve().parents[2]
ROLE = COLLECTION / "roles" / "lxd_host"


def options(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())["argument_specs"]["main"]["options"]
    return found


OPTIONS = options(ROLE / "meta" / "argument_specs.yml")


def test_every_variable_that_is_read_is_documented() -> None:
    texts = [path.read_text() for part in ("tasks", "vars", "templates") for path in (ROLE / part).iterdir()]
    assert {name for text in texts for name in re.findall(r"\blxd_host_(?!_)\w+", text)} == set(OPTIONS)


def test_every_default_is_documented_as_it_is() -> None:
    defaults = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
    assert defaults.keys() == OPTIONS.keys()
    assert defaults.pop("lxd_host_machine") == "{{ inventory_hostname }}"
    assert {name: OPTIONS[name].get("default") for name in defaults} == defaults
