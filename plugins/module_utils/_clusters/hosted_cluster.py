# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing a hosted cluster to what a task wishes.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.teardown import remove_cluster
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired import credentials
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.objects import (
    DesiredObject,
    label_of,
    namespace_wish,
    refuse_options_of_removal,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure import cluster_manifest, secrets
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.capability import (
    Provider,
    is_unknown,
    provider_of,
    refuse_platform,
    refuse_provider,
    refuse_unknown,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.immutables import (
    HOSTED_CLUSTER,
    refuse_changes,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.publishing import (
    refuse_what_fails_later,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.releases import (
    refuse_older,
    running,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.results import hosted_cluster_view
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis import infrastructure
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.marks import Marker
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.ownership.namesakes import refuse_namesakes
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import is_paused
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.wait import wait_for
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CONFIG_MAPS,
    CRDS,
    DEPLOYMENTS,
    HOSTED_CLUSTERS,
    SECRETS,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import at, merged
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.ownership import applied

ROUTES = ObjectKind("route.openshift.io/v1", "Route", "routes")
OPERATOR = "operator"
RELEASE = ("spec", "release", "image")

# Where it stands how a cluster is reached: some of that is refused only later.
PUBLISHING = frozenset({("spec", "services"), ("spec", "networking")})
# What a Secret or ConfigMap that the task only names must hold.
KEYS = {
    "pull_secret": (secrets.PULL_SECRET,),
    "ssh_key": (secrets.SSH_KEY,),
    "encryption_key": (secrets.ENCRYPTION_KEY,),
    "credentials": (secrets.ENDPOINT, secrets.API_KEY),
    "trust_bundle": (secrets.TRUST_BUNDLE,),
}


class HostedClusterRun:
    """One task on one hosted cluster that is to be there."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.kube = task.kube
        self.params = task.params
        self.namespace, self.name = task.params["namespace"], task.params["name"]
        self.label = label_of(HOSTED_CLUSTERS, self.namespace, self.name)
        self.warnings: list[str] = []
        self._named_credentials: Object | None = None

    def converge(self) -> Result:
        live = self.kube.get(HOSTED_CLUSTERS, self.name, self.namespace)
        self._refuse(live)
        wish = self._wish(live)
        before = list(self._needed(live))
        rotation = self._rotation(live, before)
        todo = [*before, wish]
        steps = [step for each in todo if (step := each.step)]
        plan = Plan([*steps, *(rotation.steps if rotation else [])])
        now = live or {}
        if wish.step:
            now = wish.wanted
            if not self._awaits_operator():
                self._refuse_incapable(wish)
                now = wish.tried(self.kube)
        if self.task.check:
            return self._result(plan, now, predicted=True)
        for each in todo:
            if each.step:
                now = each.carry_out(self.kube)
        if rotation and rotation.steps:
            rotation.carry_out(self.kube, time.time())
        return self._waited(plan, now if wish.step else live or {})

    def _waited(self, plan: Plan, body: Object) -> Result:
        """Wait as the task says; whoever pauses a cluster does not wait for it."""
        if not self.params["wait"] or is_paused(body.get("spec"), time.time()):
            return self._result(plan, body)
        approve = self.params["approve_csrs"] and at(body, ("spec", "platform", "type")) == "MAAS"
        marker, goal = Marker(self.task), self.params["wait_for"]
        try:
            sight = wait_for(self.task, self.namespace, self.name, goal, approve=approve, marker=marker)
        except Failure as failure:
            marked = marker.finish()
            self.warnings += marked.warnings
            return self._result(plan, body, failure=failure, marked=marked.changed)
        marked = marker.finish(sight)
        self.warnings += marked.warnings
        self._warn_of_platform(sight.cluster or body)
        return self._result(plan, sight.cluster or body, marked=marked.changed)

    def _warn_of_platform(self, body: Object) -> None:
        """What OpenShift refuses is seen in a ConfigMap long before there is a node."""
        if at(body, ("spec", "platform", "type")) != infrastructure.REFUSED:
            return
        found = self._readable(
            CONFIG_MAPS, infrastructure.CONFIG_MAP, control_plane_namespace(self.namespace, self.name)
        )
        if infrastructure.platform_of(found) == infrastructure.REFUSED:
            self.warnings.append(f"{infrastructure.SAID} {infrastructure.CURE}")

    def _result(
        self,
        plan: Plan,
        body: Object,
        *,
        predicted: bool = False,
        failure: Failure | None = None,
        marked: bool = False,
    ) -> Result:
        view = hosted_cluster_view(body, self.namespace, self.name, time.time())
        if predicted and plan:
            view["predicted"] = True
        return Result(bool(plan) or marked, {"hosted_cluster": view}, plan, failure, self.warnings)

    # -- what is refused ---------------------------------------------------------------------------------------------

    def _refuse(self, live: Object | None) -> None:
        refuse_options_of_removal(self.params, ("force", "remove_credentials", "erase", "dns_names"))
        cluster_manifest.refuse_contradictions(self.params, live)
        if live is None:
            cluster_manifest.refuse_incomplete(self.params, self.label)
            refuse_namesakes(self.kube, self.namespace, self.name)
        elif is_deleted(live):
            raise Failure(
                "conflict",
                f"{self.label} is being deleted, and cannot be kept.",
                object=self.label,
                hint="Wait for its end with state: absent, then create it anew.",
            )

    def _awaits_operator(self) -> bool:
        """Whether this is check mode, and HyperShift may be what an earlier task of the play installs."""
        waits = self.task.check and not self.kube.serves(HOSTED_CLUSTERS)
        if waits:
            self.warnings.append(f"The cluster at {self.kube.server} does not know HostedClusters yet.")
        return waits

    def _refuse_incapable(self, wish: DesiredObject) -> None:
        """What the management cluster cannot do, and what would fail only later."""
        platform = cluster_manifest.platform_of(self.params, wish.live)
        crd = self._readable(CRDS, HOSTED_CLUSTERS.resource)
        if crd is not None:
            refuse_platform(platform, crd or None)
            refuse_unknown(crd, wish.wanted, self.params["spec_overrides"], self.label)
        whole = wish.wanted if wish.live is None else merged(wish.live, wish.wanted)
        if wish.live is None or any(each.path[:2] in PUBLISHING for each in wish.differences):
            refuse_what_fails_later(self.label, whole, routes=self.kube.serves(ROUTES))
        asked = self.params["provider_image"]
        if platform == "MAAS" and (wish.live is None or asked):
            self._refuse_provider(asked)
        if platform == "MAAS" and at(whole, ("spec", "imageContentSources")):
            self.warnings.append(
                f"{self.label} has image_content_sources: with builds of HyperShift 4.19 and 4.20 for MAAS, its node"
                " pools then get no machines (expected 3 core ignition configs, found 4)."
            )

    def _refuse_provider(self, asked: str | None) -> None:
        operator = self._readable(DEPLOYMENTS, OPERATOR, self.params["operator_namespace"])
        if operator is None:
            return
        provider: Provider = provider_of(operator or None, asked)
        if not self.params["allow_unfit_provider"]:
            refuse_provider(provider, asked, self.label)
        if is_unknown(provider):
            image = provider.image
            self.warnings.append(f"Whether nodes can join with the provider image {image} cannot be told by its tag.")

    def _readable(self, kind: ObjectKind, name: str, namespace: str = "") -> Object | None:
        """An object, empty when there is none; None when this user may not read it, which is no reason to stop."""
        try:
            return self.kube.get(kind, name, namespace) or {}
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            self.warnings.append(f"{label_of(kind, namespace, name)} may not be read, so what it says was not checked.")
            return None

    # -- what is wished ----------------------------------------------------------------------------------------------

    def _wish(self, live: Object | None) -> DesiredObject:
        ours = applied(live) if live else {}
        wanted = cluster_manifest.manifest(self.params, live, ours)
        for path, value in ((("metadata", "name"), self.name), (("metadata", "namespace"), self.namespace)):
            if at(wanted, path) != value:
                raise invalid(f"{'.'.join(path)} cannot be overridden.")
        if live is not None:
            cluster_manifest.refuse_late_encryption(self.params, live, wanted, self.label)
            refuse_changes(HOSTED_CLUSTER, self.label, live, wanted, ours)
            self._refuse_older(live, wanted)
        return DesiredObject(wanted, live, take_over=self.params["take_over"])

    def _refuse_older(self, live: Object, wanted: Object) -> None:
        asked = at(wanted, RELEASE)
        if asked and asked != at(live, RELEASE) and not self.params["allow_downgrade"]:
            history = at(live, ("status", "version", "history")) or []
            refuse_older(self.label, str(asked), running(live), history)

    def _needed(self, live: Object | None) -> Iterator[DesiredObject]:
        """What must be there before the HostedCluster, in the order in which it is made."""
        if live is None:
            yield namespace_wish(self.kube, self.namespace)
        refer = cluster_manifest.names(self.params, live)
        given = {
            "pull_secret": secrets.pull_secret,
            "ssh_key": secrets.ssh_key,
            "trust_bundle": secrets.trust_bundle,
        }
        for what, make in given.items():
            name = getattr(refer, what)
            if self.params[what]:
                wanted = make(name, self.namespace, self.name, self.params[what])
                kind = CONFIG_MAPS if what == "trust_bundle" else SECRETS
                yield DesiredObject(wanted, self.kube.get(kind, name, self.namespace))
            elif name:
                self._check_named(what, name, live)
        if refer.encryption_key:
            yield from self._encryption_key(refer.encryption_key, live)
        if refer.credentials:
            yield from self._credentials(refer.credentials, in_use=live is not None)

    def _encryption_key(self, name: str, live: Object | None) -> Iterator[DesiredObject]:
        """Made once: with another one, what etcd holds could not be read any more."""
        if live is not None and at(live, cluster_manifest.ENCRYPTION) == name:
            return
        there = self.kube.get(SECRETS, name, self.namespace)
        if there is None and not self.params["etcd_encryption_secret"]:
            key = os.urandom(secrets.ENCRYPTION_BYTES)
            yield DesiredObject(secrets.encryption_key(name, self.namespace, self.name, key), None, once=True)
        else:
            self._check_content("encryption_key", name, there)

    def _credentials(self, name: str, *, in_use: bool) -> Iterator[DesiredObject]:
        there = self.kube.get(SECRETS, name, self.namespace)
        self._named_credentials = there
        given = any(self.params[option] for option in credentials.FOR_PROVIDER)
        foreign = in_use and there is not None and not secrets.is_made_for(self.name, there)
        if self.params["credentials_secret"] or (foreign and not given):
            # One that somebody else made may serve several clusters.
            self._check_content("credentials", name, there)
            if there is not None and not in_use:
                self._judge_user(there)
            return
        wished = credentials.wished(self.params, name, there, in_use=in_use)
        self.warnings += wished.warnings
        if wished.secret is not None:
            wish = DesiredObject(wished.secret, there)
            if wish.step:
                self._judge_user(wished.secret)
            yield wish

    def _judge_user(self, secret: Object) -> None:
        """The provider needs an administrator's key: with any other it would take and release machines for ever."""
        warning = credentials.judge_user(self.task, secret, allow_plain=self.params["allow_plain_maas_user"])
        if warning:
            self.warnings.append(warning)

    def _rotation(self, live: Object | None, before: list[DesiredObject]) -> credentials.Rotation | None:
        """A change of the credentials that the running provider has not picked up yet."""
        name = cluster_manifest.names(self.params, live).credentials
        if live is None or not name:
            return None
        wanted = next((each.wanted for each in before if each.wanted["metadata"]["name"] == name), None)
        source = wanted or self._named_credentials
        return credentials.Rotation.look(self.kube, self.params, source) if source else None

    def _check_named(self, what: str, name: str, live: Object | None) -> None:
        """Whether what the task only names is there, when the cluster does not refer to it yet."""
        if at(live or {}, cluster_manifest.REFERENCES[what]) == name:
            return
        kind = CONFIG_MAPS if what == "trust_bundle" else SECRETS
        self._check_content(what, name, self.kube.get(kind, name, self.namespace))

    def _check_content(self, what: str, name: str, there: Object | None) -> None:
        label = label_of(CONFIG_MAPS if what == "trust_bundle" else SECRETS, self.namespace, name)
        lacking = secrets.lacks(there, KEYS[what])
        if there is None and self.task.check:
            self.warnings.append(f"{label} is not there yet: {self.label} will need it.")
        elif lacking:
            missing = "does not exist" if there is None else f"has no {' and no '.join(lacking)}"
            raise Failure(
                "not_found",
                f"{self.label} needs {label}, which {missing}.",
                object=label,
                hint=f"It must hold {' and '.join(KEYS[what])}.",
            )


def converge_cluster(task: Task) -> Result:
    """Bring the hosted cluster that the task names to the wished state."""
    return remove_cluster(task) if task.params["state"] == "absent" else HostedClusterRun(task).converge()
