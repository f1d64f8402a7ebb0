# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every module of LXD is tested with. A module that is in none of these tables fails the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lxd.place import Args, Place

Arrange = Callable[[Place], object]


def nothing(_lxd: Place) -> None:
    """What the lab has from the start is enough."""


@dataclass(frozen=True)
class Case:
    """One object's life: made, changed, removed. `noun` is the key of the result that holds it."""

    module: str
    noun: str
    create: Args
    change: Args
    delete: Args
    name: str = ""
    arrange: Arrange = nothing
    # Settings that LXD adds by itself, which nobody can foresee.
    unpredictable: Sequence[str] = ()

    def __str__(self) -> str:
        return self.name or self.module


@dataclass(frozen=True)
class Wrong:
    """Arguments that cannot be carried out, and words of the sentence that says so."""

    module: str
    args: Args
    says: str
    arrange: Arrange = nothing
    kind: str = "invalid"
    # Whether it is said in check mode too; what LXD alone knows cannot be.
    foreseen: bool = True


def project(lxd: Place, **config: str) -> None:
    lxd.ask("POST", "projects", {"name": "NAME", "config": config})


def bridge(lxd: Place) -> None:
    addresses = {"ipv4.address": "none", "ipv6.address": "none"}
    lxd.ask("POST", "networks", {"name": "NAME", "type": "bridge", "config": addresses})


def pool(lxd: Place) -> None:
    lxd.ask("POST", "storage-pools", {"name": "NAME", "driver": "dir"})


ABSENT = {"name": "NAME", "state": "absent"}
NO_ADDRESSES = {"ipv4.address": "none", "ipv6.address": "none"}

LIVES: list[Case] = [
    Case(
        "lxd_project",
        "project",
        create={"name": "NAME", "description": "first", "config": {"limits.cpu": 4, "features.images": False}},
        change={"name": "NAME", "description": "second", "config": {"limits.cpu": 8, "user.team": "blue"}},
        delete=ABSENT,
    ),
    Case(
        "lxd_project",
        "project",
        name="project whose settings are complete",
        create={"name": "NAME", "config": {"limits.cpu": 4, "user.team": "blue", "restricted": True}},
        change={"name": "NAME", "config": {"user.team": "blue", "limits.memory": "8GiB"}, "purge": True},
        delete=ABSENT,
    ),
    Case(
        "lxd_profile",
        "profile",
        create={
            "name": "NAME",
            "description": "first\n line, 'quoted' & {{ curly }}\n",
            "config": {"limits.cpu": 2, "security.secureboot": False},
            "devices": {"root": {"type": "disk", "path": "/", "pool": "default"}},
        },
        change={
            "name": "NAME",
            "config": {"limits.cpu": 3, "security.secureboot": None},
            "devices": {"eth0": {"type": "nic", "nictype": "bridged", "parent": "lo", "vlan": 7}, "root": None},
        },
        delete=ABSENT,
    ),
    Case(
        "lxd_profile",
        "profile",
        name="profile of a project, complete",
        create={
            "lxd_project": "NAME",
            "name": "NAME",
            "config": {"limits.cpu": 2, "user.a": "1"},
            "devices": {"a": {"type": "none"}, "b": {"type": "none"}},
        },
        change={
            "lxd_project": "NAME",
            "name": "NAME",
            "config": {"user.a": "2"},
            "devices": {"b": {"type": "none"}},
            "purge": True,
        },
        delete={"lxd_project": "NAME", **ABSENT},
        arrange=project,
    ),
    Case(
        "lxd_network",
        "network",
        create={"name": "NAME", "description": "first", "config": NO_ADDRESSES},
        change={"name": "NAME", "type": "bridge", "config": {"bridge.mtu": 1400, "ipv4.firewall": False}},
        delete=ABSENT,
    ),
    Case(
        "lxd_network",
        "network",
        name="network whose settings are complete",
        create={"name": "NAME", "config": {**NO_ADDRESSES, "bridge.mtu": 1400, "user.a": "b"}},
        change={"name": "NAME", "config": NO_ADDRESSES, "purge": True, "description": "second"},
        delete=ABSENT,
    ),
    Case(
        "lxd_network",
        "network",
        name="network with an address of LXD's choice",
        create={"name": "NAME", "config": {"ipv4.address": "none", "ipv6.address": "auto"}},
        change={"name": "NAME", "config": {"ipv6.address": "auto", "ipv6.nat": False}},
        delete=ABSENT,
        unpredictable=["ipv6.address", "ipv6.nat"],
    ),
    Case(
        "lxd_network",
        "network",
        name="network that is none of LXD's bridges",
        create={"name": "NAME", "type": "macvlan", "config": {"parent": "lo"}},
        change={"name": "NAME", "type": "macvlan", "config": {"mtu": 1400}},
        delete=ABSENT,
    ),
    Case(
        "lxd_storage_pool",
        "storage_pool",
        create={"name": "NAME", "driver": "dir", "description": "first"},
        change={"name": "NAME", "description": "second", "config": {"rsync.bwlimit": "1MB", "user.a": 1}},
        delete=ABSENT,
        unpredictable=["source"],
    ),
    Case(
        "lxd_storage_pool",
        "storage_pool",
        name="pool in a loop file, complete",
        create={"name": "NAME", "driver": "btrfs", "config": {"size": "1GiB", "user.a": "b"}},
        change={"name": "NAME", "driver": "btrfs", "config": {"user.c": "d"}, "purge": True},
        delete=ABSENT,
        unpredictable=["source"],
    ),
]

