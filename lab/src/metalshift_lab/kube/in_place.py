# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-in for upgrades in place: who tells nodes to upgrade, and the daemon on each node that does it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from metalshift_lab.kube.api import MACHINES, NODES, SECRETS, Api, Object, Resource, of_name
from metalshift_lab.kube.controller import Controller
from metalshift_lab.kube.speed import Speed

MACHINE_SETS = Resource("cluster.x-k8s.io/v1beta1", "machinesets")
PREFIX = "hypershift.openshift.io/nodePool"
TARGET, CURRENT = f"{PREFIX}TargetConfigVersion", f"{PREFIX}CurrentConfigVersion"
UNDER_WAY, STUCK = f"{PREFIX}UpgradeInProgressTrue", f"{PREFIX}UpgradeInProgressFalse"
MOST = f"{PREFIX}MaxUnavailable"
DAEMON = "machineconfiguration.openshift.io"
WANTED, IS, STATE, REASON = (f"{DAEMON}/{name}" for name in ("desiredConfig", "currentConfig", "state", "reason"))

# Seconds that a node takes to write its new system and boot it, and between looks.
REBOOT, LOOK = 420, 15
SOON = 0.5


def _marks(body: Object) -> dict[str, str]:
    return body["metadata"].get("annotations") or {}


def upgraded(node: Object, target: str) -> bool:
    marks = _marks(node)
    return marks.get(IS) == target and marks.get(STATE) == "Done"


def chosen(nodes: Iterable[Object], target: str, most: int) -> list[str]:
    """The nodes that are told the target now: as many as may be away at once, and those on the way to another one."""
    marks = {of_name(node): _marks(node) for node in nodes}
    away = [name for name, each in marks.items() if each.get(IS) != each.get(WANTED)]
    lost = [name for name in away if marks[name].get(WANTED) != target]
    idle = [name for name, each in marks.items() if name not in away and each.get(WANTED) != target]
    return idle[: max(most - len(away), 0)] + lost


class InPlace(Controller):
    """Upgrades the nodes of MachineSets that are to stay, some at a time."""

    def __init__(
        self,
        api: Api,
        namespace: str,
        hosted_api: Callable[[], Api | None],
        speed: Speed,
        degraded: Callable[[], str],
    ) -> None:
        super().__init__(api, f"in place {namespace}")
        self._namespace, self._hosted_api, self._speed, self._degraded = namespace, hosted_api, speed, degraded
        self._reboots: dict[str, float] = {}
        self._sets = self.watch(MACHINE_SETS, namespace=namespace, key=lambda body: [of_name(body)])

    def reconcile(self, key: str) -> float | None:
        machines = self._sets.get(key, self._namespace)
        marks = _marks(machines) if machines is not None else {}
        target = marks.get(TARGET, "")
        if machines is None or not target or target == marks.get(CURRENT):
            return None
        token = self.api.get(SECRETS, f"token-{key}-{target}", self._namespace) or {}
        hosted = self._hosted_api()
        if hosted is None or "payload" not in (token.get("data") or {}):
            return max(self._speed.seconds(LOOK), SOON)
        nodes = [self._run_daemon(hosted, node) for node in self._nodes(hosted, machines)]
        return self._go_on(hosted, machines, nodes, target)

    def _go_on(self, hosted: Api, machines: Object, nodes: list[Object], target: str) -> float | None:
        if all(upgraded(node, target) for node in nodes):
            self._mark(machines, {CURRENT: target, UNDER_WAY: None, STUCK: None})
            return None
        again = max(self._speed.seconds(LOOK), SOON)
        for node in nodes:
            if _marks(node).get(STATE) == "Degraded":
                said = f"Node {of_name(node)} in nodepool degraded: {_marks(node).get(REASON, '')}"
                self._mark(machines, {UNDER_WAY: None, STUCK: said})
                return again
        done = sum(upgraded(node, target) for node in nodes)
        said = f"Nodepool update in progress. Target Config version: {target}. "
        self._mark(machines, {UNDER_WAY: f"{said}Total Nodes: {len(nodes)}. Upgraded: {done}", STUCK: None})
        for name in chosen(nodes, target, int(_marks(machines).get(MOST, "1"))):
            self._note(hosted, name, {WANTED: target})
        return again

    def _nodes(self, hosted: Api, machines: Object) -> list[Object]:
        mine = [
            each
            for each in self.api.list(MACHINES, self._namespace)
            if any(owner["uid"] == machines["metadata"]["uid"] for owner in each["metadata"].get("ownerReferences", []))
        ]
        names = [each.get("status", {}).get("nodeRef", {}).get("name") for each in mine]
        found = [hosted.get(NODES, name) for name in names if name]
        return [node for node in found if node is not None]

    def _run_daemon(self, hosted: Api, node: Object) -> Object:
        """What the machine config daemon on a node does: begin when told to, and be done some time later."""
        name, marks = of_name(node), _marks(node)
        because = self._degraded()
        if marks.get(WANTED) == marks.get(IS):
            return node
        if because:
            self._reboots.pop(name, None)
            return self._note(hosted, name, {STATE: "Degraded", REASON: because})
        due = self._reboots.setdefault(name, time.monotonic() + self._speed.seconds(REBOOT))
        if time.monotonic() < due:
            if marks.get(STATE) == "Working":
                return node
            return self._note(hosted, name, {STATE: "Working", REASON: ""})
        del self._reboots[name]
        return self._note(hosted, name, {IS: marks[WANTED], STATE: "Done", REASON: ""})

    def _note(self, hosted: Api, node: str, marks: dict[str, str]) -> Object:
        return hosted.patch(NODES, node, None, {"metadata": {"annotations": marks}})

    def _mark(self, machines: Object, marks: dict[str, str | None]) -> None:
        known = _marks(machines)
        if any(known.get(key) != value for key, value in marks.items()):
            change = {"metadata": {"annotations": marks}}
            self.api.patch(MACHINE_SETS, of_name(machines), self._namespace, change)
