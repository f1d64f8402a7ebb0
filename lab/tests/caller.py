# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bare client of the simulated MAAS, as a test holds it."""

from __future__ import annotations

from typing import Any

import requests
from requests_oauthlib import OAuth1

from metalshift_lab.simulator import Simulator


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