LIVES += [
    Case(
        "lxd_server",
        "server",
        create={"config": {"user.NAME": "first", "images.auto_update_interval": 0}},
        change={"config": {"user.NAME": "second", "core.trust_ca_certificates": True}},
        delete={"config": {"user.NAME": "", "core.trust_ca_certificates": None, "images.auto_update_interval": ""}},
    ),
    Case(
        "lxd_server",
        "server",
        name="server whose settings are complete",
        create={"config": {"user.NAME": "first", "core.remote_token_expiry": "2H"}, "purge": True},
        change={"config": {"core.remote_token_expiry": "3H"}, "purge": True},
        delete={"config": {}, "purge": True},
    ),
    Case(
        "lxd_server",
        "server",
        name="server with a password",
        create={"config": {"core.trust_password": "hunter2-hunter2"}},
        change={"config": {"core.trust_password": "another one", "user.NAME": "a"}},
        delete={"config": {"core.trust_password": "", "user.NAME": ""}},
    ),
    Case(
        "lxd_trust",
        "certificate",
        create={"certificate": "PAIR", "name": "NAME"},
        change={"certificate": "PAIR", "name": "NAME-2", "projects": ["default"]},
        delete={"certificate": "PAIR", "state": "absent"},
        unpredictable=["certificate"],
    ),
    Case(
        "lxd_trust",
        "certificate",
        name="certificate that is restricted from the start",
        create={"certificate": "PAIR", "projects": ["default", "NAME"]},
        change={"certificate": "PAIR", "restricted": False, "projects": []},
        delete={"certificate": "PAIR", "state": "absent"},
        arrange=project,
        unpredictable=["certificate", "name"],
    ),
    Case(
        "lxd_trust",
        "trust_token",
        name="token",
        create={"type": "token", "name": "NAME"},
        change={"type": "token", "name": "NAME", "projects": ["default"]},
        delete={"type": "token", "name": "NAME", "state": "absent"},
    ),
]

# Modules that only read: the arguments with which they are run.
READERS: Mapping[str, Sequence[Args]] = {
    "lxd_info": [
        {},
        {"gather": []},
        {"gather": ["all"]},
        {"gather": ["storage_pools", "trust", "resources"], "lxd_project": "default"},
    ],
}

