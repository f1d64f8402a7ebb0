# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `machine_set` makes of the machines that it finds, before it does anything."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.machine_set import (
    MachineSetSpec,
    MachineSetState,
    outlook,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import checked
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.spreading import ZoneSpread
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.supply import Places, SupplyPlace
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status
from ansible_collections.metalshift.maas.plugins.modules.machine_set import SPEC

DEPLOYED, ALLOCATED, FAILED = Status.DEPLOYED, Status.ALLOCATED, Status.FAILED_DEPLOYMENT


def wanted(count: int, **options: Any) -> MachineSetSpec:
    params = {name: option.get("default") for name, option in SPEC.options.items()}
    return MachineSetSpec.from_params({**params, "claim": "web", "count": count, **options})


def machines(**statuses: Status) -> dict[str, dict[str, Any]]:
    return {
        name: {"system_id": name, "status": int(status), "zone": {"name": "az1"}, "workload_annotations": {}}
        for name, status in statuses.items()
    }


def told(first: MachineSetState) -> dict[str, Any]:
    """The parts of an outlook that are not empty."""
    parts = {
        "stay": "".join(sorted(machine["system_id"] for machine in first.stay)),
        "surplus": "".join(machine["system_id"] for machine in first.surplus),
        "given_up": "".join(machine["system_id"] for machine in first.given_up),
        "left_over": "".join(machine["system_id"] for machine in first.left_over),
        "missing": first.missing,
        "replaced": first.replaced,
    }
    return {name: value for name, value in parts.items() if value}


# The statuses of the machines of the claim, those of what is left over, what is wanted: what is made of it.
OUTLOOKS: dict[str, tuple[dict[str, Status], dict[str, Status], MachineSetSpec, dict[str, Any]]] = {
    "nothing is there": ({}, {}, wanted(2), {"missing": 2}),
    "all is there": ({"a": DEPLOYED, "b": DEPLOYED}, {}, wanted(2), {"stay": "ab"}),
    "one is missing": ({"a": ALLOCATED}, {}, wanted(2), {"stay": "a", "missing": 1}),
    "one is too many": ({"a": DEPLOYED, "b": ALLOCATED}, {}, wanted(1), {"stay": "a", "surplus": "b"}),
    "one has failed": (
        {"a": DEPLOYED, "b": FAILED},
        {},
        wanted(2),
        {"stay": "a", "given_up": "b", "missing": 1, "replaced": 1},
    ),
    "one has failed and is not needed": ({"a": DEPLOYED, "b": FAILED}, {}, wanted(1), {"stay": "a", "given_up": "b"}),
    "one has failed and is kept": ({"a": FAILED}, {}, wanted(1, on_failure="keep"), {"stay": "a"}),
    "one more has failed than may be replaced": (
        {"a": FAILED, "b": FAILED},
        {},
        wanted(2, max_replacements=1),
        {"stay": "a", "given_up": "b", "missing": 1, "replaced": 1},
    ),
    "what is being released needs nobody": ({}, {"x": Status.RELEASING}, wanted(0), {}),
    "what is stuck does": ({}, {"x": Status.FAILED_DISK_ERASING, "y": Status.BROKEN}, wanted(0), {"left_over": "xy"}),
    "what is being erased under the claim does not count": ({"a": Status.DISK_ERASING}, {}, wanted(1), {"missing": 1}),
    "absent gives back all": (
        {"a": DEPLOYED, "b": FAILED},
        {"x": Status.RELEASING},
        wanted(0, state="absent"),
        {"surplus": "a", "given_up": "b", "left_over": "x"},
    ),
    "what is repaired counts": ({"a": Status.RESCUE_MODE}, {}, wanted(1), {"stay": "a"}),
}


@pytest.mark.parametrize(("there", "left", "wish", "made"), OUTLOOKS.values(), ids=OUTLOOKS)
def test_outlook(there: dict[str, Status], left: dict[str, Status], wish: MachineSetSpec, made: dict[str, Any]) -> None:
    assert told(outlook(machines(**there), machines(**left), wish)) == made


@pytest.mark.parametrize("claim", ["web", "7", "team/web-1.prod", "a:b@c+d", "x" * 255])
def test_a_claim(claim: str) -> None:
    assert checked(claim) == claim


@pytest.mark.parametrize("claim", ["", " web", "web ", "-web", "web\n", "wéb", "a,b", "x" * 256])
def test_no_claim(claim: str) -> None:
    with pytest.raises(Failure, match="cannot be a claim"):
        checked(claim)


@pytest.mark.parametrize("option", ["count", "max_replacements"])
def test_a_number_below_zero_is_refused(option: str) -> None:
    with pytest.raises(Failure, match=f"{option} must be at least 0 and at most 10000, not -1"):
        wanted(**{"count": 1, option: -1})


def places(spread: ZoneSpread = ZoneSpread.EVEN, have: dict[str, int] | None = None, **stock: float) -> Places:
    return Places(spread, sorted(stock), dict(stock), Counter(have or {}))


ENDLESS = float("inf")


def test_places_even_out_the_zones() -> None:
    some = places(have={"az1": 2}, az1=ENDLESS, az2=ENDLESS, az3=ENDLESS)
    assert Counter(place.zone for place in (some.next() for _each in range(4)) if place) == {"az2": 2, "az3": 2}


def test_a_zone_that_has_none_is_left_out() -> None:
    some = places(az1=ENDLESS, az2=ENDLESS)
    assert some.next() == SupplyPlace("az1")
    some.failed(SupplyPlace("az1"))
    assert [some.next(), some.next()] == [SupplyPlace("az2"), SupplyPlace("az2")]
    some.failed(SupplyPlace("az2"))
    assert some.next() is None


def test_strict_takes_fewer_rather_than_uneven_ones() -> None:
    some = places(ZoneSpread.STRICT, az1=5, az2=1)
    assert [some.next(), some.next(), some.next()] == [SupplyPlace("az1"), SupplyPlace("az2"), SupplyPlace("az1")]
    assert some.next() is None


def test_machines_in_other_zones_do_not_matter() -> None:
    assert places(have={"elsewhere": 9}, az1=ENDLESS).next() == SupplyPlace("az1")


def test_named_machines_are_taken_one_after_the_other() -> None:
    some = Places(ZoneSpread.NONE, ["az1"], {"az1": 2}, Counter(), {"az1": ["m1", "m2"]})
    assert [some.next(), some.next(), some.next()] == [SupplyPlace("az1", "m1"), SupplyPlace("az1", "m2"), None]
