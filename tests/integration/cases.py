# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every module is tested with. A module that is in none of these tables fails the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from integration.arranging import client, reserve
from integration.vm_hosts import Hosts
from metalshift_lab.simulator import Simulator

ROOT = Path(__file__).resolve().parents[2]

Args = Mapping[str, Any]
Arrange = Callable[[Simulator], object]


def nothing(_sim: Simulator) -> None:
    """The seed state is enough."""


def three_machines(sim: Simulator) -> None:
    for name in ("node-1", "node-2", "node-3"):
        sim.machine(name)


def lab_domain(sim: Simulator, *resources: Mapping[str, str]) -> None:
    """A domain, with names that have addresses."""
    maas = client(sim)
    maas.post("domains/", {"name": "lab.example.com"})
    for resource in resources:
        maas.post("dnsresources/", resource)
    sim.requests.clear()


@dataclass(frozen=True)
class Case:
    """One object's life: made, changed, removed. `noun` is the key of the result that holds it."""

    module: str
    create: Args
    change: Args
    delete: Args
    name: str = ""
    noun: str = ""
    arrange: Arrange = nothing
    # Keys of a real object that a predicted one need not have, because nobody can know them.
    unpredictable: Sequence[str] = ()

    def __str__(self) -> str:
        return self.name or self.module


@dataclass(frozen=True)
class Act:
    """Something that a module does each time."""

    module: str
    args: Args
    arrange: Arrange = nothing


@dataclass(frozen=True)
class Wrong:
    """Arguments that cannot be carried out, and words of the sentence that says so."""

    module: str
    args: Args
    says: str
    arrange: Arrange = nothing
    kind: str = "invalid"
    # Reaching MAAS is part of every bad-input case unless it is what is wrong.
    connect: bool = True


BMC = {"power_address": "10.1.0.9", "power_user": "maas", "power_pass": "bmc-secret"}
ENLISTED = {
    "machines": ["node-9"],
    "mac_addresses": ["52:54:00:00:99:01"],
    "architecture": "amd64",
    "power_type": "ipmi",
    "power_parameters": BMC,
}
QUICK = {"wait_sleep": 0.02, "wait_timeout": 10}


def zone_and_tag(sim: Simulator) -> None:
    sim.machine("other", zone="az1", tags=["fast"])


LIVES: list[Case] = [
    Case(
        "zone",
        create={"name": "az1", "description": "first"},
        change={"name": "az1", "description": "second"},
        delete={"name": "az1", "state": "absent"},
    ),
    Case(
        "zone",
        name="zone with odd texts",
        create={"name": "zöne 1", "description": "first\n line, 'quoted' & {{ curly }}\n"},
        change={"name": "zöne 1", "description": ""},
        delete={"name": "zöne 1", "state": "absent"},
    ),
    Case(
        "resource_pool",
        create={"name": "hosted", "description": "first"},
        change={"name": "hosted", "description": "second"},
        delete={"name": "hosted", "state": "absent"},
    ),
    Case(
        "resource_pool",
        name="resource_pool called as another's id",
        create={"name": "0"},
        change={"name": "0", "description": "not the default pool"},
        delete={"name": "0", "state": "absent"},
    ),
    Case(
        "domain",
        create={"name": "demo.lab.example.com", "ttl": 60},
        change={"name": "demo.lab.example.com", "authoritative": False, "ttl": 30},
        delete={"name": "demo.lab.example.com", "state": "absent"},
    ),
    Case(
        "tag",
        create={"name": "fast", "comment": "first", "kernel_opts": "console=ttyS0"},
        change={"name": "fast", "comment": "second"},
        delete={"name": "fast", "state": "absent"},
    ),
    Case(
        "tag",
        name="tag with machines",
        create={"name": "fast", "machines": ["node-1", "node-2"]},
        change={"name": "fast", "machines": ["node-2", "node-3"], "purge_machines": True},
        delete={"name": "fast", "state": "absent"},
        arrange=three_machines,
    ),
    Case(
        "tag",
        name="tag that MAAS gives",
        create={"name": "auto", "definition": "//node[@class='system']"},
        change={"name": "auto", "definition": "", "kernel_opts": "quiet"},
        delete={"name": "auto", "state": "absent"},
    ),
]

LIVES += [
    Case(
        "machine",
        create={**ENLISTED, "description": "first"},
        change={
            **ENLISTED,
            "description": "second",
            "zone": "az1",
            "tags": ["fast"],
            "power_parameters": {**BMC, "power_user": "other"},
        },
        delete={"machines": ["node-9"], "state": "absent"},
        arrange=zone_and_tag,
    ),
    Case(
        "machine",
        name="machine from new to deployed and back",
        create={
            **ENLISTED,
            **QUICK,
            "state": "deployed",
            "distro_series": "ubuntu/jammy",
            "annotations": {"team": "blue"},
        },
        change={**ENLISTED, **QUICK, "state": "ready", "erase": True},
        delete={"machines": ["node-9"], "state": "absent"},
        arrange=lambda sim: sim.auto(0.01),
    ),
    Case(
        "machine",
        name="machine held, locked and given back",
        create={"machines": ["node-1"], **QUICK, "state": "allocated", "claim": "web", "comment": "mine"},
        change={"machines": ["node-1"], **QUICK, "state": "deployed", "claim": "web", "locked": True},
        delete={"machines": ["node-1"], **QUICK, "state": "absent", "claim": "web", "locked": False},
        arrange=lambda sim: (three_machines(sim), sim.auto(0.01)),
    ),
    Case(
        "machine",
        name="machines, several",
        noun="machines",
        create={"machines": ["node-1", {"name": "node-2", "state": "deployed"}], **QUICK, "state": "allocated"},
        change={"machines": ["node-1", "node-2", "node-3"], **QUICK, "state": "ready"},
        delete={"machines": ["node-1", "node-3"], **QUICK, "state": "absent"},
        arrange=lambda sim: (three_machines(sim), sim.auto(0.01)),
    ),
    Case(
        "image",
        create={"name": "rhcos-4-20", "path": str(ROOT / "galaxy.yml"), "filetype": "ddraw", "title": "RHCOS"},
        change={"name": "custom/rhcos-4-20", "path": str(ROOT / "COPYING"), "filetype": "ddraw", "arch": "amd64"},
        delete={"name": "rhcos-4-20", "state": "absent"},
    ),
    Case(
        "dns_record",
        create={"fqdn": "www.lab.example.com", "value": ["10.99.0.51", "10.99.0.50"], "ttl": 60},
        change={"fqdn": "www.lab.example.com", "value": ["10.99.0.51", "10.99.0.52"]},
        delete={"fqdn": "www.lab.example.com", "state": "absent"},
        arrange=lab_domain,
    ),
    Case(
        "dns_record",
        name="dns_record AAAA beside A",
        create={"fqdn": "www.lab.example.com", "type": "AAAA", "value": "2001:DB8:0::1"},
        change={"fqdn": "www.lab.example.com", "type": "AAAA", "value": ["2001:db8::2", "2001:db8::1"], "ttl": 30},
        delete={"fqdn": "www.lab.example.com", "type": "AAAA", "state": "absent"},
        arrange=lambda sim: lab_domain(sim, {"fqdn": "www.lab.example.com", "ip_addresses": "10.99.0.50"}),
    ),
    Case(
        "dns_record",
        name="dns_record CNAME",
        create={"name": "alias", "domain": "lab.example.com", "type": "CNAME", "value": "www.lab.example.com."},
        change={"name": "alias", "domain": "lab.example.com", "type": "CNAME", "value": "api.lab.example.com."},
        delete={"name": "alias", "domain": "lab.example.com", "type": "CNAME", "state": "absent"},
        arrange=lab_domain,
    ),
    Case(
        "dns_record",
        name="dns_record CNAME in place of addresses",
        create={"fqdn": "www.lab.example.com", "type": "CNAME", "value": "api.lab.example.com.", "purge": True},
        change={"fqdn": "www.lab.example.com", "value": "10.99.0.70", "purge_records": True},
        delete={"fqdn": "www.lab.example.com", "state": "absent"},
        arrange=lambda sim: lab_domain(sim, {"fqdn": "www.lab.example.com", "ip_addresses": "10.99.0.50 2001:db8::1"}),
    ),
    Case(
        "dns_record",
        name="dns_record MX",
        create={
            "name": "@",
            "domain": "lab.example.com",
            "type": "MX",
            "value": ["10 a.example.com", "20  b.example.com"],
        },
        change={"name": "@", "domain": "lab.example.com", "type": "MX", "value": ["10 c.example.com"], "ttl": 300},
        delete={"name": "@", "domain": "lab.example.com", "type": "MX", "state": "absent"},
        arrange=lab_domain,
    ),
    Case(
        "dns_record",
        name="dns_record SRV",
        create={"fqdn": "_sip._tcp.lab.example.com", "type": "SRV", "value": "0 5 5060 sip.example.com"},
        change={"fqdn": "_sip._tcp.lab.example.com", "type": "SRV", "value": "0 5 5061 sip.example.com"},
        delete={"fqdn": "_sip._tcp.lab.example.com", "type": "SRV", "state": "absent"},
        arrange=lab_domain,
    ),
    Case(
        "dns_record",
        name="dns_record TXT",
        create={"name": "note", "type": "TXT", "value": ["hello  {{ world }}", "v=spf1 -all"], "ttl": 30},
        change={"name": "note", "type": "TXT", "value": ["v=spf1 -all"], "ttl": 0},
        delete={"name": "note", "type": "TXT", "value": "v=spf1 -all", "state": "absent"},
    ),
    Case(
        "dns_record",
        name="dns_record wildcard",
        create={"name": "*", "domain": "lab.example.com", "value": "10.99.0.60"},
        change={"name": "*", "domain": "lab.example.com", "value": "10.99.0.61", "ttl": 5},
        delete={"name": "*", "domain": "lab.example.com", "value": "10.99.0.61", "state": "absent"},
        arrange=lab_domain,
    ),
]


