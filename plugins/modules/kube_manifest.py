#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests that are installed, upgraded and removed as one."""

from __future__ import annotations

DOCUMENTATION = r"""
module: kube_manifest
short_description: Install, upgrade and remove the objects of a Kubernetes manifest as one
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Applies all objects of a manifest on the server's side, and records them first in a ConfigMap. What a later
    version of the manifest has no more is removed; removal takes away what this module created, and nothing else.
  - The roles P(metalshift.maas.hypershift_operator#role) and P(metalshift.maas.capi_provider_maas#role) are made of
    it. It differs from M(kubernetes.core.k8s) in what it remembers, and in check mode, which also works where the
    manifest's own kinds and namespaces do not exist yet.
  - Fields that another manager keeps are never taken over. The task then fails, and names the manager and the fields.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_kubernetes
  - metalshift.maas.kubernetes
  - metalshift.maas.plan
options:
  name:
    description: The name of the ConfigMap with the record, and so of the installation.
    type: str
    required: true
  namespace:
    description:
      - The namespace of the record, which must exist. It is better none that the manifest itself creates, because a
        record that ends with its namespace is of no use.
    type: str
    default: kube-system
  src:
    description: A file with the manifest, in YAML or JSON, where the task runs.
    type: path
  objects:
    description: The objects themselves, or more than those of O(src).
    type: list
    elements: dict
    default: []
  fallback_objects:
    description:
      - Objects that the manifest needs and that others may bring, such as kinds of another operator. One that is
        there already is left alone and is not recorded.
    type: list
    elements: dict
    default: []
  state:
    description:
      - V(present) makes sure that all objects are there as the manifest has them, and those of an earlier version are
        gone.
      - V(absent) removes the objects that this module created. Those that were there before it are left, as they are
        now; so is a namespace in which there is anything that did not come with the installation.
    type: str
    choices: [present, absent]
    default: present
  remove_kinds:
    description:
      - Whether V(absent) removes CustomResourceDefinitions too, and with them all objects of their kinds. Those of
        which there are objects that others made stay all the same. They stay recorded for a later removal.
    type: bool
    default: false
  required_fields:
    description:
      - What kinds must know, as V(KIND PATH) or V(KIND PATH=VALUE), such as V(HostedCluster spec.platform.type=MAAS).
        A manifest whose definition of the kind lacks it is refused before anything is written; the cluster's
        definition counts where the manifest has none.
    type: list
    elements: str
    default: []
  byproducts:
    description:
      - Names of field managers, such as those of an operator that was installed. What only they wrote goes with the
        namespace or kind that is removed, and keeps neither.
    type: list
    elements: str
    default: []
  wait:
    description:
      Whether to wait until the Deployments of the manifest have rolled out, or until what was removed has gone.
    type: bool
    default: true
  wait_timeout:
    description: How many seconds the task may wait.
    type: float
    default: 300.0
  wait_sleep:
    description: The initial polling interval in seconds. It grows while nothing changes.
    type: float
    default: 1.0
notes:
  - An object that was there before the first run is changed as the manifest says, and is not removed with it. Its
    fields from before are not remembered.
  - Kinds that a later version of the manifest has no more stay, and stay recorded, until O(state=absent) with
    O(remove_kinds=true).
seealso:
  - module: kubernetes.core.k8s
"""

EXAMPLES = r"""
- name: What the operator is made of
  metalshift.maas.kube_manifest:
    name: hypershift-operator
    src: /tmp/hypershift.yaml

- name: Take it away again, with the kinds that nobody uses
  metalshift.maas.kube_manifest:
    name: hypershift-operator
    state: absent
    remove_kinds: true
    byproducts: [hypershift-operator, hypershift-operator-manager]
"""

RETURN = r"""
objects:
  description: What became of each object, in the order in which it was done.
  returned: success
  type: list
  elements: dict
  contains:
    api_version:
      description: The version of its kind.
      type: str
      returned: success
    kind:
      description: Its kind.
      type: str
      returned: success
    namespace:
      description: Its namespace, empty if it has none.
      type: str
      returned: success
    name:
      description: Its name.
      type: str
      returned: success
    action:
      description: One of V(created), V(changed), V(unchanged), V(deleted), V(kept); in check mode, what it would be.
      type: str
      returned: success
    reason:
      description: Why it was kept.
      type: str
      returned: success
summary:
  description: How many objects were created, changed, left unchanged, deleted and kept.
  returned: success
  type: dict
  sample: {"created": 41, "changed": 0, "unchanged": 0, "deleted": 0, "kept": 0}
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

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._kube.manifests.files import read
from ansible_collections.metalshift.maas.plugins.module_utils._kube.manifests.installation import Installation
from ansible_collections.metalshift.maas.plugins.module_utils._kube.manifests.pure.installed import Required, checked

SPEC = Spec(
    options={
        "name": {"type": "str", "required": True},
        "namespace": {"type": "str", "default": "kube-system"},
        "src": {"type": "path"},
        "objects": {"type": "list", "elements": "dict", "default": []},
        "fallback_objects": {"type": "list", "elements": "dict", "default": []},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "remove_kinds": {"type": "bool", "default": False},
        "required_fields": {"type": "list", "elements": "str", "default": []},
        "byproducts": {"type": "list", "elements": "str", "default": []},
        "wait": {"type": "bool", "default": True},
        "wait_timeout": {"type": "float", "default": 300.0},
        "wait_sleep": {"type": "float", "default": 1.0},
    },
    kube=True,
    maas=False,
)
ACTIONS = ("created", "changed", "unchanged", "deleted", "kept")


def converge(task: Task) -> Result:
    """Bring all objects of the manifest to the wished state."""
    params = task.params
    objects = checked([*read(params["src"]), *params["objects"]])
    if params["state"] == "present" and not objects:
        raise invalid("There is nothing to install: src and objects hold no object.")
    installation = Installation(
        task.kube,
        params["name"],
        params["namespace"],
        Patience.of(task),
        check=task.check,
        byproducts=frozenset(params["byproducts"]),
    )
    if params["state"] == "present":
        required = [Required.parse(text) for text in params["required_fields"]]
        fallbacks = checked(params["fallback_objects"])
        installation.install(objects, fallbacks=fallbacks, required=required, wait=params["wait"])
    else:
        installation.remove(definitions=params["remove_kinds"], wait=params["wait"])
    told = installation.told
    summary = {action: sum(each["action"] == action for each in told) for action in ACTIONS}
    plan = Plan(installation.steps)
    return Result(changed=bool(plan), values={"objects": told, "summary": summary}, plan=plan)


def main() -> None:
    run_as_module(SPEC, converge, "kube_manifest")


if __name__ == "__main__":
    main()
