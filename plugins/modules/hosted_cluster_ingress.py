#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the applications of a hosted cluster are published."""

from __future__ import annotations

DOCUMENTATION = r"""
module: hosted_cluster_ingress
short_description: Choose how the applications of a hosted cluster are published
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Sets the publishing strategy of the default IngressController of a hosted cluster.
  - On platform MAAS the operator asks for a load balancer, which bare metal seldom has. Without one, the operators
    C(ingress) and C(console) never become available, and the installation does not complete.
  - OpenShift takes the strategy from an IngressController only when it first sees it. One that it has seen already is
    removed and made anew, which interrupts the applications for some seconds.
  - A strategy that neither OpenShift nor this module set belongs to the administrators of the hosted cluster. It is
    left as it is, and the task warns and names who set it.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_k8s
  - metalshift.maas.kubernetes
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  namespace:
    description: The namespace of the HostedCluster.
    type: str
    default: clusters
  name:
    description: The name of the hosted cluster.
    type: str
    required: true
  publish:
    description:
      - V(HostNetwork) uses the ports 80 and 443 of the nodes that run a router.
      - V(NodePort) uses ports of all nodes, for a load balancer in front of them.
      - V(LoadBalancer) needs something in the hosted cluster that gives Services of type LoadBalancer an address.
      - V(Private) publishes nothing.
    type: str
    choices: [HostNetwork, NodePort, LoadBalancer, Private]
    required: true
  take_over:
    description:
      - Fields that are taken from whoever keeps them. V(spec.endpointPublishingStrategy) is the strategy.
    type: list
    elements: str
    default: []
  wait_timeout:
    description: How many seconds the task may wait until the hosted cluster has its IngressController.
    type: float
    default: 300.0
  wait_sleep:
    description: The initial polling interval in seconds. It grows while nothing changes.
    type: float
    default: 0.5
seealso:
  - module: metalshift.maas.hosted_cluster
"""

EXAMPLES = r"""
- name: Applications on the ports 80 and 443 of the nodes
  metalshift.maas.hosted_cluster_ingress:
    name: demo
    publish: HostNetwork
"""

RETURN = r"""
ingress_controller:
  description: The IngressController as it is now, or as it would be in check mode.
  returned: success
  type: dict
  contains:
    name:
      description: Its name.
      type: str
      sample: default
    domain:
      description: The domain of the applications.
      type: str
      sample: apps.demo.lab.example.com
    publish:
      description: How the applications are published.
      type: str
      sample: HostNetwork
plan:
  description:
    - What the task did, in check mode what it would do; one element an action, in their order. Empty if there is
      nothing to change. A task that failed may not have come to all of them.
    - Fields whose values are secret are left out or masked, and so are those that stay as they are.
  returned: always, but for wrong input
  type: list
  elements: dict
  contains:
    action:
      description: What is done, such as V(create), V(update), V(delete), V(enlist), V(deploy) or V(release).
      type: str
    object:
      description: To which object.
      type: str
    reason:
      description: Why. Empty if the task asks for just that.
      type: str
    before:
      description: The fields that change, as they are.
      type: dict
    after:
      description: The same fields as they will be; null where only the server knows it in advance.
      type: dict
"""

import re
from typing import TYPE_CHECKING, Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.objects import is_within
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import hosted_api, sight
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import INGRESS_CONTROLLERS, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import MANAGER
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.ownership import entries

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube

TYPES = {
    "HostNetwork": "HostNetwork",
    "NodePort": "NodePortService",
    "LoadBalancer": "LoadBalancerService",
    "Private": "Private",
}
WORDS = {kind: word for word, kind in TYPES.items()}
PLACE = "openshift-ingress-operator"
NAME = "default"
STRATEGY = "spec.endpointPublishingStrategy"
# What people write with calls itself so.
PERSON = re.compile(r"kubectl|oc\b|Mozilla")

SPEC = Spec(
    kube=True,
    options={
        "namespace": {"type": "str", "default": "clusters"},
        "name": {"type": "str", "required": True},
        "publish": {"type": "str", "choices": list(TYPES), "required": True},
        "take_over": {"type": "list", "elements": "str", "default": []},
        "wait_timeout": {"type": "float", "default": 300.0},
        "wait_sleep": {"type": "float", "default": 0.5},
    },
)


def converge(task: Task) -> Result:
    """Bring the IngressController to the wished strategy."""
    wished = TYPES[task.params["publish"]]
    label = f"{task.params['namespace']}/{task.params['name']}"
    hosted = _hosted(task, label)
    found = _found(task, label, hosted) if hosted else None
    if found is None:
        return Result(True, {"ingress_controller": _shown(None, wished, predicted=True)}, _plan(label, None, wished))
    if is_settled(found, wished):
        return Result(False, {"ingress_controller": _shown(found, wished)})
    keeper = keeper_of(found)
    if keeper and not is_within(STRATEGY, task.params["take_over"]):
        return Result(False, {"ingress_controller": _shown(found, wished)}, warnings=[_theirs(label, found, keeper)])
    plan = _plan(label, strategy_of(found), wished)
    if hosted and not task.check:
        found = _settle(task, label, hosted, found, wished)
    return Result(True, {"ingress_controller": _shown(found, wished, predicted=task.check)}, plan)


def strategy_of(body: Object) -> str:
    """The strategy in force: what OpenShift took from the IngressController, or will take."""
    taken = ((body.get("status") or {}).get("endpointPublishingStrategy") or {}).get("type")
    return str(taken or (body["spec"].get("endpointPublishingStrategy") or {}).get("type") or "")


