# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks, what is made of them, and layouts."""

from __future__ import annotations

from typing import Any

import pytest

EXTENT = 4 * 1024**2


@pytest.fixture
def node(sim: Any, maas: Any) -> str:
    """The path of a Ready machine with three bare disks."""
    machine = sim.machine("node01", disks=(100, 200, 300))
    assert maas.op("node01", "set_storage_layout", storage_layout="blank").ok
    return f"nodes/{machine.system_id}/"


def ids(maas: Any, node: str) -> list[int]:
    return [d["id"] for d in maas("GET", f"{node}blockdevices/").json()]


@pytest.mark.parametrize(
    ("layout", "mounted"),
    [
        ("flat", {"sda-part2": "/"}),
        ("lvm", {"vgroot-lvroot": "/"}),
        ("bcache", {"sda-part2": "/boot", "bcache0": "/"}),
        ("vmfs6", {"datastore1": "/vmfs/volumes/datastore1"}),
        ("blank", {}),
    ],
)
def test_layouts(maas: Any, node: str, layout: str, mounted: dict[str, str]) -> None:
    machine = maas.op("node01", "set_storage_layout", storage_layout=layout).json()
    things = [*machine["blockdevice_set"], *(p for d in machine["blockdevice_set"] for p in d["partitions"])]
    found = {
        t["path"].rsplit("/", 1)[1]: t["filesystem"]["mount_point"]
        for t in things
        if t["filesystem"] and t["filesystem"]["mount_point"]
    }
    assert found == mounted
    assert all(d["used_size"] + d["available_size"] <= d["size"] for d in machine["blockdevice_set"])


def test_partitions_fill_a_disk_and_no_more(maas: Any, node: str) -> None:
    path = f"{node}blockdevices/{ids(maas, node)[1]}/"
    assert maas("POST", f"{path}partitions/", {"size": "150G"}).json()["size"] % EXTENT == 0
    assert list(maas("POST", f"{path}partitions/", {"size": "150G"}).json()) == ["size"]
    rest = maas("POST", f"{path}partitions/").json()
    assert maas("GET", path).json()["available_size"] == 0
    assert maas("DELETE", f"{path}partition/{rest['id']}").status_code == 204
    assert maas("GET", path).json()["available_size"] >= rest["size"]


def test_a_volume_group_is_emptied_before_it_goes(maas: Any, node: str) -> None:
    group = maas("POST", f"{node}volume-groups/", {"name": "vg0", "block_devices": ids(maas, node)[1:]}).json()
    path = f"{node}volume-group/{group['id']}/"
    volume = maas("POST", f"{path}?op=create_logical_volume", {"name": "lv0"}).json()
    assert volume["size"] == group["size"]
    assert maas("DELETE", path).status_code == 400
    assert maas("POST", f"{path}?op=delete_logical_volume", {"id": volume["id"]}).status_code == 204
    assert maas("DELETE", path).status_code == 204
    assert {d["used_for"] for d in maas("GET", f"{node}blockdevices/").json()} == {"Unused"}


@pytest.mark.parametrize(
    ("level", "devices", "size"),
    [("raid-0", 2, 2 * 100), ("raid-1", 3, 100), ("raid-5", 3, 2 * 100), ("raid-6", 3, None), ("raid-0", 1, None)],
)
def test_raids(maas: Any, node: str, level: str, devices: int, size: int | None) -> None:
    chosen = ids(maas, node)[:devices]
    made = maas("POST", f"{node}raids/", {"name": "md0", "level": level, "block_devices": chosen})
    if size is None:
        assert made.json()["__all__"][0].startswith(f"RAID level {level[5:]} must have at least")
    else:
        assert round(made.json()["size"] / 1000**3) == size
        assert made.json()["virtual_device"]["name"] == "md0"


def test_a_disk_and_a_partition_of_one_id_are_two_things(sim: Any, maas: Any, node: str) -> None:
    sim.machine("node02", disks=(100, 100, 100))
    assert maas.op("node02", "set_storage_layout", storage_layout="blank").ok
    node = f"nodes/{sim.find('node02').system_id}/"
    first, *others = ids(maas, node)
    while sim.state.partitions.reserve_id() < others[0] - 1:
        continue
    part = maas("POST", f"{node}blockdevices/{first}/partitions/", {"size": "90000000000"}).json()
    assert part["id"] == others[0]
    form = {"name": "md0", "level": "raid-1", "block_devices": others, "partitions": part["id"]}
    made = maas("POST", f"{node}raids/", form).json()
    left = maas("PUT", f"{node}raid/{made['id']}/", {"remove_partitions": part["id"]}).json()
    assert sorted(device["id"] for device in left["devices"]) == others
    assert all(device["type"] == "physical" for device in left["devices"])


def test_a_disk_in_use_is_not_taken_twice(maas: Any, node: str) -> None:
    disk = ids(maas, node)[1]
    assert maas("POST", f"{node}blockdevices/{disk}/?op=format", {"fstype": "ext4"}).ok
    refused = maas("POST", f"{node}volume-groups/", {"name": "vg0", "block_devices": disk})
    text = f"Select a valid choice. {disk} is not one of the available choices."
    assert refused.json() == {"block_devices": [text]}


def test_only_a_ready_machines_disks_change(maas: Any, sim: Any, node: str) -> None:
    disk = ids(maas, node)[1]
    maas("POST", "machines/?op=allocate", {"name": "node01"})
    refused = maas("POST", f"{node}blockdevices/{disk}/partitions/", {"size": "1G"})
    assert (refused.status_code, refused.text) == (409, "Cannot create partition because the machine is not Ready.")
