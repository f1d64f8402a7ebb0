# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import random
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from metalshift_lab import ports as module
from metalshift_lab.ports import BLOCK, FIRST, LAST, LOOPBACK, NODE_PORTS, Ports


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> Ports:
    """With few ports, so that they can all be taken."""
    monkeypatch.setattr(module, "BLOCK", NODE_PORTS + 20)
    return Ports()


def test_no_port_is_given_twice(ports: Ports) -> None:
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _number: ports.take(), range(16)))
    assert len(set(taken)) == 16
    assert all(ports.first + NODE_PORTS <= port < ports.first + NODE_PORTS + 20 for port in taken)


def test_a_port_given_back_is_given_again(ports: Ports) -> None:
    first = ports.take()
    ports.take()
    ports.give_back(first)
    ports.give_back(first)
    assert ports.take() == first


def test_a_port_where_somebody_listens_is_passed_over(ports: Ports) -> None:
    port = ports.take()
    ports.give_back(port)
    with socket.create_server((LOOPBACK, port)):
        assert ports.take() != port
    assert ports.take() == port


def test_a_block_that_is_used_up_says_so(ports: Ports) -> None:
    with pytest.raises(OSError, match=r"All ports of the lab, \d+ to \d+, are in use\."):
        list(iter(ports.take, None))


def test_node_ports_are_the_front_of_the_block(ports: Ports) -> None:
    assert ports.node_ports == f"{ports.first}-{ports.first + NODE_PORTS - 1}"
    assert FIRST <= ports.first <= LAST - BLOCK


def test_two_labs_have_blocks_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random, "shuffle", lambda _starts: None)
    one = Ports()
    with socket.create_server((LOOPBACK, one.take())):
        assert Ports().first != one.first
