# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import http.client
import json
import re
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metalshift_lab.authority import Authority
from metalshift_lab.kube import releases
from metalshift_lab.kube.registry import Registry

RELEASE = "/v2/ocp/release/manifests/4.20.8"


class Client:
    """Asks as a container runtime does: a ping, a token when asked for one, then the request."""

    def __init__(self, registry: Registry, authority: Authority) -> None:
        self.registry = registry
        tls = ssl.create_default_context(cafile=str(authority.file))
        self.connection = http.client.HTTPSConnection(registry.host, timeout=5, context=tls)

    def __call__(self, path: str, method: str = "GET", **headers: str) -> tuple[int, Any, http.client.HTTPMessage]:
        self.connection.request(method, path, headers=headers)
        response = self.connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else None, response.headers

    def with_token(self, path: str, **credentials: str) -> tuple[int, Any]:
        status, _body, headers = self("/v2/")
        challenge = dict(re.findall(r'(\w+)="([^"]+)"', headers["WWW-Authenticate"]))
        given = self(challenge["realm"].removeprefix(f"https://{self.registry.host}"), **credentials)
        if given[0] != 200:
            return given[:2]
        status, body, _headers = self(path, Authorization=f"Bearer {given[1]['token']}")
        return status, body

    def error(self, path: str) -> tuple[int, str, str]:
        status, body, _headers = self(path)
        return status, body["errors"][0]["code"], body["errors"][0]["message"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("pki"), "lab")


@pytest.fixture
def registry(authority: Authority, tmp_path: Path) -> Iterator[Registry]:
    certificate, key = tmp_path / "registry.crt", tmp_path / "registry.key"
    authority.server("registry", ["127.0.0.1"]).write(certificate, key)
    made = Registry(str(certificate), str(key))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def client(registry: Registry, authority: Authority) -> Client:
    return Client(registry, authority)


def test_it_is_a_registry(client: Client) -> None:
    status, body, headers = client("/v2/")
    assert (status, body, headers["Docker-Distribution-Api-Version"]) == (200, {}, "registry/2.0")


def test_an_image_is_found_by_tag_and_by_digest_with_all_its_parts(client: Client) -> None:
    status, manifest, headers = client(RELEASE)
    digest = headers["Docker-Content-Digest"]
    assert status == 200
    assert headers["Content-Type"] == releases.MANIFEST
    assert client(f"/v2/ocp/release/manifests/{digest}")[1] == manifest
    assert client(f"/v2/ocp/release/blobs/{manifest['config']['digest']}")[1]["architecture"] == "amd64"


def test_a_head_says_what_a_get_would_without_the_body(client: Client) -> None:
    status, body, headers = client(RELEASE, "HEAD")
    assert (status, body) == (200, None)
    assert headers["Docker-Content-Digest"] == client(RELEASE)[2]["Docker-Content-Digest"]


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/v2/ocp/release/manifests/4.99.1", (404, "MANIFEST_UNKNOWN", "manifest unknown")),
        ("/v2/nobody/here/manifests/latest", (404, "MANIFEST_UNKNOWN", "manifest unknown")),
        ("/v2/ocp/release/blobs/sha256:00", (404, "BLOB_UNKNOWN", "blob unknown to registry")),
        ("/else", (404, "NAME_UNKNOWN", "repository name not known to registry")),
    ],
)
def test_what_is_not_there_is_refused_in_the_words_of_a_registry(
    client: Client, path: str, error: tuple[int, str, str]
) -> None:
    assert client.error(path) == error


def test_nothing_can_be_pushed(client: Client) -> None:
    assert client(RELEASE, "PUT")[0] == 405


def test_releases_and_operators_are_added_while_it_runs(registry: Registry, client: Client) -> None:
    assert registry.versions == ["4.20.8", "4.20.10"]
    assert registry.add("4.21.0") == f"{registry.host}/ocp/release:4.21.0"
    assert registry.operator("v1").startswith(f"{registry.host}/lab/hypershift-operator:v1")
    assert client("/v2/ocp/release/manifests/4.21.0")[0] == 200
    assert client("/v2/lab/hypershift-operator/manifests/v1")[0] == 200


def test_an_image_is_known_by_any_of_its_names(registry: Registry) -> None:
    names = [registry.image("4.20.10"), registry.image("4.20.10", by_digest=True)]
    assert [registry.version(name) for name in names] == ["4.20.10", "4.20.10"]
    assert registry.version(f"{registry.host}/ocp/release:4.99.1") is None


def test_a_missing_release_is_missing_by_all_names_till_healed(registry: Registry, client: Client) -> None:
    digest = client(RELEASE)[2]["Docker-Content-Digest"]
    registry.faults()["missing"](version="4.20.8")
    assert [client(f"/v2/ocp/release/manifests/{name}")[0] for name in ("4.20.8", digest, "4.20.10")] == [404, 404, 200]
    registry.heal()
    assert client(RELEASE)[0] == 200


def test_a_tag_can_be_an_image_that_is_no_release(registry: Registry, client: Client) -> None:
    before = client(RELEASE)[1]
    registry.faults()["no-release"](version="4.20.8")
    config = client(RELEASE)[1]["config"]["digest"]
    assert "io.openshift.release" not in client(f"/v2/ocp/release/blobs/{config}")[1]["config"]["Labels"]
    registry.heal()
    assert client(RELEASE)[1] == before


def test_a_registry_that_is_down_comes_back_under_its_address(registry: Registry, client: Client) -> None:
    host = registry.host
    assert client(RELEASE)[0] == 200
    registry.faults()["down"]()
    with pytest.raises((OSError, http.client.HTTPException)):
        client(RELEASE)
    client.connection.close()
    with pytest.raises(ConnectionRefusedError):
        client(RELEASE)
    registry.heal()
    client.connection.close()
    assert registry.host == host
    assert client(RELEASE)[0] == 200


def test_a_private_registry_wants_the_credentials_of_the_pull_secret(registry: Registry, client: Client) -> None:
    registry.faults()["unauthorized"]()
    good = json.loads(registry.pull_secret())["auths"][registry.host]["auth"]
    bad = base64.b64encode(b"lab:guess").decode()
    status, refusal = client.with_token(RELEASE)
    assert (status, refusal["errors"][0]["message"]) == (401, "access to the requested resource is not authorized")
    assert client.with_token(RELEASE, Authorization=f"Basic {bad}")[0] == 401
    assert client.with_token(RELEASE, Authorization=f"Basic {good}")[0] == 200
    registry.heal()
    assert client(RELEASE)[0] == 200


def test_a_client_that_stops_in_the_handshake_keeps_nobody_waiting(registry: Registry, client: Client) -> None:
    port = int(registry.host.partition(":")[2])
    with socket.create_connection(("127.0.0.1", port)):
        assert client(RELEASE)[0] == 200


def test_starting_and_stopping_twice_is_once(registry: Registry, client: Client) -> None:
    registry.start()
    assert client(RELEASE)[0] == 200
    registry.stop()
    registry.stop()


def test_an_address_is_not_invented(authority: Authority, tmp_path: Path) -> None:
    certificate, key = tmp_path / "a.crt", tmp_path / "a.key"
    authority.server("registry", ["127.0.0.1"]).write(certificate, key)
    with pytest.raises(RuntimeError, match="before it is started"):
        assert Registry(str(certificate), str(key)).host
