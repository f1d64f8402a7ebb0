# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-in for the ignition server of a hosted control plane, and the proxy before it.

The real one assembles what a machine is given out of the release's own programs. This one gives what a machine needs to
join, the kubeconfig of the bootstrap user and the authority of the hosted API, under the same address, tokens,
refusals and marks.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import re
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

import yaml

from metalshift_lab.kube import times
from metalshift_lab.kube.api import DEPLOYMENTS, EVENTS, SECRETS, SERVICES, Api, ApiError, Object, Unreachable, of_name
from metalshift_lab.kube.controller import Controller
from metalshift_lab.kube.https import Handler, Server, server_context
from metalshift_lab.kube.speed import Speed

PREFIX = "hypershift.openshift.io"
TOKEN = f"{PREFIX}/ignition-config"
UPGRADE_TYPE = f"{PREFIX}/node-pool-upgrade-type"
REACHED = f"{PREFIX}/ignition-reached"
GENERATED = f"{PREFIX}/last-token-generation-time"
EXPIRES = f"{PREFIX}/ignition-token-expiration-timestamp"

SERVER, SERVICE = "ignition-server", "ignition-server-proxy"
CERTIFICATE = "ignition-server-serving-cert"
BOOTSTRAP = "bootstrap-kubeconfig"

# What the real ignition server takes, in seconds.
GENERATING = 25
AGAIN = 10
ROTATING = 5.5 * 3600

PLAIN = "text/plain; charset=utf-8"
JSON = "application/json; charset=utf-8"
# As a server gets them: names in lower case.
Headers = Mapping[str, str]
PATH = re.compile(r"/ignition[^/ ]*")
DOOR = "the door"


@dataclass(frozen=True)
class Payload:
    """What a token is good for, and the Secret that it is of."""

    secret: str
    content: bytes


@dataclass(frozen=True)
class Refusal:
    """Why a machine gets nothing, and the event that says so."""

    status: int
    body: str
    event: str


BAD_HEADER = Refusal(401, "Unauthorized", "Bad header")
BAD_TOKEN = Refusal(401, "Unauthorized", "Token invalid")
# A server error: Ignition tries again, and the payload may be made by then.
UNKNOWN_TOKEN = Refusal(511, "Token not found", "Token not found in cache")
BROKEN = Refusal(500, "Invalid ignition payload", "")
# The proxy's own words, when there is no server behind it.
NO_SERVER = Refusal(
    503,
    "<html><body><h1>503 Service Unavailable</h1>\nNo server is available to handle this request.\n</body></html>",
    "",
)


class Missing(Exception):
    """Something that the payload is made of is not there."""


def payload(kubeconfig: bytes) -> bytes:
    """What a machine is given: an Ignition configuration with its way to the hosted API."""
    cluster = yaml.safe_load(kubeconfig)["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"])
    files = [_file("/etc/kubernetes/kubeconfig", kubeconfig), _file("/etc/kubernetes/ca.crt", authority)]
    return json.dumps({"ignition": {"version": "3.2.0"}, "storage": {"files": files}}).encode()


def _file(path: str, content: bytes) -> Object:
    source = f"data:text/plain;charset=utf-8;base64,{base64.b64encode(content).decode()}"
    return {"path": path, "mode": 0o600, "overwrite": True, "contents": {"source": source}}


def token_of(headers: Headers) -> str | Refusal:
    """The token that a machine shows."""
    kind, _blank, encoded = headers.get("authorization", "").partition(" ")
    if kind != "Bearer" or not encoded:
        return BAD_HEADER
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except ValueError:
        return BAD_TOKEN


class Ignition:
    """The ignition server of one hosted control plane, from `start` till `stop`, and again."""

    def __init__(self, api: Api, namespace: str, speed: Speed) -> None:
        self.name = f"ignition {namespace}"
        self._api, self._namespace, self._speed = api, namespace, speed
        self._lock = threading.Lock()
        self._running: _Run | None = None
        self.faulty = Faulty()

    def start(self) -> None:
        with self._lock:
            if self._running is None:
                self._running = _Run(self._api, self._namespace, self._speed, self.faulty)
                self._running.start()

    def stop(self) -> None:
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()

    def faults(self) -> dict[str, Callable[..., None]]:
        return {
            "no-payload": self.faulty.never,
            "bad-payload": self.faulty.cannot,
            "broken-payload": self.faulty.breaks,
        }

    def heal(self) -> None:
        self.faulty.nothing()
        with self._lock:
            if self._running is not None:
                self._running.look_again()


