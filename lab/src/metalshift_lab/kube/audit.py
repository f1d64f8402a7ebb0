# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API servers' own record of who asked them to write what: kube-apiserver's audit log."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

POLICY_FILE = "audit-policy.json"
LOG = "audit.log"
# MB each, of which there are two at most: the one that is written, and the one before.
SIZE, OLDER = 16, 1
VERBS = ("create", "update", "patch", "delete", "deletecollection")
RENEWALS = (("coordination.k8s.io", "leases"), ("", "events"), ("events.k8s.io", "events"))
# Who renews leases and tells events all the time. A person or a playbook is none of them.
PROGRAMS = ("system:serviceaccounts", "system:nodes")


def policy() -> dict[str, Any]:
    """Writes alone, once each, when they are answered; neither their bodies nor their answers, which have secrets."""
    noise = [{"group": group, "resources": [plural]} for group, plural in RENEWALS]
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [
            {"level": "None", "userGroups": list(PROGRAMS), "resources": noise},
            {"level": "Metadata", "verbs": list(VERBS)},
        ],
    }


def flags(lab: Path, folder: Path) -> list[str]:
    """What tells a kube-apiserver to keep the record of its writes in this folder."""
    return [
        f"--audit-policy-file={lab / POLICY_FILE}",
        f"--audit-log-path={folder / LOG}",
        f"--audit-log-maxsize={SIZE}",
        f"--audit-log-maxbackup={OLDER}",
    ]


@dataclass(frozen=True)
class Write:
    """A request with a verb that writes: what became of it is its status. `at` is when it came, in UTC."""

    at: datetime
    verb: str
    uri: str
    user: str
    agent: str
    status: int

    @property
    def path(self) -> str:
        return urlsplit(self.uri).path

    @property
    def tried(self) -> bool:
        """Whether it asked for a server-side dry run: the server does all but write."""
        return parse_qs(urlsplit(self.uri).query).get("dryRun") == ["All"]

    @property
    def asked(self) -> bool:
        """Whether it is a question by its kind, which nothing stores: may I, who am I."""
        return self.path.startswith(("/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/"))

    def __str__(self) -> str:
        return f"{self.verb} {self.uri} by {self.user} ({self.agent or 'no agent'}): {self.status}"


def writes(folder: Path) -> list[Write]:
    """All that the record in this folder has, the oldest first."""
    older = sorted(folder.glob(f"{Path(LOG).stem}-*{Path(LOG).suffix}"))
    return [write for file in (*older, folder / LOG) for write in _read(file)]


def _read(file: Path) -> Iterator[Write]:
    if not file.exists():
        return
    with file.open() as lines:
        for line in lines:
            # The last one may be half written.
            if not line.endswith("\n"):
                return
            said = json.loads(line)
            yield Write(
                datetime.fromisoformat(said["requestReceivedTimestamp"].replace("Z", "+00:00")),
                said["verb"],
                said["requestURI"],
                said["user"].get("username", ""),
                said.get("userAgent", ""),
                said.get("responseStatus", {}).get("code", 0),
            )
