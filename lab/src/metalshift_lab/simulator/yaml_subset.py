# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The little YAML that scripts carry in their head: nested mappings, lists, flow lists and mappings, scalars."""

from __future__ import annotations

import re
from typing import Any

WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False,
}  # fmt: skip
KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s:#{}\[\],][^:#{}\[\],]*?)\s*:(?:\s+|$)(.*)""")

Line = tuple[int, str]


class Mistake(ValueError):
    """Not YAML, or not of the kind understood here."""


def load(text: str) -> Any:
    lines = [_line(raw) for raw in text.splitlines() if raw.strip() and not raw.lstrip().startswith("#")]
    if not lines:
        return None
    value, rest = _block(lines, lines[0][0])
    if rest:
        raise Mistake(f"unexpected indentation at {rest[0][1]!r}")
    return value


def _line(raw: str) -> Line:
    bare = re.sub(r"\s+#.*$", "", raw.rstrip())
    return len(bare) - len(bare.lstrip()), bare.strip()


def _block(lines: list[Line], indent: int) -> tuple[Any, list[Line]]:
    """The value that begins with the first line, and the lines after it."""
    if lines[0][1] == "-" or lines[0][1].startswith("- "):
        return _list(lines, indent)
    if KEY.fullmatch(lines[0][1]):
        return _mapping(lines, indent)
    return _scalar(lines[0][1]), lines[1:]


def _list(lines: list[Line], indent: int) -> tuple[list[Any], list[Line]]:
    items: list[Any] = []
    while lines and lines[0][0] == indent and (lines[0][1] == "-" or lines[0][1].startswith("- ")):
        rest = lines[0][1][1:].strip()
        if not rest:
            value, lines = _nested(lines[1:], indent)
        elif KEY.fullmatch(rest):
            value, lines = _block([(indent + 2, rest), *lines[1:]], indent + 2)
        else:
            value, lines = _scalar(rest), lines[1:]
        items.append(value)
    return items, lines


def _mapping(lines: list[Line], indent: int) -> tuple[dict[str, Any], list[Line]]:
    found: dict[str, Any] = {}
    while lines and lines[0][0] == indent:
        match = KEY.fullmatch(lines[0][1])
        if match is None:
            raise Mistake(f"could not find expected ':' at {lines[0][1]!r}")
        if match[2]:
            value, lines = _scalar(match[2]), lines[1:]
        else:
            value, lines = _nested(lines[1:], indent)
        found[match[1].strip("\"'")] = value
    return found, lines


def _nested(lines: list[Line], indent: int) -> tuple[Any, list[Line]]:
    """What stands below a key or a dash; a list below a key need not be indented."""
    if lines and (lines[0][0] > indent or (lines[0][0] == indent and lines[0][1].startswith("- "))):
        return _block(lines, lines[0][0])
    return None, lines


def _scalar(text: str) -> Any:
    text = text.strip()
    if text[:1] in "[{" and text:
        value, rest = _flow(text)
        if rest.strip():
            raise Mistake(f"unexpected {rest.strip()!r}")
        return value
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"[+-]?\d*\.\d+", text):
        return float(text)
    if re.fullmatch(r"\d+(:[0-5]?\d)+", text):
        return _sexagesimal(text)
    return text


def _sexagesimal(text: str) -> int:
    """YAML 1.1 reads 00:05:00 as a number of seconds."""
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(part)
    return total


def _flow(text: str) -> tuple[Any, str]:
    """[a, b] or {a: b} at the beginning of a text, and what follows."""
    closing = {"[": "]", "{": "}"}[text[0]]
    items: list[Any] = []
    pairs: dict[str, Any] = {}
    rest = text[1:].lstrip()
    while not rest.startswith(closing):
        if not rest:
            raise Mistake(f"expected {closing!r}")
        if closing == "}":
            key, colon, rest = rest.partition(":")
            if not colon:
                raise Mistake("expected ':' in a mapping")
            pairs[key.strip().strip("\"'")], rest = _item(rest.lstrip())
        else:
            value, rest = _item(rest)
            items.append(value)
        rest = rest.lstrip()
        if rest.startswith(","):
            rest = rest[1:].lstrip()
        elif not rest.startswith(closing):
            raise Mistake(f"expected ',' or {closing!r}")
    return (pairs if closing == "}" else items), rest[1:]


def _item(text: str) -> tuple[Any, str]:
    if text[:1] in ("[", "{"):
        return _flow(text)
    match = re.match(r"""\s*("[^"]*"|'[^']*'|[^,\]\}]*)""", text)
    found = match[0] if match else ""
    return _scalar(found), text[len(found) :]
