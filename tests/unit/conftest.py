# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from unit.scripted_maas import Call, FakeClock, ScriptedMaas

KEY = ApiKey("consumer-k", "token-k", "secret-k")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def play() -> Iterator[Callable[..., ScriptedMaas]]:
    """Start servers for scripts; at the end every call must have come, and no other."""
    servers: list[ScriptedMaas] = []

    def start(*script: Call, certificate: str = "", path: str = "") -> ScriptedMaas:
        server = ScriptedMaas(script, certificate, path)
        server.start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()
    for server in servers:
        server.assert_all_came()


@pytest.fixture
def client(clock: FakeClock) -> Callable[..., Client]:
    """A client of a server, or of any URL."""

    def connect(server: ScriptedMaas | str, **settings: Any) -> Client:
        base = server if isinstance(server, str) else server.url
        return Client(MaasConnection(base=base, key=KEY, **settings), clock=clock)

    return connect
