#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kubeconfig of a hosted cluster as a file."""

from __future__ import annotations

DOCUMENTATION = r"""
module: hosted_cluster_kubeconfig
short_description: Keep the kubeconfig of a hosted cluster in a file
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Writes the administrator's kubeconfig that a hosted cluster publishes into a file that only its owner may read.
  - What is written is a cluster, a user and a context of the hosted cluster's name, with a note of whose they are. Only
    what bears this note is changed and removed. Everything else in the file is somebody else's.
  - The file is replaced in one step, and is at no moment readable for others. Its content is never shown, neither in
    the result nor as a difference.
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
  dest:
    description:
      - The file. Its folder must exist.
      - One that holds anything else than this module wrote for this hosted cluster is refused, unless O(merge) or
        O(backup) says what becomes of that.
    type: path
    required: true
  state:
    description:
      - V(present) makes sure that the file holds the kubeconfig, with mode 0600.
      - V(absent) takes out of the file what this module wrote there for this hosted cluster, and removes the file if
        nothing else is in it. Anything else stays as it is. Nothing is asked of the cluster.
    type: str
    choices: [present, absent]
    default: present
  merge:
    description:
      - Whether the context is put beside what a kubeconfig holds already, such as V(~/.kube/config). The current
        context stays what it is. Comments in the file are lost.
    type: bool
    default: false
  backup:
    description:
      - Whether a file that holds something else is kept under another name beside it before it is replaced, or before
        the context is put into it.
    type: bool
    default: false
seealso:
  - module: metalshift.maas.hosted_cluster_info
"""

EXAMPLES = r"""
- name: The kubeconfig beside the playbook
  metalshift.maas.hosted_cluster_kubeconfig:
    name: demo
    dest: "{{ playbook_dir }}/demo.kubeconfig"

- name: A context beside those that I have
  metalshift.maas.hosted_cluster_kubeconfig:
    name: demo
    dest: ~/.kube/config
    merge: true

- name: No kubeconfig of a cluster that is gone
  metalshift.maas.hosted_cluster_kubeconfig:
    name: demo
    dest: "{{ playbook_dir }}/demo.kubeconfig"
    state: absent
"""

RETURN = r"""
kubeconfig:
  description: The file. Empty when it is absent.
  returned: success
  type: dict
  contains:
    path:
      description: Where it is.
      type: str
      sample: /home/me/demo.kubeconfig
    mode:
      description: Its mode.
      type: str
      sample: "0600"
    context:
      description: The context in it.
      type: str
      sample: demo
    backup_file:
      description: Where what was there before is kept, if O(backup=true) and there was something else.
      type: str
      sample: /home/me/config.2026-11-20@01:15:00~
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

import time
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import kubeconfig_of, sight
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._kube.kubeconfig import Published, as_text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.kubeconfig_file import (
    KubeconfigEntries,
    KubeconfigFile,
)

MODE = 0o600
SHOWN_MODE = f"{MODE:04o}"
CONTENT = {"content": "as published"}

SPEC = Spec(
    kube=True,
    options={
        "namespace": {"type": "str", "default": "clusters"},
        "name": {"type": "str", "required": True},
        "dest": {"type": "path", "required": True},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "merge": {"type": "bool", "default": False},
        "backup": {"type": "bool", "default": False},
    },
)


def converge(task: Task) -> Result:
    """Bring the file to the wished state."""
    file = KubeconfigFile(task.params["dest"])
    return _absent(task, file) if task.params["state"] == "absent" else _present(task, file)


def _present(task: Task, file: KubeconfigFile) -> Result:
    file.must_have_its_folder()
    namespace, name = task.params["namespace"], task.params["name"]
    published = _published(task)
    there = file.read()
    found = KubeconfigEntries.of(there.content, namespace, name) if there else None
    if found and found.has_others and not (task.params["merge"] or task.params["backup"]):
        raise _others(file, found)
    if task.params["merge"]:
        file.must_be_no_link()
        if found:
            found.refuse_namesakes(file.path)
    kept = found if found and task.params["merge"] else KubeconfigEntries.of(b"", namespace, name)
    wanted = kept.with_own(published) if published else None
    same = bool(found and wanted == found.whole)
    said: dict[str, Any] = {"path": file.path, "mode": SHOWN_MODE, "context": name}
    if there is None:
        plan = Plan([Step("create", file.path, after={"mode": SHOWN_MODE})])
    elif same and there.mode == MODE:
        return Result(False, {"kubeconfig": said})
    else:
        before = {"mode": f"{there.mode:04o}", "content": "as published" if same else "another"}
        plan = Plan([Step("update", file.path, before=before, after={"mode": SHOWN_MODE, **CONTENT})])
    if task.check or wanted is None:
        return Result(True, {"kubeconfig": {**said, "predicted": True}}, plan)
    if there and found and found.has_others and task.params["backup"]:
        said["backup_file"] = file.keep(there, time.localtime())
    file.write(as_text(wanted).encode(), MODE)
    return Result(True, {"kubeconfig": said}, plan)


def _absent(task: Task, file: KubeconfigFile) -> Result:
    there = file.read()
    if there is None:
        return Result(False, {"kubeconfig": {}})
    namespace, name = task.params["namespace"], task.params["name"]
    found = KubeconfigEntries.of(there.content, namespace, name)
    if not found.has_own:
        left = f"{file.path} was left as it is: it holds nothing that was written there for {namespace}/{name}."
        return Result(False, {"kubeconfig": {}}, warnings=[left])
    if not found.has_others:
        if not task.check:
            file.remove()
        return Result(True, {"kubeconfig": {}}, Plan([Step("delete", file.path, before={"path": file.path})]))
    file.must_be_no_link()
    if not task.check:
        file.write(as_text(found.without_own()).encode(), there.mode)
    step = Step("update", file.path, before={"context": name}, after={"context": None})
    return Result(True, {"kubeconfig": {}}, Plan([step]))


def _published(task: Task) -> Published | None:
    """The kubeconfig; None in check mode when there is none yet."""
    namespace, name = task.params["namespace"], task.params["name"]
    seen = sight(task.kube, namespace, name, parts=(), may_lack=task.check)
    published = kubeconfig_of(task.kube, seen) if seen.cluster else None
    if published or task.check:
        return published
    what = "has not published a kubeconfig yet" if seen.cluster else "does not exist"
    raise Failure(
        "conflict" if seen.cluster else "not_found",
        f"The hosted cluster {namespace}/{name} {what}.",
        object=f"{namespace}/{name}",
        hint="Wait for its control plane with metalshift.maas.hosted_cluster.",
    )


def _others(file: KubeconfigFile, found: KubeconfigEntries) -> Failure:
    return Failure(
        "conflict",
        f"{file.path} was left as it is: it {found.others}.",
        object=file.path,
        reason="not ours",
        hint="Name another file as dest. merge: true puts a context into a kubeconfig, backup: true keeps a copy and "
        "replaces the file.",
    )


def main() -> None:
    run_as_module(SPEC, converge, "hosted_cluster_kubeconfig")


if __name__ == "__main__":
    main()
