# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done to an object of LXD: tables of what is, what is asked, and what it comes to."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._lxd import overview
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import kinds, server
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.capabilities import LxdCapabilities
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.kinds import (
    NETWORKS,
    POOLS,
    PROFILES,
    PROJECTS,
    LxdObjectSpec,
)
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import (
    HIDDEN,
    SECRET,
    alike,
    merged,
    shown,
    wished,
)
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.users import in_words, listed
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure import spec, tokens
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure.tokens import Token

NONE = LxdCapabilities("https://lxd:8443", frozenset())
GROWING = LxdCapabilities("https://lxd:8443", frozenset({"storage_pool_loop_resize"}))

# -- settings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (None, None),
        ({}, {}),
        ({"a": True, "b": False, "c": 4, "d": 1.5, "e": "x", "f": None, "g": ""}, None),
        ({5: "x"}, {"5": "x"}),
    ],
)
def test_settings_are_written_as_lxd_writes_them(given: Any, texts: Any) -> None:
    if given and "a" in given:
        texts = {"a": "true", "b": "false", "c": "4", "d": "1.5", "e": "x", "f": "", "g": ""}
    assert wished("config", given) == texts


@pytest.mark.parametrize("given", [{"a": {"b": 1}}, {"a": [1]}, {"": "x"}, {" ": "x"}])
def test_settings_that_are_none_are_refused(given: Any) -> None:
    with pytest.raises(Failure, match="config"):
        wished("config", given)


@pytest.mark.parametrize(
    ("wish", "found", "same"),
    [
        ("a", "a", True),
        ("true", "1", True),
        ("true", "yes", True),
        ("off", "false", True),
        ("True", "true", True),
        ("1", "yes", False),
        ("1", "01", False),
        ("true", "false", False),
        ("0", "1", False),
    ],
)
def test_what_means_the_same_to_lxd_is_the_same(wish: str, found: str, same: bool) -> None:
    assert alike("key", wish, found) == same


@pytest.mark.parametrize(
    ("key", "wish", "found", "same"),
    [
        ("size", "1024MiB", "1GiB", True),
        ("size", "1073741824", "1GiB", True),
        ("volume.size", "10GB", "10000MB", True),
        ("limits.memory", "2GiB", "2048MiB", True),
        ("limits.disk.pool.default", "1TB", "1000GB", True),
        ("size", "1GB", "1GiB", False),
        ("size", "1GiB", "", False),
        ("limits.memory", "50%", "50", False),
        ("user.note", "1024MiB", "1GiB", False),
    ],
)
def test_sizes_are_the_same_however_they_are_written(key: str, wish: str, found: str, same: bool) -> None:
    assert alike(key, wish, found) == same


@pytest.mark.parametrize(
    ("found", "wish", "purge", "after"),
    [
        ({"a": "1"}, None, False, {"a": "1"}),
        ({"a": "1"}, None, True, {"a": "1"}),
        ({"a": "1"}, {}, False, {"a": "1"}),
        ({"a": "1"}, {}, True, {}),
        ({"a": "1"}, {"b": "2"}, False, {"a": "1", "b": "2"}),
        ({"a": "1"}, {"b": "2"}, True, {"b": "2"}),
        ({"a": "1"}, {"a": ""}, False, {}),
        ({"a": "yes"}, {"a": "true"}, True, {"a": "yes"}),
        ({"volatile.x": "1", "a": "1"}, {}, True, {"volatile.x": "1"}),
    ],
)
def test_keys_that_nobody_named_stay_unless_told(found: Any, wish: Any, purge: bool, after: Any) -> None:
    assert merged(found, wish, purge=purge, kept=re.compile("^volatile")) == after