# What is wrong for every module, on top of what is right for it.
WRONG_EVERYWHERE: list[Wrong] = [
    Wrong("*", {"lxd_endpoint": ""}, "lxd_endpoint is missing: give the option or set"),
    Wrong("*", {"lxd_endpoint": "lxd.example.com"}, "lxd_endpoint is neither a URL of HTTPS nor the path of a socket"),
    Wrong("*", {"lxd_endpoint": "http://lxd.example.com:8443"}, "lxd_endpoint is neither a URL of HTTPS nor"),
    Wrong("*", {"lxd_endpoint": "https://u:p@lxd"}, "lxd_endpoint must not hold a user name"),
    Wrong("*", {"lxd_endpoint": "/nowhere/unix.socket"}, "there is no such socket", kind="unreachable"),
    Wrong("*", {"lxd_client_cert": ""}, "lxd_client_cert is missing"),
    Wrong("*", {"lxd_client_key": "/nowhere/client.key"}, "lxd_client_key names a file that does not exist"),
    Wrong("*", {"lxd_client_key": "-----BEGIN PRIVATE KEY-----\nx\n"}, "lxd_client_key holds a private key that can"),
    Wrong("*", {"lxd_server_cert": "12:34"}, "lxd_server_cert names a file that does not exist"),
    Wrong("*", {"lxd_server_cert": "00" * 32}, "is not that of lxd_server_cert: its fingerprint is", kind="tls"),
    Wrong("*", {"lxd_timeout": 0}, "lxd_timeout must be more than 0"),
    Wrong("*", {"lxd_timeout": "soon"}, "lxd_timeout"),
    Wrong("*", {"lxd_clientcert": "x"}, "unknown option lxd_clientcert"),
]

