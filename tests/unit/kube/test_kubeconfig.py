# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubeconfig from a cluster is data: what would be run, read or obeyed is refused, in whatever place it stands."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.kubeconfig import Published

Change = Callable[[dict[str, Any]], object]

PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode()
# As HyperShift writes it.
GOOD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "preferences": {},
    "current-context": "admin",
    "clusters": [
        {"name": "cluster", "cluster": {"server": "https://192.0.2.10:30443", "certificate-authority-data": PEM}}
    ],
    "contexts": [{"name": "admin", "context": {"cluster": "cluster", "namespace": "default", "user": "admin"}}],
    "users": [{"name": "admin", "user": {"client-certificate-data": PEM, "client-key-data": PEM}}],
}
EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", "id"]}


def user(**more: Any) -> Change:
    return lambda whole: whole["users"][0]["user"].update(more)


def cluster(**more: Any) -> Change:
    return lambda whole: whole["clusters"][0]["cluster"].update(more)


EVIL: dict[str, tuple[Change, str]] = {
    "a program": (user(exec=EXEC), "its user holds exec"),
    "a program of another user": (
        lambda whole: whole["users"].append({"name": "other", "user": {"exec": EXEC}}),
        "its user holds exec",
    ),
    "a cloud's login": (user(**{"auth-provider": {"name": "gcp"}}), "its user holds auth-provider"),
    "a file as token": (user(tokenFile="/etc/hostname"), "its user holds tokenFile"),
    "a file as key": (user(**{"client-key": "/root/.ssh/id_rsa"}), "its user holds client-key"),
    "a file as certificate": (user(**{"client-certificate": "/x"}), "its user holds client-certificate"),
    "a password": (user(username="a", password="b"), "its user holds password and username"),
    "somebody else": (user(**{"as": "system:admin"}), "its user holds as"),
    "a file as authority": (cluster(**{"certificate-authority": "/x"}), "its cluster holds certificate-authority"),
    "a proxy": (cluster(**{"proxy-url": "http://192.0.2.66"}), "its cluster holds proxy-url"),
    "no verification": (
        cluster(**{"insecure-skip-tls-verify": True}),
        "its cluster holds insecure-skip-tls-verify",
    ),
    "another name in the certificate": (cluster(**{"tls-server-name": "x"}), "its cluster holds tls-server-name"),
    "extensions": (lambda whole: whole.update(extensions=[{"name": "x"}]), "it holds extensions"),
    "a header in the token": (user(token="a\r\nX-Evil: 1"), "its token holds what no token holds"),
    "no base64": (user(**{"client-key-data": "!!"}), "its client-key-data is not in base64"),
    "a list as key": (user(**{"client-key-data": ["a"]}), "its client-key-data is not a text"),
    "two of a name": (
        lambda whole: whole["users"].append(whole["users"][0]),
        "it names a user that it does not hold once",
    ),
    "no context": (lambda whole: whole.pop("current-context"), "it names a context that it does not hold once"),
    "no users": (lambda whole: whole.pop("users"), "it has no list of users"),
    "users of a wrong form": (lambda whole: whole.update(users=["exec"]), "it has no list of users"),
}


@pytest.mark.parametrize(("change", "why"), EVIL.values(), ids=EVIL)
def test_what_is_more_than_data_is_refused_by_name(change: Change, why: str) -> None:
    whole = deepcopy(GOOD)
    change(whole)
    for text in (yaml.safe_dump(whole), json.dumps(whole)):
        with pytest.raises(Failure) as caught:
            Published.read(text, "the kubeconfig in the Secret clusters/demo-admin-kubeconfig")
        assert str(caught.value).startswith(
            f"The kubeconfig in the Secret clusters/demo-admin-kubeconfig is not used: {why}. A kubeconfig from "
        )


@pytest.mark.parametrize(
    "text",
    ["", "[]", "a", "{", "[" * 20_000, "\x00", b"\xff\xfe", "!!python/object/apply:os.system [id]", "2001-99-99: 1"],
)
def test_what_is_no_kubeconfig_is_a_sentence(text: str | bytes) -> None:
    with pytest.raises(Failure, match=r"^The kubeconfig is not used: "):
        Published.read(text)


def test_what_was_read_is_all_that_is_ever_written() -> None:
    published = Published.read(yaml.safe_dump(GOOD))
    again = yaml.safe_load(published.text("demo"))
    assert {key: again[key] for key in ("clusters", "users", "contexts", "current-context")} == {
        "clusters": [{"name": "demo", "cluster": GOOD["clusters"][0]["cluster"]}],
        "users": [{"name": "demo", "user": GOOD["users"][0]["user"]}],
        "contexts": [{"name": "demo", "context": {"cluster": "demo", "user": "demo"}}],
        "current-context": "demo",
    }
    assert PEM not in repr(published)


@pytest.mark.parametrize(
    ("server", "is_there"),
    [
        ("https://192.0.2.10:30443", True),
        ("https://192.0.2.10:30443/", True),
        ("http://192.0.2.10:30443", False),
        ("https://192.0.2.10", False),
        ("https://192.0.2.66:30443", False),
        ("https://192.0.2.10:30443@192.0.2.66:30443", False),
        ("https://me:secret@192.0.2.10:30443", False),
        ("https://192.0.2.10:30443/elsewhere", False),
        ("https://192.0.2.10:30443?x=1", False),
        ("https://192.0.2.10:99999", False),
        ("file:///etc/hostname", False),
        ("", False),
    ],
)
def test_the_server_is_the_published_one(server: str, is_there: bool) -> None:
    assert Published(server, "", {}).is_at("192.0.2.10", 30443) is is_there


@pytest.mark.parametrize("host", ["2001:db8::1", "[2001:db8::1]"])
def test_addresses_of_both_kinds_are_compared(host: str) -> None:
    assert Published("https://[2001:db8::1]:6443", "", {}).is_at(host, 6443)
    assert Published("https://API.Demo.example", "", {}).is_at("api.demo.example", 443)
