# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of what the API allows: quotas, policies of admission, rights, and objects that do not go."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from metalshift_lab.kube.api import CONFIG_MAPS, QUOTAS, Api, ApiError, Object, Resource, of_name, of_namespace
from metalshift_lab.kube.faults.fault import MUST, Effect, Fault, Words
from metalshift_lab.kube.kinds import Kind, find, plurals
from metalshift_lab.kube.rights import Rule, without

if TYPE_CHECKING:
    from metalshift_lab.kube.supervisor import Supervisor

POLICIES = Resource("admissionregistration.k8s.io/v1", "validatingadmissionpolicies")
BINDINGS = Resource("admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings")
RBAC = "rbac.authorization.k8s.io/v1"
ROLES = {"ClusterRole": Resource(RBAC, "clusterroles"), "Role": Resource(RBAC, "roles")}
FINALIZER = "lab.example/stuck"
PREFIX = "lab-fault"
SOON = 30.0


def _until(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not holds():
        if time.monotonic() > deadline:
            raise ValueError(f"{what} did not happen within {SOON:.0f} s.")
        time.sleep(0.05)


def _or_undone(cure: Callable[[], None], begin: Callable[[], None]) -> None:
    """Whatever comes between, a fault that has not begun leaves nothing behind."""
    try:
        begin()
    except BaseException:
        cure()
        raise


# -- quota ------------------------------------------------------------------------------------------------------------


def _quota(lab: Supervisor, words: Words) -> Effect:
    namespace, resource, hard = words["namespace"], words["resource"], words["hard"]
    body: Object = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"generateName": f"{PREFIX}-", "namespace": namespace},
        "spec": {"hard": {resource: hard}},
    }
    name = of_name(lab.api.create(QUOTAS, body))

    def counted() -> bool:
        found = lab.api.get(QUOTAS, name, namespace)
        return found is not None and resource in found.get("status", {}).get("used", {})

    def cure() -> None:
        lab.api.delete(QUOTAS, name, namespace)

    # One that nobody has counted yet refuses with another text.
    _or_undone(cure, lambda: _until(f"the count for the quota {name}", counted))
    return Effect(f"{namespace} can have {hard} {resource} at most (quota {name})", cure)


# -- admission --------------------------------------------------------------------------------------------------------


def _deny(lab: Supervisor, words: Words) -> Effect:
    kind = find(lab.api, words["kind"])
    name = f"{PREFIX}-{secrets.token_hex(3)}"
    operations = words["operations"].upper().split(",")

    def begin() -> None:
        for resource, body in zip((POLICIES, BINDINGS), _policy(name, kind, operations, words), strict=True):
            lab.api.create(resource, body)
        _until("the beginning of the policy", lambda: _denies(lab.api, name))

    def cure() -> None:
        lab.api.delete(BINDINGS, name)
        lab.api.delete(POLICIES, name)
        _until("the end of the policy", lambda: not _denies(lab.api, name))

    _or_undone(cure, begin)
    where = f" in {words['namespace']}" if words["namespace"] else ""
    return Effect(f"{' and '.join(operations)} of {kind.resource}{where} is denied: {words['message']}", cure)


def _policy(name: str, kind: Kind, operations: list[str], words: Words) -> tuple[Object, Object]:
    """The policy, which a ConfigMap of its own name is subject to as well, and its binding."""
    subject = f"(object != null ? object : oldObject).metadata.name == '{name}'"
    place = f"request.namespace == '{words['namespace']}'" if words["namespace"] else "true"
    rules = [
        {
            "apiGroups": [kind.resource.group],
            "apiVersions": ["*"],
            "resources": [kind.resource.plural],
            "operations": operations,
        },
        {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]},
    ]
    own = f"request.resource.resource == '{kind.resource.plural}'"
    when = f"request.name == '{name}' || ({own} && {place} && ({words['when']}))"
    policy: dict[str, Any] = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": rules},
        "matchConditions": [{"name": "concerned", "expression": f"{subject} || ({own} && {place})"}],
        "validations": [{"expression": f"!({when})", "message": words["message"]}],
    }
    meta = {"metadata": {"name": name}}
    api = POLICIES.api
    return (
        {"apiVersion": api, "kind": "ValidatingAdmissionPolicy", **meta, "spec": policy},
        {
            "apiVersion": api,
            "kind": "ValidatingAdmissionPolicyBinding",
            **meta,
            "spec": {"policyName": name, "validationActions": ["Deny"]},
        },
    )


def _denies(api: Api, name: str) -> bool:
    """Whether the policy is in force by now: the API server learns of it by a watch, as everybody does."""
    body: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}
    try:
        api.request("POST", CONFIG_MAPS.path("default"), body, query={"dryRun": "All"})
    except ApiError as error:
        if name not in error.message:
            raise
        return True
    return False


# -- rights -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Loss:
    """Verbs on a kind that a role has lost; what its group has is needed where a rule says "all of it"."""

    resource: Resource
    verbs: tuple[str, ...]
    plurals: tuple[str, ...]


@dataclass(frozen=True)
class Role:
    """Where a role is."""

    resource: Resource
    name: str
    namespace: str | None