def nine_machines(sim: Simulator) -> None:
    sim.machines(9, zones=("az1", "az2", "az3"))
    sim.auto(0.01)


LIVES += [
    Case(
        "machine_set",
        noun="machines",
        create={"claim": "web", "count": 4, "zones": ["az1", "az2", "az3"], "distro_series": "noble", **QUICK},
        change={"claim": "web", "count": 2, "zones": ["az1", "az2", "az3"], "erase": True, **QUICK},
        delete={"claim": "web", "state": "absent", **QUICK},
        arrange=nine_machines,
    ),
    Case(
        "machine_set",
        name="machine_set held, then deployed",
        noun="machines",
        create={"claim": "web", "count": 3, "state": "allocated", "spread": "strict", **QUICK},
        change={"claim": "web", "count": 5, "full": True, **QUICK},
        delete={"claim": "web", "count": 0, **QUICK},
        arrange=nine_machines,
    ),
]

MAC_1, MAC_2 = "52:54:00:00:99:01", "52:54:00:00:99:02"


def two_nics(sim: Simulator) -> None:
    sim.machine("node-1", nics=2)


def one_device(sim: Simulator) -> None:
    client(sim).post("devices/", {"hostname": "printer", "mac_addresses": [MAC_1]})
    sim.requests.clear()


LIVES += [
    Case(
        "ip_reservation",
        create={"addresses": ["10.99.0.50"]},
        change={"addresses": [{"ip": "10.99.0.50", "hostname": "api"}]},
        delete={"addresses": ["10.99.0.50"], "state": "absent"},
    ),
    Case(
        "ip_reservation",
        name="ip_reservation for a MAC address, with a name",
        create={"addresses": ["10.99.0.50"], "mac_address": MAC_1, "hostname": "api.lab.example.com"},
        change={
            "addresses": ["10.99.0.50"],
            "mac_address": MAC_2.upper().replace(":", "-"),
            "hostname": "API.lab.example.com.",
            "replace": True,
        },
        delete={"addresses": ["10.99.0.50"], "mac_address": MAC_2, "state": "absent"},
        arrange=lab_domain,
    ),
    Case(
        "ip_reservation",
        name="ip_reservation by DHCP",
        create={"addresses": ["10.99.0.50"], "type": "dhcp", "mac_address": MAC_1, "comment": "first"},
        change={"addresses": ["10.99.0.50"], "type": "dhcp", "mac_address": MAC_1, "comment": "second"},
        delete={"addresses": ["10.99.0.50"], "type": "dhcp", "state": "absent"},
    ),
    Case(
        "ip_reservation",
        name="ip_reservation by DHCP for another MAC address",
        create={"addresses": ["10.99.0.50"], "type": "dhcp", "mac_address": MAC_1, "comment": "kept"},
        change={"addresses": ["10.99.0.50"], "type": "dhcp", "mac_address": MAC_2, "replace": True},
        delete={"addresses": ["10.99.0.50"], "type": "dhcp", "mac_address": MAC_2, "state": "absent"},
    ),
    Case(
        "ip_reservation",
        name="ip_reservations, several",
        noun="ip_reservations",
        create={"addresses": ["10.99.0.50-10.99.0.52", {"ip": "10.99.0.60", "hostname": "api"}]},
        change={
            "addresses": [
                {"ip": "10.99.0.51", "state": "absent"},
                {"ip": "10.99.0.70", "type": "dhcp", "mac_address": MAC_1},
                "10.99.0.128/30",
            ]
        },
        delete={"addresses": ["10.99.0.48/28", "10.99.0.128/30"], "state": "absent"},
    ),
    Case(
        "interface_link",
        create={"machine": "node-1", "interface": "eth1", "mode": "static", "ip_address": "10.99.0.50"},
        change={"machine": "node-1", "interface": "eth1", "mode": "auto", "subnet": "10.99.0.0/24"},
        delete={"machine": "node-1", "interface": "eth1", "subnet": "10.99.0.0/24", "state": "absent"},
        arrange=two_nics,
    ),
    Case(
        "interface_link",
        name="interface_link with an address of MAAS's choice",
        create={"machine": "node-1", "interface": "eth1", "mode": "static", "subnet": "10.99.0.0/24"},
        change={"machine": "node-1", "interface": "eth1", "mode": "static", "ip_address": "10.99.0.50"},
        delete={"machine": "node-1", "interface": "eth1", "ip_address": "10.99.0.50", "state": "absent"},
        arrange=two_nics,
    ),
    Case(
        "interface_link",
        name="interface_link as the default gateway",
        create={"machine": "node-1", "interface": "eth1", "mode": "auto", "subnet": "cidr:10.99.0.0/24"},
        change={
            "machine": "node-1",
            "interface": "eth1",
            "mode": "auto",
            "subnet": "10.99.0.0/24",
            "default_gateway": True,
        },
        delete={"machine": "node-1", "interface": "eth1", "purge": True, "state": "absent"},
        arrange=two_nics,
    ),
    Case(
        "interface_link",
        name="interface_link by DHCP, then up alone",
        create={"machine": "node-1", "interface": "eth1", "mode": "dhcp"},
        change={"machine": "node-1", "interface": "eth1", "mode": "link_up", "purge": True},
        delete={"machine": "node-1", "interface": "eth0", "purge": True, "state": "absent"},
        arrange=two_nics,
    ),
    Case(
        "interface_link",
        name="interface_link of a device",
        create={"device": "printer", "interface": MAC_1, "mode": "static", "ip_address": "10.99.0.50"},
        change={"device": "printer", "interface": "eth0", "mode": "static", "ip_address": "10.99.0.51"},
        delete={"device": MAC_1, "interface": "eth0", "subnet": "10.99.0.0/24", "state": "absent"},
        arrange=one_device,
    ),
]

