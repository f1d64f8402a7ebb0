# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client on the simulator: what MAAS is asked, and the texts of failures."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from metalshift_lab.kube.provider.maas import Maas, MaasError, authorization
from metalshift_lab.simulator import Simulator

USER_DATA = "e30="


@pytest.fixture
def client(sim: Simulator) -> Iterator[Maas]:
    made = Maas(sim.url, sim.api_key)
    yield made
    made.close()


def test_the_signature_is_of_the_parameters_but_not_of_a_put() -> None:
    def signed(method: str, **form: str) -> str:
        return authorization(method, "http://m/MAAS/api/2.0/x/", form, "a:b:c", nonce="n", timestamp=1)

    assert signed("POST") != signed("POST", op="deploy")
    assert signed("PUT") == signed("PUT", swap_size="0")
    assert 'oauth_signature_method="HMAC-SHA1"' in signed("GET")


def test_a_key_of_another_form_signs_nothing() -> None:
    assert authorization("GET", "http://m/", {}, "a:b", nonce="n", timestamp=1) == ""


def test_a_machine_is_asked_for_deployed_and_released_as_the_provider_does(sim: Simulator, client: Maas) -> None:
    sim.machine("node01", cpu=4, memory=8192)
    found = client.allocate({"cpu_count": "2", "mem": "4096"})
    found.update(swap_size="0")
    found.deploy(user_data=USER_DATA, osystem="custom", distro_series="custom-img")
    client.tag("maas-lxd-wlc-cp", "remove", found.system_id)
    found.power_on()
    found.release()
    path = f"/MAAS/api/2.0/machines/{found.system_id}/"
    assert [(each.method, each.path, each.op) for each in sim.requests] == [
        ("POST", "/MAAS/api/2.0/machines/", "allocate"),
        ("PUT", path, None),
        ("POST", path, "deploy"),
        ("POST", "/MAAS/api/2.0/tags/maas-lxd-wlc-cp/op-update_nodes", "update_nodes"),
        ("POST", f"{path}op-power_on", "power_on"),
        ("POST", path, "release"),
    ]
    assert sim.requests[4].params["comment"] == ["maas+provider+power+on"]


def test_addresses_pile_up_in_one_object(sim: Simulator, client: Maas) -> None:
    sim.machine("node01", status="Deployed")
    found = client.machine(sim.find("node01").system_id)
    once = list(found.get().ips)
    assert once
    assert found.get().ips == once * 2


def test_an_error_is_status_and_body(client: Maas) -> None:
    with pytest.raises(MaasError, match=r"^status: 409, message: .*") as refused:
        client.allocate({"cpu_count": "2", "mem": "4096"})
    assert refused.value.status == 409


def test_a_wrong_key_is_refused(sim: Simulator) -> None:
    with pytest.raises(MaasError, match="status: 401"):
        Maas(sim.url, "a:b:c").list_machines()


def test_no_answer_is_told_as_go_does(sim: Simulator, client: Maas) -> None:
    sim.fault("drop", path="machines/$")
    with pytest.raises(MaasError) as lost:
        client.list_machines()
    assert str(lost.value) == f'Get "{sim.url}/api/2.0/machines/": EOF'


def test_nobody_there_is_told_as_go_does() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(MaasError) as refused:
        Maas(f"http://127.0.0.1:{port}/MAAS", "a:b:c").vm_hosts()
    where = f"http://127.0.0.1:{port}/MAAS/api/2.0/vm-hosts/"
    assert str(refused.value) == f'Get "{where}": dial tcp 127.0.0.1:{port}: connect: connection refused'


def test_memory_with_a_fraction_is_not_understood(client: Maas) -> None:
    with pytest.raises(MaasError, match=r"cannot unmarshal number 2048\.0"):
        client.machine("abc123").decode({"system_id": "abc123", "memory": 2048.0})
