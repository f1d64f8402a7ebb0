# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands in the way of a machine that is to become an LXD host: one function for each, which says what to do.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure import firewall, sizes
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.host import Host

# What MAAS needs of an LXD.
EXTENSIONS = ("projects", "virtual-machines", "custom_block_volumes")
# Since LXD has it, it refuses what MAAS sends.
TOO_NEW = "instance_boot_mode"
# Without it, neither apt nor package_facts works.
APT_LIBRARY = "/usr/lib/python3/dist-packages/apt/__init__.py"
OLDEST_PYTHON = (3, 10)

# Says what is in the way; nothing if nothing is.
Judge = Callable[[Host], str]


@dataclass(frozen=True)
class HostFinding:
    """One line of the table."""

    name: str
    says: str

    def as_result(self) -> dict[str, str]:
        return {"name": self.name, "status": "failed" if self.says else "ok", "found": self.says}


def judge(host: Host, names: Sequence[str] = ()) -> list[HostFinding]:
    return [HostFinding(name, says(host)) for name, says in JUDGES.items() if not names or name in names]


# -- the machine -----------------------------------------------------------------------------------


def _python(host: Host) -> str:
    version = host.facts.python
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if not numbers or numbers >= OLDEST_PYTHON:
        return ""
    return f"Its Python is {version}, and the modules that run there need 3.10 or newer."


def _kvm(host: Host) -> str:
    if "/dev/kvm" in host.facts.files:
        return ""
    return (
        "There is no /dev/kvm. Switch virtualisation on in its firmware, and load the kernel module kvm_intel or "
        "kvm_amd."
    )


def _vsock(host: Host) -> str:
    if "/dev/vhost-vsock" in host.facts.files or host.facts.vsock:
        return ""
    return (
        "The kernel has no module vhost_vsock, without which LXD runs no virtual machines. Install the kernel's extra "
        "modules."
    )


def _port(host: Host) -> str:
    listeners = host.facts.listeners
    if not listeners or '"lxd"' in listeners:
        return ""
    return f"Something else listens on port {host.spec.port}: {listeners}. Stop it, or set lxd_host_port."


# -- LXD -------------------------------------------------------------------------------------------


def _one_lxd(host: Host) -> str:
    there = host.facts.there
    if not there or host.install in ("none", there):
        return ""
    return (
        f"LXD is there already as a {there}, and lxd_host_install is {host.install}. Two of them get in each other's "
        f"way. Set lxd_host_install to {there} or none."
    )


def _some_lxd(host: Host) -> str:
    return "There is no LXD, and lxd_host_install is none." if host.install == "none" and not host.facts.there else ""


def _answers(host: Host) -> str:
    if not host.facts.is_silent or host.facts.is_silent_and_empty:
        return ""
    return (
        "LXD is there, but does not answer, so that nobody knows what it has. Start it: systemctl start "
        f"{host.service}. "
        f"Its log says why it does not run: journalctl -u {host.service}."
    )


def _snapd(host: Host) -> str:
    if host.install != "snap" or host.facts.there == "snap" or "/usr/bin/snap" in host.facts.files:
        return ""
    return "There is no snapd. Install it, or set lxd_host_install to package."


def _channel(host: Host) -> str:
    snap, channel = host.facts.snap, host.spec.snap_channel
    if not snap or host.spec.install not in ("auto", "snap") or _version(_track(channel)) >= _version(snap["version"]):
        return ""
    return (
        f"LXD {snap['version']} is there, and does not go back to {channel}. Set lxd_host_snap_channel to "
        f"{snap['channel']} or a newer one."
    )


def _track(channel: str) -> str:
    """The newest version of a channel. One without a version is as new as can be."""
    track = channel.partition("/")[0]
    return "9999" if track[:1].isalpha() else f"{track}.9999"


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _packages(host: Host) -> str:
    if host.install != "package" or host.facts.pkg_mgr == "apt":
        return ""
    return "lxd_host_install is package, and the role knows Debian's packages alone. Set it to snap."


def _apt_library(host: Host) -> str:
    needed = host.install == "package" and host.facts.pkg_mgr == "apt"
    if not needed or APT_LIBRARY in host.facts.files:
        return ""
    return (
        "It lacks the package python3-apt, which Ansible installs packages with. Install it: apt-get install "
        "python3-apt."
    )


def _cluster(host: Host) -> str:
    if not host.facts.environment.get("server_clustered"):
        return ""
    return "Its LXD is a member of a cluster, and MAAS's API cannot tell members apart."


def _old(host: Host) -> str:
    missing = [each for each in EXTENSIONS if each not in host.facts.extensions]
    if not host.facts.answers or not missing:
        return ""
    return f"LXD {host.facts.version} is too old for MAAS, which needs 5.0 or newer (it lacks {', '.join(missing)})."


def _new(host: Host) -> str:
    if not (host.spec.register and host.spec.proof and TOO_NEW in host.facts.extensions):
        return ""
    return (
        f"LXD {host.facts.version} is too new for MAAS to compose virtual machines there. If you make them with via "
        "lxd, "
        "set lxd_host_proof to false."
    )