SECRETS = [
    *("core.trust_password", "core.trust_pasword", "loki.auth.password", "oidc.client.secret", "maas.api.key"),
    *(
        "rbac.agent.private_key",
        "cloud-init.user-data",
        "user.vendor-data",
        "environment.DB_PASSWORD",
        "pure.api.token",
    ),
    *("powerflex.user.password", "environment.AWS_SECRET_ACCESS_KEY", "user.passphrase", "user.pass"),
]
OPEN = [
    *("core.https_address", "core.remote_token_expiry", "security.secureboot", "user.authorized_key", "ipv4.address"),
    *("core.trust_ca_certificates", "cloud-init.ssh-keys.me", "limits.cpu", "security.syscalls.deny"),
]


@pytest.mark.parametrize("key", SECRETS)
def test_secrets_are_hidden(key: str) -> None:
    assert shown({key: "hunter2"}) == {key: HIDDEN}
    assert SECRET.search(key)


def test_that_there_is_a_secret_is_shown() -> None:
    """LXD itself tells no more of a password."""
    assert shown({"core.trust_password": True, "loki.auth.password": ""}) == {
        "core.trust_password": True,
        "loki.auth.password": "",
    }


@pytest.mark.parametrize("key", OPEN)
def test_what_is_no_secret_is_shown(key: str) -> None:
    assert shown({key: "x"}) == {key: "x"}


# -- named objects ---------------------------------------------------------------------------------

POOL = {"name": "fast", "driver": "btrfs", "description": "", "config": {"size": "1GiB", "source": "/img"}}
DEVICES = {"root": {"type": "disk", "path": "/", "pool": "default"}}


def wish(**given: Any) -> LxdObjectSpec:
    return LxdObjectSpec("fast", **given)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({}, ""),
        ({"description": ""}, ""),
        ({"config": {"size": "1GiB"}}, ""),
        ({"config": {}, "purge": True}, ""),
        ({"description": "d"}, "description"),
        ({"config": {"user.a": "b", "user.c": "d"}}, "config user.a, config user.c"),
        ({"config": {"user.a": "b"}, "description": "d"}, "description, config user.a"),
    ],
)
def test_a_plan_names_what_differs(asked: Any, reason: str) -> None:
    plan = kinds.plan(POOLS, wish(**asked), POOL)
    assert [step.reason for step in plan.steps] == ([reason] if reason else [])


# What LXD has put there, or cannot change.
LXDS: Mapping[str, Any] = {
    "pool": (POOLS, {"source": "/img", "size": "1GiB", "volatile.initial_source": "/dev/sdb", "zfs.pool_name": "fast"}),
    "pool of LVM": (POOLS, {"lvm.vg_name": "fast", "lvm.thinpool_name": "thin"}),
    "pool of Ceph": (POOLS, {"ceph.osd.pool_name": "fast", "cephfs.path": "/", "cephobject.radosgw.endpoint": "x"}),
    "network": (NETWORKS, {"volatile.bridge.hwaddr": "00:16:3e:00:00:01"}),
    "profile": (PROFILES, {"volatile.x": "1"}),
    "project": (PROJECTS, {"features.images": "true", "features.profiles": "false", "volatile.uuid": "x"}),
}


@pytest.mark.parametrize(("kind", "lxds"), LXDS.values(), ids=LXDS)
def test_a_purge_leaves_what_is_lxds(kind: Any, lxds: dict[str, str]) -> None:
    found = {"config": {**lxds, "user.a": "b"}}
    assert kinds.to_be(kind, wish(config={}, purge=True), found)["config"] == lxds


def test_a_description_ends_where_its_words_do() -> None:
    assert (
        LxdObjectSpec.from_params(PROFILES, {"name": "a", "description": " two\nlines\n"}).description == "two\nlines"
    )


def test_users_are_told_in_an_order() -> None:
    assert kinds.told(POOLS, {**POOL, "used_by": ["/b", "/a"]})["used_by"] == ["/a", "/b"]


