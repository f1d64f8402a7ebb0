# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines of a MAAS as an inventory."""

from __future__ import annotations

DOCUMENTATION = r"""
name: machines
short_description: Machines of a MAAS as hosts
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Makes a host of each machine of a MAAS, with its address, its user, what MAAS says of it, and groups.
  - The file ends with C(maas.yml) or C(maas.yaml).
  - It takes one listing of machines, and one of VM hosts. MAAS filters, so that a small part of many machines is fast.
options:
  plugin:
    description: The name of this plugin.
    type: str
    required: true
    choices: [metalshift.maas.machines]
  maas_endpoint:
    description: The URL of MAAS, such as V(https://maas.example.com:5443/MAAS).
    type: str
    env:
      - name: MAAS_ENDPOINT
      - name: MAAS_API_URL
  maas_api_key:
    description: An API key of a MAAS user, in one piece as MAAS shows it.
    type: str
    env:
      - name: MAAS_API_KEY
  maas_ca_cert:
    description: A file with the certificates of the authorities to trust, or a folder of them.
    type: path
    env:
      - name: MAAS_CA_CERT
  maas_validate_certs:
    description: Whether the server's certificate is verified.
    type: bool
    default: true
  maas_timeout:
    description: How many seconds MAAS may take for one answer, from its first byte to its last.
    type: float
    default: 60.0
  status:
    description: Only machines in one of these statuses, such as V(deployed) or V(failed_testing).
    type: list
    elements: str
  zones:
    description: Only machines in one of these availability zones.
    type: list
    elements: str
  pools:
    description: Only machines in one of these resource pools.
    type: list
    elements: str
  tags:
    description: Only machines that have all of these tags.
    type: list
    elements: str
  not_tags:
    description: Only machines that have none of these tags.
    type: list
    elements: str
  claim:
    description: Only machines under this claim of M(metalshift.maas.machine_set).
    type: str
  hosted_cluster:
    description: Only machines of this hosted cluster, as V(namespace/name).
    type: str
  hostnames:
    description: By which of its names a host is called. The first that a machine has counts.
    type: list
    elements: str
    choices: [hostname, fqdn, system_id]
    default: [hostname, fqdn, system_id]
  preferred_subnets:
    description:
      - Subnets such as V(10.0.0.0/24). C(ansible_host) is the address of a machine in the first of them in which it has
        one, and its first address otherwise.
    type: list
    elements: str
    default: []
  users:
    description:
      - C(ansible_user) by the operating system of a deployed machine, or by the name of its image.
      - C(ubuntu) of Ubuntu, and C(cloud-user) of CentOS and RHEL, need not be named.
    type: dict
    default: {}
  ready_groups:
    description:
      - Whether there are groups for each status, zone, pool, tag, claim, hosted cluster and node pool, for the machines
        under VM hosts (C(vm_hosts)), and for the VMs on each VM host. They are called C(status_deployed), C(zone_az1),
        C(pool_default), C(tag_gpu), C(claim_web), C(hosted_cluster_clusters_demo), C(node_pool_workers), C(on_kvm1).
    type: bool
    default: true
  prefix:
    description: What the names of the variables that hold what MAAS says begin with.
    type: str
    default: maas_
extends_documentation_fragment:
  - constructed
  - inventory_cache
notes:
  - What MAAS says of a machine is foreign text. It is never taken for a template.
seealso:
  - module: metalshift.maas.machine_info
"""

