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
    return Effect(f"nobody looks after {words['namespace']}/{words['name']}", lambda: lab.workloads.release(held))


def _no_volume(lab: Supervisor, words: Words) -> Effect:
    claims = lab.workloads.claims
    dearth = claims.withhold(words["namespace"], words["warning"])
    return Effect(f"claims in {words['namespace']} stay pending", lambda: claims.provide(dearth))


FAULTS = {
    "hold": Fault(
        "the pods of a workload do not run; real programs are stopped",
        _hold,
        {"name": MUST, "namespace": ".*"},
    ),
    "unreported": Fault(
        "nobody starts the pods of a workload or says what became of them: its status stays as it is",
        _silence,
        {"name": MUST, "namespace": ".*"},
    ),
    "no-volume": Fault(
        "no volume comes for new claims, and their pods wait; with warning= nobody says why",
        _no_volume,
        {"namespace": MUST, "warning": NO_VOLUME},
    ),
}
