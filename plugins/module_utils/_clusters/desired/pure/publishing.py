# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a hosted cluster publishes its services, and its networks: what HyperShift would refuse later, or never say.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from itertools import combinations
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.differences import alike
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import at

Service = dict[str, Any]

# Service → the strategies with which HyperShift can publish it. With any other, installation stops without a word.
STRATEGIES: Mapping[str, Sequence[str]] = {
    "APIServer": ("NodePort", "LoadBalancer", "Route"),
    "Ignition": ("NodePort", "Route"),
    "Konnectivity": ("NodePort", "LoadBalancer", "Route"),
    "OAuthServer": ("NodePort", "Route"),
    "OIDC": ("NodePort", "Route", "None", "S3"),
}
NEEDED = ("APIServer", "Ignition", "Konnectivity", "OAuthServer")

# What the API fills in.
CLUSTER_NETWORK = "10.132.0.0/14"
SERVICE_NETWORK = "172.31.0.0/16"

# Where kube-apiserver is reached within every hosted cluster, unless it is told otherwise.
ADVERTISED = {4: "172.20.0.1", 6: "fd00::1"}

_SETTINGS = {"NodePort": "nodePort", "LoadBalancer": "loadBalancer", "Route": "route"}


def services(given: Sequence[Mapping[str, Any]], address: str | None, live: Sequence[Service]) -> list[Service]:
    """What to publish: by node ports at one address unless said otherwise, and as it is where nothing is said."""
    wished = {each["service"]: each for each in live}
    if address:
        wished = {name: _service({"service": name}, address) for name in STRATEGIES}
    wished.update({each["service"]: _service(each, address) for each in given})
    if alike({each["service"]: each for each in live}, wished):
        # The API compares the list with its order.
        return list(live)
    return list(wished.values())


def _service(given: Mapping[str, Any], address: str | None) -> Service:
    kind = given.get("type") or "NodePort"
    own = given.get("address") or address
    wrong = next((name for name in ("address", "port") if given.get(name) and kind != "NodePort"), None)
    if wrong:
        raise invalid(f"services: {given['service']} cannot have {wrong} with type {kind}, only with NodePort.")
    if given.get("hostname") and kind not in ("LoadBalancer", "Route"):
        raise invalid(f"services: {given['service']} cannot have hostname with type {kind}.")
    if kind == "NodePort" and not own:
        raise invalid(
            f"services: {given['service']} is published by NodePort, and its address is missing.",
            "Give services_address, an address of the management cluster's nodes that machines reach.",
        )
    settings = (
        {"address": own, "port": given.get("port")} if kind == "NodePort" else {"hostname": given.get("hostname")}
    )
    strategy: dict[str, Any] = {"type": kind}
    filled = {name: value for name, value in settings.items() if value}
    if kind in _SETTINGS and filled:
        strategy[_SETTINGS[kind]] = filled
    return {"service": given["service"], "servicePublishingStrategy": strategy}


def refuse_what_fails_later(label: str, cluster: Object, *, routes: bool) -> None:
    """Raise one failure that names everything that HyperShift would find only after the cluster is made.

    `routes`: whether the management cluster knows Routes.
    """
    found = [*_about_services(cluster, routes=routes), *_about_networks(cluster)]
    if found:
        raise Failure(
            "invalid",
            f"{label} cannot become a working cluster: {'; '.join(found)}.",
            object=label,
            hint="Nothing was written. None of this can be changed in a cluster that exists.",
        )


def _about_services(cluster: Object, *, routes: bool) -> Iterator[str]:
    published = at(cluster, ("spec", "services")) or []
    names = [each["service"] for each in published]
    missing = [name for name in NEEDED if name not in names]
    if missing:
        yield f"services lacks {', '.join(missing)}"
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"services has {name} {names.count(name)} times"
    for each in published:
        kind, allowed = each["servicePublishingStrategy"]["type"], STRATEGIES.get(each["service"])
        if allowed is not None and kind not in allowed:
            yield f"{each['service']} cannot be published by {kind}, only by {' or '.join(allowed)}"
        if kind == "Route" and not routes:
            yield f"{each['service']} is published by a Route, and the management cluster has no Routes"
    yield from _shared_hostnames(published)


def _shared_hostnames(published: Sequence[Service]) -> Iterator[str]:
    by_name: dict[str, str] = {}
    for each in published:
        strategy = each["servicePublishingStrategy"]
        name = next(
            (at(strategy, (kind, "hostname")) for kind in ("route", "loadBalancer") if strategy.get(kind)), None
        )
        if name and name in by_name:
            yield f"{each['service']} and {by_name[name]} have the same hostname {name}"
        elif name:
            by_name[name] = each["service"]


def _about_networks(cluster: Object) -> Iterator[str]:
    named = networks(cluster)
    parsed = []
    for field, texts in named.items():
        for text in texts:
            try:
                parsed.append((field, ip_network(text)))
            except ValueError:
                yield f"{field} {text} is not a network"
    for (one_field, one), (other_field, other) in combinations(parsed, 2):
        if one.version == other.version and one.overlaps(other):
            yield f"{one_field} {one} and {other_field} {other} overlap"
    first: dict[str, IPv4Network | IPv6Network] = {}
    for field, network in parsed:
        first.setdefault(field, network)
    if len({network.version for network in first.values()}) > 1:
        told = ", ".join(f"{field} {network}" for field, network in first.items())
        yield f"the first networks are of different IP versions ({told})"
    yield from _about_addresses(cluster, first)


def _about_addresses(cluster: Object, first: Mapping[str, IPv4Network | IPv6Network]) -> Iterator[str]:
    cluster_network = first.get("cluster_network")
    advertised = at(cluster, ("spec", "networking", "apiServer", "advertiseAddress"))
    if advertised is None and cluster_network is not None:
        advertised = ADVERTISED[cluster_network.version]
    for field, network in first.items():
        if _within(advertised, network):
            yield f"{field} {network} contains {advertised}, at which the API is reached inside of every hosted cluster"
    api: Service = next(
        (each for each in at(cluster, ("spec", "services")) or [] if each["service"] == "APIServer"), {}
    )
    address = at(api, ("servicePublishingStrategy", "nodePort", "address"))
    for text in networks(cluster)["service_network"]:
        if _within(address, _network(text)):
            yield f"the address of APIServer, {address}, is within service_network {text}"


def networks(cluster: Object) -> dict[str, list[str]]:
    """The networks that the cluster will have, by the option that sets them."""
    networking = at(cluster, ("spec", "networking")) or {}
    fields = {
        "machine_network": networking.get("machineNetwork") or [],
        "service_network": networking.get("serviceNetwork") or [{"cidr": SERVICE_NETWORK}],
        "cluster_network": networking.get("clusterNetwork") or [{"cidr": CLUSTER_NETWORK}],
    }
    return {field: [str(entry.get("cidr")) for entry in entries] for field, entries in fields.items()}


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text)
    except ValueError:
        return None


def _within(address: Any, network: IPv4Network | IPv6Network | None) -> bool:
    try:
        found = ip_address(str(address))
    except ValueError:
        return False
    return network is not None and found.version == network.version and found in network
