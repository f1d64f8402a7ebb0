# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A wait for a hosted cluster, in a thread, and all that it says with the time at which it did."""

from __future__ import annotations

import threading
import time
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.progress import Goal
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.wait import wait_for
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from hosted.play import reach
from metalshift_lab.kube.examples import NAMESPACE
from metalshift_lab.kube.handle import Lab, LabError

SETTINGS: dict[str, Any] = {"maas_validate_certs": True, "maas_timeout": 60.0, "wait_sleep": 2.0}


class Waiting:
    """One wait. `said` are its lines, without the time that has passed."""

    def __init__(
        self,
        lab: Lab,
        name: str,
        goal: Goal,
        *,
        timeout: float = 300.0,
        maas: bool = True,
        kubeconfig: str = "",
        **words: Any,
    ) -> None:
        options = {key: value for key, value in reach(lab).items() if maas or not key.startswith("maas_")}
        options["kubeconfig"] = kubeconfig or options["kubeconfig"]
        self.said: list[str] = []
        self.times: list[float] = []
        self.task = Task({**SETTINGS, **options, "wait_timeout": timeout}, say=self._say, environment={})
        self.sight: ClusterSnapshot | None = None
        self.failure: Failure | None = None
        self._defect: BaseException | None = None
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._run, args=(name, goal, words), daemon=True)
        self._thread.start()

    def _run(self, name: str, goal: Goal, words: dict[str, Any]) -> None:
        try:
            self.sight = wait_for(self.task, NAMESPACE, name, goal, **words)
        except Failure as failure:
            self.failure = failure
        except BaseException as defect:
            self._defect = defect

    def _say(self, line: str) -> None:
        with self._news:
            self.times.append(time.monotonic())
            self.said.append(line.rpartition(", ")[0])
            self._news.notify_all()

    def hears(self, text: str, after: int = 0, limit: float = 90) -> int:
        """Wait for a line with this text, after so many lines; its number."""

        def heard() -> list[int]:
            return [number for number, line in enumerate(self.said) if number >= after and text in line]

        with self._news:
            if not self._news.wait_for(lambda: heard() or self._defect, limit):
                raise LabError(f"{text!r} was never said, but {self.said[after:]}")
        if self._defect is not None:
            raise self._defect
        return heard()[0]

    def ended(self, limit: float = 300) -> Waiting:
        self._thread.join(limit)
        if self._defect is not None:
            raise self._defect
        if self._thread.is_alive():
            raise LabError(f"The wait does not end; it said {self.said}")
        return self

    @property
    def reads(self) -> list[str]:
        """The requests to Kubernetes, each as its path; those of watches begin with `watch`."""
        return [
            f"{'watch ' if 'watch=' in each.query else ''}{each.path}"
            for each in self.task.exchanges
            if each.path.startswith(("/api/", "/apis/"))
        ]
