# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machines of a cluster still lack a certificate that their kubelet needs, and why.

A Node is Ready with the certificate of its client alone. Without that of its server there are no logs, no shells and no
metrics of it, and nobody approves it when the task has ended.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    NODE_USER,
    SERVING,
    SKEW,
    CsrVerdict,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.pool_progress import node_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.table import condition
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import (
    ClusterSnapshot,
    MissingCertificate,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import Clock
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import name_of
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import seconds_of

# So long does Kubernetes remember a request that was answered: of an older node, no request means a certificate.
REMEMBERED = 3600.0
# A kubelet that is Ready has asked within seconds.
ASKS_WITHIN = 60.0
# A hosted API that cannot be reached from here keeps no wait from its end for longer.
READ_WITHIN = 20.0

UNREAD = "certificates of nodes: not looked at, because the API of the hosted cluster cannot be read from here"


class MissingCertificates:
    """Tells it from one look to the next. `verdicts` are those on the requests that wait, by name."""

    def __init__(self, clock: Clock, verdicts: Callable[[], Mapping[str, CsrVerdict]]) -> None:
        self._clock, self._verdicts = clock, verdicts
        self._unread_since: float | None = None
        self._silent_since: dict[str, float] = {}
        self._before: Mapping[str, MissingCertificate] = {}
        self.lines: Mapping[str, str] = {}

    def seen(self, sight: ClusterSnapshot) -> ClusterSnapshot:
        """The same sight, with the certificates that are waited for."""
        self._unread_since, self.lines = None, {}
        verdicts = self._verdicts()
        found = {**self._of_clients(sight, verdicts), **self._of_servers(sight, verdicts)}
        return replace(sight, certificates=found)

    def unread(self, sight: ClusterSnapshot, *, is_silent: bool = False) -> ClusterSnapshot:
        """The same sight, when certificates are all that is not known: for a while, that is a reason to go on.

        Not for an API of which it is known that it is silent: its nodes may soon count as lost.
        """
        now = self._clock.now()
        self._unread_since = now if self._unread_since is None else self._unread_since
        if now - self._unread_since < READ_WITHIN and not is_silent:
            return replace(sight, certificates=None)
        self.lines = {"certificates": UNREAD}
        return sight

    @staticmethod
    def _of_clients(sight: ClusterSnapshot, verdicts: Mapping[str, CsrVerdict]) -> Mapping[str, MissingCertificate]:
        """The machines that have asked to be a node and are not let in."""
        joined = {name_of(each) for each in sight.machines if text(each, "status", "nodeRef", "name")}
        refused = [each for each in verdicts.values() if each.kind == "client" and each.machine and not each.approved]
        return {
            each.machine: _refused(each, "its certificate")
            for each in refused
            if each.machine not in joined and not each.superseded
        }

    def _of_servers(
        self, sight: ClusterSnapshot, verdicts: Mapping[str, CsrVerdict]
    ) -> Mapping[str, MissingCertificate]:
        """The Nodes whose newest request for a serving certificate has brought none."""
        newest = _newest_by_user(sight)
        found = {}
        for machine in sight.machines:
            node = node_of(sight, machine)
            if node is None or text(condition(node, "Ready"), "status") != "True":
                continue
            request = newest.get(f"{NODE_USER}{name_of(node)}")
            if request is not None and not _is_of(machine, request):
                request = None
            missing = self._requested(machine, request, verdicts) if request else self._unasked(name_of(machine), node)
            if missing is not None:
                found[name_of(machine)] = missing
        self._before = found
        return found

    def _requested(
        self, machine: Object, request: Object, verdicts: Mapping[str, CsrVerdict]
    ) -> MissingCertificate | None:
        """A kubelet that has just asked again for what was refused is refused until its new request is judged."""
        before = self._before.get(name_of(machine))
        is_new = not text(request, "status", "certificate") and name_of(request) not in verdicts
        return before if is_new and before and before.refused else _missing(request, verdicts)

    def _unasked(self, machine: str, node: Object) -> MissingCertificate | None:
        born = seconds_of(text(node, "metadata", "creationTimestamp"))
        if born is None or time.time() - born >= REMEMBERED:
            return None
        now = self._clock.now()
        if now - self._silent_since.setdefault(machine, now) >= ASKS_WITHIN:
            return None
        return MissingCertificate("it has not asked for its serving certificate yet")


def _newest_by_user(sight: ClusterSnapshot) -> Mapping[str, Object]:
    found: dict[str, Object] = {}
    for each in sight.requests or ():
        if text(each, "spec", "signerName") == SERVING:
            user = text(each, "spec", "username")
            found[user] = max(found.get(user, each), each, key=_moment)
    return found


def _moment(request: Object) -> tuple[str, str]:
    return text(request, "metadata", "creationTimestamp"), name_of(request)


def _is_of(machine: Object, request: Object) -> bool:
    """Whether it was made since the machine is this Machine, and not in a former life."""
    asked, born = (seconds_of(text(each, "metadata", "creationTimestamp")) for each in (request, machine))
    return asked is None or born is None or asked >= born - SKEW


def _missing(request: Object, verdicts: Mapping[str, CsrVerdict]) -> MissingCertificate | None:
    if text(request, "status", "certificate"):
        return None
    what = "its serving certificate"
    if failed := condition(request, "Failed"):
        return MissingCertificate(f"{what} could not be signed: {text(failed, 'message').rstrip('.')}")
    if condition(request, "Denied"):
        return MissingCertificate(f"somebody has denied {what} ({name_of(request)})", refused=True)
    if condition(request, "Approved"):
        return MissingCertificate(f"{what} is being signed")
    verdict = verdicts.get(name_of(request))
    if verdict is None or verdict.approved or verdict.superseded:
        return MissingCertificate(f"{what} waits for approval")
    return _refused(verdict, what)


def _refused(verdict: CsrVerdict, what: str) -> MissingCertificate:
    said = "waits" if verdict.passing else "is not approved"
    # A request of the bootstrap user may be anybody's: it ends no wait.
    refused = not verdict.passing and verdict.kind == "serving"
    return MissingCertificate(f"{what} {said}: {verdict.message.rstrip('.')}", refused)
