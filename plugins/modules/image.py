#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom images of MAAS."""

from __future__ import annotations

DOCUMENTATION = r"""
module: image
short_description: Manage custom images of MAAS
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Uploads images for machines that MAAS does not import from a stream, such as those of CoreOS, and removes them.
  - An image is known by its content. The same file is not sent again, and an upload that was interrupted continues
    where it ended, also that of another run.
  - The file is read where the module runs, and is sent in pieces of 4 MiB. MAAS compares the whole with its hash.
  - It needs the API key of an administrator.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  name:
    description:
      - The name of the image, such as V(rhcos-4-20). C(distro_series=custom/rhcos-4-20) deploys machines with it.
      - V(custom/rhcos-4-20) is the same name.
    type: str
    required: true
  path:
    description:
      - The file with the image. Required for O(state=present).
      - A file with other content replaces what MAAS has. Machines that were deployed before keep what they have.
    type: path
  architecture:
    description: The architecture that the image is for, such as V(amd64) or V(arm64/generic).
    type: str
    default: amd64/generic
    aliases: [arch]
  filetype:
    description:
      - What the file is, in the words of MAAS. C(dd…) is the image of a whole disk, the others are archives of files.
      - If not set, the end of the file's name decides. C(.tar.gz), C(.tar.bz2) and C(.tar.xz) are archives; C(.gz),
        C(.bz2), C(.xz), C(.raw) and C(.img) are images of disks.
    type: str
    choices: [tgz, tbz, txz, ddraw, ddgz, ddbz2, ddxz, ddtar, ddtgz, ddtbz, ddtxz]
  title:
    description: The title of the image. MAAS sets it with an upload only.
    type: str
  base_image:
    description:
      - The operating system and release that the image is made of, such as V(ubuntu/jammy). If not set, MAAS takes the
        release with which it commissions. MAAS sets it with an upload only.
    type: str
  state:
    description:
      - V(present) makes sure that MAAS has this content completely.
      - V(absent) removes the image. It is not removed while a machine is deployed with it.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.machine
  - module: metalshift.maas.machine_set
"""

EXAMPLES = r"""
- name: An image of CoreOS
  metalshift.maas.image:
    name: rhcos-4-20
    path: /srv/images/rhcos-4.20-metal.x86_64.raw.gz
    title: RHCOS 4.20

- name: No old image
  metalshift.maas.image:
    name: rhcos-4-18
    state: absent
"""

RETURN = r"""
image:
  description:
    - The image as it is now, or as it would be in check mode. Empty when it is absent.
    - C(size) and C(sha256) are those of its newest content, C(complete) is whether all of that has arrived.
  returned: success
  type: dict
  sample:
    id: 12
    name: rhcos-4-20
    architecture: amd64/generic
    title: RHCOS 4.20
    base_image: ubuntu/jammy
    size: 1258291200
    sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
    complete: true
    last_deployed:
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

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import run
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.images.engine import ImageEngine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.images.pure.spec import CHOICES

SPEC = Spec(
    options={
        "name": {"type": "str", "required": True},
        "path": {"type": "path"},
        "architecture": {"type": "str", "default": "amd64/generic", "aliases": ["arch"]},
        "filetype": {"type": "str", "choices": list(CHOICES)},
        "title": {"type": "str"},
        "base_image": {"type": "str"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    }
)


def converge(task: Task) -> Result:
    """Bring the image to the wished state."""
    return run(ImageEngine(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "image")


if __name__ == "__main__":
    main()