EXAMPLES = r"""
# The deployed machines of a claim, by their address in one subnet, in groups by architecture.
# MAAS_ENDPOINT and MAAS_API_KEY are set.
plugin: metalshift.maas.machines
status: [deployed]
claim: web
preferred_subnets: [10.99.0.0/24]
users:
  rhcos-4-20: core
keyed_groups:
  - key: maas_architecture
    prefix: arch
compose:
  gigabytes: maas_memory // 1024
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import did_you_mean
from ansible_collections.metalshift.maas.plugins.module_utils._maas.claims.pure.holders import CLUSTER
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import MaasConnection
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, shown
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure import hosts
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.filters import query_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import STATUS_OF_WORD
from ansible_collections.metalshift.maas.plugins.module_utils._maas.named.tags import refuse_unknown
from ansible_collections.metalshift.maas.plugins.plugin_utils._foreign import foreign

Machine = dict[str, Any]

# What MAAS filters by, of all that it can.
ASKED = ("status", "zones", "pools", "tags", "not_tags", "claim")
CONNECTION = ("maas_endpoint", "maas_api_key", "maas_ca_cert", "maas_validate_certs", "maas_timeout")


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):  # type: ignore[misc]
    """Reads the machines, or what the cache has of them, and makes hosts of them."""

    NAME = "metalshift.maas.machines"

    def verify_file(self, path: str) -> bool:
        return bool(super().verify_file(path)) and path.endswith(("maas.yml", "maas.yaml"))

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        try:
            self._fill(self._cached(path, cache))
        except Failure as failure:
            raise AnsibleParserError(str(failure)) from None

    # -- reading ----------------------------------------------------------------------------------------------------

    def _cached(self, path: str, cache: bool) -> list[Machine]:
        key = self.get_cache_key(path)
        if self.get_option("cache") and cache:
            try:
                return list(self._cache[key])
            except KeyError:
                cache = False
        machines = self._machines()
        if self.get_option("cache") and not cache:
            self._cache[key] = machines
        return machines

    def _machines(self) -> list[Machine]:
        """As results of modules show them, and which VM host each is on or under."""
        params = {name: self.get_option(name) for name in CONNECTION}
        maas = Client(MaasConnection.from_params(params, os.environ))
        under = _vm_hosts(maas)
        cluster = self.get_option("hosted_cluster")
        found = [
            {
                **shown(machine),
                "vm_host": (machine.get("pod") or {}).get("name"),
                "carries": under.get(machine["system_id"]),
            }
            for machine in Machines(maas).listed(**self._query(maas))
        ]
        return [
            machine
            for machine in found
            if not cluster or (machine["workload_annotations"] or {}).get(CLUSTER) == cluster
        ]

    def _query(self, maas: Client) -> dict[str, Any]:
        options = {name: self.get_option(name) for name in ASKED}
        for word in options["status"] or ():
            _check_status(word)
        refuse_unknown(maas, {"not_tags": options["not_tags"] or ()})
        return query_of(options)

    # -- making hosts -----------------------------------------------------------------------------------------------

    def _fill(self, machines: Sequence[Machine]) -> None:
        preferred = hosts.networks_of(self.get_option("preferred_subnets"))
        for machine in machines:
            self._add(hosts.name_of(machine, self.get_option("hostnames")), machine, preferred)

    def _add(self, name: str, machine: Mapping[str, Any], preferred: Sequence[hosts.Network]) -> None:
        self.inventory.add_host(name)
        own = {
            "ansible_host": hosts.address_of(machine, preferred),
            "ansible_user": hosts.user_of(machine, self.get_option("users")),
        }
        said = {f"{self.get_option('prefix')}{key}": value for key, value in machine.items()}
        for key, value in {**said, **{key: value for key, value in own.items() if value}}.items():
            self.inventory.set_variable(name, key, foreign(value))
        if self.get_option("ready_groups"):
            for group in hosts.groups_of(machine):
                self.inventory.add_child(self.inventory.add_group(self._sanitize_group_name(group)), name)
        self._construct(name)

    def _construct(self, name: str) -> None:
        variables, strict = self.inventory.hosts[name].get_vars(), self.get_option("strict")
        self._set_composite_vars(self.get_option("compose"), variables, name, strict=strict)
        self._add_host_to_composed_groups(self.get_option("groups"), variables, name, strict=strict)
        self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, name, strict=strict)


def _check_status(word: str) -> None:
    if word not in STATUS_OF_WORD:
        hint = did_you_mean(word, STATUS_OF_WORD, otherwise="Name them as machine_info does, such as failed_testing.")
        raise invalid(f"status: {word} is not a status of machines.", hint)


def _vm_hosts(maas: Client) -> dict[str, str]:
    """The names of VM hosts, by the machines that they run on; none where MAAS has no VM hosts any more."""
    try:
        listed = maas.get("vm-hosts/")
    except Failure as failure:
        if failure.status != 410:
            raise
        return {}
    return {host["host"]["system_id"]: host["name"] for host in listed if (host.get("host") or {}).get("system_id")}
