# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MaasClusters, with a real API server, the real core of Cluster API, and MAAS."""

from __future__ import annotations

import re
import time

from kube.provider.scene import SPEED, Scene, soon
from metalshift_lab.kube.api import CLUSTERS, CONFIG_MAPS, MAAS_CLUSTERS, NAMESPACES, Object
from metalshift_lab.kube.proxy import Proxy
from metalshift_lab.ports import Ports

TRUE = {"status": "True"}
READY_LABEL = "cluster-api-maas/api-server-ready"


def available(scene: Scene) -> Object:
    """The MaasCluster, once its API answers. The conditions are written before the rest."""
    soon(lambda: scene.condition(scene.maas_cluster(), "APIServerAvailable") == TRUE)
    return soon(lambda: found if (found := scene.maas_cluster())["status"]["ready"] else {})


def named(scene: Scene) -> str:
    """The name in DNS, once it is chosen."""
    return str(soon(lambda: scene.maas_cluster().get("status", {}).get("network", {}).get("dnsName")))


def attached(scene: Scene) -> list[str]:
    records = [each for each in scene.sim.state.dns_resources if each.name.startswith(scene.infra)]
    return sorted(str(address.ip) for record in records for address in record.addresses)


def test_with_an_endpoint_of_its_own_it_is_ready_without_maas(scene: Scene) -> None:
    scene.cluster()
    scene.provider()
    found = available(scene)
    assert found["status"]["network"]["dnsName"] == "192.0.2.10"
    assert found["spec"]["controlPlaneEndpoint"] == {"host": "192.0.2.10", "port": 30443}
    assert found["metadata"]["finalizers"] == ["maascluster.infrastructure.cluster.x-k8s.io"]
    assert scene.condition(found, "LoadBalancerReady") == TRUE
    assert scene.calls() == []
    soon(lambda: (scene.api.get(NAMESPACES, "kube-system") or {})["metadata"]["labels"].get(READY_LABEL) == "true")


def test_the_hosted_api_is_noticed_within_seconds(scene: Scene) -> None:
    scene.cluster(kubeconfig=False)
    scene.provider(LAB_SPEED="5")
    waiting = {"status": "False", "reason": "APIServerNotReady", "severity": "Warning"}
    soon(lambda: scene.condition(scene.maas_cluster(), "APIServerAvailable") == waiting)
    summary = {**waiting, "message": "1 of 2 completed"}
    soon(lambda: scene.condition(scene.maas_cluster(), "Ready") == summary)
    scene.kubeconfig()
    began = time.monotonic()
    available(scene)
    # Long before it looks at everything again.
    assert time.monotonic() - began < 900 / 5 / 4


def test_the_hosted_api_is_reached_through_the_proxy_under_its_own_name(scene: Scene) -> None:
    asked = []

    def names(namespace: str, host: str, port: int) -> int:
        asked.append((namespace, host, port))
        return scene.plane.port

    proxy = Proxy(Ports().take(), names)
    proxy.start()
    scene.cluster(kubeconfig=False)
    scene.kubeconfig("https://kube-apiserver:6443")
    scene.provider(HTTPS_PROXY=proxy.url(scene.namespace))
    available(scene)
    assert set(asked) == {(scene.namespace, "kube-apiserver", 6443)}
    proxy.stop()


def test_it_goes_after_its_machines(scene: Scene) -> None:
    scene.machine()
    scene.cluster()
    provider = scene.provider()
    scene.pool()
    soon(lambda: scene.maas_machines() and scene.maas_machine()["spec"].get("systemID"))
    scene.sim.fault("error", status=409, text="locked", method="POST", path="machines/[^/]+/$", op="release", hits=0)
    scene.api.delete(CLUSTERS, scene.infra, scene.namespace)
    soon(lambda: "Unable to release machine: status: 409, message: locked" in scene.log())
    scene.api.delete(MAAS_CLUSTERS, scene.name, scene.namespace)
    time.sleep(2 * 10 / SPEED)
    assert "waits until its MaasMachines are deleted: 1 left" in scene.log()
    assert scene.maas_cluster()["metadata"]["finalizers"]
    scene.sim.clear()
    soon(lambda: scene.api.get(MAAS_CLUSTERS, scene.name, scene.namespace) is None)
    assert provider.poll() is None


