# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine that is paused stays as somebody left it, whatever the operators of a hosted cluster do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import PAUSED_AS
from hosted.play import run
from hosted.test_teardown_lab import machine, of
from metalshift_lab.kube.api import MAAS_MACHINES, MACHINES
from metalshift_lab.kube.examples import NAMESPACE
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.journey import Journey

NAME = "halted"


def done(lab: Lab, module: str, **args: Any) -> dict[str, Any]:
    outcome = run(lab, module, args)
    assert not outcome.failed, outcome.msg
    return outcome.result


def touch(lab: Lab, journey: Journey, at: str) -> None:
    """Whoever watches the cluster's objects looks at all of them again."""
    place = {"nodepool": NAMESPACE, "hostedcluster": NAMESPACE, "machine": journey.namespace}
    place |= {"maasmachine": journey.namespace, "machineset": journey.namespace, "machinedeployment": journey.namespace}
    for kind, namespace in place.items():
        lab.kubectl("-n", namespace, "annotate", kind, "--all", f"lab.example/touched-at={at}", "--overwrite")


def test_a_paused_machine_stays_off_and_its_like_is_switched_on(lab: Lab, tmp_path: Path) -> None:
    journey = Journey(lab, NAME, tmp_path)
    journey.create(replicas=2)
    journey.until_available(300)
    lab.until("two machines are deployed", lambda: len(of(journey)) == 2, 300)
    halted, other = both = of(journey)

    def power(system_id: str) -> str:
        return str(machine(lab, system_id)["power_state"])

    paused = done(lab, "cluster_api_pause", name="kvm1", system_ids=[halted])
    assert [one["system_id"] for one in paused["machines"]] == [halted]
    done(lab, "machine", machines=both, power="off", take_over=True, wait=False)
    touch(lab, journey, "first")
    lab.until("the provider switches the other on", lambda: power(other) == "on", 120)
    touch(lab, journey, "second")
    assert power(halted) == "off"
    marks = [body for kind in (MACHINES, MAAS_MACHINES) for body in lab.api.list(kind, journey.namespace)]
    assert sum(PAUSED_AS in body["metadata"].get("annotations", {}) for body in marks) == 2

    done(lab, "cluster_api_pause", name="kvm1", state="absent")
    lab.until("the provider switches it on", lambda: power(halted) == "on", 120)
    journey.delete()
    journey.until_gone(300)
