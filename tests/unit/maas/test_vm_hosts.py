# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is decided about VM hosts: where they are, what they have room for, why they cannot be used."""

from __future__ import annotations

import base64
import json
from datetime import datetime, timezone
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import KINDS, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure import discovery
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure import token as vm_hosts_token
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.address import Endpoint, endpoint
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.capacity import (
    missing,
    remarks,
    rooms,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.fields import (
    VMHostFields,
    tag_changes,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.guests import Guest, guests, in_words

NOW = datetime(2026, 11, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("10.0.0.5", "10.0.0.5", 8443),
        ("KVM1.Example.com:9443", "kvm1.example.com", 9443),
        ("https://10.0.0.5", "10.0.0.5", 8443),
        (" https://10.0.0.5:8443/ ", "10.0.0.5", 8443),
        ("[fd00::5]", "fd00::5", 8443),
        ("https://[FD00::5]:9443", "fd00::5", 9443),
    ],
)
def test_an_address_is_read_as_maas_reads_it(text: str, host: str, port: int) -> None:
    assert endpoint(text) == Endpoint(host, port)
    assert endpoint(str(endpoint(text))) == Endpoint(host, port)


@pytest.mark.parametrize("text", ["", "http://kvm1", "kvm1:port", "fd00::5", "kvm1/1.0", "https://u:p@kvm1", "unix:/x"])
def test_what_is_no_address_of_an_lxd_is_refused(text: str) -> None:
    with pytest.raises(Failure, match="is not the address of an LXD"):
        endpoint(text)


def host(**values: Any) -> dict[str, Any]:
    return {
        "name": "kvm1",
        "version": "5.21.3",
        "total": {"cores": 16, "memory": 65536, "local_storage": 500},
        "used": {"cores": 4, "memory": 8192, "local_storage": 40},
        "cpu_over_commit_ratio": 1.0,
        "memory_over_commit_ratio": 1.0,
        "storage_pools": [{"name": "default"}],
        **values,
    }


@pytest.mark.parametrize(
    ("ratio", "used", "limit", "available"), [(1.0, 4, 16, 12), (2.5, 4, 40, 36), (0.0, 4, 0, 0), (1, 24, 16, 0)]
)
def test_over_commit_multiplies_what_the_host_has(ratio: float, used: int, limit: int, available: int) -> None:
    cores = rooms(host(cpu_over_commit_ratio=ratio, used={"cores": used}))["cores"]
    assert (cores.total, cores.limit, cores.available) == (16, limit, available)


def test_storage_is_not_over_committed() -> None:
    assert rooms(host(cpu_over_commit_ratio=3.0))["local_storage"].available == 460


@pytest.mark.parametrize(
    ("values", "lacks"),
    [
        ({}, []),
        ({"version": ""}, ["MAAS could not discover it"]),
        ({"total": {"cores": 0}}, ["MAAS has not learned how many cores it has"]),
        ({"storage_pools": []}, ["it has no storage pool"]),
        (
            {"total": {}, "storage_pools": None},
            ["MAAS has not learned how many cores it has", "it has no storage pool"],
        ),
    ],
)
def test_what_is_missing_is_named(values: dict[str, Any], lacks: list[str]) -> None:
    assert missing(host(**values)) == lacks


DHCP, RELAYED, NONE = {"dhcp_on": True}, {"dhcp_on": False, "relay_vlan": {"id": 1}}, {"dhcp_on": False, "name": "v9"}


@pytest.mark.parametrize(
    ("version", "vlans", "said"),
    [
        ("5.21.3", [NONE, DHCP], []),
        ("5.0.2", [RELAYED], []),
        ("6.6", [NONE], ["No VLAN that node-1 is on has DHCP"]),
        ("5.21.3", [None], ["MAAS knows no network of node-1"]),
        ("6.7", [DHCP], ["LXD 6.7 has instance_boot_mode"]),
        ("7.0.1", [DHCP], ["LXD 7.0.1 has instance_boot_mode"]),
        ("", [], []),
    ],
)
def test_what_keeps_vms_from_starting_is_named(version: str, vlans: list[Any], said: list[str]) -> None:
    node = {"hostname": "node-1", "interface_set": [{"vlan": vlan} for vlan in vlans]}
    texts = remarks(host(version=version), node)
    assert [text[: len(begin)] for text, begin in zip(texts, said, strict=True)] == said


def test_every_reason_is_of_a_kind_and_ends_in_a_hint() -> None:
    for reason in discovery.REASONS:
        text = f"Failed talking to pod: VM Host 3: {reason.words.partition('|')[0].replace('[Cc]', 'C')}"
        failure = discovery.failure("VM host a", text, address="b:8443", project="maas")
        assert failure.kind in KINDS
        assert failure.kind == reason.kind, f"another reason takes the words of this one: {reason.words}"
        assert failure.hint.endswith(".")
        assert "VM Host 3" not in str(failure)


@pytest.mark.parametrize(
    ("present", "wished", "purge", "added", "removed"),
    [
        (["a"], None, True, [], []),
        (["a", "pod-console-logging"], ["b"], False, ["b"], []),
        (["a", "pod-console-logging"], ["b"], True, ["b"], ["a"]),
        (["a", "maas-lxd-wlc-x"], [], True, [], ["a"]),
    ],
)
def test_only_tags_of_people_are_taken_away(
    present: list[str], wished: list[str] | None, purge: bool, added: list[str], removed: list[str]
) -> None:
    assert tag_changes(present, VMHostFields(tags=wished, purge_tags=purge)) == (added, removed)


def test_guests_are_machines_and_notes_of_one_host() -> None:
    machines = [
        {"system_id": "a", "hostname": "vm-a", "pod": {"id": 3}, "virtualmachine_id": 1, "owner": "me"},
        {"system_id": "b", "hostname": "vm-b", "pod": {"id": 4}, "virtualmachine_id": 2},
    ]
    notes = [
        {"id": 1, "bmc_id": 3, "identifier": "vm-a", "project": "maas", "pinned_cores": [2, 3], "unpinned_cores": 0},
        {"id": 2, "bmc_id": 4, "identifier": "vm-b", "project": "maas"},
        {"id": 5, "bmc_id": 3, "identifier": "other", "project": "default", "unpinned_cores": 4},
    ]
    found = guests({"id": 3}, machines, notes)
    assert [(guest.name, guest.shown["project"], guest.shown["cores"]) for guest in found] == [
        ("other", "default", 4),
        ("vm-a", "maas", 2),
    ]
    assert in_words(found) == "2 VMs: other, vm-a (me)"


def test_many_vms_are_counted_and_few_named() -> None:
    many = [Guest({"hostname": f"vm{number}"}, None) for number in range(9)]
    assert in_words(many) == "9 VMs: vm0, vm1, vm2, vm3, vm4 and 4 more"


def token(content: Any) -> str:
    return base64.b64encode(json.dumps(content).encode()).decode()


@pytest.mark.parametrize("end", ["", "0001-01-01T00:00:00Z", "2026-11-02T10:00:00.123456789Z", "someday"])
def test_a_good_token_is_given_as_it_is(end: str) -> None:
    good = token({"secret": "s", "expires_at": end})
    assert vm_hosts_token.checked(f" {good}\n", NOW) == good


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sekret", "is not a trust token"),
        ("", "is not a trust token"),
        (token(["secret"]), "is not a trust token"),
        (token({"fingerprint": "f"}), "is not a trust token"),
        (token({"secret": "s", "expires_at": "2026-10-31T23:00:00Z"}), "expired on 2026-10-31 at 23:00 UTC"),
    ],
)
def test_a_bad_token_is_not_sent_to_maas(text: str, says: str) -> None:
    with pytest.raises(Failure, match=says):
        vm_hosts_token.checked(text, NOW)
