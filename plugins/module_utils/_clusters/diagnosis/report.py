# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a hosted cluster, since when, whose turn it is, and what to do next. Pure.

Each look reads the evidence where the truth about one part is, and says what it finds. They are in the order in which
they matter: what is looked at first explains what comes after it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis import control_plane, machines
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.evidence import Evidence
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.names import names
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.pure.findings import (
    NEXT_STEPS,
    SEVERITIES,
    DiagnosisFinding,
    in_order,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.tree import state_of
from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import in_words
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of

Look = Callable[[Evidence], Iterator[DiagnosisFinding]]

# What a page has room for.
MOST_TOLD = 15
WIDTH = 110


def diagnose(found: Evidence) -> list[DiagnosisFinding]:
    """All that is wrong or waited for, the most serious first."""
    if not found.is_there:
        left = list(leaks(found))
        return in_order([_nothing(found, left), *left])
    told = [one for look in LOOKS for one in look(found)]
    covered = {topic for one in told for topic in one.instead_of}
    return in_order([one for one in told if one.topic not in covered])


def _nothing(found: Evidence, left: Sequence[DiagnosisFinding]) -> DiagnosisFinding:
    label, lists = found.seen.label, "metalshift.maas.hosted_cluster_info lists what there is."
    if left:
        one = f"{len(left)} things have" if len(left) > 1 else "one thing has"
        what = f"There is no HostedCluster {label}, but {one} been left by one."
        step = f"See to what is left, as is said below; if another was meant, correct name and namespace: {lists}"
    else:
        what = f"There is no HostedCluster {label}, and nothing that one has left."
        step = f"Create it, or correct name and namespace: {lists}"
    return DiagnosisFinding(f"HostedCluster {label}", what, "user", "error", step)


def leaks(found: Evidence) -> Iterator[DiagnosisFinding]:
    """Machines and objects of nobody, and machines that are named as this cluster's and are somebody else's."""
    going = is_deleted(found.seen.cluster)
    for leak in found.leaks:
        # What is on its way out is no leak yet; a machine of somebody else that goes with it would be released.
        if leak.verdict == "kept" or (going and leak.kind != "provider_id"):
            continue
        dangerous = leak.kind == "provider_id" and leak.verdict == "leak"
        what = f"{leak.object}: {leak.reason}."
        yield DiagnosisFinding(leak.object, what, "user", "error" if dangerous else "warning", leak.hint)


def troubles(found: Evidence) -> Iterator[DiagnosisFinding]:
    """What could not be looked at."""
    label = f"HostedCluster {found.seen.label}"
    if found.seen.troubles:
        # As one: who lacks the right to read a kind often lacks that to read a dozen.
        told = " ".join(found.seen.troubles)
        step = f"Give this user the right to read {'it' if len(found.seen.troubles) == 1 else 'them'}."
        yield DiagnosisFinding(label, told, "user", "note", step)


LOOKS: Sequence[Look] = (
    control_plane.pauses,
    control_plane.programs,
    control_plane.storage,
    control_plane.stages,
    control_plane.hosted_api,
    control_plane.platform,
    control_plane.removal,
    machines.maas,
    machines.node_pools,
    machines.strays,
    machines.machines,
    machines.certificates,
    machines.nodes,
    control_plane.rollout,
    names,
    leaks,
    troubles,
)


# As the page says it.
WHOSE: Mapping[str, str] = {
    "user": "yours",
    "operator": "that of HyperShift's operator",
    "provider": "that of Cluster API's provider",
    "maas": "that of MAAS",
    "node": "that of the machine itself",
}

# -- on one page -----------------------------------------------------------------------------------------------------


def page(found: Evidence, told: Sequence[DiagnosisFinding]) -> str:
    """The same for a person: what is wrong, since when, whose turn it is, and what to do next."""
    parts = [headline(found, told)]
    groups = list(_grouped(told))
    for same in groups[:MOST_TOLD]:
        first = same[0]
        parts += [
            f"{first.severity.upper()} {_what(same)}{_since(found, same)}",
            f"Whose turn: {WHOSE[first.turn]}. Next: {first.next_step or NEXT_STEPS[first.turn]}",
        ]
    if len(groups) > MOST_TOLD:
        parts.append(f"{len(groups) - MOST_TOLD} more are in the result.")
    return "\n".join(_paragraph(part) for part in parts) + "\n"


def _paragraph(part: str) -> str:
    """Lines that a terminal shows whole."""
    first, more = "", "  "
    if part.startswith("Whose turn: "):
        first, more = "  ", "        "
    elif part.split(" ", 1)[0].lower() in SEVERITIES:
        first = "\n"
    return textwrap.fill(part, WIDTH, initial_indent=first, subsequent_indent=more, break_on_hyphens=False)


def headline(found: Evidence, told: Sequence[DiagnosisFinding]) -> str:
    """One line for all: how the cluster is, and how much is said of it."""
    state = state_of(found.seen.cluster, found.now) if found.is_there else "not there"
    counted = Counter(one.severity for one in told)
    several = {"error": "errors", "waiting": "waiting", "warning": "warnings", "note": "notes"}
    parts = [f"{counted[one]} {one if counted[one] == 1 else several[one]}" for one in SEVERITIES if counted[one]]
    return f"Hosted cluster {found.seen.label} is {state}: {', '.join(parts) or 'nothing is wrong'}."


def _grouped(told: Sequence[DiagnosisFinding]) -> Iterator[Sequence[DiagnosisFinding]]:
    """Those of which the same is said are told together."""
    groups: dict[tuple[str, ...], list[DiagnosisFinding]] = {}
    for one in told:
        said = one.what.replace(one.who, "…") if one.who else one.what
        groups.setdefault((one.severity, one.turn, one.next_step, said), []).append(one)
    return iter(groups.values())


def _what(same: Sequence[DiagnosisFinding]) -> str:
    first = same[0]
    if len(same) == 1:
        return first.what
    few = ", ".join(one.who for one in same[:3]) + (f" and {len(same) - 3} more" if len(same) > 3 else "")
    return first.what.replace(first.who, few)


def _since(found: Evidence, same: Sequence[DiagnosisFinding]) -> str:
    since = min((one.since for one in same if one.since), default="")
    began = seconds_of(since)
    return "" if began is None else f" Since {since}, {in_words(max(found.now - began, 0))}."
