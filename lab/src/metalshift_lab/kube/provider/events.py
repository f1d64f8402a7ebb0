# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events of Kubernetes: the same one again is counted, not repeated."""

from __future__ import annotations

import logging
import secrets
import threading

from metalshift_lab.kube.api import EVENTS, Api, ApiError, Object, Unreachable, of_name, of_namespace
from metalshift_lab.kube.provider.draft import timestamp


class Recorder:
    def __init__(self, api: Api, component: str) -> None:
        self._api, self._component = api, component
        self._known: dict[tuple[str, str, str], tuple[str, int]] = {}
        self._lock = threading.Lock()
        self._log = logging.getLogger(f"lab.{component}")

    def warn(self, about: Object, reason: str, text: str) -> None:
        self._record(about, "Warning", reason, text)

    def note(self, about: Object, reason: str, text: str) -> None:
        self._record(about, "Normal", reason, text)

    def _record(self, about: Object, kind: str, reason: str, text: str) -> None:
        key = (about["metadata"]["uid"], reason, text)
        with self._lock:
            name, count = self._known.get(key, (f"{of_name(about)}.{secrets.token_hex(8)}", 0))
            self._known[key] = (name, count + 1)
        try:
            if count:
                again = {"count": count + 1, "lastTimestamp": timestamp()}
                self._api.patch(EVENTS, name, of_namespace(about), again)
            else:
                self._api.create(EVENTS, self._event(about, name, kind, reason, text))
        except (ApiError, Unreachable) as error:
            self._log.info("the event %s of %s was not recorded: %s", reason, of_name(about), error)
            with self._lock:
                self._known.pop(key, None)

    def _event(self, about: Object, name: str, kind: str, reason: str, text: str) -> Object:
        now, namespace = timestamp(), of_namespace(about)
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {
                "apiVersion": about["apiVersion"],
                "kind": about["kind"],
                "name": of_name(about),
                "namespace": namespace,
                "uid": about["metadata"]["uid"],
                "resourceVersion": about["metadata"]["resourceVersion"],
            },
            "type": kind,
            "reason": reason,
            "message": text,
            "source": {"component": self._component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