LXD = {"power_address": "127.0.0.1:8449", "password": "sekret"}
PROMPT = {"wait_sleep": 0.05, "wait_timeout": 10}


def zone_and_pool(sim: Simulator) -> None:
    sim.machine("other", zone="az1", pool="virtual")


def deployed_with_lxd(sim: Simulator) -> None:
    sim.machine("node-1", status="Deployed", zone="az1", pool="virtual", cpu=8, memory=32768)
    sim.lxd("node-1", password="sekret")


def two_vms_on_kvm1(sim: Simulator) -> None:
    maas = client(sim)
    host = maas.post("vm-hosts/", {"type": "lxd", "name": "kvm1", "project": "maas", **LXD})
    sim.forward(1)
    for name in ("vm1", "vm2"):
        maas.post(f"vm-hosts/{host['id']}/", {"hostname": name, "skip_commissioning": True}, op="compose")
    sim.requests.clear()


LIVES += [
    Case(
        "vm_host",
        create={"name": "kvm1", **LXD, "zone": "az1", "pool": "virtual", "tags": ["fast"], **PROMPT},
        change={
            "name": "kvm1",
            "zone": "default",
            "tags": ["slow"],
            "purge_tags": True,
            "cpu_over_commit_ratio": 4,
            "memory_over_commit_ratio": 1.5,
            "default_macvlan_mode": "bridge",
            "schedulable": False,
        },
        delete={"name": "kvm1", "state": "absent"},
        arrange=zone_and_pool,
    ),
    Case(
        "vm_host",
        name="vm_host on a machine, renamed",
        create={"machine": "node-1", "password": "sekret", "schedulable": False, **PROMPT},
        change={"machine": "node-1", "name": "lxd-host-node-1", "schedulable": True, "default_storage_pool": "default"},
        delete={"machine": "node-1", "state": "absent"},
        arrange=deployed_with_lxd,
    ),
    Case(
        "vm_host",
        name="vm_host by its address, with VMs",
        create={"power_address": "https://127.0.0.1:8449", "project": "maas", "tags": ["fast"]},
        change={**LXD, "project": "maas", "name": "kvm2", "schedulable": False},
        delete={"name": "kvm2", "state": "absent", "vms": "delete"},
        arrange=two_vms_on_kvm1,
    ),
]


def three_hosts(sim: Simulator) -> None:
    Hosts.up(sim)


# The other way to make VMs, and what both have in common, is in test_vms.py.
LIVES += [
    Case(
        "vm",
        create={"hostname": "web", "cores": 2, "memory": "4GiB", "interfaces": [{"ip_address": "10.99.0.61"}], **QUICK},
        change={"hostname": "web", "zone": "az2", "interfaces": [{"ip_address": "10.99.0.62"}], **QUICK},
        delete={"hostname": "web", "state": "absent", **QUICK},
        arrange=three_hosts,
    ),
    Case(
        "vm_set",
        noun="vms",
        create={"claim": "cp", "count": 3, "disks": [{"size": "20GB"}, {"size": "1GB"}], "max_per_host": 1, **QUICK},
        change={"claim": "cp", "count": 2, "zone": "az1", **QUICK},
        delete={"claim": "cp", "state": "absent", **QUICK},
        arrange=three_hosts,
    ),
]

# Modules that only read: the arguments with which they are run.
READERS: Mapping[str, Sequence[Args]] = {
    "machine_info": [
        {},
        {"machines": ["node-1"], "gather": ["interfaces", "block_devices", "power_parameters", "events", "results"]},
        {"status": ["ready", "failed_testing"], "zones": ["default"], "claim": "web", "full": True},
        {"tags": ["not-made-yet"]},
    ],
    "vm_host_info": [
        {},
        {"names": ["kvm1"], "gather": ["virtual_machines", "parameters"], "claim": "web"},
        {"zones": ["default"], "pools": ["default"], "tags": ["fast"], "schedulable": True, "machines": ["node-1"]},
    ],
    "maas_info": [{}, {"gather": []}, {"gather": ["all", "machines"]}],
    "lxd_host_preflight_info": [
        {"facts": {}, "fail": False},
        {"wanted": {"storage_driver": "zfs", "storage_size": "80%"}, "facts": {"free": 1000}, "checks": ["free space"]},
        {"state": "absent", "facts": {"host": "kvm-1", "record": ["packages lxd", "project maas"]}},
    ],
}

# What acts whenever it is asked, and ends in no state that a second run could find.
ACTS: list[Act] = [Act("disk_erasure", {"machines": ["node-1", "node-2"]}, three_machines)]

# What each module that talks to Kubernetes needs to be told at least.
NEAR_KUBERNETES: Mapping[str, Args] = {
    "cluster_api_pause": {"name": "kvm1", "state": "absent"},
    "hosted_cluster": {"name": "demo"},
    "hosted_cluster_audit_info": {"name": "demo"},
    "hosted_cluster_diagnosis_info": {"name": "demo"},
    "hosted_cluster_info": {"name": "demo"},
    "hosted_cluster_ingress": {"name": "demo", "publish": "NodePort"},
    "hosted_cluster_kubeconfig": {"name": "demo", "dest": "/tmp/kubeconfig"},
    "hosted_cluster_preflight_info": {"name": "demo"},
    "kube_manifest": {"name": "demo", "state": "absent"},
    "node_csr": {"name": "demo"},
    "node_pool": {"name": "demo"},
}

