# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documentation as HTML: the modules' own, and the guides in docs/docsite."""

from __future__ import annotations

import shutil
from pathlib import Path

import trees
from environments import Environment
from parts import check
from paths import CLONE, ROOT

SETTINGS = {
    "project": "metalshift.maas",
    "copyright": "The metalshift.maas authors",
    "extensions": "sphinx_antsibull_ext",
    "html_theme": "sphinx_ansible_theme",
    "highlight_language": "YAML+Jinja",
    "default_role": "any",
    "html_show_sphinx": "0",
    "html_copy_source": "0",
}


def build(environment: Environment) -> Path:
    base = trees.staged("docs-build", environment)
    sources, output = CLONE / "docs", ROOT / "docs" / "build"
    shutil.rmtree(sources, ignore_errors=True)
    sources.mkdir(parents=True)
    # antsibull-docs refuses a folder that others may write to
    sources.chmod(0o755)
    variables = environment.variables(ANSIBLE_COLLECTIONS_PATH=base)
    what = ["--use-current", "--squash-hierarchy", "--fail-on-error", "--dest-dir", str(sources), "metalshift.maas"]
    check(environment.command("antsibull-docs", "collection", *what), base, variables)
    settings = [argument for name, value in SETTINGS.items() for argument in ("-D", f"{name}={value}")]
    check(environment.command("sphinx-build", "-b", "html", "-C", "-q", *settings, sources, output), sources, variables)
    return output / "index.html"
