# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server that lists and streams what tests tell it, and fails as they say."""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import merged

Object = dict[str, Any]

END = object()
BREAK = object()


def refusal(code: int, reason: str, message: str) -> Object:
    """The Status with which the API refuses."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that break are part of the tests."""


class WatchedApi:
    """Serves collections by path. What changes goes to the watches that are open; every request is kept."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.objects: dict[str, dict[str, Object]] = defaultdict(dict)
        self.refusals: dict[str, Object] = {}
        self.version = 100
        self._history: dict[str, list[Object]] = defaultdict(list)
        self._oldest = 0
        self._watches: dict[str, list[queue.Queue[Any]]] = defaultdict(list)
        self._lock = threading.Lock()
        self._arrival = threading.Condition(self._lock)
        self._port = 0
        self._server: _Server | None = None
        self.start()

    # -- what tests do ---------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Serve, at the port that it had before."""
        self._server = _Server(("127.0.0.1", self._port), _handler(self))
        self._port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        """Refuse connections; the watches end as those of a server that is asked to end."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        self.end_watches()

    @property
    def kubeconfig(self) -> Object:
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "it",
            "clusters": [{"name": "it", "cluster": {"server": f"http://127.0.0.1:{self._port}"}}],
            "users": [{"name": "it", "user": {"token": "no-secret"}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        }

    def put(self, path: str, name: str, namespace: str = "", *, notes: Object | None = None, **content: Any) -> Object:
        """Create or change an object, whose further metadata are `notes`; those who watch are told."""
        with self._lock:
            self.version += 1
            event = "MODIFIED" if namespace + name in self.objects[path] else "ADDED"
            place = {"namespace": namespace} if namespace else {}
            metadata = {**(notes or {}), "name": name, "resourceVersion": str(self.version), **place}
            body = {"metadata": metadata, **content}
            self.objects[path][namespace + name] = body
            self._tell(path, {"type": event, "object": body})
            return body

    def merge(self, path: str, name: str, namespace: str, change: Object) -> Object:
        """Merge a patch into an object, as a client may ask for it."""
        body = merged(self.objects[path][namespace + name], change)
        notes = {key: value for key, value in body.pop("metadata").items() if key != "resourceVersion"}
        return self.put(path, name, namespace, notes=notes, **body)

    def remove(self, path: str, name: str) -> None:
        with self._lock:
            self.version += 1
            body = self.objects[path].pop(name)
            body = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self.version)}}
            self._tell(path, {"type": "DELETED", "object": body})

    def bookmark(self, path: str) -> str:
        """Tell those who watch how far they have come; nothing else is to be seen of it."""
        with self._lock:
            self.version += 1
            version = str(self.version)
            self._send(path, {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": version}}})
            return version

    def forget(self) -> None:
        """Remember no change up to now: an older version is refused."""
        with self._lock:
            self._oldest = self.version
            self._history.clear()

    def say(self, path: str, event: Object) -> None:
        """Anything, to those who watch."""
        with self._lock:
            self._send(path, event)

    def end_watches(self, how: object = END) -> None:
        """End them as a server's time-out does, or with BREAK as a lost connection does."""
        with self._lock:
            for path in self._watches:
                self._send(path, how)

    def watched(self, path: str, times: int = 1) -> bool:
        """Wait until a path is being watched, for the so many-th time since the start."""

        def came() -> bool:
            asked = [request for request in self.requests if request.startswith(f"{path}?") and "watch=" in request]
            return len(asked) >= times and bool(self._watches[path])

        with self._arrival:
            return self._arrival.wait_for(came, 10)

    def lists(self, path: str) -> int:
        return sum(urlsplit(request).path == path and "watch=" not in request for request in self.requests)

    def watches(self, path: str) -> list[str]:
        """The versions from which the path was watched."""
        asked = [urlsplit(request) for request in self.requests]
        found = [parse_qs(parts.query) for parts in asked if parts.path == path]
        return [query["resourceVersion"][0] for query in found if "watch" in query]

    # -- what the server does --------------------------------------------------------------------------------------

    def _tell(self, path: str, event: Object) -> None:
        self._history[path].append(event)
        self._send(path, event)

    def _send(self, path: str, event: object) -> None:
        for waiting in self._watches[path]:
            waiting.put(event)

    def open(self, path: str, version: int) -> queue.Queue[Any]:
        """The events since a version, and those to come."""
        with self._lock:
            events: queue.Queue[Any] = queue.Queue()
            if version < self._oldest:
                events.put({"type": "ERROR", "object": refusal(410, "Expired", "too old resource version")})
                events.put(END)
                return events
            for event in self._history[path]:
                if int(event["object"]["metadata"]["resourceVersion"]) > version:
                    events.put(event)
            self._watches[path].append(events)
            self._arrival.notify_all()
            return events

    def shut(self, path: str, events: queue.Queue[Any]) -> None:
        with self._lock:
            if events in self._watches[path]:
                self._watches[path].remove(events)

    def listing(self, path: str) -> Object:
        with self._lock:
            items = list(self.objects[path].values())
            return {"kind": "ThingList", "metadata": {"resourceVersion": str(self.version)}, "items": items}


def _handler(api: WatchedApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = parse_qs(parts.query)
            api.requests.append(self.path)
            if parts.path in api.refusals:
                self._answer(api.refusals[parts.path])
            elif "watch" in query:
                self._stream(parts.path, int(query["resourceVersion"][0]))
            else:
                self._answer(api.listing(parts.path))

        def do_PATCH(self) -> None:
            change = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            path, _slash, name = urlsplit(self.path).path.rpartition("/")
            api.requests.append(f"PATCH {path}/{name}")
            place = path.split("/namespaces/")[1].split("/")[0] if "/namespaces/" in path else ""
            self._answer(api.merge(path, name, place, change))

        def _answer(self, body: Object) -> None:
            data = json.dumps(body).encode()
            self.send_response(body.get("code", 200))
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            # A server that stops must not be talked to through connections that it had.
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(data)
            self.close_connection = True

        def _stream(self, path: str, version: int) -> None:
            events = api.open(path, version)
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            self.close_connection = True
            try:
                while (event := events.get()) is not END:
                    if event is BREAK:
                        self.connection.shutdown(socket.SHUT_RDWR)
                        return
                    self._chunk(json.dumps(event).encode() + b"\n")
                self._chunk(b"")
            finally:
                api.shut(path, events)

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the tests read `requests`."""

    return Handler