@pytest.mark.parametrize(
    ("asked", "devices"),
    [
        ({}, DEVICES),
        ({"devices": {}}, DEVICES),
        ({"devices": {}, "purge": True}, {}),
        ({"config": {}, "purge": True}, DEVICES),
        ({"devices": {"root": None}}, {}),
        ({"devices": {"root": {"type": "disk", "path": "/"}}}, {"root": {"type": "disk", "path": "/"}}),
        ({"devices": {"a": {"type": "none"}}}, {**DEVICES, "a": {"type": "none"}}),
        ({"devices": {"a": {"type": "none"}}, "purge": True}, {"a": {"type": "none"}}),
    ],
)
def test_a_device_is_replaced_as_a_whole_and_others_stay(asked: Any, devices: Any) -> None:
    assert kinds.to_be(PROFILES, wish(**asked), {"name": "fast", "devices": DEVICES})["devices"] == devices


@pytest.mark.parametrize("empty", ["", {}, [], {"type": ""}, {"type": None}, {"type": "", "parent": "lo"}])
def test_a_device_that_came_out_empty_is_not_removed(empty: Any) -> None:
    with pytest.raises(Failure, match=r"devices: root (must be a dict|has no type)"):
        kinds.wished_devices({"root": empty})


def test_settings_of_a_device_that_are_empty_are_left_out() -> None:
    assert kinds.wished_devices({"a": {"type": "nic", "vlan": None}, "b": None}) == {"a": {"type": "nic"}, "b": None}


def test_a_device_that_means_the_same_stays_as_it_is() -> None:
    found = {"a": {"type": "nic", "security.mac_filtering": "1"}}
    asked = wish(devices={"a": {"type": "nic", "security.mac_filtering": "true"}})
    assert kinds.to_be(PROFILES, asked, {"devices": found})["devices"] == found


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"fixed": "zfs"}, "The driver of the storage pool fast is btrfs and cannot become zfs"),
        ({"config": {"source": "/dev/sdb"}}, "The source of the storage pool fast is /img and cannot become /dev/sdb"),
        ({"config": {"source": ""}}, "The source of the storage pool fast is /img and cannot become not set"),
        ({"config": {"size": "2GiB"}}, "The change of size of the storage pool fast from 1GiB to 2GiB needs growing"),
        ({"config": {"size": ""}}, "The change of size of the storage pool fast from 1GiB to not set needs growing"),
    ],
)
def test_what_lxd_does_not_change_is_refused_with_both_values(asked: Any, says: str) -> None:
    with pytest.raises(Failure) as caught:
        kinds.must_be_possible(POOLS, wish(**asked), POOL, NONE)
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("asked", "able"),
    [
        ({"fixed": "btrfs"}, NONE),
        ({"config": {"source": "/img"}}, NONE),
        ({"config": {"source": "/dev/sdb"}, "purge": True}, NONE),
        ({"config": {"source": "/dev/sdb", "source.wipe": "true"}}, NONE),
        ({"config": {"size": "2GiB"}}, GROWING),
        ({"config": {}, "purge": True}, NONE),
    ],
)
def test_what_is_so_or_can_be_changed_is_not_refused(asked: Any, able: LxdCapabilities) -> None:
    found = {**POOL, "config": {**POOL["config"], "volatile.initial_source": "/dev/sdb"}}  # type: ignore[dict-item]
    kinds.must_be_possible(POOLS, wish(**asked), found, able)


def test_what_a_pool_was_made_with_is_no_change_later() -> None:
    asked = wish(config={"source": "/dev/sdb", "source.wipe": "true"})
    assert kinds.to_be(POOLS, asked, None)["config"] == {"source": "/dev/sdb", "source.wipe": "true"}
    made = {**POOL, "config": {"source": "a-uuid", "volatile.initial_source": "/dev/sdb"}}
    assert not kinds.plan(POOLS, asked, made)


