# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said to be in the way of a machine that is to become an LXD host."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.checks import (
    APT_LIBRARY,
    JUDGES,
    judge,
)
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.spec import HostSpec
from unit.lxd_host.machines import FILES, MACHINE, a_host, an_lxd, obstacles


def without(*paths: str) -> list[str]:
    return [each for each in FILES if each not in paths]


NO_LXD = {"files": without("/usr/bin/lxd", "/var/lib/lxd/unix.socket"), "server": None}
SNAP_PROGRAM = "/usr/bin/snap"
SNAPPED = ["lxd  5.21.3-c5ae129  33110  5.21/stable  canonical  -"]
POOL = {"name": "default", "driver": "btrfs", "config": {"source": "uuid", "volatile.initial_source": "/dev/sda"}}
DISK = {"exists": True, "is_block": True, "devices": [{"name": "/dev/sdb", "type": "disk", "mountpoint": None}]}
ON_DISK = {"storage_driver": "btrfs", "storage_source": "/dev/sdb"}
DATA = {**DISK, "signatures": ["ext4 precious"]}
PARTED = {**DISK, "devices": [*DISK["devices"], {"name": "/dev/sdb1", "type": "part"}]}
USED = {
    **DISK,
    "devices": [{"name": "/dev/sdb", "type": "disk", "mountpoint": "/srv"}, {"name": "vg-lv", "type": "lvm"}],
}
VMS = [
    {"name": "old-1", "type": "virtual-machine", "project": "maas"},
    {"name": "web", "type": "container", "project": "maas"},
    {"name": "other", "type": "virtual-machine", "project": "default"},
]
OURS = [{"name": "kvm-1", "project": "maas"}]
NEW = {"server": an_lxd(extensions=("instance_boot_mode",), server_version="6.7")}
SILENT = {"server": None}
RESOURCES = {"resources": {"cpu": {"total": 8}, "memory": {"total": 8 << 30}}}
IPTABLES = "-P INPUT ACCEPT\n-P FORWARD DROP\n-A FORWARD -j DOCKER-USER\n"
NFT = """\
table inet filter {
	chain forward {
		type filter hook forward priority filter; policy drop;
		iifname "br0" oifname "%s" counter packets 0 bytes 0 accept
	}
}
"""
UFW = {"ufw": "Status: active\nTo Action From"}
FIREWALLD = {"firewalld": "running", "forwards": True}

Case = tuple[str, dict[str, Any], dict[str, Any], str]

