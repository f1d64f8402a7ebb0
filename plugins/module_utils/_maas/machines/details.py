# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be told of machines beyond what people look for first.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine

HIDDEN = "HIDDEN"
EVENTS = 20

# All others are hidden: a power type that comes with the next MAAS may call its secret anything (IPMI's is k_g).
NO_SECRETS = frozenset(
    {
        "blade_id",
        "cipher_suite_id",
        "host_name",
        "instance_name",
        "lpar",
        "mac_address",
        "node_id",
        "node_outlet",
        "outlet_id",
        "power_address",
        "power_boot_type",
        "power_control",
        "power_driver",
        "power_hwaddress",
        "power_id",
        "power_off_mode",
        "power_partition_name",
        "power_port",
        "power_protocol",
        "power_user",
        "power_verify_ssl",
        "power_vm_name",
        "privilege_level",
        "project",
        "server_name",
        "system_id",
        "uuid",
        "workaround_flags",
    }
)


def interfaces(machine: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The network interfaces of a machine: what they are plugged into, and their addresses."""
    return [_interface(one) for one in machine.get("interface_set") or []]


def block_devices(machine: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The disks of a machine; sizes in bytes, as MAAS has them."""
    keys = ("name", "type", "size", "model", "serial", "id_path", "tags", "used_for")
    return [{key: one.get(key) for key in keys} for one in machine.get("blockdevice_set") or []]


def without_secrets(power_parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Power parameters as they may be shown."""
    return {
        key: value if key in NO_SECRETS or value in (None, "") else HIDDEN for key, value in power_parameters.items()
    }


class Details:
    """Reads what the listing of machines does not hold."""

    def __init__(self, maas: Client) -> None:
        self._maas = maas

    def of(self, machines: Sequence[Machine], gather: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The wished details of each machine, by its id."""
        found: dict[str, dict[str, Any]] = {machine["system_id"]: {} for machine in machines}
        for detail, read in (("interfaces", interfaces), ("block_devices", block_devices)):
            if detail in gather:
                for machine in machines:
                    found[machine["system_id"]][detail] = read(machine)
        if "power_parameters" in gather:
            for system_id, parameters in self._power_parameters(sorted(found)).items():
                found[system_id]["power_parameters"] = without_secrets(parameters)
        for detail, ask in self._one_by_one().items():
            if detail in gather:
                for system_id, answer in each(sorted(found), ask):
                    if isinstance(answer, Failure):
                        raise answer
                    found[system_id][detail] = answer
        return found

    def _one_by_one(self) -> Mapping[str, Callable[[str], list[dict[str, Any]]]]:
        return {"events": self._events, "results": self._results}

    def _power_parameters(self, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        try:
            return Machines(self._maas).power_parameters(ids)
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            raise Failure(
                "forbidden",
                "The power parameters cannot be gathered: this key may not read them.",
                hint="Use the key of an administrator, or leave power_parameters out of gather.",
                status=failure.status,
            ) from failure

    def _events(self, system_id: str) -> list[dict[str, Any]]:
        """The newest events, oldest first."""
        answer = self._maas.get("events/", {"id": system_id, "limit": EVENTS}, op="query")
        keys = ("created", "level", "type", "description", "username")
        return [{key: event.get(key) for key in keys} for event in reversed(answer["events"])]

    def _results(self, system_id: str) -> list[dict[str, Any]]:
        """The scripts that ran last, and how they ended. Not their output: it may hold secrets."""
        return [
            {
                "type": str(run.get("type_name") or "").lower(),
                "name": script.get("name"),
                "status": script.get("status_name"),
                "exit_status": script.get("exit_status"),
                "started": script.get("started"),
                "ended": script.get("ended"),
            }
            for run in self._maas.get(f"nodes/{system_id}/results/")
            for script in run.get("results") or []
        ]


def _interface(one: Mapping[str, Any]) -> dict[str, Any]:
    vlan = one.get("vlan") or {}
    return {
        **{key: one.get(key) for key in ("id", "name", "type", "mac_address", "enabled", "link_connected", "tags")},
        "parents": list(one.get("parents") or ()),
        "vlan": {key: vlan.get(key) for key in ("id", "vid", "name", "fabric", "mtu")} if vlan else None,
        "links": [
            {
                "id": link.get("id"),
                "mode": link.get("mode"),
                "ip_address": link.get("ip_address"),
                "subnet": (link.get("subnet") or {}).get("cidr"),
            }
            for link in one.get("links") or []
        ],
    }
