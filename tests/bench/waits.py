# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What waiting costs an API server, how soon a change is told, and what many hosted clusters cost to read."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from metalshift_lab.kube.api import HOSTED_CLUSTERS, MAAS_MACHINES, MACHINES, NAMESPACES, NODE_POOLS, Api, Object
from metalshift_lab.kube.bare import api_server
from metalshift_lab.kube.examples import NAMESPACE, hosted_cluster, node_pool
from metalshift_lab.programs import NoPrograms, programs
from unit.kube.shapes import FIRST

COLLECTIONS = Path(os.environ["ANSIBLE_COLLECTIONS_PATH"])
RELEASE = "registry.example/release:4.20.8"
CHANGES = 100
MINUTES = 3
WATCHES, WATCH_SECONDS = 7, 290
LONG = 20
# How often the operator writes something while a control plane comes up, and how often a user's loop looks.
EVERY = 10.0
CLUSTERS, EACH = 50, 3


def report() -> None:
    """Prints its figures as they come; without programs, why there are none."""
    print("\nWaits: on an API server with nobody else, whose HostedCluster is changed by hand", flush=True)
    try:
        given = programs(lambda line: None)
    except NoPrograms as problem:
        print(f"  not measured: {problem}")
        return
    sys.path.insert(0, str(COLLECTIONS))
    with tempfile.TemporaryDirectory(prefix="metalshift-bench-") as name:
        folder = Path(name)
        with api_server(given, folder, kinds=True) as api:
            api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
            _reaction(api, folder)
            _costs(api, folder)
            _many(api, folder)


# -- how soon a change is told ----------------------------------------------------------------------------------------


def _reaction(api: Api, folder: Path) -> None:
    _cluster(api, "told")
    _says(api, "told", "step 0")
    with _wait(str(folder / "kubeconfig"), "told") as wait:
        wait.hears("step 0")
        delays = []
        for number in range(1, CHANGES + 1):
            # Not in step with anything that the wait does by itself.
            time.sleep(0.05 + number * 0.37 % 1)
            written = _says(api, "told", f"step {number}")
            delays.append(wait.hears(f"step {number}") - written)
    median, worst = statistics.median(delays), max(delays)
    said = f"median {median * 1000:.0f} ms, longest {worst * 1000:.0f} ms of {CHANGES}"
    print(f"  from a condition that was written to our line: {said}", flush=True)


# -- what it costs ----------------------------------------------------------------------------------------------------