WRONG: list[Wrong] = [
    Wrong("lxd_info", {"gather": ["gossip"]}, "value of gather must be one or more of: all, containers"),
    Wrong("lxd_info", {"lxd_project": "t-none"}, "has no project t-none. Check its name", kind="not_found"),
    Wrong("lxd_project", {}, "missing required arguments: name"),
    Wrong("lxd_project", {"name": "a/b"}, "'a/b' cannot be the name of a project"),
    Wrong("lxd_project", {"name": ".."}, "'..' cannot be the name of a project"),
    Wrong("lxd_project", {"name": "NAME", "state": "gone"}, "value of state must be one of: present, absent"),
    Wrong("lxd_project", {"name": "NAME", "config": ["a"]}, "config"),
    Wrong("lxd_project", {"name": "NAME", "config": {"limits.cpu": [4]}}, "config: limits.cpu must be one value"),
    Wrong(
        "lxd_project",
        {"name": "NAME", "config": {"foo": "bar"}},
        'refused to create the project NAME: Invalid project configuration key "foo".',
        kind="rejected",
    ),
    Wrong("lxd_project", {"name": "NAME", "config": {"limits.cpu": "many"}}, 'key "limits.cpu"', kind="rejected"),
    Wrong(
        "lxd_project", {"name": "default", "state": "absent"}, "The project default cannot be removed", kind="conflict"
    ),
    Wrong(
        "lxd_project",
        {"name": "NAME", "state": "absent", "force": True},
        "force needs removing a project with all that is in it: that needs LXD ≥ 6.6, and the one at",
        project,
        "unsupported",
    ),
    Wrong(
        "lxd_project",
        ABSENT,
        "The project NAME cannot be removed: profile NAME of project NAME uses it.",
        lambda lxd: (project(lxd), lxd.ask("POST", f"profiles?project={lxd.name}", {"name": "NAME"})),
        "conflict",
    ),
    Wrong(
        "lxd_project",
        {"name": "NAME", "config": {"features.profiles": False}},
        "features.profiles of the project NAME is true and cannot become false while the project is in use: profile",
        lambda lxd: (project(lxd), lxd.ask("POST", f"profiles?project={lxd.name}", {"name": "NAME"})),
        "conflict",
    ),
    Wrong("lxd_profile", {}, "missing required arguments: name"),
    Wrong(
        "lxd_profile",
        {"name": "x", "lxd_project": "t-none"},
        "has no project t-none.",
        kind="not_found",
        foreseen=False,
    ),
    Wrong("lxd_profile", {"name": "NAME", "devices": {"eth0": {"parent": "lo"}}}, "devices: eth0 has no type"),
    Wrong("lxd_profile", {"name": "NAME", "devices": {"eth0": "lo"}}, "devices: eth0 must be a dict"),
    Wrong("lxd_profile", {"name": "NAME", "devices": {"e": {"type": "nic", "a": {}}}}, "devices: e: a must be one"),
    Wrong("lxd_profile", {"name": "NAME", "devices": {"e": {"type": "x"}}}, "Unsupported device type", kind="rejected"),
    Wrong("lxd_profile", {"name": "NAME", "config": {"foo": "x"}}, "foo", kind="rejected"),
    Wrong("lxd_profile", {"name": "default", "state": "absent"}, "profile default cannot be removed", kind="conflict"),
    Wrong(
        "lxd_profile",
        {"name": "NAME", "lxd_project": "NAME"},
        "The project NAME has no profiles of its own: it uses those of the project default.",
        lambda lxd: project(lxd, **{"features.profiles": "false"}),
        "conflict",
    ),
    Wrong("lxd_network", {}, "missing required arguments: name"),
    Wrong("lxd_network", {"name": "NAMEandmuchmore"}, "is too long (maximum 15", kind="rejected"),
    Wrong("lxd_network", {"name": "NAME", "type": "bogus"}, "Unknown driver", kind="unsupported", foreseen=False),
    Wrong("lxd_network", {"name": "lo"}, "The network lo cannot be managed: it is an interface", kind="conflict"),
    Wrong("lxd_network", {"name": "NAME", "config": {**NO_ADDRESSES, "foo": "x"}}, '"foo"', kind="rejected"),
    Wrong(
        "lxd_network",
        {"name": "NAME", "type": "macvlan"},
        "The type of the network NAME is bridge and cannot become macvlan: LXD does not change it.",
        bridge,
        "conflict",
    ),
    Wrong(
        "lxd_network",
        ABSENT,
        "The network NAME cannot be removed: profile NAME uses it. Remove them first",
        lambda lxd: (
            bridge(lxd),
            lxd.ask("POST", "profiles", {"name": "NAME", "devices": {"e": {"type": "nic", "network": "NAME"}}}),
        ),
        "conflict",
    ),
    Wrong(
        "lxd_network",
        {"name": "NAME", "lxd_project": "NAME"},
        "The project NAME has no networks of its own",
        project,
        "conflict",
    ),
    Wrong("lxd_storage_pool", {}, "missing required arguments: name"),
    Wrong("lxd_storage_pool", {"name": "NAME"}, "driver is missing: the storage pool NAME does not exist"),
    Wrong(
        "lxd_storage_pool",
        {"name": "NAME", "driver": "zfs"},
        "The storage pool NAME cannot be made of zfs: LXD at",
        kind="unsupported",
    ),
    Wrong("lxd_storage_pool", {"name": "NAME", "driver": "lvm"}, "made of lvm", kind="unsupported"),
    Wrong(
        "lxd_storage_pool",
        {"name": "NAME", "driver": "dir", "config": {"source": "/nowhere"}},
        "refused to create the storage pool NAME: Source path '/nowhere' doesn't exist.",
        kind="rejected",
    ),
    Wrong("lxd_storage_pool", {"name": "NAME", "driver": "dir", "config": {"foo": "x"}}, '"foo"', kind="rejected"),
    Wrong(
        "lxd_storage_pool",
        {"name": "NAME", "driver": "btrfs"},
        "The driver of the storage pool NAME is dir and cannot become btrfs: LXD does not change it.",
        pool,
        "conflict",
    ),
    Wrong(
        "lxd_storage_pool",
        {"name": "NAME", "config": {"source": "/elsewhere"}},
        "/NAME and cannot become /elsewhere: LXD does not change it.",
        pool,
        "conflict",
    ),
    Wrong(
        "lxd_storage_pool",
        {"name": "NAME", "config": {"size": "2GiB"}},
        "The change of size of the storage pool NAME from 1GiB to 2GiB needs growing the loop file of a storage pool: "
        "that needs LXD ≥ 5.21",
        lambda lxd: lxd.ask("POST", "storage-pools", {"name": "NAME", "driver": "btrfs", "config": {"size": "1GiB"}}),
        "unsupported",
    ),
    Wrong(
        "lxd_storage_pool",
        ABSENT,
        "The storage pool NAME cannot be removed: custom volume NAME of storage pool NAME uses it.",
        lambda lxd: (pool(lxd), lxd.ask("POST", f"storage-pools/{lxd.name}/volumes/custom", {"name": "NAME"})),
        "conflict",
    ),
]

