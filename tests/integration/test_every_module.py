# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every module in plugins/modules, those of tomorrow included."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from integration.cases import (
    ACTS,
    LIVES,
    NEAR_KUBERNETES,
    READERS,
    WRONG,
    WRONG_EVERYWHERE,
    WRONG_NEAR_KUBERNETES,
    Act,
    Args,
    Case,
    Wrong,
    nothing,
)
from integration.harness import MODULES, ROOT, run_task
from metalshift_lab.simulator import Simulator

EVERYTHING = [*(case.module for case in LIVES), *READERS, *(act.module for act in ACTS)]


def _module(name: str):  # type: ignore[no-untyped-def]
    return importlib.import_module(f"ansible_collections.metalshift.maas.plugins.modules.{name}")


# What talks to Kubernetes as well lives its life in tests/hosted, against a real API.
KUBERNETES = [module for module in MODULES if _module(module).SPEC.kube]
# What talks to LXD alone lives it in tests/lxd, against a real one.
LXD = [module for module in MODULES if _module(module).SPEC.lxd and not _module(module).SPEC.maas]
# What judges what others have read, and asks nobody.
JUDGING = [each for each in MODULES if not any(getattr(_module(each).SPEC, api) for api in ("maas", "kube", "lxd"))]
MAAS = [module for module in MODULES if module not in (*KUBERNETES, *LXD, *JUDGING)]
GROUPS = ("maas", "k8s", "lxd")


@pytest.mark.parametrize("module", [*MAAS, *JUDGING])
def test_a_module_has_a_life_or_reads(module: str) -> None:
    assert module in EVERYTHING, f"Put {module} into LIVES, READERS or ACTS of tests/integration/cases.py."
    assert module in {wrong.module for wrong in WRONG}, f"Put what is wrong for {module} into WRONG."


@pytest.mark.parametrize("module", KUBERNETES)
def test_a_module_of_kubernetes_is_tested_against_one(module: str) -> None:
    assert module in NEAR_KUBERNETES, f"Put {module} into NEAR_KUBERNETES of tests/integration/cases.py."
    # Tests run it there, or play a role that does.
    files = [*(ROOT / "tests" / "hosted").glob("*.py"), *(ROOT / "roles").glob("*/tasks/*.yml")]
    assert any(re.search(rf'"{module}"|metalshift\.maas\.{module}\b', file.read_text()) for file in files)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_action_its_group_and_its_fragments(module: str) -> None:
    action = ROOT / "plugins" / "action" / f"{module}.py"
    groups = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["action_groups"]
    documentation = yaml.safe_load(_module(module).DOCUMENTATION)
    assert not action.is_symlink(), "antsibull-docs would take the module for another one"
    assert action.read_text() == action.with_name("zone.py").read_text()
    assert documentation["module"] == module
    assert documentation["version_added"]
    fragments = set(documentation["extends_documentation_fragment"])
    if module in LXD:
        assert module in groups["lxd"]
        assert {"metalshift.maas.attributes.actiongroup_lxd", "metalshift.maas.lxd"} <= fragments
    elif module in KUBERNETES:
        assert module in groups["k8s"]
        assert "metalshift.maas.kubernetes" in fragments
        assert (module in groups["maas"]) == ("metalshift.maas.maas" in fragments)
    elif module in JUDGING:
        assert not any(module in groups[group] for group in GROUPS)
        assert fragments == {"metalshift.maas.attributes.info"}
    else:
        both = "_lxd" if _module(module).SPEC.lxd else ""
        assert module in groups["maas"]
        assert (module in groups["lxd"]) == ("metalshift.maas.lxd" in fragments) == bool(both)
        assert {f"metalshift.maas.attributes.actiongroup_maas{both}", "metalshift.maas.maas"} <= fragments


def test_the_documentation_tells_the_action_group_and_each_note_once() -> None:
    """A fragment that is called like another file's variable would silently take its place."""
    program = Path(sys.executable).with_name("ansible-doc")
    names = [f"metalshift.maas.{module}" for module in MODULES]
    done = subprocess.run([program, "--json", "--type=module", *names], capture_output=True, text=True, check=True)
    documented = {name: entry["doc"] for name, entry in json.loads(done.stdout).items()}
    assert sorted(documented) == sorted(names)
    for documentation in documented.values():
        groups = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["action_groups"]
        member = [f"metalshift.maas.{group}" for group in GROUPS if documentation["module"] in groups[group]]
        assert documentation["attributes"].get("action_group", {}).get("membership", []) == member
        notes = documentation.get("notes", [])
        assert len(notes) == len(set(notes))