def _costs(api: Api, folder: Path) -> None:
    _cluster(api, "ours")
    _cluster(api, "theirs")
    print(f"  a wait of {LONG} minutes, extrapolated from {MINUTES}, with a change each {EVERY:.0f} s")
    print("                                                   requests      kB", flush=True)
    with _counted(folder) as count, _wait(count.kubeconfig, "ours") as wait:
        _says(api, "ours", "step 0")
        wait.hears("step 0")
        time.sleep(2)
        first = count.taken()
        _changes(api, "ours")
        # They outlive what is measured, and are begun anew when the server ends them.
        renewed = WATCHES * int(LONG * 60 // WATCH_SECONDS)
        _line("ours: seven kinds, from seven watches", first, count.taken(), renewed)
    with _counted(folder) as count:
        looping = _k8s_info(count.kubeconfig, folder)
        while not count.requests:
            time.sleep(0.1)
        time.sleep(EVERY / 2)
        first = count.taken()
        _changes(api, "theirs")
        _line("kubernetes.core.k8s_info with until: HostedCluster", first, count.taken())
        looping.terminate()
        looping.wait()


def _changes(api: Api, name: str) -> None:
    for number in range(1, round(MINUTES * 60 / EVERY) + 1):
        began = time.monotonic()
        _says(api, name, f"step {number}")
        time.sleep(max(EVERY - (time.monotonic() - began), 0))


def _line(what: str, first: tuple[int, int], later: tuple[int, int], renewed: int = 0) -> None:
    requests, size = (one + two * LONG / MINUTES for one, two in zip(first, later, strict=True))
    print(f"    {what:<50}{requests + renewed:5.0f}{size / 1000:8.0f}", flush=True)


def _k8s_info(kubeconfig: str, folder: Path) -> subprocess.Popen[bytes]:
    """The loop that people write, at the interval that many examples have."""
    task = {
        "kubernetes.core.k8s_info": {
            "kubeconfig": kubeconfig,
            "api_version": HOSTED_CLUSTERS.api,
            "kind": "HostedCluster",
            "namespace": NAMESPACE,
            "name": "theirs",
        },
        "register": "seen",
        "until": "seen.resources[0].status.kubeconfig is defined",
        "retries": 1000,
        "delay": EVERY,
    }
    playbook = folder / "loop.yml"
    playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}]))
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS)}
    environment["ANSIBLE_PYTHON_INTERPRETER"] = sys.executable
    environment.pop("PYTHONPATH", None)
    return subprocess.Popen(
        [Path(sys.executable).parent / "ansible-playbook", "-i", "localhost,", "-c", "local", playbook],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


# -- many -------------------------------------------------------------------------------------------------------------


def _many(api: Api, folder: Path) -> None:
    for number in range(CLUSTERS):
        _cluster(api, f"c{number:02}", EACH)
    task = {"metalshift.maas.hosted_cluster_info": {"kubeconfig": str(folder / "kubeconfig"), "namespace": NAMESPACE}}
    seconds, shown = [], ""
    for _round in range(3):
        began = time.monotonic()
        shown = _run(folder, [task])
        seconds.append(time.monotonic() - began)
    empty = []
    for _round in range(3):
        began = time.monotonic()
        _run(folder, [])
        empty.append(time.monotonic() - began)
    requests = shown.count(" -> 200, ")
    took = statistics.median(seconds) - statistics.median(empty)
    print(
        f"  {CLUSTERS + 3} hosted clusters with {EACH} machines as trees: {took:.2f} s, {requests} requests", flush=True
    )


def _run(folder: Path, tasks: list[dict[str, Any]]) -> str:
    playbook = folder / "many.yml"
    playbook.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]))
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS)}
    environment["ANSIBLE_PYTHON_INTERPRETER"] = sys.executable
    environment.pop("PYTHONPATH", None)
    program = Path(sys.executable).parent / "ansible-playbook"
    done = subprocess.run(
        [program, "-vvv", "-i", "localhost,", "-c", "local", playbook],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}")
    return done.stdout


# -- what is waited for -----------------------------------------------------------------------------------------------


def _cluster(api: Api, name: str, machines: int = 0) -> None:
    """A HostedCluster as it is after the operator's first pass; with machines, a pool of them."""
    api.create(HOSTED_CLUSTERS, hosted_cluster(name, RELEASE)[-1])
    _says(api, name, "waiting")
    if not machines:
        return
    api.create(NODE_POOLS, node_pool(name, name, RELEASE, replicas=machines))
    inner = f"{NAMESPACE}-{name}"
    api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inner}})
    for number in range(machines):
        own = {
            "name": f"{name}-{number}",
            "namespace": inner,
            "annotations": {"hypershift.openshift.io/nodePool": f"{NAMESPACE}/{name}"},
        }
        by = {"kind": "MaasMachine", "name": own["name"], "apiVersion": MAAS_MACHINES.api, "namespace": inner}
        spec = {"clusterName": name, "bootstrap": {}, "infrastructureRef": by}
        api.create(MACHINES, {"apiVersion": MACHINES.api, "kind": "Machine", "metadata": own, "spec": spec})
        spec = {"minCPU": 4, "minMemory": 8192, "image": "custom/rhcos-4.20"}
        api.create(
            MAAS_MACHINES, {"apiVersion": MAAS_MACHINES.api, "kind": "MaasMachine", "metadata": own, "spec": spec}
        )