def _listens(host: Host) -> str:
    now = host.facts.listens_on
    if now in ("", host.spec.https_address) or "listen" in host.facts.record:
        return ""
    return f"LXD listens on {now} for somebody already. Set lxd_host_listen and lxd_host_port to that."


# -- storage ---------------------------------------------------------------------------------------


def _driver(host: Host) -> str:
    driver = host.pool.get("driver")
    if not host.pool or driver == host.spec.storage_driver:
        return ""
    return (
        f"The storage pool {host.spec.storage_pool} is there already with the driver {driver}, and LXD cannot change "
        "that "
        f"to {host.spec.storage_driver}. Set lxd_host_storage_driver or lxd_host_storage_pool."
    )


def _source_of_pool(host: Host) -> str:
    config = host.pool.get("config") or {}
    first, asked = config.get("volatile.initial_source"), host.spec.storage_source
    if not first or asked in ("", first, config.get("source")):
        return ""
    return f"The storage pool {host.spec.storage_pool} is there already on {first}, and LXD cannot move it to {asked}."


def _size(host: Host) -> str:
    text = host.spec.storage_size
    if sizes.pool_size(text, 0) is not None:
        return ""
    return f"lxd_host_storage_size is {text}, which is no size. Write it as 200GiB, or as 80% of what is free."


def _size_of_dir(host: Host) -> str:
    if host.spec.storage_driver != "dir" or not host.spec.storage_size:
        return ""
    return "A pool with the driver dir has no size. Leave lxd_host_storage_size out, or choose btrfs, zfs or lvm."


def _size_of_disk(host: Host) -> str:
    if not host.spec.storage_size or not host.spec.storage_source.startswith("/dev/"):
        return ""
    return "A pool on a disk or partition takes all of it. Leave lxd_host_storage_size out."


def _room(host: Host) -> str:
    free = host.facts.free
    if free < 0 or host.pool_size < free:
        return ""
    return (
        f"The storage pool {host.spec.storage_pool} is to have {host.spec.storage_size}, and {sizes.readable(free)} "
        "are free."
    )


def _source(host: Host) -> str:
    source = host.spec.storage_source
    exists = bool((host.facts.disk or {}).get("exists"))
    return f"There is no {source}." if source.startswith("/dev/") and not host.pool and not exists else ""


def _disk_in_use(host: Host) -> str:
    users = ", ".join(host.disk_users)
    return f"{host.spec.storage_source} is in use ({users}). Unmount it, or choose another one." if users else ""


def _disk_is_empty(host: Host) -> str:
    if not host.disk_contents or host.wipes:
        return ""
    return (
        f"{host.spec.storage_source} is not empty ({', '.join(host.disk_contents)}). If nobody needs what is on it, "
        "name "
        "it in lxd_host_wipe; the role wipes no other."
    )


# -- the network -----------------------------------------------------------------------------------


def _bridge(host: Host) -> str:
    if host.spec.bridge in host.facts.interfaces or host.spec.bridge_create:
        return ""
    return (
        f"It has no bridge {host.spec.bridge}, and MAAS knows {_known_bridges(host)} there. Deploy it with a bridge, "
        "name "
        "another one in lxd_host_bridge, or set lxd_host_bridge_create to have one made."
    )


def _bridge_in_maas(host: Host) -> str:
    bridge = host.spec.bridge
    made = [line.split()[0] for line in host.facts.recorded("bridge")]
    there = bridge in host.facts.interfaces
    if not there or host.spec.bridge_create or not host.facts.machine or bridge in (*host.facts.maas_bridges, *made):
        return ""
    return (
        f"MAAS does not know its bridge {bridge} (it knows {_known_bridges(host)} there), and would attach virtual "
        "machines to something else. Deploy it with a bridge, name another one in lxd_host_bridge, or set "
        "lxd_host_bridge_create if you can do without."
    )


def _known_bridges(host: Host) -> str:
    return ", ".join(host.facts.maas_bridges) or "none"


def _netplan(host: Host) -> str:
    needed = host.spec.bridge_create and host.spec.bridge not in host.facts.interfaces
    if not needed or "/etc/netplan" in host.facts.files:
        return ""
    return f"There is no netplan to make the bridge {host.spec.bridge} with. Make it yourself."


def _bridge_plan(host: Host) -> str:
    return host.facts.bridge_problem


def _cut_off(host: Host) -> str:
    if not host.facts.cut_off:
        return ""
    things = ", ".join(host.facts.cut_off)
    return (
        f"netplan does not know what others have put on {host.facts.bridge_port} ({things}), and the bridge "
        f"{host.spec.bridge} would cut that off. Make the bridge before that comes there, have MAAS make it, or give "
        "netplan's files what "
        "shall move to it."
    )


