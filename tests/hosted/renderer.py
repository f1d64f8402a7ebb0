# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubelet for one kind of pod: it runs `hypershift` of the lab with the pod's arguments, and gives its log."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from metalshift_lab.authority import Authority
from metalshift_lab.kube.api import NODES, PODS, Object, of_name, of_namespace
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.https import Handler, Server, server_context
from metalshift_lab.kube.keeper import plain_environment
from metalshift_lab.kube.pods import NODE


@contextmanager
def pods_run(lab: Lab, folder: Path, namespace: str = "default") -> Iterator[list[Object]]:
    """While it is used, pods of this namespace run; those that did."""
    logs: dict[str, bytes] = {}
    ran: list[Object] = []
    ended = threading.Event()

    class Logs(Handler):
        """`/containerLogs/NAMESPACE/POD/CONTAINER`, as the API server asks a kubelet."""

        def do_GET(self) -> None:
            self.answer(200, logs.get(self.path.split("?")[0].split("/")[3], b""), "text/plain")

    certificate, key = folder / "kubelet.crt", folder / "kubelet.key"
    Authority(folder, "kubelet-ca").server("kubelet", ["127.0.0.1"]).write(certificate, key)
    server = Server(0, server_context(certificate, key), Logs)
    # The API server asks the Hostname before the address, and nobody knows the lab's.
    addresses = [{"type": kind, "address": "127.0.0.1"} for kind in ("InternalIP", "Hostname")]
    reached = {"addresses": addresses, "daemonEndpoints": {"kubeletEndpoint": {"Port": server.port}}}
    lab.api.patch(NODES, NODE, None, {"status": reached}, subresource="status")

    def look() -> None:
        while not ended.wait(0.3):
            for pod in lab.api.list(PODS, namespace):
                if not pod["spec"].get("nodeName"):
                    logs[of_name(pod)] = _run(lab, pod)
                    ran.append(pod)

    watcher = threading.Thread(target=look, name="kubelet", daemon=True)
    server.open()
    watcher.start()
    try:
        yield ran
    finally:
        ended.set()
        watcher.join()
        server.close()


def _run(lab: Lab, pod: Object) -> bytes:
    """Bind it, run it, tell how it ended; what it wrote."""
    name, namespace = of_name(pod), of_namespace(pod)
    target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
    binding: Object = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name, "namespace": namespace},
        "target": target,
    }
    lab.api.create(PODS, binding, namespace, name=name, subresource="binding")
    (container,) = pod["spec"]["containers"]
    command = [lab.facts["hypershift"], *container["args"]]
    done = subprocess.run(
        command, env=plain_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    phase = "Failed" if done.returncode else "Succeeded"
    state: dict[str, Any] = {"terminated": {"exitCode": done.returncode}}
    told = {"name": container["name"], "ready": False, "restartCount": 0, "image": container["image"], "imageID": ""}
    status = {"phase": phase, "containerStatuses": [{**told, "state": state}]}
    lab.api.patch(PODS, name, namespace, {"status": status}, subresource="status")
    return done.stdout