@pytest.mark.parametrize("status", ["Errored", "Pending"])
def test_a_pool_that_lxd_did_not_finish_is_said(status: str) -> None:
    with pytest.raises(Failure, match=f"The storage pool fast is {status}") as caught:
        kinds.must_be_possible(POOLS, wish(), {**POOL, "status": status}, NONE)
    assert caught.value.kind == "failed_state"


USERS = ["/1.0/instances/vm-1?project=maas", "/1.0/profiles/default"]


@pytest.mark.parametrize(
    ("kind", "name", "users", "says"),
    [
        (POOLS, "fast", [], ""),
        (POOLS, "fast", ["/1.0/images/0123456789abcdef"], ""),
        (POOLS, "fast", USERS, "instance vm-1 of project maas, profile default use it."),
        (POOLS, "fast", USERS[:1], "instance vm-1 of project maas uses it."),
        (NETWORKS, "br", USERS[:1], "The network br cannot be removed: instance vm-1 of project maas uses it."),
        (PROFILES, "default", [], "The profile default cannot be removed: every LXD has it."),
        (PROFILES, "x", USERS[:1], "instance vm-1 of project maas uses it."),
        (PROJECTS, "maas", ["/1.0/profiles/default?project=maas"], ""),
        (PROJECTS, "maas", ["/1.0/profiles/default-2?project=maas"], "profile default-2 of project maas uses it."),
        (PROJECTS, "maas", ["/1.0/images/0123456789abcdef?project=maas"], "image 0123456789ab of project maas uses it"),
        (PROJECTS, "default", [], "The project default cannot be removed: every LXD has it."),
    ],
)
def test_a_removal_is_refused_with_who_is_in_the_way(kind: Any, name: str, users: list[str], says: str) -> None:
    found = {"name": name, "used_by": users}
    if not says:
        kinds.must_be_removable(kind, found)
        return
    with pytest.raises(Failure) as caught:
        kinds.must_be_removable(kind, found)
    assert caught.value.kind == "conflict"
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("/1.0/instances/vm-1", "instance vm-1"),
        ("/1.0/instances/vm-1?project=default", "instance vm-1"),
        ("/1.0/instances/vm%201/snapshots/s?project=maas", "snapshot s of instance vm 1 of project maas"),
        ("/1.0/storage-pools/fast/volumes/custom/data", "custom volume data of storage pool fast"),
        ("/1.0/profiles/default?project=maas", "profile default of project maas"),
        ("/1.0/images/0123456789abcdef0123", "image 0123456789ab"),
        ("/1.0/novelties/x", "/1.0/novelties/x"),
        ("/1.0", "/1.0"),
    ],
)
def test_users_are_named_in_words(url: str, words: str) -> None:
    assert in_words(url) == words


def test_many_users_are_not_all_named() -> None:
    assert listed(f"/1.0/profiles/p{n}" for n in range(7)).endswith("profile p4 and 2 more")


@pytest.mark.parametrize(
    ("wish", "found", "same"),
    [
        ("auto", {"ipv6.address": "fd42::1/64"}, True),
        ("auto", {"ipv6.address": "none"}, False),
        ("auto", {}, False),
        ("none", {"ipv6.address": "none"}, True),
        ("fd42::1/64", {"ipv6.address": "fd42::2/64"}, False),
    ],
)
def test_an_address_that_lxd_chose_is_what_it_was_asked_for(wish: str, found: Any, same: bool) -> None:
    assert NETWORKS.satisfied("ipv6.address", wish, found) == same


# -- the server ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "asked", "told"),
    [
        ({}, {"core.shutdown_timeout": "5"}, {}),
        ({}, {"core.shutdown_timeout": "6"}, {"core.shutdown_timeout": "6"}),
        ({"core.shutdown_timeout": "6"}, {"core.shutdown_timeout": ""}, {"core.shutdown_timeout": ""}),
        ({"core.trust_ca_certificates": "false"}, {"core.trust_ca_certificates": ""}, {}),
        ({"core.trust_password": True}, {"core.trust_password": "x"}, {}),
        ({"core.trust_password": True}, {"core.trust_password": ""}, {"core.trust_password": ""}),
        ({}, {"core.trust_password": "x"}, {"core.trust_password": "x"}),
        ({}, {"core.trust_password": ""}, {}),
    ],
)
def test_lxd_is_told_what_differs(found: Any, asked: Any, told: Any) -> None:
    assert server.changes(server.ServerSpec(asked), found) == told


