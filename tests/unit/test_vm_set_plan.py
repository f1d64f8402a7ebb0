# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a set of VMs: its names, who is of it, and what a run makes and removes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import (
    HostResource,
    PlacementHost,
    Rules,
    Size,
    VmSpread,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.set_plan import (
    FoundVm,
    NewVm,
    SetPlan,
    SurplusVm,
    VmCountSpec,
    census,
    checked,
    number_of,
    plan,
)

POOL = tuple(f"10.0.0.{last}" for last in range(11, 20))


def hosts_in(zones: str, cores: int = 99) -> list[PlacementHost]:
    return [
        PlacementHost(f"host-{number}", HostResource(cores), HostResource(99), zone=zone)
        for number, zone in enumerate(zones.split(), 1)
    ]


def vm(number: int, host: int = 1, **facts: Any) -> FoundVm:
    return FoundVm(f"cp-{number}", f"host-{host}", **{"claim": "cp", **facts})


def wish(count: int, spread: VmSpread = VmSpread.ZONE, **more: Any) -> VmCountSpec:
    return VmCountSpec("cp", count, Size(1, 1), Rules(spread=spread), **more)


def planned(
    count: int, found: Sequence[FoundVm] = (), zones: str = "a b c", held: Mapping[str, str] | None = None, **more: Any
) -> SetPlan:
    return plan(wish(count, **more), hosts_in(zones), census("cp", found), held)


def made(result: SetPlan) -> str:
    return " ".join(f"{new.name}@{new.host}" for new in result.make)


def removed(result: SetPlan) -> str:
    return " ".join(leaving.found.name for leaving in result.remove)


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("claim", "count"), [("cp", 3), ("a", 1), ("my-cluster-2", 10), ("a" * 61, 9), ("a" * 60, 99)])
def test_a_claim_that_hostnames_can_be_made_of_is_taken(claim: str, count: int) -> None:
    assert checked(claim, count) == claim


@pytest.mark.parametrize(
    ("claim", "count"),
    [("", 1), ("CP", 1), ("2cp", 1), ("cp-", 1), ("-cp", 1), ("c_p", 1), ("a.b", 1), ("cp\n", 1), ("a" * 61, 10)],
)
def test_a_claim_that_makes_no_hostname_is_refused(claim: str, count: int) -> None:
    with pytest.raises(Failure) as caught:
        checked(claim, count)
    assert caught.value.kind == "invalid"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("cp-1", 1),
        ("cp-10", 10),
        ("cp-0", None),
        ("cp-01", None),
        ("cp", None),
        ("cp-", None),
        ("cp-x", None),
        ("cp-1-2", None),
        ("xcp-1", None),
        ("cp-1.maas", None),
        ("cp-1\n", None),
        ("cp-٣", None),
        ("CP-1", None),
    ],
)
def test_a_hostname_is_of_the_claim_only_if_it_would_be_made_so(name: str, number: int | None) -> None:
    assert number_of("cp", name) == number


# -- who is of the set -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "kind", "says"),
    [
        ({"claim": "web"}, "claimed", "cp-2 is held by claim web."),
        ({"claim": "web", "cluster": "hosted cluster a/b"}, "claimed", "cp-2 is held by claim web."),
        ({"claim": "", "owner": "jo"}, "claimed", "cp-2 is held by user jo, under no claim."),
        ({"virtual": False}, "conflict", "cp-2 is the hostname of a machine that is no VM."),
        ({"virtual": False, "claim": ""}, "conflict", "cp-2 is the hostname of a machine that is no VM."),
        (
            {"claim": "", "known": False},
            "conflict",
            "cp-2 on host-1 is a VM that MAAS does not know and that says nothing of a claim.",
        ),
    ],
)
def test_a_name_that_somebody_else_has_is_in_the_way_only_when_it_is_needed(
    facts: dict[str, Any], kind: str, says: str
) -> None:
    found = [vm(2, **facts)]
    assert made(planned(1, found)) == "cp-1@host-1"
    assert planned(0, found) == SetPlan((), (), (), {})
    with pytest.raises(Failure) as caught:
        planned(2, found)
    assert (caught.value.kind, caught.value.message, caught.value.object) == (kind, says, "cp-2")
    assert caught.value.hint


