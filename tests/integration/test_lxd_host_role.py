# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role lxd_host says of an LXD that it finds, where that of the lab cannot be brought to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from integration.harness import made_of_role

EXTENSIONS = ["projects", "virtual-machines", "custom_block_volumes"]
MACHINE = {
    "status_name": "Deployed",
    "pool": "kvm",
    "ip_addresses": ["10.0.0.5"],
    "interfaces": [{"type": "bridge", "name": "br0"}],
}
ENVIRONMENT = {"server_version": "5.21.3", "driver": "qemu", "server_clustered": False}
VMS = [
    {"name": "old-1", "type": "virtual-machine", "project": "maas"},
    {"name": "web", "type": "container", "project": "maas"},
    {"name": "other", "type": "virtual-machine", "project": "default"},
]


def a_host(*, extensions: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """What tasks/look.yml finds on a machine on which nothing is in the way."""
    server = {
        "api_extensions": [*EXTENSIONS, *extensions],
        "environment": {**ENVIRONMENT, **more.pop("environment", {})},
    }
    lxd = {"server": server, "resources": {}, "pools": [], "projects": [], "certificates": [], "instances": []}
    return {
        "ansible_facts": {"distribution": "Debian", "pkg_mgr": "apt", "interfaces": ["br0"], "env": {}},
        "lxd_host_bridge": "br0",
        "lxd_host_machine": "kvm-1",
        "lxd_host__files": {
            "stdout_lines": ["/dev/kvm", "/dev/vhost-vsock", "/usr/bin/lxd", "/var/lib/lxd/unix.socket"]
        },
        "lxd_host__listeners": {"stdout": ""},
        "lxd_host__machines": {"machines": [MACHINE]},
        "lxd_host__vm_hosts": {"vm_hosts": more.pop("vm_hosts", [])},
        "lxd_host__recorded": {},
        "lxd_host__lxd": {**lxd, "instances": more.pop("instances", [])},
        **more,
    }


def obstacles(folder: Path, *hosts: dict[str, Any]) -> list[list[str]]:
    return made_of_role(folder, "lxd_host", hosts, "{{ lxd_host__obstacles }}")


def test_members_of_a_cluster_are_refused(tmp_path: Path) -> None:
    alone, member = obstacles(tmp_path, a_host(), a_host(environment={"server_clustered": True}))
    assert alone == []
    assert member == ["Its LXD is a member of a cluster, and MAAS's API cannot tell members apart."]


def test_an_lxd_in_which_maas_cannot_compose_is_refused_unless_nothing_is_proven(tmp_path: Path) -> None:
    new = {"extensions": ("instance_boot_mode",), "environment": {"server_version": "6.7"}}
    refused, *taken = obstacles(
        tmp_path, a_host(**new), a_host(**new, lxd_host_proof=False), a_host(**new, lxd_host_register=False)
    )
    (said,) = refused
    assert said.startswith("LXD 6.7 is too new for MAAS to compose virtual machines there.")
    assert taken == [[], []]


def test_vms_that_maas_would_take_are_named_unless_they_are_to_be_imported(tmp_path: Path) -> None:
    ours = [{"project": "maas", "virtual_machines": [{"name": "old-1"}]}]
    refused, *taken = obstacles(
        tmp_path,
        a_host(instances=VMS),
        a_host(instances=VMS, lxd_host_existing_vms="import"),
        a_host(instances=VMS, lxd_host_register=False),
        a_host(instances=VMS, vm_hosts=ours),
    )
    (said,) = refused
    assert "The project maas has virtual machines that MAAS does not know (old-1), and MAAS would restart them." in said
    assert taken == [[], [], []]
