# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user must be allowed to do in the management cluster, by what is done with a hosted cluster.

The table in the guide is made from this one.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import READS_AT_ONCE, each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CLUSTERS,
    CONFIG_MAPS,
    CRDS,
    DEPLOYMENTS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    LEASES,
    MAAS_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINE_SETS,
    MACHINES,
    NAMESPACES,
    NODE_POOLS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    SECRETS,
    SERVICES,
    STATEFUL_SETS,
    STORAGE_CLASSES,
    ObjectKind,
)

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube

# What is done with a hosted cluster. An upgrade is a creation with another release.
JOURNEYS: Mapping[str, str] = {
    "create": "create and upgrade it",
    "scale": "scale it",
    "diagnose": "diagnose it",
    "destroy": "destroy it",
    "force": "destroy it with force",
    "preflight": "check beforehand all that can be checked",
}
# Without these a playbook fails. The others make up for what does not run, or look further.
NEEDED = ("create", "scale", "diagnose", "destroy")
FIRST = ("create", "scale")

# The namespaces: of the HostedCluster, of its control plane, of HyperShift's operator, and all.
OWN, INNER, OPERATOR, EVERYWHERE = "hosted cluster", "control plane", "operator", "all"

ANY = "create scale diagnose destroy"
CHANGING = "create scale destroy"


@dataclass(frozen=True)
class Right:
    """What is done with one kind, where, and in which journeys."""

    kind: ObjectKind
    place: str
    verbs: str
    journeys: str
    # A removal looks for what there may be, whatever the platform is.
    on_maas_only: bool = False


def _of_workers(kind: ObjectKind) -> Sequence[Right]:
    """Nodes that cannot be drained any more are let go, and what the provider sleeps over is touched or paused."""
    return (
        Right(kind, INNER, "list watch", ANY, on_maas_only=True),
        Right(kind, INNER, "patch", CHANGING, on_maas_only=True),
        Right(kind, INNER, "delete", "force"),
    )


RIGHTS: Sequence[Right] = (
    Right(HOSTED_CLUSTERS, OWN, "get list watch", ANY),
    Right(HOSTED_CLUSTERS, OWN, "patch", CHANGING),
    Right(HOSTED_CLUSTERS, OWN, "create", "create"),
    Right(HOSTED_CLUSTERS, OWN, "delete", "destroy"),
    Right(NODE_POOLS, OWN, "get list watch", ANY),
    Right(NODE_POOLS, OWN, "patch", CHANGING),
    Right(NODE_POOLS, OWN, "create", "create"),
    Right(NODE_POOLS, OWN, "delete", "destroy"),
    Right(SECRETS, OWN, "get", ANY),
    Right(SECRETS, OWN, "create patch", "create"),
    Right(SECRETS, OWN, "list delete", "destroy"),
    Right(CONFIG_MAPS, OWN, "get list create patch delete", "create scale"),
    Right(CONFIG_MAPS, OWN, "list delete", "destroy"),
    Right(HOSTED_CONTROL_PLANES, INNER, "get list watch", ANY),
    Right(HOSTED_CONTROL_PLANES, INNER, "patch delete", "force"),
    Right(MACHINE_DEPLOYMENTS, INNER, "list watch", ANY, on_maas_only=True),
    Right(MACHINE_DEPLOYMENTS, INNER, "patch", "destroy", on_maas_only=True),
    Right(MACHINE_DEPLOYMENTS, INNER, "delete", "force"),
    *_of_workers(MACHINE_SETS),
    *_of_workers(MACHINES),
    *_of_workers(MAAS_MACHINES),
    Right(CLUSTERS, INNER, "list", "diagnose", on_maas_only=True),
    Right(CLUSTERS, INNER, "list watch patch", "destroy"),
    Right(CLUSTERS, INNER, "delete", "force"),
    Right(MAAS_CLUSTERS, INNER, "list", "diagnose", on_maas_only=True),
    Right(MAAS_CLUSTERS, INNER, "list watch", "destroy"),
    Right(MAAS_CLUSTERS, INNER, "patch delete", "force"),
    # What the control-plane operator writes into the hosted cluster.
    Right(CONFIG_MAPS, INNER, "get", "create scale diagnose", on_maas_only=True),
    # Whose the machines are, is told by the provider's key; a changed one is brought to the running provider.
    Right(SECRETS, INNER, "get", ANY, on_maas_only=True),
    Right(SECRETS, INNER, "patch", "create", on_maas_only=True),
    Right(DEPLOYMENTS, INNER, "list", ANY),
    Right(DEPLOYMENTS, INNER, "patch", "create", on_maas_only=True),
    Right(NAMESPACES, INNER, "get", "diagnose destroy"),
    Right(NAMESPACES, INNER, "delete", "force"),
    Right(PODS, INNER, "list", "diagnose"),
    Right(STATEFUL_SETS, INNER, "list", "diagnose"),
    Right(LEASES, INNER, "list", "diagnose"),
    Right(PERSISTENT_VOLUME_CLAIMS, INNER, "list", "diagnose"),
    Right(DEPLOYMENTS, OPERATOR, "list", "diagnose preflight"),
    Right(PODS, OPERATOR, "list", "diagnose"),
    Right(LEASES, OPERATOR, "list", "diagnose"),
    Right(CONFIG_MAPS, OPERATOR, "get", "preflight"),
    Right(STORAGE_CLASSES, EVERYWHERE, "list", "diagnose preflight"),
    Right(HOSTED_CLUSTERS, EVERYWHERE, "list", "preflight"),
    Right(NODE_POOLS, EVERYWHERE, "list", "preflight"),
    Right(MAAS_MACHINES, EVERYWHERE, "list", "preflight", on_maas_only=True),
    Right(SERVICES, EVERYWHERE, "list", "preflight"),
    Right(NODES, EVERYWHERE, "list", "preflight"),
    Right(CRDS, EVERYWHERE, "get", "preflight"),
)