@pytest.mark.parametrize("module", MODULES)
def test_documented_examples_run_against_the_spec(module: str) -> None:
    """Every option of an example exists, and every example names the module by its full name."""
    loaded = _module(module)
    examples = [task for task in yaml.safe_load(loaded.EXAMPLES) if f"metalshift.maas.{module}" in task]
    assert examples
    for task in examples:
        unknown = set(task[f"metalshift.maas.{module}"] or {}) - set(loaded.SPEC.argument_spec)
        assert not unknown, task.get("name")


# -- check mode ------------------------------------------------------------------------------------


def runs() -> Iterator[tuple[str, Case | None, str, Args]]:
    for case in LIVES:
        for step in ("create", "change", "delete"):
            yield f"{case}-{step}", case, case.module, getattr(case, step)
    for module, several in READERS.items():
        for number, args in enumerate(several):
            yield f"{module}-{number}", None, module, args


@pytest.mark.parametrize(("case", "module", "args"), [pytest.param(*run[1:], id=run[0]) for run in runs()])
@pytest.mark.parametrize("made", [False, True], ids=["on nothing", "on what is there"])
def test_check_mode_only_reads(sim: Simulator, case: Case | None, module: str, args: Args, made: bool) -> None:
    if case:
        case.arrange(sim)
        if made:
            run_task(sim, module, case.create)
    sim.requests.clear()
    outcome = run_task(sim, module, args, check=True)
    assert not outcome.failed, outcome.msg
    assert {request.method for request in sim.requests} <= {"GET"}


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.module)
def test_an_act_in_check_mode_only_reads_and_says_that_it_would_change_something(sim: Simulator, act: Act) -> None:
    act.arrange(sim)
    sim.requests.clear()
    outcome = run_task(sim, act.module, act.args, check=True)
    assert outcome.changed, outcome.msg
    assert outcome["diff"]
    assert {request.method for request in sim.requests} <= {"GET"}


@pytest.mark.parametrize("case", LIVES, ids=str)
def test_fail_on_change_fails_where_something_would_change_and_changes_nothing(sim: Simulator, case: Case) -> None:
    case.arrange(sim)
    sim.requests.clear()
    outcome = run_task(sim, case.module, {**case.create, "fail_on_change": True})
    assert (outcome.failed, outcome.changed, outcome["failure"]["kind"]) == (True, False, "drift")
    assert outcome["plan"]
    assert sim.requests.writes() == []
    run_task(sim, case.module, case.create)
    again = run_task(sim, case.module, {**case.create, "fail_on_change": True})
    assert (again.failed, again.changed, again["plan"]) == (False, False, [])


@pytest.mark.parametrize("module", MODULES)
def test_a_module_that_writes_says_so_in_its_documentation(module: str) -> None:
    loaded = _module(module)
    fragments = yaml.safe_load(loaded.DOCUMENTATION)["extends_documentation_fragment"]
    writes = "fail_on_change" in loaded.SPEC.argument_spec
    assert writes == ("metalshift.maas.plan" in fragments) == ("plan" in yaml.safe_load(loaded.RETURN))


# -- wrong input -----------------------------------------------------------------------------------


def wrong_inputs() -> Iterator[Wrong]:
    yield from WRONG
    for module in KUBERNETES:
        for wrong in WRONG_NEAR_KUBERNETES:
            args = {**NEAR_KUBERNETES.get(module, {}), **wrong.args}
            yield Wrong(module, args, wrong.says, kind=wrong.kind, connect=_module(module).SPEC.maas)
    for module in MAAS:
        every = [*((case.module, case.create) for case in LIVES), *((act.module, act.args) for act in ACTS)]
        good = dict(reversed(every)).get(module) or READERS.get(module, [{}])[0]
        for wrong in WRONG_EVERYWHERE:
            yield Wrong(module, {**good, **wrong.args}, wrong.says, kind=wrong.kind, connect=wrong.connect)


@pytest.mark.parametrize("wrong", list(wrong_inputs()), ids=lambda wrong: f"{wrong.module}-{wrong.says[:40]}")
def test_wrong_input_is_one_sentence_and_changes_nothing(sim: Simulator, wrong: Wrong) -> None:
    wrong.arrange(sim)
    sim.requests.clear()
    outcome = run_task(sim, wrong.module, wrong.args, connect=wrong.connect)
    assert outcome.failed
    assert not outcome.changed
    assert wrong.says in outcome.msg
    assert outcome["failure"]["kind"] == wrong.kind
    assert "Traceback" not in str(outcome.result)
    assert "\n" not in outcome.msg
    assert len(outcome.msg) < 1500
    assert outcome.msg.rstrip().endswith((".", "…", "!", ")")), outcome.msg
    if wrong.kind == "invalid":
        assert sim.requests.writes() == []
    else:
        assert all(request.status >= 400 for request in sim.requests.writes())


def test_the_tables_name_modules_that_exist() -> None:
    assert {wrong.module for wrong in WRONG} | set(EVERYTHING) <= set(MODULES)
    assert all(wrong.arrange is nothing for wrong in WRONG_EVERYWHERE)