# What is wrong for all of them.
WRONG_NEAR_KUBERNETES: list[Wrong] = [
    Wrong("*", {"kubeconfig": "/nowhere/kubeconfig"}, "There is no kubeconfig at /nowhere/kubeconfig."),
    Wrong("*", {"kubeconfig": {"kind": "Config"}}, "The kubeconfig (the one given) cannot be used"),
    Wrong("*", {"host": "api.example.com", "api_key": "x"}, "host is not a URL: 'api.example.com'"),
    Wrong("*", {"host": "https://127.0.0.1:9", "api_key": "x", "ca_cert": "/nowhere/ca.pem"}, "/nowhere/ca.pem"),
    Wrong("*", {"validate_certs": "perhaps"}, "validate_certs"),
    Wrong("*", {"kubekonfig": "x"}, "unknown option kubekonfig"),
]

# What is wrong for every module of MAAS alone, on top of what is right for it.
WRONG_EVERYWHERE: list[Wrong] = [
    Wrong("*", {}, "maas_endpoint is missing: give the option or set", connect=False),
    Wrong("*", {"maas_endpoint": "http://maas.invalid"}, "maas_api_key is missing", connect=False),
    Wrong("*", {"maas_endpoint": "maas.example.com"}, "maas_endpoint is not a URL: 'maas.example.com'"),
    Wrong("*", {"maas_endpoint": "http://u:p@maas"}, "maas_endpoint must not hold a user name"),
    Wrong("*", {"maas_endpoint": ["http://a", "http://b"]}, "maas_endpoint is not a URL"),
    Wrong("*", {"maas_api_key": "sesame"}, "maas_api_key is not an API key of MAAS"),
    Wrong("*", {"maas_api_key": "a:b:c"}, "does not accept the API key", kind="credentials"),
    Wrong("*", {"maas_ca_cert": "/nowhere/ca.pem"}, "maas_ca_cert names a file that does not exist"),
    Wrong("*", {"maas_timeout": "soon"}, "maas_timeout"),
    Wrong("*", {"maas_timeout": 0}, "maas_timeout must be more than 0"),
    Wrong("*", {"maas_validate_certs": "perhaps"}, "maas_validate_certs"),
    Wrong("*", {"maas_api_kye": "a:b:c"}, "unknown option maas_api_kye"),
]

