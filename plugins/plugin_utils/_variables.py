# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module says, in the names that the user wrote: in a role these are its variables, not the module's options.

This plugin util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError

# A variable, as it is or with a default, and nothing else.
VARIABLE = re.compile(r"\{\{-?\s*([a-z]\w*)\s*(\|\s*(bool|int|string|default\([^()|]*\))\s*)*-?\}\}")
# Of a result, what are sentences.
SENTENCES = frozenset({"msg", "hint", "reason", "warnings", "next_step", "page"})


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with variables in the place of options, wherever it speaks of an option and not of a thing."""
    for option, variable in names.items():
        text = _pattern(option).sub(variable, text)
    return text


def sentences_renamed(said: Any, names: Mapping[str, str], spoken: bool = False) -> Any:
    """A result with its sentences so."""
    if isinstance(said, Mapping):
        return {key: sentences_renamed(value, names, key in SENTENCES) for key, value in said.items()}
    if isinstance(said, list):
        return [sentences_renamed(value, names, spoken) for value in said]
    return renamed(said, names) if spoken and isinstance(said, str) else said


def _pattern(option: str) -> re.Pattern[str]:
    """A name with an underscore is no English word. Another one is an option before a value, or after its verb."""
    begins, ends = r"(?<![\w./:-])", r"(?![\w/-])(?!\.\w)"
    if "_" in option:
        return re.compile(f"{begins}{option}{ends}")
    value = r"(?=: (?:true|false|absent|present|\d|\[|[\"']))"
    return re.compile(rf"{begins}{option}{value}|(?<=\b[Ss]et ){option}{ends}|(?<=\b[Cc]orrect ){option}{ends}")


def variables(task: Any, load: Callable[[str], Any]) -> dict[str, str]:
    """By option, the variable of the role that a task belongs to; empty for a task of a user's own.

    All of the role's: one module also says what another one does, as a diagnosis what a removal needs.
    """
    role = getattr(task, "_role", None)
    if role is None:
        return {}
    prefix = f"{role.get_name().rpartition('.')[2]}_"
    known = _argument_names(Path(str(role._role_path)) / "meta/argument_specs.yml", load)
    given = {name[len(prefix) :]: name for name in known if name.startswith(prefix)}
    for name, value in _written(task).items():
        found = VARIABLE.fullmatch(value.strip()) if isinstance(value, str) else None
        if found and found[1] in known:
            given[str(name)] = found[1]
    return given


def _argument_names(path: Path, load: Callable[[str], Any]) -> frozenset[str]:
    if not path.exists():
        return frozenset()
    try:
        specs = (load(str(path)) or {}).get("argument_specs") or {}
    except AnsibleError:
        return frozenset()
    return frozenset(str(name) for entry in specs.values() for name in entry.get("options") or ())


def _written(task: Any) -> Mapping[str, Any]:
    """The options of a task as they are written, before they are templated."""
    name = task.action.rpartition(".")[2]
    written = task.get_ds() or {}
    options = next((value for key, value in written.items() if str(key).rpartition(".")[2] == name), None)
    return options if isinstance(options, Mapping) else {}
