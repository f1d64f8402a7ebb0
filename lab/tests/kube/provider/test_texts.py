# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from metalshift_lab.kube.provider.texts import escaped, go_format, quoted


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("no verbs", "no verbs"),
        ("http%3A%2F%2Fmaas", "http%!A(MISSING)%!F(MISSING)%!F(MISSING)maas"),
        ("100%", "100%!(NOVERB)"),
        ("100% sure", "100%!s(MISSING)ure"),
        ("%%", "%"),
        ("%-08.3f", "%!f(MISSING)"),
        ("%[1]d", "%!d(BADINDEX)"),
        ("%*d", "%!(BADWIDTH)%!d(MISSING)"),
        ("%.*f", "%!(BADPREC)%!f(MISSING)"),
    ],
)
def test_a_text_as_a_format_loses_its_percent_signs(text: str, spelled: str) -> None:
    assert go_format(text) == spelled


def test_a_name_is_quoted_as_go_does() -> None:
    assert quoted('a "b" \\c') == '"a \\"b\\" \\\\c"'


def test_a_space_is_escaped_as_plus() -> None:
    assert escaped("maas provider power on~") == "maas+provider+power+on~"
