# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import gzip
import http.client
import json
import ssl
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from metalshift_lab.authority import Authority, encoded, kubeconfig
from metalshift_lab.kube import ignition, times
from metalshift_lab.kube.api import DEPLOYMENTS, EVENTS, NAMESPACES, SECRETS, SERVICES, Api, Object
from metalshift_lab.kube.bare import api_server
from metalshift_lab.kube.ignition import EXPIRES, GENERATED, REACHED, Ignition
from metalshift_lab.kube.speed import Speed
from metalshift_lab.programs import Programs

FAST = Speed(1000)
SECRET = "token-workers-0a1b2c3d"
HEADERS = {"NodePool": "clusters/workers", "TargetConfigVersionHash": "0a1b2c3d"}


def eventually(true: Callable[[], Any], seconds: float = 10) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not become true in time"
        time.sleep(0.02)
    return found


def bearer(token: str) -> dict[str, str]:
    return {**HEADERS, "Authorization": f"Bearer {encoded(token.encode())}"}


class Scene:
    """A hosted control plane's namespace with what the operators put there for the ignition server."""

    def __init__(self, api: Api, authority: Authority) -> None:
        self.api, self.authority = api, authority
        self.namespace = f"clusters-{uuid.uuid4().hex[:8]}"
        api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        ports = [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": "https"}]
        spec = {"type": "NodePort", "ports": ports, "selector": {"app": "ignition-server-proxy"}}
        meta = {"name": "ignition-server-proxy", "namespace": self.namespace}
        service = api.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})
        self.port = int(service["spec"]["ports"][0]["nodePort"])
        pair = authority.server("ignition-server", ["127.0.0.1"])
        self.secret("ignition-server-serving-cert", {"tls.crt": pair.certificate, "tls.key": pair.key})

    def secret(self, name: str, data: dict[str, bytes], **annotations: str) -> Object:
        meta = {"name": name, "namespace": self.namespace, "annotations": annotations}
        content = {key: encoded(value) for key, value in data.items()}
        return self.api.create(SECRETS, {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": content})

    def bootstrap(self) -> bytes:
        text = yaml.safe_dump(kubeconfig("https://127.0.0.1:6443", self.authority.pem, {"token": "boot"})).encode()
        self.secret("bootstrap-kubeconfig", {"kubeconfig": text})
        return text

    def token(self, name: str = SECRET, **annotations: str) -> str:
        token = str(uuid.uuid4())
        marks = {ignition.TOKEN: "true", GENERATED: times.exact(times.now()), ignition.UPGRADE_TYPE: "Replace"}
        self.secret(name, {"token": token.encode()}, **{**marks, **annotations})
        return token

    def read(self, name: str = SECRET) -> tuple[dict[str, str], dict[str, str]]:
        """Annotations and data of a Secret; nothing when it is gone."""
        secret = self.api.get(SECRETS, name, self.namespace) or {"metadata": {}}
        data = {key: base64.b64decode(value) for key, value in (secret.get("data") or {}).items()}
        texts = {key: value.decode(errors="replace") for key, value in data.items()}
        return secret["metadata"].get("annotations", {}), texts

    def get(self, path: str = "/ignition", **headers: str) -> tuple[int, str]:
        tls = ssl.create_default_context(cafile=str(self.authority.file))
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=5, context=tls)
        try:
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def answers(self, **headers: str) -> bool:
        try:
            return self.get(**headers)[0] == 200
        except OSError:
            return False

    def listens(self) -> bool:
        try:
            return self.get("/healthz")[0] == 200
        except OSError:
            return False

    def events(self) -> set[tuple[str, str, str]]:
        listed = self.api.list(EVENTS, self.namespace)
        return {(event["involvedObject"]["name"], event["reason"], event.get("message", "")) for event in listed}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("pki"), "ignition-root-ca")


