# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of what runs in the management cluster: pods that do not start, and volumes that do not come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metalshift_lab.kube.faults.fault import MUST, Effect, Fault, Words

if TYPE_CHECKING:
    from metalshift_lab.kube.supervisor import Supervisor

NO_VOLUME = 'storageclass.storage.k8s.io "fast" not found'


def _hold(lab: Supervisor, words: Words) -> Effect:
    held = lab.workloads.hold(words["namespace"], words["name"])
    return Effect(f"pods of {words['namespace']}/{words['name']} do not run", lambda: lab.workloads.release(held))


def _silence(lab: Supervisor, words: Words) -> Effect:
    held = lab.workloads.hold(words["namespace"], words["name"], silent=True)
    return Effect(
        f"pods of {words['namespace']}/{words['name']} are neither started nor reported",
        lambda: lab.workloads.release(held),
    )


def _no_volume(lab: Supervisor, words: Words) -> Effect:
    claims = lab.workloads.claims
    dearth = claims.withhold(words["namespace"], words["warning"])
    return Effect(f"claims in {words['namespace']} stay pending", lambda: claims.provide(dearth))


FAULTS = {
    "hold": Fault(
        "the pods of a workload do not run; real programs among them are stopped",
        _hold,
        {"name": MUST, "namespace": ".*"},
    ),
    "unreported": Fault(
        "the pods of a workload are neither started nor reported: its status does not change",
        _silence,
        {"name": MUST, "namespace": ".*"},
    ),
    "no-volume": Fault(
        "new volume claims stay unbound, and their pods wait; with an empty warning= no event says why",
        _no_volume,
        {"namespace": MUST, "warning": NO_VOLUME},
    ),
}
