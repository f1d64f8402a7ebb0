# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a machine is: a name that Kubernetes gives it proves nothing."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.machine_owner import (
    MachineNames,
    belonging,
)

ME = "provider"
DEPLOYED = {"status": 6, "owner": ME, "hostname": "n1", "zone": {"name": "az1"}}
DEPLOYED |= {"osystem": "custom", "distro_series": "rhcos-4.20"}
MACHINE = {
    "metadata": {"name": "demo-a"},
    "spec": {"providerID": "maas:///az1/abc123", "systemID": "abc123", "image": "custom/rhcos-4.20"},
    "status": {"hostname": "n1", "ready": True},
}
FAILED = {"type": "MachineDeployed", "status": "False", "reason": "MachineDeployFailed"}


def named(**words: Any) -> MachineNames:
    status = {**MACHINE["status"], **words.pop("status", {})}
    return MachineNames({**MACHINE, "status": status}, "clusters/demo", **words)


def of_cluster(name: str) -> dict[str, Any]:
    return {"workload_annotations": {"metalshift_cluster": name}}


@pytest.mark.parametrize(
    ("machine", "words", "verdict", "reason"),
    [
        (None, {}, "gone", "MAAS does not know it"),
        ({"status": 4, "owner": ""}, {}, "free", "it is Ready, and nobody holds it"),
        ({"status": 12}, {}, "leaving", "it is Releasing already"),
        ({}, {}, "ours", "all that is known of it fits"),
        ({}, {"node": "n1.maas"}, "ours", "it is the cluster's node n1.maas"),
        (of_cluster("clusters/demo"), {"node": "n7.maas"}, "ours", "MAAS has it marked as this cluster's"),
        (of_cluster("clusters/prod"), {}, "foreign", "MAAS has it marked as a machine of hosted cluster clusters/prod"),
        ({"workload_annotations": {"metalshift_claim": "storage"}}, {}, "foreign", "the claim storage holds it"),
        ({"owner": "eve"}, {}, "foreign", "the MAAS user eve holds it, and not provider"),
        (
            {"osystem": "ubuntu", "distro_series": "noble"},
            {},
            "foreign",
            "it runs ubuntu/noble, and demo-a asks for custom/rhcos-4.20",
        ),
        ({"hostname": "db1"}, {}, "foreign", "MAAS calls it db1, and demo-a n1"),
        ({}, {"node": "n7.maas"}, "foreign", "MAAS calls it n1, and the cluster's node is n7.maas"),
        ({}, {"rivals": ("clusters-b/b-1",)}, "unsure", "MaasMachine clusters-b/b-1 names it as well"),
        ({}, {"node": "n1.maas", "rivals": ("b/b",)}, "ours", "it is the cluster's node n1.maas"),
        (
            {},
            {"status": {"conditions": [FAILED]}},
            "unsure",
            "the provider has given it back after a deployment that failed (demo-a)",
        ),
        ({"status": 11}, {"status": {"conditions": [FAILED]}}, "ours", "all that is known of it fits"),
        ({"zone": {"name": "az2"}}, {}, "unsure", "it is in zone az2, and the provider took it from az1"),
    ],
)
def test_a_name_is_compared_with_all_that_is_known(
    machine: dict[str, Any] | None, words: dict[str, Any], verdict: str, reason: str
) -> None:
    found = belonging(None if machine is None else {**DEPLOYED, **machine}, named(**words), {ME})
    assert (found.verdict, found.reason) == (verdict, reason)


def test_any_owner_will_do_where_the_provider_s_user_is_not_known() -> None:
    assert belonging({**DEPLOYED, "owner": "eve"}, named(), ()).verdict == "ours"
