# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of several VMs of a name is the one that a machine of MAAS is."""

from __future__ import annotations

from itertools import permutations

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.homes import Copy, Home, home

OWN, OTHER = "00:16:3e:00:00:01", "00:16:3e:00:00:02"
UNSURE = Home(doubt="cp-1 is on kvm1 and on kvm2, and MAAS does not tell which of them it means")
OTHERS = Home(doubt="cp-1: MAAS switches it on kvm1, and the VM there has other MAC addresses")


def vm(host: str, *macs: str) -> Copy:
    return Copy(host, frozenset(macs))


@pytest.mark.parametrize(
    ("copies", "switched", "found"),
    [
        ([], "kvm1", Home("kvm1")),
        ([], "", Home()),
        # The VM that has its MAC addresses, unless MAAS switches another one.
        ([vm("kvm1", OWN), vm("kvm2", OTHER)], "kvm1", Home("kvm1")),
        ([vm("kvm1", OWN), vm("kvm2", OTHER)], "", Home("kvm1")),
        ([vm("kvm1", OWN), vm("kvm2", OTHER)], "kvm2", UNSURE),
        # A backup that was restored on another host.
        ([vm("kvm1", OWN), vm("kvm2", OWN)], "kvm2", Home("kvm2")),
        ([vm("kvm1", OWN), vm("kvm2", OWN)], "", UNSURE),
        ([vm("kvm1", OWN), vm("kvm2", OWN)], "kvm3", UNSURE),
        # None has them.
        ([vm("kvm1", OTHER)], "kvm1", OTHERS),
        ([vm("kvm1", OTHER)], "kvm2", Home("kvm2")),
        ([vm("kvm1", OTHER), vm("kvm2", OTHER)], "kvm1", UNSURE),
        ([vm("kvm1", OTHER), vm("kvm2", OTHER)], "", Home()),
        # One whose MAC addresses are not known.
        ([vm("kvm1")], "kvm1", Home("kvm1")),
        ([vm("kvm1"), vm("kvm2", OTHER)], "kvm1", Home("kvm1")),
    ],
)
def test_the_home_is_what_maas_says_or_in_doubt(copies: list[Copy], switched: str, found: Home) -> None:
    for order in permutations(copies):
        assert home("cp-1", frozenset({OWN}), order, lambda: switched) == found


def test_a_machine_whose_mac_addresses_are_not_known_is_where_maas_switches_it() -> None:
    assert home("cp-1", frozenset(), [vm("kvm1", OTHER), vm("kvm2", OWN)], lambda: "kvm2") == Home("kvm2")


def test_volumes_are_no_vm_and_maas_is_asked_only_if_there_is_a_question() -> None:
    left = Copy("kvm1", disks=("cp-1-disk1",))
    asked: list[str] = []
    assert home("cp-1", frozenset({OWN}), [left, vm("kvm2", OWN)], lambda: asked.append("") or "kvm1") == Home("kvm2")
    assert asked == []
