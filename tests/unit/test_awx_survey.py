# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every playbook has an argument spec of which AWX can make a survey."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.metalshift.maas.plugins.filter.awx_survey import FilterModule, awx_survey

PLAYBOOKS = Path(__file__).resolve().parents[2] / "playbooks"
# What AWX 24.6.1 takes for the default of each type of question; measured. An empty text is a default as well.
TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "textarea": (str,),
    "password": (str,),
    "integer": (int,),
    "float": (float, int),
    "multiplechoice": (str,),
    "multiselect": (str,),
}
DOCUMENTS = {"kubeconfig", "maas_api_key", "hosted_openshift_pull_secret", "lxd_host_kubeconfig", "lxd_host_key"}
NAMES = sorted(path.stem for path in PLAYBOOKS.glob("*.yml"))


def spec(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((PLAYBOOKS / "argument_specs" / f"{name}.yml").read_text())
    return found


def test_the_filter_bears_its_name() -> None:
    assert list(FilterModule().filters()) == ["awx_survey"]


@pytest.mark.parametrize("name", NAMES)
def test_each_playbook_gets_a_survey_that_awx_takes(name: str) -> None:
    survey = awx_survey(spec(name))
    assert survey["description"]
    assert survey["spec"]
    variables = [question["variable"] for question in survey["spec"]]
    assert len(variables) == len(set(variables))
    for question in survey["spec"]:
        assert refused(question) == "", question
        assert question["question_description"], question["variable"]


def refused(question: Mapping[str, Any]) -> str:
    """What AWX has against a question."""
    kind, default = question["type"], question.get("default", "")
    if not {"question_name", "variable", "required"} <= question.keys() or kind not in TYPES:
        return "incomplete, or of no type that AWX knows"
    if bool(question["choices"]) != (kind in ("multiplechoice", "multiselect")):
        return "choices do not fit its type"
    if default != "" and (not isinstance(default, TYPES[kind]) or isinstance(default, bool)):
        return f"Default value {default} expected to be of {kind}."
    if default != "" and question["choices"] and default not in question["choices"]:
        return f"Default value {default} is no choice."
    if any(not isinstance(question[limit], (int, type(None))) for limit in ("min", "max")):
        return "a limit is no number"
    longest = question["max"]
    return "too long" if isinstance(default, str) and longest and len(default) > longest else ""


@pytest.mark.parametrize("name", NAMES)
def test_what_awx_passes_unasked_is_what_the_playbook_would_take_itself(name: str) -> None:
    """AWX passes each default that is not null as an answer, also an empty text; passwords it keeps to itself."""
    options = spec(name)["argument_specs"]["main"]["options"]
    passed = {each["variable"]: each["default"] for each in awx_survey(spec(name))["spec"] if "default" in each}
    assert None not in passed.values()
    assert "" not in passed.values()
    assert not [variable for variable in passed if options[variable].get("no_log")]
    checked = ArgumentSpecValidator({variable: options[variable] for variable in passed}).validate(passed)
    assert not checked.error_messages
    own = ArgumentSpecValidator({variable: options[variable] for variable in passed}).validate({})
    assert {name: str(value) for name, value in checked.validated_parameters.items()} == {
        name: str(value) for name, value in own.validated_parameters.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_each_playbook_first_checks_its_variables_by_its_own_spec(name: str) -> None:
    play, *_later = yaml.safe_load((PLAYBOOKS / f"{name}.yml").read_text())
    first = play["pre_tasks"][0]
    assert "metalshift.maas.playbook_variables" in first
    assert first["metalshift.maas.playbook_variables"]["spec"].endswith(f"/argument_specs/{name}.yml")


def test_what_a_survey_asks() -> None:
    questions = {each["variable"]: each for each in awx_survey(spec("create_hosted_cluster"))["spec"]}
    name = questions["hosted_openshift_name"]
    assert (name["type"], name["required"], "default" in name) == ("text", True, False)
    assert questions["hosted_openshift_pull_secret"]["type"] == "password"
    assert questions["hosted_openshift_dns"]["choices"] == ["true", "false"]
    assert questions["hosted_openshift_dns"]["default"] == "false"
    assert "HostNetwork" in questions["hosted_openshift_ingress"]["choices"]
    assert questions["hosted_openshift_wait_timeout"]["type"] == "float"
    # Lists of dictionaries cannot be asked for.
    assert "hosted_openshift_node_pools" not in questions


@pytest.mark.parametrize("name", NAMES)
def test_what_holds_a_document_may_be_as_long_as_one(name: str) -> None:
    """A pull secret has some 3000 characters, and a kubeconfig with its certificates 6000 or more."""
    longest = {each["variable"]: each["max"] for each in awx_survey(spec(name))["spec"]}
    documents = DOCUMENTS & longest.keys()
    assert documents
    assert {variable: longest[variable] for variable in documents if longest[variable] < 30_000} == {}
    assert longest["maas_endpoint"] == 1024


def test_what_credentials_give_is_not_asked_for() -> None:
    survey = awx_survey(spec("diagnose"), without=["maas_endpoint", "kubeconfig"])
    assert not {"maas_endpoint", "kubeconfig"} & {each["variable"] for each in survey["spec"]}


@pytest.mark.parametrize("value", ["text", None, {}, {"argument_specs": {}}, {"argument_specs": {"main": []}}])
def test_anything_else_is_one_sentence(value: Any) -> None:
    with pytest.raises(AnsibleFilterError, match="takes the content of an argument spec"):
        awx_survey(value)
