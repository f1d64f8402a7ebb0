# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state every simulator starts with, and returns to with `reset`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from metalshift_lab.simulator.model import (
    VLAN,
    AllocType,
    BootFile,
    BootResource,
    BootSet,
    BootSource,
    BootSourceSelection,
    Controller,
    Domain,
    Fabric,
    HardwareType,
    PackageRepository,
    Pool,
    ResultType,
    Script,
    ScriptSet,
    ScriptVersion,
    Subnet,
    Token,
    User,
    Zone,
    member,
)
from metalshift_lab.simulator.state import State

# Where a new MAAS has its images from. What is not there to be imported is left out of the index.
IMAGES_HOST = "images.maas.io"
SOURCE_URL = f"http://{IMAGES_HOST}/ephemeral-v3/stable/"
KEYRING = "/usr/share/keyrings/ubuntu-cloudimage-keyring.gpg"
ARCHES = ("amd64", "arm64")
ADMIN, INTERNAL_USER = "admin", "MAAS"
RACK_HOSTNAME, RACK_MAC, RACK_IP = "region1", "52:54:00:99:00:02", "10.99.0.2"
MACHINE_SUBNET = "10.99.0.0/24"
CUSTOM_IMAGE = "custom-img"
# What the index offers beside the releases that are there from the start, with their kernels.
OFFERED = {"bionic": ("ga-18.04",), "questing": ("ga-25.10",)}
UBUNTU = {"focal": ("ga-20.04",), "jammy": ("ga-22.04", "hwe-22.04"), "noble": ("ga-24.04", "hwe-24.04")}
IMAGE_VERSION, FILE_SIZE = "20260801", 512
SYNCED_FILES = (("squashfs", "squashfs"), ("boot-kernel", "boot-kernel"), ("boot-initrd", "boot-initrd"))
UPLOADED_FILES = (("root.tgz", "root-tgz"),)
CONFIG = {
    "maas_name": "region1",
    "completed_intro": True,
    "enable_third_party_drivers": True,
    "default_osystem": "ubuntu",
    "default_distro_series": "noble",
    "commissioning_osystem": "ubuntu",
    "commissioning_distro_series": "noble",
    "default_min_hwe_kernel": "",
    "default_storage_layout": "flat",
}
# type, name, hardware, parallel, timeout, tags, destructive, may reboot, recommission, with the configured network
SCRIPTS: tuple[tuple[int, str, int, int, str, str, bool, bool, bool, bool], ...] = (
    (0, "20-maas-01-install-lldpd", 0, 0, "0:00:30", "node", False, False, False, False),
    (0, "20-maas-02-dhcp-unconfigured-ifaces", 0, 0, "0:00:10", "node", False, False, False, False),
    (0, "30-maas-01-bmc-config", 0, 0, "0:05:00", "bmc-config node", False, False, False, False),
    (0, "20-maas-03-machine-resources", 0, 0, "0:01:00", "deploy-info node", False, False, False, False),
    (0, "40-maas-01-machine-config-hints", 0, 0, "0:01:00", "node", False, False, False, False),
    (0, "50-maas-01-commissioning", 0, 0, "0:01:00", "deploy-info node", False, False, False, False),
    (0, "maas-support-info", 0, 2, "0:05:00", "deploy-info node", False, False, False, False),
    (0, "maas-lshw", 0, 2, "0:05:00", "deploy-info node", False, False, False, False),
    (0, "maas-list-modaliases", 0, 2, "0:00:10", "deploy-info node", False, False, False, False),
    (0, "maas-get-fruid-api-data", 0, 2, "0:01:00", "node", False, False, False, False),
    (0, "maas-kernel-cmdline", 0, 2, "0:00:10", "node", False, False, False, False),
    (0, "maas-serial-ports", 0, 2, "0:00:10", "deploy-info node", False, False, False, False),
    (0, "maas-capture-lldpd", 0, 2, "0:01:00", "node", False, False, False, False),
    (2, "smartctl-validate", 3, 1, "0:05:00", "commissioning storage", False, False, False, False),
    (2, "smartctl-short", 3, 1, "0:10:00", "storage", False, False, False, False),
    (2, "smartctl-long", 3, 1, "0:00:00", "storage", False, False, False, False),
    (2, "smartctl-conveyance", 3, 1, "0:00:00", "storage", False, False, False, False),
    (2, "memtester", 2, 0, "0:00:00", "memory", False, False, False, False),
    (2, "stress-ng-cpu-long", 1, 0, "14:00:00", "cpu", False, False, False, False),
    (2, "stress-ng-cpu-short", 1, 0, "0:05:00", "cpu", False, False, False, False),
    (2, "stress-ng-memory-long", 2, 0, "14:00:00", "memory", False, False, False, False),
    (2, "stress-ng-memory-short", 2, 0, "0:05:00", "memory", False, False, False, False),
    (2, "ntp", 4, 2, "0:01:00", "ntp network", False, False, False, False),
    (2, "badblocks", 3, 1, "0:00:00", "storage", False, False, False, False),
    (2, "badblocks-destructive", 3, 1, "0:00:00", "destructive storage", True, False, False, False),
    (2, "7z", 1, 0, "0:05:00", "cpu", False, False, False, False),
    (2, "fio", 3, 1, "0:00:00", "storage destructive", True, False, False, False),
    (2, "internet-connectivity", 4, 1, "0:05:00", "internet network-validation network", False, False, False, True),
    (2, "gateway-connectivity", 4, 1, "0:05:00", "network-validation network", False, False, False, True),
    (2, "rack-controller-connectivity", 4, 1, "0:05:00", "network-validation network", False, False, False, True),
    (3, "wipe-disks", 0, 0, "0:00:00", "wipe disk node", False, False, False, False),
)


