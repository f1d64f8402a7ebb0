# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that would fail later, found before anything is written.

All is read at once, each thing by one request; `checks` then judges. What could not be read makes its check unknown,
with the reason, and leaves the others as they are.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired import credentials
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure import secrets
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight import checks, registry, rights
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.checks import (
    Check,
    ClusterSpec,
    Demand,
    Service,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import READS_AT_ONCE, each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CONFIG_MAPS,
    CRDS,
    DEPLOYMENTS,
    HOSTED_CLUSTERS,
    MAAS_MACHINES,
    NAMESPACES,
    NODE_POOLS,
    NODES,
    SECRETS,
    SERVICES,
    STORAGE_CLASSES,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

SUPPORTED_VERSIONS = "supported-versions"
HOSTED_CLUSTERS_CRD = "hostedclusters.hypershift.openshift.io"

EVERYTHING = ObjectKind("*/*", "*", "*")

# The services of a control plane that platform MAAS publishes.
PUBLISHED = ("APIServer", "OAuthServer", "OIDC", "Konnectivity", "Ignition")

Facts = Mapping[str, Any]
Read = Callable[[Task, ClusterSpec], Any]


@dataclass(frozen=True)
class Judge:
    """A check, or several on the same facts: what it needs to know, and what it says."""

    name: str
    needs: Sequence[str]
    judge: Callable[[ClusterSpec, Facts], Iterable[Check]]
    # Whether there is anything to check, and whether it is about machines of MAAS.
    asked: Callable[[ClusterSpec], bool] = lambda _wish: True


# -- reading -------------------------------------------------------------------------------------------------------


def _rights(task: Task, wish: ClusterSpec) -> dict[str, list[str]]:
    """What the user may not do, by what it is needed for. An administrator is known by one question."""
    if task.kube.may("*", EVERYTHING):
        return {}
    operator = task.params["operator_namespace"]
    needed = {
        journey: rights.questions(wish.namespace, wish.name, journey, on_maas=wish.on_maas, operator_namespace=operator)
        for journey in rights.NEEDED
    }
    if not _has_namespace(task, wish.namespace):
        needed["create"].append(("create", NAMESPACES, ""))
    lacking = set(rights.refused(task.kube, [question for asked in needed.values() for question in asked]))
    return {
        journey: [rights.in_words(question) for question in asked if question in lacking]
        for journey, asked in needed.items()
    }


def _has_namespace(task: Task, name: str) -> bool:
    """One that this user may not look at was made for it by somebody else."""
    try:
        return task.kube.get(NAMESPACES, name) is not None
    except Failure as failure:
        if failure.kind != "forbidden":
            raise
        return True


def _release(task: Task, wish: ClusterSpec) -> registry.RegistryAnswer | None:
    image = registry.Image.parse(wish.release)
    if image is None:
        return None
    authority = task.params.get("release_ca_cert")
    return registry.ask(image, wish.pull_secret or "", verify=authority or True)


def _resolved(_task: Task, wish: ClusterSpec) -> dict[str, str]:
    """The first address of each name that matters; names that do not resolve are left out."""
    addresses = {service.address for service in wish.services if service.type == "NodePort" and service.address}
    names = addresses | set(() if wish.dns_in_maas else checks.wanted_names(wish))
    return {name: address for name in sorted(names) if (address := _address_of(name))}


def _address_of(name: str) -> str:
    try:
        return str(socket.getaddrinfo(name, None)[0][4][0])
    except (OSError, UnicodeError):
        return ""


def _provider_user(task: Task, wish: ClusterSpec) -> Any:
    """Whose key the provider gets, where it is not the task's own."""
    if not wish.own_provider_key:
        return None
    name, key = task.params.get("credentials_secret"), str(task.params.get("provider_maas_api_key") or "")
    if name:
        secret = task.kube.get(SECRETS, name, wish.namespace)
        key = (secrets.value_of(secret, secrets.API_KEY) or b"").decode(errors="replace")
    stored = str(task.params.get("provider_maas_endpoint") or task.params["maas_endpoint"])
    return credentials.user_of(task, stored, key)


OF_MAAS: Mapping[str, Read] = {
    "user": lambda task, _wish: task.maas.get("users/", op="whoami"),
    "ready": lambda task, _wish: task.maas.get("machines/", [("status", Status.READY.filter)]),
    "zones": lambda task, _wish: task.maas.get("zones/"),
    "resource_pools": lambda task, _wish: task.maas.get("resourcepools/"),
    "tags": lambda task, _wish: task.maas.get("tags/"),
    "boot_resources": lambda task, _wish: task.maas.get("boot-resources/"),
    "domains": lambda task, _wish: task.maas.get("domains/"),
}
OF_KUBERNETES: Mapping[str, Read] = {
    "crd": lambda task, _wish: task.kube.get(CRDS, HOSTED_CLUSTERS_CRD),
    "clusters": lambda task, _wish: task.kube.list(HOSTED_CLUSTERS),
    "pools": lambda task, _wish: task.kube.list(NODE_POOLS),
    "maas_machines": lambda task, _wish: task.kube.list(MAAS_MACHINES),
    "operators": lambda task, _wish: task.kube.list(DEPLOYMENTS, task.params["operator_namespace"]),
    "supported": lambda task, _wish: task.kube.get(CONFIG_MAPS, SUPPORTED_VERSIONS, task.params["operator_namespace"]),
    "storage_classes": lambda task, _wish: task.kube.list(STORAGE_CLASSES),
    "services": lambda task, _wish: task.kube.list(SERVICES),
    "nodes": lambda task, _wish: task.kube.list(NODES),
    "rights": _rights,
}
OF_OTHERS: Mapping[str, Read] = {"release": _release, "resolved": _resolved, "provider_user": _provider_user}
READS = {**OF_MAAS, **OF_KUBERNETES, **OF_OTHERS}
SERVERS = (("MAAS", OF_MAAS), ("Kubernetes", OF_KUBERNETES))

# Failures that are the server's, or the key's, whatever was asked for.
OF_ALL = frozenset({"unreachable", "tls", "credentials"})


# -- judging -------------------------------------------------------------------------------------------------------


def _demand(wish: ClusterSpec, facts: Facts) -> Demand:
    return Demand.of(wish, facts["clusters"], facts["pools"], facts["maas_machines"], time.time())


def _has_pools(wish: ClusterSpec) -> bool:
    return wish.on_maas and bool(wish.pools)


def _has_node_ports(wish: ClusterSpec) -> bool:
    return any(service.type == "NodePort" for service in wish.services)


MACHINES_NEED = ("ready", "clusters", "pools", "maas_machines")

JUDGES: Sequence[Judge] = (
    Judge("platform", ("crd",), lambda wish, facts: checks.platform(wish, facts["crd"])),
    Judge(
        "namespace",
        ("clusters",),
        lambda wish, facts: checks.control_plane_namespace_is_free(wish, facts["clusters"]),
    ),
    Judge("operator", ("operators",), lambda _wish, facts: checks.operator(facts["operators"])),
    Judge(
        "provider",
        ("operators", "clusters"),
        lambda wish, facts: checks.provider(wish, facts["operators"], facts["clusters"]),
        lambda wish: wish.on_maas,
    ),
    Judge(
        "control plane operator",
        ("clusters",),
        lambda wish, facts: checks.control_plane_operator(wish, facts["clusters"]),
        lambda wish: wish.on_maas,
    ),
    Judge(
        "operator and release",
        ("supported",),
        lambda wish, facts: checks.supported_versions(wish, facts["supported"]),
        lambda wish: bool(wish.release),
    ),
    Judge(
        "upgrade",
        ("clusters",),
        lambda wish, facts: checks.upgrade(wish, facts["clusters"]),
        lambda wish: bool(wish.release),
    ),
    Judge("pull secret", (), lambda wish, _facts: checks.pull_secret(wish), lambda wish: wish.pull_secret is not None),
    Judge(
        "release",
        ("release",),
        lambda wish, facts: checks.release(wish, facts["release"]),
        lambda wish: bool(wish.release),
    ),
    Judge("rights in Kubernetes", ("rights",), lambda _wish, facts: checks.rights_in_kubernetes(facts["rights"])),
    Judge("storage class", ("storage_classes",), lambda wish, facts: checks.storage(wish, facts["storage_classes"])),
    Judge("services", (), lambda wish, _facts: checks.publishing(wish), lambda wish: bool(wish.services)),
    Judge("node ports", ("services",), lambda wish, facts: checks.ports(wish, facts["services"]), _has_node_ports),
    Judge(
        "address of services",
        ("nodes", "resolved"),
        lambda wish, facts: checks.node_address(wish, facts["nodes"], facts["resolved"]),
        _has_node_ports,
    ),
    Judge(
        "DNS",
        ("resolved", "domains"),
        lambda wish, facts: checks.names_in_dns(wish, facts["domains"], facts["resolved"]),
        lambda wish: bool(wish.base_domain),
    ),
    Judge(
        "names of the cluster",
        ("clusters",),
        lambda wish, facts: checks.names_taken(wish, facts["clusters"]),
        lambda wish: bool(wish.base_domain),
    ),
    Judge(
        "rights in MAAS",
        ("user",),
        lambda wish, facts: checks.rights_in_maas(wish, facts["user"]),
        lambda wish: wish.on_maas or wish.dns_in_maas,
    ),
    Judge(
        "key of the provider",
        ("user", "provider_user", "clusters"),
        lambda wish, facts: checks.provider_key(wish, facts["provider_user"] or facts["user"], facts["clusters"]),
        lambda wish: wish.on_maas,
    ),
    Judge(
        "names in MAAS",
        ("zones", "resource_pools", "tags"),
        lambda wish, facts: checks.known_names(wish, facts["zones"], facts["resource_pools"], facts["tags"]),
        _has_pools,
    ),
    Judge("image", ("boot_resources",), lambda wish, facts: checks.images(wish, facts["boot_resources"]), _has_pools),
    Judge(
        "machines",
        MACHINES_NEED,
        lambda wish, facts: checks.capacity(_demand(wish, facts), facts["ready"]),
        _has_pools,
    ),
    Judge(
        "disk /dev/sda",
        MACHINES_NEED,
        lambda wish, facts: checks.disks(_demand(wish, facts), facts["ready"]),
        _has_pools,
    ),
    Judge(
        "architecture",
        MACHINES_NEED,
        lambda wish, facts: checks.architectures(wish, _demand(wish, facts), facts["ready"]),
        _has_pools,
    ),
    Judge("the fork", (), lambda wish, _facts: checks.the_fork(wish), lambda wish: wish.on_maas),
)

NAMES = tuple(judge.name for judge in JUDGES)


def examine(task: Task, wish: ClusterSpec, chosen: Sequence[str] = ()) -> list[Check]:
    """The table. `chosen` are names of judges; all, if empty."""
    judges = [judge for judge in JUDGES if judge.asked(wish) and (not chosen or judge.name in chosen)]
    needed = list(dict.fromkeys(need for judge in judges for need in judge.needs))
    # Opened here and not in the threads, so that each is opened once.
    if OF_MAAS.keys() & set(needed):
        _opened(lambda: task.maas)
    if OF_KUBERNETES.keys() & set(needed):
        _opened(lambda: task.kube)
    facts = dict(each(needed, lambda need: READS[need](task, wish), READS_AT_ONCE))
    lost = dict(_lost(facts))
    told = [Check(f"{server} answers", "failed", lost[server].message, lost[server].hint) for server in lost]
    return [*told, *(check for judge in judges for check in _judged(judge, wish, facts, lost))]


def _opened(client: Callable[[], object]) -> None:
    """What is wrong with the options themselves ends the task: it is no finding."""
    client()


def _lost(facts: Facts) -> Iterator[tuple[str, Failure]]:
    """The servers that nothing can be learnt from, each with one of the failures."""
    for server, reads in SERVERS:
        for name, fact in facts.items():
            if name in reads and isinstance(fact, Failure) and fact.kind in OF_ALL:
                yield server, fact
                break


def _judged(judge: Judge, wish: ClusterSpec, facts: Facts, lost: Mapping[str, Failure]) -> Iterable[Check]:
    for need in judge.needs:
        if isinstance(facts[need], Failure):
            failure = facts[need]
            server = next((name for name, reads in SERVERS if need in reads), "")
            if server in lost:
                return [Check(judge.name, "unknown", f"This could not be checked without {server}.")]
            return [Check(judge.name, "unknown", f"This could not be checked: {failure.message}", failure.hint)]
    return judge.judge(wish, facts)


def services_of(given: Sequence[Mapping[str, Any]] | None, address: str | None) -> list[Service]:
    """How the services are to be published: as written, or all as node ports at one address."""
    return [
        Service(
            str(entry["service"]),
            str(entry.get("type") or "NodePort"),
            str(entry.get("address") or address or ""),
            int(entry.get("port") or 0),
        )
        for entry in given or ()
    ] or [Service(name, "NodePort", address) for name in PUBLISHED if address]
