# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The credentials with which a hosted cluster's provider reaches MAAS, and how a new key reaches it.

HyperShift copies the Secret once, and the provider reads the copy when it starts. So a new key is written into the copy
as well, and the provider is started anew. A mark on the copy says that this is still to be done: it is written together
with the key, so that a run that ends in between is made up for by the next.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.objects import label_of
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure import secrets
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    OWN_CREDENTIALS,
    RESTART_DUE,
    RESTARTED,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.snapshot import control_plane_namespace
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import DEPLOYMENTS, SECRETS, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import at
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.times import stamp_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection, endpoint

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube

PROVIDER = "capi-provider"
_OPTIONS = {
    secrets.ENDPOINT: ("provider_maas_endpoint", "maas_endpoint"),
    secrets.API_KEY: ("provider_maas_api_key", "maas_api_key"),
}
# Nobody waits long to learn whose a key is.
ASKING_TIMEOUT = 10.0
FOR_PROVIDER = tuple(separate for separate, _shared in _OPTIONS.values())


@dataclass(frozen=True)
class CredentialsSpec:
    """The Secret as it is to be, None when the task says nothing that would change it, and what is to be told of it."""

    secret: Object | None
    warnings: Sequence[str] = ()


def wished(params: Mapping[str, Any], name: str, live: Object | None, *, in_use: bool = False) -> CredentialsSpec:
    """What the task makes of the Secret. One that is in use keeps what only the task's own access would change."""
    values, own, kept = {}, set(str(at(live or {}, ("metadata", "annotations", OWN_CREDENTIALS)) or "").split()), []
    for key, (separate, shared) in _OPTIONS.items():
        there = _usable(key, secrets.value_of(live, key))
        if params[separate]:
            values[key] = params[separate]
            own.add(separate)
        elif there is not None and (in_use or separate in own or not params[shared]):
            values[key] = there
            if separate not in own and params[shared] and _plain(key, params[shared]) != _plain(key, there):
                kept.append((key, separate, shared))
        elif params[shared]:
            values[key] = params[shared]
    if len(values) < len(_OPTIONS):
        if live is not None:
            return CredentialsSpec(None)
        lacking = " and ".join(" or ".join(options) for key, options in _OPTIONS.items() if key not in values)
        raise invalid(f"The provider's credentials for MAAS are missing: give {lacking}, or credentials_secret.")
    ApiKey.parse(values[secrets.API_KEY])
    base = endpoint(values[secrets.ENDPOINT])
    body = secrets.credentials(name, params["namespace"], params["name"], base, values[secrets.API_KEY])
    if own:
        body["metadata"]["annotations"] = {OWN_CREDENTIALS: " ".join(sorted(own))}
    label = label_of(SECRETS, params["namespace"], name)
    told = [
        f"The provider keeps the {key} of {label}, which is another than this task's {shared}."
        f" To give it a new one, set {separate}."
        for key, separate, shared in kept
    ]
    return CredentialsSpec(body, told)


def judge_user(task: Task, secret: Object, *, allow_plain: bool) -> str:
    """Refuse the key of a user with whom the provider could not deploy; a warning where that could not be told."""
    stored, key = (str(_usable(part, secrets.value_of(secret, part)) or "") for part in _OPTIONS)
    try:
        user = user_of(task, stored, key)
    except Failure as failure:
        if failure.kind == "credentials":
            raise Failure(
                "credentials",
                f"MAAS at {endpoint(stored)} does not accept the provider's API key.",
                object=endpoint(stored),
                reason=failure.reason or failure.message,
                hint="Give the key of an administrator of this MAAS as provider_maas_api_key, or as maas_api_key.",
            ) from None
        why = (failure.reason or failure.message).rstrip(".")
        return f"Whether the provider's API key is an administrator's, as it must be, could not be told: {why}."
    if user.get("is_superuser"):
        return ""
    said = f"The provider's API key is that of the MAAS user {user.get('username')}, who is not an administrator"
    if allow_plain:
        return f"{said}: each deployment needs that, unless MAAS gets its rights from elsewhere."
    raise Failure(
        "forbidden",
        f"{said}. MAAS lets only administrators do what the provider does before each deployment, so no machine would "
        "ever be deployed.",
        object=str(user.get("username")),
        reason="not an administrator of MAAS",
        hint="Give the key of an administrator as provider_maas_api_key. Where the rights in MAAS come from elsewhere "
        "(RBAC), set allow_plain_maas_user: true.",
    )


