# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Go spells what the provider says."""

from __future__ import annotations

import re
from urllib.parse import quote_plus

_VERB = re.compile(
    r"""
    %[#0+\-\ ]*
    (?P<index>\[[^\]]*\])?
    (?P<width>\*|\d+)?
    (?:\.(?P<precision>\*|\d*))?
    (?P<again>\[[^\]]*\])?
    (?P<verb>.?)
    """,
    re.VERBOSE | re.DOTALL,
)


def go_format(text: str) -> str:
    """What fmt.Sprintf makes of a text that is given as the format, without arguments.

    The provider does so with the texts of errors, so that an address in one loses its percent signs.
    """
    return _VERB.sub(_without_argument, text)


def _without_argument(found: re.Match[str]) -> str:
    verb = found["verb"]
    bad = ("%!(BADWIDTH)" if found["width"] == "*" else "") + ("%!(BADPREC)" if found["precision"] == "*" else "")
    if not verb:
        return f"{bad}%!(NOVERB)"
    if verb == "%":
        return f"{bad}%"
    return f"{bad}%!{verb}({'BADINDEX' if found['index'] or found['again'] else 'MISSING'})"


def quoted(text: str) -> str:
    """Go's %q, for texts without control characters."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def listed(words: list[str]) -> str:
    """Go's %v of a list."""
    return f"[{' '.join(words)}]"


def escaped(text: str) -> str:
    """Go's url.QueryEscape."""
    return quote_plus(text, safe="~")