WRONG += [
    Wrong("lxd_server", {}, "missing required arguments: config"),
    Wrong("lxd_server", {"config": ["a"]}, "config"),
    Wrong("lxd_server", {"config": {"core.https_address": ["a"]}}, "config: core.https_address must be one value"),
    Wrong("lxd_server", {"config": {}, "update_password": "never"}, "value of update_password must be one of: on_"),
    Wrong("lxd_server", {"config": {"core.foo": "x"}}, "refused to change its settings: cannot set", kind="rejected"),
    Wrong("lxd_server", {"config": {"core.remote_token_expiry": "soon"}}, "Invalid expiry", kind="rejected"),
    Wrong("lxd_server", {"config": {"core.https_address": "nonsense:a"}}, 'resolve "nonsense"', kind="rejected"),
    Wrong(
        "lxd_server",
        {"config": {"core.https_address": ""}},
        "LXD would not answer there any more. Do it through the socket",
        kind="conflict",
    ),
    Wrong("lxd_trust", {"type": "token"}, "type is token but all of the following are missing: name"),
    Wrong("lxd_trust", {"certificate": "/nowhere.crt"}, "certificate names a file that does not exist"),
    Wrong("lxd_trust", {"certificate": "/etc/hosts"}, "certificate names a file that is not in PEM form: /etc/hosts."),
    Wrong("lxd_trust", {"certificate": "-----BEGIN CERTIFICATE-----\nx"}, "certificate holds no certificate in PEM"),
    Wrong(
        "lxd_trust",
        {"certificate": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"},
        "certificate holds a certificate that cannot be read.",
    ),
    Wrong("lxd_trust", {"certificate": "PAIR", "fingerprint": "0" * 12}, "mutually exclusive: certificate|fingerprint"),
    Wrong("lxd_trust", {"fingerprint": "xyz"}, "fingerprint must be the SHA-256 fingerprint"),
    Wrong("lxd_trust", {"fingerprint": "0" * 64}, "does not know the certificate 000000000000.", kind="not_found"),
    Wrong("lxd_trust", {"certificate": "PAIR", "projects": ["a"], "restricted": False}, "projects and restricted: fal"),
    Wrong(
        "lxd_trust",
        {"certificate": "PAIR", "projects": ["t-none"]},
        "has no project t-none. Check its name",
        kind="not_found",
        foreseen=False,
    ),
    Wrong(
        "lxd_trust",
        {"type": "token", "name": "NAME", "projects": ["default", "t-none"]},
        "has no project t-none. Check its name",
        kind="not_found",
        foreseen=False,
    ),
    Wrong("lxd_trust", {"token": "a", "password": "b"}, "mutually exclusive: token|password"),
    Wrong("lxd_trust", {"type": "token", "name": "NAME", "token": "abc"}, "token is about certificates, and type is"),
    Wrong("lxd_trust", {"type": "token", "name": " "}, "name must not be empty."),
    Wrong("lxd_trust", {"type": "token", "name": "NAME", "min_validity": -1}, "min_validity must be 0 or more, not -1"),
    Wrong("lxd_trust", {"state": "absent"}, "cannot be removed: it is the one with which LXD at", kind="conflict"),
]
