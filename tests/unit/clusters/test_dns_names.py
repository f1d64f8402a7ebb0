# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A name in MAAS belongs to the cluster that it points at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.dns_names import (
    api_addresses,
    domains_of,
    sharing,
    why_kept,
)

OWN, THEIRS, STRANGE = "192.0.2.1", "192.0.2.2", "192.0.2.9"


def cluster(namespace: str = "clusters", name: str = "one", address: str = OWN, **spec: Any) -> dict[str, Any]:
    strategy = {"type": "NodePort", "nodePort": {"address": address}}
    services = [{"service": "APIServer", "servicePublishingStrategy": strategy}]
    return {
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"dns": {"baseDomain": "lab.example", **spec}, "services": services},
    }


@pytest.mark.parametrize(
    ("addresses", "own", "others", "why"),
    [
        # It has its domain to itself.
        ([OWN], [OWN], [], ""),
        ([OWN, STRANGE], [OWN], [], ""),
        ([STRANGE], [OWN], [], "and not at this cluster"),
        ([STRANGE], [], [], ""),
        ([], [OWN], [], ""),
        # Another one has the same domain.
        ([OWN], [OWN], ["b/one"], ""),
        ([THEIRS], [OWN], ["b/one"], "hosted cluster b/one has the same domain"),
        ([OWN, THEIRS], [OWN], ["b/one"], "hosted cluster b/one has the same domain"),
        ([THEIRS], [], ["b/one"], "hosted cluster b/one has the same domain"),
        ([], [OWN], ["b/one"], "it has no address"),
        # Whether one has could not be asked.
        ([OWN], [OWN], None, ""),
        ([STRANGE], [], None, "could not be asked"),
    ],
)
def test_a_name_goes_with_the_cluster_that_it_points_at(
    addresses: Sequence[str], own: Sequence[str], others: Sequence[str] | None, why: str
) -> None:
    found = why_kept(addresses, own, others, [THEIRS] if others else [])
    assert why in found
    assert bool(found) is bool(why)


def test_without_a_cluster_and_its_addresses_a_name_is_nobodys() -> None:
    """The kubeconfig may be that of another management cluster."""
    assert "no hosted cluster that would say" in why_kept([STRANGE], [], [], [], proven=False)
    assert why_kept([], [], [], [], proven=False) == ""


def test_where_the_other_one_is_must_be_known() -> None:
    assert why_kept([OWN], [OWN], ["b/one"], [])


def test_who_shares_a_domain() -> None:
    others = [cluster("b"), cluster("b", "two", baseDomainPrefix="one"), cluster("b", "three"), cluster()]
    assert [one["metadata"]["name"] for one in sharing(others, "clusters", "one", "one.lab.example")] == ["one", "two"]
    going = cluster("b")
    going["metadata"]["deletionTimestamp"] = "now"
    assert sharing([going], "clusters", "one", "one.lab.example") == []
    assert domains_of(cluster(name="Two", baseDomainPrefix="p")) == {"two.lab.example", "p.lab.example"}


@pytest.mark.parametrize(("address", "found"), [(OWN, {OWN}), ("lb.example", set()), ("", set())])
def test_where_a_control_plane_is_reached(address: str, found: set[str]) -> None:
    """What a name stands for may be any address."""
    assert api_addresses(cluster(address=address)) == found