WRONG: list[Wrong] = [
    Wrong("lxd_host_preflight_info", {}, "missing required arguments: facts"),
    Wrong("lxd_host_preflight_info", {"facts": {"fils": []}}, "facts has fils, which it does not take; it takes host"),
    Wrong("lxd_host_preflight_info", {"facts": {"files": "/dev/kvm"}}, "facts: files must be a list, not '/dev/kvm'."),
    Wrong("lxd_host_preflight_info", {"facts": {}, "wanted": {"port": "x"}}, "wanted: port must be a whole number"),
    Wrong("lxd_host_preflight_info", {"facts": {}, "checks": ["weather"]}, "checks has weather; there are python, kvm"),
    Wrong(
        "lxd_host_preflight_info",
        {"facts": {"host": "kvm-1"}, "checks": ["kvm"]},
        "kvm-1 cannot become an LXD host, and nothing was written: There is no /dev/kvm.",
        kind="conflict",
    ),
    Wrong("disk_erasure", {"machines": ["node-9"]}, "MAAS does not know node-9", kind="not_found"),
    Wrong("disk_erasure", {"machines": ["node-1"], "wait_timeout": 0}, "wait_timeout must be more than 0"),
    Wrong("node_csr", {}, "missing required arguments: name"),
    Wrong("node_csr", {"name": "x", "max_age": 0}, "max_age must be more than 0 seconds, not 0.0."),
    Wrong("node_csr", {"name": "x", "max_age": "long"}, "max_age"),
    Wrong("node_csr", {"name": "x", "kubeconfig": "/nowhere/kubeconfig"}, "There is no kubeconfig at /nowhere"),
    Wrong("node_csr", {"name": "x", "kubeconfig": {"kind": "Config"}}, "The kubeconfig (the one given) cannot be used"),
    Wrong("machine", {}, "missing required arguments: machines"),
    Wrong("machine", {"machines": ["x"], "state": "gone"}, "value of state must be one of: present, ready"),
    Wrong("machine", {"machines": [{"nme": "x"}]}, "unknown option nme"),
    Wrong("machine", {"machines": [{"zone": "x"}]}, "machines[1] is wrong: missing required arguments: name"),
    Wrong("machine", {"machines": [{"name": "x", "state": "up"}]}, "machines[1] (x) is wrong: value of state must be"),
    Wrong("machine", {"machines": [41148003242], "state": "absent"}, "machines[1] is a number, 41148003242."),
    Wrong("machine", {"machines": [{"name": 7}]}, "machines[1] is a number, 7. Put quotes"),
    Wrong("machine", {"machines": [""]}, "machines[1] is no name of a machine."),
    Wrong("machine", {"machines": [["node-1"]]}, "machines[1] is no name of a machine."),
    Wrong("machine", {"machines": [None]}, "machines[1] is no name of a machine."),
    Wrong("machine", {"machines": ["x", "y"], "hostname": "z"}, "hostname cannot hold for 2 machines."),
    Wrong("machine", {"machines": ["x"], "wait_timeout": 0}, "wait_timeout must be more than 0 seconds"),
    Wrong("machine", {"machines": ["x"], "mac_addresses": ["garbage"]}, "'garbage', which is no MAC address."),
    Wrong("machine", {"machines": ["x"], "hostname": "bad_name"}, "'bad_name' is no host name."),
    Wrong("machine", {"machines": ["x"], "annotations": {"metalshift_claim": "w"}}, "belong to this collection"),
    Wrong("machine", {"machines": ["x"], "annotations": {"a b": "c"}}, "the key 'a b', which MAAS does not take."),
    Wrong("machine", {"machines": ["x"], "osystem": "ubuntu"}, "osystem: ubuntu needs distro_series."),
    Wrong("machine", {"machines": ["x"], "erase": False, "quick_erase": True}, "erase: false contradicts quick_erase"),
    Wrong("machine", {"machines": ["x"], "user_data_file": "/nowhere"}, "user_data_file cannot be read: '/nowhere'"),
    Wrong("machine", {"machines": ["x"], "user_data_file": "/a\x00b"}, "'/a\\x00b' (this is no path)."),
    Wrong("machine", {"machines": ["x"], "maas_ca_cert": "/a\x00b"}, "maas_ca_cert names a file that does not exist"),
    Wrong("interface_link", {"machine": None, "interface": "eth0", "mode": "dhcp"}, "machine, device"),
    Wrong("machine", {"machines": ["x"], "user_data": "a", "user_data_file": "b"}, "exclude each other."),
    Wrong("machine", {"machines": ["x"], "recover": ["ready"]}, "value of recover must be one or more of"),
    Wrong("machine", {"machines": ["x"]}, "x cannot be changed: MAAS does not know it.", kind="not_found"),
    Wrong("machine", {"machines": ["node-1"], "zone": "az9"}, "MAAS has no zone az9.", three_machines, "not_found"),
    Wrong(
        "machine", {"machines": ["node-1"], "tags": ["a", "b"]}, "no tag a and no tag b.", three_machines, "not_found"
    ),
    Wrong("machine", {"machines": ["node-1"], "act": "abort"}, "where nothing runs", three_machines, "conflict"),
    Wrong(
        "machine",
        {**ENLISTED, "architecture": "sparc"},
        "node-9 cannot be enlisted: MAAS refuses (architecture: 'sparc/generic' is not a valid architecture.",
        kind="rejected",
    ),
    Wrong(
        "machine",
        {"machines": ["node-1"], "annotations": {"a": "b"}},
        "node-1 cannot have annotations: MAAS keeps them only while somebody holds the machine.",
        three_machines,
        "conflict",
    ),
    Wrong("machine_set", {}, "missing required arguments: claim"),
    Wrong("machine_set", {"claim": "web"}, "state is deployed but all of the following are missing: count"),
    Wrong("machine_set", {"claim": "web server", "count": 1}, "'web server' cannot be a claim. Begin with a letter"),
    Wrong("machine_set", {"claim": "web", "count": -1}, "count must be at least 0 and at most 10000, not -1."),
    Wrong("machine_set", {"claim": "web", "count": 300000}, "count must be at least 0 and at most 10000, not 300000."),
    Wrong("machine_set", {"claim": "web", "count": None}, "all of the following are missing: count"),
    Wrong("machine_set", {"claim": "web", "count": "many"}, "argument 'count' is of type"),
    Wrong("machine_set", {"claim": "web", "count": 1, "max_replacements": -1}, "max_replacements must be at least"),
    Wrong("machine_set", {"claim": "web", "count": 1, "state": "ready"}, "value of state must be one of: allocated"),
    Wrong("machine_set", {"claim": "web", "count": 1, "spread": "wide"}, "value of spread must be one of: even"),
    Wrong("machine_set", {"claim": "web", "count": 1, "memory": "lots"}, "memory"),
    Wrong("machine_set", {"claim": "web", "count": 1, "cores": 0}, "cores cannot be 0"),
    Wrong("machine_set", {"claim": "web", "count": 1, "storage": ["root:big"]}, "storage"),
    Wrong("machine_set", {"claim": "web", "count": 1, "zones": ["a"], "not_zones": ["a"]}, "zones and not_zones both"),
    Wrong("machine_set", {"claim": "web", "count": 1, "osystem": "ubuntu"}, "osystem: ubuntu needs distro_series."),
    Wrong("machine_set", {"claim": "web", "count": 1, "wait_timeout": 0}, "wait_timeout must be more than 0 seconds"),
    Wrong("machine_set", {"claim": "web", "count": 1, "recover": ["ready"]}, "value of recover must be one or more of"),
    Wrong("machine_set", {"claim": "web", "count": 1, "zones": ["az9"]}, "No such zone(s): az9", kind="rejected"),
    Wrong("machine_set", {"claim": "web", "count": 1, "tags": ["none"]}, "No such tag(s): 'none'", kind="rejected"),
    Wrong(
        "machine_set",
        {"claim": "web", "count": 1},
        "1 of 1 machines for the claim web cannot be had: no machine is Ready. Free machines or",
        kind="capacity",
    ),
    Wrong("machine_info", {"status": ["happy"]}, "value of status must be one or more of: new, commissioning"),
    Wrong("machine_info", {"gather": ["gossip"]}, "value of gather must be one or more of: interfaces"),
    Wrong("machine_info", {"claim": ""}, "claim must not be empty. Leave out what is not to be set."),
    Wrong("machine_info", {"owner": ""}, "owner must not be empty."),
    Wrong("machine_info", {"zone": ["az9"]}, "zone: No such zone(s): az9.", kind="rejected"),
    Wrong("zone", {}, "missing required arguments: name"),
    Wrong("image", {"name": "a", "path": "/nowhere.gz"}, "The file /nowhere.gz cannot be read: No such file"),
    Wrong("image", {"name": "a", "path": "/etc"}, "What kind of image /etc is cannot be seen from its name."),
    Wrong("image", {"name": "a", "path": "/etc", "filetype": "ddraw"}, "The file /etc cannot be read: Is a directory"),
    Wrong("image", {"name": "a", "path": "/dev/null", "filetype": "ddraw"}, "The file /dev/null is empty."),
    Wrong("image", {"name": "ubuntu/noble", "path": "a.gz"}, "name cannot be 'ubuntu/noble'"),
    Wrong("image", {"name": "a"}, "state: present needs path."),
    Wrong("zone", {"name": "x", "state": "gone"}, "value of state must be one of: present, absent"),
    Wrong("zone", {"name": "x", "nmae": "y"}, "unknown option nmae"),
    Wrong("zone", {"name": "../tags"}, "'../tags' cannot be the name of a zone"),
    Wrong("zone", {"name": ""}, "name must not be empty"),
    Wrong("zone", {"name": "a!b"}, "zone a!b cannot be created: MAAS refuses (name: ", kind="rejected"),
    Wrong("zone", {"name": "default", "state": "absent"}, "The default zone cannot be removed", kind="conflict"),
    Wrong("domain", {}, "missing required arguments: name"),
    Wrong("domain", {"name": "maas", "state": "absent"}, "default domain maas cannot be removed", kind="conflict"),
    Wrong(
        "domain",
        {"name": "lab.example.com", "state": "absent"},
        "it has 1 record. Remove them first",
        lambda sim: lab_domain(sim, {"fqdn": "www.lab.example.com", "ip_addresses": "10.99.0.50"}),
        "conflict",
    ),
    Wrong("resource_pool", {}, "missing required arguments: name"),
    Wrong("resource_pool", {"name": ".."}, "'..' cannot be the name of a resource pool"),
    Wrong("resource_pool", {"name": "bad!"}, "name: Enter a valid value", kind="rejected"),
    Wrong(
        "resource_pool", {"name": "default", "state": "absent"}, "default resource pool default cannot", kind="conflict"
    ),
    Wrong(
        "resource_pool",
        {"name": "hosted", "state": "absent"},
        "The resource pool hosted cannot be removed: node-1 is in it.",
        kind="conflict",
        arrange=lambda sim: sim.machine("node-1", pool="hosted"),
    ),
    Wrong("tag", {}, "missing required arguments: name"),
    Wrong("tag", {"name": "two words"}, "name: Enter a valid value", kind="rejected"),
    Wrong("tag", {"name": "auto", "definition": "((("}, "definition: Invalid xpath expression", kind="rejected"),
    Wrong("tag", {"name": "fast", "machines": ["node-9"]}, "MAAS does not know node-9.", kind="not_found"),
    Wrong("tag", {"name": "fast", "machines": {"name": "node-9"}}, "machines"),
    Wrong(
        "tag",
        {"name": "auto", "definition": "//node", "machines": ["node-1"]},
        "MAAS itself chooses its machines",
        arrange=three_machines,
    ),
    Wrong("vm", {}, "missing required arguments: hostname"),
    Wrong("vm", {"hostname": "Web"}, "hostname cannot be 'Web'. Begin with a small letter"),
    Wrong("vm", {"hostname": "web", "cores": 0}, "cores must be at least 1, not 0."),
    Wrong("vm", {"hostname": "web", "memory": "512MiB"}, "memory cannot be '512MiB'. A VM has 1 GiB at least"),
    Wrong("vm", {"hostname": "web", "disks": [{"size": "big"}]}, "disks[1].size cannot be 'big'."),
    Wrong("vm", {"hostname": "web", "disks": [{"size": "8GB", "tags": ["a,b"]}]}, "disks[1] has 'a,b' for a pool"),
    Wrong("vm", {"hostname": "web", "pinned_cores": [1, 1]}, "pinned_cores names cores of the host by number"),
    Wrong("vm", {"hostname": "web", "pinned_cores": [1], "cores": 2}, "cores is 2, and pinned_cores names 1."),
    Wrong("vm", {"hostname": "web", "interfaces": [{"subnet": "a", "space": "b"}]}, "interfaces[1] has subnet and"),
    Wrong(
        "vm",
        {"hostname": "web", "interfaces": [{"ip_address": "10.99.0"}]},
        "interfaces[1].ip_address cannot be '10.99.0'",
    ),
    Wrong(
        "vm",
        {"hostname": "web", "interfaces": [{"ip_address": "10.99.0.5"}, {"ip": "10.99.0.5"}]},
        "interfaces has 10.99.0.5 twice.",
    ),
    Wrong("vm", {"hostname": "web", "hosts": []}, "hosts is an empty list, and no host is in that."),
    Wrong(
        "vm_set",
        {"claim": "cp", "count": 1, "interfaces": [{"addresses": []}]},
        "interfaces[1].addresses is an empty list, and no VM gets an address from that.",
    ),
    Wrong("vm", {"hostname": "web", "via": "lxd"}, "via: lxd needs lxd_hosts, or lxd_endpoint for one host alone."),
    Wrong(
        "vm",
        {"hostname": "web", "via": "lxd", "lxd_hosts": [{"name": "a", "endpoint": "/var/lib/lxd/unix.socket"}]},
        "lxd_hosts has the socket /var/lib/lxd/unix.socket for a: MAAS cannot reach that.",
    ),
    Wrong(
        "vm",
        {"hostname": "web", "via": "lxd", "lxd_hosts": [{"name": "a", "endpoint": "https://127.0.0.1:9"}]},
        "lxd_client_cert is missing",
    ),
    Wrong(
        "vm",
        {
            "hostname": "web",
            "via": "lxd",
            "lxd_hosts": [{"name": "a", "endpoint": "https://127.0.0.1:9"}],
            "disks": [{"size": "8GB", "tags": ["data"]}],
        },
        "disks[1] has tags, and these need via: maas.",
    ),
    Wrong("vm", {"hostname": "web", "wait_timeout": 0}, "wait_timeout must be more than 0", three_hosts),
    Wrong("vm", {"hostname": "web"}, "web cannot be placed: there is no VM host.", kind="capacity"),
    Wrong("vm_set", {"claim": "cp"}, "state is present but all of the following are missing: count"),
    Wrong("vm_set", {"claim": "CP", "count": 1}, "'CP' cannot be the claim of VMs: their hostnames begin with it."),
    Wrong("vm_set", {"claim": "cp", "count": -1}, "count must be at least 0 and at most 10000, not -1."),
    Wrong("vm_set", {"claim": "cp", "count": 300000}, "count must be at least 0 and at most 10000, not 300000."),
    Wrong("vm_set", {"claim": "cp", "count": None}, "state is present but all of the following are missing: count"),
    Wrong("vm_set", {"claim": "cp", "count": 1, "spread": "wide"}, "value of spread must be one of: zone, host"),
    Wrong("vm_set", {"claim": "cp", "count": 1, "max_per_host": 0}, "max_per_host must be at least 1, not 0."),
    Wrong(
        "vm_set",
        {"claim": "cp", "count": 2, "interfaces": [{"ip_address": "10.99.0.5"}]},
        "interfaces has the address 10.99.0.5 for all VMs of a set.",
    ),
    Wrong(
        "vm_set",
        {"claim": "cp", "count": 2, "interfaces": [{"ip_address": "dhcp", "addresses": ["10.99.0.5"]}]},
        "interfaces[1] has both ip_address and addresses.",
    ),
    Wrong("maas_info", {"gather": ["everything"]}, "value of gather must be one or more of: all, boot_resources"),
    Wrong("dns_record", {"value": "10.99.0.1"}, "one of the following is required: fqdn, name"),
    Wrong("dns_record", {"name": "www"}, "state is present but all of the following are missing: value"),
    Wrong("dns_record", {"name": "www", "value": []}, "value must not be empty"),
    Wrong("dns_record", {"name": "www", "fqdn": "www.maas", "value": "10.99.0.1"}, "mutually exclusive: fqdn|name"),
    Wrong("dns_record", {"name": "www", "value": "10.99.0.300"}, "needs IPv4 addresses, and '10.99.0.300' is none"),
    Wrong("dns_record", {"name": "www", "value": "10.99.0.1,10.99.0.2", "type": "AAAA"}, "needs IPv6 addresses"),
    Wrong("dns_record", {"name": "www", "value": "a.maas.", "type": "PTR"}, "value of type must be one of: A, AAAA"),
    Wrong("dns_record", {"name": "www", "value": ["a.", "b."], "type": "CNAME"}, "A name has only one CNAME"),
    Wrong("dns_record", {"name": "www", "value": "10.99.0.1", "ttl": -5}, "ttl must be between 0 and 604800"),
    Wrong("dns_record", {"name": "www", "value": "10.99.0.1", "ttl": "soon"}, "ttl"),
    Wrong("dns_record", {"name": "w w", "value": "10.99.0.1"}, "'w w' cannot be a name in the domain maas"),
    Wrong("dns_record", {"name": "", "value": "10.99.0.1"}, "name must not be empty."),
    Wrong("dns_record", {"fqdn": "www.org", "value": "10.99.0.1"}, "not have the domain of www.org", kind="not_found"),
    Wrong(
        "dns_record",
        {"name": "w", "domain": "org", "value": "10.99.0.1"},
        "the domain org; it has maas",
        kind="not_found",
    ),
    Wrong("dns_record", {"name": "a.b", "value": "10.99.0.1"}, "it must be one label of letters, digits and hyphens"),
    Wrong("dns_record", {"name": "_a", "value": "10.99.0.1"}, "_a in the domain maas cannot have addresses"),
    Wrong("dns_record", {"name": "w", "type": "MX", "value": "garbage"}, "Invalid MX: Should be", kind="rejected"),
    Wrong(
        "dns_record",
        {"fqdn": "www.lab.example.com", "type": "CNAME", "value": "api.lab.example.com."},
        "www.lab.example.com has a record of type A, and a CNAME must be alone at its name.",
        kind="conflict",
        arrange=lambda sim: lab_domain(sim, {"fqdn": "www.lab.example.com", "ip_addresses": "10.99.0.50"}),
    ),
    Wrong("vm_host", {}, "one of the following is required: name, power_address, machine"),
    Wrong("vm_host", {"name": ""}, "name must not be empty."),
    Wrong("vm_host", {"name": "kvm1"}, "MAAS has no VM host kvm1, and power_address is missing to register it."),
    Wrong("vm_host", {"name": "kvm1", "state": "gone"}, "value of state must be one of: present, absent"),
    Wrong("vm_host", {"name": "kvm1", "vms": "move"}, "value of vms must be one of: delete, keep"),
    Wrong("vm_host", {"name": "kvm1", "pasword": "x"}, "unknown option pasword"),
    Wrong("vm_host", {"name": "kvm1", "password": "x", "token": "y"}, "mutually exclusive: password|token"),
    Wrong("vm_host", {"power_address": "http://kvm1"}, "power_address is not the address of an LXD: 'http://kvm1'."),
    Wrong("vm_host", {"power_address": "kvm1:port"}, "power_address is not the address of an LXD"),
    Wrong("vm_host", {"power_address": "kvm1/1.0"}, "power_address is not the address of an LXD"),
    Wrong("vm_host", {"name": "kvm1", **LXD, "zone": ""}, "zone must not be empty."),
    Wrong("vm_host", {"name": "kvm1", **LXD, "cpu_over_commit_ratio": 11}, "must be between 0 and 10, not 11"),
    Wrong("vm_host", {"name": "kvm1", **LXD, "memory_over_commit_ratio": "much"}, "memory_over_commit_ratio"),
    Wrong("vm_host", {"name": "kvm1", **LXD, "default_macvlan_mode": "vxlan"}, "must be one of: bridge, passthru"),
    Wrong("vm_host", {"name": "kvm1", **LXD, "tags": ["a,b c"]}, "tags holds 'a,b c', which no tag of MAAS can be"),
    Wrong(
        "vm_host",
        {"name": "kvm1", **LXD, "tags": ["maas-lxd-host-noschedule"]},
        "belong to the Cluster API provider. Use schedulable",
    ),
    Wrong("vm_host", {"name": "kvm1", **LXD, "wait_timeout": 0}, "wait_timeout must be more than 0 seconds"),
    Wrong("vm_host", {"name": "kvm1", "certificate": "/x.crt"}, "required together: certificate, key"),
    Wrong(
        "vm_host",
        {"name": "kvm1", "certificate": "/nowhere.crt", "key": "/nowhere.key"},
        "certificate names a file that does not exist. Give PEM or the path of it; make_certificate: true",
    ),
    Wrong(
        "vm_host",
        {"name": "kvm1", "certificate": "-----BEGIN CERTIFICATE-----", "key": "-----BEGIN "},
        "certificate is not a certificate in PEM.",
    ),
    Wrong(
        "vm_host",
        {"name": "kvm1", "certificate": "-----BEGIN CERT", "key": "/x", "make_certificate": True},
        "make_certificate needs certificate and key to be paths.",
    ),
    Wrong(
        "vm_host",
        {"name": "kvm1", "power_address": "127.0.0.1:8449", "token": "sekret"},
        "token is not a trust token of LXD.",
    ),
    Wrong("vm_host", {"name": "kvm1", **LXD, "zone": "az9"}, "MAAS has no zone az9. Check the", kind="not_found"),
    Wrong("vm_host", {"name": "kvm1", **LXD, "pool": "p", "zone": "z"}, "no zone z and no pool p.", kind="not_found"),
    Wrong("vm_host", {"machine": "node-9"}, "MAAS does not know the machine node-9.", kind="not_found"),
    Wrong(
        "vm_host",
        {"machine": "node-1"},
        "node-1 is Ready, and MAAS would call it Deployed once LXD answers. Deploy it first.",
        three_machines,
        "conflict",
    ),
    Wrong(
        "vm_host",
        {"name": "kvm1", "state": "absent"},
        "VM host kvm1 cannot be removed: it has 2 VMs: vm1, vm2. Set vms: delete to delete them",
        two_vms_on_kvm1,
        "conflict",
    ),
    Wrong(
        "vm_host",
        {"name": "kvm1", "power_address": "10.0.0.9"},
        "VM host kvm1 is the project maas of LXD at 127.0.0.1:8449, and cannot become the project maas of LXD at 10.0.",
        two_vms_on_kvm1,
        "conflict",
    ),
    Wrong(
        "vm_host",
        {"name": "kvm1", "project": "other"},
        "and cannot become the project other of LXD at 127.0.0.1:8449. Choose another name",
        two_vms_on_kvm1,
        "conflict",
    ),
    Wrong(
        "vm_host_info", {"gather": ["gossip"]}, "value of gather must be one or more of: virtual_machines, parameters"
    ),
    Wrong("vm_host_info", {"claim": ""}, "claim must not be empty."),
    Wrong("vm_host_info", {"schedulable": "perhaps"}, "schedulable"),
]