def test_a_paused_cluster_is_left_alone(scene: Scene) -> None:
    scene.cluster()
    scene.api.patch(CLUSTERS, scene.infra, scene.namespace, {"spec": {"paused": True}})
    scene.provider()
    soon(lambda: "leading" in scene.log())
    time.sleep(1)
    assert "finalizers" not in scene.maas_cluster()["metadata"]
    scene.api.patch(CLUSTERS, scene.infra, scene.namespace, {"spec": {"paused": False}})
    available(scene)


def test_without_an_endpoint_it_makes_a_name_in_dns(scene: Scene) -> None:
    scene.cluster(custom_dns=False)
    scene.provider()
    fqdn = named(scene)
    assert re.fullmatch(rf"{scene.infra}-[0-9a-f]{{6}}\.maas", fqdn)
    endpoint = soon(lambda: scene.maas_cluster()["spec"].get("controlPlaneEndpoint"))
    assert endpoint == {"host": fqdn, "port": 6443}
    available(scene)
    path = "dnsresources/"
    assert scene.calls()[:3] == [f"GET {path}", f"POST {path}", f"GET {path}"]
    assert not [call for call in scene.calls() if call.startswith("PUT")]
    made = next(each for each in scene.sim.requests if each.method == "POST")
    assert made.params == {"fqdn": [fqdn], "address_ttl": ["10"], "ip_addresses": [""]}


def test_dns_that_fails_is_said(scene: Scene) -> None:
    scene.sim.fault("error", status=503, text="down", method="GET", path="dnsresources/$", hits=0)
    scene.cluster(custom_dns=False)
    scene.provider()
    reason = {"status": "False", "reason": "LoadBalancerFailed", "severity": "Error"}
    found = soon(lambda: scene.condition(scene.maas_cluster(), "LoadBalancerReady"))
    assert {key: found[key] for key in reason} == reason
    # The name is made up anew with each try, because a failed one is not kept.
    assert found["message"].endswith('.maas": status: 503, message: down')
    assert found["message"].startswith(f'error retrieving dns resources "{scene.infra}-')


def test_the_machines_of_a_control_plane_are_put_into_dns(scene: Scene) -> None:
    scene.machine()
    scene.cluster(custom_dns=False)
    scene.provider()
    scene.control_plane_machine()
    soon(lambda: scene.maas_machines() and scene.deployed().get("status") == "False")
    soon(lambda: scene.maas_machine().get("status", {}).get("machineState") == "Deploying")
    scene.sim.advance(scene.host)
    found = soon(lambda: [m for m in scene.maas_machines() if m["status"].get("dnsAttached")])[0]
    ip = next(each["address"] for each in found["status"]["addresses"] if each["type"] == "ExternalIP")
    assert attached(scene) == [ip]
    assert scene.condition(found, "DNSAttached") == TRUE
    written = [
        each.params["ip_addresses"] for each in scene.sim.requests if each.method == "PUT" and "dns" in each.path
    ]
    assert written[-1] == [ip]


def test_the_preferred_subnet_decides_what_goes_into_dns(scene: Scene) -> None:
    data = {"preferredSubnets": "192.0.2.0/24, 198.51.100.0/24"}
    scene.create(CONFIG_MAPS, "ConfigMap", "maas-preferred-subnet", data=data)
    scene.machine()
    scene.cluster(custom_dns=False)
    scene.provider()
    scene.control_plane_machine()
    soon(lambda: scene.maas_machines() and scene.maas_machine().get("status", {}).get("machineState") == "Deploying")
    scene.sim.advance(scene.host)
    pending = {"status": "False", "reason": "DNSAttachPending", "severity": "Warning"}
    soon(lambda: scene.condition(scene.maas_machine(), "DNSAttached") == pending)
    assert attached(scene) == []
