# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What HyperShift would find only later, or never say, is found before."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.publishing import (
    refuse_what_fails_later,
    services,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure


def cluster(given: Any = (), address: str | None = "192.0.2.10", **networking: Any) -> dict[str, Any]:
    networks = {name: [{"cidr": cidr} for cidr in cidrs] for name, cidrs in networking.items()}
    return {"spec": {"services": services(given, address, []), "networking": networks}}


def one(service: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"service": service, "type": kind, "address": None, "port": None, "hostname": None, **more}


LATER: list[tuple[dict[str, Any], str]] = [
    (cluster([one("Ignition", "LoadBalancer")]), "Ignition cannot be published by LoadBalancer, only by NodePort or"),
    (cluster([one("Ignition", "None")]), "Ignition cannot be published by None"),
    (cluster([one("OAuthServer", "LoadBalancer")]), "OAuthServer cannot be published by LoadBalancer"),
    (cluster([one("OIDC", "LoadBalancer")]), "OIDC cannot be published by LoadBalancer"),
    (cluster([one("APIServer", "S3")]), "APIServer cannot be published by S3"),
    (cluster([one("OAuthServer", "Route")]), "OAuthServer is published by a Route, and the management cluster has no"),
    (
        cluster(
            [
                one("APIServer", "LoadBalancer", hostname="api.example.com"),
                one("Konnectivity", "LoadBalancer", hostname="api.example.com"),
            ]
        ),
        "Konnectivity and APIServer have the same hostname api.example.com",
    ),
    (
        {"spec": {"services": [one("APIServer", "NodePort") and cluster()["spec"]["services"][0]]}},
        "services lacks Ignition",
    ),
    ({"spec": {"services": [*cluster()["spec"]["services"], cluster()["spec"]["services"][0]]}}, "APIServer 2 times"),
    (
        cluster(machineNetwork=["10.132.0.0/16"]),
        "machine_network 10.132.0.0/16 and cluster_network 10.132.0.0/14 overlap",
    ),
    (cluster(serviceNetwork=["10.133.0.0/16"]), "service_network 10.133.0.0/16 and cluster_network"),
    (cluster(machineNetwork=["172.20.0.0/16"]), "contains 172.20.0.1, at which the API is reached"),
    (cluster(clusterNetwork=["fd01::/48"], serviceNetwork=["172.31.0.0/16"]), "are of different IP versions"),
    (cluster(address="172.31.0.9"), "the address of APIServer, 172.31.0.9, is within service_network 172.31.0.0/16"),
    (cluster(machineNetwork=["10.0.0.1/8"]), "machine_network 10.0.0.1/8 is not a network"),
]


@pytest.mark.parametrize(("body", "says"), LATER, ids=[says for _body, says in LATER])
def test_what_fails_later_is_refused(body: dict[str, Any], says: str) -> None:
    with pytest.raises(Failure) as caught:
        refuse_what_fails_later("X", body, routes=False)
    assert says in str(caught.value)


def test_all_of_it_is_told_at_once() -> None:
    body = cluster([one("Ignition", "None")], address="172.31.0.9", machineNetwork=["10.132.0.0/16"])
    with pytest.raises(Failure, match=r"Ignition.*; machine_network.*; the address of APIServer"):
        refuse_what_fails_later("X", body, routes=True)


@pytest.mark.parametrize(
    "body",
    [
        cluster(),
        cluster(address="node.example.com"),
        cluster([one("APIServer", "LoadBalancer"), one("OIDC", "S3"), one("Konnectivity", "Route")]),
        cluster(machineNetwork=["192.0.2.0/24", "2001:db8::/64"]),
        cluster(clusterNetwork=["fd01::/48"], serviceNetwork=["fd02::/112"], machineNetwork=["2001:db8::/64"]),
    ],
)
def test_what_works_is_not_refused(body: dict[str, Any]) -> None:
    refuse_what_fails_later("X", body, routes=True)


def test_services_keep_the_order_that_they_have() -> None:
    """The API compares them as a list, and refuses another order."""
    live = list(reversed(services([], "192.0.2.10", [])))
    assert services([], "192.0.2.10", live) == live
    assert services([one("OIDC", "NodePort", address="192.0.2.10")], None, live) == live


def test_a_service_that_differs_leaves_the_others_as_they_are() -> None:
    live = services([], "192.0.2.10", [])
    changed = services([one("OIDC", "Route", hostname="oidc.example.com")], None, live)
    assert [each["service"] for each in changed] == [each["service"] for each in live]
    assert changed[-1]["servicePublishingStrategy"] == {"type": "Route", "route": {"hostname": "oidc.example.com"}}
    assert changed[:-1] == live[:-1]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (one("OIDC", "NodePort"), "its address is missing"),
        (one("OIDC", "Route", port=30000), "cannot have port with type Route"),
        (one("OIDC", "S3", hostname="x.example.com"), "cannot have hostname with type S3"),
    ],
)
def test_what_does_not_fit_together_is_refused(given: Any, says: str) -> None:
    with pytest.raises(Failure, match=says):
        services([given], None, [])
