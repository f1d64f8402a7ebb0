# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading manifests from files.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

MISSING: ImportError | None = None
try:
    import yaml
except ImportError as missing:
    MISSING = missing


def read(path: str | None) -> list[Any]:
    """The documents of a file; none without a file."""
    if not path:
        return []
    if MISSING:
        raise missing_library(MISSING, "PyYAML")
    # libyaml, where it is: without it a manifest of a megabyte takes ten seconds.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return list(yaml.load_all(Path(path).read_bytes(), Loader=loader))
    except OSError as error:
        raise invalid(f"The manifest {path} cannot be read: {error.strerror}.") from None
    except yaml.YAMLError as error:
        raise invalid(f"The manifest {path} is no YAML: {_place(error)}.") from None


def _place(error: yaml.YAMLError) -> str:
    """Where it stops being YAML. The text there is not shown: manifests hold Secrets."""
    mark = getattr(error, "problem_mark", None)
    return f"{getattr(error, 'problem', '')} in line {mark.line + 1}" if mark else "it cannot be parsed"
