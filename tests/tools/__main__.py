# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Makefile's targets do. `sh tests/tools/python.sh COMMAND` runs this with the newest suitable Python."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from itertools import zip_longest

import docs
import foreground
import generated
import lint
import locks
import programs
import remembered
import sanity
import trees
from console import CannotGoOn, heading, say
from environments import Environment, environment
from parts import Failed, NotRun, Part, Result, check, record, run_all
from paths import CACHE, CLONE, ROOT
from pythons import CORES, Core, Python, cells, found, main_core

PYTHONS = found()
MAIN = PYTHONS[0]
# The pure ones first, the heavy ones last.
SUITES = {
    "unit": ("tests/unit",),
    "integration": ("tests/integration",),
    "simulation": remembered.SUITES["simulation"],
    "conformance": remembered.SUITES["conformance"],
    "crash": ("tests/chaos",),
    "lxd": remembered.SUITES["lxd"],
    "labs": remembered.SUITES["labs"],
    "hosted": remembered.SUITES["hosted"],
}
IN_EVERY_CELL = ("unit", "integration")
MORE = "make cores runs more"
AT_ONCE = "2"
# With these words tests/demo/run.py says that there are no programs for its third act.
LEFT_OUT = "It is left out, because"
# Tests on programs that keep their own time; a file of them that fails gets a second chance, and it is said.
IN_REAL_TIME = ("tests/lab/kube/", "tests/lab/lxd/", "tests/hosted/", "tests/lxd/")
MOST_ONCE_MORE = 5
# What `make test` leaves to other targets, and names at its end.
NOT_HERE = "not thorough and not exhaustive"
TESTS_FAILED = 1
RECORD = CLONE / "parts.json"
OUTCOMES = CLONE / "outcomes.json"
MADE = ("docs/build", "tests/output", "tests/.pytest_cache", ".cache", ".hypothesis", ".mypy_cache", ".ruff_cache")


def main_environment() -> Environment:
    return environment("main", MAIN)


def cell(core: Core, python: Python | None) -> Environment:
    """The environment with another ansible-core, if there is a Python for it."""
    if python is None:
        raise NotRun(f"needs {core.needs}; found {', '.join(each.version for each in PYTHONS)}")
    return environment(f"core-{core.version}", python)


# pytest


def pytest_command(env: Environment, *arguments: str) -> tuple[list[str], dict[str, str]]:
    base = trees.linked(env)
    variables = env.variables(
        PYTHONPATH=f"{base}:{ROOT / 'tests'}",
        ANSIBLE_COLLECTIONS_PATH=base,
        METALSHIFT_PARTS=RECORD,
    )
    return env.command("python", "-m", "pytest", *arguments), variables


def run_suite(suite: str, *arguments: str) -> int:
    """Run one suite as the developer wants it."""
    command, variables = pytest_command(main_environment(), *SUITES[suite], *arguments)
    return foreground.run(command, ROOT, variables)


def run_all_suites(results: list[Result]) -> int:
    """Run the sum of them all, with the account of what came before; tests/tools/conftest.py shares it out."""
    env = main_environment()
    known = remembered.passed(env)
    thorough = Result("tests: thorough", "not run", remark="they take minutes each; make labs and make hosted run them")
    results = [*results, thorough]
    record([*results, *known], RECORD)
    left_out = {result.name for result in known}
    folders = [folder for suite, folders in SUITES.items() if f"tests: {suite}" not in left_out for folder in folders]
    at_once = ("-n", AT_ONCE, "--no-loadscope-reorder", "-m", NOT_HERE)
    # The heavy ones come last: tests/lab/fixtures.py sorts them.
    OUTCOMES.unlink(missing_ok=True)
    status = _suites(results, "tests/tools", *folders, *at_once)
    remembered.remember(OUTCOMES, env)
    shaken = _files_of_what_failed() if status == TESTS_FAILED else []
    if not shaken:
        return status
    say(f"\nOnce more, alone: {', '.join(shaken)}\n")
    remark = f"failed beside other tests, and run once more alone, as below: {', '.join(shaken)}"
    record([*results, *known, Result("tests: in real time", "unsteady", remark=remark)], RECORD)
    return _suites(results, "tests/tools/test_parts.py", *shaken, "-m", NOT_HERE)


def _suites(results: list[Result], *arguments: str) -> int:
    command, variables = pytest_command(main_environment(), *arguments)
    more = programs.missing(results) | {"METALSHIFT_OUTCOMES": str(OUTCOMES)}
    return foreground.run(command, ROOT, variables | more)


