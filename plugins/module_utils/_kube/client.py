# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kubernetes API over HTTP: patient, counted, never forcing.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import monotonic
from typing import Any
from urllib.parse import quote, urlencode

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK, Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import Deadline, within
from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.parent import end_if_orphaned
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http.causes import cause_of
from ansible_collections.metalshift.maas.plugins.module_utils._http.client import HttpClient
from ansible_collections.metalshift.maas.plugins.module_utils._http.pure.answer import seconds_of
from ansible_collections.metalshift.maas.plugins.module_utils._http.wire import CONNECT_TIMEOUT
from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access
from ansible_collections.metalshift.maas.plugins.module_utils._kube.kubeconfig import Published
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure import errors
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.errors import KubeAnswer
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    ACCESS_REVIEWS,
    CSRS,
    Object,
    ObjectKind,
    Objects,
    kind_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import MANAGER

MISSING: ImportError | None = None
try:
    import urllib3
    from urllib3 import HTTPHeaderDict
    from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ProxyError

    # Raised before anything was sent; a write that ended so had no effect.
    UNSENT = (NewConnectionError, ConnectTimeoutError, ProxyError)
    REASONS = ((ProxyError, "the proxy does not let us through"),)
except ImportError as missing:
    MISSING = missing


READ_TIMEOUT = 35.0
# A list comes in pages, so that one of thousands of objects is no single answer of many megabytes.
PAGE = 500
# How long the server keeps a watch open; the silence in it is bounded by bookmarks, which come every minute.
WATCH_SECONDS = 290
LONGEST_SILENCE = 90.0
BLOCK = 1 << 16

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON = "application/json"


class Expired(Exception):
    """The version to go on from is too old: list anew."""


@dataclass(frozen=True)
class Listing:
    """The objects of a list, and the version from which a watch goes on."""

    items: Objects
    version: str


@dataclass
class Stream:
    """An open watch: iterate over (type, object). It ends when the server ends it.

    `count` is told how many bytes have come, `server` is whose they are.
    """

    response: Any = field(repr=False)
    server: str
    count: Callable[[int], None] = field(repr=False)

    def __iter__(self) -> Iterator[tuple[str, Object]]:
        try:
            for line in self._lines():
                if line.strip():
                    yield self._event(line)
        finally:
            self.close()

    def _lines(self) -> Iterator[bytes]:
        """Whole lines. A broken watch is one that ended: whoever reads it goes on from the last version."""
        begun: list[bytes] = []
        try:
            for piece in _pieces(self.response):
                self.count(len(piece))
                end, *others = piece.split(b"\n")
                begun.append(end)
                for other in others:
                    yield b"".join(begun)
                    begun = [other]
        except (OSError, HTTPError, ValueError):
            return

    def _event(self, line: bytes) -> tuple[str, Object]:
        """What a line says; a proxy may say something else in the server's place."""
        try:
            said = json.loads(line)
            kind, body = str(said["type"]), said["object"]
            if kind == "ERROR":
                raise Expired(str(body.get("message", "")))
            # What the next watch goes on from.
            known = isinstance(body["metadata"]["resourceVersion"], str)
        except (ValueError, LookupError, TypeError, AttributeError):
            known = False
        if not known:
            raise errors.not_kubernetes(self.server)
        return kind, body

    def close(self) -> None:
        """End it; also from another thread, which only a shut socket wakes."""
        with suppress(Exception):
            getattr(self.response, "shutdown", self.response.close)()
        with suppress(Exception):
            self.response.close()


def _pieces(response: Any) -> Iterator[bytes]:
    """The body as it comes. A watch brings a line now and then: who waited for a full block would not hear of it."""
    if getattr(response, "chunked", False):
        # Each chunk is handed on as soon as it is there.
        yield from response.stream(BLOCK)
    elif hasattr(response, "read1"):
        while piece := response.read1(BLOCK):
            yield piece
    else:
        # urllib3 before 2.1 waits for as many bytes as it is asked for.
        yield from response.stream(1)


