# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The name of a cluster's API server in MAAS's DNS."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from metalshift_lab.kube.api import Object
from metalshift_lab.kube.provider.draft import Draft
from metalshift_lab.kube.provider.maas import Maas, MaasError, joined, wrapped
from metalshift_lab.kube.provider.texts import quoted
from metalshift_lab.kube.provider.versions import Behaviour

CUSTOM = "spectrocloud.com/custom-dns-provided"
_PORT = 6443
_TTL = "10"


class NoRecord(MaasError):
    """MAAS has no DNS resource of this name."""


def custom(draft: Draft, behaviour: Behaviour) -> bool:
    """Whether somebody else looks after the name. What the annotation says does not matter."""
    return behaviour.custom_dns and CUSTOM in draft.metadata.get("annotations", {})


def name(draft: Draft, cluster: Object, behaviour: Behaviour) -> str:
    """The API server's name: given, or known, or made up (and then kept in the status)."""
    network = draft.status.setdefault("network", {})
    if custom(draft, behaviour):
        network["dnsName"] = draft.spec.get("controlPlaneEndpoint", {}).get("host", "")
    elif cluster["spec"].get("controlPlaneEndpoint", {}).get("host"):
        return str(cluster["spec"]["controlPlaneEndpoint"]["host"])
    elif not network.get("dnsName"):
        network["dnsName"] = f"{cluster['metadata']['name']}-{secrets.token_hex(3)}.{draft.spec['dnsDomain']}"
    return str(network["dnsName"])


def port(draft: Draft, cluster: Object, behaviour: Behaviour) -> int:
    given = draft.spec.get("controlPlaneEndpoint", {}).get("port")
    if custom(draft, behaviour) and given:
        return int(given)
    return int(cluster["spec"].get("clusterNetwork", {}).get("apiServerPort") or _PORT)


class Records:
    """The DNS resource of one name."""

    def __init__(self, maas: Maas, fqdn: str) -> None:
        self._maas, self._fqdn = maas, fqdn

    def find(self) -> dict[str, Any]:
        try:
            found = self._maas.json("GET", "/dnsresources/", {"fqdn": self._fqdn}) or []
        except MaasError as error:
            raise wrapped(f"error retrieving dns resources {quoted(self._fqdn)}", error) from None
        if len(found) > 1:
            raise MaasError(f"expected 1 DNS Resource for {quoted(self._fqdn)}, got {len(found)}")
        if not found:
            raise NoRecord("resource not found")
        return dict(found[0])

    def ensure(self) -> None:
        try:
            self.find()
        except NoRecord:
            form = {"fqdn": self._fqdn, "address_ttl": _TTL, "ip_addresses": ""}
            try:
                self._maas.json("POST", "/dnsresources/", form)
            except MaasError as error:
                raise wrapped("Unable to create DNS Resources", error) from None

    def addresses(self) -> set[str]:
        return {str(each["ip"]) for each in self.find().get("ip_addresses", []) if each.get("ip")}

    def write(self, ips: Sequence[str]) -> None:
        """MAAS is asked once more for the record before it is changed."""
        self.put(self.find(), ips)

    def put(self, record: dict[str, Any], ips: Sequence[str]) -> None:
        try:
            form = {"id": str(record["id"]), "ip_addresses": joined(ips)}
            self._maas.json("PUT", f"/dnsresources/{record['id']}/", form)
        except MaasError as error:
            raise wrapped("Unable to update IPs", error) from None


def external_ip(machine: Object, preferred: Iterable[str]) -> str:
    """The address of a control plane's machine that belongs into DNS; empty if it has none."""
    subnets = [ipaddress.ip_network(each, strict=False) for each in preferred if _is_network(each)]
    for each in machine.get("status", {}).get("addresses", []):
        if each["type"] != "ExternalIP":
            continue
        if not preferred or any(ipaddress.ip_address(each["address"]) in subnet for subnet in subnets):
            return str(each["address"])
    return ""


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True