def _says(api: Api, name: str, message: str) -> float:
    """Let the operator say why it does not get on; when that was written."""
    said = {**FIRST, "ReconciliationSucceeded": f"False/ReconciliationError/{message}"}
    conditions = [
        {
            "type": kind,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
            "observedGeneration": 1,
            **dict(zip(("status", "reason", "message"), words.split("/", 2), strict=True)),
        }
        for kind, words in said.items()
    ]
    api.patch(HOSTED_CLUSTERS, name, NAMESPACE, {"status": {"conditions": conditions}}, subresource="status")
    return time.monotonic()


class Heard:
    """What a wait has said, and when."""

    def __init__(self) -> None:
        self._said: list[tuple[str, float]] = []
        self._news = threading.Condition()

    def say(self, line: str) -> None:
        with self._news:
            self._said.append((f"{line.rpartition(', ')[0]}\n", time.monotonic()))
            self._news.notify_all()

    def hears(self, text: str) -> float:
        with self._news:
            if not self._news.wait_for(lambda: self._when(text), 60):
                sys.exit(f"a wait did not say {text!r}; it said {self._said}")
            return self._when(text)[0]

    def _when(self, text: str) -> list[float]:
        return [when for line, when in self._said if f"{text}\n" in line]


@contextmanager
def _wait(kubeconfig: str, name: str) -> Iterator[Heard]:
    """One of ours, in a thread; it ends with the program."""
    from ansible_collections.metalshift.maas.plugins.module_utils._clusters.wait import wait_for
    from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task

    heard = Heard()
    params = {"kubeconfig": kubeconfig, "wait_timeout": 3600.0, "wait_sleep": 5.0}
    task = Task(params, say=heard.say, environment={})
    threading.Thread(target=wait_for, args=(task, NAMESPACE, name, "control_plane"), daemon=True).start()
    yield heard


# -- counting ---------------------------------------------------------------------------------------------------------


class Forwarding(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Watches that are closed are no errors."""


class Counting:
    """Stands between a client and the API server, and counts requests and the bytes of their answers."""

    def __init__(self, folder: Path) -> None:
        from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access

        self.access = Access.from_params({"kubeconfig": str(folder / "kubeconfig")}, {})
        self.requests = self.received = 0
        self.lock = threading.Lock()
        self.server = Forwarding(("127.0.0.1", 0), _forwarder(self))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.kubeconfig = str(folder / f"counted-{self.server.server_port}")
        Path(self.kubeconfig).write_text(json.dumps(_kubeconfig(f"http://127.0.0.1:{self.server.server_port}")))

    def count(self, requests: int = 0, received: int = 0) -> None:
        with self.lock:
            self.requests += requests
            self.received += received

    def taken(self) -> tuple[int, int]:
        """Requests and bytes since the last call."""
        with self.lock:
            taken = self.requests, self.received
            self.requests = self.received = 0
            return taken


def _kubeconfig(server: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "counted",
        "clusters": [{"name": "counted", "cluster": {"server": server}}],
        "users": [{"name": "counted", "user": {}}],
        "contexts": [{"name": "counted", "context": {"cluster": "counted", "user": "counted"}}],
    }


@contextmanager
def _counted(folder: Path) -> Iterator[Counting]:
    counting = Counting(folder)
    yield counting
    counting.server.shutdown()
    counting.server.server_close()


def _forwarder(counting: Counting) -> type[BaseHTTPRequestHandler]:
    class Forwarder(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            counting.count(requests=1)
            answer = counting.access.pool.request(
                "GET",
                f"{counting.access.server}{self.path}",
                headers={"Accept": self.headers.get("Accept", "application/json"), **dict(counting.access.headers())},
                preload_content=False,
                retries=False,
            )
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.close_connection = True
            try:
                for block in answer.stream(1 << 16):
                    counting.count(received=len(block))
                    self._chunk(block)
                self._chunk(b"")
            finally:
                answer.close()

        def _chunk(self, block: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
            self.wfile.flush()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: it is the count that matters."""

    return Forwarder


if __name__ == "__main__":
    report()
