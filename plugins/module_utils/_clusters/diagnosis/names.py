# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the names of a hosted cluster in the DNS of MAAS are there and point at it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.dns_names import (
    api_addresses,
    domain_of,
    machine_addresses,
    sharing,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.pure.findings import DiagnosisFinding
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import HOSTED_CLUSTERS
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, place_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses import dns

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.evidence import Evidence

CURE = "Run create_hosted_cluster again with hosted_openshift_dns, or correct it with metalshift.maas.dns_record."


@dataclass(frozen=True)
class NameState:
    """One name of a hosted cluster: where it should point, as far as that is known, and where it does."""

    fqdn: str
    own: frozenset[str]
    # None: MAAS has no such name.
    addresses: frozenset[str] | None
    # The domain, if MAAS does not have it and should.
    lacks: str = ""


@dataclass(frozen=True)
class NamesInMaas:
    """The names of a hosted cluster, and the other clusters that have their names in the same domain."""

    names: Sequence[NameState] = ()
    sharing: Sequence[str] = ()


def read_names(task: Task, seen: ClusterSnapshot) -> NamesInMaas:
    """What MAAS has of them. Domains that it does not have count only if the task says that it should have them."""
    base, prefix = (text(seen.cluster, "spec", "dns", name) for name in ("baseDomain", "baseDomainPrefix"))
    if not base or is_deleted(seen.cluster):
        return NamesInMaas()
    domain, given = domain_of(prefix or seen.name, base), task.params.get("dns_names")
    have = {str(one["name"]).lower(): one for one in task.maas.get("domains/")}
    if given is None and have.keys().isdisjoint((domain, f"apps.{domain}")):
        return NamesInMaas()
    names = [_name(task, place, have) for place in _places(domain, seen, given or {})]
    return NamesInMaas([one for one in names if not one.lacks or given is not None], _others(task, seen, domain))


def _places(domain: str, seen: ClusterSnapshot, given: Mapping[str, Any]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Label and domain of each name, and where it may point."""
    api = api_addresses(seen.cluster) | frozenset(given.get("api_addresses") or ())
    nodes = machine_addresses((*seen.machines, *seen.maas_machines))
    apps = nodes | frozenset(given.get("apps_addresses") or ())
    yield from (("api", domain, api), ("api-int", domain, api))
    # Without a node nobody publishes applications.
    if apps:
        yield "*", f"apps.{domain}", apps | api


def _name(task: Task, place: tuple[str, str, frozenset[str]], have: Mapping[str, Any]) -> NameState:
    label, domain, own = place
    if domain not in have:
        return NameState(f"{label}.{domain}", own, None, lacks=domain)
    name = dns.Name(label, have[domain]["name"], have[domain]["id"])
    present = dns.read(task.maas, name)
    return NameState(name.fqdn, own, None if present.id is None else frozenset(present.addresses))


def _others(task: Task, seen: ClusterSnapshot, domain: str) -> list[str]:
    try:
        clusters = task.kube.list(HOSTED_CLUSTERS)
    except Failure as failure:
        if failure.kind != "forbidden":
            raise
        return []
    return [place_of(one) for one in sharing(clusters, seen.namespace, seen.name, domain)]


def names(found: Evidence) -> Iterator[DiagnosisFinding]:
    """Names that lead nowhere, or to somebody else."""
    cluster = f"HostedCluster {found.seen.label}"
    for other in found.names.sharing:
        what = f"Hosted cluster {other} has the same name and base domain, so both have the same names in DNS."
        yield DiagnosisFinding(cluster, what, "user", "warning", "Destroy one of them, or give it another base domain.")
    for what in _wrong(found.names.names):
        yield DiagnosisFinding(cluster, what, "user", "warning", CURE)


def _wrong(several: Iterable[NameState]) -> Iterator[str]:
    for domain in dict.fromkeys(one.lacks for one in several if one.lacks):
        yield f"MAAS has no domain {domain}, in which the cluster should have its names."
    for one in several:
        if one.lacks:
            continue
        if not one.addresses:
            lacks = "has no address for" if one.addresses is not None else "does not have"
            yield f"MAAS has the domain of {one.fqdn}, and {lacks} that name."
        elif one.own and not one.addresses & one.own:
            points, should = " and ".join(sorted(one.addresses)), " or ".join(sorted(one.own))
            yield f"The name {one.fqdn} points at {points} in MAAS, and not at {should}, where the cluster is."
