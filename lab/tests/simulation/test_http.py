# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from metalshift_lab.simulator import Simulator


def test_one_connection_serves_many_requests(maas: Any) -> None:
    first = maas("GET", "zones/", stream=True)
    connection = first.raw._connection
    first.content  # noqa: B018 - reading it gives the connection back
    second = maas("GET", "zones/", stream=True)
    assert second.raw._connection is connection


def test_an_idle_connection_is_closed_by_the_server(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    from metalshift_lab.simulator.server import Connection

    monkeypatch.setattr(Connection, "timeout", 0.2)
    address = urlsplit(sim.url)
    with socket.create_connection((address.hostname, address.port or 0), timeout=5) as connection:
        connection.sendall(b"GET /MAAS/api/2.0/version/ HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while chunk := connection.recv(4096):
            answer += chunk
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("tags/t/op-update_nodes", 200),
        ("tags/t/op-update_nodes/", 404),
        ("tags/t/?op=update_nodes", 200),
        ("/tags/t/?op=update_nodes", 200),
    ],
)
def test_the_operation_may_be_part_of_the_path(maas: Any, path: str, status: int) -> None:
    maas("POST", "tags/", {"name": "t"})
    assert maas("POST", path, {"add": "nosuch"}).status_code == status


def test_the_operation_in_the_path_came_with_3_4(sim: Simulator, maas: Any) -> None:
    sim.set_version("3.3")
    assert maas("GET", "users/op-whoami").status_code == 404
    sim.set_version("3.4")
    assert maas("GET", "users/op-whoami").json()["username"] == "admin"


def test_an_operation_in_the_body_counts(sim: Simulator, maas: Any) -> None:
    sim.machine("node01")
    assert maas("POST", "machines/", {"op": "allocate"}).json()["status_name"] == "Allocated"


def test_a_json_body_fails_where_lists_are_read(maas: Any) -> None:
    answer = maas("POST", "machines/?op=allocate", json={"mem": "1"})
    assert (answer.status_code, answer.text) == (500, "'dict' object has no attribute 'lists'")


@pytest.mark.parametrize(
    ("version", "field", "there"),
    [
        ("3.4", "error_description", False),
        ("3.5", "error_description", True),
        ("3.6", "is_dpu", False),
        ("3.7", "is_dpu", True),
    ],
)
def test_fields_depend_on_the_version(sim: Simulator, maas: Any, version: str, field: str, there: bool) -> None:
    sim.machine("node01")
    sim.set_version(version)
    assert (field in maas("GET", "machines/").json()[0]) is there


def test_a_maas_without_vm_hosts_says_gone(sim: Simulator, maas: Any) -> None:
    assert maas("GET", "vm-hosts/").status_code == 200
    sim.set_version("no-vmhosts")
    assert maas("GET", "vm-hosts/").status_code == 410
    assert maas("GET", "zones/").status_code == 200


def test_more_machines_deploy_than_the_seeds_subnet_has_addresses(sim: Simulator, maas: Any) -> None:
    sim.machines(300, status="Deployed")
    addresses = {m["ip_addresses"][0] for m in maas("GET", "machines/?status=deployed").json()}
    assert len(addresses) == 300


def test_a_thousand_machines_are_listed_and_found(sim: Simulator, maas: Any) -> None:
    sim.machines(1000, zones=["az1", "az2", "az3"])
    assert len(maas("GET", "machines/").json()) == 1000
    assert len(maas("GET", "machines/?zone=az1").json()) == 334
    assert [m["hostname"] for m in maas("GET", "machines/?hostname=node0500").json()] == ["node0500"]
