# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from metalshift_lab.kube.provider import vms

WISH = vms.Wish(zone="", pool="", tags=(), cores=4, memory=8192, disk=60)


def host(**values: Any) -> vms.Host:
    return {
        "id": 1,
        "name": "lxd-host-h1",
        "host": {"system_id": "aaaaaa"},
        "zone": {"id": 1, "name": "az1"},
        "pool": {"id": 2, "name": "kvm"},
        "tags": ["ssd"],
        "available": {"cores": 8, "memory": 16384},
        "storage_pools": [{"name": "default", "available": 100 * 10**9}],
        **values,
    }


@pytest.mark.parametrize(
    ("wish", "values", "fits"),
    [
        (WISH, {}, True),
        (replace(WISH, zone="az1", pool="kvm", tags=("ssd",)), {}, True),
        (replace(WISH, zone="az2"), {}, False),
        (replace(WISH, pool="default"), {"pool": {"id": 0, "name": "default"}}, False),
        (replace(WISH, tags=("ssd", "gpu")), {}, False),
        (replace(WISH, cores=9), {}, False),
        (replace(WISH, memory=16385), {}, False),
        (replace(WISH, disk=101), {}, False),
        (WISH, {"storage_pools": [{"name": "ceph", "available": 10**12, "remote": True}]}, False),
        (WISH, {"host": {"system_id": None}}, False),
    ],
)
def test_a_host_has_to_fit_in_everything(wish: vms.Wish, values: dict[str, Any], fits: bool) -> None:
    assert vms.fits(host(**values), wish) is fits


def test_the_least_crowded_host_comes_before_the_one_with_most_to_spare() -> None:
    small = host(host={"system_id": "small"})
    large = host(host={"system_id": "large"}, available={"cores": 64, "memory": 65536})
    assert vms.best([small, large], WISH, {}) is large
    assert vms.best([small, large], WISH, {"large": 1}) is small
    assert vms.best([], WISH, {}) is None


@pytest.mark.parametrize(
    ("machine", "takes"),
    [
        ({"power_state": "on", "status_name": "Deployed"}, True),
        ({"power_state": "off", "status_name": "Deployed"}, False),
        ({"power_state": "on", "status_name": "Ready"}, False),
        ({"power_state": "on", "status_name": "Deployed", "tag_names": ["maas-lxd-host-noschedule"]}, False),
    ],
)
def test_the_machine_under_a_host_has_to_run(machine: dict[str, Any], takes: bool) -> None:
    assert vms.open_for_more(machine) is takes


def test_what_no_host_has_is_said() -> None:
    assert WISH.unmet() == 'no eligible LXD host found (zone="", pool="", tags=[], minCores=4, minMemory=8192)'


def test_only_two_subnets_become_interfaces() -> None:
    assert vms.interfaces("pxe, data") == "eth0:subnet=pxe;eth1:subnet=data"
    assert vms.interfaces("pxe") == ""


def test_a_cluster_is_known_by_its_namespace() -> None:
    assert vms.cluster_id("cluster-abc") == "abc"
    assert len(vms.cluster_id("clusters-demo")) == 8
