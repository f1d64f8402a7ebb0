# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role lxd_host documents is what it reads, and what its playbook takes."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.spec import HostSpec

COLLECTION = Path(__file__).resolve().parents[2]
ROLE = COLLECTION / "roles" / "lxd_host"


def options(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())["argument_specs"]["main"]["options"]
    return found


OPTIONS = options(ROLE / "meta" / "argument_specs.yml")


def test_every_variable_that_is_read_is_documented() -> None:
    texts = [path.read_text() for part in ("tasks", "vars", "templates") for path in (ROLE / part).iterdir()]
    read = {name for text in texts for name in re.findall(r"(?<![\w.])lxd_host_(?!_)\w+", text)}
    deciding = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())["lxd_host__deciding"]
    assert read | {f"lxd_host_{name}" for name in deciding} == set(OPTIONS)


def test_decisions_are_made_of_the_variables_of_the_role_and_of_no_others() -> None:
    deciding = yaml.safe_load((ROLE / "vars" / "main.yml").read_text())["lxd_host__deciding"]
    assert {*deciding, "kubeconfig"} == {field.name for field in fields(HostSpec)}


def test_decisions_have_the_defaults_of_the_role() -> None:
    own = {field.name: field.default for field in fields(HostSpec)}
    # Given as whether there is one, and as a template.
    assert {own.pop("kubeconfig"), own.pop("machine")} == {False, ""}
    documented = {name: OPTIONS[f"lxd_host_{name}"].get("default") for name in own}
    assert HostSpec.from_params(documented) == HostSpec()


def test_every_default_is_documented_as_it_is() -> None:
    defaults = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text())
    assert defaults.keys() == OPTIONS.keys()
    assert defaults.pop("lxd_host_machine") == "{{ inventory_hostname }}"
    assert {name: OPTIONS[name].get("default") for name in defaults} == defaults
