# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of a hosted cluster in the DNS of MAAS, and whose each is.

MAAS keeps no owner with a name, so a name is whose address it has. Of two hosted clusters with one name and base
domain, whoever goes leaves the other's.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import objects, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import HOSTED_CLUSTERS, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, place_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses import dns

# For whoever removes them, and whoever compares them.
NAMES_OPTION: Options = {
    "dns_names": {
        "type": "dict",
        "options": {
            "api_addresses": {"type": "list", "elements": "str"},
            "apps_addresses": {"type": "list", "elements": "str"},
        },
    },
}

# Under these types a Machine says where it is.
ADDRESSES = ("InternalIP", "ExternalIP")


def domain_of(name: str, base_domain: str) -> str:
    return f"{name}.{base_domain}".strip().rstrip(".").lower()


def domains_of(cluster: Object) -> frozenset[str]:
    """The domains under which a HostedCluster has its names: by its own name, and by its prefix."""
    base, prefix = text(cluster, "spec", "dns", "baseDomain"), text(cluster, "spec", "dns", "baseDomainPrefix")
    labels = [text(cluster, "metadata", "name"), prefix]
    return frozenset(domain_of(label, base) for label in labels if label) if base else frozenset()


def sharing(clusters: Iterable[Object], namespace: str, name: str, domain: str) -> list[Object]:
    """The other HostedClusters that have their names under this domain, and stay."""
    domain = domain.lower()
    return [
        cluster
        for cluster in clusters
        if domain in domains_of(cluster) and place_of(cluster) != f"{namespace}/{name}" and not is_deleted(cluster)
    ]


def api_addresses(cluster: Object | None) -> frozenset[str]:
    """Where a control plane is reached; empty if that is not known, or is a name."""
    services = objects(cluster, "spec", "services")
    hosts = {
        text(cluster, "status", "controlPlaneEndpoint", "host"),
        *(text(each, "servicePublishingStrategy", "nodePort", "address") for each in services),
    } - {""}
    return frozenset(hosts) if all(map(_is_address, hosts)) else frozenset()


def machine_addresses(bodies: Iterable[Object]) -> frozenset[str]:
    """Where the nodes of a hosted cluster are, as its Machines and MaasMachines say."""
    return frozenset(
        text(each, "address")
        for body in bodies
        for each in objects(body, "status", "addresses")
        if each.get("type") in ADDRESSES and _is_address(text(each, "address"))
    )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def why_kept(
    addresses: Collection[str],
    own: Collection[str],
    others: Sequence[str] | None,
    theirs: Collection[str],
    *,
    proven: bool = True,
) -> str:
    """Why a name is not removed, as the end of a sentence; empty if it goes.

    `others` are the hosted clusters with the same domain, None if that could not be asked; `theirs` their addresses.
    Without a HostedCluster and without any of its addresses it is not `proven` that it ever had that name.
    """
    points = f"it points at {' and '.join(sorted(addresses))}" if addresses else "it has no address"
    is_own, is_theirs = bool(set(addresses) & set(own)), bool(set(addresses) & set(theirs))
    if others is None:
        return "" if is_own else f"{points}, and whether another hosted cluster has this domain could not be asked"
    if others:
        who = f"hosted cluster {' and '.join(others)} has the same domain"
        return "" if is_own and theirs and not is_theirs else f"{points}, and {who}"
    if own and addresses and not is_own:
        return f"{points}, and not at this cluster"
    return "" if proven or not addresses else f"{points}, and there is no hosted cluster that would say whose that is"


@dataclass(frozen=True)
class ClusterName:
    """One name of a hosted cluster that MAAS has, and why it stays if it does."""

    name: dns.Name
    present: dns.Present
    kept: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "fqdn": self.name.fqdn,
            "value": sorted(self.present.addresses),
            "removed": not self.kept,
            "reason": self.kept or None,
        }


