# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a VM is to be like, where it may go, and who makes it."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of modules that make VMs."""

    DOCUMENTATION = r"""
options:
  cores:
    description:
      - The number of cores. A new VM has one if this is not set.
    type: int
    aliases: [cpu]
  pinned:
    description:
      - Whether a VM gets cores of its host for itself, as many as O(cores) and such as no other VM is pinned to.
    type: bool
    default: false
  memory:
    description:
      - The memory, such as V(16GiB), or a number of MiB. A new VM has 2 GiB if this is not set, and 1 GiB at least.
    type: str
  hugepages:
    description: Whether the memory of a new VM is backed by huge pages of its host.
    type: bool
    default: false
  disks:
    description:
      - The disks, the first of which is booted from. A new VM has one of 8 GB if this is not set.
    type: list
    elements: dict
    suboptions:
      size:
        description: The size, such as V(40GB), or a number of GB.
        type: str
        required: true
      pool:
        description: The storage pool of the host. If not set, its default one.
        type: str
      tags:
        description:
          - Tags that MAAS gives to the disk, by which storage layouts and constraints find it. They need O(via=maas).
        type: list
        elements: str
  zone:
    description: The zone of the machine in MAAS. A new VM has that of its host if this is not set.
    type: str
  pool:
    description: The resource pool of the machine in MAAS. A new VM has that of its host if this is not set.
    type: str
  domain:
    description: The DNS domain of the machine in MAAS. A new VM has the default one if this is not set.
    type: str
  tags:
    description: Tags that the machine has in MAAS. Those that it has besides stay.
    type: list
    elements: str
  hosts:
    description: The hosts that a new VM may go to, by name. If not set, all.
    type: list
    elements: str
  host_zones:
    description: The zones whose hosts a new VM may go to.
    type: list
    elements: str
  host_pools:
    description: The resource pools whose hosts a new VM may go to.
    type: list
    elements: str
  host_tags:
    description: Tags that a host must have, all of them, for a new VM to go there.
    type: list
    elements: str
  not_host_tags:
    description: Tags of which a host must have none for a new VM to go there.
    type: list
    elements: str
  via:
    description:
      - V(maas) lets a VM host of MAAS compose the VM.
      - V(lxd) makes the VM in the LXD of the chosen host and adds it to MAAS as a machine with the power type C(lxd),
        which comes to the same for whoever uses it. It needs O(lxd_hosts), or O(lxd_endpoint) for one host alone, and
        works with every MAAS, those after 3.8 without VM hosts among them.
      - V(auto) is V(lxd) where O(lxd_hosts) names hosts that MAAS has not as VM hosts, or where MAAS has none at all
        and O(lxd_hosts) or O(lxd_endpoint) is given. Otherwise it is V(maas).
      - What one way made, the other finds by its hostname. Removing it whole takes the way that knows its host.
    type: str
    choices: [auto, maas, lxd]
    default: auto
  lxd_hosts:
    description:
      - The hosts for O(via=lxd). Their zone, pool, tags and networks are those of the machine that MAAS has under the
        same name, and so are the tags by which M(metalshift.maas.vm_host) closes a host to new VMs.
      - Each is reached with O(lxd_client_cert) and O(lxd_client_key), which MAAS is given too, for it switches the VM.
    type: list
    elements: dict
    suboptions:
      name:
        description: The name of the host, as a rule the hostname of its machine in MAAS.
        type: str
        required: true
      endpoint:
        description: The URL of its LXD, as O(lxd_endpoint).
        type: str
        required: true
      server_cert:
        description: By what its LXD is known, as O(lxd_server_cert), which holds if this is not set.
        type: str
      project:
        description: The project of LXD, as O(lxd_project), which holds if this is not set.
        type: str
      power_address:
        description: Where MAAS reaches its LXD, if that is not O(lxd_hosts[].endpoint).
        type: str
      cpu_over_commit_ratio:
        description: How many times the cores may be promised to VMs.
        type: float
        default: 1.0
      memory_over_commit_ratio:
        description: How many times the memory may be promised to VMs.
        type: float
        default: 1.0
"""
