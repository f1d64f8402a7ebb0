# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure import disks
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.constraints import (
    LISTS,
    Constraints,
    shortfall,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.disks import DiskConstraint
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes

GB = 10**9
NO_VM = [("not_pod_type", "lxd"), ("not_pod_type", "virsh")]


def disk(number: int, size: int, *, root: bool = False, used: bool = False, tags: tuple[str, ...] = ("ssd",)) -> Any:
    partition = {"id": number, "type": "partition", "size": size - GB, "filesystem": {"mount_point": "/"}, "tags": []}
    return {
        "id": number,
        "type": "physical",
        "size": size,
        "tags": list(tags),
        "filesystem": {"mount_point": "/srv"} if used else None,
        "partition_table_type": "GPT" if root else None,
        "partitions": [partition] if root else [],
    }


def machine(**facts: Any) -> dict[str, Any]:
    vlan = {"id": 5001, "vid": 0, "name": "untagged", "fabric": "fabric-0", "space": "undefined"}
    subnet = {"id": 1, "cidr": "10.99.0.0/24", "name": "metal", "space": "undefined", "vlan": vlan}
    return {
        "system_id": "abc123",
        "hostname": "node-7",
        "fqdn": "node-7.maas",
        "zone": {"name": "az1"},
        "pool": {"name": "default"},
        "tag_names": ["gpu", "rack-3"],
        "architecture": "amd64/generic",
        "cpu_count": 8,
        "memory": 16384,
        "pod": None,
        "power_type": "ipmi",
        "blockdevice_set": [disk(1, 100 * GB, root=True), disk(2, 200 * GB), disk(3, 400 * GB, tags=("rotary",))],
        "interface_set": [{"vlan": vlan, "links": [{"mode": "auto", "subnet": subnet}]}],
        **facts,
    }


def asked(**params: Any) -> Constraints:
    return Constraints.from_params(params)


@pytest.mark.parametrize(
    ("params", "pairs"),
    [
        ({}, NO_VM),
        ({"compose": True}, []),
        ({"zones": ["az1", "az2"], "cores": 16}, [("zone", "az1"), ("zone", "az2"), ("cpu_count", "16"), *NO_VM]),
        ({"not_zones": "az3", "pools": ["gold"]}, [("not_in_zone", "az3"), ("pool", "gold"), *NO_VM]),
        ({"tags": ["a", "b", "a"], "not_tags": ["c"]}, [("tags", "a"), ("tags", "b"), ("not_tags", "c"), *NO_VM]),
        ({"memory": "8GiB"}, [("mem", "8192"), *NO_VM]),
        ({"memory": 8192}, [("mem", "8192"), *NO_VM]),
        ({"memory": "8192"}, [("mem", "8192"), *NO_VM]),
        ({"memory": "16GB"}, [("mem", "15259"), *NO_VM]),
        ({"cores": "2.5"}, [("cpu_count", "2.5"), *NO_VM]),
        ({"storage": ["root:100GB(ssd)", "data:1TB"]}, [("storage", "root:100(ssd),data:1000"), *NO_VM]),
        ({"storage": "200(ssd,sata),400"}, [("storage", "200(ssd,sata),400"), *NO_VM]),
        (
            {"storage": [{"label": "root", "size": "8GiB", "tags": ["ssd"]}]},
            [("storage", "root:8.589934592(ssd)"), *NO_VM],
        ),
        ({"storage": [250]}, [("storage", "250"), *NO_VM]),
        ({"architecture": "arm64"}, [("arch", "arm64"), *NO_VM]),
        (
            {"subnets": ["10.99.0.0/24"], "fabrics": ["fabric-0"], "vlans": ["vid:10"]},
            [("subnets", "10.99.0.0/24"), ("fabrics", "fabric-0"), ("vlans", "vid:10"), *NO_VM],
        ),
        (
            {"names": ["node-7"], "system_ids": ["x", "y"]},
            [("system_id", "x"), ("system_id", "y"), ("name", "node-7"), *NO_VM],
        ),
        ({"not_vm_hosts": ["lxd-one"]}, [("not_pod", "lxd-one"), *NO_VM]),
        ({"vm_hosts": ["lxd-one"], "compose": True}, [("pod", "lxd-one")]),
    ],
)
def test_what_allocate_is_sent(params: dict[str, Any], pairs: list[tuple[str, str]]) -> None:
    assert Constraints.from_params(params).to_allocate() == pairs


def test_a_chosen_machine_is_allocated_by_its_id_in_its_zone() -> None:
    wanted = asked(zones=["az1", "az2"], cores=4, virtual=True)
    assert wanted.to_allocate(zone="az2", system_id="abc123") == [
        ("zone", "az2"),
        ("cpu_count", "4"),
        ("system_id", "abc123"),
    ]


@pytest.mark.parametrize("params", [{"virtual": True}, {"vm_hosts": ["lxd-one"]}, {"names": ["a", "b"]}])
def test_what_allocate_cannot_express_needs_the_machines_id(params: dict[str, Any]) -> None:
    wanted = asked(**params)
    assert wanted.needs_system_id
    with pytest.raises(ValueError):
        wanted.to_allocate()
    assert ("system_id", "abc123") in wanted.to_allocate(system_id="abc123")


@pytest.mark.parametrize(
    ("params", "reasons"),
    [
        ({}, []),
        ({"zones": ["az1"], "pools": ["default"], "tags": ["gpu"], "cores": 8, "memory": "16GiB"}, []),
        ({"zones": ["az2", "az3"]}, ["in zone az1, not az2 or az3"]),
        ({"not_zones": ["az1"]}, ["in zone az1"]),
        ({"pools": ["gold"]}, ["in pool default, not gold"]),
        ({"not_pools": ["default"]}, ["in pool default"]),
        ({"tags": ["gpu", "nvme", "big"]}, ["no tag big, nvme"]),
        ({"not_tags": ["rack-3"]}, ["tag rack-3"]),
        ({"architecture": ["arm64"]}, ["amd64/generic, not arm64"]),
        ({"architecture": ["amd64"]}, []),
        ({"architecture": ["amd64/generic"]}, []),
        ({"architecture": ["amd64/hwe"]}, ["amd64/generic, not amd64/hwe"]),
        ({"cores": 16}, ["cores 8 < 16"]),
        ({"memory": "64GiB", "cores": 16}, ["cores 8 < 16", "memory 16 GiB < 64 GiB"]),
        ({"names": ["node-7.maas"]}, []),
        ({"names": ["node-8"]}, ["not named node-8"]),
        ({"system_ids": ["xyz"]}, ["not xyz"]),
        ({"subnets": ["10.99.0.0/24", "metal", "cidr:10.99.0.0/24", "name:metal", "id:1", "1", "fabric:fabric-0"]}, []),
        ({"subnets": ["metal", "backend"]}, ["not on subnet backend"]),
        ({"not_subnets": ["metal"]}, ["on subnet metal"]),
        ({"not_subnets": ["2001:db8::/64"]}, []),
        ({"fabrics": ["fabric-1"]}, ["not on fabric fabric-1"]),
        ({"vlans": ["vid:10", "untagged"]}, []),
        ({"vlans": ["vid:untagged"]}, []),
        ({"vlans": ["vid:10"]}, ["not on VLAN vid:10"]),
        ({"vm_hosts": ["lxd-one"]}, ["not on VM host lxd-one"]),
        ({"storage": ["100GB(ssd)", "200GB(ssd)", "400GB"]}, []),
        ({"storage": ["100GB", "400GB", "200GB"]}, []),
        ({"storage": ["200GB"]}, ["no root disk of 200 GB"]),
        ({"storage": ["100GB", "300GB(ssd)"]}, ["no unused disk of 300 GB (ssd)"]),
        ({"storage": ["100GB", "300GB", "300GB"]}, ["no unused disk of 300 GB"]),
        ({"storage": ["99GB(partition)"]}, []),
        ({"storage": ["100GB(partition)"]}, ["no root partition of 100 GB (partition)"]),
    ],
)
def test_why_a_machine_does_not_fit(params: dict[str, Any], reasons: list[str]) -> None:
    wanted = Constraints.from_params(params)
    assert wanted.why_not(machine()) == reasons
    assert wanted.matches(machine()) is (reasons == [])


@pytest.mark.parametrize(
    ("facts", "params", "reasons"),
    [
        ({"pod": {"name": "lxd-one"}}, {}, ["virtual, which virtual: true takes"]),
        ({"power_type": "lxd"}, {}, ["virtual, which virtual: true takes"]),
        ({"pod": {"name": "lxd-one"}}, {"virtual": True}, []),
        ({"pod": {"name": "lxd-one"}}, {"vm_hosts": ["lxd-one"]}, []),
        ({"pod": {"name": "lxd-one"}}, {"virtual": True, "not_vm_hosts": ["lxd-one"]}, ["on VM host lxd-one"]),
        (
            {"blockdevice_set": [], "cpu_count": None, "zone": None},
            {"cores": 1, "storage": [8]},
            ["cores 0 < 1", "no root disk of 8 GB"],
        ),
    ],
)
def test_virtual_and_poor_machines(facts: dict[str, Any], params: dict[str, Any], reasons: list[str]) -> None:
    assert Constraints.from_params(params).why_not(machine(**facts)) == reasons


def test_a_shortfall_is_told_zone_by_zone() -> None:
    wanted = asked(zones=["az1", "az2"], cores=16)
    ready = [machine(cpu_count=16), machine(), machine(cpu_count=4), machine(zone={"name": "az9"})]
    assert shortfall(ready, wanted) == [
        "az1: 3 ready, 1 fits (cores 4 < 16: 1; cores 8 < 16: 1)",
        "az2: 0 ready, 0 fit",
    ]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"memory": "8G"}, "memory cannot be '8G': 'G' is not a unit of size. Write 8GiB or 8GB;"),
        ({"memory": "much"}, "memory cannot be 'much'. Write a size such as 8GiB or 500GB, or a number of MiB."),
        ({"memory": "-8GiB"}, "memory cannot be '-8GiB'."),
        ({"memory": 0}, "memory cannot be 0. A size is larger than nothing."),
        ({"memory": True}, "memory cannot be True."),
        ({"memory": "8 bananas"}, "memory cannot be '8 bananas': 'bananas' is not a unit of size."),
        ({"cores": "many"}, "cores cannot be 'many'. Write the least number of cores, such as 16."),
        ({"cores": 0}, "cores cannot be 0."),
        ({"cores": "nan"}, "cores cannot be 'nan'."),
        ({"cores": True}, "cores cannot be True."),
        ({"storage": ["root:bad"]}, "storage cannot be 'bad'."),
        ({"storage": ["root:8(ssd"]}, "storage cannot contain 'root:8(ssd'. Write LABEL:SIZE(TAG,TAG)"),
        ({"storage": ["ro ot:8"]}, "storage cannot contain 'ro ot:8'."),
        ({"storage": [{"label": "root"}]}, "storage cannot contain {'label': 'root'}."),
        ({"storage": [{"size": 8, "colour": "red"}]}, "storage cannot contain {'size': 8, 'colour': 'red'}."),
        ({"storage": [True]}, "storage cannot contain True."),
        ({"storage": ["a:8", "a:9"]}, "storage has the label a twice."),
        ({"subnets": ["net:10"]}, "subnets cannot contain 'net:10'. Name it, or write one of id:…, cidr:…"),
        ({"subnets": ["cidr:"]}, "subnets cannot contain 'cidr:'."),
        ({"vlans": ["cidr:10.0.0.1"]}, "vlans cannot contain 'cidr:10.0.0.1'."),
        ({"names": []}, "names is an empty list, and no machine is in that. Leave it out to allow any."),
        ({"system_ids": []}, "system_ids is an empty list"),
        ({"zones": []}, "zones is an empty list"),
        ({"zones": ["a", "b"], "not_zones": ["b"]}, "zones and not_zones both name b. Take it out of one of them."),
    ],
)
def test_wrong_input_is_one_clear_sentence(params: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Failure) as failure:
        Constraints.from_params(params)
    assert failure.value.kind == "invalid"
    assert str(failure.value).startswith(sentence)