def _forwards(host: Host) -> str:
    spec, facts = host.spec, host.facts
    if not firewall.bridge_is_cut_off(spec, facts):
        return ""
    ufw, firewalld = firewall.is_on(facts)
    rule = f"iptables -I FORWARD -i {spec.bridge} -o {spec.bridge} -j ACCEPT"
    cure = f"with a rule such as {rule} that comes back after a boot"
    if not spec.firewall and (ufw or firewalld):
        cure = "with lxd_host_firewall"
    elif firewalld:
        cure = f"with a zone of firewalld for {spec.bridge} that has --add-forward"
    return (
        f"Its firewall sees what the bridge {spec.bridge} forwards (net.bridge.bridge-nf-call-iptables is 1), drops "
        "it, and "
        f"would cut off virtual machines. Let it through for good, {cure}."
    )


def _allowed_from(host: Host) -> str:
    wrong = [each.given for each in firewall.networks(host.spec.allowed_from) if not each.family]
    if not wrong:
        return ""
    return (
        f"lxd_host_allowed_from has {', '.join(wrong)}, which is no network that a firewall could be opened for. "
        "Write it "
        "as 10.0.0.0/8; leave lxd_host_allowed_from out to let everybody in."
    )


# -- keys ------------------------------------------------------------------------------------------


def _paths_of_pair(host: Host) -> str:
    if not host.facts.relative:
        return ""
    names = " and ".join(host.facts.relative)
    return (
        f"{names} is a relative path, which means another file in each place it is used. Write it whole, from / or ~."
    )


def _whole_pair(host: Host) -> str:
    pair = host.facts.pair
    if host.facts.relative or len(pair) != 1 or host.registered:
        return ""
    return (
        f"Of the certificate and its key, only {pair[0]} is there. Bring back the other one, or remove it to have a "
        "new "
        "pair made."
    )


# -- MAAS, Kubernetes, and the rest ----------------------------------------------------------------


def _known(host: Host) -> str:
    if not host.spec.register or host.facts.machine:
        return ""
    name = host.spec.machine or host.facts.host
    return f"MAAS does not know the machine {name}. Set lxd_host_machine to its name there."


def _deployed(host: Host) -> str:
    status = (host.facts.machine or {}).get("status_name") or "Deployed"
    return f"MAAS calls it {status}. Deploy it first." if host.spec.register and status != "Deployed" else ""


def _strangers(host: Host) -> str:
    if not host.strangers or host.spec.existing_vms == "import":
        return ""
    return (
        f"The project {host.spec.project} has virtual machines that MAAS does not know ({', '.join(host.strangers)}), "
        "and "
        "MAAS would restart them. Choose another lxd_host_project, or set lxd_host_existing_vms to import."
    )


def _pool_in_maas(host: Host) -> str:
    if not host.spec.kubernetes_node or not host.spec.register or host.pool_in_maas != "default":
        return ""
    return (
        "It would be in MAAS's resource pool default, and Cluster API's provider takes no host from there. Set "
        "lxd_host_pool to another one."
    )


def _kubeconfig(host: Host) -> str:
    if not host.spec.kubeconfig or host.spec.kubernetes_node:
        return ""
    return "lxd_host_kubeconfig is for a node of Kubernetes. Name it in lxd_host_kubernetes_node."


def _node(host: Host) -> str:
    if not host.spec.kubeconfig or host.facts.node_found:
        return ""
    return f"Kubernetes has no node {host.spec.kubernetes_node}."


def _reserved_memory(host: Host) -> str:
    text = host.spec.reserved_memory
    if sizes.in_bytes(text) is not None:
        return ""
    return f"lxd_host_reserved_memory is {text}, which is no size. Write it as 16GiB."


def _something_is_left(host: Host) -> str:
    left = sizes.room(host.spec, host.facts)
    if (left.cores is None or left.cores > 0) and (left.mib is None or left.mib > 0):
        return ""
    return "lxd_host_reserved_cores and lxd_host_reserved_memory leave nothing for virtual machines."


JUDGES: Mapping[str, Judge] = {
    "python": _python,
    "kvm": _kvm,
    "vsock": _vsock,
    "port": _port,
    "one LXD": _one_lxd,
    "an LXD": _some_lxd,
    "LXD answers": _answers,
    "snapd": _snapd,
    "snap channel": _channel,
    "packages": _packages,
    "python3-apt": _apt_library,
    "no cluster": _cluster,
    "LXD is new enough": _old,
    "LXD is old enough": _new,
    "listening address": _listens,
    "storage driver": _driver,
    "storage size": _size,
    "memory kept back": _reserved_memory,
    "size of a folder": _size_of_dir,
    "size of a disk": _size_of_disk,
    "free space": _room,
    "disk": _source,
    "disk in use": _disk_in_use,
    "data on the disk": _disk_is_empty,
    "bridge": _bridge,
    "bridge in MAAS": _bridge_in_maas,
    "netplan": _netplan,
    "netplan's files": _bridge_plan,
    "addresses on the port": _cut_off,
    "forwarding": _forwards,
    "allowed networks": _allowed_from,
    "paths of the key pair": _paths_of_pair,
    "key pair": _whole_pair,
    "machine in MAAS": _known,
    "deployed": _deployed,
    "VMs of others": _strangers,
    "resource pool": _pool_in_maas,
    "kubeconfig": _kubeconfig,
    "left for VMs": _something_is_left,
    "source of the pool": _source_of_pool,
    "node of Kubernetes": _node,
}
