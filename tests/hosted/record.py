# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run has written, by the records of those it wrote to: the API servers' audit logs and the simulator's log."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone

from metalshift_lab.kube import audit
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.serving import LOCAL

MAAS, MANAGEMENT, HOSTED = PLACES = ("MAAS", "management", "hosted")
# The user of the management cluster as whom runs come, and nobody else does.
RUNNER = "runner"
EVERYTHING = (
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
)
# As which a run enters hosted clusters. Programs of the lab do too, under names of their own.
ADMINISTRATOR = "system:admin"
OURS = ("metalshift.maas", "OpenAPI-Generator/")


@dataclass(frozen=True)
class Record:
    """Begins with its making; runs that are to be in it have its environment."""

    lab: Lab
    since: datetime
    environment: dict[str, str]

    @classmethod
    def begun(cls, lab: Lab) -> Record:
        kubeconfig = lab.user(RUNNER, EVERYTHING)
        lab.simulate("requests/clear")
        return cls(lab, datetime.now(timezone.utc), {"K8S_AUTH_KUBECONFIG": str(kubeconfig)})

    def writes(self) -> list[str]:
        """What was written, by anybody in MAAS, and by the run elsewhere. Server-side dry runs are none."""
        return [*self._in_maas(), *self._in_kubernetes(tried=False)]

    def dry_runs(self) -> list[str]:
        return self._in_kubernetes(tried=True)

    def _in_maas(self) -> list[str]:
        with LOCAL.open(f"{self.lab.facts['maas_control_url']}/requests", timeout=30) as answer:
            seen = json.load(answer)
        # The provider of a cluster that is there goes on working.
        return [f"{MAAS}: {each['method']} {each['path']}" for each in seen if each["method"] != "GET"]

    def _in_kubernetes(self, *, tried: bool) -> list[str]:
        ours = [(MANAGEMENT, write) for write in audit.writes(self.lab.folder) if write.user == RUNNER]
        for folder in sorted((self.lab.folder / "hosted").glob("*/")):
            ours += [
                (HOSTED, write)
                for write in audit.writes(folder)
                if write.user == ADMINISTRATOR and write.agent.startswith(OURS)
            ]
        return [
            f"{place}: {write}"
            for place, write in ours
            if write.at >= self.since and not write.asked and write.tried == tried
        ]
