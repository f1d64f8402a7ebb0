# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where LXD and pylxd are not what one would think, and our results are nevertheless."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import LxdConnection
from lxd.cases import LIVES, Case, bridge, project
from lxd.place import Place
from lxd.test_twelve_steps import writes

WITHOUT_ADDRESSES = {"ipv4.address": "none", "ipv6.address": "none"}


def client(lxd: Place) -> Lxd:
    return Lxd(LxdConnection.from_params({**lxd.reach, "lxd_timeout": 60.0}, {}))


@pytest.mark.parametrize("case", [case for case in LIVES if case.noun not in ("trust_token", "server")], ids=str)
def test_a_result_is_read_anew_after_each_change(lxd: Place, case: Case) -> None:
    """`sync` of pylxd's models may refresh nothing."""
    case.arrange(lxd)
    for step in ("create", "change"):
        shown = lxd.run(case.module, getattr(case, step))[case.noun]
        everything = str(lxd.snapshot())
        values = [*(shown.get("config") or {}).values(), shown.get("description", ""), shown["name"]]
        assert all(repr(value) in everything for value in values), values


def test_drivers_are_told_in_an_order_that_stays(lxd: Place) -> None:
    told = [lxd.run("lxd_info", {"gather": ["server"]})["lxd"] for _again in range(8)]
    assert all(list(each["drivers"]) == sorted(each["drivers"]) for each in told)
    assert len({each["server"]["environment"]["driver"] for each in told}) == 1
    assert told[0]["drivers"]["lxc"] == lxd.get("")["environment"]["server_version"]


def test_virtual_machines_and_containers_are_told_apart(lxd: Place) -> None:
    """LXD lists instances of all types under each of their paths."""
    project(lxd)
    wanted = {"c": "container", **({"v": "virtual-machine"} if "qemu" in lxd.real.drivers else {})}
    for name, kind in wanted.items():
        source = {"name": f"{lxd.name}-{name}", "type": kind, "source": {"type": "none"}, "profiles": []}
        root = {"root": {"type": "disk", "path": "/", "pool": "default"}}
        lxd.ask("POST", f"instances?project={lxd.name}", {**source, "devices": root})
    gather = ["containers", "virtual_machines", "instances"]
    told = lxd.run("lxd_info", {"gather": gather, "lxd_project": "NAME"})["lxd"]
    names = {subset: [each["name"] for each in told[subset]] for subset in gather}
    assert names["containers"] == [f"{lxd.name}-c"]
    assert names["virtual_machines"] == [f"{lxd.name}-v"] * ("v" in wanted)
    assert sorted(names["instances"]) == sorted(f"{lxd.name}-{name}" for name in wanted)


def test_an_operation_that_fails_is_a_failure_though_its_answer_is_200(lxd: Place) -> None:
    instance = {"name": lxd.name, "source": {"type": "none"}, "profiles": []}
    body = {**instance, "devices": {"root": {"type": "disk", "path": "/", "pool": "default"}}}
    ours = client(lxd)
    ours.post("instances", body, what=f"create the instance {lxd.name}")
    with pytest.raises(Failure, match=f"refused to create the instance {lxd.name}: .*already exists") as caught:
        ours.post("instances", body, what=f"create the instance {lxd.name}")
    assert caught.value.kind == "conflict"


def test_a_project_begins_with_a_profile_that_has_no_devices(lxd: Place) -> None:
    lxd.run("lxd_project", {"name": "NAME"})
    done = lxd.run("lxd_profile", {"lxd_project": "NAME", "name": "default"})
    assert not done.changed
    assert done["profile"]["devices"] == {}


def test_check_mode_foresees_what_is_in_a_project_that_it_foresees(lxd: Place) -> None:
    root = {"root": {"type": "disk", "path": "/", "pool": "default"}}
    wish = {"lxd_project": "NAME", "name": "default", "devices": root}
    foreseen = lxd.run("lxd_profile", wish, check=True)
    lxd.run("lxd_project", {"name": "NAME"})
    done = lxd.run("lxd_profile", wish)
    assert "has no project" in foreseen["warnings"][0]
    assert foreseen["diff"] == done["diff"]
    assert foreseen["profile"] == {**done["profile"], "predicted": True}


@pytest.mark.parametrize("check", [False, True])
def test_what_is_to_be_gone_went_with_its_project(lxd: Place, check: bool) -> None:
    told = lxd.run("lxd_profile", {"lxd_project": "NAME", "name": "x", "state": "absent"}, check=check)
    assert (told.failed, told.changed, told["profile"]) == (False, False, {})
    assert told["warnings"] == [f"LXD has no project {lxd.name}, and so no profile x in it."]


