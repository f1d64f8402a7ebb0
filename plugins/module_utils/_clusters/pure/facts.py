# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about hosted clusters that are written once: keys of annotations and labels, and what they mean. Pure.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import name_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of

# -- Kubernetes ------------------------------------------------------------------------------------------------------

# Kubernetes knows both; the first is the one to give today.
DEFAULT_CLASS, OLD_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)

# -- HyperShift ------------------------------------------------------------------------------------------------------

OPERATOR_NAMESPACE = "hypershift"
# On what was made for a hosted cluster or a node pool: which, as NAMESPACE/NAME; on a Node, the pool's name alone.
OF_HOSTED_CLUSTER = "hypershift.openshift.io/cluster"
OF_NODE_POOL = "hypershift.openshift.io/nodePool"
# On an OIDC document or a Secret of the operator: the HostedCluster that it was made for.
OWNER_NAME = "hypershift.openshift.io/owner.name"
OWNER_NAMESPACE = "hypershift.openshift.io/owner.namespace"
# On what the operator made for a cluster's infrastructure: its infra ID.
OF_INFRA = "hypershift.openshift.io/auto-created-for-infra"
# On what a HostedCluster refers to; its name follows.
REFERENCED = "referenced-resource.hypershift.openshift.io/{}"
# On the namespace of a control plane.
HOSTED_CONTROL_PLANE_LABEL = "hypershift.openshift.io/hosted-control-plane"
# On the pods of a part of the operator.
OPERATOR_LABEL = "hypershift.openshift.io/operator-component"
OPERATORS_FINALIZER = "hypershift.openshift.io/finalizer"
# On a HostedCluster.
HAS_BEEN_AVAILABLE = "hypershift.openshift.io/HasBeenAvailable"
KEEPS_NAMESPACE = "hypershift.openshift.io/skip-delete-hosted-controlplane-namespace"
PROVIDER_IMAGE = "hypershift.openshift.io/capi-provider-maas-image"
# It names another control-plane operator than that of its release.
CONTROL_PLANE_OPERATOR_IMAGE = "hypershift.openshift.io/control-plane-operator-image"
# On a NodePool.
HEALTH_TIMEOUT = "hypershift.openshift.io/machine-health-check-timeout"
STARTUP_TIMEOUT = "hypershift.openshift.io/machine-health-check-node-startup-timeout"

# -- Cluster API -----------------------------------------------------------------------------------------------------

# Cluster API and its providers leave alone what has it.
PAUSED = "cluster.x-k8s.io/paused"
OF_CLUSTER = "cluster.x-k8s.io/cluster-name"
OF_DEPLOYMENT = "cluster.x-k8s.io/deployment-name"
OF_MACHINE_SET = "cluster.x-k8s.io/set-name"
# On a MaasMachine: the template that it was made from.
CLONED_FROM = "cluster.x-k8s.io/cloned-from-name"
# On a Machine.
NO_DRAIN = "machine.cluster.x-k8s.io/exclude-node-draining"
NO_DETACH = "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach"
# The provider removes it when it has released the machine, and a paused MaasMachine keeps it.
MAAS_MACHINE_FINALIZER = "maasmachine.infrastructure.cluster.x-k8s.io"

# -- ours ------------------------------------------------------------------------------------------------------------

# Labels of what we made: for which hosted cluster, and for which node pool.
MADE_FOR_CLUSTER = "metalshift.maas/hosted-cluster"
MADE_FOR_POOL = "metalshift.maas/node-pool"
# On a HostedCluster: what its node pools will ask for, written before there are any.
ASKS_FOR = "metalshift.maas/asks-for"
# On a NodePool: how long the deletion of a Node may take, which HyperShift has no field for.
NODE_DELETION_TIMEOUT = "metalshift.maas/node-deletion-timeout"
# On what the operator has forgotten: when we touched it, so that it looks again.
TOUCHED = "metalshift.maas/touched"
# On what we have paused: under which name.
PAUSED_AS = "metalshift.maas/paused-as"
# On a MachineSet that we have paused: for which Machine.
PAUSED_FOR = "metalshift.maas/letting-go"
# On a MaasMachine that we have paused because it names a machine of somebody else: which.
NOT_OURS = "metalshift.maas/not-ours"
# On a MaasMachine that we have paused because its deployment was refused and tried again without end: why.
GIVEN_UP = "metalshift.maas/given-up"
# Written on a certificate request before another one of the same machine is approved.
PASSED_OVER = "metalshift.maas/passed-over-for"
# On the provider's Secret: whether it has to be started again for it, and on its Deployment: when it was.
RESTART_DUE = "metalshift.maas/restart-due"
RESTARTED = "metalshift.maas/restarted-at"
# On the provider's Secret: the options that were given for the provider alone. Those of the task's own access do not
# take their place.
OWN_CREDENTIALS = "metalshift.maas/own-credentials"


# -- what they mean --------------------------------------------------------------------------------------------------


def is_default_class(storage_class: Object) -> bool:
    annotations = at(storage_class, "metadata", "annotations") or {}
    return any(annotations.get(key) == "true" for key in (DEFAULT_CLASS, OLD_DEFAULT_CLASS))


def pool_of(body: Object) -> str:
    """The NodePool that an object was made for, as NAMESPACE/NAME; empty if it says none."""
    return text(body, "metadata", "annotations", OF_NODE_POOL)


def pool_name_of(body: Object) -> str:
    """Its name alone."""
    return pool_of(body).rpartition("/")[2]


def maas_machine_name_of(machine: Object) -> str:
    """The name of the MaasMachine that a Machine stands for; Cluster API calls it as the Machine."""
    return text(machine, "spec", "infrastructureRef", "name") or name_of(machine)


def node_name_of(machine: Object) -> str:
    """The Node that a Machine became; empty as long as there is none."""
    return text(machine, "status", "nodeRef", "name")


def is_paused(spec: Mapping[str, Any] | None, now: float) -> bool:
    """Whether `pausedUntil` holds at that moment: it is a truth value, or the time at which the pause ends."""
    until = str((spec or {}).get("pausedUntil") or "")
    end = seconds_of(until)
    return now < end if end is not None else until.lower() == "true"


def has_maas(params: Mapping[str, Any]) -> bool:
    """Whether a task says anything of a MAAS: one that says only half of it is told what is missing."""
    return bool(params.get("maas_endpoint") or params.get("maas_api_key"))