class Faulty:
    """What is wrong with the server, if anything."""

    def __init__(self) -> None:
        self.nothing()

    def nothing(self) -> None:
        self.makes_none, self.broken, self.because = False, False, ""

    def never(self) -> None:
        """No payload is ever made: machines are told that their token is not known."""
        self.makes_none = True

    def cannot(self, because: str = "machine-config-operator process failed: exit status 255") -> None:
        """Payloads cannot be made; the NodePool says why."""
        self.because = because

    def breaks(self) -> None:
        """What machines are given is refused by the server itself, with status 500."""
        self.broken = True


class _Run(Controller):
    """One life of the server: what it made is forgotten with it."""

    def __init__(self, api: Api, namespace: str, speed: Speed, faulty: Faulty) -> None:
        super().__init__(api, f"ignition {namespace}")
        self._namespace, self._speed, self._faulty = namespace, speed, faulty
        self._payloads: dict[str, Payload] = {}
        self._ready: dict[str, float] = {}
        self._expiry: dict[str, float] = {}
        self._door: Server | None = None
        self._door_is: tuple[int, str] | None = None
        self._recorder = _Recorder(api, namespace)
        self._secrets = self.watch(SECRETS, namespace=namespace, key=_of_secret)
        self._services = self.watch(SERVICES, namespace=namespace, key=_of_service)

    def stop(self) -> None:
        super().stop()
        self._close()

    def look_again(self) -> None:
        for secret in self._secrets.all():
            for key in _of_secret(secret):
                self.agenda.add(key)

    def reconcile(self, key: str) -> float | None:
        if key == DOOR:
            self._keep_door()
            return None
        return self._look_at(key)

    # -- tokens -----------------------------------------------------------------------------------------------------

    def _look_at(self, name: str) -> float | None:
        secret = self._secrets.get(name, self._namespace)
        if secret is None or "deletionTimestamp" in secret["metadata"]:
            self._forget(name)
            return None
        left = self._time_left(secret)
        if left <= 0:
            self._forget(name)
            self.api.delete(SECRETS, name, self._namespace)
            return None
        again = self._serve(secret)
        return min(left, again)

    def _time_left(self, secret: Object) -> float:
        """Seconds till the token expires: its time is set by the operator's clock, and passes at the lab's speed."""
        expires = secret["metadata"].get("annotations", {}).get(EXPIRES)
        if expires is None:
            self._expiry.pop(of_name(secret), None)
            return float("inf")
        moment = times.parsed(expires)
        if moment is None:
            return 0.0
        real = max((moment - times.now()).total_seconds(), 0.0)
        due = self._expiry.setdefault(of_name(secret), time.monotonic() + self._speed.seconds(real))
        return due - time.monotonic()

    def _serve(self, secret: Object) -> float:
        """See to it that the Secret's tokens have their payload; says after how long to look again."""
        name, data = of_name(secret), _decoded(secret)
        token, old = data.get("token", b"").decode(), data.get("old_token", b"").decode()
        made = self._payloads.get(token) or self._payloads.get(old)
        if made is None:
            ready = self._ready.setdefault(name, time.monotonic() + self._speed.seconds(GENERATING))
            if self._faulty.makes_none or time.monotonic() < ready or not self.serves():
                return max(ready - time.monotonic(), self._speed.seconds(AGAIN))
            try:
                made = Payload(name, self._content())
            except Missing as error:
                said = f"failed to generate payload: error getting ignition payload: {error}"
                self._report(secret, {"reason": "InvalidConfig", "message": said})
                return self._speed.seconds(AGAIN)
            self.log.info("the payload of %s is made", name)
        for each in filter(None, (token, old)):
            self._payloads[each] = made
        self._report(secret, self._success(secret, made))
        return self._rotate(secret, token, made)

    def _content(self) -> bytes:
        if self._faulty.because:
            raise Missing(self._faulty.because)
        secret = self._secrets.get(BOOTSTRAP, self._namespace)
        if secret is None:
            raise Missing(
                "failed to get bootstrap kubeconfig: failed to get bootstrap kubeconfig secret: "
                f'Secret "{BOOTSTRAP}" not found'
            )
        try:
            return payload(_decoded(secret)["kubeconfig"])
        except (KeyError, IndexError, TypeError, ValueError, yaml.YAMLError):
            raise Missing(
                "failed to get bootstrap kubeconfig: bootstrap kubeconfig secret missing kubeconfig key"
            ) from None

    def _success(self, secret: Object, made: Payload) -> dict[str, str | None]:
        """What the NodePool controller reads, and the payload for those who upgrade machines in place."""
        said: dict[str, str | None] = {"reason": "AsExpected", "message": "Payload generated successfully"}
        kind = secret["metadata"].get("annotations", {}).get(UPGRADE_TYPE)
        if kind == "InPlace":
            said["payload"] = base64.b64encode(gzip.compress(made.content, mtime=0)).decode()
        elif kind == "Replace":
            said["payload"] = None
        return said

    def _report(self, secret: Object, said: dict[str, str | None]) -> None:
        have = secret.get("data") or {}
        data = {key: None if value is None else _encoded(value) for key, value in said.items()}
        if any(have.get(key) != value for key, value in data.items()):
            self.api.patch(SECRETS, of_name(secret), self._namespace, {"data": data})

    def _rotate(self, secret: Object, token: str, made: Payload) -> float:
        """Give the Secret a new token when its own is old; machines that have the old one may still come."""
        since = times.parsed(secret["metadata"].get("annotations", {}).get(GENERATED, "")) or times.now()
        left = self._speed.seconds(ROTATING) - (times.now() - since) / timedelta(seconds=1)
        if left > 0:
            return left
        fresh = str(uuid.uuid4())
        # Known before it is written, so that nobody comes with a token that is not.
        self._payloads[fresh] = made
        change = {
            "metadata": {"annotations": {GENERATED: times.exact(times.now())}},
            "data": {"token": _encoded(fresh), "old_token": _encoded(token)},
        }
        self.api.patch(SECRETS, of_name(secret), self._namespace, change)
        for each in [each for each, of in self._payloads.items() if of.secret == made.secret]:
            if each not in (fresh, token):
                del self._payloads[each]
        self.log.info("%s has a new token", of_name(secret))
        return self._speed.seconds(ROTATING)

    def _forget(self, name: str) -> None:
        self._ready.pop(name, None)
        self._expiry.pop(name, None)
        for token in [token for token, made in self._payloads.items() if made.secret == name]:
            del self._payloads[token]

    # -- the door ---------------------------------------------------------------------------------------------------

    def _keep_door(self) -> None:
        """Listen where the Service says, with the certificate of the Secret, or not at all."""
        service = self._services.get(SERVICE, self._namespace) or {}
        secret = self._secrets.get(CERTIFICATE, self._namespace)
        port = next((each.get("nodePort") for each in service.get("spec", {}).get("ports", [])), None)
        if secret is None or port is None or not {"tls.crt", "tls.key"} <= _filled(secret):
            self._close()
            return
        wanted = (port, secret["data"]["tls.crt"])
        if wanted == self._door_is:
            return
        self._close()
        pair = _decoded(secret)
        # ssl reads certificates from files only; this one exists for a moment, and for the owner alone.
        with tempfile.NamedTemporaryFile() as file:
            file.write(pair["tls.crt"] + b"\n" + pair["tls.key"])
            file.flush()
            tls = server_context(file.name, file.name)
        self._door = Server(port, tls, _handler(self))
        self._door.open()
        self._door_is = wanted
        self.log.info("machines get their configuration at https://127.0.0.1:%d/ignition", port)

    def _close(self) -> None:
        door, self._door, self._door_is = self._door, None, None
        if door is not None:
            door.close()

    def serves(self) -> bool:
        """Whether the ignition server itself runs; its proxy does while this object does."""
        server = self.api.get(DEPLOYMENTS, SERVER, self._namespace)
        return server is None or bool(server.get("status", {}).get("availableReplicas"))

    def content_for(self, headers: Headers) -> bytes | Refusal:
        if not self.serves():
            return NO_SERVER
        token = token_of(headers)
        if isinstance(token, Refusal):
            return token
        made = self._payloads.get(token)
        if made is None:
            return UNKNOWN_TOKEN
        return BROKEN if self._faulty.broken else made.content

    def remember(self, headers: Headers, answer: bytes | Refusal) -> None:
        """Write down what became of a request: an event, and that a machine of this NodePool has been here."""
        pool = headers.get("nodepool", "").rpartition("/")[2]
        secret = f"token-{pool}-{headers.get('targetconfigversionhash', '')}"
        if isinstance(answer, Refusal):
            if answer.event:
                self._recorder.record(secret, "Warning", "GetPayloadFailed", answer.event)
            return
        self._recorder.record(secret, "Normal", "GetPayload", "")
        try:
            self.api.patch(SECRETS, secret, self._namespace, {"metadata": {"annotations": {REACHED: "True"}}})
        except (ApiError, Unreachable) as error:
            self.log.info("%s cannot be marked as reached: %s", secret, error)