def test_a_password_is_told_again_only_if_that_is_asked_for() -> None:
    found = {"core.trust_password": True}
    always = server.ServerSpec({"core.trust_password": "x"}, renews_password=True)
    assert server.changes(always, found) == {"core.trust_password": "x"}
    assert "x" not in str(server.plan(always, found).steps[0].after.values())


def test_a_purge_leaves_the_address_at_which_lxd_listens() -> None:
    found = {"core.https_address": ":8443", "user.a": "b", "core.trust_password": True, "volatile.uuid": "x"}
    assert server.changes(server.ServerSpec({}, purge=True), found) == {"core.trust_password": "", "user.a": ""}


def test_an_lxd_without_passwords_is_told() -> None:
    words = "cannot set 'core.trust_password' to '***': Unknown key"
    said = server.without_password(Failure("rejected", words, reason=words), "https://lxd:8443")
    assert said.kind == "unsupported"
    assert "has no trust passwords any more" in str(said)
    other = Failure("rejected", "cannot set 'core.foo' to 'x': unknown key")
    assert server.without_password(other, "https://lxd:8443") is other


# -- trust -----------------------------------------------------------------------------------------

NOW = datetime(2026, 11, 19, 12, 0, tzinfo=timezone.utc)


def operation(**more: Any) -> dict[str, Any]:
    asked = {"name": "jo", "restricted": True, "projects": ["b", "a"]}
    said = {"request": asked, "secret": "s3cret", "fingerprint": "ab", "addresses": ["10.0.0.1:8443"]}
    base = {"id": "1", "class": "token", "status": "Running", "created_at": "2026-11-19T11:00:00Z"}
    return {**base, **more, "metadata": {**said, **more.get("metadata", {})}}


@pytest.mark.parametrize(
    "other",
    [
        operation(status="Cancelled"),
        operation(**{"class": "task"}),
        {**operation(), "metadata": {"serverName": "member-2", "secret": "x"}},
        {**operation(), "metadata": None},
    ],
    ids=["revoked", "a task", "of a cluster", "of nothing"],
)
def test_operations_of_other_kinds_are_no_tokens(other: Any) -> None:
    assert tokens.of_operations({"running": [other]}) == []


def token(**more: Any) -> Token:
    (found,) = tokens.of_operations({"running": [operation(**more)]})
    return found


def test_a_token_has_all_that_lxd_wants_of_one() -> None:
    parts = json.loads(base64.b64decode(token().text))
    assert parts == {
        "client_name": "jo",
        "fingerprint": "ab",
        "addresses": ["10.0.0.1:8443"],
        "secret": "s3cret",
        "expires_at": "0001-01-01T00:00:00Z",
    }


def test_a_token_does_not_show_its_secret() -> None:
    assert "s3cret" not in repr(token()) + str(token().told)


@pytest.mark.parametrize(
    ("expires", "seconds", "valid"),
    [
        ("", 1e6, True),
        ("0001-01-01T00:00:00Z", 1e6, True),
        ("2026-11-19T12:00:01.123456789Z", 0, True),
        ("2026-11-19T12:00:01.1Z", 2, False),
        ("2026-11-19T11:59:59Z", 0, False),
        ("2026-11-19T13:00:01+01:00", 0, True),
    ],
)
def test_a_token_is_good_until_it_expires(expires: str, seconds: float, valid: bool) -> None:
    assert token(metadata={"expiresAt": expires}).is_valid(NOW, seconds) == valid


