# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the variables of a playbook, and say in a sentence what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from ansible.errors import AnsibleActionFail
from ansible.plugins.action.validate_argument_spec import ActionModule as ArgumentSpecAction

MISSING = "missing required arguments: "
# ansible-core's words, which are not the same in all versions, and ours
WORDS = {
    r"^argument '?(\w+)'? is of type .*? and we were unable to convert to (\w+): .*": r"\1 must be of type \2",
    r"^value of (\w+) must be one of: (.*), got: (.*)$": r"\1 must be one of \2, and is \3",
}


class ActionModule(ArgumentSpecAction):  # type: ignore[misc]  # it has no types
    """The check of ansible-core, whose answer to a person would be the whole argument spec."""

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        file = self._task.args.get("spec")
        if not file or set(self._task.args) != {"spec"}:
            raise AnsibleActionFail("playbook_variables takes the option spec, the path of a file with argument specs.")
        options = yaml.safe_load(Path(file).read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]
        self._task.args = {"argument_spec": options}
        errors = super().run(task_vars=task_vars).get("argument_errors") or ()
        return {"changed": False, "failed": bool(errors), "msg": sentences(errors) or "All variables are fine."}


def sentences(errors: Iterable[str]) -> str:
    """One for each error: `argument` is a word of modules, and a playbook has variables."""
    return " ".join(_sentence(error) for error in errors)


def _sentence(error: str) -> str:
    if error.startswith(MISSING):
        names = error.removeprefix(MISSING).split(", ")
        return f"{_and(names)} {'is' if len(names) == 1 else 'are'} needed."
    for pattern, words in WORDS.items():
        error = re.sub(pattern, words, error)
    return error if error.endswith(".") else f"{error}."


def _and(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