def test_several_names_in_the_way_are_told_together() -> None:
    with pytest.raises(Failure, match=r"cp-1 and cp-3\): each is held by claim web"):
        planned(3, [vm(1, claim="web"), vm(3, claim="web")])


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"claim": ""},  # MAAS keeps no annotation of what is not allocated yet, or was released
        {"known": False},  # made in LXD by a run that was killed before it told MAAS
        {"owner": "jo"},
        {"claim": "", "owner": "capi", "cluster": "hosted cluster a/b"},
    ],
)
def test_a_killed_run_finds_its_vms_again(facts: dict[str, Any]) -> None:
    result = planned(2, [vm(1, 2, **facts), FoundVm("other-1", "host-1")])
    assert ([one.name for one in result.keep], made(result), removed(result)) == (["cp-1"], "cp-2@host-1", "")


def half(number: int, host: int, **facts: Any) -> FoundVm:
    """What a killed run left before MAAS learned of it."""
    return vm(number, host, **{"known": False, "half_made": True, **facts})


def used(number: int, host: int, **facts: Any) -> FoundVm:
    """A VM that has been started, and that MAAS does not know."""
    return vm(number, host, **{"known": False, **facts})


BESIDE = "cp-1 is on host-{} as well as on host-2: MAAS's machine is the VM on host-2. The VM on host-{} is left alone."


@pytest.mark.parametrize(
    ("found", "member", "doubles", "says"),
    [
        ([vm(1, 2), half(1, 1)], 2, [1], []),
        ([half(1, 3), half(1, 2)], 2, [3], []),
        # What has been in use is the VM, and beside it what never was goes.
        ([half(1, 1), used(1, 2)], 2, [1], []),
        # Where MAAS's own is, is not known.
        ([replace(vm(1), host=""), half(1, 2)], None, [2], []),
        # What may be somebody's is named and stays.
        ([used(1, 1), vm(1, 2)], 2, [], [BESIDE.format(1, 1)]),
        ([vm(1, 2), half(1, 1), used(1, 3)], 2, [1], [BESIDE.format(3, 3)]),
        ([vm(1, 2), half(1, 1, claim="")], 2, [], [BESIDE.format(1, 1)]),
        ([vm(1, 2), half(1, 1, claim="web")], 2, [], [BESIDE.format(1, 1)]),
        (
            [used(1, 2), half(1, 1, claim="")],
            2,
            [],
            ["cp-1 is on host-1 as well as on host-2: the VM on host-2 is the one of this task. The VM on host-1 is "
             "left alone."],
        ),
        (
            [replace(vm(1), host="", doubt="cp-1 is on host-1 and on host-2, and so on")],
            None,
            [],
            ["cp-1 is on host-1 and on host-2, and so on. Neither is touched."],
        ),
    ],
)  # fmt: skip
def test_of_several_vms_of_a_name_only_what_is_half_made_goes(
    found: list[FoundVm], member: int | None, doubles: list[int], says: list[str]
) -> None:
    for order in (found, found[::-1]):
        counted = census("cp", order)
        assert counted.members[1].host == (f"host-{member}" if member else "")
        assert [double.host for double in counted.doubles] == [f"host-{number}" for number in doubles]
        assert [doubtful.text for doubtful in counted.doubtful] == says
        result = plan(wish(1), hosts_in("a b c"), counted)
        assert [(leaving.found.host, leaving.reason) for leaving in result.remove] == [
            (f"host-{number}", "there is another cp-1") for number in doubles
        ]


