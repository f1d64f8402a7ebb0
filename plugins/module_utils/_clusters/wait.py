# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting for a hosted cluster: what changes is told within a second, and nothing is asked for twice.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.background import (
    BackgroundJob,
    BackgroundResult,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.approval import (
    CHANGED,
    approve_due,
    owners_of,
    requests_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.missing import MissingCertificates
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import (
    CsrVerdict,
    waiting_requests,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.progress import (
    Assessment,
    Goal,
    Stop,
    assess,
    followed,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.stuck_machines import (
    ObjectPatch,
    patches,
    resumptions,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.listing import machines_in_maas
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.marks import Marker
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pauses.provider_guard import ProviderGuard
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.pure.capacity import (
    constraints_of_machine,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import TOUCHED, has_maas
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import ClusterSnapshot
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.watch import ClusterWatch
from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import in_words
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import HEARTBEAT, Patience
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    HOSTED_CLUSTERS,
    MAAS_MACHINES,
    MACHINE_SETS,
    NAMESPACES,
    NODE_POOLS,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted, name_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

# Without news it is looked again so often whether something has lasted too long: without a request.
TICK = 1.0
# What comes together is told together.
SETTLE = 0.1
# What the operator has forgotten is touched so often at most.
TOUCH_AGAIN = 30.0
WHAT: Mapping[ObjectKind, str] = {HOSTED_CLUSTERS: "hosted cluster", NODE_POOLS: "node pool", MAAS_MACHINES: "machine"}
MOST_NAMED = 5
# Of requests that are not approved, so many are told, and of the end of a wait the first of them.
MOST_REFUSED, FIRST_REFUSED = 10, 2

LOST, HOSTED = "management API", "hosted API"

# What it will not do, and what it does not do yet.
GOALS: Mapping[Goal, tuple[str, str]] = {
    "control_plane": ("have an available control plane", "has no available control plane yet"),
    "ignition": ("serve machines their configuration", "does not serve machines their configuration yet"),
    "nodes": ("have its nodes Ready", "does not have all its nodes Ready yet"),
    "complete": ("be rolled out completely", "is not rolled out completely yet"),
    "gone": ("go", "is not gone yet"),
}
# When nothing else is missing.
CERTIFICATES = ("get all certificates of its nodes", "does not have all certificates of its nodes yet")
CERTIFICATES_HINT = "metalshift.maas.node_csr lists the certificate requests that are not approved, with the reasons."


def wait_for(
    task: Task,
    namespace: str,
    name: str,
    goal: Goal,
    *,
    pools: Collection[str] = (),
    approve: bool = False,
    marker: Marker | None = None,
    patience: Patience | None = None,
) -> ClusterSnapshot:
    """Wait until a hosted cluster, or some of its node pools, are where they are to be; how they are then.

    With `approve`, certificate requests of its machines are approved meanwhile; with a `marker`, its machines are
    marked in MAAS. A task that waits several times gives the same patience to each.
    """
    return ClusterWait(task, namespace, name, goal, pools, patience, marker).until_reached(approve)


class ClusterWait:
    """One wait: what was said last, and since when things are as they are."""

    def __init__(
        self,
        task: Task,
        namespace: str,
        name: str,
        goal: Goal,
        pools: Collection[str] = (),
        patience: Patience | None = None,
        marker: Marker | None = None,
    ) -> None:
        self._marker = marker
        self._letting_go = StuckMachineRelease(task)
        self._guard = ProviderGuard(task, pools)
        self._task, self._namespace, self._name, self._goal, self._pools = task, namespace, name, goal, pools
        self._patience = patience or Patience.of(task)
        self._told: Mapping[str, str] = {}
        self._lines: Mapping[str, str] = {}
        self._since: Mapping[str, float] = {}
        self._quiet: frozenset[str] | None = None
        self._blind: float | None = None
        self._spoke = task.clock.now()
        self._waits: Sequence[str] = ()
        self._seen: ClusterSnapshot | None = None
        self._missing: MissingCertificates | None = None
        self._refused: Callable[[], Sequence[str]] = tuple
        self._lacks_only_certificates = False
        self._touch_due: Sequence[tuple[ObjectKind, str]] = ()
        self._touches: Counter[tuple[ObjectKind, str]] = Counter()
        self._touch_lines: dict[str, str] = {}

    @property
    def label(self) -> str:
        return f"{self._namespace}/{self._name}"

    @property
    def _whole_label(self) -> str:
        pools = f", node pool {' and '.join(sorted(self._pools))}," if self._pools else ""
        return f"Hosted cluster {self.label}{pools}"

    def until_reached(self, approve: bool) -> ClusterSnapshot:
        nodes = self._goal in ("nodes", "complete")
        with (
            ClusterWatch(self._task, self._namespace, self._name, nodes=nodes) as lookout,
            self._errands(lookout, approve) as errands,
        ):
            try:
                return self._watch(lookout, errands)
            except Failure as failure:
                raise self._given_up(failure) from None
            finally:
                self._letting_go.end()

    def _watch(self, lookout: ClusterWatch, errands: Sequence[BackgroundJob]) -> ClusterSnapshot:
        while True:
            now_seen = lookout.sight()
            if now_seen is None:
                self._look_away()
                # What was said last is not said again when all can be seen again.
                known = {topic: line for topic, line in self._told.items() if topic != LOST}
                self._tell({**known, **lookout.lines})
            else:
                self._seen = seen = self._with_certificates(now_seen, is_silent=HOSTED in lookout.lines)
                self._require_presence(seen)
                found = self._assess(seen)
                self._letting_go.look(seen)
                for errand in () if found.reached else errands:
                    errand.offer(seen)
                about_certificates = self._missing.lines if self._missing else {}
                self._tell({**lookout.lines, **self._news(found), **about_certificates, **_joined(errands)})
                if found.reached:
                    return seen
                if found.stop is not None:
                    raise self._hopeless(found.stop)
            if self._patience.left <= 0:
                raise self._too_long(lookout, self._seen)
            if lookout.bell.heard(max(min(TICK, self._patience.left), 0.0)):
                self._task.clock.sleep(SETTLE)

    # -- what is seen ---------------------------------------------------------------------------------------------

    def _assess(self, seen: ClusterSnapshot) -> Assessment:
        now = self._task.clock.now()
        if self._blind is not None:
            # While nothing could be seen, nothing has lasted.
            missed, self._blind = now - self._blind, None
            self._since = {topic: since + missed for topic, since in self._since.items()}
        today = time.time()
        lines = assess(seen, self._goal, now, self._since, time_of_day=today, pools=self._pools).lines
        self._since, self._lines = followed(self._since, self._lines, lines, now), lines
        found = assess(seen, self._goal, now, self._since, time_of_day=today, pools=self._pools)
        self._waits = [found.lines[topic] for topic in found.waits]
        self._touch_due = found.touch
        self._lacks_only_certificates = bool(seen.certificates) and self._is_reached(replace(seen, certificates={}))
        return found

    def _with_certificates(self, seen: ClusterSnapshot, *, is_silent: bool) -> ClusterSnapshot:
        if self._missing is None:
            return seen
        if seen.nodes is not None and seen.requests is not None:
            return self._missing.seen(seen)
        return self._missing.unread(seen, is_silent=is_silent) if self._is_reached(seen) else seen

    def _is_reached(self, seen: ClusterSnapshot) -> bool:
        return assess(seen, self._goal, 0.0, {}, pools=self._pools).reached

    def _news(self, found: Assessment) -> Mapping[str, str]:
        """The lines without the parts that have been fine since the first look."""
        self._quiet = frozenset(found.parts) if self._quiet is None else self._quiet.intersection(found.parts)
        return {topic: line for topic, line in found.lines.items() if topic not in self._quiet}

    def _look_away(self) -> None:
        if self._blind is None:
            self._blind = self._task.clock.now()

    def _tell(self, lines: Mapping[str, str]) -> None:
        """Say what is not as it was said last."""
        back = {} if LOST in lines or LOST not in self._told else {LOST: "management API: it answers again"}
        for topic, line in {**back, **lines}.items():
            if self._told.get(topic) != line:
                self._task.say(f"{line}, {in_words(self._patience.waited)}")
                self._spoke = self._task.clock.now()
        self._told = dict(lines)
        if self._task.clock.now() - self._spoke >= HEARTBEAT:
            self._task.say(self._patience.heartbeat(next(iter(self._waits), "")))
            self._spoke = self._task.clock.now()

    def _require_presence(self, seen: ClusterSnapshot) -> None:
        """A task waits for what it has made or found. What is not there any more, it does not make again."""
        missing = [f"Node pool {name}" for name in sorted(self._pools) if name not in seen.pools]
        if self._goal == "gone" or seen.troubles or not (seen.cluster is None or missing):
            return
        what = f"Hosted cluster {self.label}" if seen.cluster is None else f"{missing[0]} of {self.label}"
        reason = "somebody removed it while this task waited for it"
        raise Failure(
            "conflict",
            f"{what} will not {GOALS[self._goal][0]}: {reason}.",
            object=self.label,
            reason=reason,
            hint="Run the task again if it is still wanted.",
            events=list(self._told.values()),
        )

    # -- how it ends ----------------------------------------------------------------------------------------------

    def _given_up(self, failure: Failure) -> Failure:
        """The same failure, with what the provider is kept from when nobody waits any more."""
        said = self._guard.give_up(self._seen)
        return replace(failure, hint=f"{failure.hint} {said}".strip()) if said else failure

    @property
    def _ends(self) -> tuple[str, str]:
        """What it will not do, and what it does not do yet."""
        return CERTIFICATES if self._lacks_only_certificates else GOALS[self._goal]

    def _hopeless(self, stop: Stop) -> Failure:
        return Failure(
            "failed_state",
            f"{self._whole_label} will not {self._ends[0]}: {stop.text.rstrip('.')}.",
            object=self.label,
            reason=stop.reason,
            hint=stop.hint,
            events=list(self._told.values()),
        )

    def _too_long(self, lookout: ClusterWatch, seen: ClusterSnapshot | None) -> Failure:
        refused = self._refused()
        known = [*refused[:FIRST_REFUSED], *self._waits] if lookout.lost is None else lookout.lines.values()
        waits = list(dict.fromkeys(known))
        left = _left(self._task, seen) if self._goal == "gone" and seen is not None and not lookout.lost else []
        named = "; ".join(line.rstrip(".") for line in [*waits, *left][:MOST_NAMED])
        more = f"; and {len(waits) + len(left) - MOST_NAMED} more" if len(waits) + len(left) > MOST_NAMED else ""
        return Failure(
            "timeout",
            f"{self._whole_label} {self._ends[1]}, after {in_words(self._patience.timeout)}. "
            f"It still waits: {named or 'nothing is known of it yet'}{more}.",
            object=self.label,
            reason=waits[0] if waits else "",
            hint="Raise wait_timeout if this only takes longer; metalshift.maas.diagnose says whose turn it is."
            + (f" {CERTIFICATES_HINT}" if refused or self._lacks_only_certificates else ""),
            events=[*self._told.values(), *left],
        )

    # -- beside it ------------------------------------------------------------------------------------------------

    @contextmanager
    def _errands(self, lookout: ClusterWatch, approve: bool) -> Iterator[Sequence[BackgroundJob]]:
        task, bell, rest = self._task, lookout.bell, self._patience.tick
        knows_maas = has_maas(task.params)
        chosen = [
            BackgroundJob("touching", self._to_touch, self._touch, bell, TOUCH_AGAIN),
            BackgroundJob("letting machines go", self._letting_go.overdue, self._letting_go.let_go, bell, rest),
            BackgroundJob("pauses of machines", self._guard.due, self._guard.keep, bell, rest),
        ]
        if approve:
            approving = Approval(task, lambda: lookout.hosted, knows_maas)
            chosen.append(BackgroundJob("certificate requests", approving.waiting, approving.approve, bell, rest))
            if knows_maas and self._goal in ("nodes", "complete"):
                self._missing = MissingCertificates(task.clock, lambda: approving.verdicts)
                self._refused = lambda: approving.refused
        if knows_maas:
            guard = self._guard
            chosen.append(
                BackgroundJob(
                    "MAAS", lambda seen: _to_look_at(seen, guard), lambda seen: _in_maas(task, seen, guard), bell, rest
                )
            )
        if knows_maas and self._marker:
            marker = self._marker
            chosen.append(BackgroundJob("marks in MAAS", marker.due, lambda seen: _mark(marker, seen), bell, rest))
        with ExitStack() as closing:
            for each in chosen:
                closing.callback(each.close)
            yield chosen

    def _to_touch(self, _seen: ClusterSnapshot) -> Hashable | None:
        return tuple(self._touch_due) or None

    def _touch(self, seen: ClusterSnapshot) -> BackgroundResult:
        """Any change makes the operator look at what it has forgotten."""
        maas_machines = {name_of(each): each for each in seen.maas_machines}
        bodies = {HOSTED_CLUSTERS: {seen.name: seen.cluster}, NODE_POOLS: seen.pools, MAAS_MACHINES: maas_machines}
        awake = self._worth_waking([maas_machines[name] for kind, name in self._touch_due if name in maas_machines])
        for kind, name in self._touch_due:
            body = bodies[kind].get(name)
            if body is None or (kind is MAAS_MACHINES and name not in awake):
                continue
            place = seen.control_plane_namespace if kind is MAAS_MACHINES else self._namespace
            version = text(body, "metadata", "resourceVersion")
            try:
                self._task.kube.patch(kind, name, place, {"metadata": {"annotations": {TOUCHED: version}}})
            except Failure as failure:
                # The provider wakes by itself, only later.
                if kind is not MAAS_MACHINES or failure.kind not in ("forbidden", "not_found"):
                    raise
                continue
            self._touches[kind, name] += 1
            times = self._touches[kind, name]
            who = "provider" if kind is MAAS_MACHINES else "operator"
            self._touch_lines[f"touched {kind.name} {name}"] = (
                f"{WHAT[kind]} {name}: touched{f' {times} times' if times > 1 else ''}, so that the {who} looks at it "
                "again"
            )
        return BackgroundResult(dict(self._touch_lines), again=True)

    def _worth_waking(self, bodies: Sequence[Object]) -> set[str]:
        """Those for which the provider would get a machine now: MAAS answers, and has one that fits."""
        if not bodies or not has_maas(self._task.params):
            return set()
        try:
            ready = Machines(self._task.maas).listed(status=[Status.READY.filter])
        except Failure:
            return set()
        return {
            name_of(each)
            for each in bodies
            if system_id_of(each) or any(constraints_of_machine(each).matches(machine) for machine in ready)
        }


class StuckMachineRelease:
    """Lets machines go that nothing but an API that does not answer holds back, and leaves no MachineSet paused."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._seen: ClusterSnapshot | None = None
        self._pauses = self._ended = False
        # What works beside a wait may still be at it when the wait ends.
        self._lock = threading.Lock()

    def look(self, seen: ClusterSnapshot) -> None:
        """This is how it is now; an earlier run may have left a pause."""
        self._seen = seen
        self._pauses = self._pauses or any(resumptions(seen.machine_sets))

    def overdue(self, seen: ClusterSnapshot) -> Hashable | None:
        """The machines, and the MachineSets that wait for nobody any more."""
        return tuple((each.kind.name, each.name) for each in self._found(seen)) or None

    def let_go(self, seen: ClusterSnapshot) -> BackgroundResult:
        with self._lock:
            found = [] if self._ended else self._found(seen)
            self._pauses = self._pauses or bool(found)
            for each in found:
                self._patch(each, seen)
        return BackgroundResult({f"let go {each.name}": each.said for each in found if each.said}, again=True)

    def end(self) -> None:
        """End every pause, however the wait has ended: whose machine has not gone by now is let go by the next one."""
        with self._lock:
            self._ended = True
            if self._seen is None or not self._pauses:
                return
            place = self._seen.control_plane_namespace
            try:
                # What has just been paused is in no sight yet.
                for each in resumptions(self._task.kube.list(MACHINE_SETS, place)):
                    self._patch(each, self._seen)
            except Failure as failure:
                self._task.say(f"A MachineSet in {place} may still be paused: {failure.message.rstrip('.')}")

    def _found(self, seen: ClusterSnapshot) -> list[ObjectPatch]:
        return list(patches(tuple(seen.pools.values()), seen.machine_sets, seen.machines, time.time()))

    def _patch(self, patch: ObjectPatch, seen: ClusterSnapshot) -> None:
        try:
            self._task.kube.patch(patch.kind, patch.name, seen.control_plane_namespace, patch.body)
        except Failure as failure:
            # It may be gone by now, which is what is wanted.
            if failure.kind != "not_found":
                raise


class Approval:
    """Approves what is due, and keeps what was approved and what was said about it."""

    def __init__(self, task: Task, hosted: Callable[[], Kube | None], knows_maas: bool) -> None:
        self._task, self._hosted, self._knows_maas = task, hosted, knows_maas
        self._lines: dict[str, str] = {}
        self._told: dict[str, CsrVerdict] = {}
        self._counted: dict[str, int] = {}
        self._approved: Collection[str] = ()
        self._owners: Collection[str] = ()
        #: Those on the requests that waited at the last look, by name.
        self.verdicts: Mapping[str, CsrVerdict] = {}
        #: Of these, lines about requests that are not approved, and of which it is not known whose machine asks.
        self.refused: Sequence[str] = ()

    def waiting(self, seen: ClusterSnapshot) -> Hashable | None:
        """The requests of kubelets that nobody has answered."""
        return frozenset(each.name for each in waiting_requests(requests_of(seen, self._approved))) or None

    def approve(self, seen: ClusterSnapshot) -> BackgroundResult:
        if not self._knows_maas:
            said = "certificate requests: not approved, because the task does not say how MAAS is reached"
            return BackgroundResult({"certificate requests": said})
        hosted = self._hosted()
        if hosted is None:
            return BackgroundResult(self._lines, again=True)
        verdicts = approve_due(
            self._task, hosted, seen, self._approved, owners=lambda machines: self._owners_of(seen, machines)
        )
        self._approved = {*self._approved, *(one.name for one in verdicts if one.approved)}
        self.verdicts = {one.name: one for one in verdicts}
        self._note(verdicts)
        return BackgroundResult(
            dict(self._lines), again=any(not one.approved and not one.superseded for one in verdicts)
        )

    def _owners_of(self, seen: ClusterSnapshot, machines: Machines) -> Collection[str]:
        """Asked for until they are known, and not again."""
        self._owners = self._owners or owners_of(self._task, seen, machines)
        return self._owners

    def _note(self, verdicts: Sequence[CsrVerdict]) -> None:
        """Each approval, and one line for each node that is refused: the same answer is not told again."""
        for one in verdicts:
            if one.approved:
                self._lines[f"request {one.name}"] = _line_of(one)
                self._lines.pop(f"request {_asker(one)}", None)
                self._told.pop(_asker(one), None)
        # Whoever was quicker is seen in a moment. What others sign is theirs to tell.
        left = [one for one in verdicts if one.kind and not (one.approved or one.superseded or one.reason == CHANGED)]
        latest = {_asker(one): one for one in left}
        for asker, one in latest.items():
            before = self._told.get(asker)
            is_news = len(self._told) < MOST_REFUSED if before is None else before.reason != one.reason
            if is_news:
                self._told[asker] = one
                self._lines[f"request {asker}"] = _line_of(one)
        self.refused = [_line_of(one) for one in latest.values() if not one.machine]
        self._count("more", len(latest.keys() - self._told.keys()), "more are not approved either")
        self._count("superseded", sum(one.superseded for one in verdicts), "older ones do not count any more")

    def _count(self, what: str, number: int, said: str) -> None:
        """A number is told when it has doubled."""
        if number >= max(2 * self._counted.get(what, 0), 1):
            self._counted[what] = number
            self._lines[f"requests {what}"] = f"certificate requests: {number} {said}"


def _asker(verdict: CsrVerdict) -> str:
    return f"{verdict.kind} {verdict.node or verdict.requestor}"


def _line_of(verdict: CsrVerdict) -> str:
    whose = f" of {verdict.node}" if verdict.node else ""
    if verdict.approved:
        return f"certificate request {verdict.name}{whose}: approved ({verdict.kind})"
    said = "waits" if verdict.passing else "not approved"
    return f"certificate request {verdict.name}{whose}: {said}: {verdict.message.rstrip('.')}"


# -- machines as MAAS has them --------------------------------------------------------------------------------------


def _moving(seen: ClusterSnapshot) -> list[Object]:
    """The MaasMachines whose machine is being deployed, or given back."""
    return [
        each
        for each in seen.maas_machines
        if system_id_of(each) and (is_deleted(each) or at(each, "status", "ready") is not True)
    ]


def _to_look_at(seen: ClusterSnapshot, guard: ProviderGuard) -> Hashable | None:
    """Those on their way, and those of which it is not known yet whether somebody else has them."""
    return frozenset(system_id_of(each) for each in (*_moving(seen), *guard.unchecked(seen))) or None


def _in_maas(task: Task, seen: ClusterSnapshot, guard: ProviderGuard) -> BackgroundResult:
    """What MAAS says of them: one request for a hundred. It is told beside the wait, and never ends it."""
    moving = {system_id_of(each): name_of(each) for each in _moving(seen)}
    several = {name_of(each): each for each in (*_moving(seen), *guard.unchecked(seen))}
    asked = replace(seen, maas_machines=list(several.values()))
    try:
        found = machines_in_maas(task, [asked])
    except Failure as failure:
        return BackgroundResult({"MAAS": f"MAAS: {failure.message.rstrip('.')}"}, again=True)
    if found is None or found.trouble:
        return BackgroundResult({"MAAS": f"MAAS: {found.trouble.rstrip('.')}"} if found else {}, again=True)
    lines = {
        f"MAAS {one}": f"machine {moving[one]} in MAAS: {_status(machine)}"
        for one, machine in found.machines.items()
        if one in moving
    }
    return BackgroundResult({**guard.check(asked, found.machines), **lines}, again=bool(moving))


def _mark(marker: Marker, seen: ClusterSnapshot) -> BackgroundResult:
    """From the moment that the provider holds a machine it is not to be released by others. It never ends a wait."""
    try:
        return BackgroundResult(again=not marker.tick(seen))
    except Failure as failure:
        return BackgroundResult({"marks": f"marks in MAAS: {failure.message.rstrip('.')}"}, again=True)


def _status(machine: Machine) -> str:
    said = str(machine.get("status_message") or "").strip()
    label = Status(machine["status"]).label
    return f"{machine.get('hostname')} is {label}{f' ({said})' if said and said != label else ''}"


# -- what is left ---------------------------------------------------------------------------------------------------


def _left(task: Task, seen: ClusterSnapshot) -> list[str]:
    """What is there still, and whose finalizers keep it."""
    bodies = [
        seen.cluster,
        *seen.pools.values(),
        seen.control_plane,
        *seen.machine_deployments,
        *seen.machine_sets,
        *seen.machines,
        *seen.maas_machines,
    ]
    kept = {f"{each['kind']} {name_of(each)}": _finalizers(each) for each in bodies if each is not None}
    left = [f"{name} is kept by {', '.join(by)}" for name, by in kept.items() if by]
    try:
        namespace = task.kube.get(NAMESPACES, seen.control_plane_namespace)
    except Failure:
        return left
    if namespace is None:
        return left
    state = "is being deleted" if is_deleted(namespace) else "is there"
    return [*left, f"namespace {seen.control_plane_namespace} {state}"]


def _finalizers(body: Object) -> list[str]:
    """Of an object that is being deleted."""
    return list(at(body, "metadata", "finalizers") or []) if is_deleted(body) else []


def _joined(errands: Sequence[BackgroundJob]) -> dict[str, str]:
    return {topic: line for errand in errands for topic, line in errand.lines.items()}