def is_settled(body: Object, wished: str) -> bool:
    asked = (body["spec"].get("endpointPublishingStrategy") or {}).get("type")
    return not body["metadata"].get("deletionTimestamp") and asked == wished == strategy_of(body)


def keeper_of(body: Object) -> str:
    """Who chose the strategy that is asked for, if it is neither OpenShift nor us."""
    created = body["metadata"].get("creationTimestamp")
    for entry in entries(body, STRATEGY.split(".")):
        manager = str(entry.get("manager") or "")
        # OpenShift's own programs call themselves so; whatever they are called, one of them makes the first one.
        if manager == MANAGER or "operator" in manager or (entry.get("time") == created and not PERSON.match(manager)):
            continue
        return manager
    return ""


def _theirs(label: str, body: Object, keeper: str) -> str:
    asked = str((body["spec"].get("endpointPublishingStrategy") or {}).get("type"))
    return (
        f"The applications of {label} are published by {WORDS.get(asked, asked)}, which {keeper} chose in the hosted "
        f"cluster. It was left so. To change it, set take_over: [{STRATEGY}]."
    )


def _hosted(task: Task, label: str) -> Kube | None:
    """The hosted API; None in check mode when there is none yet."""
    seen = sight(task.kube, task.params["namespace"], task.params["name"], parts=(), may_lack=task.check)
    hosted = hosted_api(task, seen) if seen.cluster else None
    if hosted is None and not task.check:
        what = "has not published a kubeconfig yet" if seen.cluster else "does not exist"
        raise Failure(
            "conflict" if seen.cluster else "not_found",
            f"The hosted cluster {label} {what}.",
            object=label,
            hint="Wait for its control plane with metalshift.maas.hosted_cluster.",
        )
    return hosted


def _found(task: Task, label: str, hosted: Kube) -> Object | None:
    """The IngressController, waited for; in check mode as it is, or None."""
    if task.check:
        return hosted.get(INGRESS_CONTROLLERS, NAME, PLACE)
    found = Patience.of(task).until(
        lambda: hosted.get(INGRESS_CONTROLLERS, NAME, PLACE),
        lambda body: body is not None,
        lambda body: "" if body else f"{label}: waiting for its IngressController",
    )
    if found is None:
        raise Failure(
            "timeout",
            f"The hosted cluster {label} has no IngressController {PLACE}/{NAME} "
            f"after {task.params['wait_timeout']:g} s.",
            object=label,
            hint="Its hosted-cluster-config-operator makes it; see whether that runs.",
        )
    return found


def _settle(task: Task, label: str, hosted: Kube, first: Object, wished: str) -> Object:
    """Change it, or have it made anew until OpenShift sees it first as it is to be."""
    wanted = {
        "apiVersion": INGRESS_CONTROLLERS.api,
        "kind": INGRESS_CONTROLLERS.name,
        "metadata": {"name": NAME, "namespace": PLACE},
        "spec": {**first["spec"], "endpointPublishingStrategy": {"type": wished}},
    }

    def act() -> Object:
        body = hosted.get(INGRESS_CONTROLLERS, NAME, PLACE)
        if body is None:
            return _created(hosted, wanted)
        if body["metadata"].get("deletionTimestamp") or is_settled(body, wished):
            return body
        if (body["spec"].get("endpointPublishingStrategy") or {}).get("type") != wished:
            # As a whole: what belongs to another strategy must not stay beside this one.
            others = dict.fromkeys(body["spec"].get("endpointPublishingStrategy") or {})
            patch = {"spec": {"endpointPublishingStrategy": {**others, "type": wished}}}
            return hosted.patch(INGRESS_CONTROLLERS, NAME, PLACE, patch)
        hosted.delete(INGRESS_CONTROLLERS, NAME, PLACE, uid=body["metadata"]["uid"])
        return body

    patience = Patience.of(task)
    found = patience.until(
        act,
        lambda body: is_settled(body, wished),
        lambda body: f"{label}: applications are published by {WORDS.get(strategy_of(body), strategy_of(body))}",
    )
    if found is None:
        raise Failure(
            "timeout",
            f"The applications of {label} are not published by {WORDS[wished]} "
            f"after {task.params['wait_timeout']:g} s.",
            object=label,
            hint="See what the IngressController default says in its conditions.",
        )
    return found


def _created(hosted: Kube, wanted: Object) -> Object:
    try:
        return hosted.create(wanted)
    except Failure as failure:
        # The operator of the hosted cluster was faster; the next look changes what it made.
        made = hosted.get(INGRESS_CONTROLLERS, NAME, PLACE) if failure.kind == "conflict" else None
        if made is None:
            raise
        return made


def _plan(label: str, before: str | None, wished: str) -> Plan:
    shown = {"publish": WORDS.get(before or "", before)}
    return Plan([Step("update", f"ingress of {label}", "publish", shown, {"publish": WORDS[wished]})])


def _shown(body: Object | None, wished: str, *, predicted: bool = False) -> dict[str, Any]:
    spec = (body or {}).get("spec") or {}
    kind = wished if predicted else strategy_of(body or {"spec": {}})
    said = {"name": NAME, "domain": spec.get("domain"), "publish": WORDS.get(kind, kind)}
    return {**said, "predicted": True} if predicted else said


def main() -> None:
    run_as_module(SPEC, converge, "hosted_cluster_ingress")


if __name__ == "__main__":
    main()
