# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Boot resources, boot sources, configuration, events and scripts."""

import hashlib

BLOB = b"x" * 1000
SCRIPT = """#!/bin/bash
# --- Start MAAS 1.0 script metadata ---
# name: test-script
# title: t
# script_type: commissioning
# --- End MAAS 1.0 script metadata ---
echo hi
"""


def run(t):
    m = t.ready("ev1", cpu=4, memory=8192, disk="100")
    boot(t)
    config(t)
    events(t, m)
    scripts(t, m)


def boot(t):
    r = t.get("boot-resources/").ref("resource", lambda b: min(x["id"] for x in b if x["name"] == "ubuntu/noble"))
    t.get("boot-resources/", query={"type": "synced"})
    t.get("boot-resources/", query={"type": "uploaded"})
    t.get("boot-resources/", query={"type": "bogus"})
    t.get(f"boot-resources/{r}/")
    t.get("boot-resources/9999/")
    t.get("boot-resources/", op="is_importing")
    t.post("boot-resources/", {}, op="import")
    t.post("boot-resources/", {}, op="stop_import")
    two = {"name": "custom/one", "architecture": "amd64/generic", "filetype": "tgz"}
    u = t.post("boot-resources/", {**two, "base_image": "ubuntu/jammy", "sha256": hashlib.sha256(BLOB).hexdigest(), "size": "1000", "title": "One"},
               note="two-step upload: declare").ref("custom")
    t.post("boot-resources/", {**two, "name": "custom/two"}, files={"content": ("c.tgz", BLOB)}, note="one-step upload")
    t.post("boot-resources/", {**two, "name": "ubuntu/jammy"}, files={"content": ("c.tgz", BLOB)}, note="reserved name")
    t.post("boot-resources/", {"name": "x"}, note="missing fields")
    t.get("boot-resources/", query={"type": "uploaded"}, note="after the uploads")
    t.delete(f"boot-resources/{u}/")
    t.delete(f"boot-resources/{u}/", note="second DELETE")
    t.get("boot-sources/")
    url = "http://127.0.0.1:1/streams"
    s = t.post("boot-sources/", {"url": url, "keyring_filename": "/usr/share/keyrings/x.gpg"}).ref("source")
    t.post("boot-sources/", {"url": url, "keyring_filename": "/x"}, note="duplicate")
    t.post("boot-sources/", {"url": "http://a/"}, note="no keyring")
    t.get(f"boot-sources/{s}/")
    t.get(f"boot-sources/{s}/selections/")
    t.post(f"boot-sources/{s}/selections/", {"os": "ubuntu", "release": "noble", "arches": ["amd64"], "subarches": ["*"], "labels": ["*"]})
    t.delete(f"boot-sources/{s}/")


def config(t):
    for n in ("maas_name", "default_osystem", "default_distro_series", "commissioning_distro_series", "enable_http_proxy", "upstream_dns", "nosuch",
              "default_min_hwe_kernel", "enable_kernel_crash_dump", "node_timeout", "kernel_opts"):
        t.get("maas/", op="get_config", query={"name": n})
    t.get("maas/", op="get_config", note="name missing")

    def put(form, note=""):
        t.post("maas/", form, op="set_config", note=note)

    put({"name": "upstream_dns", "value": "1.1.1.1"})
    t.get("maas/", op="get_config", query={"name": "upstream_dns"})
    put({"name": "nosuch", "value": "1"})
    put({"name": "node_timeout", "value": "x"})
    put({"name": "enable_http_proxy", "value": "maybe"})
    put({"name": "upstream_dns"}, "value missing")
    put({"name": "default_distro_series", "value": "nosuch"})
    put({}, "name missing")


def events(t, m):
    def query(q, note=""):
        t.get("events/", op="query", query=q, note=note, keep=("count",))

    query({})
    query({"limit": 2})
    query({"hostname": "ev1", "level": "INFO"})
    query({"level": "BOGUS"})
    query({"limit": 100000})
    t.get("events/", op="query", query={"id": m, "limit": 1})
    query({"limit": "x"})
    query({"hostname": "nosuch"})
    t.get("events/", op="query", query={"id": m, "limit": 1, "level": "INFO"}, note="the newest")
    t.get("events/", note="no op")


def scripts(t, m):
    s = "scripts/test-script"
    t.get("scripts/", query={"type": "testing"}, keep=("name", "type", "type_name", "tags", "default"))
    t.post("scripts/", {"script": SCRIPT})
    t.post("scripts/", {"script": SCRIPT}, note="duplicate")
    t.post("scripts/", {"name": "two", "script": "echo x"}, note="no shebang")
    t.post("scripts/", {"name": "three", "script": "#!/bin/sh\necho x", "type": "bogus"})
    t.post("scripts/", {"name": "four"}, note="script missing")
    t.get(f"{s}/", note="with slash")
    t.get(s)
    t.get(s, op="download")
    t.get("scripts/nosuch")
    t.put(s, {"script": SCRIPT.replace("hi", "ho"), "comment": "second"})
    t.post(s, {"to": "1"}, op="revert", note="unknown revision")
    t.post(s, {"tag": "x"}, op="add_tag")
    t.post(s, {"tag": "x"}, op="remove_tag")
    t.get("scripts/", query={"type": "commissioning", "filters": "test-script"})
    t.delete(s)
    t.delete(s, note="second DELETE")
    kept = ("type", "type_name", "status", "status_name", "system_id")
    t.get(f"nodes/{m}/results/", keep=kept)
    t.get(f"nodes/{m}/results/", query={"type": "commissioning"}, keep=kept)
    t.get(f"nodes/{m}/results/", query={"type": "bogus"})
    t.get("nodes/zzzzzz/results/")
