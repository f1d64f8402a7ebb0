# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests that are installed and taken away as one: their order, what is recorded of them, whose an object is. Pure.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import MANAGED_BY, MANAGER

# On every object that an installation created: NAMESPACE/NAME of its record.
MARK = "metalshift.maas/installed-by"
RECORD_KEY = "objects"
LABEL = {MANAGED_BY: MANAGER}

# What others need comes first; what is in nobody's way unless it works comes last. Removal goes the other way.
ORDER: Mapping[str, int] = {
    "CustomResourceDefinition": 0,
    "Namespace": 1,
    "PriorityClass": 2,
    "StorageClass": 2,
    "ServiceAccount": 3,
    "Secret": 4,
    "ConfigMap": 4,
    "PersistentVolumeClaim": 4,
    "ClusterRole": 5,
    "Role": 5,
    "ClusterRoleBinding": 6,
    "RoleBinding": 6,
    "Service": 7,
    "DaemonSet": 9,
    "Deployment": 9,
    "StatefulSet": 9,
    "Job": 9,
    "APIService": 10,
    "MutatingWebhookConfiguration": 10,
    "ValidatingWebhookConfiguration": 10,
}
IN_BETWEEN = 8
CRD, NAMESPACE = "CustomResourceDefinition", "Namespace"

# Who writes into every namespace unasked, and what it puts there without leaving its name.
CLUSTER_MANAGERS = frozenset(
    {
        "cluster-policy-controller",
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
        "openshift-controller-manager",
        "pod-security-admission-label-synchronization-controller",
        "service-ca-operator",
    }
)
CLUSTER_OBJECTS = frozenset(
    {
        ("ServiceAccount", "default"),
        ("ServiceAccount", "builder"),
        ("ServiceAccount", "deployer"),
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "openshift-service-ca.crt"),
    }
)
# They say what happened; nobody keeps anything in them.
PASSING_KINDS = frozenset({"Event", "PodMetrics"})

LONGEST_SHOWN = 2000
HIDDEN = "hidden"


@dataclass(frozen=True)
class InstalledObject:
    """One object of a record; `ours` when it was not there before."""

    api: str
    kind: str
    namespace: str
    name: str
    ours: bool = True

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What makes it the same object, whichever version of its kind a manifest uses."""
        return self.api.rpartition("/")[0], self.kind, self.namespace, self.name

    @property
    def rank(self) -> int:
        return ORDER.get(self.kind, IN_BETWEEN)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def told(self, action: str, reason: str = "") -> dict[str, Any]:
        """As a result tells what became of it."""
        return {
            "api_version": self.api,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "action": action,
            "reason": reason,
        }


Key = tuple[str, str, str, str]


def entry_of(body: Object) -> InstalledObject:
    """The object's identity, from the object."""
    metadata = body["metadata"]
    return InstalledObject(body["apiVersion"], body["kind"], metadata.get("namespace") or "", metadata["name"])


def checked(documents: Iterable[Any]) -> list[Object]:
    """The objects of a manifest in the order in which they are applied; a Failure for what is none."""
    objects: dict[Key, Object] = {}
    for body in _flat(documents):
        metadata = body.get("metadata") if isinstance(body, Mapping) else None
        if not isinstance(metadata, Mapping) or not all(body.get(field) for field in ("apiVersion", "kind")):
            raise invalid(f"The manifest holds something that is no Kubernetes object: {_short(body)}.")
        if not metadata.get("name"):
            raise invalid(f"The manifest holds a {body['kind']} without metadata.name, which no second run would find.")
        entry = entry_of(dict(body))
        if entry.key in objects:
            raise invalid(f"The manifest holds the {entry} twice.")
        objects[entry.key] = {name: value for name, value in body.items() if name != "status"}
    return sorted(objects.values(), key=lambda body: ORDER.get(body["kind"], IN_BETWEEN))


def _flat(documents: Iterable[Any]) -> Iterable[Any]:
    for document in documents:
        if document is None:
            continue
        if isinstance(document, Mapping) and document.get("kind") == "List":
            yield from _flat(document.get("items") or [])
        else:
            yield document


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


# -- what kinds must know -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Required:
    """A field that a kind must know, and the value among those it allows: `HostedCluster spec.platform.type=MAAS`."""

    kind: str
    path: str
    value: str = ""

    @classmethod
    def parse(cls, text: str) -> Required:
        kind, _space, rest = text.strip().partition(" ")
        path, _equals, value = rest.strip().partition("=")
        if not kind or not path:
            raise invalid(f"required_fields: {text!r} is not of the form KIND PATH or KIND PATH=VALUE.")
        return cls(kind, path, value)

    def why_lacking(self, definition: Object) -> str:
        """What the definition of the kind lacks; empty when every version that it serves has it."""
        for version in definition["spec"].get("versions") or []:
            if not version.get("served"):
                continue
            found = _field(version.get("schema", {}).get("openAPIV3Schema", {}), self.path)
            if found is None:
                return f"{self.kind} ({version['name']}) has no field {self.path}"
            if self.value and "enum" in found and self.value not in found["enum"]:
                return f"{self.path} of {self.kind} ({version['name']}) may not be {self.value}"
        return ""


