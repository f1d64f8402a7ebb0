# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module says in a role is said in the role's variables."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.plugin_utils._variables import renamed, sentences_renamed, variables

NAMES = {
    "force": "hosted_openshift_force",
    "wait_timeout": "hosted_openshift_wait_timeout",
    "release": "hosted_openshift_release",
    "name": "hosted_openshift_name",
    "take_over": "hosted_openshift_take_over",
    "dest": "hosted_openshift_kubeconfig",
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Or set force: true.", "Or set hosted_openshift_force: true."),
        ("Scale it up; force: true removes it.", "Scale it up; hosted_openshift_force: true removes it."),
        ("Give it a larger wait_timeout.", "Give it a larger hosted_openshift_wait_timeout."),
        ("Correct release, or wait.", "Correct hosted_openshift_release, or wait."),
        ("Set take_over: [spec.replicas].", "Set hosted_openshift_take_over: [spec.replicas]."),
        # These speak of things.
        ("the force of gravity, by force", None),
        ("clusters/demo: release: it is being rolled out", None),
        ("The name of the release is wrong.", None),
        ("node_drain_wait_timeout, wait_timeouts and spec.wait_timeout", None),
        ("metadata.name: true", None),
        ("hosted_openshift_force: true", None),
        ("key force-upgrade: true and enforce: true", None),
    ],
)
def test_options_are_said_as_variables_and_words_stay(text: str, said: str | None) -> None:
    assert renamed(text, NAMES) == (said or text)
    assert renamed(renamed(text, NAMES), NAMES) == (said or text)


def test_sentences_of_a_result_are_said_so_and_its_data_stay() -> None:
    said = {
        "msg": "Set force: true.",
        "failure": {"hint": "Set force: true.", "object": "force: true"},
        "warnings": ["Set force: true."],
        "machines": [{"name": "force: true", "failure": {"reason": "Set force: true."}}],
    }
    new = "Set hosted_openshift_force: true."
    assert sentences_renamed(said, NAMES) == {
        "msg": new,
        "failure": {"hint": new, "object": "force: true"},
        "warnings": [new],
        "machines": [{"name": "force: true", "failure": {"reason": new}}],
    }


def a_task(folder: Path, **written: Any) -> SimpleNamespace:
    names = ("demo_role_force", "demo_role_kubeconfig", "demo_role_merge", "demo_role_wait_timeout")
    specs = {"argument_specs": {"main": {"options": {name: {"type": "str"} for name in names}}}}
    (folder / "meta").mkdir(exist_ok=True)
    (folder / "meta/argument_specs.yml").write_text(yaml.safe_dump(specs))
    role = SimpleNamespace(get_name=lambda: "my.collection.demo_role", _role_path=str(folder))
    module = {"name": "Do it", "metalshift.maas.hosted_cluster": written}
    return SimpleNamespace(_role=role, action="metalshift.maas.hosted_cluster", get_ds=lambda: module)


def load(path: str) -> Any:
    return yaml.safe_load(Path(path).read_text())


def test_a_variable_is_that_of_the_roles_specs_or_what_the_task_is_written_with(tmp_path: Path) -> None:
    task = a_task(
        tmp_path,
        dest="{{ demo_role_kubeconfig }}",
        wait_sleep="{{ demo_role_wait_timeout | default(omit) }}",
        name="{{ demo_role__private }}",
        merge="{{ item }}",
        namespace="{{ demo_role_force }}-{{ demo_role_merge }}",
        erase=True,
    )
    assert variables(task, load) == {
        "force": "demo_role_force",
        "merge": "demo_role_merge",
        "kubeconfig": "demo_role_kubeconfig",
        "wait_timeout": "demo_role_wait_timeout",
        "dest": "demo_role_kubeconfig",
        "wait_sleep": "demo_role_wait_timeout",
    }


def test_a_task_of_a_users_own_speaks_of_options(tmp_path: Path) -> None:
    task = a_task(tmp_path, force="{{ demo_role_force }}")
    task._role = None
    assert variables(task, load) == {}
    task = a_task(tmp_path)
    (tmp_path / "meta/argument_specs.yml").unlink()
    assert variables(task, load) == {}