# The check, what is wanted, what is found, and what is said then.
FAILED: list[Case] = [
    ("python", {}, {"python": "3.8.10"}, "Its Python is 3.8.10, and the modules that run there need 3.10"),
    ("kvm", {}, {"files": without("/dev/kvm")}, "There is no /dev/kvm. Switch virtualisation on"),
    ("vsock", {}, {"files": without("/dev/vhost-vsock")}, "no module vhost_vsock"),
    ("port", {"port": 22}, {"listeners": 'users:(("sshd"))'}, 'Something else listens on port 22: users:(("sshd"))'),
    ("one LXD", {"install": "snap"}, {}, "LXD is there already as a package, and lxd_host_install is snap."),
    ("one LXD", {}, {"distribution": "Ubuntu"}, "and lxd_host_install is snap."),
    ("an LXD", {"install": "none"}, NO_LXD, "There is no LXD, and lxd_host_install is none."),
    ("LXD answers", {}, SILENT, "so that nobody knows what it has. Start it: systemctl start lxd."),
    ("LXD answers", {}, {**SILENT, "record": ["packages lxd", "pool default"]}, "LXD is there, but does not answer"),
    ("snapd", {"install": "snap"}, NO_LXD, "There is no snapd."),
    ("snap channel", {"snap_channel": "5.0/stable"}, {"snaps": SNAPPED}, "LXD 5.21.3 is there, and does not go back"),
    ("packages", {"install": "package"}, {"pkg_mgr": "dnf"}, "knows Debian's packages alone"),
    ("python3-apt", {}, {"files": without(APT_LIBRARY)}, "It lacks the package python3-apt"),
    ("no cluster", {}, {"server": an_lxd(server_clustered=True)}, "Its LXD is a member of a cluster"),
    ("LXD is new enough", {}, {"server": {"environment": {"server_version": "3.0"}}}, "LXD 3.0 is too old for MAAS"),
    ("LXD is old enough", {}, NEW, "LXD 6.7 is too new for MAAS to compose virtual machines there."),
    ("listening address", {}, {"server": an_lxd(address="10.0.0.5:8443")}, "listens on 10.0.0.5:8443 for somebody"),
    (
        "storage driver",
        {},
        {"pools": [POOL]},
        "is there already with the driver btrfs, and LXD cannot change that to dir",
    ),
    ("storage size", {"storage_driver": "zfs", "storage_size": "a lot"}, {}, "storage_size is a lot, which is no size"),
    ("memory kept back", {"reserved_memory": "some"}, {}, "lxd_host_reserved_memory is some, which is no size"),
    ("size of a folder", {"storage_size": "1GiB"}, {}, "A pool with the driver dir has no size."),
    ("size of a disk", {**ON_DISK, "storage_size": "1GiB"}, {"disk": DISK}, "A pool on a disk or partition takes all"),
    (
        "free space",
        {"storage_driver": "zfs", "storage_size": "2GiB"},
        {"free": 1 << 30},
        "have 2GiB, and 1.00 GB are free",
    ),
    ("disk", ON_DISK, {"disk": {"exists": False}}, "There is no /dev/sdb."),
    ("disk in use", ON_DISK, {"disk": USED}, "/dev/sdb is in use (mounted on /srv, vg-lv)."),
    ("data on the disk", ON_DISK, {"disk": DATA}, "/dev/sdb is not empty (ext4)."),
    ("data on the disk", ON_DISK, {"disk": PARTED}, "/dev/sdb is not empty (/dev/sdb1)."),
    (
        "source of the pool",
        ON_DISK,
        {"pools": [POOL]},
        "is there already on /dev/sda, and LXD cannot move it to /dev/sdb",
    ),
    ("bridge", {"bridge": "br9"}, {}, "It has no bridge br9, and MAAS knows br0 there."),
    (
        "bridge in MAAS",
        {},
        {"machine": {**MACHINE, "interfaces": []}},
        "(it knows none there), and would attach virtual",
    ),
    ("netplan", {"bridge": "br9", "bridge_create": True}, {}, "There is no netplan to make the bridge br9 with."),
    ("netplan's files", {}, {"bridge_problem": "They are broken."}, "They are broken."),
    (
        "addresses on the port",
        {},
        {"bridge_port": "eth0", "cut_off": ["the address a", "b"]},
        "eth0 (the address a, b)",
    ),
    ("forwarding", {}, {"bridged": "1", "rules": [IPTABLES]}, "iptables -I FORWARD -i br0 -o br0 -j ACCEPT"),
    ("forwarding", {}, {"bridged": "1", "rules": [NFT % "br1"]}, "Its firewall sees what the bridge br0 forwards"),
    ("forwarding", {"firewall": False}, {"bridged": "1", "rules": [IPTABLES], **UFW}, "with lxd_host_firewall."),
    ("forwarding", {}, {"bridged": "1", **FIREWALLD, "forwards": False}, "has --add-forward"),
    ("forwarding", {"firewall": False}, {"bridged": "1", **FIREWALLD}, "with lxd_host_firewall."),
    ("forwarding", {}, {"bridged": "1", "rules": ["-P FORWARD ACCEPT\n-A FORWARD -j REJECT --x\n"]}, "drops it"),
    (
        "allowed networks",
        {"allowed_from": ["10.0.0.0/8", "rack-1", "::/0"]},
        {},
        "has rack-1, ::/0, which is no network",
    ),
    ("paths of the key pair", {}, {"relative": ["maas.key"]}, "maas.key is a relative path"),
    ("key pair", {}, {"pair": ["/k/maas.crt"]}, "Of the certificate and its key, only /k/maas.crt is there."),
    ("machine in MAAS", {}, {"machine": None}, "MAAS does not know the machine kvm-1."),
    ("deployed", {}, {"machine": {**MACHINE, "status_name": "Ready"}}, "MAAS calls it Ready. Deploy it first."),
    (
        "VMs of others",
        {},
        {"instances": VMS},
        "virtual machines that MAAS does not know (old-1), and MAAS would restart",
    ),
    (
        "resource pool",
        {"kubernetes_node": "n", "pool": "default"},
        {},
        "Cluster API's provider takes no host from there",
    ),
    ("kubeconfig", {"kubeconfig": True}, {}, "lxd_host_kubeconfig is for a node of Kubernetes."),
    ("left for VMs", {"reserved_cores": 8}, RESOURCES, "leave nothing for virtual machines"),
    ("left for VMs", {"reserved_memory": "8GiB"}, RESOURCES, "leave nothing for virtual machines"),
    (
        "node of Kubernetes",
        {"kubeconfig": True, "kubernetes_node": "n"},
        {"node_found": False},
        "Kubernetes has no node n.",
    ),
]
# What is near to that, and fine.
FINE: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({}, {"python": ""}),
    ({}, {"files": without("/dev/vhost-vsock"), "vsock": True}),
    ({}, {"listeners": 'users:(("lxd"))'}),
    ({"install": "none"}, {}),
    ({}, NO_LXD),
    ({}, {**SILENT, "record": ["packages lxd lxd-client"]}),
    ({"snap_channel": "6/stable"}, {"snaps": SNAPPED}),
    ({"snap_channel": "latest/stable"}, {"snaps": SNAPPED}),
    ({"install": "none"}, {"files": without(APT_LIBRARY)}),
    ({"proof": False}, NEW),
    ({"register": False}, {**NEW, "machine": None}),
    ({}, {"server": an_lxd(address="[::]:8443")}),
    ({"port": 9443}, {"server": an_lxd(address="[::]:8443"), "record": ["listen"]}),
    ({"storage_driver": "zfs", "storage_size": "80%"}, {"free": 1 << 30}),
    (ON_DISK, {"disk": DISK}),
    (ON_DISK, {"disk": {**DATA, "may_wipe": True}}),
    ({**ON_DISK, "storage_source": "/dev/sda"}, {"pools": [POOL]}),
    ({"bridge_create": True}, {"machine": {**MACHINE, "interfaces": []}}),
    ({}, {"machine": {**MACHINE, "interfaces": []}, "record": ["bridge br0 eth0"]}),
    ({}, {"rules": [IPTABLES]}),
    ({}, {"bridged": "1", "rules": ["-P FORWARD ACCEPT\n"]}),
    ({}, {"bridged": "1", "rules": [IPTABLES + "-A DOCKER-USER -i br0 -o br0 -j ACCEPT\n"]}),
    ({}, {"bridged": "1", "rules": [NFT % "br0"]}),
    ({}, {"bridged": "1", "rules": [IPTABLES], **UFW}),
    ({}, {"bridged": "1", **FIREWALLD}),
    ({"firewall": False}, {"bridged": "1", **FIREWALLD, "zone": "internal"}),
    ({}, {"pair": ["/k/maas.crt", "/k/maas.key"]}),
    ({}, {"pair": ["/k/maas.crt"], "vm_hosts": OURS}),
    ({"existing_vms": "import"}, {"instances": VMS}),
    ({"register": False}, {"instances": VMS}),
    ({}, {"instances": VMS, "vm_hosts": OURS}),
    ({"kubernetes_node": "n", "kubeconfig": True}, {}),
    ({"reserved_cores": 7, "reserved_memory": "7GiB"}, RESOURCES),
    ({"reserved_cores": 900}, {}),
]


