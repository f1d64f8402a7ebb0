# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Enlisting, listing, filtering, updating and deleting machines."""

import json


def run(t):
    arch = {"architecture": "amd64/generic"}
    idle = {"commission": "false"}
    manual = {"power_type": "manual", **arch}
    mac1 = t.mac()

    def add(form, note):
        return t.post("machines/", form, note=note)

    m = add({"hostname": "node01", **manual, "mac_addresses": [mac1, t.mac()], "description": "d", **idle}, "commission=false").ref("node01", "system_id")
    add({"hostname": "node01b", **manual, "mac_addresses": [mac1], **idle}, "MAC already in use")
    add({"hostname": "node01", **manual, "mac_addresses": t.macs(1), **idle}, "hostname already in use")
    add({"hostname": "x1", "power_type": "manual", "mac_addresses": t.macs(1)}, "architecture missing")
    add({"hostname": "x2", "power_type": "manual", "architecture": "amd64", "mac_addresses": t.macs(1), **idle}, "architecture without subarch")
    add({"hostname": "x3", "power_type": "manual", "architecture": "sparc/generic", "mac_addresses": t.macs(1)}, "unknown architecture")
    add({"hostname": "x4", "power_type": "nosuch", **arch, "mac_addresses": t.macs(1)}, "unknown power type")
    add({"hostname": "x5", **manual}, "mac_addresses missing")
    add({"hostname": "x6", **manual, "mac_addresses": "not-a-mac"}, "invalid MAC")
    add({"hostname": "bad_host!", **manual, "mac_addresses": t.macs(1)}, "invalid hostname")
    add({"hostname": "x7", **manual, "mac_addresses": ",".join(t.macs(2)), **idle}, "mac_addresses comma separated")
    add({**t.ipmi(), **arch, "mac_addresses": t.macs(1), **idle}, "no hostname, IPMI flat power parameters").ref("unnamed", "system_id")
    params = json.dumps({"power_address": t.bmc(), "power_user": "u", "power_pass": "p"})
    m2 = add({"hostname": "node02", "power_type": "ipmi", **arch, "mac_addresses": t.macs(1), "power_parameters": params, **idle},
             "power_parameters as a JSON string").ref("node02", "system_id")
    add({"hostname": "x8", "power_type": "ipmi", **arch, "mac_addresses": t.macs(1), "power_parameters": "{not json", **idle}, "power_parameters not JSON")
    add({"hostname": "x9", "power_type": "ipmi", **arch, "mac_addresses": t.macs(1), **idle}, "required power parameter missing")
    add({"hostname": "x10", **manual, "mac_addresses": t.macs(1), "zone": "nosuch", **idle}, "unknown zone at creation")
    add({"hostname": "x11", **manual, "mac_addresses": t.macs(1), "nosuchparam": "1", **idle}, "unknown parameter")
    add({"hostname": "node03", "domain": "nosuch", **manual, "mac_addresses": t.macs(1), **idle}, "unknown domain")
    add({"hostname": "x12", **arch, "mac_addresses": t.macs(1), **idle}, "power_type missing")
    add({"hostname": "x13", **manual, "mac_addresses": t.macs(1), "commission": "maybe"}, "commission=maybe")
    add({}, "no parameters")

    t.get("machines/")
    t.get(f"machines/{m}/")
    t.get("machines/zzzzzz/")
    t.get("machines/ZZ ZZ/", note="malformed id")

    def find(query, note=""):
        t.get("machines/", query=query, note=note)

    find({"hostname": "node01"})
    find([("hostname", "node01"), ("hostname", "node02")])
    find({"hostname": "nosuch"})
    find({"mac_address": mac1})
    find({"mac_address": "garbage"})
    find({"zone": "default"})
    find({"zone": "nosuch"})
    find({"pool": "nosuch"})
    find({"status": "ready"})
    find({"status": "new", "hostname": "node01"})
    find({"status": "bogus"})
    t.get("machines/", query={"id": m})
    find({"domain": "nosuch"})
    find({"agent_name": "a"})
    find({"cpu_count": "1"})
    find({"bogus": "1"}, "unknown filter")
    find({"owner": "admin"})
    find({"tags": "nosuch"})
    find({"limit": 1, "start": 1, "page": 2}, "paging parameters")
    t.get("machines/", op="is_registered", query={"mac_address": mac1}, auth=None, note="anonymous")
    t.get("machines/", op="is_registered", query={"mac_address": t.mac()})
    t.get("machines/", op="is_registered", note="mac_address missing")
    t.get("machines/", op="list_allocated")
    t.get("machines/", op="power_parameters")
    t.get(f"machines/{m2}/", op="power_parameters")
    t.get(f"machines/{m}/", op="query_power_state")
    t.get(f"machines/{m}/", op="get_token")
    t.get(f"machines/{m}/", op="details")
    t.get(f"machines/{m}/", op="get_curtin_config")

    t.post("zones/", {"name": "zz"})
    p = t.post("resourcepools/", {"name": "pp"}).ref("pp")
    zz = t.peek("zones/zz/").ref("zz")

    def put(form, note="", machine=m):
        t.put(f"machines/{machine}/", form, note=note)

    put({"hostname": "node01r", "description": "new", "zone": "zz", "pool": "pp", "cpu_count": "2", "memory": "4096"})
    put({"memory": "4G"}, "memory with a unit")
    put({"memory": "4096.5"})
    put({"cpu_count": "x"})
    put({"cpu_count": "0"})
    put({"zone": "nosuch"})
    put({"pool": "nosuch"})
    put({"zone": str(zz)}, "zone by id")
    put({"architecture": "amd64/nosuch"})
    put({"domain": "0"}, "domain by id")
    put({"domain": "nosuch"})
    put({"hostname": "node02"}, "hostname in use")
    put({"bogus": "1"}, "unknown parameter")
    put({}, "empty PUT")
    put({"power_type": "lxd", "power_parameters_power_address": "10.99.0.9", "power_parameters_instance_name": "vm1"})
    put({"power_type": "nosuch"}, "unknown power type")
    put({"power_type": "manual"})
    put({"hostname": ""}, "empty hostname")
    put({"swap_size": "1G", "min_hwe_kernel": "ga-24.04", "storage_layout": "lvm"})
    put({"swap_size": "lots"}, "invalid swap_size")
    t.put("machines/zzzzzz/", {"hostname": "a"})
    put({"power_parameters_power_user": "v"}, "one power parameter of an IPMI machine", m2)
    t.get(f"machines/{m2}/", op="power_parameters", note="after changing one")

    t.post("machines/", {"nodes": [m], "zone": "default"}, op="set_zone")
    t.post("machines/", {"nodes": ["zzzzzz"], "zone": "default"}, op="set_zone")
    t.post("machines/", {"nodes": [m], "zone": "nosuch"}, op="set_zone")
    t.op(m, "set_owner_data", {"owner_key": "v", "k2": "v2"})
    t.op(m, "set_workload_annotations", {"wk": "v"})
    t.op(m, "set_workload_annotations", {"wk": ""}, note="clear one")
    t.delete("zones/zz/", note="zone in use?")
    t.delete(f"resourcepool/{p}/", note="pool in use")
    put({"pool": "default"})
    t.delete(f"resourcepool/{p}/")
    t.delete(f"machines/{m}/")
    t.delete(f"machines/{m}/", note="second DELETE")
    t.get("machines/", note="hostnames at the end", query={"hostname": "node02"})
