# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters and forms, with the two kinds of validation MAAS has.

Plain parameters (`mandatory`, `optional`, `string_bool`, `whole`) fail with a sentence. Forms fail with
{"field": ["message"]}: list the fields, make a `Form`, add your own `fail`s, and `finish()`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metalshift_lab.simulator.errors import BadRequest, Invalid
from metalshift_lab.simulator.http import NoParams, Params

REQUIRED = "This field is required."
TRUE = ("true", "t", "yes", "y", "on", "1")
FALSE = ("false", "f", "no", "n", "off", "0")

# -- plain parameters -----------------------------------------------------------------------------------------------


def mandatory(data: Params, key: str) -> str:
    value = data.get(key)
    if value is None:
        raise BadRequest(f"No provided {key}!")
    return str(value)


def optional(data: Params, key: str, default: str = "") -> str:
    value = data.get(key)
    return default if value is None else str(value)


def string_bool(data: Params, key: str, default: bool = False) -> bool:
    """`StringBool`: yes/no words in any case, anything else is a 400."""
    value = data.get(key)
    if value is None:
        return default
    word = str(value).strip().lower()
    if word not in TRUE + FALSE:
        raise BadRequest(f"Invalid {key}: Value should be 'true' or 'false'")
    return word in TRUE


def whole(data: Params, key: str, default: int) -> int:
    value = data.get(key)
    if value is None:
        return default
    try:
        return int(str(value).strip())
    except ValueError:
        raise BadRequest(f"Invalid {key}: Please enter an integer value") from None


# -- form fields ----------------------------------------------------------------------------------------------------


class Wrong(Exception):
    """A value a field refuses, with its messages."""

    def __init__(self, *messages: str) -> None:
        super().__init__(*messages)
        self.messages = list(messages)


Clean = Callable[[str], Any]


@dataclass(frozen=True)
class Field:
    """A form field. `empty` is what an absent or empty optional value means."""

    name: str
    clean: Clean = str
    required: bool = False
    empty: Any = ""
    many: bool = False  # repeated keys: `clean` gets each value, the result is a list


class Form:
    """The values of a form and its errors.

    In an update (`partial`) only what was sent is validated and is in `cleaned`; in a creation all fields are.
    """

    def __init__(self, data: Params, fields: Iterable[Field], *, partial: bool = False) -> None:
        self.data = data
        self.partial = partial
        self.cleaned: dict[str, Any] = {}
        self.errors: dict[str, list[str]] = {}
        self.unbound = isinstance(data, NoParams) and not partial
        if not self.unbound:
            for field in fields:
                self._read(field)

    def _read(self, field: Field) -> None:
        if field.name not in self.data:
            if self.partial:
                return
            if field.required:
                self.fail(field.name, REQUIRED)
            self.cleaned[field.name] = [] if field.many else field.empty
            return
        if field.many:
            values = [v for v in self.data.getlist(field.name) if v != ""]
            if not values and field.required:
                self.fail(field.name, REQUIRED)
            self.cleaned[field.name] = self._clean_all(field, values)
            return
        value = self.data.get(field.name)
        value = "" if value is None else value.strip() if field.clean is not verbatim else value
        if value == "" and field.clean is not form_bool:
            if field.required:
                self.fail(field.name, REQUIRED)
            self.cleaned[field.name] = field.empty
            return
        self.cleaned[field.name] = self._clean(field, value)

    def _clean_all(self, field: Field, values: list[str]) -> list[Any]:
        """Django's multiple choices stop at the first wrong one."""
        out = []
        for value in values:
            out.append(self._clean(field, value))
            if field.name in self.errors:
                return []
        return out

    def _clean(self, field: Field, value: str) -> Any:
        try:
            return field.clean(value)
        except Wrong as wrong:
            self.fail(field.name, *wrong.messages)
            return None

    def fail(self, name: str, *messages: str) -> None:
        self.errors.setdefault(name, []).extend(messages)

    def given(self, name: str) -> bool:
        """Whether the field was sent and is fine."""
        return name in self.data and name not in self.errors

    def get(self, name: str, default: Any = None) -> Any:
        return self.cleaned.get(name, default)

    def unique(self, name: str, noun: str, taken: Iterable[Any], *, label: str | None = None) -> None:
        """Django's uniqueness error for a field: "Zone with this Name already exists."."""
        if name in self.cleaned and name not in self.errors and self.cleaned[name] in taken:
            self.fail(name, f"{noun} with this {label or name.capitalize()} already exists.")

    def finish(self) -> None:
        if self.errors or self.unbound:
            raise Invalid(self.errors)


