#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an LXD is and has."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lxd_info
short_description: Tell what an LXD is and what it has
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Reads the version of an LXD, what it can do, whether it trusts the client certificate, and what it has.
  - Each subset is one request, V(storage_pools) one more for each pool, V(trust) two.
extends_documentation_fragment:
  - metalshift.maas.attributes.info
  - metalshift.maas.attributes.actiongroup_lxd
  - metalshift.maas.lxd
  - metalshift.maas.lxd.alone
options:
  gather:
    description:
      - What to read besides the version.
      - V(containers), V(virtual_machines) and V(instances), which are both, and V(images), V(networks) and V(profiles)
        are those of O(lxd_project). V(all_instances) are those of all projects that we may see.
      - V(all) means everything.
      - What the client certificate may not see, or this LXD does not have, is null. An LXD that does not trust the
        client certificate at all tells its version only if the list is empty.
    type: list
    elements: str
    choices:
      - all
      - all_instances
      - containers
      - images
      - instances
      - networks
      - profiles
      - projects
      - resources
      - server
      - storage_pools
      - trust
      - virtual_machines
      - warnings
    default: [networks, profiles, projects, server, storage_pools]
seealso:
  - module: metalshift.maas.lxd_trust
"""

EXAMPLES = r"""
- name: Look around
  metalshift.maas.lxd_info:
    lxd_endpoint: https://lxd.example.com:8443
    lxd_client_cert: ~/.config/lxc/client.crt
    lxd_client_key: ~/.config/lxc/client.key
    lxd_server_cert: 8184c72a70a794b3126a1730e52433f40e1ebe27c6bad687edfdb101772f8547
  register: around

- name: Stop if it cannot run virtual machines
  ansible.builtin.assert:
    that: "'qemu' in around.lxd.drivers"

- name: Who is trusted by the LXD on this machine
  metalshift.maas.lxd_info:
    lxd_endpoint: unix://
    gather: [trust]
"""

RETURN = r"""
lxd:
  description:
    - The LXD, with a key for each subset that was read. The lists are as LXD gives them, passwords hidden.
  returned: success
  type: dict
  contains:
    version:
      description: The version; null if the client certificate is not trusted.
      type: str
      sample: 5.0.2
    trusted:
      description: Whether LXD trusts the client certificate.
      type: bool
    restricted:
      description: Whether it shows and allows the client certificate no more than some projects.
      type: bool
    clustered:
      description: Whether it is a member of a cluster.
      type: bool
    project:
      description: The project that was asked about.
      type: str
      sample: default
    drivers:
      description: What can run instances, with its version. V(lxc) runs containers, V(qemu) virtual machines.
      type: dict
      sample: {"lxc": "5.0.2", "qemu": "7.2.22"}
    storage_drivers:
      description: What storage pools can be made of, with its version.
      type: dict
      sample: {"btrfs": "6.2", "dir": "1"}
    abilities:
      description: What this LXD can do, of what differs between versions. It is told by its API extensions.
      type: dict
      sample: {"projects": true, "boot modes of instances": false}
    api_extensions:
      description: All its API extensions. Only with V(server) among O(gather).
      type: list
      elements: str
    server:
      description: The settings and the environment of the server.
      type: dict
      sample: {"config": {"core.https_address": "[::]:8443"}, "environment": {"server_name": "node-1"}}
    resources:
      description: The hardware of the server.
      type: dict
    storage_pools:
      description: The storage pools, each with the room in it as C(resources).
      type: list
      elements: dict
    networks:
      description: The networks, those that LXD does not manage among them.
      type: list
      elements: dict
    projects:
      description: The projects.
      type: list
      elements: dict
    profiles:
      description: The profiles.
      type: list
      elements: dict
    images:
      description: The images.
      type: list
      elements: dict
    all_instances:
      description: The containers and the virtual machines of all projects.
      type: list
      elements: dict
    instances:
      description: The containers and the virtual machines.
      type: list
      elements: dict
    containers:
      description: The containers.
      type: list
      elements: dict
    virtual_machines:
      description: The virtual machines.
      type: list
      elements: dict
    trust:
      description:
        - The certificates that are trusted as C(certificates), and what is known of the tokens that nobody has used
          yet as C(tokens). What makes them tokens is not told.
      type: dict
    warnings:
      description: What LXD warns of.
      type: list
      elements: dict
"""

from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._lxd import overview

EVERYTHING = sorted({*overview.SUBSETS, *overview.MORE})
DEFAULT = ["networks", "profiles", "projects", "server", "storage_pools"]

SPEC = Spec(
    writes=False,
    options={"gather": {"type": "list", "elements": "str", "choices": ["all", *EVERYTHING], "default": DEFAULT}},
    maas=False,
    lxd=True,
)


def converge(task: Task) -> Result:
    """Tell what the LXD is and has."""
    wished = set(task.params["gather"])
    names = EVERYTHING if "all" in wished else sorted(wished)
    lxd: dict[str, Any] = overview.itself(task.lxd)
    for name, value in each(names, lambda name: overview.read(task.lxd, name)):
        if isinstance(value, Failure):
            raise value
        lxd[name] = value
    if "server" in names:
        lxd["api_extensions"] = sorted(task.lxd.capabilities.extensions)
    return Result(changed=False, values={"lxd": lxd})


def main() -> None:
    run_as_module(SPEC, converge, "lxd_info")


if __name__ == "__main__":
    main()