@pytest.mark.parametrize(
    ("value", "unit", "size"),
    [
        ("8GiB", "MiB", 8 * 2**30),
        ("500GB", "MiB", 500 * GB),
        ("1.5TiB", "MiB", 3 * 2**39),
        ("8 gib", "MiB", 8 * 2**30),
        (2048, "MiB", 2**31),
        ("2048", "GB", 2048 * GB),
        (0.5, "GB", GB // 2),
    ],
)
def test_sizes(value: object, unit: str, size: int) -> None:
    assert sizes.parse(value, "memory", unit) == size


@given(st.integers(1, 2**50))
def test_a_size_told_is_the_size_meant(size: int) -> None:
    assert sizes.parse(sizes.text(size), "memory", "B") == size
    assert sizes.parse(sizes.gigabytes(size), "storage", "GB") == size
    assert 0 <= sizes.mebibytes(size) * 2**20 - size < 2**20


words = st.text("abcdefghij-0123456789", min_size=1, max_size=8)
some_disks = st.lists(
    st.builds(
        DiskConstraint, st.integers(1, 2**45), st.just(""), st.lists(st.text("abc", min_size=1), max_size=2).map(tuple)
    ),
    max_size=4,
).map(tuple)


@given(some_disks)
def test_storage_reads_back_as_it_is_sent(wanted: tuple[DiskConstraint, ...]) -> None:
    sent = ",".join(disk.constraint for disk in wanted)
    assert disks.parse(sent or None) == wanted
    assert disks.parse([disk.constraint for disk in wanted]) == wanted


@given(st.dictionaries(st.sampled_from(sorted(set(LISTS) - {"vm_hosts"})), st.lists(words, min_size=1, max_size=3)))
def test_every_word_of_a_list_is_sent_once_under_its_key(params: dict[str, list[str]]) -> None:
    assume(not any(set(words) & set(params.get(f"not_{option}", ())) for option, words in params.items()))
    wanted = Constraints.from_params(params)
    pairs = wanted.to_allocate()
    for option, key in LISTS.items():
        assert [value for sent, value in pairs if sent == key] == list(dict.fromkeys(params.get(option, [])))


@given(st.integers(1, 64), st.integers(1, 2**17), st.sampled_from(["az1", "az2"]), st.sets(st.sampled_from("xyz")))
def test_a_machine_fits_what_asks_for_exactly_it(cpu: int, memory: int, zone: str, tags: set[str]) -> None:
    it = machine(cpu_count=cpu, memory=memory, zone={"name": zone}, tag_names=sorted(tags))
    assert asked(cores=cpu, memory=memory, zones=[zone], tags=sorted(tags)).matches(it)
    assert len(asked(cores=cpu + 1, memory=memory + 1, not_zones=[zone], tags=["more"]).why_not(it)) == 4