PLACE = {"machine": "node-1", "interface": "eth1"}
STATIC = {**PLACE, "mode": "static"}
KEPT = {"type": "dhcp", "mac_address": MAC_1}


def reserved(sim: Simulator) -> None:
    """A machine, and an address that the administrator has reserved."""
    two_nics(sim)
    reserve(sim, "10.99.0.9")


def dynamic_range(sim: Simulator) -> None:
    two_nics(sim)
    form = {"type": "dynamic", "start_ip": "10.99.0.200", "end_ip": "10.99.0.220"}
    client(sim).post("ipranges/", form)


def other_vlan(sim: Simulator) -> None:
    two_nics(sim)
    fabric = client(sim).post("fabrics/", {"name": "far"})
    client(sim).post("subnets/", {"cidr": "172.16.0.0/24", "fabric": fabric["id"], "vid": 0})


WRONG += [
    Wrong("ip_reservation", {}, "missing required arguments: addresses"),
    Wrong("ip_reservation", {"addresses": ["10.99.0"]}, "addresses[1] cannot be '10.99.0', which is no IP address."),
    Wrong("ip_reservation", {"addresses": [None]}, "addresses[1] cannot be 'None', which is no IP address."),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9-10.99.0.1"]}, "whose end is before its beginning."),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9-2001:db8::1"]}, "whose end is before its beginning."),
    Wrong("ip_reservation", {"addresses": ["10.99.0.1/24"]}, "'10.99.0.1/24', which is no network."),
    Wrong("ip_reservation", {"addresses": ["2001:db8::/64"]}, "addresses[1] holds more than 4096 addresses."),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9", {"ip": "10.99.0.9"}]}, "10.99.0.9 is named twice."),
    Wrong("ip_reservation", {"addresses": [{"pi": "10.99.0.9"}]}, "addresses[1] is wrong: missing required"),
    Wrong("ip_reservation", {"addresses": [{"ip": "10.99.0.9", "mac": "x"}]}, "unknown option mac"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9"], "mac_address": "x"}, "'x', which is no MAC address."),
    Wrong("ip_reservation", {"addresses": ["10.99.0.8/31"], "hostname": "api"}, "2 addresses, which cannot share"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.8", "10.99.0.9"], "hostname": "a"}, "cannot hold for 2 addresses."),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9"], "comment": "x"}, "comment needs type: dhcp."),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9"], "type": "dhcp"}, "type: dhcp needs mac_address"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9"], **KEPT, "hostname": "x"}, "hostname needs type: user."),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9"], "type": "static"}, "value of type must be one of: user, dhcp"),
    Wrong(
        "ip_reservation",
        {"type": "dhcp", "addresses": [{"ip": ip, "mac_address": MAC_1} for ip in ("10.99.0.8", "10.99.0.9")]},
        "10.99.0.8 and 10.99.0.9 cannot both be kept for 52:54:00:00:99:01.",
    ),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9"], "hostname": "@"}, "hostname cannot be @. Make such a name"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9"], "hostname": "a_b"}, "a_b in the domain maas cannot have"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.9"], "hostname": "a.b.c"}, "the domain of a.b.c", kind="not_found"),
    Wrong("ip_reservation", {"addresses": ["172.31.0.1"]}, "is in no subnet that MAAS has.", kind="not_found"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.0"]}, "the network or broadcast address", kind="conflict"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.255"]}, "the network or broadcast address", kind="conflict"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.1"]}, "it is the gateway of 10.99.0.0/24.", kind="conflict"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.2"]}, "used by the controller region1 (eth0).", kind="conflict"),
    Wrong("ip_reservation", {"addresses": ["10.99.0.2"], **KEPT}, "used by the controller region1", kind="conflict"),
    Wrong(
        "ip_reservation",
        {"addresses": ["10.99.0.210"]},
        "10.99.0.210 cannot be reserved: it is in the dynamic range 10.99.0.200 to 10.99.0.220, out of which DHCP",
        dynamic_range,
        "conflict",
    ),
    Wrong(
        "ip_reservation",
        {"addresses": ["10.99.0.9"], "mac_address": MAC_1},
        "10.99.0.9 cannot be reserved: it is reserved by admin, but for no MAC address. Set replace: true",
        reserved,
        "conflict",
    ),
    Wrong(
        "ip_reservation",
        {"addresses": ["10.99.0.9"], **KEPT},
        "10.99.0.9 cannot be kept for 52:54:00:00:99:01: it is reserved by admin.",
        reserved,
        "conflict",
    ),
    Wrong(
        "ip_reservation",
        {"addresses": ["10.99.0.9"], "mac_address": MAC_1},
        "it is meant for 52:54:00:00:99:01, which belongs to the device printer (eth0). Give it to that interface with",
        one_device,
        "conflict",
    ),
    Wrong("interface_link", {"interface": "eth0", "mode": "dhcp"}, "is required: machine, device"),
    Wrong("interface_link", {"machine": "node-1", "mode": "dhcp"}, "missing required arguments: interface"),
    Wrong("interface_link", {**PLACE, "device": "x", "mode": "dhcp"}, "mutually exclusive: machine|device"),
    Wrong("interface_link", {**PLACE, "machine": "", "mode": "dhcp"}, "machine must not be empty."),
    Wrong("interface_link", {"device": " ", "interface": "y", "mode": "static"}, "device must not be empty."),
    Wrong("interface_link", {**PLACE, "interface": "", "mode": "dhcp"}, "interface must not be empty."),
    Wrong("interface_link", PLACE, "state is present but all of the following are missing: mode"),
    Wrong("interface_link", {**PLACE, "mode": "manual"}, "value of mode must be one of: static, auto, dhcp, link_up"),
    Wrong("interface_link", STATIC, "mode: static needs subnet or ip_address."),
    Wrong("interface_link", {**PLACE, "mode": "auto"}, "mode: auto needs subnet."),
    Wrong("interface_link", {**PLACE, "mode": "dhcp", "ip_address": "10.99.0.9"}, "mode: dhcp takes no ip_address."),
    Wrong("interface_link", {**PLACE, "mode": "link_up", "subnet": "1"}, "mode: link_up takes no subnet"),
    Wrong("interface_link", {**PLACE, "mode": "dhcp", "default_gateway": True}, "mode: dhcp takes no default_gateway."),
    Wrong("interface_link", {"device": "x", "interface": "y", "mode": "dhcp"}, "A device takes mode: static alone"),
    Wrong("interface_link", {**PLACE, "state": "absent"}, "state: absent needs subnet or ip_address."),
    Wrong("interface_link", {**STATIC, "ip_address": "10.99"}, "ip_address cannot be '10.99'", two_nics),
    Wrong("interface_link", {**STATIC, "subnet": "size:9"}, "subnet cannot contain 'size:9'.", two_nics),
    Wrong(
        "interface_link",
        {**STATIC, "ip_address": "10.1.0.9", "subnet": "1"},
        "10.1.0.9 is not in 10.99.0.0/24.",
        two_nics,
    ),
    Wrong("interface_link", {**STATIC, "subnet": "x"}, "MAAS has no subnet x; it has 10.99", two_nics, "not_found"),
    Wrong("interface_link", {**STATIC, "ip_address": "172.31.0.1"}, "is in no subnet that", two_nics, "not_found"),
    Wrong("interface_link", {**STATIC, "subnet": "1"}, "MAAS does not know the machine node-1.", kind="not_found"),
    Wrong(
        "interface_link",
        {**STATIC, "subnet": "1", "interface": "eth7"},
        "node-1 has no interface eth7; it has eth0, eth1.",
        two_nics,
        "not_found",
    ),
    Wrong("interface_link", {**STATIC, "ip_address": "10.99.0.1"}, "it is the gateway of", two_nics, "conflict"),
    Wrong("interface_link", {**STATIC, "ip_address": "10.99.0.255"}, "broadcast address of", two_nics, "conflict"),
    Wrong(
        "interface_link",
        {**STATIC, "ip_address": "10.99.0.2"},
        "10.99.0.2 cannot be given to eth1 of node-1: it is used by the controller region1 (eth0).",
        two_nics,
        "conflict",
    ),
    Wrong(
        "interface_link",
        {**STATIC, "ip_address": "10.99.0.210"},
        "it is in the dynamic range 10.99.0.200 to 10.99.0.220",
        dynamic_range,
        "conflict",
    ),
    Wrong(
        "interface_link",
        {**STATIC, "ip_address": "10.99.0.9"},
        "it is reserved by admin. Set take_reserved: true to release it for this link.",
        reserved,
        "conflict",
    ),
    Wrong(
        "interface_link",
        {**PLACE, "interface": "eth0", "mode": "link_up"},
        "eth0 of node-1 cannot be linked: mode: link_up would end its auto link (10.99.0.0/24). Set purge_links: true",
        two_nics,
        "conflict",
    ),
    Wrong(
        "interface_link",
        {**STATIC, "interface": "eth0", "ip_address": "172.16.0.9"},
        "it is on the VLAN fabric-0/untagged, and 172.16.0.0/24 on far/untagged. Name a subnet of its VLAN, or set",
        other_vlan,
        "conflict",
    ),
    Wrong(
        "interface_link",
        {**STATIC, "interface": "eth0", "ip_address": "172.16.0.9", "change_vlan": True, "default_gateway": True},
        "172.16.0.0/24 has no gateway that could be the default one.",
        other_vlan,
        "conflict",
    ),
    Wrong(
        "interface_link",
        {**STATIC, "ip_address": "10.99.0.9"},
        "the machine is Deployed, and MAAS changes the network only of one that is New, Ready, Allocated or Broken.",
        lambda sim: sim.machine("node-1", nics=2, status="Deployed"),
        "conflict",
    ),
    Wrong(
        "interface_link",
        {**STATIC, "ip_address": "10.99.0.9"},
        "the machine is Commissioning, and MAAS changes the network only of one that is New, Ready, Allocated or Bro",
        lambda sim: sim.machine("node-1", nics=2, status="Commissioning"),
        "conflict",
    ),
]
