#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""LXD servers as VM hosts of MAAS."""

from __future__ import annotations

DOCUMENTATION = r"""
module: vm_host
short_description: Register LXD servers as VM hosts of MAAS
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Makes sure that an LXD is a VM host of MAAS with this name, zone, pool, tags and over-commit, and that MAAS knows
    what it has room for; or that it is none.
  - A VM host is found by O(name), by O(power_address) and O(project), or by the O(machine) that it runs on. MAAS would
    register the same LXD again under each name.
  - A registration that MAAS could not make use of is taken back, with the reason in the error.
  - Each registration makes machines of the VMs that the project already has, and commissions them, which restarts them.
    Give MAAS a project of its own.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.wait
  - metalshift.maas.plan
options:
  name:
    description:
      - The name of the VM host. One that is found by its address or machine is renamed.
      - If not set, a new one is called as its O(machine), or by MAAS.
    type: str
  power_address:
    description:
      - Where MAAS's rack controllers reach the LXD, such as V(10.0.0.5), V(kvm1.example.com:8443) or
        V(https://[fd00::5]:8443).
      - If not set, a new VM host is reached at the address of its O(machine).
    type: str
  project:
    description:
      - The project of LXD that holds the VMs. A VM host stays with its project.
      - If not set, a new VM host gets V(maas). MAAS makes the project when it is missing.
    type: str
  machine:
    description:
      - The machine that LXD runs on, by hostname, FQDN, system_id or MAC address. It must be deployed.
      - A new VM host takes its name, address, zone and pool from it where the task says nothing.
    type: str
  certificate:
    description:
      - The certificate that MAAS shows to LXD, in PEM or as the path of a file.
      - If not set, a pair is made for a new VM host and kept by MAAS alone.
      - Another one than MAAS has takes its place, if LXD trusts it.
    type: str
  key:
    description: The key of O(certificate), in PEM without a passphrase, or as the path of a file.
    type: str
  make_certificate:
    description:
      - Whether certificate and key are made when the files that O(certificate) and O(key) name do not exist.
      - They are readable by their owner alone. Of a VM host that is registered already, they get what MAAS has.
    type: bool
    default: false
  password:
    description:
      - LXD's trust password, with which MAAS makes it trust the certificate. LXD 6 and later has none.
      - Used only as long as MAAS could not talk to the LXD.
    type: str
  token:
    description:
      - A trust token of that LXD in place of a password. It is good once.
      - Used only as long as MAAS could not talk to the LXD.
    type: str
  server_cert:
    description:
      - By what the LXD is known when the module asks it itself. Its certificate or that of the authority that signed
        it, in PEM or as the path of a file, or the SHA-256 fingerprint of its certificate.
      - With the certificate of MAAS, LXD is then asked for what MAAS does not know or not say. VMs that the project
        has already, the projects that the certificate is restricted to, storage pools, bridges, QEMU, and whether it
        is too new for MAAS.
      - If not set, only an LXD is asked that issued the O(token), which says by what it is known. An LXD that is not
        reached from where Ansible runs is not asked either. RV(vm_host.obstacles) is then what MAAS says.
    type: str
  zone:
    description: The availability zone, by name.
    type: str
  pool:
    description: The resource pool, by name. VMs get it too.
    type: str
  tags:
    description:
      - Tags that the VM host has, and that its VMs get.
      - Others stay, unless O(purge_tags=true). Tags that begin with C(maas-lxd-), which are the Cluster API provider's,
        always stay, and so does C(pod-console-logging), which MAAS gives to every VM host.
    type: list
    elements: str
  purge_tags:
    description: Whether the VM host has no other tags than O(tags).
    type: bool
    default: false
  cpu_over_commit_ratio:
    description: How many cores its VMs may have together, as a multiple of those of the host, from V(0) to V(10).
    type: float
  memory_over_commit_ratio:
    description: How much memory its VMs may have together, as a multiple of that of the host, from V(0) to V(10).
    type: float
  default_macvlan_mode:
    description: The mode of interfaces of VMs that have no bridge to be attached to.
    type: str
    choices: [bridge, passthru, private, vepa]
  default_storage_pool:
    description: The storage pool of LXD for disks that name none. A pool that is new to MAAS is looked for.
    type: str
  schedulable:
    description:
      - Whether new VMs may be placed there. V(false) leaves those that run alone; RV(vm_host.virtual_machines) lists
        them.
      - Kept in MAAS as the tags C(maas-lxd-host-noschedule) and C(maas-lxd-host-maintenance) of the machine under it,
        which the Cluster API provider for MAAS, M(metalshift.maas.vm_host_info) and people read alike.
      - MAAS itself does not read them. When nobody's machine fits what C(allocate) asks for, it may still compose a VM
        there.
      - V(true) is refused while the provider is emptying the host.
    type: bool
  existing_vms:
    description:
      - What is done when the project already has VMs that MAAS does not know. V(refuse) registers nothing, V(import)
        lets MAAS take them over and restart them.
      - They are known beforehand if LXD can be asked for them, see O(server_cert), or if it is a VM host already, with
        another project. The task warns of all that were taken over.
    type: str
    choices: [refuse, import]
    default: refuse
  vms:
    description:
      - What becomes of the VMs with O(state=absent). Without it, a VM host that has some is not removed.
      - V(delete) deletes them in MAAS and LXD, one by one, and ends before the VM host is removed if one cannot be.
      - V(keep) leaves them in LXD as they are. MAAS forgets them.
      - VMs that a hosted cluster uses, and locked ones, are never removed.
    type: str
    choices: [delete, keep]
  state:
    description:
      - V(present) makes sure that the VM host is registered and that VMs can be composed there.
      - V(absent) makes sure that MAAS has no such VM host. A machine that MAAS itself made for it goes too; one that
        was deployed stays as it is, without the tags of O(schedulable=false).
    type: str
    choices: [present, absent]
    default: present
  wait:
    description:
      - Whether the task waits until MAAS knows what the VM host has room for, which takes a moment longer than to
        register it. Before that, no VM can be composed there.
    type: bool
    default: true
  wait_timeout:
    description: How many seconds that may take.
    type: float
    default: 300.0
  wait_sleep:
    description: The initial polling interval in seconds. It grows while nothing changes.
    type: float
    default: 1.0
requirements:
  - cryptography, which comes with ansible-core
notes:
  - MAAS does not verify the certificate of the LXD. The module asks no LXD that it cannot verify.
  - Members of an LXD cluster cannot be told apart by MAAS's API. They are not removed.
seealso:
  - module: metalshift.maas.vm_host_info
  - module: metalshift.maas.machine
"""

