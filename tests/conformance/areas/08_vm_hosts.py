# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LXD VM hosts: registration, update, compose, deletion."""


def run(t):
    lxd = {"type": "lxd", "power_address": t.lxd_address}
    good = {**lxd, "password": t.lxd_password}
    t.get("vm-hosts/")
    t.get("pods/")
    t.get("vm-hosts/999/")
    t.get("vm-clusters/")
    failing(t, lxd, good)
    h = t.post("vm-hosts/", {**good, "name": "lxd1", "project": "maas", "zone": "default", "pool": "default", "tags": "a,b",
                             "cpu_over_commit_ratio": "2", "memory_over_commit_ratio": "1.5"}, note="good registration").ref("host")
    settle(t, h)
    t.get(f"vm-hosts/{h}/", note="registered")
    t.get(f"vm-hosts/{h}/", op="parameters")
    t.get(f"pods/{h}/", note="deprecated alias")
    host_machine = t.peek(f"vm-hosts/{h}/").ref("host-machine", "host.system_id")
    t.state(host_machine, "the host as a machine")
    update(t, h, good)
    vm = compose(t, h)
    after_compose(t, h, vm)
    again(t, good)
    no_rack(t, good)


def settle(t, host):
    """Wait until the host's resources are known."""
    t.wait(f"vm-hosts/{host}/", lambda b: b["total"]["cores"] > 0)


def failing(t, lxd, good):
    t.post("vm-hosts/", {}, note="no parameters")
    t.post("vm-hosts/", {"type": "nosuch", "power_address": "x"}, note="unknown type")
    t.post("vm-hosts/", {"type": "lxd"}, note="power_address missing")
    t.post("vm-hosts/", {**lxd, "zone": "nosuch", "name": "badzone"}, note="unknown zone")
    h = t.post("vm-hosts/", {**lxd, "project": "maas", "name": "untrusted"}, note="untrusted, no password").ref("untrusted")
    t.post(f"vm-hosts/{h}/", op="refresh", note="untrusted")
    t.post(f"vm-hosts/{h}/", {"cores": "1"}, op="compose", note="untrusted")
    t.delete(f"vm-hosts/{h}/")
    h = t.post("vm-hosts/", {**lxd, "password": "wrong", "name": "wrongpw"}, note="wrong trust password").ref("wrongpw")
    t.post(f"vm-hosts/{h}/", op="refresh", note="wrong trust password")
    t.delete(f"vm-hosts/{h}/")
    h = t.post("vm-hosts/", {"type": "lxd", "power_address": "127.0.0.1:9", "password": "x", "name": "dead"}, note="nothing listens there").ref("dead")
    t.post(f"vm-hosts/{h}/", op="refresh", note="nothing listens there")
    t.get(f"vm-hosts/{h}/", note="nothing listens there")
    t.delete(f"vm-hosts/{h}/")
    t.post("vm-hosts/", {**good, "name": "badcert", "certificate": "xxx", "key": "yyy"}, note="certificate and key not PEM")
    t.get("vm-hosts/", note="after the failures")


def update(t, h, good):
    again = t.post("vm-hosts/", {**good, "name": "lxd1-again", "project": "maas"}, note="same address and project again").ref("again")
    other = t.post("vm-hosts/", {**good, "name": "lxd1", "project": "other"}, note="same name, other project").ref("other")
    settle(t, again)
    settle(t, other)
    t.get("vm-hosts/", note="three hosts")
    t.delete(f"vm-hosts/{again}/")
    t.delete(f"vm-hosts/{other}/")
    t.get("vm-hosts/", note="one host left")
    t.post(f"vm-hosts/{h}/", {}, op="refresh", note="refresh")

    def put(form, note=""):
        t.put(f"vm-hosts/{h}/", form, note=note)

    put({"name": "lxd-one", "cpu_over_commit_ratio": "3"}, "update name and ratio only")
    put({}, "empty PUT")
    put({"cpu_over_commit_ratio": "99"}, "ratio out of range")
    put({"memory_over_commit_ratio": "x"}, "ratio not a number")
    put({"zone": "nosuch"})
    put({"pool": "nosuch"})
    put({"type": "virsh"}, "change of type")
    put({"default_storage_pool": "nosuch"})
    put({"default_storage_pool": "default"})
    put({"tags": "x,y"})
    t.put("vm-hosts/999/", {"name": "x"})
    put({"default_macvlan_mode": "bogus"})
    put({"default_macvlan_mode": "bridge"})
    put({"power_address": t.lxd_address}, "same address")
    t.post(f"vm-hosts/{h}/", {"tag": "t1"}, op="add_tag")
    t.post(f"vm-hosts/{h}/", {"tag": "t1,t2"}, op="add_tag")
    t.post(f"vm-hosts/{h}/", {"tag": "t1"}, op="remove_tag")
    t.post(f"vm-hosts/{h}/", {}, op="add_tag")
    t.post("vm-hosts/999/", op="refresh")
    t.get(f"vm-hosts/{h}/", note="after the updates")


