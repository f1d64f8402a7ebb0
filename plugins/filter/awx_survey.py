# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A survey of AWX from an argument spec."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

DOCUMENTATION = r"""
name: awx_survey
author:
  - The metalshift.maas authors (@metalshift)
version_added: 0.1.0
short_description: Make a survey of AWX from an argument spec
description:
  - Turns the argument spec of a playbook or role into the survey of an AWX job template, in the form that
    C(awx.awx.job_template) takes as C(survey_spec).
  - Each playbook of this collection has its argument spec beside it, in C(playbooks/argument_specs/).
  - A survey cannot ask for dictionaries and lists of them, such as node pools. These are left out, and belong into the
    extra variables of the job template. So do variables that AWX gives by credentials, with O(without).
  - AWX passes each default to the playbook, also an empty one, so a question has a default only if the option has one
    that is not empty. A password never has one; AWX could not show it again, and would seem changed with every run.
positional: _input
options:
  _input:
    description: The content of the file with the argument spec.
    type: dict
    required: true
  without:
    description: Variables that the survey does not ask for.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: A survey for the playbook that scales a node pool
  ansible.builtin.set_fact:
    survey: >-
      {{ lookup('ansible.builtin.file', 'argument_specs/scale_node_pool.yml') | from_yaml
         | metalshift.maas.awx_survey(without=['maas_endpoint', 'maas_api_key', 'kubeconfig', 'context']) }}
"""

RETURN = r"""
_value:
  description: The survey.
  type: dict
  sample:
    name: ""
    description: Change how many nodes a node pool has
    spec:
      - question_name: hosted_openshift_pool
        question_description: The name of the node pool.
        variable: hosted_openshift_pool
        type: text
        required: true
"""

KINDS: Mapping[str, str] = {
    "str": "text",
    "path": "text",
    "raw": "textarea",
    "int": "integer",
    "float": "float",
    "bool": "multiplechoice",
}
MARKUP = re.compile(r"\b[A-Z]\(([^)]*)\)")
LONGEST = 1024
# Kubeconfigs and pull secrets have some thousand characters each.
LONGEST_DOCUMENT = 65536


def awx_survey(spec: Any, without: Any = ()) -> dict[str, Any]:
    """The survey for the main entry of an argument spec."""
    try:
        main = spec["argument_specs"]["main"]
        options = main["options"]
    except (KeyError, TypeError):
        raise AnsibleFilterError(
            "metalshift.maas.awx_survey takes the content of an argument spec: a dictionary with argument_specs."
        ) from None
    return {
        "name": "",
        "description": str(main.get("short_description", "")),
        "spec": list(_questions(options, frozenset(without))),
    }


def _questions(options: Mapping[str, Any], without: frozenset[str]) -> Iterator[dict[str, Any]]:
    for name, option in options.items():
        kind = option.get("type", "str")
        if name in without or kind == "dict" or (kind == "list" and "choices" not in option):
            continue
        asked = _kind(kind, option)
        question = {
            "question_name": name,
            "question_description": _words(option.get("description", "")),
            "variable": name,
            "required": bool(option.get("required")),
            "type": asked,
            "choices": ["true", "false"] if kind == "bool" else [str(choice) for choice in option.get("choices", ())],
            "min": None if kind in ("int", "float") else 0,
            "max": None if kind in ("int", "float") else _longest(kind, option),
        }
        if (default := _default(asked, option)) is not None:
            question["default"] = default
        yield question


def _kind(kind: str, option: Mapping[str, Any]) -> str:
    # A password of a survey is hidden and cannot have several lines; secrets of JSON are one line as well.
    if option.get("no_log"):
        return "password"
    if "choices" in option:
        return "multiselect" if kind == "list" else "multiplechoice"
    return KINDS[kind]


def _longest(kind: str, option: Mapping[str, Any]) -> int:
    return LONGEST_DOCUMENT if kind == "raw" or option.get("no_log") else LONGEST


def _default(kind: str, option: Mapping[str, Any]) -> str | float | None:
    """None where there is none: AWX would pass an empty one to the playbook as an answer."""
    value = option.get("default")
    if value is None or value == "" or kind == "password" or isinstance(value, (list, dict)):
        return None
    if kind in ("integer", "float"):
        number: float = value
        return number
    # AWX takes nothing but texts elsewhere.
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words(description: Any) -> str:
    """Plain text: surveys know no markup."""
    text = " ".join(description) if isinstance(description, list) else str(description)
    return MARKUP.sub(r"\1", text)


class FilterModule:
    """What Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., dict[str, Any]]]:
        return {"awx_survey": awx_survey}
