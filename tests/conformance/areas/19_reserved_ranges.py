# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses inside reserved ranges, DHCP reservations elsewhere, RAID of whole disks, plural paths, DNS resources by domain name."""

DISK = ("name", "type", "used_for", "partition_table_type", "size")


def ready(t, hostname, macs=1, **hw):
    """A Ready machine; its enlistment is other areas' matter and not recorded."""
    form = {"hostname": hostname, "architecture": "amd64/generic", "mac_addresses": t.macs(macs), "commission": "false", **t.ipmi()}
    m = t.call("POST", "machines/", form, record=False).ref(hostname, "system_id")
    t.control("advance", system_id=m, **hw)
    return m


def run(t):
    sub = t.peek("subnets/").ref("subnet", lambda b: next(s["id"] for s in b if s["cidr"] == "10.99.0.0/24"))
    reserved_ranges(t, sub)
    dhcp_reservation(t)
    storage(t)
    dns(t)


def reserved_ranges(t, sub):
    def reserve(form, note):
        t.post("ipaddresses/", form, op="reserve", note=note)

    r = t.post("ipranges/", {"type": "reserved", "start_ip": "10.99.0.50", "end_ip": "10.99.0.59", "subnet": sub, "comment": "balancers"}).ref("range")
    reserve({"ip": "10.99.0.50"}, "first address of a reserved range")
    reserve({"ip": "10.99.0.59", "subnet": "10.99.0.0/24"}, "last address of a reserved range, with subnet")
    reserve({"ip": "10.99.0.60"}, "beside a reserved range")
    t.get("ipaddresses/", note="after the reservations")
    reserve({"ip": "10.99.0.1"}, "the gateway")
    t.post("ipranges/", {"type": "dynamic", "start_ip": "10.99.0.70", "end_ip": "10.99.0.79", "subnet": sub})
    reserve({"ip": "10.99.0.75"}, "inside a dynamic range")
    m = ready(t, "res1", macs=2)
    nics = t.peek(f"nodes/{m}/interfaces/")
    nic = nics.ref("nic2", lambda b: sorted(b, key=lambda i: i["mac_address"])[1]["id"])
    t.post(f"nodes/{m}/interfaces/{nic}/", {"mode": "STATIC", "subnet": sub, "ip_address": "10.99.0.56"}, op="link_subnet",
           note="static link inside a reserved range", keep=("name", "links"))
    t.post(f"nodes/{m}/interfaces/{nic}/", {"mode": "STATIC", "subnet": sub, "ip_address": "10.99.0.76", "force": "true"}, op="link_subnet",
           note="static link inside a dynamic range", keep=("name", "links"))
    t.put(f"subnets/{sub}/", {"managed": "false"}, note="unmanaged", keep=("name", "managed"))
    reserve({"ip": "10.99.0.51"}, "inside a reserved range of an unmanaged subnet")
    t.put(f"subnets/{sub}/", {"managed": "true"}, note="managed again", keep=("name", "managed"))
    t.delete(f"ipranges/{r}/")
    reserve({"ip": "10.99.0.52"}, "the reserved range is gone")


def dhcp_reservation(t):
    other = t.post("subnets/", {"cidr": "192.168.19.0/24", "name": "net19"}).ref("net19")
    m = ready(t, "res2")
    mac = t.peek(f"machines/{m}/").ref("mac", lambda b: b["boot_interface"]["mac_address"])
    rip = t.post("reservedips/", {"ip": "192.168.19.50", "mac_address": mac, "subnet": other}, note="for the machine, on a subnet it is not linked to").ref("reservation")
    t.allocate({"system_id": m}, "with a reservation elsewhere", keep=("status_name",))
    t.op(m, "deploy", {"distro_series": "noble"}, note="with a reservation elsewhere", keep=("status_name",))
    t.get(f"machines/{m}/", note="after the refused deployment", keep=("status_name", "owner", "osystem", "distro_series"))
    t.delete(f"reservedips/{rip}/", note="the reservation")
    t.op(m, "deploy", {"distro_series": "noble"}, note="without the reservation", keep=("status_name",))


def storage(t):
    m = ready(t, "res3", cpu=4, memory=8192, disk="100,200,200")
    base = f"nodes/{m}/blockdevices/"
    disks = t.peek(base)
    d0, d1, d2 = (disks.ref(f"disk{n}", lambda b, n=n: sorted(b, key=lambda d: d["name"])[n]["id"]) for n in (0, 1, 2))
    t.op(m, "set_storage_layout", {"storage_layout": "blank"}, note="blank", keep=("status_name",))
    r = t.post(f"nodes/{m}/raids/", {"name": "md0", "level": "raid-1", "block_devices": [d1, d2]}, note="two whole disks that do not boot").ref("md0")
    t.get(base, note="members of the RAID", keep=DISK)
    t.get(f"{base}{d1}/", note="a member of the RAID", keep=DISK)
    t.get(f"nodes/{m}/raids/", note="one RAID")
    t.get(f"nodes/{m}/raid/{r}/", note="singular path")
    t.get(f"nodes/{m}/raids/{r}/", note="plural path, which MAAS does not have")
    t.delete(f"nodes/{m}/raids/{r}/", note="plural path, which MAAS does not have")
    t.delete(f"nodes/{m}/raid/{r}/")
    t.get(base, note="after the RAID", keep=DISK)
    p = t.post(f"{base}{d0}/partitions/", {"size": "10G"}, note="partition").ref("partition")
    t.get(f"{base}{d0}/partitions/{p}", note="plural path")
    t.post(f"{base}{d0}/partitions/{p}", {"fstype": "ext4"}, op="format", note="plural path", keep=("path", "filesystem", "used_for"))
    t.delete(f"{base}{d0}/partitions/{p}", note="plural path, partition")
    v = t.post(f"nodes/{m}/volume-groups/", {"name": "vg19", "block_devices": [d1, d2]}, note="volume group of whole disks").ref("vg19")
    t.get(base, note="members of the volume group", keep=DISK)
    t.get(f"nodes/{m}/volume-groups/{v}/", note="plural path")
    t.post(f"nodes/{m}/volume-groups/{v}/", {"name": "lv19", "size": "5G"}, op="create_logical_volume", note="plural path")
    t.put(f"nodes/{m}/volume-groups/{v}/", {"name": "vg20"}, note="plural path")
    t.delete(f"nodes/{m}/volume-groups/{v}/", note="plural path, with a logical volume")


def dns(t):
    t.post("domains/", {"name": "one.example"})
    t.post("domains/", {"name": "two.example"})
    w = t.post("dnsresources/", {"fqdn": "www.one.example", "ip_addresses": "192.0.2.1"}).ref("www")
    t.put(f"dnsresources/{w}/", {"domain": "two.example"}, note="domain by name")
    t.put(f"dnsresources/{w}/", {"fqdn": "api.two.example"}, note="fqdn")
    t.put(f"dnsresources/{w}/", {"name": "web", "domain": "two.example"}, note="name and domain")
    t.put(f"dnsresources/{w}/", {"domain": "nosuch.example"}, note="unknown domain by name")
    t.put(f"dnsresources/{w}/", {"fqdn": "x.nosuch.example"}, note="fqdn of an unknown domain")
    t.get(f"dnsresources/{w}/", note="at the end")