def compose(t, h):
    made = {}

    def make(form, note="", label=None):
        a = t.post(f"vm-hosts/{h}/", form, op="compose", note=note)
        if label:
            made[label] = a.ref(label, "system_id")

    make({"cores": "2", "memory": "4096", "hostname": "vm1", "storage": "root:8,data:4"}, "compose", "vm1")
    vm = made["vm1"]
    t.get(f"machines/{vm}/", note="composed")
    t.state(vm)
    make({"hostname": "vm1"}, "hostname in use")
    make({"hostname": "bad_name"}, "invalid hostname")
    make({"cores": "0"})
    make({"cores": "9999"}, "more cores than the host has")
    make({"memory": "512"}, "below the minimum")
    make({"memory": "99999999"})
    make({"memory": "4G"})
    make({"storage": "root:bad"})
    make({"storage": "root:99999"}, "more storage than the pool has")
    make({"storage": "8", "hostname": "vm-plain"}, "storage without a label", "vm-plain")
    make({"storage": "root:8(nosuchpool)", "hostname": "vm-pooltag"}, "unknown storage pool", "vm-pooltag")
    make({"interfaces": "eth0:space=nosuch"})
    make({"interfaces": "bad"})
    make({"interfaces": "eth0:subnet_cidr=10.99.0.0/24", "hostname": "vm-cidr"}, "interface on a subnet", "vm-cidr")
    make({"interfaces": "eth0:ip=10.99.0.77", "hostname": "vm-ip"}, "interface with an IP", "vm-ip")
    make({"pool": "nosuch"})
    make({"pool": "default"}, "pool by name")
    make({"pool": "0", "hostname": "vm-pool"}, "pool by id", "vm-pool")
    make({"zone": "1", "hostname": "vm-zone"}, "zone by id", "vm-zone")
    make({"zone": "nosuch"})
    make({"domain": "maas"}, "domain by name")
    make({"architecture": "arm64/generic"})
    make({"architecture": "amd64"}, "arch without subarch")
    make({"bogus": "1", "hostname": "vm-bogus"}, "unknown parameter", "vm-bogus")
    make({"pinned_cores": ["0", "1"], "hostname": "vm-pin"}, "pinned_cores repeated", "vm-pin")
    make({"pinned_cores": "99"})
    make({"hugepages_backed": "true"})
    make({"cpu_speed": "99999"})
    make({"skip_commissioning": "true", "hostname": "vm-skip"}, "skip_commissioning", "vm-skip")
    make({"hostname": "vm-default"}, "defaults", "vm-default")
    t.post("vm-hosts/999/", {}, op="compose")
    for label in ("vm-skip", "vm-default"):
        t.state(made[label])
    t.get("machines/", query={"pod": "lxd-one"}, note="filter by pod")
    for label, m in made.items():
        if label != "vm-skip":
            t.control("advance", system_id=m)
    return vm


def after_compose(t, h, vm):
    t.get(f"vm-hosts/{h}/", note="with VMs")
    t.get(f"machines/{vm}/", note="composed machine, commissioned")
    t.get(f"machines/{vm}/", op="power_parameters", note="of a VM")
    t.allocate({"pod": "lxd-one", "name": "vm1", "dry_run": "true"}, "allocate pod=<name>")
    t.allocate({"pod": "nosuch"})
    t.allocate({"pod_type": "lxd", "name": "vm1", "dry_run": "true"})
    t.allocate({"not_pod": "lxd-one"})
    t.allocate({"not_pod_type": "lxd"})
    a = t.allocate({"cpu_count": "12", "mem": "3000", "agent_name": "x"}, "nothing matches: a VM is composed").ref("auto", "system_id")
    t.state(a, "composed by allocate")
    t.delete(f"machines/{vm}/", note="DELETE a composed machine")
    t.get(f"vm-hosts/{h}/", note="one VM less")
    t.delete(f"vm-hosts/{h}/", note="delete without decompose")
    t.get(f"machines/{a}/", note="after deleting the host")
    t.get("machines/", note="after deleting the host")
    t.delete(f"vm-hosts/{h}/", note="second DELETE")


def again(t, good):
    h = t.post("vm-hosts/", {**good, "name": "lxd2", "project": "maas"}, note="register again: existing VMs are imported").ref("lxd2")
    settle(t, h)
    t.get("machines/", query={"hostname": "vm-pin"}, note="an imported VM")
    t.get(f"vm-hosts/{h}/", note="with imported VMs")
    t.delete(f"vm-hosts/{h}/", query={"decompose": "true"}, note="delete with decompose=true")
    t.get("machines/", note="after decompose")


def no_rack(t, good):
    t.control("rack", enabled=0)
    h = t.post("vm-hosts/", {**good, "name": "norack", "project": "p2"}, note="no rack connected").ref("norack")
    t.post(f"vm-hosts/{h}/", {}, op="refresh", note="refresh with no rack")
    t.post(f"vm-hosts/{h}/", {"cores": "1"}, op="compose", note="compose on a host never discovered")
    t.delete(f"vm-hosts/{h}/", note="never discovered")
    t.control("rack", enabled=1)