def test_of_two_vms_that_were_in_use_and_that_maas_does_not_know_neither_is_the_one() -> None:
    counted = census("cp", [used(1, 3), used(1, 2), half(1, 1)])
    says = "cp-1 is on host-2 and on host-3, and MAAS does not know either. Both are left alone."
    assert ({one.text for one in counted.doubtful}, [one.host for one in counted.doubles]) == ({says}, ["host-1"])
    with pytest.raises(Failure, match="Both are left alone"):
        plan(wish(1), hosts_in("a b c"), counted)
    assert {one.text for one in plan(wish(0), hosts_in("a b c"), counted).left} == {says}


@pytest.mark.parametrize(
    ("found", "removes", "says"),
    [
        ([vm(1), half(2, 2)], "cp-2 cp-1", []),
        ([vm(1), used(2, 2)], "cp-1", ["cp-2 on host-2 has been in use, and MAAS does not know it. It is left alone."]),
        ([vm(2, 2), used(2, 1)], "cp-2", [BESIDE.format(1, 1).replace("cp-1", "cp-2")]),
        ([vm(2, 2), used(2, 1, claim="web")], "cp-2", []),
        ([replace(vm(1), host="", doubt="cp-1 is here, too")], "", ["cp-1 is here, too. Neither is touched."]),
    ],
)  # fmt: skip
def test_what_is_in_doubt_stays_when_the_set_goes(found: list[FoundVm], removes: str, says: list[str]) -> None:
    result = planned(0, found)
    assert (removed(result), [one.text for one in result.left]) == (removes, says)
    assert all(one.failure.kind == "conflict" for one in result.left)


def test_no_host_is_evacuated_of_what_is_in_doubt() -> None:
    with pytest.raises(Failure, match="cp-1 on host-1 has been in use"):
        planned(1, [used(1, 1)], evacuated=frozenset({"host-1"}))


def test_what_a_killed_run_made_under_a_name_that_is_taken_goes() -> None:
    mine, theirs = half(1, 2), vm(1, 1, claim="web")
    counted = census("cp", [mine, theirs])
    assert (counted.members, counted.doubles, list(counted.taken)) == ({}, (mine,), [1])
    assert [leaving.found for leaving in plan(wish(0), hosts_in("a"), counted).remove] == [mine]
    assert census("cp", [replace(mine, half_made=False), theirs]).doubles == ()


DISK_ALONE = "cp-1-disk1 on host-1 is a disk of cp-1, whose VM is gone. It is left alone."


def test_disks_without_a_vm_are_no_member_and_stay() -> None:
    disks = used(1, 1, disks=("cp-1-disk1",))
    with pytest.raises(Failure, match="whose VM is gone"):
        planned(1, [disks])
    assert [one.text for one in planned(0, [disks]).left] == [DISK_ALONE]
    # They keep nobody from being the VM of that name, and nothing half made from going.
    for other, gone in ((vm(1, 2), []), (half(1, 2), []), (half(1, 2, claim="web"), [])):
        counted = census("cp", [disks, other])
        assert [one.text for one in counted.doubtful if one.hint] == [DISK_ALONE]
        assert [one.host for one in counted.doubles] == gone
        assert [one.host for one in counted.members.values()] == (["host-2"] if other.claim == "cp" else [])
    theirs = replace(disks, claim="web")
    assert planned(0, [theirs]).left == ()
    with pytest.raises(Failure, match="cp-1 is held by claim web"):
        planned(1, [theirs])
    several = used(1, 1, disks=("cp-1-disk1", "cp-1-disk2"))
    assert "cp-1-disk1 and cp-1-disk2 on host-1 are disks of cp-1" in planned(0, [several]).left[0].text


def test_a_vm_that_was_made_for_something_else_is_in_the_way() -> None:
    alone = vm(1, claim="", made_for="cp-1")
    with pytest.raises(Failure, match=r"cp-1 on host-1 was made for cp-1, and not for the claim cp\."):
        planned(1, [alone])
    assert removed(planned(0, [alone])) == ""
    for mine in (vm(1, claim="", made_for="cp"), vm(1, made_for="db")):
        assert removed(planned(0, [mine])) == "cp-1"


