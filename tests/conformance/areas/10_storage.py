# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Storage layouts, block devices, partitions, volume groups, RAID."""


def run(t):
    m = t.ready("sto1", macs=1, cpu=4, memory=8192, disk="100,200")
    base = f"nodes/{m}/blockdevices/"
    disks = t.get(base)
    d0, d1 = (disks.ref(f"disk{n}", lambda b, n=n: sorted(b, key=lambda d: d["id"])[n]["id"]) for n in (0, 1))

    def layout(form, note=""):
        t.op(m, "set_storage_layout", form, note=note)

    layouts = [(name, {}) for name in ("lvm", "bcache", "vmfs6", "blank")]
    layouts += [("flat", {"root_size": "50%"}), ("flat", {"root_size": "5000G"}), ("custom", {}), ("", {})]
    for name, extra in layouts:
        layout({"storage_layout": name, **extra}, f"{name or 'empty'} {extra.get('root_size', '')}")
    layout({"storage_layout": "blank"}, "blank again")

    def disk(d, op, form=None, note=""):
        return t.post(f"{base}{d}/", form, op=op, note=note)

    t.get(f"{base}{d1}/")
    t.get(f"{base}99999/")
    disk(d1, "format", {"fstype": "ext4"})
    disk(d1, "mount", {"mount_point": "/data"})
    disk(d1, "mount", {"mount_point": "data"})
    disk(d1, "unmount")
    disk(d1, "unmount", note="again")
    disk(d1, "mount", {"mount_point": "/data", "mount_options": "noatime"})
    disk(d1, "format", {"fstype": "xfs"}, "format a mounted disk")
    disk(d1, "format", {"fstype": "bogus"})
    disk(d1, "unformat")
    disk(d1, "unformat", note="again")
    disk(d1, "add_tag", {"tag": "ssd"})
    disk(d1, "remove_tag", {"tag": "ssd"})
    p = t.post(f"{base}{d0}/partitions/", {"size": "10G", "bootable": "true"}).ref("partition")
    t.post(f"{base}{d0}/partitions/", {"size": "99T"})
    t.post(f"{base}{d0}/partitions/", {"size": "junk"})
    t.get(f"{base}{d0}/partitions/")
    t.get(f"{base}{d0}/partition/{p}")
    t.post(f"{base}{d0}/partition/{p}", {"fstype": "ext4"}, op="format")
    t.post(f"{base}{d0}/partition/{p}/", {"fstype": "ext4"}, op="format", note="with the trailing slash")
    t.post(f"{base}{d0}/partition/{p}", {"mount_point": "/"}, op="mount")
    t.delete(f"{base}{d0}/partition/{p}")
    t.delete(f"{base}{d0}/partition/{p}", note="second DELETE")
    vg = t.post(f"nodes/{m}/volume-groups/", {"name": "vg0", "block_devices": [d1]}).ref("vg0")
    t.post(f"nodes/{m}/volume-groups/", {"name": "vg0", "block_devices": [d0]}, note="same name again")
    t.post(f"nodes/{m}/volume-groups/", {"name": "vg1"}, note="no devices")
    t.post(f"nodes/{m}/volume-group/{vg}/", {"name": "lv0", "size": "5G"}, op="create_logical_volume")
    t.post(f"nodes/{m}/volume-group/{vg}/", {"name": "lv1", "size": "500000G"}, op="create_logical_volume")
    t.get(f"nodes/{m}/volume-groups/")
    t.get(f"nodes/{m}/volume-group/{vg}/")
    t.delete(f"nodes/{m}/volume-group/{vg}/", note="with a logical volume")
    layout({"storage_layout": "blank"}, "blank before the RAID")
    t.get(f"nodes/{m}/volume-groups/", note="after blank")
    vg2 = t.post(f"nodes/{m}/volume-groups/", {"name": "vg2", "block_devices": [d1]}).ref("vg2")
    t.delete(f"nodes/{m}/volume-group/{vg2}/")
    t.delete(f"nodes/{m}/volume-group/{vg2}/", note="second DELETE")
    t.post(f"nodes/{m}/raids/", {"level": "raid-1", "block_devices": [d0, d1]}, note="name missing")
    t.post(f"nodes/{m}/raids/", {"name": "md0", "level": "raid-1", "block_devices": [d0]}, note="one device")
    t.post(f"nodes/{m}/raids/", {"name": "md0", "level": "raid-99", "block_devices": [d0, d1]}, note="unknown level")
    r = t.post(f"nodes/{m}/raids/", {"name": "md0", "level": "raid-1", "block_devices": [d0, d1]}).ref("md0")
    t.post(f"nodes/{m}/raids/", {"name": "md1", "level": "raid-1", "block_devices": [d0, d1]}, note="devices in use")
    t.get(f"nodes/{m}/raid/{r}/")
    t.get(f"nodes/{m}/raids/")
    t.delete(f"nodes/{m}/raid/{r}/")
    t.delete(f"nodes/{m}/raid/{r}/", note="second DELETE")
    disk(d0, "set_boot_disk")
    t.post(base, {"name": "sdz", "model": "m", "serial": "s", "size": "1000000000", "block_size": "512"})
    t.post(base, {"name": "sdy"}, note="missing fields")
    t.get(base, note="at the end")