class Roles:
    """The rules that each role of a lab had, and what it has lost of them: one fault's end leaves the others."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Supervisor, dict[Role, tuple[list[Rule], list[Loss]]]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def lose(self, lab: Supervisor, role: Role, loss: Loss) -> None:
        with self._lock:
            of_lab = self._known.setdefault(lab, {})
            before, losses = of_lab.get(role) or (_rules(lab.api, role), [])
            after = _less(before, [*losses, loss])
            if after == _less(before, losses):
                raise ValueError(f"The role {role.name} does not allow to {', '.join(loss.verbs)} {loss.resource}.")
            lab.api.patch(role.resource, role.name, role.namespace, {"rules": after})
            of_lab[role] = before, [*losses, loss]

    def regain(self, lab: Supervisor, role: Role, loss: Loss) -> None:
        with self._lock:
            before, losses = self._known[lab][role]
            left = [each for each in losses if each is not loss]
            rules = {"rules": _less(before, left)}
            _ignore(lambda: lab.api.patch(role.resource, role.name, role.namespace, rules))
            if left:
                self._known[lab][role] = before, left
            else:
                del self._known[lab][role]


LOSSES = Roles()


def _rules(api: Api, role: Role) -> list[Rule]:
    found = api.get(role.resource, role.name, role.namespace)
    if found is None:
        raise ValueError(f"There is no role {role.name}{f' in {role.namespace}' if role.namespace else ''}.")
    return found.get("rules") or []


def _less(rules: list[Rule], losses: list[Loss]) -> list[Rule]:
    for loss in losses:
        rules = without(rules, loss.resource, loss.verbs, loss.plurals)
    return rules


def _forbid(lab: Supervisor, words: Words) -> Effect:
    kind = find(lab.api, words["kind"])
    namespace, verbs = words["namespace"], tuple(words["verbs"].split(","))
    role = Role(ROLES["Role" if namespace else "ClusterRole"], words["role"], namespace or None)
    loss = Loss(kind.resource, verbs, tuple(plurals(lab.api, kind.resource.api)))
    LOSSES.lose(lab, role, loss)
    said = f"{role.name} may not {', '.join(verbs)} {kind.resource}"
    return Effect(said, lambda: LOSSES.regain(lab, role, loss))


def _ignore(act: Callable[[], object]) -> None:
    """What has gone meanwhile needs no cure."""
    try:
        act()
    except ApiError as error:
        if error.status != 404:
            raise


# -- finalizers -------------------------------------------------------------------------------------------------------


def _stick(lab: Supervisor, words: Words) -> Effect:
    kind, name, namespace = find(lab.api, words["kind"]), words["name"], words["namespace"] or None
    if kind.namespaced and namespace is None:
        raise ValueError(f"{kind.name} is a kind of objects in namespaces: say namespace=.")
    found = lab.api.get(kind.resource, name, namespace)
    if found is None:
        raise ValueError(f"There is no {kind.name} {name}{f' in {namespace}' if namespace else ''}.")
    _finalizers(lab.api, kind.resource, name, namespace, lambda known: [*known, FINALIZER])

    def cure() -> None:
        _finalizers(
            lab.api, kind.resource, name, namespace, lambda known: [each for each in known if each != FINALIZER]
        )

    return Effect(f"{kind.name} {name} has the finalizer {FINALIZER}, which nobody removes", cure)


def _finalizers(
    api: Api, resource: Resource, name: str, namespace: str | None, change: Callable[[list[str]], list[str]]
) -> None:
    """Change them, seeing what others write meanwhile; an object that has gone has none."""

    def done() -> bool:
        body = api.get(resource, name, namespace)
        if body is None:
            return True
        known = list(dict.fromkeys(change(body["metadata"].get("finalizers") or [])))
        meta = {"finalizers": known, "resourceVersion": body["metadata"]["resourceVersion"]}
        try:
            api.patch(resource, of_name(body), of_namespace(body), {"metadata": meta})
        except ApiError as error:
            if error.status not in (404, 409):
                raise
            return False
        return True

    _until(f"a change of {resource} {name}", done)


FAULTS = {
    "quota": Fault(
        "a ResourceQuota limits how many objects of a resource a namespace can have"
        " (secrets, services.nodeports, count/pods, …)",
        _quota,
        {"namespace": MUST, "resource": "secrets", "hard": "0"},
    ),
    "deny": Fault(
        "an admission policy denies requests for objects of a kind, in one namespace or in all,"
        " when a CEL expression is true",
        _deny,
        {
            "kind": MUST,
            "operations": "CREATE",
            "namespace": "",
            "when": "true",
            "message": "the rules of this cluster do not allow it",
        },
    ),
    "forbid": Fault(
        "a ClusterRole, or with namespace= a Role, loses verbs on a kind",
        _forbid,
        {"kind": MUST, "verbs": MUST, "role": "hypershift-operator", "namespace": ""},
    ),
    "stuck": Fault(
        "an object gets a finalizer that nobody removes",
        _stick,
        {"kind": MUST, "name": MUST, "namespace": ""},
    ),
}