def test_machines_without_vms_go_before_vms_in_use() -> None:
    found = [vm(1, 1, lost=True), vm(2, 2), vm(3, 3, lost=True), vm(4, 1)]
    for count, removes in ((3, "cp-3"), (2, "cp-3 cp-1"), (1, "cp-3 cp-1 cp-4"), (4, "")):
        assert removed(planned(count, found)) == removes
    hosts = [replace(host, schedulable=host.name != "host-2") for host in hosts_in("a b c")]
    assert removed(plan(wish(3), hosts, census("cp", found))) == "cp-3"
    assert "its VM on host-3 is gone" in planned(3, found).remove[0].reason


MACHINE = {
    "hostname": "cp-2",
    "owner": None,
    "pod": {"id": 1, "name": "host-1"},
    "power_type": "lxd",
    "workload_annotations": {},
}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, {}),
        ({"owner": "me"}, {}),
        ({"owner": "jo"}, {"owner": "jo"}),
        ({"workload_annotations": {"metalshift_claim": "cp"}}, {"claim": "cp"}),
        (
            {"workload_annotations": {"metalshift_cluster": "a/b", "metalshift_node_pool": "x"}},
            {"cluster": "hosted cluster a/b (node pool x)"},
        ),
        ({"pod": None}, {"host": ""}),
        ({"pod": None, "power_type": "ipmi"}, {"host": "", "virtual": False}),
    ],
)
def test_a_machine_of_maas_tells_whose_it_is(facts: dict[str, Any], expected: dict[str, Any]) -> None:
    assert FoundVm.of({**MACHINE, **facts}, "me") == replace(FoundVm("cp-2", "host-1"), **expected)


def test_a_vm_that_was_added_to_maas_is_on_the_host_that_is_known_otherwise() -> None:
    assert FoundVm.of({**MACHINE, "pod": None}, "me", host="host-7").host == "host-7"


# -- what is made and removed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "found", "makes", "removes"),
    [
        (3, [], "cp-1@host-1 cp-2@host-2 cp-3@host-3", ""),
        (3, [vm(1, 1), vm(2, 2), vm(3, 3)], "", ""),
        (4, [vm(1, 1), vm(4, 2)], "cp-2@host-3 cp-3@host-1", ""),
        (3, [vm(2, 2)], "cp-1@host-1 cp-3@host-3", ""),
        (2, [vm(7, 1), vm(9, 1)], "", ""),
        (3, [vm(7, 1), vm(9, 1)], "cp-1@host-2", ""),
        (1, [vm(1, 1), vm(2, 2), vm(3, 3)], "", "cp-3 cp-2"),
        (2, [vm(10, 1), vm(9, 2), vm(1, 3)], "", "cp-10"),
        (0, [vm(1, 1), vm(2, 2)], "", "cp-2 cp-1"),
        (0, [], "", ""),
    ],
)
def test_free_numbers_are_filled_and_the_highest_go(count: int, found: list[FoundVm], makes: str, removes: str) -> None:
    result = planned(count, found)
    assert (made(result), removed(result)) == (makes, removes)
    assert {one.name for one in result.keep} == {one.name for one in found} - set(removes.split())


def test_vms_on_unschedulable_hosts_go_first_and_nothing_new_comes_there() -> None:
    hosts = [replace(host, schedulable=host.name != "host-1") for host in hosts_in("a b")]
    found = census("cp", [vm(1, 1), vm(2, 2), vm(3, 2)])
    assert plan(wish(1), hosts, found).remove == (
        SurplusVm(vm(1, 1), "host-1 is unschedulable"),
        SurplusVm(vm(3, 2), "one of the last: 1 of 3 stay"),
    )
    assert plan(wish(4), hosts, found).make == (NewVm("cp-4", "host-2"),)