def form_bool(value: str) -> bool:
    """Django's: only "false", "False" and "" are false; "0", "no" and any junk are true."""
    return value not in ("", "false", "False")


def verbatim(value: str) -> str:
    """Text whose surrounding blanks matter."""
    return value


def integer(low: int | None = None, high: int | None = None) -> Clean:
    def clean(value: str) -> int:
        # "4.0" is whole to Django, "4.5" is not.
        if not re.fullmatch(r"\s*[+-]?\d+(\.0*)?\s*", value):
            raise Wrong("Enter a whole number.")
        number = int(value.split(".")[0])
        if low is not None and number < low:
            raise Wrong(f"Ensure this value is greater than or equal to {low}.")
        if high is not None and number > high:
            raise Wrong(f"Ensure this value is less than or equal to {high}.")
        return number

    return clean


def decimal(low: float | None = None, high: float | None = None) -> Clean:
    def clean(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            raise Wrong("Enter a number.") from None
        if low is not None and number < low:
            raise Wrong(f"Ensure this value is greater than or equal to {low:g}.")
        if high is not None and number > high:
            raise Wrong(f"Ensure this value is less than or equal to {high:g}.")
        return number

    return clean


def pattern(regex: str, message: str = "Enter a valid value.", *, max_length: int | None = None) -> Clean:
    compiled = re.compile(regex)

    def clean(value: str) -> str:
        wrong = [] if compiled.fullmatch(value) else [message]
        if max_length is not None and len(value) > max_length:
            wrong.append(f"Ensure this value has at most {max_length} characters (it has {len(value)}).")
        if wrong:
            raise Wrong(*wrong)
        return value

    return clean


def at_most(length: int) -> Clean:
    return pattern(r"(?s).*", max_length=length)


def choice(options: Sequence[str]) -> Clean:
    """Django's ChoiceField."""

    def clean(value: str) -> str:
        if value not in options:
            raise Wrong(f"Select a valid choice. {value} is not one of the available choices.")
        return value

    return clean


def listed(name: str, options: Sequence[str], *, unformatted: bool = False) -> Clean:
    """MAAS's own sentence for choices: "'x' is not a valid NAME.  It should be one of: 'a', 'b'."."""

    def clean(value: str) -> str:
        if value not in options:
            # MAAS forgets to fill in the value in some of its forms.
            shown = "%(value)s" if unformatted else value
            raise Wrong(
                f"'{shown}' is not a valid {name}.  It should be one of: {', '.join(repr(o) for o in options)}."
            )
        return value

    return clean


def among(find: Callable[[str], Any]) -> Clean:
    """Django's ModelChoiceField: `find` gives the object or None."""

    def clean(value: str) -> Any:
        found = find(value)
        if found is None:
            raise Wrong("Select a valid choice. That choice is not one of the available choices.")
        return found

    return clean


MAC = re.compile(
    r"([0-9a-f]{2}:){5}[0-9a-f]{2}|([0-9a-f]{2}-){5}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4}|[0-9a-f]{12}",
    re.IGNORECASE,
)


def mac_address(value: str) -> str:
    value = value.strip()
    if not MAC.fullmatch(value):
        raise Wrong(f"'{value}' is not a valid MAC address.")
    digits = re.sub(r"[^0-9a-f]", "", value.lower())
    return ":".join(digits[i : i + 2] for i in range(0, 12, 2))


def assign(target: Any, form: Form, names: Mapping[str, str] | Iterable[str]) -> None:
    """Set attributes from cleaned fields; a mapping translates field names to attributes."""
    pairs = names.items() if isinstance(names, Mapping) else ((n, n) for n in names)
    for name, attribute in pairs:
        if name in form.cleaned:
            setattr(target, attribute, form.cleaned[name])
