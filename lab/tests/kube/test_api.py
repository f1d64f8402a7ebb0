# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from metalshift_lab.authority import Authority, kubeconfig
from metalshift_lab.kube.api import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    NAMESPACES,
    SECRETS,
    SERVICE_ACCOUNTS,
    Api,
    ApiError,
    Object,
    Resource,
    Unreachable,
)
from metalshift_lab.kube.proxy import Proxy
from metalshift_lab.ports import LOOPBACK

THING: Object = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "thing", "namespace": "place"}}


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it."""

    method: str
    target: str
    body: Any
    content: str
    authorization: str
    port: int


class _Listening(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, _request: Any, _address: Any) -> None:
        """Clients of these tests hang up as they please."""


class Server:
    """An API server that says what a test tells it, over TLS."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder, "ca")
        certificate, key = folder / "server.crt", folder / "server.key"
        self.authority.server("server", [LOOPBACK, "kube-apiserver"]).write(certificate, key)
        self.asked: list[Asked] = []
        self.answer: tuple[int, bytes] = (200, b"{}")
        self.act: Callable[[BaseHTTPRequestHandler], None] = self._say
        self._server = _Listening((LOOPBACK, 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(self.authority.file)
        context.verify_mode = ssl.CERT_OPTIONAL
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                asked = Asked(
                    self.command,
                    self.path,
                    json.loads(body) if body else None,
                    self.headers.get("Content-Type", ""),
                    self.headers.get("Authorization", ""),
                    self.client_address[1],
                )
                server.asked.append(asked)
                server.act(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any

            def log_message(self, *_words: Any) -> None:
                """Tests look at `asked`."""

        return Handler

    def _say(self, request: BaseHTTPRequestHandler) -> None:
        status, body = self.answer
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def says(self, body: Any, status: int = 200) -> None:
        self.answer = (status, body if isinstance(body, bytes) else json.dumps(body).encode())

    def refuses(self, status: int, reason: str, message: str = "no") -> None:
        self.says({"kind": "Status", "reason": reason, "message": message}, status)

    def streams(self, *lines: bytes, whole: bool = True, hold: float = 0) -> None:
        """Answer with these lines in chunks; broken off in the middle of one unless `whole`."""

        def act(request: BaseHTTPRequestHandler) -> None:
            request.send_response(200)
            request.send_header("Transfer-Encoding", "chunked")
            request.end_headers()
            for line in lines:
                request.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                request.wfile.flush()
            time.sleep(hold)
            request.wfile.write(b"0\r\n\r\n" if whole else b"40\r\n{half of")
            request.close_connection = True

        self.act = act

    def api(self, host: str = LOOPBACK, port: int = 0, **more: Any) -> Api:
        server = f"https://{host}:{port or self.port}"
        return Api(kubeconfig(server, self.authority.pem, {"token": "secret"}), **more)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    yield made
    made.close()


@pytest.fixture
def api(server: Server) -> Api:
    return server.api()


# -- paths ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resource", "where", "path"),
    [
        (SECRETS, (), "/api/v1/secrets"),
        (SECRETS, ("place",), "/api/v1/namespaces/place/secrets"),
        (SECRETS, ("place", "thing"), "/api/v1/namespaces/place/secrets/thing"),
        (NAMESPACES, (None, "place"), "/api/v1/namespaces/place"),
        (DEPLOYMENTS, ("place", "thing", "status"), "/apis/apps/v1/namespaces/place/deployments/thing/status"),
        (SECRETS, ("a/b", "c d?"), "/api/v1/namespaces/a%2Fb/secrets/c%20d%3F"),
    ],
)
def test_an_object_has_the_path_of_its_kind(resource: Resource, where: tuple[Any, ...], path: str) -> None:
    assert resource.path(*where) == path


def test_a_kind_is_named_with_its_group() -> None:
    assert (str(SECRETS), str(DEPLOYMENTS)) == ("secrets", "deployments.apps")


# -- requests -------------------------------------------------------------------------------------------------------

MERGE, APPLY, JSON = "application/merge-patch+json", "application/apply-patch+yaml", "application/json"
PLACE = "/api/v1/namespaces/place"


@pytest.mark.parametrize(
    ("act", "method", "target", "body", "content"),
    [
        (lambda api: api.get(SECRETS, "thing", "place"), "GET", f"{PLACE}/secrets/thing", None, JSON),
        (lambda api: api.create(SECRETS, THING), "POST", f"{PLACE}/secrets", THING, JSON),
        (lambda api: api.create(SECRETS, {}, "place"), "POST", f"{PLACE}/secrets", {}, JSON),
        (
            lambda api: api.create(SERVICE_ACCOUNTS, {"spec": 1}, "place", name="me", subresource="token"),
            "POST",
            f"{PLACE}/serviceaccounts/me/token",
            {"spec": 1},
            JSON,
        ),
        (
            lambda api: api.replace(SECRETS, THING, subresource="status"),
            "PUT",
            f"{PLACE}/secrets/thing/status",
            THING,
            JSON,
        ),
        (
            lambda api: api.patch(SECRETS, "thing", "place", {"data": None}),
            "PATCH",
            f"{PLACE}/secrets/thing",
            {"data": None},
            MERGE,
        ),
        (
            lambda api: api.apply(SECRETS, THING, manager="me"),
            "PATCH",
            f"{PLACE}/secrets/thing?fieldManager=me&force=true",
            THING,
            APPLY,
        ),
        (lambda api: api.delete(SECRETS, "thing", "place"), "DELETE", f"{PLACE}/secrets/thing", None, JSON),
    ],
)
def test_each_act_is_the_request_that_kubernetes_knows(
    server: Server, api: Api, act: Callable[[Api], Any], method: str, target: str, body: Any, content: str
) -> None:
    act(api)
    (asked,) = server.asked
    assert (asked.method, asked.target, asked.body, asked.content) == (method, target, body, content)
    assert asked.authorization == "Bearer secret"


def test_the_objects_of_a_list_have_a_kind_each(server: Server, api: Api) -> None:
    items = [{"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}]
    server.says({"kind": "SecretList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": items})
    typed = {"apiVersion": "v1", "kind": "Secret"}
    assert api.listing(SECRETS, "place", labels="a=b,c") == ([{**typed, **item} for item in items], "7")
    assert server.asked[0].target == f"{PLACE}/secrets?labelSelector=a%3Db%2Cc"


def test_an_empty_list_may_have_no_items_at_all(server: Server, api: Api) -> None:
    server.says({"kind": "SecretList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": None})
    assert api.list(SECRETS) == []


@pytest.mark.parametrize("status", [400, 403, 409, 422, 500, 503])
def test_an_error_has_its_status_reason_and_message(server: Server, api: Api, status: int) -> None:
    server.refuses(status, "Reason", "what is wrong")
    acts: tuple[Callable[[], Any], ...] = (
        lambda: api.get(SECRETS, "x"),
        lambda: api.replace(SECRETS, THING),
        partial(api.delete, SECRETS, "x"),
    )
    for act in acts:
        with pytest.raises(ApiError, match="what is wrong") as raised:
            act()
        assert (raised.value.status, raised.value.reason) == (status, "Reason")


def test_an_error_may_be_plain_text(server: Server, api: Api) -> None:
    server.says(b"storage is (re)initializing\n", 429)
    with pytest.raises(ApiError, match=r"^storage is \(re\)initializing$") as raised:
        api.list(SECRETS)
    assert raised.value.status == 429


def test_what_is_not_there_is_none_and_deleted_already(server: Server, api: Api) -> None:
    server.refuses(404, "NotFound")
    assert api.get(SECRETS, "thing", "place") is None
    api.delete(SECRETS, "thing", "place")
    with pytest.raises(ApiError):
        api.replace(SECRETS, THING)


def test_a_server_is_healthy_when_it_says_so(server: Server, api: Api) -> None:
    server.says(b"ok")
    assert api.healthy()
    server.says(b"[-]etcd failed", 500)
    assert not api.healthy()
    server.close()
    assert not server.api().healthy()


# -- connections ----------------------------------------------------------------------------------------------------


def test_a_connection_is_kept_and_each_thread_has_its_own(server: Server, api: Api) -> None:
    for _number in range(3):
        api.get(SECRETS, "x")
    assert len({asked.port for asked in server.asked}) == 1
    together = threading.Barrier(4)

    def two() -> None:
        together.wait(5)
        api.get(SECRETS, "x")
        api.get(SECRETS, "x")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _number: two(), range(4)))
    assert len({asked.port for asked in server.asked}) == 5


def test_a_kept_connection_that_the_server_closed_is_no_failure(server: Server, api: Api) -> None:
    plain = server.act

    def close_behind(request: BaseHTTPRequestHandler) -> None:
        plain(request)
        request.close_connection = True

    server.act = close_behind
    for _number in range(3):
        assert api.get(SECRETS, "x") == {}
    assert len(server.asked) == 3, "and nothing is asked twice"


def test_a_server_that_breaks_off_is_unreachable(server: Server, api: Api) -> None:
    def hang_up(request: BaseHTTPRequestHandler) -> None:
        request.connection.shutdown(socket.SHUT_RDWR)
        request.close_connection = True

    server.act = hang_up
    with pytest.raises(Unreachable, match=f"https://{LOOPBACK}:{server.port}: ."):
        api.create(SECRETS, THING)
    assert len(server.asked) == 1, "a new connection that breaks may have done it"


def test_nobody_at_the_port_is_unreachable(server: Server) -> None:
    server.close()
    with pytest.raises(Unreachable, match="refused"):
        server.api().get(SECRETS, "x")


def test_an_answer_that_does_not_come_is_not_awaited_for_ever(server: Server) -> None:
    server.act = lambda _request: time.sleep(1)
    with pytest.raises(Unreachable, match="timed out"):
        server.api(timeout=0.1).get(SECRETS, "x")


def test_a_server_of_another_authority_is_not_believed(server: Server, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other", "ca")
    api = Api(kubeconfig(f"https://{LOOPBACK}:{server.port}", other.pem, {"token": "secret"}))
    with pytest.raises(Unreachable, match="certificate"):
        api.get(SECRETS, "x")
    assert server.asked == []


def test_a_user_may_have_a_certificate(server: Server) -> None:
    seen: list[Any] = []

    def look(request: BaseHTTPRequestHandler) -> None:
        assert isinstance(request.connection, ssl.SSLSocket)
        seen.append(dict(pair[0] for pair in (request.connection.getpeercert() or {})["subject"]))  # type: ignore[misc]
        server.says({})
        Server._say(server, request)

    server.act = look
    Api(server.authority.kubeconfig(f"https://{LOOPBACK}:{server.port}", "alice", ["team"])).get(SECRETS, "x")
    assert seen == [{"organizationName": "team", "commonName": "alice"}]
    assert server.asked[0].authorization == ""


def test_names_are_resolved_by_the_proxy_and_checked_in_the_certificate(server: Server) -> None:
    with socket.create_server((LOOPBACK, 0)) as probe:
        port = int(probe.getsockname()[1])
    names = {("one", "kube-apiserver", 6443): server.port, ("one", "imposter", 6443): server.port}
    proxy = Proxy(port, lambda *asked: names.get(asked))
    proxy.start()
    try:
        assert server.api("kube-apiserver", 6443, proxy=proxy.url("one")).get(SECRETS, "x") == {}
        with pytest.raises(Unreachable, match="imposter"):
            server.api("imposter", 6443, proxy=proxy.url("one")).get(SECRETS, "x")
        with pytest.raises(Unreachable, match="502"):
            server.api("kube-apiserver", 6443, proxy=proxy.url("two")).get(SECRETS, "x")
    finally:
        proxy.stop()
    assert server.api(proxy=proxy.url("one")).get(SECRETS, "x") == {}, "this machine is reached without it"


# -- watches --------------------------------------------------------------------------------------------------------


def event(kind: str, body: Object) -> bytes:
    return json.dumps({"type": kind, "object": body}).encode() + b"\n"


def test_a_watch_yields_events_till_the_server_ends_it(server: Server, api: Api) -> None:
    first, second = event("ADDED", THING), event("DELETED", THING)
    server.streams(first[:10], first[10:] + second)
    assert list(api.watch(SECRETS, "place", "7", labels="a=b")) == [("ADDED", THING), ("DELETED", THING)]
    target = f"{PLACE}/secrets?watch=true&resourceVersion=7&timeoutSeconds=300&labelSelector=a%3Db"
    assert server.asked[0].target == target


def test_a_watch_that_is_too_old_says_so(server: Server, api: Api) -> None:
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    server.streams(event("ADDED", THING), event("ERROR", gone))
    watch = iter(api.watch(SECRETS, None, "1"))
    assert next(watch)[0] == "ADDED"
    with pytest.raises(ApiError, match="too old") as raised:
        next(watch)
    assert (raised.value.status, raised.value.reason) == (410, "Expired")


def test_a_refused_watch_is_an_error(server: Server, api: Api) -> None:
    server.refuses(403, "Forbidden", "may not watch")
    with pytest.raises(ApiError, match="may not watch"):
        list(api.watch(SECRETS, None, "1"))


def test_a_watch_that_breaks_off_is_unreachable(server: Server, api: Api) -> None:
    server.streams(event("ADDED", THING), whole=False)
    watch = iter(api.watch(SECRETS, None, "1"))
    assert next(watch)[0] == "ADDED"
    with pytest.raises(Unreachable):
        next(watch)


def test_a_watch_nobody_serves_is_unreachable(server: Server, api: Api) -> None:
    server.close()
    with pytest.raises(Unreachable, match="refused"):
        list(api.watch(SECRETS, None, "1"))


def test_a_watch_ends_quietly_when_it_is_closed(server: Server, api: Api) -> None:
    server.streams(event("ADDED", THING), hold=5)
    watch = api.watch(SECRETS, None, "1")
    events = iter(watch)
    assert next(events)[0] == "ADDED"
    threading.Timer(0.1, watch.close).start()
    began = time.monotonic()
    assert list(events) == []
    assert time.monotonic() - began < 3


def test_a_watch_closed_before_it_began_asks_nothing(server: Server, api: Api) -> None:
    server.streams(event("ADDED", THING), hold=5)
    watch = api.watch(SECRETS, None, "1")
    watch.close()
    assert list(watch) == []
    assert server.asked == []


def test_a_real_server_is_spoken_to(lab: Any) -> None:
    """The same, once, against the real thing: create, watch, patch, apply, list, delete."""
    api: Api = lab.api
    name = f"spoken-to-{time.time_ns()}"
    version = api.listing(CONFIG_MAPS, "default")[1]
    meta = {"name": name, "namespace": "default", "labels": {"made-by": name}}
    api.create(CONFIG_MAPS, {"metadata": meta, "data": {"a": "1", "b": "2"}})
    api.patch(CONFIG_MAPS, name, "default", {"data": {"a": None}})
    api.apply(CONFIG_MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"c": "3"}})
    (listed,) = api.list(CONFIG_MAPS, "default", labels=f"made-by={name}")
    assert (listed["kind"], listed["apiVersion"], listed["data"]) == ("ConfigMap", "v1", {"b": "2", "c": "3"})
    api.delete(CONFIG_MAPS, name, "default")
    assert api.get(CONFIG_MAPS, name, "default") is None
    watch = api.watch(CONFIG_MAPS, "default", version, labels=f"made-by={name}")
    seen = []
    for kind, _body in watch:
        seen.append(kind)
        if kind == "DELETED":
            watch.close()
    assert seen == ["ADDED", "MODIFIED", "MODIFIED", "DELETED"]
    with pytest.raises(ApiError, match="nonsense"):
        list(api.watch(CONFIG_MAPS, "default", "nonsense"))
