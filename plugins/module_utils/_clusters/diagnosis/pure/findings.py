# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be said against a hosted cluster, how serious it is, and whose turn it is. Pure.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.findings import Finding
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.printable import line
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of

# The most serious first.
SEVERITIES: Mapping[str, str] = {
    "error": "It does not get better without somebody's doing.",
    "waiting": "It is on its way, and nothing speaks against it.",
    "warning": "What runs goes on, but this should not stay so.",
    "note": "It could not be looked at.",
}

TURNS: Mapping[str, str] = {
    "user": "A person has to do something: whoever runs the management cluster, or made the hosted cluster.",
    "operator": "HyperShift: its operator, the control-plane-operator, or a program of the hosted control plane.",
    "provider": "Cluster API and its provider for MAAS.",
    "maas": "MAAS, or the machine while MAAS has it in hand.",
    "node": "The machine itself: what was installed on it boots, and joins the hosted cluster.",
}

# What a person may do when a line has no better advice.
NEXT_STEPS: Mapping[str, str] = {
    "user": "Put right what is said.",
    "operator": "Wait; when this lasts, look into the log of the HyperShift operator and of control-plane-operator.",
    "provider": "Wait; when this lasts, look into the log of capi-provider in the control plane's namespace.",
    "maas": "Wait; when this lasts, look at the machine in MAAS.",
    "node": "Wait; when this lasts, look at the machine's console.",
}

# After so many seconds, what is on its way is not any more.
GRACE = 60.0
PATIENCE: Mapping[str, float] = {"user": 300.0, "operator": 900.0, "provider": 600.0, "maas": 3600.0, "node": 1200.0}


@dataclass(frozen=True)
class DiagnosisFinding:
    """One thing that is wrong, or that is waited for."""

    object: str
    what: str
    turn: str
    severity: str
    next_step: str = ""
    # As Kubernetes writes times; empty if nobody says since when.
    since: str = ""
    # What it is about, and what else is about the same and says less: that is left out.
    topic: str = ""
    # The words of `what` by which it differs from the same complaint about another object.
    who: str = ""
    instead_of: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.turn not in TURNS or self.severity not in SEVERITIES:
            raise ValueError(f"{self.turn} and {self.severity} are not both in the closed lists")
        for part in ("object", "what", "next_step", "who"):
            object.__setattr__(self, part, line(getattr(self, part)))

    def to_dict(self) -> dict[str, Any]:
        """As a result has it."""
        return {
            "object": self.object,
            "what": self.what,
            "since": self.since or None,
            "turn": self.turn,
            "next_step": self.next_step or NEXT_STEPS[self.turn],
            "severity": self.severity,
        }


def complaint(finding: Finding, label: str, since: str, now: float, turn: str = "") -> DiagnosisFinding:
    """What was found on the way to a goal, as a complaint."""
    whose = turn or turn_of(finding)
    verdict, hint = finding.meaning.verdict, finding.meaning.hint
    return DiagnosisFinding(
        label,
        _sentence(f"{finding.meaning.subject}: {finding.final}" if finding.final else finding.line),
        whose,
        severity_of(verdict, whose, since, now),
        hint,
        since,
        finding.topic,
        finding.meaning.subject,
    )


def severity_of(verdict: str, turn: str, since: str, now: float) -> str:
    """A verdict `stop` is an error, and so is a passing condition that outlived its grace period."""
    began = seconds_of(since)
    age = 0.0 if began is None else now - began
    limit = {"stop": 0.0, "grace": GRACE}.get(verdict, PATIENCE[turn])
    return "error" if verdict == "stop" or age >= limit else "waiting"


def _sentence(text: str) -> str:
    return f"{text.rstrip('.')}."


# -- whose turn it is ------------------------------------------------------------------------------------------------

# By the topic of a finding and words of its line; the first row that fits decides. What only a person can heal is
# said by the verdict, unless a row says otherwise.
WHOSE: Sequence[tuple[str, str, str]] = (
    ("machine ", r"waiting for the address|ignition configuration$|ignition configuration is missing", "operator"),
    ("machine ", r"disruption budget|budget .* protects|a hook holds", "user"),
    ("machine ", r"hosted cluster's API does not answer", "operator"),
    ("machine ", r"waiting for pod |being drained|volumes to be detached", "node"),
    ("machine ", r"does not accept|may not do this|no machine that fits|MAAS refuses|does not know the image", "user"),
    ("machine ", r"address of MAAS is wrong|not in MAAS any more", "user"),
    (
        "machine ",
        r"MAAS deploys it|switched off|MAAS answers|MAAS does not|failed in MAAS|broken machine|VM and",
        "maas",
    ),
    ("machine ", r"waiting for its node|has not fetched|its node (is|has|did)|its kubelet does not report", "node"),
    ("machine ", r"", "provider"),
    (
        "node pool",
        r"waiting for the control plane|waiting for the operator|waiting for the ignition|payload",
        "operator",
    ),
    ("node pool", r"nodes are Ready", "provider"),
    ("rollout", r"load balancer|no node pool", "user"),
    ("rollout", r"waits for nodes|needs \d+ nodes", "node"),
    ("InfrastructureReady", r"load balancer", "user"),
    ("EtcdAvailable", r"volume .* is pending", "user"),
    ("", r"registry .* cannot be reached|cannot be read from its registry", "user"),
    ("", r"identity provider", "user"),
)


def turn_of(finding: Finding) -> str:
    for topic, words, turn in WHOSE:
        if finding.topic.startswith(topic) and re.search(words, finding.line):
            return turn
    return "user" if finding.meaning.verdict in ("stop", "grace") else "operator"


# -- putting together ------------------------------------------------------------------------------------------------


def in_order(found: Sequence[DiagnosisFinding]) -> list[DiagnosisFinding]:
    """Errors first; of those that weigh the same, in the order in which they were looked for: causes before effects."""
    told: dict[tuple[str, str], DiagnosisFinding] = {}
    for one in found:
        told.setdefault((one.object, one.what), one)
    order = list(SEVERITIES)
    return sorted(told.values(), key=lambda one: order.index(one.severity))
