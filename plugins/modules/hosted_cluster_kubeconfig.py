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
  - The file is replaced in one step, and is at no moment readable for others. Its content is never shown, neither in
    the result nor as a difference.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_k8s
  - metalshift.maas.kubernetes
  - metalshift.maas.maas
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
    description: The file. Its folder must exist.
    type: path
    required: true
  state:
    description:
      - V(present) makes sure that the file holds the kubeconfig, with mode 0600.
      - V(absent) removes the file. Nothing is asked of the cluster.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.hosted_cluster_info
"""

EXAMPLES = r"""
- name: The kubeconfig beside the playbook
  metalshift.maas.hosted_cluster_kubeconfig:
    name: demo
    dest: "{{ playbook_dir }}/demo.kubeconfig"

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
"""

import os
import stat
import tempfile

from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._journey.gathering import kubeconfig_of, sight
from ansible_collections.metalshift.maas.plugins.module_utils._plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._task import Result, Task, run_as_module

MODE = 0o600

SPEC = Spec(
    kube=True,
    options={
        "namespace": {"type": "str", "default": "clusters"},
        "name": {"type": "str", "required": True},
        "dest": {"type": "path", "required": True},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    },
)


def converge(task: Task) -> Result:
    """Bring the file to the wished state."""
    path = os.path.abspath(task.params["dest"])
    if task.params["state"] == "absent":
        return _removed(task, path)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise invalid(f"dest is in a folder that does not exist: {folder}.", "Make the folder first.")
    if os.path.isdir(path):
        raise invalid(f"dest is a folder: {path}.", "Name the file in it.")
    text = _published(task)
    plan = _plan(path, text)
    said = {"kubeconfig": {"path": path, "mode": f"{MODE:04o}", **({"predicted": True} if task.check and plan else {})}}
    if plan and not task.check and text is not None:
        _write(path, text.encode())
    return Result(bool(plan), said, plan)


def _published(task: Task) -> str | None:
    """The kubeconfig; None in check mode when there is none yet."""
    namespace, name = task.params["namespace"], task.params["name"]
    seen = sight(task.kube, namespace, name, parts=())
    published = kubeconfig_of(task.kube, seen) if seen.cluster else None
    text = published.text(name) if published else ""
    if text or task.check:
        return text or None
    what = "has not published a kubeconfig yet" if seen.cluster else "does not exist"
    raise Failure(
        "conflict" if seen.cluster else "not_found",
        f"The hosted cluster {namespace}/{name} {what}.",
        object=f"{namespace}/{name}",
        hint="Wait for its control plane with metalshift.maas.hosted_cluster.",
    )


def _plan(path: str, text: str | None) -> Plan:
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        with open(path, "rb") as file:
            same = text is not None and file.read() == text.encode()
    except FileNotFoundError:
        return Plan([Step("create", path, after={"mode": f"{MODE:04o}"})])
    except OSError as error:
        raise invalid(f"dest cannot be read: {path} ({error.strerror}).") from None
    if same and mode == MODE:
        return Plan()
    before = {"mode": f"{mode:04o}", "content": "as published" if same else "another"}
    return Plan([Step("update", path, before=before, after={"mode": f"{MODE:04o}", "content": "as published"})])


def _write(path: str, content: bytes) -> None:
    """In a file beside it, which is the owner's alone from the beginning, and then in its place."""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=os.path.dirname(path))
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise invalid(f"dest cannot be written: {path} ({error.strerror}).") from None


def _removed(task: Task, path: str) -> Result:
    if not os.path.lexists(path):
        return Result(False, {"kubeconfig": {}})
    if not task.check:
        try:
            os.unlink(path)
        except OSError as error:
            raise invalid(f"dest cannot be removed: {path} ({error.strerror}).") from None
    return Result(True, {"kubeconfig": {}}, Plan([Step("delete", path, before={"path": path})]))


def main() -> None:
    run_as_module(SPEC, converge, "hosted_cluster_kubeconfig")


if __name__ == "__main__":
    main()
