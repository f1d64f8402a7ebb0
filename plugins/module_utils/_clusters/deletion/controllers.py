# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be known about those who should take a hosted cluster away, when it does not go.

Read only when something hangs, and each look for itself: one that is refused leaves the others' answers.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.pure.blockers import (
    DeletionState,
    finalizers,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    OPERATOR_LABEL,
    OPERATOR_NAMESPACE,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import READS_AT_ONCE, each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    DEPLOYMENTS,
    HOSTED_CLUSTERS,
    MAAS_MACHINES,
    SECRETS,
    Object,
    ObjectKind,
    kind_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import is_deleted
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import MaasConnection, endpoint
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines, address

BESIDE = ("capi-provider", "cluster-api", "control-plane-operator")
OPERATOR = "operator"
# Nobody waits long to learn whether a key is good.
MAAS_TIMEOUT = 10.0


class Controllers:
    """Looks into one cluster's programs, the key that its provider has, and its machines in MAAS."""

    def __init__(self, task: Task, namespace: str, name: str) -> None:
        self._task = task
        self._namespace, self._name = namespace, name
        self._place = control_plane_namespace(namespace, name)
        self._kinds: dict[tuple[str, str], ObjectKind] = {}

    def detailed(self, scene: DeletionState) -> DeletionState:
        """The scene with all that explains why it stands still."""
        operator_namespace, operator = self._operator()
        programs: dict[str, Object | None] = {}
        try:
            found = {body["metadata"]["name"]: body for body in self._task.kube.list(DEPLOYMENTS, self._place)}
            programs.update((name, found.get(name)) for name in BESIDE)
        except Failure:
            programs = {}
        if operator_namespace:
            programs[OPERATOR] = operator
        leaving = [body for body in scene.of(MAAS_MACHINES) if is_deleted(body)]
        return replace(
            scene,
            programs=programs,
            operator_namespace=operator_namespace or OPERATOR_NAMESPACE,
            key_refused=self.key_refused() if leaving else "",
            machine_troubles=self._machine_troubles(leaving),
            content=self._content() if scene.place and is_deleted(scene.place) else (),
        )

    # -- programs ---------------------------------------------------------------------------------------------

    def _operator(self) -> tuple[str, Object | None]:
        """The operator's namespace and Deployment; an empty namespace if that cannot be told."""
        kube = self._task.kube
        try:
            found = kube.get(DEPLOYMENTS, OPERATOR, OPERATOR_NAMESPACE)
            if found is not None:
                return OPERATOR_NAMESPACE, found
            for body in kube.list(DEPLOYMENTS, fields=f"metadata.name={OPERATOR}"):
                if OPERATOR_LABEL in (body["spec"]["template"]["metadata"].get("labels") or {}):
                    return str(body["metadata"]["namespace"]), body
        except Failure:
            return "", None
        return OPERATOR_NAMESPACE, None

    # -- MAAS -------------------------------------------------------------------------------------------------

    def owners(self, me: str) -> frozenset[str]:
        """The users of MAAS who may hold the cluster's machines; empty if that is not known."""
        given = self._given()
        return frozenset({me}) if given is None else self._users(me, given)

    def known_owners(self, machines: Machines) -> frozenset[str]:
        """Like `owners`, but empty instead of a guess when the key cannot be read."""
        given = self._given()
        return frozenset() if given is None else self._users(machines.me, given)

    def _users(self, me: str, given: tuple[str, str]) -> frozenset[str]:
        if given == self._own():
            return frozenset({me})
        try:
            return frozenset({me, Machines(self._maas(given[1])).me})
        except Failure:
            return frozenset()

    def key_refused(self) -> str:
        """What MAAS says to the key of the provider, if it does not accept it."""
        given = self._given()
        if given is None or not self._is_here(given[0]):
            return ""
        try:
            return "" if Machines(self._maas(given[1])).me else "it belongs to nobody"
        except Failure as failure:
            return (failure.reason or failure.message).rstrip(".") if failure.kind == "credentials" else ""

    def _maas(self, key: str) -> Client:
        """The MAAS of the task, with another key. What a Secret calls MAAS is not asked: its owner may answer there."""
        params = {**self._task.params, "maas_api_key": key, "maas_timeout": MAAS_TIMEOUT}
        connection = MaasConnection.from_params(params, self._task.environment)
        return self._task.joined(Client(connection, clock=self._task.clock, deadline=self._task.deadline))

    def _is_here(self, given: str) -> bool:
        """Whether that is the MAAS of the task, as far as its URL tells: a provider may reach it by another one."""
        try:
            return endpoint(given) == self._task.maas.connection.base
        except Failure:
            return False

    def _own(self) -> tuple[str, str]:
        params = self._task.params
        return str(params.get("maas_endpoint") or "").rstrip("/"), str(params.get("maas_api_key") or "")

    def _given(self) -> tuple[str, str] | None:
        """Address and key that the provider was given: its own copy, or what that is made from."""
        try:
            cluster = self._task.kube.get(HOSTED_CLUSTERS, self._name, self._namespace)
            maas = (((cluster or {}).get("spec") or {}).get("platform") or {}).get("maas") or {}
            name = str((maas.get("identityRef") or {}).get("name") or f"{self._name}-maas-credentials")
            secrets = [self._task.kube.get(SECRETS, name, place) for place in (self._place, self._namespace)]
        except Failure:
            return None
        found = [secret for secret in secrets if secret]
        if not found:
            return None
        endpoint, key = (_plain(found[0], part) for part in ("MAAS_ENDPOINT", "MAAS_API_KEY"))
        return (endpoint.rstrip("/"), key) if endpoint and key else None

    def _machine_troubles(self, leaving: Sequence[Object]) -> dict[str, str]:
        wanted = [system_id for system_id in map(system_id_of, leaving) if system_id]
        if not wanted:
            return {}
        try:
            machines = Machines(self._task.maas).read(wanted)
        except Failure as failure:
            said = (failure.reason or failure.message).rstrip(".")
            return dict.fromkeys(wanted, f"MAAS does not answer as it should ({said})")
        troubles = {}
        for system_id in wanted:
            machine = machines.get(system_id)
            if machine is None:
                troubles[system_id] = f"MAAS does not show machine {system_id}: the provider waits two minutes then"
            elif machine.get("locked"):
                troubles[system_id] = f"machine {address(machine)} ({system_id}) is locked in MAAS"
        return troubles

    # -- the namespace ----------------------------------------------------------------------------------------

    def _content(self) -> list[Object]:
        """What has finalizers in the control plane's namespace, of all kinds that there are."""
        kinds = [kind for kind in self._all_kinds() if kind.namespaced and kind.name != "Event"]
        found: list[Object] = []
        for kind, answer in each(kinds, lambda kind: self._task.kube.list(kind, self._place), READS_AT_ONCE):
            if isinstance(answer, Failure):
                continue
            for body in answer:
                if finalizers(body):
                    found.append(body)
                    self._kinds[body["apiVersion"], body["kind"]] = kind
        return sorted(found, key=lambda body: (body["kind"], body["metadata"]["name"]))

    def _all_kinds(self) -> Iterable[ObjectKind]:
        kube = self._task.kube
        try:
            versions = kube.apis()
        except Failure:
            return ()
        kinds: dict[str, ObjectKind] = {}
        for version in versions:
            try:
                for kind in kube.kinds(version, listable=True).values():
                    kinds[kind.resource] = kind
            except Failure:
                continue
        return kinds.values()

    def kind_of(self, body: Object) -> ObjectKind:
        """The kind of an object, of those found in the namespace as well."""
        known = self._kinds.get((body["apiVersion"], body["kind"]))
        return known if known is not None else kind_of(body)


def _plain(secret: Mapping[str, Any], key: str) -> str:
    try:
        return base64.b64decode((secret.get("data") or {}).get(key) or "").decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        return ""
