# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from metalshift_lab.output import BY_MAKE, typed


@pytest.mark.parametrize(
    ("command", "arguments", "options", "with_pip", "with_make"),
    [
        ("start", (), {}, "metalshift-lab start", "make lab"),
        ("status", (), {"name": "lab-2"}, "metalshift-lab status --name lab-2", "make lab-status NAME=lab-2"),
        ("simulator", (), {"port": 5340}, "metalshift-lab simulator --port 5340", "make simulator PORT=5340"),
        (
            *("fault", ("pause", "name=etcd"), {}),
            *("metalshift-lab fault pause name=etcd", "make lab-fault FAULT='pause name=etcd'"),
        ),
        ("build", (), {}, "metalshift-lab build", "make programs"),
    ],
)
def test_a_command_is_shown_as_this_user_types_it(
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    arguments: tuple[str, ...],
    options: dict[str, object],
    with_pip: str,
    with_make: str,
) -> None:
    monkeypatch.delenv(BY_MAKE, raising=False)
    assert typed(command, *arguments, **options) == with_pip
    monkeypatch.setenv(BY_MAKE, "1")
    assert typed(command, *arguments, **options) == with_make
