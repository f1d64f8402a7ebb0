# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs this collection's API modules inside the Ansible controller's worker.

The same `converge` as in the ordinary module runs without a new interpreter for every task, and can say what it is
waiting for. Under async or become, or on another host, the ordinary module runs instead.

This plugin util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Mapping
from functools import cached_property
from types import ModuleType
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.metalshift.maas.plugins.module_utils._core.parent import end_with_parent
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec, what_is_wrong
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task, carry_out, without
from ansible_collections.metalshift.maas.plugins.plugin_utils._progress import host_of, item_of, progress
from ansible_collections.metalshift.maas.plugins.plugin_utils._run_plan import note
from ansible_collections.metalshift.maas.plugins.plugin_utils._variables import renamed, sentences_renamed, variables

display = Display()

# Into a pipe or a file Python writes by blocks: lines about a long wait would come when it is over.
if isinstance(sys.stdout, io.TextIOWrapper):
    sys.stdout.reconfigure(line_buffering=True)


def module_of(action: str) -> ModuleType:
    """The module that an action plugin runs.

    The file of the plugin imports it too: the parent process loads that file, and its workers inherit the import.
    """
    name = action.rpartition(".")[2]
    return importlib.import_module(f"ansible_collections.metalshift.maas.plugins.modules.{name}")


class ActionModule(ActionBase):  # type: ignore[misc]
    """One implementation for every API module; which one it is, is in the task."""

    _requires_connection = False
    _supports_check_mode = True
    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        said: dict[str, Any] = super().run(tmp, task_vars)
        if self._must_be_a_module():
            said.update(self._execute_module(task_vars=task_vars, wrap_async=self._task.async_val))
        else:
            end_with_parent()
            said.update(self._run_here(task_vars or {}))
            if not _invocation_is_wanted(task_vars or {}):
                del said["invocation"]
        note(said)
        return said

    def _must_be_a_module(self) -> bool:
        connection = self._connection
        local = connection is None or getattr(connection, "transport", "local") == "local"
        become = bool(getattr(connection, "become", None)) or bool(self._task.become)
        return not local or become or bool(self._task.async_val)

    def _run_here(self, task_vars: Mapping[str, Any]) -> dict[str, Any]:
        name = self._task.action.rpartition(".")[2]
        module = module_of(name)
        spec: Spec = module.SPEC
        environment = {**os.environ, **self._task_environment()}
        check = bool(self._task.check_mode)
        given = _with_fallbacks(spec, spec.given(_plain(self._task.args), check=check), environment)
        # Not ActionBase.validate_argument_spec: its errors print the arguments, secrets included.
        checked = ArgumentSpecValidator(spec.argument_spec, **spec.rules()).validate(given)
        # Of both: a secret may have come in a text of JSON, and be its own value only after validation.
        secrets = spec.secrets(given) | spec.secrets(checked.validated_parameters)
        shown = given
        if checked.error_messages:
            said = _wrong_input(name, checked)
        else:
            shown = checked.validated_parameters
            host = host_of(task_vars)
            item = without(secrets, item_of(task_vars)) if self._task.loop is not None else ""
            task = Task(
                shown,
                check=check,
                say=lambda line: self._say(progress(without(secrets, renamed(line, self._names)), host, item)),
                trace=lambda line: self._trace(without(secrets, f"{name}: {line}")),
                environment=environment,
            )
            said = carry_out(module.converge, task, name, spec)
        said = dict(sentences_renamed(said, self._names))
        if not self._task.diff:
            said.pop("diff", None)
        said["invocation"] = {"module_args": spec.masked(shown)}
        return dict(without(secrets, said))

    def _say(self, line: str) -> None:
        if not self._task.no_log:
            display.display(line)

    @cached_property
    def _names(self) -> dict[str, str]:
        """The variables of the role that this task is in, by option."""
        return variables(self._task, self._loader.load_from_file)

    def _trace(self, line: str) -> None:
        if not self._task.no_log:
            display.vvv(line)

    def _task_environment(self) -> dict[str, str]:
        """The `environment` of task, block and play: core applies it to modules only."""
        layers = self._task.environment
        merged: dict[str, str] = {}
        for layer in layers if isinstance(layers, list) else [layers]:
            values = self._templar.template(layer) if layer else {}
            if isinstance(values, Mapping):
                merged.update({str(key): str(value) for key, value in values.items()})
        return merged


def _invocation_is_wanted(task_vars: Mapping[str, Any]) -> bool:
    try:
        return bool(constants.config.get_config_value("INJECT_INVOCATION", variables=task_vars))
    except AnsibleError:
        return True  # Before ansible-core 2.21 it was not a question.


def _with_fallbacks(spec: Spec, args: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Options that were not given, from the environment of the task: core would look into the controller's only."""
    for name, option in spec.argument_spec.items():
        _how, variables = option.get("fallback", (None, ()))
        # An empty one is what a survey or a template makes of none.
        if args.get(name) in (None, ""):
            found = next((environment[variable] for variable in variables if environment.get(variable)), None)
            if found is not None:
                args[name] = found
    return args


def _wrong_input(name: str, checked: Any) -> dict[str, Any]:
    failure = invalid(f"metalshift.maas.{name}: {what_is_wrong(checked.errors)}.")
    return {"changed": False, "failed": True, "msg": str(failure), "failure": failure.to_dict()}


def _plain(value: Any) -> Any:
    """Plain JSON types: templates leave tagged and lazy ones behind, which neither HTTP nor JSON libraries know."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(inner) for inner in value]
    try:
        return str(value)
    except AnsibleError as error:
        raise AnsibleError("An option holds a vaulted value that cannot be decrypted.") from error