def _files_of_what_failed() -> list[str]:
    """If all that failed is up to programs that run in real time, and beside others: a busy machine delays them."""
    failed = json.loads(OUTCOMES.read_text())["failed"] if OUTCOMES.exists() else []
    files = list(dict.fromkeys(f"tests/{name.partition('::')[0]}" for name in failed))
    in_real_time = all(file.startswith(IN_REAL_TIME) for file in files)
    return files if in_real_time and len(files) <= MOST_ONCE_MORE else []


def cell_tests(core: Core, python: Python | None, whole: bool) -> str:
    """Templates changed between the oldest core and the main one: what is about them runs on these two."""
    suites: tuple[str, ...] = IN_EVERY_CELL
    narrower: tuple[str, ...] = ()
    remark = ""
    if not whole and core == main_core(MAIN):
        suites, remark = ("unit",), f"; unit alone, {MORE}"
    elif not whole and core != CORES[-1]:
        narrower, remark = ("-m", "not playbooks"), f"; without whole playbooks, {MORE}"
    folders = [folder for suite in suites for folder in SUITES[suite]]
    command, variables = pytest_command(
        cell(core, python), *folders, "-q", "-n", AT_ONCE, "-p", "no:cacheprovider", *narrower
    )
    summary = check(command, ROOT, variables, lambda output: output.strip().splitlines()[-1])
    return f"Python {python.version if python else ''}: {summary}{remark}"


def cell_sanity(core: Core, python: Python | None, again: bool) -> str:
    return sanity.part(cell(core, python), core, PYTHONS, again, whole=False).work()


def package() -> str:
    """The tarball installs without a server beside the oldest kubernetes.core allowed; Ansible finds its modules."""
    env = main_environment()
    base = trees.installed(env)
    modules = sorted({f"metalshift.maas.{name}" for names in generated.action_groups().values() for name in names})
    variables = env.variables(ANSIBLE_COLLECTIONS_PATH=base)
    check(env.command("ansible-doc", "-t", "module", *modules), base, variables)
    return f"{len(modules)} modules"


def demo() -> str:
    """The demo's playbook under ansible-runner, with the installed collection: as AWX would run it."""
    command, variables = scripted("tests/demo/run.py")
    said = check(command, ROOT, variables, str)
    left_out = "All of it took" not in said or LEFT_OUT in said
    acts = "machines and virtual machines alone" if left_out else "machines, virtual machines and a hosted cluster"
    return f"{acts}; under ansible-runner, from a private data directory"


# Commands


def run_parts(title: str, parts: list[Part], at_once: int = 1) -> list[Result]:
    heading(title)
    return run_all(parts, at_once)


def exit_status(results: list[Result]) -> int:
    return int(any(result.outcome == "failed" for result in results))


def command_lint() -> int:
    return exit_status(run_parts("Lint", lint.parts(main_environment()), at_once=2))


def sanity_parts(again: bool) -> list[Part]:
    """The main core's in the main environment, the others' in their cells; the slowest of two at a time first."""
    main = main_core(MAIN)
    others = [
        Part(f"sanity: ansible-core {core.version}", partial(cell_sanity, core, python, again))
        for core, python in cells(PYTHONS)
        if core != main
    ]
    return [sanity.part(main_environment(), main, PYTHONS, again, whole=True), *others]


def cell_parts(whole: bool) -> list[Part]:
    return [
        Part(f"tests: ansible-core {core.version}", partial(cell_tests, core, python, whole))
        for core, python in cells(PYTHONS)
    ]


def command_sanity() -> int:
    return exit_status(run_parts("Sanity", sanity_parts(again=True), at_once=2))


def command_cores() -> int:
    return exit_status(run_parts("Other versions of ansible-core", cell_parts(whole=True)))


def command_test() -> int:
    env = main_environment()
    results = run_parts("Lint", lint.parts(env), at_once=2)
    results += run_parts("Programs of the lab", [programs.part(env), programs.lxd_part(env)])
    results += run_parts("Package", [Part("package: build and install", package)])
    # A cell waits for its playbooks now and then, and the demo for its lab; what runs beside them fills that.
    mixed = [part for pair in zip_longest(sanity_parts(again=False), cell_parts(whole=False)) for part in pair if part]
    demonstration = Part("package: the demo", demo)
    results += run_parts("Demo, sanity, and other versions of ansible-core", [demonstration, *mixed], at_once=2)
    say()
    return run_all_suites(results) or exit_status(results)