@pytest.fixture(scope="module")
def api(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with api_server(programs, tmp_path_factory.mktemp("management")) as made:
        yield made


@pytest.fixture
def scene(api: Api, authority: Authority) -> Iterator[Scene]:
    made = Scene(api, authority)
    yield made
    api.delete(NAMESPACES, made.namespace)


@pytest.fixture
def server(scene: Scene) -> Iterator[Ignition]:
    made = Ignition(scene.api, scene.namespace, FAST)
    made.start()
    eventually(scene.listens)
    yield made
    made.stop()


def contents(answer: str) -> dict[str, bytes]:
    files = json.loads(answer)["storage"]["files"]
    return {file["path"]: base64.b64decode(file["contents"]["source"].partition("base64,")[2]) for file in files}


def test_a_payload_is_the_way_to_the_hosted_api(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "root-ca")
    text = yaml.safe_dump(kubeconfig("https://127.0.0.1:6443", authority.pem, {"token": "boot"})).encode()
    made = ignition.payload(text).decode()
    assert json.loads(made)["ignition"] == {"version": "3.2.0"}
    assert contents(made) == {"/etc/kubernetes/kubeconfig": text, "/etc/kubernetes/ca.crt": authority.pem}


@pytest.mark.parametrize(
    ("header", "token"),
    [
        ("Bearer YWJj", "abc"),
        ("", ignition.BAD_HEADER),
        ("Basic YWJj", ignition.BAD_HEADER),
        ("Bearer !!!", ignition.BAD_TOKEN),
        ("Bearer /w==", ignition.BAD_TOKEN),
    ],
)
def test_a_token_is_taken_from_the_header_or_refused(header: str, token: object) -> None:
    assert ignition.token_of({"authorization": header} if header else {}) == token


def test_a_machine_with_its_token_is_served_and_remembered(scene: Scene, server: Ignition) -> None:
    boot, token = scene.bootstrap(), scene.token()
    eventually(lambda: scene.answers(**bearer(token)))
    assert contents(scene.get(**bearer(token))[1])["/etc/kubernetes/kubeconfig"] == boot
    assert eventually(lambda: scene.read()[0].get(REACHED)) == "True"
    assert scene.read()[1]["reason"] == "AsExpected"
    assert scene.read()[1]["message"] == "Payload generated successfully"
    eventually(lambda: (SECRET, "GetPayload", "") in scene.events())


@pytest.mark.parametrize(
    ("headers", "path", "answer", "event"),
    [
        (HEADERS, "/ignition", (401, "Unauthorized\n"), "Bad header"),
        ({**HEADERS, "Authorization": "Bearer !"}, "/ignition", (401, "Unauthorized\n"), "Token invalid"),
        (bearer("unknown"), "/ignition", (511, "Token not found\n"), "Token not found in cache"),
        (bearer("unknown"), "/config/worker", (404, "404 page not found\n"), None),
    ],
)
def test_everybody_else_is_refused(
    scene: Scene, server: Ignition, headers: dict[str, str], path: str, answer: tuple[int, str], event: str | None
) -> None:
    assert scene.get(path, **headers) == answer
    if event:
        eventually(lambda: (SECRET, "GetPayloadFailed", event) in scene.events())


def test_a_stranger_is_noted_at_a_secret_that_nobody_has(scene: Scene, server: Ignition) -> None:
    assert scene.get()[0] == 401
    eventually(lambda: scene.events() == {("token--", "GetPayloadFailed", "Bad header")})


def test_what_happens_again_is_counted(scene: Scene, server: Ignition) -> None:
    for _time in range(3):
        scene.get(**bearer("unknown"))
    eventually(lambda: [event["count"] for event in scene.api.list(EVENTS, scene.namespace)] == [3])


def test_a_payload_waits_for_the_bootstrap_kubeconfig(scene: Scene, server: Ignition) -> None:
    token = scene.token()
    eventually(lambda: scene.read()[1].get("reason") == "InvalidConfig")
    assert scene.read()[1]["message"].endswith('Secret "bootstrap-kubeconfig" not found')
    assert scene.get(**bearer(token))[0] == 511
    scene.bootstrap()
    eventually(lambda: scene.answers(**bearer(token)))
    assert scene.read()[1]["reason"] == "AsExpected"


def test_who_upgrades_in_place_finds_the_payload_in_the_secret(scene: Scene, server: Ignition) -> None:
    scene.bootstrap()
    token = scene.token(**{ignition.UPGRADE_TYPE: "InPlace"})
    packed = eventually(lambda: scene.read()[1].get("payload"))
    assert gzip.decompress(base64.b64decode(packed)).decode() == scene.get(**bearer(token))[1]


def test_an_old_token_is_replaced_and_still_opens(scene: Scene, server: Ignition) -> None:
    scene.bootstrap()
    token = scene.token(**{GENERATED: times.exact(times.now() - timedelta(hours=1))})
    assert eventually(lambda: scene.read()[1].get("old_token")) == token
    fresh = scene.read()[1]["token"]
    assert fresh != token
    assert [scene.get(**bearer(each))[0] for each in (fresh, token)] == [200, 200]


def test_an_expired_token_is_deleted_and_opens_nothing(scene: Scene, server: Ignition) -> None:
    scene.bootstrap()
    # An hour of the operator's clock is a moment here.
    token = scene.token(**{EXPIRES: times.stamp(times.now() + timedelta(minutes=30))})
    eventually(lambda: scene.answers(**bearer(token)))
    eventually(lambda: scene.read() == ({}, {}))
    assert scene.get(**bearer(token))[0] == 511


def test_an_expiry_that_is_no_time_has_passed(scene: Scene, server: Ignition) -> None:
    scene.token(**{EXPIRES: "soon"})
    eventually(lambda: scene.read() == ({}, {}))


def test_a_token_goes_with_its_secret(scene: Scene, server: Ignition) -> None:
    scene.bootstrap()
    token = scene.token()
    eventually(lambda: scene.answers(**bearer(token)))
    scene.api.delete(SECRETS, SECRET, scene.namespace)
    eventually(lambda: not scene.answers(**bearer(token)))


def test_it_begins_anew_after_a_restart(scene: Scene, server: Ignition) -> None:
    scene.bootstrap()
    token = scene.token()
    eventually(lambda: scene.answers(**bearer(token)))
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        scene.get()
    server.start()
    eventually(lambda: scene.answers(**bearer(token)))


def test_nobody_listens_without_a_certificate(scene: Scene, server: Ignition) -> None:
    scene.api.patch(SECRETS, "ignition-server-serving-cert", scene.namespace, {"data": {"tls.crt": ""}})
    eventually(lambda: not scene.listens())


def test_a_proxy_without_a_server_says_so(scene: Scene, server: Ignition) -> None:
    labels = {"app": "ignition-server"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "ignition-server", "image": "x"}]}}
    meta = {"name": "ignition-server", "namespace": scene.namespace}
    spec = {"selector": {"matchLabels": labels}, "template": pod}
    scene.api.create(DEPLOYMENTS, {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec})
    assert scene.get(**bearer("any"))[0] == 503
    up = {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}
    scene.api.patch(DEPLOYMENTS, "ignition-server", scene.namespace, {"status": up}, subresource="status")
    assert scene.get(**bearer("any"))[0] == 511


def test_no_payload_means_an_unknown_token_for_ever(scene: Scene, server: Ignition) -> None:
    server.faults()["no-payload"]()
    scene.bootstrap()
    token = scene.token()
    time.sleep(FAST.seconds(ignition.GENERATING) * 3)
    assert scene.get(**bearer(token))[0] == 511
    assert "reason" not in scene.read()[1]
    server.heal()
    eventually(lambda: scene.answers(**bearer(token)))


def test_a_bad_payload_says_why(scene: Scene, server: Ignition) -> None:
    server.faults()["bad-payload"](because="no disk")
    scene.bootstrap()
    scene.token()
    said = eventually(lambda: scene.read()[1].get("message"))
    assert said == "failed to generate payload: error getting ignition payload: no disk"
    server.heal()
    eventually(lambda: scene.read()[1]["reason"] == "AsExpected")


def test_a_broken_payload_is_refused_by_the_server(scene: Scene, server: Ignition) -> None:
    scene.bootstrap()
    token = scene.token()
    eventually(lambda: scene.answers(**bearer(token)))
    server.faults()["broken-payload"]()
    assert scene.get(**bearer(token)) == (500, "Invalid ignition payload\n")
    server.heal()
    assert scene.answers(**bearer(token))