@pytest.mark.parametrize(
    ("restricted", "projects", "fits"),
    [
        (None, None, True),
        (True, ["a", "b"], True),
        (True, ["a"], False),
        (False, None, False),
        (None, [], False),
    ],
)
def test_a_token_fits_if_it_gives_the_wished_rights(restricted: Any, projects: Any, fits: bool) -> None:
    assert token().fits(restricted, projects) == fits


def test_one_token_of_a_name_is_kept_and_the_others_are_revoked() -> None:
    found = [token(id="1"), token(id="2"), token(id="3", metadata={"request": {"name": "other"}})]
    kept, unfit = spec.sort_out(found, "jo", None, None, {"2", "3"})
    assert kept is found[1]
    assert unfit == [found[0]]


@pytest.mark.parametrize("text", ["0" * 11, "x" * 64, "0" * 65, ""])
def test_a_fingerprint_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(Failure, match="fingerprint must be"):
        spec.part_of_fingerprint(text)


def test_a_fingerprint_may_have_colons_and_capitals() -> None:
    assert spec.part_of_fingerprint(" AB:CD:" + "0" * 8) == "abcd" + "0" * 8


@pytest.mark.parametrize(
    ("given", "rights"),
    [
        ({"restricted": None, "projects": None}, (None, None)),
        ({"restricted": None, "projects": ["a"]}, (True, ["a"])),
        ({"restricted": None, "projects": []}, (True, [])),
        ({"restricted": None, "projects": ["b", "a", "b"]}, (True, ["a", "b"])),
        ({"restricted": False, "projects": []}, (False, [])),
        ({"restricted": True, "projects": None}, (True, None)),
    ],
)
def test_who_names_projects_restricts_to_them(given: Any, rights: Any) -> None:
    assert spec.rights(given) == rights


@pytest.mark.parametrize("projects", [["a", ""], [" "]])
def test_a_project_without_a_name_is_refused(projects: list[str]) -> None:
    with pytest.raises(Failure, match="projects has an empty name"):
        spec.rights({"restricted": None, "projects": projects})


def test_a_time_in_nanoseconds_is_understood() -> None:
    assert tokens.moment("2026-11-19T12:00:00.500000001Z") == NOW + timedelta(milliseconds=500)
    assert tokens.moment("soon") is None


# -- what an LXD tells of itself -------------------------------------------------------------------


@pytest.mark.parametrize(("driver", "version"), [("lxc | qemu", "5.0.2 | 7.2.22"), ("qemu | lxc", "7.2.22 | 5.0.2")])
def test_drivers_have_an_order(driver: str, version: str) -> None:
    told = overview.drivers({"driver": driver, "driver_version": version})
    assert list(told.items()) == [("lxc", "5.0.2"), ("qemu", "7.2.22")]


@pytest.mark.parametrize("environment", [{}, {"driver": "", "driver_version": ""}])
def test_an_lxd_that_does_not_trust_us_tells_no_drivers(environment: Any) -> None:
    assert overview.drivers(environment) == {}
    assert overview.storage_drivers(environment) == {}


@pytest.mark.parametrize("subset", ["instances", "virtual_machines"])
def test_secrets_of_instances_are_hidden_also_those_from_profiles(subset: str) -> None:
    settings = {"cloud-init.user-data": "s3cret", "limits.cpu": "2"}
    found = {"name": "v", "type": "virtual-machine", "config": settings, "expanded_config": settings}
    (told,) = overview.SUBSETS[subset].told([found])
    assert told["config"] == told["expanded_config"] == {"cloud-init.user-data": HIDDEN, "limits.cpu": "2"}


def test_instances_of_one_type_are_picked_out_of_all() -> None:
    both = [{"name": "c", "type": "container"}, {"name": "v", "type": "virtual-machine"}]
    assert overview.of_type("virtual-machine", both) == [both[1]]
