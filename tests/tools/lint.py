# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What reads the code, the documentation and the package without running them. All of it runs, whatever fails."""

from __future__ import annotations

import sys
from pathlib import Path

import nox
import trees
from trees import LAB, NAME, ROOT, STATE, Environment

PLUGINS = "ansible_collections.metalshift.maas.plugins"
IMPORTER = """\
[galaxy-importer]
CHECK_REQUIRED_TAGS = True
RUN_ANSIBLE_DOC = True
RUN_ANSIBLE_LINT = False
RUN_ANSIBLE_TEST = False
RUN_FLAKE8 = False
TMP_ROOT_DIR = {temporary}
"""
# Names that nothing here reads, but Ansible, Python or a library does; they are no list of what is forgiven.
READ_BY_OTHERS = (
    *("DOCUMENTATION", "EXAMPLES", "RETURN", "ActionModule", "FilterModule", "InventoryModule", "LookupModule"),
    *("no_log_values", "readable", "default_port", "auth"),
    *("api_key_prefix", "refresh_api_key_hook", "proxy_headers", "retries"),
    # A part of what a filter returns.
    "bridge_file",
)
LINTERS = {
    "ruff check": ("ruff", "check", "--quiet", "."),
    "ruff format": ("ruff", "format", "--check", "--diff", "--quiet", "."),
    "mypy": ("mypy", "-p", f"{PLUGINS}.module_utils", "-p", f"{PLUGINS}.plugin_utils", "-p", "metalshift_lab"),
    "mypy of the lab": ("mypy", "lab/tests"),
    "mypy of tools": ("mypy", "--python-executable", sys.executable, "noxfile.py", "tests/tools"),
    "vulture": (
        *("vulture", "plugins", "tests/tools/generated.py", "--exclude", "*/doc_fragments/*"),
        *("--ignore-names", ",".join(READ_BY_OTHERS)),
    ),
    "generated files": ("python", "tests/tools/generated.py", "--check"),
    "yamllint": ("yamllint", "--strict", "."),
    "antsibull-changelog": ("antsibull-changelog", "lint"),
    "reuse": ("reuse", "lint", "--quiet"),
    "antsibull-docs": (
        *("antsibull-docs", "lint-collection-docs", "--plugin-docs", "--validate-collection-refs", "dependent"),
        *("--disallow-unknown-collection-refs", "."),
    ),
    "ansible-lint": ("ansible-lint", "--offline", "--profile", "production", "--strict", "--nocolor", "-q"),
    "galaxy-importer": ("python", "-m", "galaxy_importer.main"),
}
# They crawl, and want nothing but what git knows.
IN_COPY = ("antsibull-changelog", "reuse", "antsibull-docs", "ansible-lint")


def run(session: nox.Session, environment: Environment, names: list[str]) -> None:
    base, copy = trees.linked(environment), trees.staged("lint", environment)
    failed = []
    for name, command in LINTERS.items():
        if names and name not in names:
            continue
        tree = copy if name in IN_COPY else base
        variables: dict[str, str | Path] = {
            "ANSIBLE_COLLECTIONS_PATH": tree,
            "MYPYPATH": f"{base}:{LAB}:{ROOT / 'lab/tests'}:{ROOT / 'tests/tools'}",
            "PYTHONPATH": f"{base}:{ROOT / 'tests'}:{LAB}",
        }
        more: list[Path] = []
        where = copy / NAME if tree is copy else ROOT
        if name == "galaxy-importer":
            settings = STATE / "galaxy-importer.cfg"
            settings.write_text(IMPORTER.format(temporary=STATE))
            variables["GALAXY_IMPORTER_CONFIG"] = settings
            more = [trees.tarball(environment)]
            # It writes its result where it runs.
            where = STATE
        session.chdir(where)
        try:
            session.run(
                *environment.command(*command, *more),
                env=environment.variables(**variables),
                include_outer_env=False,
                external=True,
                # shown if it fails
                silent=True,
            )
        except nox.command.CommandFailed:
            failed.append(name)
    if failed:
        session.error(f"not clean: {', '.join(failed)}; nox -s lint -- '{failed[0]}' repeats it")
