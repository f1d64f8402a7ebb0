# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One hosted cluster, kept in sight by watches: on the management cluster, and on its own API once there is one.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.background import (
    BackgroundJob,
    BackgroundResult,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure import cluster_progress
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import hosted_api
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.pure.control_plane_owner import (
    ControlPlaneOwner,
    clusters_of_pools,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import (
    ClusterSnapshot,
    control_plane_namespace,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CSRS,
    HOSTED_CLUSTERS,
    HOSTED_CONTROL_PLANES,
    MAAS_MACHINES,
    MACHINE_DEPLOYMENTS,
    MACHINE_SETS,
    MACHINES,
    NODE_POOLS,
    NODES,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.watch import Bell, Trouble, Watching

OWN: Sequence[ObjectKind] = (HOSTED_CLUSTERS, NODE_POOLS)
WITHIN: Sequence[ObjectKind] = (HOSTED_CONTROL_PLANES, MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES, MAAS_MACHINES)

# An API server that starts refuses those whom it will know in a moment; so does one whose token is exchanged.
LONGEST_REFUSAL = 60.0
# A hosted API that has just been published needs a moment, and so does one kind of a server that has just started:
# what may pass by itself is told when it lasts.
PASSES_WITHIN = 10.0
CONNECT_AGAIN = 5.0


class ClusterWatch:
    """Where a hosted cluster is seen from. `sight` costs no request, however often it is asked for."""

    def __init__(self, task: Task, namespace: str, name: str, *, nodes: bool) -> None:
        self.bell = Bell()
        self.namespace, self.name, self.inner = namespace, name, control_plane_namespace(namespace, name)
        places = [*((kind, namespace) for kind in OWN), *((kind, self.inner) for kind in WITHIN)]
        self._watching = Watching(task.kube, places, bell=self.bell)
        self._task = task
        self._nodes = nodes
        self._hosted: Watching | None = None
        self._connecting = BackgroundJob(
            "API of the hosted cluster", self._to_connect, self._connect, self.bell, CONNECT_AGAIN
        )
        self.hosted: Kube | None = None

    def __enter__(self) -> ClusterWatch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connecting.close()
        self._watching.close()
        if self._hosted is not None:
            self._hosted.close()

    # -- what is seen ---------------------------------------------------------------------------------------------

    def sight(self) -> ClusterSnapshot | None:
        """The current snapshot, or None while it is incomplete. Permanent errors are raised."""
        self._raise_refusals()
        if self.lost or not (self._watching.complete and all(self._watching.listed(*place) for place in self._own)):
            return None
        cluster = self._watching.snapshot(HOSTED_CLUSTERS, self.namespace).get(self.name)
        pools = self._watching.snapshot(NODE_POOLS, self.namespace)
        owner = ControlPlaneOwner(self.namespace, self.name, cluster, clusters_of_pools(pools.values(), self.namespace))
        seen = ClusterSnapshot(
            namespace=self.namespace,
            name=self.name,
            cluster=cluster,
            control_plane=self._watching.snapshot(HOSTED_CONTROL_PLANES, self.inner).get(self.name),
            pools={
                name: body for name, body in sorted(pools.items()) if text(body, "spec", "clusterName") == self.name
            },
            machine_deployments=owner.own(self._within(MACHINE_DEPLOYMENTS)),
            machine_sets=owner.own(self._within(MACHINE_SETS)),
            machines=owner.own(self._within(MACHINES)),
            maas_machines=owner.own(self._within(MAAS_MACHINES)),
            nodes=self._of_hosted(NODES),
            requests=self._of_hosted(CSRS),
            troubles=[
                trouble.failure.message.rstrip(".") for trouble in self._watching.troubles.values() if _lasts(trouble)
            ],
        )
        if self._nodes:
            self._connecting.offer(seen)
        return seen

    @property
    def lost(self) -> Trouble | None:
        """Why nothing is seen, when the management API does not answer."""
        return self._watching.lost

    @property
    def lines(self) -> Mapping[str, str]:
        """What there is to say about looking itself."""
        lines = dict(self._connecting.lines)
        if self.lost:
            lines["management API"] = f"management API: not answering since {_since(self.lost)}"
        silence = self._silence()
        if silence and not self.lost:
            lines["hosted API"] = f"API of the hosted cluster: not readable since {_since(silence)}"
        return lines

    def _within(self, kind: ObjectKind) -> Sequence[Object]:
        found = self._watching.snapshot(kind, self.inner)
        return [found[name] for name in sorted(found)]

    @property
    def _own(self) -> Sequence[tuple[ObjectKind, str]]:
        return [(kind, self.namespace) for kind in OWN]

    def _raise_refusals(self) -> None:
        """A refusal of what matters most: at once when it was never granted, else when it lasts."""
        troubles = self._watching.troubles
        for place in self._own:
            trouble = troubles.get(place)
            if trouble is None or trouble.failure.kind in PASSING:
                continue
            if not self._watching.listed(*place) or time.monotonic() - trouble.since > LONGEST_REFUSAL:
                raise trouble.failure

    # -- the hosted cluster's own API -----------------------------------------------------------------------------

    def _of_hosted(self, kind: ObjectKind) -> Sequence[Object] | None:
        if self._hosted is None or not self._hosted.listed(kind) or self._silence():
            return None
        return list(self._hosted.snapshot(kind).values())

    def _silence(self) -> Trouble | None:
        """Why the hosted API has not been read for a while."""
        troubles = self._hosted.troubles.values() if self._hosted is not None else ()
        lasting = [trouble for trouble in troubles if _lasts(trouble)]
        return min(lasting, key=lambda trouble: trouble.since, default=None)

    def _to_connect(self, seen: ClusterSnapshot) -> str | None:
        """The Secret with its kubeconfig, when it is to be read: once, and again when it is not accepted any more."""
        if not cluster_progress.serves(seen):
            return None
        if self._hosted is None:
            return cluster_progress.kubeconfig(seen)
        silence = self._silence()
        return silence.at if silence is not None and silence.failure.kind in ("credentials", "tls") else None

    def _connect(self, seen: ClusterSnapshot) -> BackgroundResult:
        try:
            hosted = hosted_api(self._task, seen)
        except Failure as failure:
            return BackgroundResult(
                {"hosted API": f"API of the hosted cluster: {failure.message.rstrip('.')}"}, again=True
            )
        if hosted is None:
            return BackgroundResult(again=True)
        before, self.hosted = self._hosted, hosted
        self._hosted = Watching(hosted, [(NODES, ""), (CSRS, "")], bell=self.bell)
        if before is not None:
            before.close()
        return BackgroundResult()


def _lasts(trouble: Trouble) -> bool:
    return trouble.failure.kind not in PASSING or time.monotonic() - trouble.since >= PASSES_WITHIN


def _since(trouble: Trouble) -> str:
    reason = trouble.failure.reason or trouble.failure.message
    return f"{trouble.at} ({reason.rstrip('.')})"