class _Recorder:
    """Events on token Secrets; what happens again is counted."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api, self._namespace = api, namespace
        self._known: dict[tuple[str, str, str], tuple[str, int]] = {}
        self._lock = threading.Lock()

    def record(self, secret: str, kind: str, reason: str, message: str) -> None:
        # Events are told to those who want to know; a machine is served without.
        with self._lock, contextlib.suppress(ApiError, Unreachable):
            known = self._known.get((secret, reason, message))
            moment = times.stamp(times.now())
            if known is not None:
                name, count = known[0], known[1] + 1
                self._api.patch(EVENTS, name, self._namespace, {"count": count, "lastTimestamp": moment})
            else:
                name, count = f"{secret}.{time.time_ns():x}", 1
                self._api.create(EVENTS, self._event(name, secret, kind, reason, message, moment))
            self._known[secret, reason, message] = name, count

    def _event(self, name: str, secret: str, kind: str, reason: str, message: str, moment: str) -> Object:
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": self._namespace},
            "involvedObject": {"apiVersion": "v1", "kind": "Secret", "name": secret, "namespace": self._namespace},
            "type": kind,
            "reason": reason,
            "message": message,
            "source": {"component": "ignition-server"},
            "reportingComponent": "ignition-server",
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }


def _of_secret(secret: Object) -> Iterable[str]:
    if TOKEN in secret["metadata"].get("annotations", {}):
        yield of_name(secret)
    if of_name(secret) == CERTIFICATE:
        yield DOOR


def _of_service(service: Object) -> Iterable[str]:
    if of_name(service) == SERVICE:
        yield DOOR


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _decoded(secret: Object) -> dict[str, bytes]:
    return {key: base64.b64decode(value) for key, value in (secret.get("data") or {}).items()}


def _filled(secret: Object) -> set[str]:
    """The keys of a Secret that have a value: the control-plane operator makes empty ones first."""
    return {key for key, value in (secret.get("data") or {}).items() if value}


def _handler(run: _Run) -> type[Handler]:
    class Answers(Handler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path == "/healthz":
                self.answer(200, b"", PLAIN)
            elif not PATH.fullmatch(path):
                self.answer(404, b"404 page not found\n", PLAIN)
            else:
                self._ignite()

        do_HEAD = do_GET

        def _ignite(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = run.content_for(headers)
            if isinstance(answer, Refusal):
                self.answer(answer.status, f"{answer.body}\n".encode(), PLAIN, X_Content_Type_Options="nosniff")
            else:
                self.answer(200, answer, JSON)
            run.remember(headers, answer)

    return Answers
