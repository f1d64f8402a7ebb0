# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role lxd_host says of an LXD that it finds, where that of the lab cannot be brought to it."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from stat import S_IMODE
from typing import Any

import ansible_runner

from integration.harness import made_of_role, passed_by_awx, reach, run_playbook
from integration.vm_hosts import Hosts
from metalshift_lab.simulator import Simulator

EXTENSIONS = ["projects", "virtual-machines", "custom_block_volumes"]
MACHINE = {
    "status_name": "Deployed",
    "pool": "kvm",
    "ip_addresses": ["10.0.0.5"],
    "interfaces": [{"type": "bridge", "name": "br0"}],
}
APT_LIBRARY = "/usr/lib/python3/dist-packages/apt/__init__.py"
FILES = ["/dev/kvm", "/dev/vhost-vsock", "/usr/bin/lxd", "/var/lib/lxd/unix.socket", APT_LIBRARY]
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
        "lxd_host__files": {"stdout_lines": FILES},
        "lxd_host__listeners": {"stdout": ""},
        "lxd_host__machines": {"machines": [MACHINE]},
        "lxd_host__vm_hosts": {"vm_hosts": more.pop("vm_hosts", [])},
        "lxd_host__recorded": {"content": b64encode("\n".join(more.pop("made", ())).encode()).decode()},
        "lxd_host__lxd": {**lxd, "instances": more.pop("instances", []), **more.pop("lxd", {})},
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


SILENT = {"lxd": {"server": {}}}


def test_an_lxd_that_does_not_answer_is_refused_unless_a_killed_run_had_only_begun(tmp_path: Path) -> None:
    begun = ("packages lxd lxd-client",)
    refused, ours, *taken = obstacles(
        tmp_path,
        a_host(**SILENT),
        a_host(**SILENT, made=(*begun, "pool default")),
        a_host(**SILENT, made=begun),
        a_host(**SILENT, lxd_host__files={"stdout_lines": [path for path in FILES if "lxd" not in path]}),
    )
    assert refused == ours
    assert refused[0].startswith("LXD is there, but does not answer, so that nobody knows what it has. Start it: ")
    assert taken == [[], []]


def test_a_debian_on_which_ansible_installs_nothing_is_refused(tmp_path: Path) -> None:
    bare = {"stdout_lines": [path for path in FILES if path != APT_LIBRARY]}
    refused, taken = obstacles(
        tmp_path, a_host(lxd_host__files=bare), a_host(lxd_host__files=bare, lxd_host_install="none")
    )
    assert (refused[0].startswith("It lacks the package python3-apt"), taken) == (True, [])


IPTABLES = """\
-P INPUT ACCEPT
-P FORWARD DROP
-A FORWARD -j DOCKER-USER
"""
NFT = """\
table inet filter {
	chain forward {
		type filter hook forward priority filter; policy drop;
		iifname "br0" oifname "%s" counter packets 0 bytes 0 accept
	}
}
"""


def filtered(*rules: str, **more: Any) -> dict[str, Any]:
    """A machine whose bridges' traffic passes the firewall, with these rules."""
    listed = {"results": [{"stdout": text} for text in rules]}
    return a_host(lxd_host__filters_bridged={"stdout": "1"}, lxd_host__rules=listed, **more)


