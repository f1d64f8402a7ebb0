# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from requests_oauthlib import OAuth1

from lab.simulator import Simulator


def oauth(key: str, method: str = "PLAINTEXT") -> OAuth1:
    consumer, token, secret = key.split(":")
    return OAuth1(consumer, "", token, secret, signature_method=method)


class Caller:
    """A bare client: requests in, responses out, nothing repeated."""

    def __init__(self, simulator: Simulator, key: str) -> None:
        self.simulator, self.key = simulator, key
        self.session = requests.Session()

    def __call__(self, method: str, path: str, form: Any = None, **options: Any) -> requests.Response:
        url = f"{self.simulator.url}/api/2.0/{path}"
        options.setdefault("auth", oauth(self.key))
        return self.session.request(method, url, data=form, timeout=10, **options)

    def op(self, machine: str, op: str, **form: Any) -> requests.Response:
        """An operation of the machine with this hostname."""
        return self("POST", f"machines/{self.simulator.find(machine).system_id}/?op={op}", form)

    def status(self, machine: str) -> str:
        return str(self("GET", f"machines/?hostname={machine}").json()[0]["status_name"])


@pytest.fixture
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def maas(sim: Simulator) -> Caller:
    return Caller(sim, sim.api_key)


@pytest.fixture
def plain(sim: Simulator, maas: Caller) -> Caller:
    """A user without rights of an administrator."""
    alice = {"username": "alice", "email": "a@example.com", "password": "pw", "is_superuser": "0"}
    assert maas("POST", "users/", alice).ok
    return Caller(sim, sim.key_of("alice"))


@pytest.fixture
def control(sim: Simulator) -> Any:
    def call(name: str, **params: Any) -> requests.Response:
        return requests.post(f"{sim.control_url}/{name}", params=params, timeout=10)

    return call
