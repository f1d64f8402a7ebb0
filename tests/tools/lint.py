# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What reads the collection without running it."""

from __future__ import annotations

import trees
from environments import Environment
from generated import differences
from parts import Failed, Part, check
from paths import CLONE, ROOT, TOOLS

TYPED_PACKAGES = ("module_utils", "plugin_utils")
IMPORTER = """\
[galaxy-importer]
CHECK_REQUIRED_TAGS = True
RUN_ANSIBLE_DOC = True
RUN_ANSIBLE_LINT = False
RUN_ANSIBLE_TEST = False
RUN_FLAKE8 = False
TMP_ROOT_DIR = {temporary}
"""


def parts(environment: Environment) -> list[Part]:
    """The longest first, so that two at a time end together."""
    return [
        Part("lint: ansible-lint", lambda: _ansible_lint(environment)),
        Part("lint: galaxy-importer", lambda: _galaxy_importer(environment)),
        Part("lint: mypy", lambda: _mypy(environment)),
        Part("lint: antsibull-docs", lambda: _antsibull_docs(environment)),
        Part("lint: reuse", lambda: _in_copy(environment, "reuse", "reuse", "lint", "--quiet")),
        Part("lint: yamllint", lambda: _in_clone(environment, "yamllint", "--strict", ".")),
        Part("lint: antsibull-changelog", lambda: _in_copy(environment, "changelog", "antsibull-changelog", "lint")),
        Part("lint: ruff check", lambda: _in_clone(environment, "ruff", "check", "--quiet", ".")),
        Part(
            "lint: ruff format", lambda: _in_clone(environment, "ruff", "format", "--check", "--diff", "--quiet", ".")
        ),
        Part("lint: generated files", lambda: _generated(environment)),
    ]


def _in_clone(environment: Environment, program: str, *arguments: str) -> str:
    return check(environment.command(program, *arguments), ROOT, environment.variables())


def _in_copy(environment: Environment, copy: str, program: str, *arguments: str) -> str:
    base = trees.staged(copy, environment)
    variables = environment.variables(ANSIBLE_COLLECTIONS_PATH=base)
    return check(environment.command(program, *arguments), base / trees.NAME, variables)


def _ansible_lint(environment: Environment) -> str:
    options = ("--offline", "--profile", "production", "--strict", "--nocolor", "-q")
    return _in_copy(environment, "ansible-lint", "ansible-lint", *options)


def _antsibull_docs(environment: Environment) -> str:
    options = (
        "--plugin-docs",
        "--validate-collection-refs",
        "dependent",
        "--disallow-unknown-collection-refs",
    )
    return _in_copy(environment, "docs", "antsibull-docs", "lint-collection-docs", *options, ".")


def _mypy(environment: Environment) -> str:
    base = trees.linked()
    plugins = base / trees.NAME / "plugins"
    packages = [
        f"ansible_collections.metalshift.maas.plugins.{name}" for name in TYPED_PACKAGES if (plugins / name).is_dir()
    ]
    arguments = [argument for package in (*packages, "lab") for argument in ("-p", package)]
    path = f"{base}:{ROOT / 'tests'}"
    first = check(environment.command("mypy", *arguments), ROOT, environment.variables(MYPYPATH=path))
    second = check(environment.command("mypy", str(TOOLS)), ROOT, environment.variables(MYPYPATH=TOOLS))
    return first or second


def _galaxy_importer(environment: Environment) -> str:
    temporary = CLONE / "galaxy-importer"
    temporary.mkdir(parents=True, exist_ok=True)
    configuration = temporary / "galaxy-importer.cfg"
    configuration.write_text(IMPORTER.format(temporary=temporary))
    command = environment.command("python", "-m", "galaxy_importer.main", trees.tarball(environment))
    return check(command, temporary, environment.variables(GALAXY_IMPORTER_CONFIG=configuration))


def _generated(environment: Environment) -> str:
    wrong = differences(environment)
    if wrong:
        raise Failed("\n".join([*wrong, "`make generate` puts it right."]))
    return ""