EXAMPLES = r"""
- name: A deployed machine with LXD as a VM host, with a certificate that LXD trusts already
  metalshift.maas.vm_host:
    machine: node-1
    name: lxd-host-node-1
    project: maas
    certificate: /etc/metalshift/maas.crt
    key: /etc/metalshift/maas.key
    tags: [control-plane]
    cpu_over_commit_ratio: 4

- name: Another LXD, which is told by a token to trust MAAS
  metalshift.maas.vm_host:
    name: kvm1
    power_address: 10.0.0.5
    token: "{{ lxd_token }}"
    zone: az1
    pool: virtual

- name: No new VMs there, and which there are
  metalshift.maas.vm_host:
    name: kvm1
    schedulable: false
  register: closed

- name: Say it
  ansible.builtin.debug:
    msg: "{{ closed.vm_host.virtual_machines | default([], true) | map(attribute='name') | join(', ') }}"

- name: No VM host any more, once its VMs are gone
  metalshift.maas.vm_host:
    name: kvm1
    state: absent
"""

RETURN = r"""
vm_host:
  description: The VM host as it is now, or as it would be in check mode. Empty when it is absent.
  returned: success
  type: dict
  contains:
    id:
      description: The number by which MAAS knows it.
      type: int
    name:
      description: The name.
      type: str
    type:
      description: What it runs, as a rule V(lxd).
      type: str
    version:
      description: The version of LXD. Empty as long as MAAS could not talk to it.
      type: str
    architectures:
      description: The architectures of its VMs.
      type: list
      elements: str
    power_address:
      description: Where its LXD is. Only an administrator is told.
      type: str
    project:
      description: The project of LXD that holds its VMs. Only an administrator is told.
      type: str
    certificate_fingerprint:
      description: The fingerprint of the certificate that MAAS shows to LXD, as LXD lists it.
      type: str
    zone:
      description: The availability zone.
      type: str
    pool:
      description: The resource pool.
      type: str
    tags:
      description: The tags, sorted.
      type: list
      elements: str
    cpu_over_commit_ratio:
      description: The over-commit of cores.
      type: float
    memory_over_commit_ratio:
      description: The over-commit of memory.
      type: float
    default_macvlan_mode:
      description: The mode of macvlan interfaces.
      type: str
    default_storage_pool:
      description: The storage pool for disks that name none.
      type: str
    discovered:
      description: Whether MAAS could talk to its LXD.
      type: bool
    capacity:
      description:
        - Of C(cores), C(memory) in MiB and C(local_storage) in bytes, what the host has in C(total), what is C(used) by
          VMs of all projects, the C(limit) that over-commit allows, and what is C(available) of it.
        - One VM gets no more than C(total), whatever the limit.
      type: dict
      sample: {"cores": {"total": 16, "used": 4, "limit": 32, "available": 28}}
    storage_pools:
      description: The storage pools of LXD, with sizes in bytes.
      type: list
      elements: dict
    machine:
      description: The machine that it runs on, as far as MAAS knows it.
      type: dict
    schedulable:
      description: Whether new VMs may be placed there.
      type: bool
    virtual_machines:
      description: The VMs there, with who has them. Those of other projects are no machines of MAAS.
      type: list
      elements: dict
      contains:
        name:
          description: The name in LXD.
          type: str
        system_id:
          description: The machine in MAAS.
          type: str
        hostname:
          description: The hostname of the machine.
          type: str
        status_name:
          description: The status of the machine.
          type: str
        power_state:
          description: Whether it runs.
          type: str
        owner:
          description: The user of MAAS who holds it.
          type: str
        claim:
          description: The claim under which it is held.
          type: str
        hosted_cluster:
          description: The hosted cluster that uses it.
          type: str
        project:
          description: The project of LXD.
          type: str
        cores:
          description: The cores.
          type: int
        memory:
          description: The memory in MiB.
          type: int
    obstacles:
      description:
        - What keeps MAAS from composing VMs there, in sentences, as far as MAAS knows, and LXD where it can be asked.
      type: list
      elements: str
  sample:
    id: 3
    name: kvm1
    type: lxd
    version: 5.21.3
    power_address: 10.0.0.5
    project: maas
    zone: az1
    pool: virtual
    tags: [control-plane, pod-console-logging]
    capacity:
      cores: {total: 16, used: 4, limit: 32, available: 28}
      memory: {total: 65536, used: 8192, limit: 65536, available: 57344}
      local_storage: {total: 500000000000, used: 40000000000, limit: 500000000000, available: 460000000000}
    schedulable: true
    virtual_machines: []
    obstacles: []
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
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import WAIT_OPTIONS
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.fields import MACVLAN_MODES
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts.engine import VMHostEngine
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts.removal import VMHostRemovalEngine

SPEC = Spec(
    options={
        **{name: {"type": "str"} for name in ("name", "power_address", "project", "machine", "certificate")},
        "key": {"type": "str", "no_log": True},
        "make_certificate": {"type": "bool", "default": False},
        "password": {"type": "str", "no_log": True},
        "token": {"type": "str", "no_log": True},
        "server_cert": {"type": "str"},
        "zone": {"type": "str"},
        "pool": {"type": "str"},
        "tags": {"type": "list", "elements": "str"},
        "purge_tags": {"type": "bool", "default": False},
        "cpu_over_commit_ratio": {"type": "float"},
        "memory_over_commit_ratio": {"type": "float"},
        "default_macvlan_mode": {"type": "str", "choices": list(MACVLAN_MODES)},
        "default_storage_pool": {"type": "str"},
        "schedulable": {"type": "bool"},
        "existing_vms": {"type": "str", "choices": ["refuse", "import"], "default": "refuse"},
        "vms": {"type": "str", "choices": ["delete", "keep"]},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        **WAIT_OPTIONS,
        "wait_timeout": {"type": "float", "default": 300.0},
        "wait_sleep": {"type": "float", "default": 1.0},
    },
    required_one_of=[("name", "power_address", "machine")],
    required_together=[("certificate", "key")],
    mutually_exclusive=[("password", "token")],
    predictable=frozenset({"name", "machine"}),
)


def converge(task: Task) -> Result:
    """Bring the VM host to the wished state."""
    if task.params["state"] == "absent":
        return run(VMHostRemovalEngine(task), task)
    return run(VMHostEngine(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "vm_host")


if __name__ == "__main__":
    main()