def test_a_firewall_that_drops_what_the_bridge_forwards_is_refused_unless_it_can_be_opened(tmp_path: Path) -> None:
    ufw = {"lxd_host__ufw": {"stdout": "Status: active\nTo Action From"}}
    firewalld = {"lxd_host__firewalld": {"stdout": "running"}, "lxd_host__zone": {"rc": 2, "stdout": "no zone"}}
    forwards, keeps = {"lxd_host__forwards": {"rc": 0}}, {"lxd_host__forwards": {"rc": 1}}
    shut = {"lxd_host_firewall": False}
    refused = [
        filtered(IPTABLES),
        filtered(NFT % "br1"),
        filtered(IPTABLES, **ufw, **shut),
        filtered(**firewalld, **keeps),
        filtered(**firewalld, **forwards, **shut),
        filtered("-P FORWARD ACCEPT\n-A FORWARD -j REJECT --reject-with icmp-host-prohibited\n"),
    ]
    fine = [
        a_host(lxd_host__rules={"results": [{"stdout": IPTABLES}]}),
        filtered("-P FORWARD ACCEPT\n"),
        filtered(IPTABLES + "-A DOCKER-USER -i br0 -o br0 -j ACCEPT\n"),
        filtered(NFT % "br0"),
        filtered(IPTABLES, **ufw),
        filtered(**firewalld, **forwards),
        filtered(**{**firewalld, **forwards, **shut, "lxd_host__zone": {"rc": 0, "stdout": "internal"}}),
    ]
    said = obstacles(tmp_path, *refused, *fine)
    for sentences in said[: len(refused)]:
        (sentence,) = sentences
        assert "Its firewall sees what the bridge br0 forwards" in sentence
    cures = ["iptables -I FORWARD -i br0 -o br0 -j ACCEPT", "with lxd_host_firewall.", "has --add-forward"]
    assert [cure in said[place][0] for cure, place in zip(cures, (0, 2, 3), strict=True)] == [True] * 3
    assert said[len(refused) :] == [[]] * len(fine)


def test_networks_that_no_firewall_can_be_opened_for_are_refused(tmp_path: Path) -> None:
    (said,) = obstacles(tmp_path, a_host(lxd_host_allowed_from=["10.0.0.0/8", "rack-1", "::/0"]))
    assert "lxd_host_allowed_from has rack-1, ::/0, which is no network" in said[0]


def test_files_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    half = {"results": [{"item": "/k/maas.crt", "stat": {"exists": True}}, {"item": "/k/maas.key", "stat": {}}]}
    pair = {"lxd_host_certificate": "/k/maas.crt", "lxd_host_key": "/k/maas.key", "lxd_host__pair": half}
    ours = [{"project": "maas", "virtual_machines": []}]
    relative, one, known = obstacles(
        tmp_path, a_host(lxd_host_key="maas.key"), a_host(**pair), a_host(**pair, vm_hosts=ours)
    )
    assert relative[0].startswith("maas.key is a relative path")
    assert one[0].startswith("Of the certificate and its key, only /k/maas.crt is there.")
    assert [len(sentences) for sentences in (relative, one, known)] == [1, 1, 0]


def test_rules_are_written_as_their_firewalls_show_them_and_others_of_ours_are_closed(tmp_path: Path) -> None:
    host = a_host(
        lxd_host_allowed_from=["10.1.2.3/8", "FD00::1/64", "10.0.0.0/8"],
        made=("ufw allow 8443/tcp", "ufw allow from fd00::/64 to any port 8443 proto tcp", "firewalld port=8443/tcp"),
    )
    wanted = "{{ [lxd_host__ufw_wanted, lxd_host__firewalld_wanted, lxd_host__firewall_closed] }}"
    ((ufw, firewalld, closed),) = made_of_role(tmp_path, "lxd_host", [host], wanted)
    assert ufw == [f"allow from {network} to any port 8443 proto tcp" for network in ("10.0.0.0/8", "fd00::/64")]
    assert firewalld == [
        f'rich-rule=rule family="{family}" source address="{network}" port port="8443" protocol="tcp" accept'
        for family, network in (("ipv4", "10.0.0.0/8"), ("ipv6", "fd00::/64"))
    ]
    assert sorted(closed) == ["firewalld port=8443/tcp", "ufw allow 8443/tcp"]


