# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Interfaces, their links and addresses."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def nics(sim: Any, maas: Any) -> Any:
    """Interfaces of a Ready machine, by name; call it again for their present state."""
    machine = sim.machine("node01", nics=3)
    base = f"nodes/{machine.system_id}/interfaces/"

    def read() -> dict[str, Any]:
        return {i["name"]: i for i in maas("GET", base).json()}

    read.base = base  # type: ignore[attr-defined]
    return read


def link(maas: Any, nics: Any, name: str, **form: Any) -> Any:
    return maas("POST", f"{nics.base}{nics()[name]['id']}/?op=link_subnet", form)


def modes(interface: Any) -> list[str]:
    return [a["mode"] for a in interface["links"]]


def test_a_bridge_takes_the_place_of_its_parent(maas: Any, nics: Any) -> None:
    eth1 = nics()["eth1"]
    link(maas, nics, "eth1", mode="static", subnet="10.99.0.0/24")
    made = maas("POST", nics.base, {"op": "create_bridge", "name": "br0", "parent": eth1["id"]}).json()
    assert (made["mac_address"], made["parents"], modes(made)) == (eth1["mac_address"], ["eth1"], ["link_up"])
    assert (nics()["eth1"]["children"], nics()["eth1"]["links"]) == (["br0"], [])
    again = maas("POST", f"{nics.base}?op=create_bond", {"name": "bond0", "parents": eth1["id"]})
    assert again.json() == {"parents": ["Interfaces already in-use: eth1."]}


def test_an_allocated_machines_bridge_takes_the_addresses_over(sim: Any, maas: Any, nics: Any) -> None:
    maas("POST", "machines/?op=allocate", {"name": "node01"})
    assert modes(nics()["eth0"]) == ["auto"]
    made = maas("POST", f"{nics.base}?op=create_bridge", {"name": "br0", "parent": nics()["eth0"]["id"]}).json()
    assert modes(made) == ["auto"]
    assert nics()["eth0"]["links"] == []


def test_an_allocated_machines_bridge_goes_with_its_release(sim: Any, maas: Any, nics: Any) -> None:
    """So the next allocation finds an interface without children, and makes its bridge anew."""
    maas("POST", "machines/?op=allocate", {"name": "node01"})
    for _allocation in range(2):
        maas("POST", f"{nics.base}?op=create_bridge", {"name": "br0", "parent": nics()["eth0"]["id"]})
        assert "br0" in nics()
        maas("POST", f"machines/{sim.find('node01').system_id}/?op=release")
        sim.advance("node01")
        assert "br0" not in nics()
        assert len(nics()["eth0"]["links"]) == 1
        maas("POST", "machines/?op=allocate", {"name": "node01"})


def test_a_vlan_interface_keeps_the_name_that_it_is_given(maas: Any, nics: Any) -> None:
    parent = nics()["eth0"]
    vlan = maas("POST", f"fabrics/{parent['vlan']['fabric_id']}/vlans/", {"vid": 55}).json()["id"]
    form = {"parent": parent["id"], "vlan": vlan}
    named = maas("POST", f"{nics.base}?op=create_vlan", {**form, "name": "storage"}).json()
    assert named["name"] == "storage"
    assert maas("PUT", f"{nics.base}{named['id']}/", {"mtu": "1400"}).json()["name"] == "storage"
    assert maas("PUT", f"{nics.base}{named['id']}/", {"name": "backup"}).json()["name"] == "backup"


def test_deleting_a_bond_takes_its_children_along(maas: Any, nics: Any) -> None:
    parents = [nics()[n]["id"] for n in ("eth1", "eth2")]
    bond = maas("POST", f"{nics.base}?op=create_bond", {"name": "bond0", "parents": parents}).json()
    vlan = maas("POST", "fabrics/0/vlans/", {"vid": 9}).json()
    maas("POST", f"{nics.base}?op=create_vlan", {"parent": bond["id"], "vlan": vlan["id"]})
    assert "bond0.9" in nics()
    assert maas("DELETE", f"{nics.base}{bond['id']}/").status_code == 204
    assert sorted(nics()) == ["eth0", "eth1", "eth2"]


def test_an_address_moves_as_the_cluster_api_provider_moves_it(maas: Any, nics: Any) -> None:
    first = link(maas, nics, "eth1", mode="static", subnet="10.99.0.0/24", ip_address="10.99.0.66").json()
    assert link(maas, nics, "eth2", mode="static", subnet="10.99.0.0/24", ip_address="10.99.0.66").status_code == 404
    path = f"{nics.base}{first['id']}/"
    assert modes(maas("POST", path, {"op": "unlink_subnet", "id": first["links"][0]["id"]}).json()) == ["link_up"]
    moved = link(maas, nics, "eth2", mode="static", subnet="10.99.0.0/24", ip_address="10.99.0.66")
    assert moved.json()["links"][0]["ip_address"] == "10.99.0.66"


def test_links_stay_on_the_interfaces_own_vlan(maas: Any, nics: Any) -> None:
    fabric = maas("POST", "fabrics/", {"name": "f"}).json()
    other = maas("POST", "subnets/", {"cidr": "172.16.0.0/24", "vlan": fabric["vlans"][0]["id"]}).json()
    refused = link(maas, nics, "eth1", mode="auto", subnet=other["id"])
    assert refused.json() == {"subnet": [f"None found with id={other['id']}.", "This field is required."]}
    forced = link(maas, nics, "eth1", mode="auto", subnet=other["id"], force="true").json()
    assert (modes(forced), forced["vlan"]["fabric"]) == (["auto"], "f")


def test_a_reserved_ip_is_its_macs_alone(maas: Any, sim: Any, nics: Any) -> None:
    mac = nics()["eth1"]["mac_address"]
    assert maas("POST", "reservedips/", {"ip": "10.99.0.77", "mac_address": mac}).ok
    taken = link(maas, nics, "eth2", mode="static", subnet="10.99.0.0/24", ip_address="10.99.0.77")
    assert (taken.status_code, taken.text) == (
        409, f"The static IP 10.99.0.77 is already reserved for the mac address {mac}.",
    )  # fmt: skip
    link(maas, nics, "eth1", mode="auto", subnet="10.99.0.0/24")
    maas.op("node01", "deploy")
    assert nics()["eth1"]["links"][0]["ip_address"] == "10.99.0.77"


def test_a_deployed_machine_keeps_its_network(sim: Any, maas: Any, nics: Any) -> None:
    eth1 = nics()["eth1"]
    maas.op("node01", "deploy")
    sim.advance("node01")
    assert link(maas, nics, "eth1", mode="dhcp").status_code == 409
    changed = maas("PUT", f"{nics.base}{eth1['id']}/", {"name": "ens1", "tags": "ignored"}).json()
    assert (changed["name"], changed["tags"]) == ("ens1", [])


def test_plain_users_cannot_change_interfaces(sim: Any, plain: Any, nics: Any) -> None:
    assert plain("GET", nics.base).ok
    assert plain("POST", f"{nics.base}?op=create_physical", {"mac_address": "52:54:00:aa:bb:cc"}).status_code == 403
    assert plain("PUT", f"{nics.base}eth0/", {"name": "x"}).status_code == 403
