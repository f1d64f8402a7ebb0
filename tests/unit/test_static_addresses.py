# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.static_addresses import assigned

POOL = tuple(f"10.0.0.{last}" for last in range(11, 17))


def address(number: int) -> str:
    return POOL[number - 1]


def shared(numbers: Sequence[int], held: dict[str, str], addresses: Sequence[str] = POOL) -> dict[str, str]:
    return assigned({f"cp-{number}": number for number in numbers}, addresses, held)


# -- who gets which ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numbers", "held", "expected"),
    [
        ([1, 2, 3], {}, {1: 1, 2: 2, 3: 3}),
        ([3, 1], {}, {1: 1, 3: 3}),
        ([1, 2], {1: "cp-2"}, {1: 2, 2: 1}),
        ([1, 2, 3], {2: "node-7"}, {1: 1, 2: 4, 3: 3}),
        ([1, 9], {}, {1: 1, 9: 2}),
        ([2, 9], {1: "cp-9"}, {2: 2, 9: 1}),
        ([6, 9], {}, {6: 6, 9: 1}),
        ([10, 9], {}, {9: 1, 10: 2}),
        ([1], {4: "cp-1", 6: "cp-1"}, {1: 4}),
        ([1, 2], {1: "cp-3"}, {1: 3, 2: 2}),
        ([], {}, {}),
    ],
)
def test_the_number_of_a_vm_says_which_address_it_gets_if_it_has_none(
    numbers: list[int], held: dict[int, str], expected: dict[int, int]
) -> None:
    found = shared(numbers, {address(number): holder for number, holder in held.items()})
    assert found == {f"cp-{number}": address(which) for number, which in expected.items()}
    assert list(found) == [f"cp-{number}" for number in sorted(numbers)]


@pytest.mark.parametrize(
    ("addresses", "numbers", "held", "kind", "says"),
    [
        (POOL[:2], [1, 2, 3], {}, "invalid", "2 static addresses are too few for 3 VMs."),
        (
            POOL[:3],
            [1, 2],
            {1: "used by node-7", 3: "the gateway of lan"},
            "conflict",
            "No static address is left for cp-1: 10.0.0.11 is used by node-7, 10.0.0.13 is the gateway of lan.",
        ),
        (
            POOL[:2],
            [1, 2],
            {1: "cp-1", 2: "cp-1"},
            "conflict",
            "No static address is left for cp-2: 10.0.0.12 is used by cp-1.",
        ),
        (
            POOL,
            [1, 2, 3, 4, 5],
            {2: "a", 3: "b", 4: "c", 5: "d", 6: "e", 1: "f"},
            "conflict",
            "No static address is left for cp-1, cp-2, cp-3, cp-4, cp-5: 10.0.0.11 is f, "
            "10.0.0.12 is a, 10.0.0.13 is b, 10.0.0.14 is c, "
            "10.0.0.15 is d, and 1 more.",
        ),
    ],
)
def test_too_few_addresses_are_said_with_who_has_them(
    addresses: tuple[str, ...], numbers: list[int], held: dict[int, str], kind: str, says: str
) -> None:
    with pytest.raises(Failure) as caught:
        shared(numbers, {address(number): holder for number, holder in held.items()}, addresses)
    assert (caught.value.kind, caught.value.message) == (kind, says)


some_numbers = st.sets(st.integers(1, 9), max_size=4)
holders = st.dictionaries(
    st.sampled_from(POOL), st.sampled_from(["cp-1", "cp-2", "cp-5", "cp-8", "node-7"]), max_size=3
)


@given(some_numbers, holders, st.data())
def test_an_address_stays_with_its_vm_whatever_a_killed_run_had_done(
    numbers: set[int], held: dict[str, str], data: st.DataObject
) -> None:
    try:
        first = shared([*numbers], held)
    except Failure:
        return
    done = {where: name for name, where in first.items() if data.draw(st.booleans())}
    assert shared([*reversed([*numbers])], {**held, **done}) == first


@given(some_numbers, holders)
def test_no_address_is_given_twice_or_taken_from_anybody(numbers: set[int], held: dict[str, str]) -> None:
    names = {f"cp-{number}" for number in numbers}
    kept = names & set(held.values())
    free = [where for where in POOL if where not in held]
    try:
        found = shared([*numbers], held)
    except Failure:
        assert len(names - kept) > len(free)
        return
    assert len(set(found.values())) == len(found) == len(names)
    assert all(held.get(where, name) == name for name, where in found.items())
    assert all(held[found[name]] == name for name in kept)