def _whole(response: Any, seconds: float) -> bytes:
    """The whole body, in time: the library bounds only the silence between two pieces."""
    until = monotonic() + seconds
    pieces = []
    for piece in _pieces(response):
        pieces.append(piece)
        if monotonic() > until:
            raise TimeoutError
    response.release_conn()
    return b"".join(pieces)


class Kube(HttpClient):
    """Sends requests to one API server. Safe to use from several threads."""

    def __init__(
        self,
        access: Access,
        *,
        clock: Clock = WALL_CLOCK,
        read_timeout: float = READ_TIMEOUT,
        deadline: Deadline | None = None,
    ) -> None:
        if MISSING:
            raise missing_library(MISSING, "kubernetes")
        super().__init__(clock, read_timeout, deadline)
        self.server = access.server
        self._access = access
        self._served: dict[str, frozenset[str]] = {}

    @classmethod
    def from_kubeconfig(
        cls,
        content: str | bytes | Mapping[str, Any] | Published,
        *,
        clock: Clock = WALL_CLOCK,
        read_timeout: float = READ_TIMEOUT,
        deadline: Deadline | None = None,
    ) -> Kube:
        """The API that a kubeconfig names which a cluster wrote: nothing in it is run, read or obeyed."""
        published = content if isinstance(content, Published) else Published.read(content)
        return cls(Access.from_published(published), clock=clock, read_timeout=read_timeout, deadline=deadline)

    # -- reading ----------------------------------------------------------------------------------------------------

    def get(self, kind: ObjectKind, name: str, namespace: str = "") -> Object | None:
        """One object; None when there is none."""
        reply = self._patiently("GET", kind.path(namespace, quote(name, safe="")))
        if reply.status == 404 and (_names_an_object(reply) or not self.serves(kind)):
            return None
        return self._body(reply, f"read the {kind} {_place(namespace, name)}")

    def list(self, kind: ObjectKind, namespace: str = "", *, labels: str = "", fields: str = "") -> Objects:
        """All objects of a kind, in one namespace or in all; none when the cluster does not know the kind."""
        return self.listing(kind, namespace, labels=labels, fields=fields).items

    def listing(self, kind: ObjectKind, namespace: str = "", *, labels: str = "", fields: str = "") -> Listing:
        """The same, with the version from which a watch goes on."""
        items: Objects = []
        query = {"labelSelector": labels, "fieldSelector": fields, "limit": str(PAGE), "continue": ""}
        while True:
            reply = self._patiently("GET", kind.path(namespace), query)
            if reply.status == 404:
                return Listing([], "")
            if reply.status == 410 and query["continue"]:
                # The pages grew too old on the way.
                items, query["continue"] = [], ""
                continue
            body = self._body(reply, f"list {kind.resource}{f' in {namespace}' if namespace else ''}")
            # A list leaves out what is the same for all.
            items += [{"apiVersion": kind.api, "kind": kind.name, **each} for each in body.get("items") or []]
            query["continue"] = body["metadata"].get("continue") or ""
            if not query["continue"]:
                return Listing(items, body["metadata"]["resourceVersion"])

    def watch(
        self, kind: ObjectKind, namespace: str = "", version: str = "", *, seconds: int = WATCH_SECONDS
    ) -> Stream:
        """What changes from that version on. Expired when it is too old; a Failure when it cannot be opened."""
        query = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        path = kind.path(namespace)
        began = self._clock.now()
        try:
            response = self._open("GET", path, query, None, {"Accept": JSON}, LONGEST_SILENCE)
        except (OSError, ValueError, HTTPError) as error:
            reply = self._unanswered(error, LONGEST_SILENCE)
            self._record("GET", path, query, reply, 0, 0, began)
            raise reply.failure or self._unreachable("the connection broke") from None
        if response.status == 200:
            return Stream(response, self.server, self._record("GET", path, query, KubeAnswer(200), 0, 0, began))
        reply = self._reply(response.status, response.headers, response.read(decode_content=True))
        response.release_conn()
        self._record("GET", path, query, reply, 0, 0, began)
        if reply.status == 410:
            raise Expired
        raise self._failure(reply, f"watch {kind.resource}")

    def serves(self, kind: ObjectKind) -> bool:
        """Whether the cluster knows the kind in this version; asked once for all kinds of a group."""
        if kind.api not in self._served:
            path = f"/apis/{kind.api}" if kind.group else f"/api/{kind.api}"
            reply = self._patiently("GET", path)
            names = [] if reply.status == 404 else self._body(reply, f"list the kinds of {kind.api}")["resources"]
            self._served[kind.api] = frozenset(each["name"] for each in names)
        return kind.plural in self._served[kind.api]

    def apis(self) -> tuple[str, ...]:
        """All API versions that are served, the preferred one of each group."""
        groups = self._body(self._patiently("GET", "/apis"), "list its API groups")["groups"]
        return ("v1", *(each["preferredVersion"]["groupVersion"] for each in groups))

    def kinds(self, api: str, *, listable: bool = False) -> dict[str, ObjectKind]:
        """The kinds that an API version serves now, by name; none when there is no such version."""
        reply = self._patiently("GET", f"/apis/{api}" if "/" in api else f"/api/{api}")
        found = [] if reply.status == 404 else self._body(reply, f"list the kinds of {api}")["resources"]
        return {
            each["kind"]: ObjectKind(api, each["kind"], each["name"], namespaced=each["namespaced"])
            for each in found
            if "/" not in each["name"] and (not listable or "list" in each["verbs"])
        }

    def may(self, verb: str, kind: ObjectKind, namespace: str = "", name: str = "", subresource: str = "") -> bool:
        """Whether the user of this connection may do that."""
        attributes = {
            "verb": verb,
            "group": kind.group,
            "resource": kind.plural,
            "namespace": namespace,
            "name": name,
            "subresource": subresource,
        }
        asked = {"apiVersion": ACCESS_REVIEWS.api, "kind": ACCESS_REVIEWS.name}
        asked["spec"] = {"resourceAttributes": {key: value for key, value in attributes.items() if value}}  # type: ignore[assignment]
        # A review is kept nowhere: it is a question.
        reply = self._patiently("POST", ACCESS_REVIEWS.path(), body=asked, reads=True)
        return bool(self._body(reply, "say what its user may do")["status"].get("allowed"))

    @cached_property
    def version(self) -> dict[str, Any]:
        """The version of the API server, as it says it."""
        return self._body(self._patiently("GET", "/version"), "tell its version")

    # -- writing ----------------------------------------------------------------------------------------------------

    def apply(
        self, body: Object, *, kind: ObjectKind | None = None, dry_run: bool = False, force_at: str = ""
    ) -> Object:
        """Make the object have these fields, under our own name; what others keep is not taken from them.

        `kind` is for objects of kinds that the collection does not know by itself. With `force_at`, what others keep is
        taken, if the object still has this version: for whoever has seen what they keep in it.
        """
        kind, name, namespace = _identity(body, kind)
        query = {"fieldManager": MANAGER, "fieldValidation": "Strict", **_dry(dry_run)}
        if force_at:
            query["force"] = "true"
            body = {**body, "metadata": {**body["metadata"], "resourceVersion": force_at}}
        reply = self._patiently(
            "PATCH", kind.path(namespace, quote(name, safe="")), query, body, {"Content-Type": APPLY}
        )
        return self._body(reply, f"apply the {kind} {_place(namespace, name)}", quiet=kind.name == "Secret")

    def create(self, body: Object, *, dry_run: bool = False) -> Object:
        """Create the object. One whose answer was lost is looked for before it is created again."""
        kind, name, namespace = _identity(body)
        query = {"fieldManager": MANAGER, "fieldValidation": "Strict", **_dry(dry_run)}
        what = f"create the {kind} {_place(namespace, name)}"
        replies: list[KubeAnswer] = []

        def send() -> KubeAnswer:
            replies.append(self._send("POST", kind.path(namespace), query, body, {}))
            return replies[-1]

        outcome = self._write(
            send,
            uncertain=lambda reply: errors.uncertain(what, reply, self.server),
            settled=lambda: self.get(kind, name, namespace) if replies[-1].status == 409 else None,
        )
        return self._body(outcome, what, quiet=kind.name == "Secret") if isinstance(outcome, KubeAnswer) else outcome

    def patch(
        self,
        kind: ObjectKind,
        name: str,
        namespace: str,
        body: Mapping[str, Any],
        *,
        dry_run: bool = False,
        subresource: str = "",
    ) -> Object:
        """Merge the body into the object (RFC 7386)."""
        query = {"fieldManager": MANAGER, **_dry(dry_run)}
        path = kind.path(namespace, quote(name, safe=""), subresource)
        reply = self._patiently("PATCH", path, query, body, {"Content-Type": MERGE})
        return self._body(reply, f"change the {kind} {_place(namespace, name)}", quiet=kind.name == "Secret")

    def delete(self, kind: ObjectKind, name: str, namespace: str = "", *, uid: str = "", dry_run: bool = False) -> bool:
        """Ask for the object's removal; True if there was something. With `uid`, only that very object."""
        body: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if uid:
            body["preconditions"] = {"uid": uid}
        reply = self._patiently("DELETE", kind.path(namespace, quote(name, safe="")), _dry(dry_run), body)
        if reply.status == 404 or (uid and reply.status == 409):
            return False
        self._body(reply, f"delete the {kind} {_place(namespace, name)}")
        return True

    def approve(self, request: Object, *, reason: str, message: str) -> Object:
        """Approve a certificate request as it was read: one that changed since is refused by the API."""
        conditions = [
            *_conditions(request),
            {"type": "Approved", "status": "True", "reason": reason, "message": message},
        ]
        body = {**request, "status": {**request.get("status", {}), "conditions": conditions}}
        name = request["metadata"]["name"]
        reply = self._patiently("PUT", CSRS.path("", quote(name, safe=""), "approval"), {"fieldManager": MANAGER}, body)
        if reply.status == 409:
            # The answer to an approval may have been lost: the next one is refused, for the request has changed.
            now = self.get(CSRS, name)
            if now is not None and any(_is_same_approval(each, conditions[-1]) for each in _conditions(now)):
                return now
        return self._body(reply, f"approve the certificate request {name}")

    # -- how it is done -------------------------------------------------------------------------------------------

    def _patiently(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        reads: bool = False,
    ) -> KubeAnswer:
        """What may be sent twice: a read, or a write that ends the same."""
        return self._read(lambda: self._send(method, path, query or {}, body, headers or {}, reads=reads))

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
        *,
        reads: bool = False,
    ) -> KubeAnswer:
        began = self._clock.now()
        content = None if body is None else json.dumps(body).encode()
        seconds = self._seconds_for("GET" if reads else method)
        received = 0

        def exchange() -> tuple[Any, bytes]:
            sent = {"Accept": JSON, "Content-Type": JSON, **headers}
            response = self._open(method, path, query, content, sent, seconds)
            return response, _whole(response, seconds)

        try:
            # Nothing else bounds a name that is slow to resolve, or a head that drips.
            response, answer = within(seconds, exchange)
            received = len(answer)
            reply = self._reply(response.status, response.headers, answer)
        # Not only the library's own errors: a broken CA file or a name that cannot be encoded come as others.
        except (OSError, ValueError, HTTPError) as error:
            reply = self._unanswered(error, seconds)
        if method != "GET" and not reads and "dryRun" not in query:
            self.wrote = self.wrote or reply.ok or reply.lost
        self._record(method, path, query, reply, len(content or b""), received, began)
        return reply

    def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        content: bytes | None,
        headers: Mapping[str, str],
        silence: float,
    ) -> Any:
        end_if_orphaned()
        sent = HTTPHeaderDict({"User-Agent": MANAGER, **headers})
        for name, value in self._access.headers():
            sent.add(name, value)
        asked = urlencode({name: value for name, value in query.items() if value})
        return self._access.pool.request(
            method,
            f"{self.server}{path}{'?' if asked else ''}{asked}",
            body=content,
            headers=sent,
            timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT, read=silence),
            retries=False,
            redirect=False,
            preload_content=False,
        )

    def _reply(self, status: int, headers: Mapping[str, str], content: bytes) -> KubeAnswer:
        text = content.decode("utf-8", errors="replace")
        body: Any = text
        with suppress(ValueError):
            body = json.loads(text)
        if 200 <= status < 300 and not isinstance(body, Mapping):
            return KubeAnswer(failure=errors.not_kubernetes(self.server), never_sent=True)
        return KubeAnswer(status, seconds_of(headers.get("Retry-After")), body=body)

    def _body(self, reply: KubeAnswer, what: str, *, quiet: bool = False) -> Object:
        if reply.ok:
            body: Object = reply.body
            return body
        raise self._failure(reply, what, quiet=quiet)

    def _failure(self, reply: KubeAnswer, what: str, *, quiet: bool = False) -> Failure:
        return errors.from_answer(what, reply, self.server, quiet=quiet)

    def _unanswered(self, error: Exception, seconds: float) -> KubeAnswer:
        cause = cause_of(error, seconds=seconds, unsent=UNSENT, more=REASONS)
        if cause.untrusted:
            return KubeAnswer(failure=self._untrusted(cause.untrusted), never_sent=True)
        # What does not speak TLS yet may be a server that begins.
        reason = "it does not speak TLS as we do" if cause.is_tls else cause.reason
        passing = cause.is_tls or cause.is_passing
        return KubeAnswer(failure=self._unreachable(reason), never_sent=cause.never_sent, worth_repeating=passing)

    def _unreachable(self, reason: str) -> Failure:
        return Failure(
            "unreachable",
            f"The Kubernetes API at {self.server} does not answer: {reason}.",
            reason=reason,
            hint="Check the kubeconfig or host, the network, and that the API server is running.",
        )

    def _untrusted(self, why: str) -> Failure:
        return Failure(
            "tls",
            f"The certificate of the Kubernetes API at {self.server} could not be verified: {why}.",
            reason=why,
            hint="Give the authority's certificate as ca_cert, or use a kubeconfig that holds it.",
        )

    def _record(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        reply: KubeAnswer,
        sent: int,
        received: int,
        began: float,
    ) -> Callable[[int], None]:
        """Keep the exchange; what is returned counts bytes that come after the answer has begun."""
        exchange = Exchange(
            method=method,
            path=path,
            query=urlencode({name: value for name, value in query.items() if value}),
            status=reply.status or None,
            sent=sent,
            received=received,
            seconds=self._clock.now() - began,
            problem=reply.failure.reason if reply.failure else "",
        )
        place = self._count(exchange)

        def count(more: int) -> None:
            with self._lock:
                known = self.exchanges[place]
                self.exchanges[place] = replace(known, received=known.received + more)

        return count


def _identity(body: Object, kind: ObjectKind | None = None) -> tuple[ObjectKind, str, str]:
    metadata = body["metadata"]
    return kind or kind_of(body), metadata["name"], metadata.get("namespace", "")


def _conditions(request: Object) -> Objects:
    return (request.get("status") or {}).get("conditions") or []


def _is_same_approval(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name) == other[name] for name in ("type", "reason", "message"))


def _names_an_object(reply: KubeAnswer) -> bool:
    """Whether a 404 is about an object; one about an unknown kind names none."""
    return isinstance(reply.body, Mapping) and bool((reply.body.get("details") or {}).get("name"))


def _dry(dry_run: bool) -> dict[str, str]:
    return {"dryRun": "All"} if dry_run else {}


def _place(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name