@pytest.mark.parametrize(
    ("count", "found", "moves", "makes", "removes"),
    [
        (3, [vm(1, 1), vm(2, 2), vm(3, 3)], "cp-1", "cp-1@host-2", ""),
        (3, [vm(2, 2), vm(5, 1), vm(7, 1)], "cp-5 cp-7", "cp-5@host-3 cp-7@host-2", ""),
        (4, [vm(2, 2), vm(3, 1)], "cp-3", "cp-1@host-3 cp-3@host-2 cp-4@host-3", ""),
        (2, [vm(1, 1), vm(2, 2), vm(3, 1)], "cp-1", "cp-1@host-3", "cp-3"),
        (1, [vm(1, 1), vm(2, 2), vm(3, 1)], "", "", "cp-3 cp-1"),
        (2, [vm(1, 2), vm(2, 3)], "", "", ""),
    ],
)
def test_vms_leave_an_evacuated_host_under_their_names(
    count: int, found: list[FoundVm], moves: str, makes: str, removes: str
) -> None:
    result = planned(count, found, evacuated=frozenset({"host-1"}))
    moved = " ".join(leaving.found.name for leaving in result.moved)
    assert (moved, made(result), removed(result)) == (moves, makes, removes)
    assert {one.host for one in result.keep} <= {"host-2", "host-3"}


def test_a_vm_that_leaves_its_host_keeps_its_address() -> None:
    result = planned(1, [vm(1)], held={"10.0.0.15": "cp-1"}, addresses={"eth0": POOL}, evacuated=frozenset({"host-1"}))
    assert result.addresses == {"cp-1": {"eth0": "10.0.0.15"}}
    assert [step.verb for step in result.steps()] == ["delete", "create"]


def shortage_of(planned: SetPlan) -> Failure:
    assert planned.shortage is not None
    return planned.shortage


def test_no_host_is_evacuated_without_room_elsewhere() -> None:
    evacuation = wish(2, evacuated=frozenset({"host-1"}))
    planned_in_part = plan(evacuation, hosts_in("a b", cores=0), census("cp", [vm(1, 1), vm(2, 2)]))
    assert re.match(
        r"1 of 2 VMs of the claim cp cannot be placed: host-1: .*; host-2: ", shortage_of(planned_in_part).message
    )
    with pytest.raises(Failure, match="cp-1 cannot be removed: hosted cluster a/b uses it"):
        planned(1, [vm(1, cluster="hosted cluster a/b")], evacuated=frozenset({"host-1"}))


def test_what_a_hosted_cluster_uses_is_not_removed() -> None:
    used = vm(2, cluster="hosted cluster a/b (node pool x)")
    with pytest.raises(Failure, match=r"cp-2 cannot be removed: hosted cluster a/b \(node pool x\) uses it") as caught:
        planned(1, [vm(1), used])
    assert caught.value.kind == "claimed"
    assert removed(planned(1, [used, vm(3)])) == "cp-3"


def test_what_cannot_be_placed_is_said_before_anything_is_made() -> None:
    planned_in_part = plan(wish(3), hosts_in("a b", cores=1), census("cp", []))
    shortage = shortage_of(planned_in_part)
    assert [new.host for new in planned_in_part.make] == ["host-1", "host-2", ""]
    assert (shortage.kind, shortage.message) == (
        "capacity",
        "1 of 3 VMs of the claim cp cannot be placed: "
        "host-1: needs 1 core, 0 free after 1 of them; host-2: needs 1 core, 0 free after 1 of them.",
    )


def test_a_vm_is_told_which_cores_it_is_pinned_to() -> None:
    asked = replace(wish(2), size=Size(2, 1, pinned=True))
    result = plan(asked, hosts_in("a", cores=4), census("cp", []))
    assert result.make == (NewVm("cp-1", "host-1", (0, 1)), NewVm("cp-2", "host-1", (2, 3)))
    assert result.steps()[0].after == {"host": "host-1", "pinned_cores": [0, 1]}


