# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook that destroys a hosted cluster takes all that the module takes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hosted.play import played
from hosted.test_teardown_bare import api, cluster, folder, left, sim
from integration.harness import Played
from metalshift_lab.kube.api import SECRETS, Api
from metalshift_lab.simulator import Simulator

__all__ = ["api", "folder", "sim"]

DESTROY = "metalshift.maas.destroy_hosted_cluster"
CREDENTIALS = "shop-maas-credentials"
OURS = {"app.kubernetes.io/managed-by": "metalshift.maas", "metalshift.maas/hosted-cluster": "shop"}


def destroyed(folder: Path, sim: Simulator, tmp_path: Path, **given: Any) -> Played:
    environment = {
        "MAAS_ENDPOINT": sim.url,
        "MAAS_API_KEY": sim.api_key,
        "K8S_AUTH_KUBECONFIG": str(folder / "kubeconfig"),
    }
    variables = {"name": "shop", "force": True, "stall_timeout": 1, "wait_sleep": 0.1, "wait_timeout": 60, **given}
    whole = {f"hosted_openshift_{name}": value for name, value in variables.items()}
    return played(tmp_path, DESTROY, whole, environment=environment, limit=100)


def test_a_destroyed_cluster_leaves_what_was_asked_for(api: Api, sim: Simulator, folder: Path, tmp_path: Path) -> None:
    machine = sim.machine("n1", status="Deployed")
    cluster(api, machine)
    place = {"name": CREDENTIALS, "namespace": "clusters", "labels": OURS}
    data = {"MAAS_ENDPOINT": "eA==", "MAAS_API_KEY": "eA=="}
    api.create(SECRETS, {"apiVersion": "v1", "kind": "Secret", "metadata": place, "data": data})
    done = destroyed(folder, sim, tmp_path, erase=True, remove_credentials=True, drain=False)
    assert done.status == 0, done.output
    assert left(api) == []
    machines = next(result["machines"] for result in done.results if "machines" in result)
    assert [(one["hostname"], one["outcome"]) for one in machines] == [("n1", "erased")]
    assert api.get(SECRETS, CREDENTIALS, "clusters") is None


def test_what_to_do_is_said_in_the_variables_of_the_playbook(
    api: Api, sim: Simulator, folder: Path, tmp_path: Path
) -> None:
    """Nothing runs here that would remove what has finalizers; the playbook knows no option `force`."""
    cluster(api, sim.machine("n1", status="Deployed"))
    hangs = destroyed(folder, sim, tmp_path, force=False)
    output = " ".join(hangs.output.split())
    assert (hangs.status, "hosted_openshift_force: true" in output) == (2, True), output
    assert not re.search(r"(?<!hosted_openshift_)\bforce: true", output), output


def test_a_misspelt_wish_destroys_nothing(api: Api, sim: Simulator, folder: Path, tmp_path: Path) -> None:
    cluster(api, sim.machine("n1", status="Deployed"))
    before = left(api)
    refused = destroyed(folder, sim, tmp_path, erase_disks=True, remove_credential=True)
    assert refused.status == 2
    said = "There is no variable hosted_openshift_remove_credential. Did you mean hosted_openshift_remove_credentials?"
    assert said in " ".join(refused.output.split())
    assert "There is no variable hosted_openshift_erase_disks." in " ".join(refused.output.split())
    assert left(api) == before