class ClusterNames:
    """The names and domains of one hosted cluster: looked at and removed while it is there and says where it is."""

    def __init__(
        self, task: Task, namespace: str, name: str, cluster: Object | None, machines: Iterable[Object]
    ) -> None:
        self._task, self._namespace, self._name = task, namespace, name
        given = task.params["dns_names"]
        base = text(cluster, "spec", "dns", "baseDomain") or str(task.params.get("base_domain") or "")
        if not base:
            raise invalid(f"To remove the names of {namespace}/{name} from MAAS, base_domain is needed.")
        prefix = text(cluster, "spec", "dns", "baseDomainPrefix") or str(task.params.get("base_domain_prefix") or "")
        self._domain = domain_of(prefix or name, base)
        api = {*api_addresses(cluster), *(given.get("api_addresses") or ())}
        apps = {*machine_addresses(machines), *(given.get("apps_addresses") or ())}
        self._own = {"api": api, "api-int": api, "*": {*apps, *api} if apps else apps}
        self._proven = cluster is not None or bool(api or apps)
        self.found: Sequence[ClusterName] = ()
        self._domains: Sequence[dict[str, Any]] = ()
        self._shared = False
        self.changed = False

    @property
    def warnings(self) -> list[str]:
        return [f"The name {one.name.fqdn} stays in MAAS: {one.kept}." for one in self.found if one.kept]

    def look(self) -> None:
        """What MAAS has of them, and which is whose."""
        maas = self._task.maas
        places = [("*", f"apps.{self._domain}"), ("api", self._domain), ("api-int", self._domain)]
        have = {str(one["name"]).lower(): one for one in maas.get("domains/")}
        self._domains = [have[name] for name in (f"apps.{self._domain}", self._domain) if name in have]
        others = self._others()
        theirs = frozenset().union(*map(api_addresses, others or ()))
        labels = None if others is None else [place_of(one) for one in others]
        self._shared = labels is None or bool(labels)
        found = []
        for label, domain in places:
            if domain not in have:
                continue
            name = dns.Name(label, have[domain]["name"], have[domain]["id"])
            present = dns.read(maas, name)
            if present.id is not None:
                kept = why_kept(present.addresses, self._own[label], labels, theirs, proven=self._proven)
                found.append(ClusterName(name, present, kept))
        self.found = found

    def _others(self) -> list[Object] | None:
        try:
            clusters = self._task.kube.list(HOSTED_CLUSTERS)
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            return None
        return sharing(clusters, self._namespace, self._name, self._domain)

    def steps(self) -> list[Step]:
        names = [step for one in self.found if not one.kept for step in self._removal(one)]
        going = [one.name.domain for one in self.found if not one.kept]
        # A domain goes when nothing else is in it.
        empty = [one for one in self._domains if one["resource_record_count"] <= going.count(one["name"])]
        return names + [
            Step("delete", f"domain {one['name']}", "nothing else is in it", {"name": one["name"]})
            for one in empty
            if not self._shared
        ]

    def remove(self) -> None:
        maas = self._task.maas
        there = {one["id"] for one in maas.get("domains/")}
        for one in self.found:
            # Of a domain that has gone meanwhile MAAS knows no names.
            if one.kept or one.name.domain_id not in there:
                continue
            present = dns.read(maas, one.name)
            if present.id is None:
                continue
            # What MAAS has taken back with its machine is no address any more.
            steps = self._removal(ClusterName(one.name, present))
            dns.carry_out(maas, one.name, present, steps)
            self.changed = self.changed or bool(steps)
        if self._shared:
            return
        empty = {one["id"] for one in maas.get("domains/") if not one["resource_record_count"]}
        for domain in self._domains:
            if domain["id"] in empty:
                maas.delete(f"domains/{domain['id']}/")
                self.changed = True
                self._task.say(f"domain {domain['name']}: removed")

    def _removal(self, one: ClusterName) -> Sequence[Step]:
        found: list[Step] = []
        for kind in dns.ADDRESS_TYPES:
            wish = dns.RecordSet(kind)
            found += dns.plan(one.name, one.present, wish, remove=True, purge=False).steps
            if one.present.hollow:
                break
        return found
