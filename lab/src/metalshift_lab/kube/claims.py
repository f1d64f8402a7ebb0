# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in for a storage provisioner: claims of StatefulSets are bound at once, unless volumes are withheld."""

from __future__ import annotations

import re
import secrets
import threading
from dataclasses import dataclass

from metalshift_lab.kube.api import CLAIMS, EVENTS, Api, Object, of_name, of_namespace
from metalshift_lab.kube.times import now, stamp


@dataclass(frozen=True)
class Dearth:
    """No volumes for claims in namespaces that fit, and the warning that says why, if anything does."""

    pattern: re.Pattern[str]
    warning: str


class Claims:
    """The claims of a management cluster's StatefulSets. They outlive their StatefulSet."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._dearths: list[Dearth] = []
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    def withhold(self, namespace: str, warning: str) -> Dearth:
        """From now on claims in these namespaces (a regular expression) stay pending."""
        dearth = Dearth(re.compile(namespace), warning)
        with self._lock:
            self._dearths.append(dearth)
        return dearth

    def provide(self, dearth: Dearth) -> None:
        """End it."""
        with self._lock:
            self._dearths.remove(dearth)

    def bound(self, stateful_set: Object) -> bool:
        """Make the claims that are missing; whether every one has its volume."""
        pending = [
            number
            for template in stateful_set["spec"].get("volumeClaimTemplates", [])
            for number in range(stateful_set["spec"].get("replicas", 1))
            if not self._bound(stateful_set, template, number)
        ]
        return not pending

    def _bound(self, stateful_set: Object, template: Object, number: int) -> bool:
        name, namespace = f"{of_name(template)}-{of_name(stateful_set)}-{number}", str(of_namespace(stateful_set))
        claim = self._api.get(CLAIMS, name, namespace)
        if claim is None:
            labels = stateful_set["spec"]["selector"]["matchLabels"]
            claim = self._api.create(
                CLAIMS,
                {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "metadata": {"name": name, "namespace": namespace, "labels": labels},
                    "spec": template["spec"],
                },
            )
        if claim.get("status", {}).get("phase") == "Bound":
            return True
        with self._lock:
            dearth = next((each for each in self._dearths if each.pattern.fullmatch(namespace)), None)
        if dearth is not None:
            self._warn(claim, dearth.warning)
            return False
        self._bind(claim)
        return True

    def _bind(self, claim: Object) -> None:
        name, namespace = of_name(claim), of_namespace(claim)
        self._api.patch(CLAIMS, name, namespace, {"spec": {"volumeName": f"pvc-{secrets.token_hex(8)}"}})
        told = {"phase": "Bound", "capacity": claim["spec"]["resources"]["requests"]}
        self._api.patch(CLAIMS, name, namespace, {"status": told}, subresource="status")

    def _warn(self, claim: Object, warning: str) -> None:
        uid = claim["metadata"]["uid"]
        if not warning or uid in self._warned:
            return
        self._warned.add(uid)
        self._api.create(
            EVENTS,
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"generateName": f"{of_name(claim)}.", "namespace": of_namespace(claim)},
                "involvedObject": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "name": of_name(claim),
                    "namespace": of_namespace(claim),
                    "uid": uid,
                },
                "type": "Warning",
                "reason": "ProvisioningFailed",
                "message": warning,
                "source": {"component": "persistentvolume-controller"},
                "firstTimestamp": stamp(now()),
                "lastTimestamp": stamp(now()),
                "count": 1,
            },
        )
