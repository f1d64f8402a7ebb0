# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""System containers that pass for machines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from metalshift_lab.lxd import remains
from metalshift_lab.lxd.image import image
from metalshift_lab.lxd.nodes import Node, inventory, nodes, remove
from metalshift_lab.lxd.places import place_for_tests
from metalshift_lab.lxd.server import RealLxd


@pytest.fixture(scope="module")
def pair(real_lxd: RealLxd) -> Iterator[list[Node]]:
    yield nodes(real_lxd, ["node-a", "node-b"])
    remove(real_lxd, ["node-a", "node-b"])


def groups(name: str) -> list[Path]:
    """The control groups that LXC has made for a node."""
    return [path for depth in ("", "*/") for path in Path("/sys/fs/cgroup").glob(f"{depth}lxc.*.{name}")]


def test_a_node_is_reached_by_ssh_and_runs_systemd(pair: list[Node]) -> None:
    assert [node.run("hostname").strip() for node in pair] == ["node-a", "node-b"]
    assert [node.run("systemctl", "is-system-running").strip() for node in pair] == ["running", "running"]


def test_a_node_has_the_address_that_the_inventory_says(pair: list[Node], real_lxd: RealLxd) -> None:
    hosts = inventory(pair)["all"]["hosts"]
    for node in pair:
        assert f"inet {hosts[node.name]['ansible_host']}/24" in node.run("ip", "address", "show", "eth0")
        assert f"nameserver {real_lxd.gateway}" in node.run("cat", "/etc/resolv.conf")


def test_nodes_know_each_other_by_name(pair: list[Node]) -> None:
    assert pair[1].address in pair[0].run("getent", "hosts", "node-b.lxd")


def test_nodes_that_are_there_stay_as_they_are(pair: list[Node], real_lxd: RealLxd) -> None:
    before = pair[0].run("cat", "/proc/sys/kernel/random/boot_id")
    again = nodes(real_lxd, ["node-a", "node-c"])
    assert again[0] == pair[0]
    assert again[1].address not in {node.address for node in pair}
    assert pair[0].run("cat", "/proc/sys/kernel/random/boot_id") == before
    remove(real_lxd, ["node-c", "nosuch"])
    assert "node-c" not in {each["name"] for each in real_lxd.local.get("/1.0/instances?recursion=1")}


def test_the_image_is_built_once(pair: list[Node]) -> None:
    said: list[str] = []
    assert image(say=said.append).tree.exists()
    assert said == []


def test_an_image_that_nobody_uses_any_more_goes(pair: list[Node]) -> None:
    old, young = (image().tree.with_name(f"node-test-{name}.squashfs") for name in ("old", "young"))
    for tree in (old, young):
        tree.touch()
        tree.with_suffix(".tar.gz").touch()
    os.utime(old, (0, 0))
    image()
    assert (old.exists(), old.with_suffix(".tar.gz").exists(), young.exists()) == (False, False, True)
    young.unlink()
    young.with_suffix(".tar.gz").unlink()


@pytest.mark.parametrize("dies", ["with an end", "without"])
def test_nothing_is_left_of_containers(real_lxd: RealLxd, dies: str) -> None:
    with place_for_tests() as place:
        lxd = RealLxd.start(place)
        nodes(lxd, ["goes-away"])
        assert groups("goes-away")
        if dies == "without":
            lxd.kill()
            assert remains.clear(place)
        else:
            lxd.stop()
        assert groups("goes-away") == []
        assert remains.family(place) == []
        assert not Path(f"/run/lxc/lock{place}").exists()
