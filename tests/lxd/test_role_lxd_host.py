# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role lxd_host on a node, which is in this order: fresh, a host, and fresh again."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hosted.readme import example
from integration.arranging import client
from integration.harness import Played, assert_no_secret
from lxd.machine import NAME, SAID, Machine, changes, deployed
from metalshift_lab.authority import self_signed
from metalshift_lab.lxd.server import RealLxd

# Each run needs a bridge, and most need nothing but that.
BRIDGE = {"bridge_create": True}


@pytest.fixture(scope="module")
def machine(real_lxd: RealLxd, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    if "qemu" not in real_lxd.drivers:
        pytest.skip("LXD has no virtual machines where there is no /dev/kvm.")
    with deployed(real_lxd, tmp_path_factory.mktemp("role")) as made:
        yield made


@pytest.fixture
def disks(machine: Machine, tmp_path: Path) -> Iterator[None]:
    """/dev/blank and /dev/data of the machine, and a folder in which nobody sees that they are loop devices."""
    loops = []
    for name in ("blank", "data"):
        file = tmp_path / name
        file.touch()
        subprocess.run(["truncate", "--size=64M", file], check=True)
        if name == "data":
            subprocess.run(["mkfs.ext4", "-q", "-L", "precious", file], check=True)
        made = subprocess.run(["losetup", "--find", "--show", file], check=True, capture_output=True, text=True)
        loops.append(made.stdout.strip())
        device = {"type": "unix-block", "source": loops[-1], "path": f"/dev/{name}"}
        _devices(machine, {name: device})
    yield
    _devices(machine, {"blank": None, "data": None})
    for loop in loops:
        subprocess.run(["losetup", "--detach", loop], check=True)


def _devices(machine: Machine, changes: Mapping[str, Any]) -> None:
    told = machine.real.local.get(f"/1.0/instances/{NAME}")
    devices = {name: device for name, device in {**told["devices"], **changes}.items() if device}
    wish = {name: told[name] for name in ("architecture", "config", "profiles", "ephemeral", "description")}
    machine.real.local("PUT", f"/1.0/instances/{NAME}", {**wish, "devices": devices})


# -- it is fresh ------------------------------------------------------------------------------------------------------


BOND = """\
network:
  version: 2
  ethernets: {ens1: {}, ens2: {}}
  bonds:
    bond0:
      interfaces: [ens1, ens2]
      addresses: [192.0.2.10/24]
      mtu: 9000
      nameservers: {addresses: [192.0.2.1]}
      routes: [{to: default, via: 192.0.2.1}]
      parameters: {mode: 802.3ad}
"""


@pytest.fixture(scope="module")
def checked(machine: Machine) -> tuple[list[str], Played]:
    """What there was before a run in check mode, and that run, for a bridge on a bond."""
    machine.put("/etc/netplan/60-bond.yaml", BOND)
    machine.node.run("ip link add bond0 address 02:00:00:00:00:01 type bridge")  # the kernel has no bonds
    before = machine.state
    played = machine.role("--check", "--diff", **BRIDGE, bridge_port="bond0")
    return before, played


def test_check_mode_writes_nothing(machine: Machine, checked: tuple[list[str], Played]) -> None:
    before, played = checked
    assert played.status == 0, played.output
    assert changes(played)
    assert machine.state == before
    assert [each for each in machine.sim.requests if each.method != "GET"] == []
    machine.node.run("ip link delete bond0; rm /etc/netplan/60-bond.yaml")


def test_a_bridge_on_a_bond_gets_its_addresses(checked: tuple[list[str], Played]) -> None:
    _before, played = checked
    (made,) = [each["msg"]["network"]["bridges"]["br0"] for each in played.results if "network" in each.get("msg", "")]
    assert made == {
        "interfaces": ["bond0"],
        "macaddress": "02:00:00:00:00:01",
        "parameters": {"stp": False, "forward-delay": 0},
        "addresses": ["192.0.2.10/24"],
        "mtu": 9000,
        "nameservers": {"addresses": ["192.0.2.1"]},
        "routes": [{"to": "default", "via": "192.0.2.1"}],
    }


def test_what_is_in_the_way_is_said_before_anything_is_written(machine: Machine, disks: None) -> None:
    machine.node.run("ip link add br9 type bridge")
    before = machine.state
    data = {"storage_driver": "btrfs", "storage_source": "/dev/data"}
    table: list[tuple[dict[str, Any], list[str]]] = [
        (
            {"machine": "nosuch", "port": 22, "storage_driver": "zfs", "storage_source": "/dev/nosuch"},
            [
                "It has no bridge br0, and MAAS knows none there",
                "MAAS does not know the machine nosuch",
                "else listens on port 22",
                "There is no /dev/nosuch.",
            ],
        ),
        (
            {"install": "none", "storage_size": "a lot", "reserved_memory": "some", "bridge": "br9"},
            [
                "There is no LXD",
                "A pool with the driver dir has no size",
                "storage_size is a lot, which is no size",
                "reserved_memory is some, which is no size",
                "MAAS does not know its bridge br9",
            ],
        ),
        (
            {"install": "snap", "kubernetes_node": "n", **data, "wipe": ["/dev/blank"]},
            ["There is no snapd", "takes no host from there", "/dev/data is not empty (ext4)", "wipes no other"],
        ),
        ({"storage_driver": "btrfs", "storage_size": "900TiB"}, ["is to have 900TiB, and "]),
    ]
    fine = [{**data, "wipe": ["/dev/data"]}, {**data, "storage_source": "/dev/blank"}]
    said = machine.refusals(*(wish for wish, _words in table), *fine)
    assert len(said) == len(table) + len(fine)
    for sentence, (_wish, words) in zip(said, table, strict=False):
        assert [each for each in words if each not in sentence] == [], sentence
        assert "and nothing was written" in sentence
    assert not any("/dev/" in sentence for sentence in said[-len(fine) :]), said
    assert machine.state == before


def test_a_debian_on_which_ansible_installs_nothing_is_found(machine: Machine) -> None:
    machine.node.run("dpkg --remove --force-depends python3-apt")
    said = machine.refusals(BRIDGE)[0]
    machine.install("python3-apt")
    assert "and nothing was written: It lacks the package python3-apt" in said


def test_what_others_have_put_on_the_port_is_named_and_not_cut_off(machine: Machine) -> None:
    gateway = machine.real.gateway
    vip = gateway.removesuffix(".1") + ".199/32"
    pods = f"10.244.1.0/24 via {gateway} dev eth0"
    machine.node.run(f"ip address add {vip} dev eth0; ip route add {pods} proto bird")
    before = machine.state
    said = machine.refusals(BRIDGE)[0]
    assert f"put on eth0 (the address {vip}, the route to 10.244.1.0/24 via {gateway} (bird))" in said
    assert machine.state == before
    machine.node.run(f"ip address del {vip} dev eth0; ip route del {pods}")


CUTTING_NETPLAN = """\
#!/bin/sh
# Nobody hears the machine any more once it has the bridge.
/usr/sbin/netplan "$@" || exit
[ "$1" = apply ] || exit 0
ip rule delete pref 1 2>/dev/null
[ ! -e /sys/class/net/br0 ] || ip rule add pref 1 blackhole
"""


def test_a_link_that_is_cut_by_the_bridge_comes_back(machine: Machine) -> None:
    before = machine.node.run("cat", "/etc/netplan/50-cloud-init.yaml")
    machine.put("/usr/local/sbin/netplan", CUTTING_NETPLAN)
    try:
        played = machine.role(**BRIDGE, bridge_confirm_within=8)
    finally:
        machine.node.run("rm", "/usr/local/sbin/netplan")
    assert played.status != 0
    assert "It changed that back after 8 s, and is reachable as before" in played.output
    assert machine.node.run("ls", "/etc/netplan").split() == ["50-cloud-init.yaml"]
    assert machine.node.run("cat", "/etc/netplan/50-cloud-init.yaml") == before
    assert machine.node.address in machine.node.run("ip", "address", "show", "eth0")
    assert "br0" not in machine.node.run("ip", "-brief", "link")


SNAP = """\
#!/bin/sh
# What it is told is in /var/log/snap; what it has in /run/snap.
[ "$1" = list ] || [ "$1" = get ] || echo "snap $*" >> /var/log/snap
case "$*" in
    'list '*) cat /run/snap 2>/dev/null || { echo "error: no matching snaps installed" >&2; exit 1; } ;;
    'get '*) exit 1 ;;
    'install '*) echo "error: cannot reach the store" >&2; exit 1 ;;
    'refresh lxd --channel=6/stable') echo 'lxd  6.3-c5ae129  33110  6/stable  canonical  -' > /run/snap ;;
    'refresh --hold lxd') sed -i 's/-$/held/' /run/snap ;;
esac
"""


def test_the_snap_is_installed_from_its_channel_by_the_proxy_or_as_a_file(machine: Machine) -> None:
    machine.put("/usr/bin/snap", SNAP)
    wish = {**BRIDGE, "bridge": "br9", "install": "snap"}  # that bridge is there
    files = []
    for name, assertions in (("lxd_5.21", True), ("own", False)):
        files.append(machine.folder / f"{name}.snap")
        files[-1].write_text("a snap")
        if assertions:
            files[-1].with_suffix(".assert").write_text("assertions")
    played = machine.roles(
        {**wish, "proxy": "http://jo:sesame@proxy.example:3128"},
        *({**wish, "snap_file": str(file)} for file in files),
        {"state": "absent"},
    )
    assert played.output.count("cannot reach the store") >= len(files) + 1
    assert_no_secret(played.output, ["sesame"])
    assert machine.told("snap") == [
        "snap set system proxy.http=http://jo:sesame@proxy.example:3128 proxy.https=http://jo:sesame@proxy.example:3128",
        "snap install lxd --channel=5.21/stable",
        "snap ack /var/lib/metalshift/snap/lxd_5.21.assert",
        "snap install /var/lib/metalshift/snap/lxd_5.21.snap",
        "snap install /var/lib/metalshift/snap/own.snap --dangerous",
        "snap remove --purge lxd",
        "snap unset system proxy.http proxy.https",
    ]
    machine.node.run("ip link delete br9; rm /usr/bin/snap")


BY_HAND = """\
network:
  version: 2
  ethernets:
    eth1:
      macaddress: 52:54:00:12:34:56  # to YAML 1.1 a number
      optional: yes
"""


def test_a_port_without_an_address_gets_a_bridge_and_keeps_what_is_written_of_it(machine: Machine) -> None:
    machine.put("/usr/bin/snap", SNAP)
    machine.put("/etc/netplan/60-eth1.yaml", BY_HAND)
    machine.node.run("ip link add eth1 type veth peer name far1; netplan apply")
    played = machine.role(bridge="br1", bridge_create=True, bridge_port="eth1", install="snap")
    assert "cannot reach the store" in played.output, machine.network  # after it has made the bridge
    assert "master br1" in machine.node.run("ip link show eth1")
    assert machine.node.run("cat /sys/class/net/eth1/address").strip() == "52:54:00:12:34:56"
    back = machine.role(state="absent")
    assert back.status == 0, back.output + machine.network
    assert machine.node.run("cat /etc/netplan/60-eth1.yaml") == BY_HAND
    assert "br1" not in machine.node.run("ip -brief link")
    assert machine.told("snap")[-1] == "snap remove --purge lxd"
    machine.node.run("ip link delete eth1; rm /etc/netplan/60-eth1.yaml /usr/bin/snap; netplan apply")


# -- it is a host -----------------------------------------------------------------------------------------------------


def test_a_machine_becomes_a_host_and_a_second_run_changes_nothing(machine: Machine, tmp_path: Path) -> None:
    played = machine.play(Path(example("lxd_host", tmp_path)))
    assert played.status == 0, played.output
    again = machine.role(**BRIDGE, tags=["control-plane"])
    assert (again.status, changes(again)) == (0, 0), again.output
    (host,) = machine.sim.state.vm_hosts
    assert (host.name, host.version, "control-plane" in host.tags) == (NAME, "5.0.2", True)
    (trusted,) = lxd(machine, "/1.0/certificates?recursion=1")
    assert (trusted["restricted"], trusted["projects"]) == (True, ["maas"])
    assert machine.node.address in machine.node.run("ip", "address", "show", "br0")
    assert lxd(machine, "/1.0/profiles/default")["devices"] == {}
    (found,) = [each["msg"] for each in again.results if "Bridges: br0" in str(each.get("msg"))]
    assert found[0] == "LXD 5.0.2, a package, with the storage pools default and the instances none."


def test_a_set_with_static_addresses_is_made_on_the_bridge_of_the_example(machine: Machine, tmp_path: Path) -> None:
    """MAAS knows eth0, which is a port of br0 now: on that no VM starts."""
    folder = machine.folder / ".config/metalshift"
    certificate = machine.node.run("cat", "/var/lib/lxd/server.crt")
    (machine.folder / "kvm-1.crt").write_text(certificate)
    subnet = machine.real.subnet.rpartition(".")[0]
    words = {
        "~/.config/metalshift": str(folder),
        # It has two cores.
        "https://10.99.0.11:8443": f"https://{machine.node.address}:8443\n            cpu_over_commit_ratio: 4",
        "name: kvm-1": f"name: {NAME}",
        "10.99.0.71-10.99.0.79": f"{subnet}.171-{subnet}.179",
        "memory: 1GiB": "memory: 1GiB\n        disks: [{size: 100MB}]\n        wait_sleep: 0.1",
    }
    played = machine.play(Path(example("lxd_host", tmp_path, 1, **words)))
    assert played.status == 0, played.output
    listed = lxd(machine, "/1.0/instances?recursion=1&project=maas")
    assert [(each["name"], each["status"]) for each in listed] == [(f"cp-{number}", "Running") for number in (1, 2, 3)]
    assert {each["devices"]["eth0"]["parent"] for each in listed} == {"br0"}
    again = machine.play(Path(example("lxd_host", tmp_path, 1, **words)))
    assert (again.status, "changed=0" in again.stdout) == (0, True), again.output
    gone = {**words, "count: 3": "state: absent"}
    removed = machine.play(Path(example("lxd_host", tmp_path, 1, **gone)))
    assert (removed.status, lxd(machine, "/1.0/instances?recursion=1&project=maas")) == (0, []), removed.output


def test_a_new_pair_replaces_the_one_before(machine: Machine, tmp_path: Path) -> None:
    """MAAS switches a VM that it has no VM host for by a certificate of its own."""
    settings = {**BRIDGE, "tags": ["control-plane"]}
    made = machine.role(**settings)
    assert made.status == 0, made.output
    (before,) = lxd(machine, "/1.0/certificates?recursion=1")
    machine.sim.machine("web", power_type="lxd", power_parameters=own_parameters(machine, "web", "of before"))
    machine.node.run("lxc", "init", "--empty", "--vm", "web", "--project", "maas", "-s", "default")
    paths = [str(tmp_path / f"new.{part}") for part in ("crt", "key")]
    making = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=new", "-days", "9"]
    subprocess.run([*making, "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    pair = dict(zip(("certificate", "key"), paths, strict=True))
    rotated = machine.role(**settings, **pair)
    assert rotated.status == 0, rotated.output
    (after,) = lxd(machine, "/1.0/certificates?recursion=1")
    assert after["fingerprint"] != before["fingerprint"]
    assert (after["restricted"], after["projects"], after["name"]) == (True, ["maas"], before["name"])
    text = Path(paths[0]).read_text()
    (host,) = machine.sim.state.vm_hosts
    assert host.parameters["certificate"].split() == text.split()
    assert machine.sim.find("web").power_parameters["certificate"].split() == text.split()
    assert "of before" not in machine.sim.find("web").power_parameters["key"]
    again = machine.role(**settings, **pair)
    assert (again.status, changes(again)) == (0, 0), again.output
    assert Path(paths[1]).read_text().splitlines()[1] not in rotated.output
    back = machine.role(**settings)
    (now,) = lxd(machine, "/1.0/certificates?recursion=1")
    assert (back.status, now["fingerprint"]) == (0, before["fingerprint"]), back.output
    machine.node.run("lxc", "delete", "--force", "web", "--project", "maas")
    client(machine.sim).delete(f"machines/{machine.sim.find('web').system_id}/")


def own_parameters(machine: Machine, name: str, word: str) -> dict[str, str]:
    address = f"https://{machine.node.address}:8443"
    return {"power_address": address, "project": "maas", "instance_name": name, "certificate": word, "key": word}


def test_what_does_not_go_with_the_lxd_that_is_there_is_said(machine: Machine) -> None:
    said = machine.refusals({"install": "snap", "storage_driver": "btrfs", "reserved_cores": 900})[0]
    assert "LXD is there already as a package, and lxd_host_install is snap." in said
    assert "The storage pool default is there already with the driver dir" in said
    assert "leave nothing for virtual machines" in said
    assert "and nothing was written" in said


PAIR = self_signed("maas")
MUCH = {
    **BRIDGE,
    "certificate": PAIR.certificate.decode(),
    "key": PAIR.key.decode(),
    "certificate_name": "other",
    "reserved_cores": 1,
    "reserved_memory": "1GiB",
    "memory_over_commit_ratio": 2,
    "allowed_from": ["10.1.2.3/8", "FD00::1/64"],
}
# Two systems whose only way to each other is the bridge, where the lab's kernel shows the firewall what it forwards.
NEIGHBOURS = """\
for n in 1 2; do
    ip netns add n$n; ip link add v$n type veth peer name e$n netns n$n; ip link set v$n master br0 up
    ip -n n$n address add 192.0.2.$n/24 dev e$n; ip -n n$n link set e$n up
done; sleep 2"""
LISTEN = "import socket; socket.create_server(('192.0.2.2', 7777)).accept()"


def neighbours_talk(machine: Machine) -> bool:
    ask = "ip netns exec n1 timeout 3 bash -c '</dev/tcp/192.0.2.2/7777' && echo reached"
    listen = f'ip netns exec n2 timeout 6 python3 -c "{LISTEN}"'
    return "reached" in machine.node.run(f"{listen} >/dev/null 2>&1 & sleep 1; {ask}; true")


# As ufw shows whose a rule is.
OURS = " comment 'metalshift.maas'"


def rules(machine: Machine) -> list[str]:
    """The rules of ufw and firewalld, those of people among them."""
    firewalld = "firewall-cmd --permanent --list"
    listed = f"ufw show added | tail -n +2; for what in ports rich-rules interfaces; do {firewalld}-$what; done"
    return [line for line in machine.node.run(listed).splitlines() if line]


ARMED = """\
[Timer]
OnActiveSec=3600
"""


@pytest.fixture(scope="module")
def opened(machine: Machine) -> list[bool]:
    """Whether what the bridge forwards came through before and after a run, with the ufw and firewalld of Debian."""
    machine.install("ufw", "firewalld")
    machine.node.run(f"ufw allow 22/tcp; ufw --force enable; {NEIGHBOURS}")
    came = [neighbours_talk(machine)]
    played = machine.role(**BRIDGE)
    assert played.status == 0, played.output
    assert {f"ufw allow 8443/tcp{OURS}", "8443/tcp"} <= set(rules(machine))
    return [*came, neighbours_talk(machine)]


@pytest.fixture(scope="module")
def changed(machine: Machine, opened: list[bool]) -> Played:
    """A run for much that is new, after one that was killed while it changed the network."""
    machine.put("/etc/systemd/system/lxd-host-network-back.timer", ARMED)
    machine.put("/etc/systemd/system/lxd-host-network-back.service", "[Service]\nExecStart=/bin/false\n")
    machine.node.run("systemctl daemon-reload; systemctl start lxd-host-network-back.timer")
    played = machine.role("-vvv", "--diff", **MUCH)
    assert played.status == 0, played.output
    return played


def test_a_key_that_is_given_as_text_is_not_shown(changed: Played) -> None:
    assert_no_secret(changed.output, [line for line in PAIR.key.decode().splitlines() if len(line) > 60])


@pytest.mark.usefixtures("changed")
def test_limits_leave_the_machine_what_it_needs_and_the_project_its_profiles(machine: Machine) -> None:
    resources = lxd(machine, "/1.0/resources")
    cores, mib = resources["cpu"]["total"] - 1, (resources["memory"]["total"] - (1 << 30)) >> 20
    config = lxd(machine, "/1.0/projects/maas")["config"]
    assert (config["limits.cpu"], config["limits.memory"]) == (str(cores), f"{2 * mib}MiB")
    assert config["features.profiles"] == "true"
    (host,) = machine.sim.state.vm_hosts
    assert host.cpu_over_commit_ratio == pytest.approx(cores / (cores + 1), abs=0.001)


def test_a_firewall_lets_through_what_the_bridge_forwards(opened: list[bool]) -> None:
    assert opened == [False, True]


@pytest.mark.usefixtures("changed")
def test_firewalls_are_open_for_those_who_are_allowed_and_nobody_else(machine: Machine) -> None:
    rich = 'rule family="{}" source address="{}" port port="8443" protocol="tcp" accept'
    assert sorted(rules(machine)) == sorted(
        [
            "ufw allow 22/tcp",
            f"ufw allow from 10.0.0.0/8 to any port 8443 proto tcp{OURS}",
            f"ufw allow from fd00::/64 to any port 8443 proto tcp{OURS}",
            f"ufw route allow in on br0 out on br0{OURS}",
            "br0",
            rich.format("ipv4", "10.0.0.0/8"),
            rich.format("ipv6", "fd00::/64"),
        ]
    )
    again = machine.role("--check", **MUCH)
    assert (again.status, changes(again)) == (0, 0), again.output


@pytest.mark.usefixtures("changed")
def test_what_a_killed_run_had_armed_is_disarmed(machine: Machine) -> None:
    assert "lxd-host-network-back" not in machine.node.run("systemctl list-timers --all; ls /etc/systemd/system")


def test_a_snap_that_is_there_is_held_and_goes_to_newer_channels_only(machine: Machine) -> None:
    machine.put("/usr/bin/snap", SNAP)
    machine.node.run("mkdir -p /var/snap/lxd/common; ln -s /var/lib/lxd /var/snap/lxd/common/lxd")
    machine.put("/run/snap", "lxd  5.21.3-c5ae129  33110  5.21/stable  canonical  -\n")
    newer = {**BRIDGE, "install": "snap", "snap_channel": "6/stable"}
    said = machine.refusals(newer, newer, {**BRIDGE, "install": "snap"})
    assert said[:2] == ["", ""]
    assert "does not go back to 5.21/stable" in said[2]
    assert machine.told("snap") == ["snap refresh lxd --channel=6/stable", "snap refresh --hold lxd"]
    machine.node.run("rm", "-r", "/usr/bin/snap", "/run/snap", "/var/snap")


def test_limits_that_nobody_wishes_any_more_are_gone(machine: Machine) -> None:
    config = lxd(machine, "/1.0/projects/maas")["config"]
    assert [key for key in config if key.startswith("limits.")] == []
    assert config["features.profiles"] == "true"


def test_why_lxd_makes_no_pool_is_passed_on_and_a_disk_that_is_named_is_wiped(machine: Machine, disks: None) -> None:
    wishes = [
        {"storage_pool": "zfs", "storage_driver": "zfs", "storage_size": "1GiB"},
        {"storage_pool": "lvm", "storage_driver": "lvm", "storage_source": "/dev/data", "wipe": ["/dev/data"]},
    ]
    for wish, said in zip(
        wishes, machine.refusals(*({**BRIDGE, "install": "none", **wish} for wish in wishes)), strict=True
    ):
        driver = wish["storage_driver"]
        assert f"storage pool {driver}" in said
        assert f"cannot be made of {driver}: LXD at " in said or "refused to create" in said
    assert machine.node.run("wipefs", "--no-act", "/dev/data") == ""


# -- many -------------------------------------------------------------------------------------------------------------


def test_the_playbook_stops_at_the_first_host_that_fails_and_says_what_to_do(machine: Machine) -> None:
    played = machine.playbook("lxd_hosts", {"kvm-0": {"lxd_host_machine": "nosuch"}, NAME: {}})
    assert played.status != 0
    said = re.sub(r"\s+", " ", played.stdout)
    assert "kvm-0 cannot become an LXD host, and nothing was written: MAAS does not know the machine nosuch." in said
    assert "leave kvm-0 out, with lxd_hosts set to 'lxd_hosts:!kvm-0'" in said
    assert f"ok: [{NAME}" not in said


def test_the_playbook_takes_what_maas_finds(machine: Machine) -> None:
    wish = {"lxd_hosts_zones": ["default"], "lxd_hosts": "nobody", "lxd_host_bridge_create": True}
    played = machine.playbook("lxd_hosts", {}, "--check", "-e", json.dumps(wish), elsewhere=[NAME])
    assert played.status == 0, played.output
    assert f"ok: [{NAME}]" in played.stdout


def test_the_playbook_says_that_there_is_nobody(machine: Machine) -> None:
    played = machine.playbook("lxd_hosts", {}, elsewhere=[NAME])
    assert played.status != 0
    said = re.sub(r"\s+", " ", played.stdout)
    assert "nothing was done: the inventory has none in lxd_hosts, and none of lxd_hosts_tags, lxd_hosts_zones" in said


# -- and fresh again --------------------------------------------------------------------------------------------------


def test_it_stays_a_host_while_there_are_virtual_machines(machine: Machine) -> None:
    machine.node.run("lxc init --empty --vm vm1 --project=maas -c limits.cpu=1 -c limits.memory=1GiB")
    said = machine.refusals({"state": "absent"})[0]
    assert f"{NAME} stays an LXD host, and nothing was changed, while its project maas has vm1 (stopped)" in said
    assert len(list(machine.sim.state.vm_hosts)) == 1
    machine.node.run("lxc", "delete", "vm1", "--project=maas")
    machine.node.run("lxc storage volume create default data --project=maas")
    assert "while its project maas has the volume data." in machine.refusals({"state": "absent"})[0]
    machine.node.run("lxc storage volume delete default data --project=maas")


def test_an_lxd_that_does_not_answer_is_not_removed(machine: Machine) -> None:
    machine.node.run("lxc init --empty --vm precious --project=maas -c limits.cpu=1 -c limits.memory=1GiB")
    stop = "systemctl stop lxd.socket lxd.service; rm -f /var/lib/lxd/unix.socket"
    absent, named = {"state": "absent"}, {"state": "absent", "discard_unanswered": [NAME]}
    machine.node.run(stop)
    said = machine.refusals(absent, named, BRIDGE)
    machine.node.run("systemctl start lxd.socket; lxc delete precious --project=maas;", stop)
    said += machine.refusals(absent)
    for sentence in said[:2]:
        assert "and has /var/lib/lxd/virtual-machines/maas_precious, " in sentence
        assert f"{NAME} stays an LXD host, and nothing was changed: its LXD does not answer" in sentence
    assert "and nothing was written: LXD is there, but does not answer" in said[2]
    assert f"If nobody needs what it may have, name {NAME} in lxd_host_discard_unanswered." in said[3]
    assert len(list(machine.sim.state.vm_hosts)) == 1
    machine.node.run("systemctl start lxd.socket; lxd waitready --timeout=60")


# -- two projects -----------------------------------------------------------------------------------------------------

TEAM = {**BRIDGE, "name": "kvm-1-b", "project": "team-b", "certificate_name": "team-b", "proof": False}


def record(machine: Machine) -> list[str]:
    return machine.node.run("cat", "/var/lib/metalshift/lxd_host").splitlines()


@pytest.fixture(scope="module")
def neighbour(machine: Machine) -> Played:
    """A run for a second project on the host, whose certificate is another one."""
    pair = self_signed("team-b")
    folder = machine.folder / "team-b"
    folder.mkdir()
    pair.write(folder / "team-b.crt", folder / "team-b.key")
    TEAM.update(certificate=str(folder / "team-b.crt"), key=str(folder / "team-b.key"))
    played = machine.role(**TEAM)
    assert played.status == 0, played.output
    return played


@pytest.mark.usefixtures("neighbour")
def test_the_removal_of_one_project_leaves_the_other_all_that_both_use(machine: Machine) -> None:
    before = record(machine)
    assert {"project maas", "project team-b", "registered maas", "registered team-b"} <= {*before}
    played = machine.role(state="absent")
    assert played.status == 0, played.output
    (said,) = [each["msg"] for each in played.results if "stays an LXD host" in str(each.get("msg"))]
    assert said == f"{NAME} stays an LXD host: project team-b and certificate team-b use it."
    assert lxd(machine, "/1.0")["config"]["core.https_address"] == "[::]:8443"
    assert [each["name"] for each in lxd(machine, "/1.0/projects?recursion=1")] == ["default", "team-b"]
    assert [each["name"] for each in lxd(machine, "/1.0/certificates?recursion=1")] == ["team-b"]
    assert "br0" in machine.node.run("ip -brief link")
    assert f"ufw route allow in on br0 out on br0{OURS}" in rules(machine)
    assert [host.parameters["project"] for host in machine.sim.state.vm_hosts] == ["team-b"]
    left = {*record(machine)}
    assert {"project team-b", "listen", "pool default", "registered team-b"} <= left
    assert not {"project maas", "registered maas", "proven maas"} & left
    again = machine.role(**TEAM)
    assert (again.status, changes(again)) == (0, 0), again.output
    again = machine.role(state="absent")
    assert (again.status, changes(again)) == (0, 0), again.output


@pytest.mark.usefixtures("neighbour")
def test_the_other_project_can_be_the_one_that_stays(machine: Machine) -> None:
    played = machine.roles({**BRIDGE, "proof": False}, {**TEAM, "state": "absent"})
    assert [each["msg"] for each in played.results if str(each.get("msg", "")).startswith(SAID)] == [SAID] * 2
    assert [each["name"] for each in lxd(machine, "/1.0/projects?recursion=1")] == ["default", "maas"]
    assert lxd(machine, "/1.0")["config"]["core.https_address"] == "[::]:8443"
    assert {"project maas", "listen", "pool default"} <= {*record(machine)}
    assert "project team-b" not in record(machine)


def test_what_the_role_did_not_make_stays(machine: Machine) -> None:
    machine.node.run("mv /var/lib/metalshift /root")
    played = machine.role("--check", state="absent")
    machine.node.run("mv /root/metalshift /var/lib")
    assert (played.status, changes(played)) == (0, 0), played.output


def test_what_was_made_is_taken_back_though_a_firewall_has_gone(machine: Machine) -> None:
    machine.node.run("ufw --force disable; DEBIAN_FRONTEND=noninteractive apt-get purge --yes --quiet ufw")
    machine.node.run("systemctl stop firewalld; ip link delete v1; ip link delete v2")
    # As after a run that was killed before it had added the rule, which somebody else has added since.
    machine.node.run(
        "echo firewalld-begun port=7/tcp >> /var/lib/metalshift/lxd_host; firewall-offline-cmd --add-port=7/tcp"
    )
    checked = machine.role("--check", state="absent")
    assert checked.status == 0, checked.output
    assert machine.node.run("lxc", "project", "list", "--format=csv").count("maas")
    played = machine.role(state="absent")
    assert played.status == 0, played.output + machine.network
    assert list(machine.sim.state.vm_hosts) == []
    (said,) = [each["msg"] for each in played.results if "is not there any more" in str(each.get("msg"))]
    assert "ufw allow 8443/tcp" in said
    assert "firewalld" not in said
    assert "8443" not in machine.node.run("firewall-offline-cmd --list-all")
    assert "br0" not in machine.node.run("firewall-offline-cmd --list-all")
    assert "7/tcp" in machine.node.run("firewall-offline-cmd --list-ports").split()
    (kept,) = [each["msg"] for each in played.results if "rules of the firewall stay" in str(each.get("msg"))]
    assert kept.endswith("if nobody needs them: firewalld port=7/tcp.")
    machine.node.run("DEBIAN_FRONTEND=noninteractive apt-get purge --yes --quiet firewalld")
    state = machine.state
    assert not {"lxd", "br0", "90-br0.yaml", "lxd-client"} & set(state)
    assert machine.node.run("ls /var/lib/metalshift") == ""
    again = machine.role(state="absent")
    assert (again.status, changes(again)) == (0, 0), again.output


def test_it_becomes_a_host_again_without_a_boot_and_leaves_the_rules_of_others(machine: Machine) -> None:
    machine.install("ufw")
    machine.node.run("ufw allow 22/tcp; ufw --force enable")
    played = machine.role(**BRIDGE)
    assert played.status == 0, played.output
    assert len(list(machine.sim.state.vm_hosts)) == 1
    assert machine.node.run("ufw show added").count("\nufw ") == len(["22", "8443", "route"])
    played = machine.role(state="absent")
    assert played.status == 0, played.output
    assert machine.node.run("ufw show added").splitlines()[1:] == ["ufw allow 22/tcp"]


def test_a_pool_that_others_use_stays_until_they_are_gone(machine: Machine) -> None:
    played = machine.role(**BRIDGE, proof=False)
    assert played.status == 0, played.output
    machine.node.run("lxc profile device add default root disk pool=default path=/")
    played = machine.role(state="absent")
    assert played.status == 0, played.output
    assert "The storage pool default stays, since others use it (/1.0/profiles/default)." in played.output
    assert "LXD stays, since somebody else uses it (pool default)." in played.output
    assert [line for line in record(machine) if line.startswith("pool ")] == ["pool default"]
    machine.node.run("lxc profile device remove default root")
    played = machine.role(state="absent")
    assert played.status == 0, played.output
    assert not {"lxd", "br0"} & set(machine.state)
    assert machine.node.run("ls /var/lib/metalshift") == ""


def test_a_rule_that_somebody_added_after_a_killed_run_is_not_taken_for_ours(machine: Machine) -> None:
    machine.install("ufw")
    machine.node.run("mkdir -p /var/lib/metalshift; echo ufw allow 8443/tcp > /var/lib/metalshift/lxd_host")
    machine.node.run("ufw allow 8443/tcp")
    played = machine.role(state="absent", register=False)
    assert played.status == 0, played.output
    assert "ufw allow 8443/tcp" in machine.node.run("ufw show added").splitlines()
    (said,) = [each["msg"] for each in played.results if "rules of the firewall stay" in str(each.get("msg"))]
    assert said.endswith("if nobody needs them: ufw allow 8443/tcp.")
    assert machine.node.run("ls /var/lib/metalshift") == ""


def lxd(machine: Machine, path: str) -> Any:
    """What the LXD on the machine says."""
    return json.loads(machine.node.run("lxc", "query", f"'{path}'"))