def test_a_pool_that_only_holds_copies_of_images_is_removed(lxd: Place) -> None:
    """LXD names images among the users of a pool, and removes them with it."""
    lxd.run("lxd_storage_pool", {"name": "NAME", "driver": "btrfs", "config": {"size": "1GiB"}})
    lxd.ask("POST", "instances", {"name": "NAME", "source": {"type": "image", "alias": an_image(lxd)}, **on_pool(lxd)})
    lxd.ask("DELETE", f"instances/{lxd.name}")
    assert [user for user in lxd.get(f"storage-pools/{lxd.name}")["used_by"] if "/images/" in user]
    removed = lxd.run("lxd_storage_pool", {"name": "NAME", "state": "absent"})
    assert removed.changed


def an_image(lxd: Place) -> str:
    """The alias of a container's image with nothing in it."""
    tree, packed = lxd.folder / "image", lxd.folder / "image.tar.gz"
    (tree / "rootfs" / "etc").mkdir(parents=True)
    (tree / "metadata.yaml").write_text("architecture: x86_64\ncreation_date: 1\nproperties: {os: none}\n")
    subprocess.run(["tar", "-C", tree, "-czf", packed, "metadata.yaml", "rootfs"], check=True)
    known = {**os.environ, **lxd.real.environment}
    subprocess.run(["lxc", "image", "import", packed, "--alias", lxd.name], env=known, check=True, capture_output=True)
    return lxd.name


def on_pool(lxd: Place) -> dict[str, Any]:
    return {"profiles": [], "devices": {"root": {"type": "disk", "path": "/", "pool": lxd.name}}}


def test_other_networks_of_the_machine_are_not_taken_over(lxd: Place) -> None:
    """LXD would make a network of the name of an interface that exists."""
    told = lxd.run("lxd_network", {"name": "lo", "config": WITHOUT_ADDRESSES})
    assert told.failed
    assert told["failure"]["kind"] == "conflict"
    assert writes(told) == []


@pytest.mark.parametrize("check", [False, True])
def test_an_interface_of_the_machine_is_no_network_to_remove(lxd: Place, check: bool) -> None:
    """LXD lists it, and answers its removal as if it had never been there."""
    told = lxd.run("lxd_network", {"name": "lo", "state": "absent"}, check=check)
    assert (told.failed, told.changed, told["diff"]) == (False, False, [])
    assert writes(told) == []


def test_an_address_of_lxds_choice_stays(lxd: Place) -> None:
    wish = {"name": "NAME", "config": {"ipv4.address": "none", "ipv6.address": "auto"}}
    first = lxd.run("lxd_network", wish)
    again = lxd.run("lxd_network", wish)
    assert first["network"]["config"]["ipv6.address"].startswith("fd42")
    assert not again.changed


@pytest.mark.parametrize(
    "asked",
    [
        {"config": {"ipv4.address": "none"}, "purge": True},
        {"config": {"ipv4.address": "none", "ipv6.address": None}},
        {"config": {"ipv4.address": "none", "ipv6.address": "auto"}, "purge": True},
    ],
    ids=["complete", "unset", "complete, with an address"],
)
def test_addresses_that_nobody_asked_for_are_gone_after_the_first_run(lxd: Place, asked: Any) -> None:
    """LXD gives a new bridge those, and a NAT, of which it is told nothing."""
    first = lxd.run("lxd_network", {"name": "NAME", **asked})
    again = lxd.run("lxd_network", {"name": "NAME", **asked})
    assert (first.failed, again.changed) == (False, False)
    assert first["network"] == again["network"]


def test_a_setting_that_lxd_has_by_itself_is_no_change(lxd: Place) -> None:
    """It lists no setting of its own that is as it would be anyway."""
    wish = {"config": {"images.auto_update_interval": 6, "core.trust_ca_certificates": False}}
    done = lxd.run("lxd_server", wish)
    assert not done.changed
    assert writes(done) == []


def test_a_setting_that_is_not_listed_afterwards_is_told(lxd: Place) -> None:
    done = lxd.run("lxd_server", {"config": {"core.bgp_asn": 0}})
    assert done.changed
    assert done["warnings"] == [
        "LXD does not list core.bgp_asn: it has that value by itself. Leave it out, or it is changed in every run."
    ]


def test_a_password_is_set_once_or_always(lxd: Place) -> None:
    first = lxd.run("lxd_server", {"config": {"core.trust_password": "one-two-three"}})
    again = lxd.run("lxd_server", {"config": {"core.trust_password": "another"}})
    always = lxd.run("lxd_server", {"config": {"core.trust_password": "another"}, "update_password": "always"})
    assert (first.changed, again.changed, always.changed) == (True, False, True)
    assert always["server"]["config"]["core.trust_password"] is True


def test_an_interface_is_not_taken_from_a_network_that_needs_it(lxd: Place) -> None:
    bridge(lxd)
    asks = {"name": "NAME", "devices": {"eth0": {"type": "nic", "network": "NAME"}}}
    assert lxd.run("lxd_profile", asks).changed
    kept = lxd.run("lxd_network", {"name": "NAME", "state": "absent"}, check=True)
    assert kept.failed
    assert "profile" in kept.msg
