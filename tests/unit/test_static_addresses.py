# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._static_addresses import assigned, parse

POOL = parse(["10.0.0.11-10.0.0.16"])


def address(number: int) -> str:
    return POOL[number - 1]


def shared(numbers: Sequence[int], held: dict[str, str], addresses: Sequence[str] = POOL) -> dict[str, str]:
    return assigned({f"cp-{number}": number for number in numbers}, addresses, held)


# -- what may be written -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "addresses"),
    [
        ([], ()),
        (["10.0.0.9", "10.0.0.7"], ("10.0.0.9", "10.0.0.7")),
        (["10.0.0.254-10.0.1.1"], ("10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1")),
        ([" 10.0.0.1 - 10.0.0.2 ", "10.0.0.2"], ("10.0.0.1", "10.0.0.2")),
        (["10.0.0.5-10.0.0.5"], ("10.0.0.5",)),
        (["2001:DB8::000a-2001:db8::b"], ("2001:db8::a", "2001:db8::b")),
    ],
)
def test_addresses_are_listed_one_by_one_or_as_ranges(written: list[str], addresses: tuple[str, ...]) -> None:
    assert parse(written) == addresses


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("10.0.0", "addresses cannot contain '10.0.0'"),
        ("", "addresses cannot contain ''"),
        ("10.0.0.1-", "addresses cannot contain '10.0.0.1-'"),
        ("10.0.0.1-20", "addresses cannot contain '10.0.0.1-20'"),
        ("10.0.0.0/24", "addresses cannot contain '10.0.0.0/24'"),
        ("10.0.0.2-10.0.0.1", "addresses cannot contain '10.0.0.2-10.0.0.1'"),
        ("10.0.0.1-2001:db8::1", "addresses cannot contain '10.0.0.1-2001:db8::1'"),
        ("2001:db8::-2001:db8::1:0", "addresses lists more than 65536 addresses"),
    ],
)
def test_what_is_no_address_is_refused(written: str, says: str) -> None:
    with pytest.raises(Failure) as caught:
        parse([written])
    assert caught.value.kind == "invalid"
    assert caught.value.message.startswith(says)
    assert caught.value.hint


def test_as_many_as_a_range_may_have_are_taken() -> None:
    assert len(parse(["10.1.0.0-10.1.255.255"])) == 65536


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
            {1: "node-7", 3: "the gateway of lan"},
            "conflict",
            "No static address is left for cp-1: 10.0.0.11 is used by node-7, 10.0.0.13 is used by the gateway of lan.",
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
            "No static address is left for cp-1, cp-2, cp-3, cp-4, cp-5: 10.0.0.11 is used by f, "
            "10.0.0.12 is used by a, 10.0.0.13 is used by b, 10.0.0.14 is used by c, "
            "10.0.0.15 is used by d, and 1 more.",
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