def test_addresses_are_shared_out_among_those_that_stay_and_those_that_come() -> None:
    addresses = {"eth0": POOL, "eth1": ("10.1.0.1", "10.1.0.2")}
    result = planned(2, [vm(2, 2)], held={"10.0.0.15": "cp-2", "10.0.0.11": "node-7"}, addresses=addresses)
    assert result.addresses == {
        "cp-1": {"eth0": "10.0.0.12", "eth1": "10.1.0.1"},
        "cp-2": {"eth0": "10.0.0.15", "eth1": "10.1.0.2"},
    }


def test_no_address_serves_two_interfaces() -> None:
    with pytest.raises(Failure, match=r"10\.0\.0\.12 is listed for several interfaces") as caught:
        planned(1, addresses={"eth0": POOL[:2], "eth1": POOL[1:]})
    assert caught.value.kind == "invalid"


def test_those_that_leave_get_no_address() -> None:
    result = planned(1, [vm(1), vm(2)], addresses={"eth0": POOL[:1]})
    assert result.addresses == {"cp-1": {"eth0": "10.0.0.11"}}


def test_the_steps_show_where_each_vm_goes() -> None:
    result = planned(1, [], addresses={"eth0": POOL})
    (step,) = result.steps()
    assert (step.verb, step.object, step.reason) == ("create", "cp-1", "on host-1")
    assert step.after == {"host": "host-1", "addresses": {"eth0": "10.0.0.11"}}
    (step,) = planned(0, [vm(1)]).steps()
    assert (step.verb, step.object, step.reason) == ("delete", "cp-1", "one of the last: 0 of 1 stay")
    assert step.before == {"host": "host-1"}


# -- any set, killed anywhere ------------------------------------------------------------------------------------------

sets = st.lists(
    st.builds(vm, st.integers(1, 7), st.integers(1, 4), claim=st.sampled_from(["cp", ""])),
    max_size=5,
    unique_by=lambda found: found.name,
)
zones_of_hosts = st.sampled_from(["a", "a b", "a b c", "a a b b"])


@given(st.integers(0, 6), sets, zones_of_hosts, st.sampled_from(VmSpread), st.data())
def test_a_plan_that_was_carried_out_in_part_is_completed_by_the_next_run(
    count: int, found: list[FoundVm], zones: str, spread: VmSpread, data: st.DataObject
) -> None:
    addresses = {"eth0": POOL}
    first = planned(count, found, zones, addresses=addresses, spread=spread)
    held: dict[str, str] = {}
    there = list(first.keep)
    for new in first.make:
        if data.draw(st.booleans()):
            # The answer was lost, so it has no annotation.
            there.append(FoundVm(new.name, new.host))
            if data.draw(st.booleans()):
                held[first.addresses[new.name]["eth0"]] = new.name
    there += [leaving.found for leaving in first.remove if data.draw(st.booleans())]
    second = planned(count, there, zones, held, addresses=addresses, spread=spread)
    names = [{one.name for one in (*result.keep, *result.make)} for result in (first, second)]
    assert names[0] == names[1]
    assert second.addresses == first.addresses
    assert {leaving.found for leaving in second.remove} <= {leaving.found for leaving in first.remove}
    ended = [*second.keep, *(FoundVm(new.name, new.host) for new in second.make)]
    third = planned(count, ended, zones, addresses=addresses, spread=spread)
    assert (len(third.keep), third.make, third.remove) == (count, (), ())


@given(st.integers(0, 6), sets, zones_of_hosts)
def test_the_order_in_which_things_are_seen_does_not_matter(count: int, found: list[FoundVm], zones: str) -> None:
    assert planned(count, found, zones) == planned(count, found[::-1], zones)