def have_pair(
    folder: Path, certificate: Path, key: Path, environment: Mapping[str, str] | None = None, **more: Any
) -> None:
    """As a run that finds no files of the certificate and its key."""
    role = {"name": "metalshift.maas.lxd_host", "tasks_from": "make_certificate.yml"}
    paths = {"lxd_host_certificate": str(certificate), "lxd_host_key": str(key)}
    task = {"ansible.builtin.include_role": role, "vars": {**paths, **more}}
    played = run_playbook(folder, [task], environment=environment)
    assert played.status == 0, played.output
    assert "PRIVATE KEY" in key.read_text()
    assert "BEGIN CERTIFICATE" in certificate.read_text()


def test_a_folder_that_is_there_keeps_its_mode_and_the_certificate_may_be_in_another_one(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    certificates = tmp_path / "certificates" / "maas"
    have_pair(tmp_path, certificates / "maas.crt", shared / "maas.key")
    assert [S_IMODE(folder.stat().st_mode) for folder in (shared, certificates)] == [0o755, 0o700]


def test_a_pair_that_maas_has_comes_into_an_empty_place(sim: Simulator, tmp_path: Path) -> None:
    hosts = Hosts.up(sim, zones=["az1"])
    key = tmp_path / "empty" / "maas.key"
    known = {"vm_hosts": [{"project": "maas"}]}
    have_pair(tmp_path, key.with_suffix(".crt"), key, reach(sim), lxd_host_machine="kvm1", lxd_host__vm_hosts=known)
    assert key.read_text().strip() == hosts.pair["key"].strip()


def test_the_proof_is_made_in_lxd_where_maas_does_not_know_the_bridge(tmp_path: Path) -> None:
    known = a_host(inventory_hostname="kvm-1", environment={"certificate_fingerprint": "ab12"})
    unknown = {**known, "lxd_host__machines": {"machines": [{**MACHINE, "interfaces": []}]}}
    addresses = ("", "kvm.example.com", "https://10.0.0.9:9443", "fd00::5")
    ways = made_of_role(
        tmp_path,
        "lxd_host",
        [known, *({**unknown, "lxd_host_address": address} for address in addresses)],
        "{{ [lxd_host__proof_via, lxd_host__proof_hosts | map(attribute='endpoint')] }}",
    )
    assert ways == [
        ["maas", []],
        ["lxd", ["https://10.0.0.5:8443"]],
        ["lxd", ["https://kvm.example.com:8443"]],
        ["lxd", ["https://10.0.0.9:9443"]],
        ["lxd", ["https://[fd00::5]:8443"]],
    ]


def test_over_commit_ratios_are_those_that_are_given_or_follow_from_what_is_kept_back(tmp_path: Path) -> None:
    there = a_host()
    there["lxd_host__lxd"]["resources"] = {"cpu": {"total": 8}, "memory": {"total": 8 << 30}}
    given = [
        {},
        {"lxd_host_cpu_over_commit_ratio": 4},
        {"lxd_host_reserved_cores": 2},
        {"lxd_host_reserved_cores": 2, "lxd_host_cpu_over_commit_ratio": 2},
    ]
    ratios = made_of_role(
        tmp_path, "lxd_host", [{**there, **each} for each in given], "{{ lxd_host__cpu_ratio | float }}"
    )
    # 0 is left out when it is registered: what MAAS has stays.
    assert ratios == [0, 4, 0.75, 1.5]


def test_the_playbook_takes_what_awx_gives_it_unasked(sim: Simulator, tmp_path: Path) -> None:
    done = ansible_runner.run(
        private_data_dir=str(tmp_path),
        playbook="metalshift.maas.lxd_hosts",
        extravars=passed_by_awx("lxd_hosts"),
        envvars={**reach(sim), "ANSIBLE_COLLECTIONS_PATH": os.environ["ANSIBLE_COLLECTIONS_PATH"]},
        quiet=True,
    )
    said = done.stdout.read()
    assert "There is no machine to make a host of, and nothing was done" in said, said
    assert "the inventory has none in lxd_hosts" in said
