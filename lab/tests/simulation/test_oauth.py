# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import hashlib
import hmac
import time
import uuid
from typing import Any
from urllib.parse import quote

import pytest

from caller import oauth
from metalshift_lab.simulator import Simulator


def plaintext(key: str, **changed: Any) -> dict[str, str]:
    consumer, token, secret = key.split(":")
    values = {
        "oauth_version": "1.0",
        "oauth_signature_method": "PLAINTEXT",
        "oauth_consumer_key": consumer,
        "oauth_token": token,
        "oauth_signature": f"%26{secret}",
        "oauth_timestamp": str(int(time.time())),
        "oauth_nonce": uuid.uuid4().hex,
        **changed,
    }
    return {"Authorization": "OAuth " + ", ".join(f'{k}="{v}"' for k, v in values.items())}


@pytest.mark.parametrize("method", ["PLAINTEXT", "HMAC-SHA1"])
@pytest.mark.parametrize(
    ("verb", "path", "form"),
    [
        ("GET", "users/?op=whoami", None),
        ("GET", "machines/?hostname=a&hostname=b", None),
        ("POST", "zones/", {"name": "az 1", "description": "a+b & ü"}),
        ("PUT", "zones/default/", {"description": "x"}),
        ("POST", "tags/", {"name": "t"}),
    ],
)
def test_both_signatures_are_accepted(maas: Any, method: str, verb: str, path: str, form: Any) -> None:
    assert maas(verb, path, form, auth=oauth(maas.key, method)).status_code == 200


@pytest.mark.parametrize(
    ("verb", "path", "body", "signed"),
    [
        # the Go client of the Cluster API provider: the first value of a repeated key, and no body at all for PUT
        ("POST", "tags/t/op-update_nodes", [("add", "aaa"), ("add", "bbb")], [("add", "aaa")]),
        ("PUT", "zones/default/", [("description", "x")], []),
        ("GET", "//users/?op=whoami", [], [("op", "whoami")]),
    ],
)
def test_what_clients_leave_out_of_the_signature_is_accepted(
    sim: Simulator, maas: Any, verb: str, path: str, body: list[tuple[str, str]], signed: list[tuple[str, str]]
) -> None:
    maas("POST", "tags/", {"name": "t"})
    consumer, token, secret = sim.api_key.split(":")
    values = {
        "oauth_consumer_key": consumer,
        "oauth_nonce": uuid.uuid4().hex,
        "oauth_signature_method": "HMAC-SHA1",
        "oauth_timestamp": str(int(time.time())),
        "oauth_token": token,
        "oauth_version": "1.0",
    }
    url = f"{sim.url}/api/2.0/{path}".partition("?")[0]
    pairs = sorted((quote(k, safe="~"), quote(v, safe="~")) for k, v in [*values.items(), *signed])
    base = "&".join((verb, quote(url, safe="~"), quote("&".join(f"{k}={v}" for k, v in pairs), safe="~")))
    digest = hmac.new(f"&{secret}".encode(), base.encode(), hashlib.sha1).digest()
    values["oauth_signature"] = base64.b64encode(digest).decode()
    header = "OAuth " + ", ".join(f'{k}="{quote(v, safe="~")}"' for k, v in values.items())
    answer = maas(verb, path, body or None, auth=None, headers={"Authorization": header})
    assert answer.status_code == 200, answer.text


def test_a_nonce_works_once(maas: Any) -> None:
    headers = plaintext(maas.key)
    answers = [maas("GET", "users/?op=whoami", auth=None, headers=headers) for _ignored in range(2)]
    assert [a.status_code for a in answers] == [200, 401]


@pytest.mark.parametrize(("age", "status"), [(290, 200), (310, 401), (-86400, 200)])
def test_old_timestamps_expire_and_future_ones_do_not(maas: Any, age: int, status: int) -> None:
    headers = plaintext(maas.key, oauth_timestamp=str(int(time.time()) - age))
    assert maas("GET", "users/?op=whoami", auth=None, headers=headers).status_code == status


def test_a_malformed_timestamp_is_the_clients_fault_since_3_8(sim: Simulator, maas: Any) -> None:
    def status() -> int:
        headers = plaintext(maas.key, oauth_timestamp="soon")
        return int(maas("GET", "users/?op=whoami", auth=None, headers=headers).status_code)

    assert status() == 500
    sim.set_version("3.8")
    assert status() == 400


@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_wrong_part_of_the_key_is_refused(maas: Any, part: int) -> None:
    parts = maas.key.split(":")
    parts[part] = "wrong"
    assert maas("GET", "zones/", auth=oauth(":".join(parts))).status_code == 401


def test_the_key_survives_a_reset(sim: Simulator, maas: Any) -> None:
    sim.reset()
    assert maas("GET", "users/?op=whoami").json()["username"] == "admin"
