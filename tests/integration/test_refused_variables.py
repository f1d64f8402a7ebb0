# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A variable that a role does not have, or an empty name, is refused by its name, before anything is looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.filter.refused_variables import refused_variables
from integration.harness import ROOT, run_playbook

ROLES = sorted(path.parents[1].name for path in ROOT.glob("roles/*/meta/argument_specs.yml"))
# What is asked for before; nothing of it is used.
NEEDED = {"hosted_openshift_pool": "workers", "hosted_openshift_replicas": 1}
# There, an empty text is none.
FROM_THE_ENVIRONMENT = ("capi_provider_maas_endpoint", "capi_provider_maas_api_key")
OTHERS = ("scale", "preflight", "diagnose")


def specs(role: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "roles" / role / "meta/argument_specs.yml").read_text())
    return found["argument_specs"]


def example(option: dict[str, Any]) -> Any:
    return {"list": [], "dict": {}, "int": 1}.get(option.get("type", "str"), (option.get("choices") or ["x"])[0])


def empty(role: str) -> list[str]:
    """The role's variables for names and paths, without those whose default is an empty text."""
    found = (
        name
        for name, option in specs(role)["main"]["options"].items()
        if option.get("type", "str") in ("str", "path") and "choices" not in option and option.get("default") != ""
    )
    return [name for name in found if name not in FROM_THE_ENVIRONMENT]


def given(role: str) -> dict[str, Any]:
    """What the role needs in any case, one of its variables misspelt, and one that is nobody's."""
    options = specs(role)["main"]["options"]
    needed = {name: example(option) for name, option in options.items() if option.get("required")}
    return {**needed, f"{role}_staet": "absent", f"{role}_of_my_own": "x", f"{role}s_of_others": "y", f"{role}__z": "z"}


@pytest.mark.playbooks
def test_a_variable_that_does_not_exist_is_refused_by_name(tmp_path: Path) -> None:
    whole = {name: value for role in ROLES for name, value in given(role).items()} | NEEDED
    entries = [(role, "main") for role in ROLES] + [("hosted_openshift", entry) for entry in OTHERS]
    tasks = [
        {
            "block": [{"ansible.builtin.include_role": {"name": f"metalshift.maas.{role}", "tasks_from": entry}}],
            "rescue": [{"ansible.builtin.debug": {"msg": f"{role} {entry}: {{{{ ansible_failed_result.msg }}}}"}}],
        }
        for role, entry in entries
    ]
    played = run_playbook(tmp_path, tasks, vars=whole)
    assert played.status == 0, played.output
    told = [result["msg"] for result in played.results if str(result.get("msg", "")).startswith(tuple(ROLES))]
    assert told == [
        f"{role} {entry}: There is no variable {role}_of_my_own. "
        f"There is no variable {role}_staet. Did you mean {role}_state?"
        for role, entry in entries
    ]
    assert {result.get("changed", False) for result in played.results} == {False}


@pytest.mark.playbooks
def test_an_empty_name_or_path_is_refused_by_name(tmp_path: Path) -> None:
    """As AWX passes for what nobody has answered; before, a kubeconfig was found out when the cluster was gone."""
    tasks = [
        {
            "block": [{"ansible.builtin.include_role": {"name": f"metalshift.maas.{role}"}, "vars": filled(role)}],
            "rescue": [{"ansible.builtin.debug": {"msg": f"{role}: {{{{ ansible_failed_result.msg }}}}"}}],
        }
        for role in ROLES
    ]
    played = run_playbook(tmp_path, tasks)
    assert played.status == 0, played.output
    own = tuple(f"{role}: " for role in ROLES)
    told = [result["msg"] for result in played.results if str(result.get("msg", "")).startswith(own)]
    assert told == [
        f"{role}: {' and '.join(empty(role))} must not be empty. Leave out what is not to be set." for role in ROLES
    ]
    assert {result.get("changed", False) for result in played.results} == {False}


def filled(role: str) -> dict[str, Any]:
    needed = {name: value for name, value in given(role).items() if name in specs(role)["main"]["options"]}
    return {**needed, **dict.fromkeys(empty(role), "")}


def test_the_default_may_be_empty() -> None:
    spec = {"main": {"options": {"a_zone": {"type": "str", "default": ""}, "a_name": {}, "a_text": {"type": "raw"}}}}
    assert refused_variables({"a_zone": "", "a_text": "", "a_name": "x"}, spec) == ""
    assert refused_variables({"a_name": " ", "a_b": 1}, spec).startswith("There is no variable a_b. a_name must not")


@pytest.mark.parametrize("role", ROLES)
def test_every_variable_that_there_is_is_known(role: str) -> None:
    names = {name for path in ROOT.glob("playbooks/argument_specs/*.yml") for name in options(path)}
    own = [name for name in names if name.startswith(f"{role}_")]
    text = (ROOT / "roles" / role / "vars/main.yml").read_text()
    also = ["lxd_maintenance_hosts"] if "also=['lxd_maintenance_hosts']" in text else []
    assert refused_variables(dict.fromkeys(own, "x"), specs(role), also) == ""


def options(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())["argument_specs"]["main"]["options"]
    return found
