# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cluster API is kept from a host that is taken out of use, and from its VMs, on a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import PAUSED, PAUSED_AS
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import MAAS_MACHINES, MACHINES
from hosted import grounds
from integration.arranging import client
from integration.maintaining import SET, Maintenance
from metalshift_lab.kube.bare import api_server
from metalshift_lab.programs import Programs
from metalshift_lab.simulator import Simulator

OURS = {PAUSED: "true", PAUSED_AS: "kvm1"}
THEIRS = {PAUSED: "somebody"}


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Maintenance]:
    with Simulator() as sim:
        yield Maintenance.at(sim, tmp_path)


def annotations(kube: Kube) -> dict[str, dict[str, str]]:
    found = [body["metadata"] for kind in (MACHINES, MAAS_MACHINES) for body in kube.list(kind)]
    return {f"{one['name']}": one.get("annotations") or {} for one in found}


def test_what_cluster_api_has_is_paused_first_and_only_that_goes_on(
    at: Maintenance, programs: Programs, tmp_path: Path
) -> None:
    with api_server(programs, tmp_path / "api", kinds=True):
        kubeconfig = tmp_path / "api" / "kubeconfig"
        kube = Kube.from_kubeconfig(kubeconfig.read_text())
        for name in ("kvm1", "kvm2", "cp-1", "cp-2", "cp-3"):
            grounds.a_machine_of_cluster_api(kube, name, at.machine(name).system_id)
        for kind in (MACHINES, MAAS_MACHINES):
            kube.patch(kind, "cp-3", grounds.INNER, {"metadata": {"annotations": THEIRS}})
        before = annotations(kube)
        marked = f"machines/{at.machine('cp-1').system_id}/"
        client(at.hosts.sim).post(marked, {"metalshift_cluster": "clusters/demo"}, op="set_workload_annotations")

        # MAAS says that a hosted cluster uses a VM: without a way to the cluster, none is touched.
        refused = at.play(vms="stop", shutdown="hard")
        assert refused.status != 0
        assert "kubeconfig" in refused.output
        assert at.power()["cp-1"] == "on"

        at.environment["K8S_AUTH_KUBECONFIG"] = str(kubeconfig)
        refused = at.play(vms="recreate", sets=[dict(SET)])
        assert "there still run cp-1 (hosted cluster clusters/demo)" in refused.output
        assert "when its Machine is deleted" in refused.output

        at.done("--check", vms="stop", shutdown="hard")
        assert annotations(kube) == before
        at.done(vms="stop", shutdown="hard")
        assert annotations(kube) == {**before, "kvm1": OURS, "cp-1": OURS}
        assert at.power()["cp-1"] == "off"
        at.done(state="returned")
        assert (annotations(kube), at.as_before()) == (before, True)
