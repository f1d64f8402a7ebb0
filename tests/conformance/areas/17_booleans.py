# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How boolean parameters are understood."""


def run(t):
    m = t.enlist("bool1", **t.ipmi())
    t.control("advance", system_id=m)
    for v in ("0", "no", "off", "False", "false", "n", "", "1", "true", "True"):
        t.allocate({"system_id": m}, f"before erase={v}")
        t.op(m, "release", {"erase": v}, note=f"erase={v}")
        t.state(m, f"after erase={v}")
        t.control("advance", system_id=m)
        t.state(m, f"released after erase={v}")
    sub = t.peek("subnets/").ref("subnet", lambda b: next(s["id"] for s in b if s["cidr"] == "10.99.0.0/24"))
    for v in ("0", "no", "off", "False", "false", "", "1", "yes", "on", "TRUE", "x"):
        t.put(f"subnets/{sub}/", {"managed": v})
    t.put(f"subnets/{sub}/", {"managed": "true"}, note="restored")
    for v in ("0", "no", "False", "false", "1", "x"):
        t.post("maas/", {"name": "enable_http_proxy", "value": v}, op="set_config")
        t.get("maas/", op="get_config", query={"name": "enable_http_proxy"}, note=f"after {v}")
    for v in ("0", "no", "False", "x"):
        x = t.enlist("bb", label=f"bb-{v}", note=f"commission={v}", commission=v)
        t.delete(f"machines/{x}/")
    for v in ("0", "no", "false", "1"):
        t.op(m, "commission", {"enable_ssh": v, "skip_networking": v})
        t.op(m, "abort", note=f"after enable_ssh={v}")
        t.state(m, f"after enable_ssh={v}")
    t.control("advance", system_id=m)
    for v in ("0", "no", "false", "1", "TRUE", "2"):
        t.allocate({"dry_run": v, "system_id": m})
        t.op(m, "release", note=f"after dry_run={v}")
    t.delete(f"machines/{m}/")
