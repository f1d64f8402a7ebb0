# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab's MAAS has from the start: machines to deploy, an image of CoreOS, and the pace of real hardware."""

from __future__ import annotations

import hashlib

from metalshift_lab.kube.speed import Speed
from metalshift_lab.lxd.server import RealLxd
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.model import BootFile, BootResource, BootSet, Machine
from metalshift_lab.simulator.state import State

IMAGE = "rhcos-4.20"  # to be deployed as custom/rhcos-4.20
ZONES = ("az1", "az2", "az3")
POOL, TAGS = "openshift", ("worker",)
CORES, MEMORY, DISK = 8, 32768, "500"
IMAGE_SIZE = 4096
LXD_HOST, NO_CARD = "lxd-host", "00:16:3e:ff:ff:ff"

# Seconds of real life, of servers with a long self-test of their firmware.
PACE = {"commission": 6 * 60, "test": 5 * 60, "deploy": 12 * 60, "release": 60, "erase": 10 * 60, "rescue": 4 * 60}


def stock(sim: Simulator, machines: int = 12) -> list[Machine]:
    """Machines that are Ready, in three zones in turn, and the image to deploy on them."""
    with sim.world.at_rest() as state:
        if state.boot_resources.first(name=IMAGE) is None:
            _image(state)
    return sim.machines(
        machines, prefix="worker", zones=ZONES, pools=(POOL,), tags=TAGS, cpu=CORES, memory=MEMORY, disk=DISK
    )


def pace(sim: Simulator, speed: Speed) -> None:
    """Let transitions take their real time, divided by the lab's speed."""
    longest = max(PACE.values())
    sim.auto(speed.seconds(longest), **{action: speed.seconds(seconds) for action, seconds in PACE.items()})


def with_lxd(sim: Simulator, lxd: RealLxd) -> None:
    """MAAS knows the machine that LXD runs on, and drives this LXD and those that nodes on it will have."""
    for where in (lxd.endpoint, lxd.subnet):
        sim.real_lxd(where)
    mac = next(iter(lxd.macs), "")
    sim.standing(LXD_HOST, mac=mac or NO_CARD, ip=lxd.gateway, network=lxd.subnet, zone=ZONES[0])


def _image(state: State) -> None:
    """As after an upload with filetype ddgz."""
    resource = state.boot_resources.make(
        BootResource,
        type="Uploaded",
        name=IMAGE,
        title="Red Hat Enterprise Linux CoreOS 4.20",
        architecture="amd64/generic",
        base_image="ubuntu/noble",
    )
    resource.sets.append(state.boot_sets.make(BootSet, version="20260801", label="uploaded"))
    digest = hashlib.sha256(IMAGE.encode()).hexdigest()
    file = state.boot_files.make(
        BootFile, filename="root-dd.gz", filetype="root-dd.gz", size=IMAGE_SIZE, sha256=digest, received=IMAGE_SIZE
    )
    resource.sets[0].files.append(file)