def user_of(task: Task, stored: str, key: str) -> dict[str, Any]:
    """Whose the provider's key is. Only a MAAS that the task names is asked, never one that only a Secret names.

    The provider may reach MAAS by an address that does not lead there from here.
    """
    asked = dict.fromkeys(
        endpoint(str(task.params[option])) for option in _OPTIONS[secrets.ENDPOINT] if task.params.get(option)
    )
    first = Failure("unreachable", "The task does not say where MAAS is.")
    for number, url in enumerate(asked):
        try:
            return _whoami(task, url, key)
        except Failure as failure:
            if failure.kind == "credentials" and url == endpoint(stored):
                raise
            first = first if number else replace(failure, kind="unreachable")
    raise first


def _whoami(task: Task, url: str, key: str) -> dict[str, Any]:
    params = {**task.params, "maas_endpoint": url, "maas_api_key": key, "maas_timeout": ASKING_TIMEOUT}
    connection = MaasConnection.from_params(params, task.environment)
    client = task.joined(Client(connection, clock=task.clock, deadline=task.deadline))
    found: dict[str, Any] = client.get("users/", op="whoami")
    return found


def _usable(key: str, value: bytes | None) -> str | None:
    """What a Secret holds, if anybody could use it."""
    try:
        text = (value or b"").decode()
        _plain(key, text)
    except (Failure, UnicodeDecodeError):
        return None
    return text


def _plain(key: str, text: str) -> Any:
    """What means the same is the same."""
    return ApiKey.parse(text) if key == secrets.API_KEY else endpoint(text)


@dataclass(frozen=True)
class Rotation:
    """The provider's own copy of the credentials, and what it lacks."""

    namespace: str
    copy: Object
    source: Object

    @classmethod
    def look(cls, kube: Kube, params: Mapping[str, Any], source: Object) -> Rotation | None:
        """What is to be done for a cluster that is there; None when HyperShift has not made the copy yet."""
        namespace = control_plane_namespace(params["namespace"], params["name"])
        copy = kube.get(SECRETS, source["metadata"]["name"], namespace)
        return cls(namespace, copy, source) if copy else None

    @property
    def _differs(self) -> bool:
        return not secrets.same_content(self.copy, self.source)

    @property
    def _restart_due(self) -> bool:
        return self._differs or bool(at(self.copy, ("metadata", "annotations", RESTART_DUE)))

    @property
    def steps(self) -> list[Step]:
        name = self.source["metadata"]["name"]
        found = []
        if self._differs:
            hidden = (secrets.HIDDEN_BEFORE, secrets.HIDDEN_AFTER)
            before, after = ({"data": dict.fromkeys(_OPTIONS, how)} for how in hidden)
            why = "HyperShift copies the credentials only once"
            found.append(Step("update", label_of(SECRETS, self.namespace, name), why, before, after))
        if self._restart_due:
            label = label_of(DEPLOYMENTS, self.namespace, PROVIDER)
            found.append(Step("restart", label, "it reads the credentials when it starts"))
        return found

    def carry_out(self, kube: Kube, now: float) -> None:
        name = self.source["metadata"]["name"]
        if self._differs:
            data = {key: self.source["data"][key] for key in _OPTIONS}
            marked = {"metadata": {"annotations": {RESTART_DUE: "true"}}, "data": data}
            kube.patch(SECRETS, name, self.namespace, marked)
        if not self._restart_due:
            return
        noted = {"metadata": {"annotations": {RESTARTED: stamp_of(now)}}}
        try:
            kube.patch(DEPLOYMENTS, PROVIDER, self.namespace, {"spec": {"template": noted}})
        except Failure as failure:
            # It has not been started yet: it will read the new ones.
            if failure.kind != "not_found":
                raise
        kube.patch(SECRETS, name, self.namespace, {"metadata": {"annotations": {RESTART_DUE: None}}})
