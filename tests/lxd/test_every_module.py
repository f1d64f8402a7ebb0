# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every module of LXD, those of tomorrow included."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

from integration.harness import MODULES
from lxd.cases import LIVES, READERS, WRONG, WRONG_EVERYWHERE, Wrong
from lxd.place import Args, Place
from lxd.test_twelve_steps import writes


def spec_of(name: str):  # type: ignore[no-untyped-def]
    return importlib.import_module(f"ansible_collections.metalshift.maas.plugins.modules.{name}").SPEC


# Those that need nothing else; what needs MAAS as well has its tests where MAAS is.
OURS = [module for module in MODULES if spec_of(module).lxd and not spec_of(module).maas]


@pytest.mark.parametrize("module", OURS)
def test_a_module_has_a_life_or_reads(module: str) -> None:
    assert module in {*(case.module for case in LIVES), *READERS}, f"Put {module} into LIVES or READERS of cases.py."
    assert module in {wrong.module for wrong in WRONG}, f"Put what is wrong for {module} into WRONG of cases.py."


@pytest.mark.parametrize(
    ("module", "args"),
    [pytest.param(module, args, id=f"{module}-{n}") for module, all_ in READERS.items() for n, args in enumerate(all_)],
)
def test_a_reader_only_reads(lxd: Place, module: str, args: Args) -> None:
    before = lxd.snapshot()
    for check in (True, False):
        outcome = lxd.run(module, args, check=check)
        assert not outcome.failed, outcome.msg
        assert not outcome.changed
        assert writes(outcome) == []
    assert lxd.snapshot() == before


def wrong_inputs() -> Iterator[tuple[Wrong, bool]]:
    """Each for real; what is wrong for one module alone in check mode too."""
    for wrong in WRONG:
        yield from ((wrong, True), (wrong, False))
    good = {**{module: args[0] for module, args in READERS.items()}, **{case.module: case.create for case in LIVES}}
    for module in OURS:
        for wrong in WRONG_EVERYWHERE:
            yield Wrong(module, {**good[module], **wrong.args}, wrong.says, kind=wrong.kind), False


def in_words(wrong: Wrong, check: bool) -> str:
    return f"{wrong.module}-{wrong.says[:40]}{'-in check mode' if check else ''}"


@pytest.mark.parametrize(("wrong", "check"), [pytest.param(*each, id=in_words(*each)) for each in wrong_inputs()])
def test_wrong_input_is_one_sentence_and_changes_nothing(lxd: Place, wrong: Wrong, check: bool) -> None:
    wrong.arrange(lxd)
    before = lxd.snapshot()
    outcome = lxd.run(wrong.module, wrong.args, check=check)
    if check and (wrong.kind == "rejected" or not wrong.foreseen):
        assert not outcome.failed, outcome.msg
        return
    assert outcome.failed
    assert not outcome.changed
    assert lxd.named(wrong.says) in outcome.msg
    assert outcome["failure"]["kind"] == wrong.kind
    assert "Traceback" not in str(outcome.result)
    assert "\n" not in outcome.msg
    assert len(outcome.msg) < 1200
    assert outcome.msg.rstrip().endswith((".", "…", "!", ")")), outcome.msg
    assert lxd.snapshot() == before