# A verb, a kind, and a namespace that is empty for all.
Question = tuple[str, ObjectKind, str]


def questions(
    namespace: str, name: str, journey: str, *, on_maas: bool = True, operator_namespace: str = "hypershift"
) -> list[Question]:
    """All that one journey of this hosted cluster needs."""
    places = {
        OWN: namespace,
        INNER: control_plane_namespace(namespace, name),
        OPERATOR: operator_namespace,
        EVERYWHERE: "",
    }
    return [
        (verb, right.kind, places[right.place])
        for right in RIGHTS
        if journey in right.journeys.split() and (on_maas or not right.on_maas_only or journey == "destroy")
        for verb in right.verbs.split()
    ]


def refused(kube: Kube, asked: Collection[Question]) -> list[Question]:
    """Those of the questions that are answered with no."""
    answers = dict(each(list(dict.fromkeys(asked)), lambda question: kube.may(*question), READS_AT_ONCE))
    for answer in answers.values():
        if isinstance(answer, Failure):
            raise answer
    return [question for question in asked if not answers[question]]


def in_words(question: Question) -> str:
    verb, kind, namespace = question
    return f"{verb} {kind.resource}" + (f" in {namespace}" if namespace else "")


# -- documentation ------------------------------------------------------------------------------------------------

WHERE = {
    OWN: "namespace of the HostedCluster",
    INNER: "namespace of its control plane",
    OPERATOR: "namespace of HyperShift's operator",
    EVERYWHERE: "all namespaces, or no namespace",
}


def guide() -> str:
    """The tables of the guide: a section for each journey."""
    return "\n".join(_section(journey, title) for journey, title in JOURNEYS.items())


def _section(journey: str, title: str) -> str:
    heading = f"To {title}"
    verbs: dict[tuple[str, str], list[str]] = {}
    for right in RIGHTS:
        if journey in right.journeys.split():
            verbs.setdefault((WHERE[right.place], right.kind.resource), []).extend(right.verbs.split())
    rows = [
        f"   * - {where}\n     - ``{resource}``\n     - {', '.join(dict.fromkeys(found))}\n"
        for (where, resource), found in verbs.items()
    ]
    head = ".. list-table::\n   :header-rows: 1\n\n   * - Where\n     - Resource\n     - Verbs\n"
    return f"{heading}\n{'-' * len(heading)}\n\n{head}{''.join(rows)}"