def with_programs(paths: tuple[str, ...], *arguments: str) -> int:
    """Tests that need the lab's programs."""
    env = main_environment()
    lxd = [programs.lxd_part(env)] if paths == SUITES["labs"] else []
    results = run_parts("Programs of the lab", [programs.part(env), *lxd])
    say()
    command, variables = pytest_command(main_environment(), *paths, *arguments)
    return foreground.run(command, ROOT, variables | programs.missing(results)) or exit_status(results)


def command_molecule(*arguments: str) -> int:
    """The roles' scenarios, each on a lab of its own."""
    env = main_environment()
    results = run_parts("Programs of the lab", [programs.part(env), programs.lxd_part(env)])
    if exit_status(results):
        return 1
    base = trees.linked(env)
    command = env.command("molecule", "test", *(arguments or ("--all",)))
    return foreground.run(command, base / trees.NAME, env.variables(ANSIBLE_COLLECTIONS_PATH=base))


def command_build() -> int:
    built = trees.tarball(main_environment())
    target = ROOT / built.name
    shutil.copy2(built, target)
    say(f"{target.name}: install it with  ansible-galaxy collection install {target.name}")
    return 0


def command_bench() -> int:
    """Beside a module of community.general, which comes from where kubernetes.core does."""
    command, variables = scripted("tests/bench/run.py")
    general = trees.bundled(main_environment(), "community.general")
    return foreground.run(command, ROOT, variables | {"METALSHIFT_COMMUNITY_GENERAL": str(general)})


def scripted(path: str) -> tuple[list[str], dict[str, str]]:
    """A script of the tests, and the environment in which it finds the collection as users get it."""
    env = main_environment()
    base = trees.installed(env)
    variables = env.variables(ANSIBLE_COLLECTIONS_PATH=base, PYTHONPATH=f"{base}:{ROOT / 'tests'}")
    return env.command("python", ROOT / path), variables


def script(path: str) -> int:
    command, variables = scripted(path)
    return foreground.run(command, ROOT, variables)


def command_simulator(*arguments: str) -> int:
    """Needs no environment: the simulator is made of Python's standard library."""
    os.environ["PYTHONPATH"] = str(ROOT / "tests")
    os.execv(sys.executable, [sys.executable, "-B", "-m", "lab.simulator", *arguments])


def command_lab(verb: str, *arguments: str) -> int:
    """It outlives this command. One that is to end needs no environment, which may have gone."""
    if verb == "stop":
        os.environ["PYTHONPATH"] = str(ROOT / "tests")
        os.execv(sys.executable, [sys.executable, "-B", "-m", "lab", verb, *arguments])
    env = main_environment()
    variables = env.variables(PYTHONPATH=ROOT / "tests")
    return foreground.run(env.command("python", "-m", "lab", verb, *arguments), ROOT, variables)


def command_docs() -> int:
    say(f"Documentation: {docs.build(main_environment())}")
    return 0


def command_locks() -> int:
    locks.write()
    return 0


def command_clean() -> int:
    for path in (CLONE, *(ROOT / name for name in MADE), *ROOT.glob("*.tar.gz")):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return 0


def command_purge() -> int:
    """The labs first: what they run is in the folder that is removed."""
    lab = [sys.executable, "-B", "-m", "lab", "stop", "--all"]
    status = foreground.run(lab, ROOT, {**os.environ, "PYTHONPATH": str(ROOT / "tests")})
    if status:
        return status
    command_clean()
    built = (CACHE / "programs").exists()
    shutil.rmtree(CACHE, ignore_errors=True)
    if built and shutil.which("go"):
        say("Left: what your Go fetched and compiled for the lab's programs. go clean -cache -modcache frees that.")
    return 0


def command_generate() -> int:
    generated.generate(main_environment())
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "test": command_test,
    "lint": command_lint,
    "sanity": command_sanity,
    "cores": command_cores,
    **{suite: partial(run_suite, suite) for suite in SUITES},
    "hosted": partial(with_programs, SUITES["hosted"], "-m", "not exhaustive"),
    "test-crash": partial(with_programs, (*SUITES["crash"], "tests/hosted/test_killed.py")),
    "molecule": command_molecule,
    "labs": partial(with_programs, SUITES["labs"]),
    "lab": command_lab,
    "build": command_build,
    "demo": lambda: script("tests/demo/run.py"),
    "bench": command_bench,
    "simulator": command_simulator,
    "docs": command_docs,
    "generate": command_generate,
    "locks": command_locks,
    "clean": command_clean,
    "purge": command_purge,
}


def main() -> int:
    name, *arguments = sys.argv[1:] or [""]
    if name not in COMMANDS:
        raise CannotGoOn(f"no command {name!r}; there are {', '.join(COMMANDS)}")
    return COMMANDS[name](*arguments)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (CannotGoOn, Failed) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