def fill(state: State, admin_key: tuple[str, str, str]) -> None:
    """Bring an empty state to the seed."""
    state.users.make(User, username=INTERNAL_USER, email="maas@localhost", is_superuser=True)
    admin = state.users.make(User, username=ADMIN, email="admin@example.com", password="admin", is_superuser=True)
    consumer, key, secret = admin_key
    state.tokens.make(Token, user=admin, name="MAAS consumer", consumer=consumer, key=key, secret=secret)
    state.zones.make(Zone, name="default")
    state.pools.make(Pool, name="default", description="Default pool")
    state.domains.make(Domain, name="maas")
    _networks(state)
    state.config.update(CONFIG)
    for row in SCRIPTS:
        _script(state, *row)
    _images(state)
    state.package_repositories.make(
        PackageRepository,
        name="main_archive",
        url="http://archive.ubuntu.com/ubuntu",
        arches=["amd64", "i386"],
        default=True,
    )
    state.package_repositories.make(
        PackageRepository,
        name="ports_archive",
        url="http://ports.ubuntu.com/ubuntu-ports",
        arches=["armhf", "arm64", "ppc64el", "s390x"],
        default=True,
    )
    state.rack.commissioning_set = state.script_sets.make(
        ScriptSet, node=state.rack, type=ResultType.COMMISSIONING, created=state.now
    )


def _networks(state: State) -> None:
    fabric = state.fabrics.make(Fabric, name="fabric-0")
    vlan = state.vlans.make(VLAN, fabric=fabric, name="untagged", dhcp_on=True)
    subnet = state.subnets.make(
        Subnet, cidr=MACHINE_SUBNET, name=MACHINE_SUBNET, vlan=vlan, gateway_ip="10.99.0.1", dns_servers=["10.99.0.2"]
    )
    loopback = state.subnets.make(Subnet, cidr="127.0.0.0/8", name="loopback", vlan=vlan)
    rack = state.add_node(
        Controller,
        hostname=RACK_HOSTNAME,
        domain=state.default_domain,
        zone=state.default_zone,
        owner=state.users.rows[1],
    )
    vlan.primary_rack = rack
    eth0 = state.add_interface(rack, name="eth0", mac_address=RACK_MAC, vlan=vlan)
    state.add_address(alloc_type=AllocType.STICKY, ip=RACK_IP, subnet=subnet, interface=eth0)
    state.add_address(alloc_type=AllocType.STICKY, ip="127.0.0.1", subnet=loopback, interface=eth0)


def _script(
    state: State,
    kind: int,
    name: str,
    hardware: int,
    parallel: int,
    timeout: str,
    tags: str,
    destructive: bool,
    may_reboot: bool,
    recommission: bool,
    networking: bool,
) -> None:
    hours, minutes, seconds = (int(n) for n in timeout.split(":"))
    content = f"#!/bin/sh\n# What {name} does on a real machine is left out here.\n"
    version = state.script_versions.make(
        ScriptVersion, content=content, comment="Created by maas-None", created=state.now
    )
    state.scripts.make(
        Script,
        name=name,
        title=name,
        history=[version],
        type=member(ResultType, kind),
        hardware_type=member(HardwareType, hardware),
        parallel=parallel,
        tags=tags.split(),
        timeout=3600 * hours + 60 * minutes + seconds,
        default=True,
        destructive=destructive,
        may_reboot=may_reboot,
        recommission=recommission,
        apply_configured_networking=networking,
    )


def _images(state: State) -> None:
    for series, kernels in UBUNTU.items():
        for arch in ARCHES:
            add_ubuntu(state, series, arch, kernels)
    _image(
        state,
        type="Synced",
        name="centos/8",
        architecture="amd64/generic",
        kernels=["generic"],
        platform="generic",
        supported_platforms="generic",
    )
    _image(state, type="Uploaded", name=CUSTOM_IMAGE, architecture="amd64/generic", base_image="ubuntu/jammy")


def add_boot_source(state: State) -> None:
    """What a new MAAS begins with: its source, and the release of Ubuntu that it commissions with."""
    source = state.boot_sources.make(
        BootSource, url=SOURCE_URL, keyring_filename=KEYRING, created=state.now, updated=state.now
    )
    chosen = {"os": "ubuntu", "release": str(CONFIG["commissioning_distro_series"])}
    state.boot_selections.make(
        BootSourceSelection, source=source, **chosen, arches=["amd64"], subarches=["*"], labels=["*"]
    )


def add_ubuntu(state: State, series: str, arch: str, kernels: Sequence[str]) -> None:
    """The images of one release, one for each kernel; those that are there stay."""
    for kernel in kernels:
        wanted = {"name": f"ubuntu/{series}", "architecture": f"{arch}/{kernel}"}
        if state.boot_resources.first(**wanted) is None:
            _image(
                state,
                **wanted,
                type="Synced",
                kernels=["generic", kernel],
                subarches=f"generic,{kernel}",
                platform="generic",
                supported_platforms="generic",
            )


def _image(state: State, **values: object) -> None:
    resource = state.boot_resources.make(BootResource, **values)
    uploaded = resource.type == "Uploaded"
    boot_set = state.boot_sets.make(BootSet, version=IMAGE_VERSION, label="uploaded" if uploaded else "stable")
    for filename, filetype in UPLOADED_FILES if uploaded else SYNCED_FILES:
        made = state.boot_files.make(
            BootFile, filename=filename, filetype=filetype, size=FILE_SIZE, sha256="", received=FILE_SIZE
        )
        made.sha256 = hashlib.sha256(f"{resource.name} {resource.architecture} {filename}".encode()).hexdigest()
        boot_set.files.append(made)
    resource.sets.append(boot_set)