def _field(schema: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """The schema of a field; an empty one below what is kept as it comes."""
    for name in path.split("."):
        properties = schema.get("properties") or {}
        if name not in properties:
            return {} if schema.get("x-kubernetes-preserve-unknown-fields") else None
        schema = properties[name]
    return schema


# -- the record ---------------------------------------------------------------------------------------------------


def record_body(name: str, namespace: str, entries: Sequence[InstalledObject]) -> Object:
    """The ConfigMap that holds the record."""
    lines = [
        json.dumps({"apiVersion": e.api, "kind": e.kind, "namespace": e.namespace, "name": e.name, "ours": e.ours})
        for e in sorted(entries, key=lambda entry: (entry.rank, entry.key))
    ]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": LABEL},
        "data": {RECORD_KEY: "[\n" + ",\n".join(lines) + "\n]\n"},
    }


def recorded(body: Object | None) -> list[InstalledObject]:
    """What a record says; nothing without one. A Failure for a ConfigMap that is none."""
    if body is None:
        return []
    try:
        return [
            InstalledObject(each["apiVersion"], each["kind"], each["namespace"], each["name"], bool(each["ours"]))
            for each in json.loads(body["data"][RECORD_KEY])
        ]
    except (KeyError, TypeError, ValueError):
        where = f"{body['metadata']['namespace']}/{body['metadata']['name']}"
        raise Failure(
            "conflict",
            f"The ConfigMap {where} is no record of an installation.",
            object=where,
            hint="Choose another name or namespace for the record.",
        ) from None


def to_record(
    wished: Sequence[InstalledObject], record: Sequence[InstalledObject], there: Mapping[Key, bool]
) -> list[InstalledObject]:
    """What the record must say before the first write: what is not there yet will be ours.

    Objects that a new version has no more stay in it until they are gone, if they are ours.
    """
    known = {entry.key: entry for entry in record}
    made = [
        replace(entry, ours=not there[entry.key] or (entry.key in known and known[entry.key].ours)) for entry in wished
    ]
    return [*made, *outdated(wished, record)]


def outdated(wished: Sequence[InstalledObject], record: Sequence[InstalledObject]) -> list[InstalledObject]:
    """What an earlier version installed, and the present one does not have."""
    keys = {entry.key for entry in wished}
    return [entry for entry in record if entry.ours and entry.key not in keys]


def marked(body: Object, mark: str) -> Object:
    """The object with the mark that it was created by an installation."""
    metadata = body["metadata"]
    return {**body, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), MARK: mark}}}


def carries(body: Object, mark: str) -> bool:
    return (body["metadata"].get("annotations") or {}).get(MARK) == mark


def kept_by_others(body: Object, manager: str) -> bool:
    """Whether somebody else says what the object is to be, too."""
    fields = body["metadata"].get("managedFields") or []
    return any(each.get("manager") != manager and each.get("subresource") != "status" for each in fields)


def goes_along(body: Object, byproducts: frozenset[str]) -> bool:
    """Whether an object may go with its namespace or kind: nobody but the cluster and what was installed wrote it."""
    metadata = body["metadata"]
    if metadata.get("ownerReferences") or body["kind"] in PASSING_KINDS:
        return True
    if (body["kind"], metadata["name"]) in CLUSTER_OBJECTS:
        return True
    managers = {each.get("manager", "") for each in metadata.get("managedFields") or []}
    return bool(managers) and managers <= CLUSTER_MANAGERS | byproducts


# -- what differs -------------------------------------------------------------------------------------------------

# The API server and the object's controllers keep these.
KEPT_BY_SERVER = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")


def comparable(body: Object) -> Object:
    """The object without what changes by itself."""
    metadata = {name: value for name, value in body["metadata"].items() if name not in KEPT_BY_SERVER}
    return {**{name: value for name, value in body.items() if name != "status"}, "metadata": metadata}


def difference(before: Object | None, after: Object) -> tuple[dict[str, Any], dict[str, Any]]:
    """What differs, before and after, without the values of Secrets; two empty dicts when nothing does."""
    if before is None:
        return {}, {"apiVersion": after["apiVersion"], "kind": after["kind"], "metadata": {**_name(after)}}
    old, new = comparable(before), comparable(after)
    if old == new:
        return {}, {}
    first, second = _differing(old, new)
    if after["kind"] == "Secret":
        return _hidden(first), _hidden(second)
    return first, second


def _name(body: Object) -> dict[str, Any]:
    return {name: body["metadata"][name] for name in ("namespace", "name") if body["metadata"].get(name)}


def _differing(old: Any, new: Any) -> tuple[Any, Any]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        parts = {name: _differing(old.get(name), new.get(name)) for name in names}
        return (
            {name: parts[name][0] for name in names if name in old},
            {name: parts[name][1] for name in names if name in new},
        )
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        places = [place for place in range(len(old)) if old[place] != new[place]]
        pairs = {f"[{place}]": _differing(old[place], new[place]) for place in places}
        return {name: pair[0] for name, pair in pairs.items()}, {name: pair[1] for name, pair in pairs.items()}
    return _bounded(old), _bounded(new)


def _bounded(value: Any) -> Any:
    size = len(json.dumps(value))
    return value if size <= LONGEST_SHOWN else f"({size} bytes)"


def _hidden(shown: dict[str, Any]) -> dict[str, Any]:
    secret = ("data", "stringData")
    return {name: HIDDEN if name in secret else value for name, value in shown.items()}
