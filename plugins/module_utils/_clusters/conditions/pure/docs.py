# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of conditions as reStructuredText: the documentation says what a wait says because it is the same table.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure import (
    cluster_progress,
    removal_progress,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.meanings import (
    ConditionType,
    Row,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.progress import GRACE, SETTLE
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import TABLE

VERDICTS: Mapping[str, str] = {
    "wait": "goes on",
    "grace": f"ends after {GRACE:.0f} s",
    "stop": f"ends after {SETTLE:.0f} s",
}

KINDS: Mapping[str, str] = {
    "HostedCluster": "HostedClusters and HostedControlPlanes",
    "NodePool": "NodePools",
    "MaasMachine": "MaasMachines",
    "Machine": "Machines",
    "MachineDeployment": "MachineDeployments",
    "MaasCluster": "MaasClusters",
    "Cluster": "Clusters of Cluster API",
    "Node": "Nodes of the hosted cluster",
    "Namespace": "The namespace of the control plane",
}

#: Of what no condition says.
HINTS = (
    cluster_progress.STARTING_HINT,
    cluster_progress.BALANCER_HINT,
    cluster_progress.OPERATORS_HINT,
    cluster_progress.FROZEN_HINT,
    removal_progress.OPERATOR_HINT,
    removal_progress.PLANE_HINT,
    removal_progress.NAMESPACE_HINT,
)

PAGE = """\
.. SPDX-FileCopyrightText: 2026 The metalshift.maas authors
.. SPDX-License-Identifier: GPL-3.0-or-later

.. _ansible_collections.metalshift.maas.docsite.hosted_cluster_conditions_guide:

What a hosted cluster waits for
===============================

A wait for a hosted cluster says a line for whatever changes, ``etcd: waiting for quorum``, and ends at the first thing
that cannot get better. This page is made from the table by which it does so.

Some things heal by themselves: then the wait goes on, till its own time is up. Some are healed by what somebody creates
next, a Secret for instance: then the wait ends when nothing has changed for {grace:.0f} seconds. All else ends it after
{settle:.0f} seconds, because what was wrong may have been corrected just now, and operators look again only every ten.
What an operator found before the object's last change never ends a wait.

What nobody says
----------------

Some troubles show in no condition. They are told from what is there, and how long:

.. list-table::
   :header-rows: 1

   * - What is there
     - What is said
     - The wait
   * - The operator is content, and has never said whether it is active
     - ``services: Ignition is published by <way>, which the operators cannot do``
     - {stop}
   * - The credentials are found, and there is no control plane
     - ``control plane: the operator does not create it: Secret "<name>" lacks its key``
     - {graced}
   * - The services of the control plane do not get ready, and OAuthServer is published by LoadBalancer
     - ``services: OAuthServer is published by LoadBalancer, which the operators cannot do``
     - {stop}
   * - The control plane has no conditions
     - ``control plane: waiting for its operator to start``
     - goes on
   * - The hosted cluster has its kubeconfig, and nobody asks for the machines of a node pool
     - ``node pool <name>: waiting for the operator to ask for machines``
     - goes on, and touches the node pool
   * - The ignition server is available, and the hosted cluster does not say its address
     - ``ignition server: waiting for the operator to publish its address``
     - goes on, and touches the hosted cluster
   * - The version operator of the hosted cluster does not know whether it fails
     - ``hosted cluster: its status stands still: slow operators confuse it``
     - goes on, and reads the HostedControlPlane
   * - Nodes are Ready, and only ingress and what needs it are missing
     - ``rollout: <version> waits for console, ingress: ingress needs a load balancer in the hosted cluster``
     - goes on
   * - A paused hosted cluster or node pool is deleted
     - ``hosted cluster: paused, so its machines are not removed``
     - {stop}

{conditions}
Faults
------

These faults of the lab (see :ref:`ansible_collections.metalshift.maas.docsite.lab_faults_guide`) end in these lines,
which tests compare with what is really said in the lab; of {not_compared} they compare the
lines with the manifests and requests alone. ``<...>`` stands for what differs each time.

{faults}"""


def page(faults: Iterable[Sequence[str]], not_compared: Iterable[str]) -> str:
    """The guide, as it is in docs/docsite; `faults`: fault, way, line, verdict and how the hint begins."""
    shown = [(*each[:3], VERDICTS.get(each[3], each[3]), plain_text(_whole(each[4]))) for each in faults]
    return PAGE.format(
        grace=GRACE,
        settle=SETTLE,
        stop=VERDICTS["stop"],
        graced=VERDICTS["grace"],
        conditions="\n".join(_sections()),
        not_compared=", ".join(not_compared),
        faults=_table(("Fault", "On the way to", "What is said", "The wait", "What to do"), shown),
    )


def _whole(hint: str) -> str:
    """The hint that begins so."""
    known = [_open(row.hint) for entry in TABLE for row in entry.rows if row.hint]
    return next((each for each in (*known, *HINTS) if hint and each.startswith(hint)), hint)


def quoted(line: str) -> str:
    return f"``{line}``"


def plain_text(text: str) -> str:
    """A text whose characters stand for themselves."""
    return re.sub(r"([*`|\\])", r"\\\1", text)


def _sections() -> Iterator[str]:
    for kind, title in KINDS.items():
        rows = [row for entry in TABLE if entry.kind == kind for row in _rows(entry)]
        yield f"{title}\n{'-' * len(title)}\n"
        yield _table(("What is said", "Condition", "The wait", "What to do"), rows)


def _rows(entry: ConditionType) -> Iterator[Sequence[str]]:
    """What is fine needs no explanation."""
    for row in entry.rows:
        if row.verdict != "fine":
            yield (
                quoted(_open(f"{entry.subject}: {row.text}")),
                _seen(entry, row),
                VERDICTS[row.verdict],
                _said(row.hint),
            )


def _seen(entry: ConditionType, row: Row) -> str:
    shown = f"``{entry.type}={row.status or chr(34) * 2}{f'/{row.reason}' if row.reason else ''}``"
    return f"{shown} {' or '.join(quoted(_open(words)) for words in row.words)}".rstrip()


def _said(hint: str) -> str:
    return plain_text(_open(hint))


def _open(text: str) -> str:
    """Placeholders as they are written in manuals."""
    return re.sub(r"\{(\w+)\}", r"<\1>", text).strip()


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (head, *rows):
        lines += [f"   {'*' if index == 0 else ' '} - {cell}".rstrip() for index, cell in enumerate(row)]
    return "\n".join((*lines, ""))