@pytest.mark.parametrize(("name", "wanted", "facts", "says"), FAILED, ids=[case[0] for case in FAILED])
def test_what_is_in_the_way_is_said_in_a_sentence(name: str, wanted: Any, facts: Any, says: str) -> None:
    (found,) = judge(a_host(wanted, **facts), [name])
    assert says in found.says
    assert found.says.endswith(".")


def test_every_check_can_fail() -> None:
    assert [name for name in JUDGES if name not in {case[0] for case in FAILED}] == []


@pytest.mark.parametrize(("wanted", "facts"), FINE)
def test_what_is_fine_is_passed(wanted: Any, facts: Any) -> None:
    assert obstacles(a_host(wanted, **facts)) == []


def test_all_that_is_in_the_way_is_said_at_once() -> None:
    assert len(obstacles(a_host({"install": "snap"}, files=[], server=None, machine=None))) == len(
        ["no KVM", "no vsock", "no snapd", "not in MAAS"]
    )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"projcet": "maas"}, "wanted has projcet, which it does not take; it takes machine"),
        ({"reserved_cores": 1.5}, "wanted: reserved_cores must be a whole number, not 1.5."),
        ({"port": "high"}, "wanted: port must be a whole number, not 'high'."),
        ({"firewall": "perhaps"}, "wanted: firewall must be true or false, not 'perhaps'."),
        ({"allowed_from": "10.0.0.0/8"}, "wanted: allowed_from must be a list"),
    ],
)
def test_what_is_no_variable_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(Failure) as caught:
        HostSpec.from_params(given)
    assert str(caught.value).startswith(says)
