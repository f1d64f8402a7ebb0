# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How faults end, without a lab: in which order, which of them, and what they leave when something fails."""

from __future__ import annotations

from typing import Any

import pytest

from lab.kube.faults import Effect, Fault, Faults, Words, table


class House:
    """Rooms in which lamps go out, in the order in which they did and are lit again."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.jammed: set[str] = set()

    def begin(self, _lab: object, words: Words) -> Effect:
        room = words["room"]
        self.log.append(f"dark {room}")
        return Effect(f"{room} is dark", lambda: self.light(room))

    def flash(self, _lab: object, _words: Words) -> Effect:
        return Effect("it flashed")

    def light(self, room: str) -> None:
        if room in self.jammed:
            raise OSError("the switch is jammed")
        self.log.append(f"light {room}")


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    made = House()
    known = {"dark": Fault("a lamp goes out", made.begin, {"room": None, "by": "wind"}), "flash": Fault("", made.flash)}
    monkeypatch.setattr(table, "FAULTS", known)
    return made


@pytest.fixture
def faults(house: House) -> Faults:
    lab: Any = house
    made = Faults(lab)
    for room in ("hall", "attic", "cellar"):
        made.set("dark", room=room, by="mice" if room == "attic" else "wind")
    made.set("flash")
    house.log.clear()
    return made


@pytest.mark.parametrize(
    ("name", "words", "lit", "said", "dark"),
    [
        ("", {}, ["cellar", "attic", "hall"], "healed: dark, dark, dark", []),
        ("dark", {}, ["cellar", "attic", "hall"], "healed: dark, dark, dark", []),
        ("dark", {"room": "attic"}, ["attic"], "healed: dark", ["hall", "cellar"]),
        ("", {"by": "wind"}, ["cellar", "hall"], "healed: dark, dark", ["attic"]),
        ("flash", {}, [], "there was no such fault", ["hall", "attic", "cellar"]),
    ],
)
def test_the_faults_that_are_meant_end_and_the_last_first(
    house: House, faults: Faults, name: str, words: dict[str, str], lit: list[str], said: str, dark: list[str]
) -> None:
    assert faults.heal(name, **words) == said
    assert house.log == [f"light {room}" for room in lit]
    assert faults.active() == [f"dark: {room} is dark" for room in dark]


def test_a_cure_that_fails_keeps_none_of_the_others_and_can_be_had_again(house: House, faults: Faults) -> None:
    house.jammed = {"attic"}
    with pytest.raises(ValueError, match="dark is not healed: the switch is jammed"):
        faults.heal()
    assert house.log == ["light cellar", "light hall"]
    assert faults.active() == ["dark: attic is dark"]
    house.jammed.clear()
    assert faults.heal() == "healed: dark"
    assert (house.log[-1], faults.active()) == ("light attic", [])


def test_a_name_that_no_fault_has_heals_nothing(house: House, faults: Faults) -> None:
    with pytest.raises(ValueError, match=r"There is no fault rain; there are dark, flash\."):
        faults.heal("rain")
    assert (house.log, len(faults.active())) == ([], 3)
