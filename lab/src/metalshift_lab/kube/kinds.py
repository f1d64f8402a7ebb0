# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds that an API server has, by whatever name people know them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from metalshift_lab.kube.api import Api, Objects, Resource

CORE = "v1"


@dataclass(frozen=True)
class Kind:
    """A kind as the API server describes it."""

    resource: Resource
    name: str
    namespaced: bool
    names: frozenset[str]
    verbs: frozenset[str]


def find(api: Api, wanted: str) -> Kind:
    """The kind of this name (NodePool, nodepools, nodepools.hypershift.openshift.io); ValueError if there is none.

    Where two groups have it, the preferred version of the first counts, as with kubectl.
    """
    for kind in _all(api):
        if wanted.lower() in kind.names or wanted == str(kind.resource):
            return kind
    raise ValueError(f"The API server has no kind {wanted}.")


def listable(api: Api) -> list[Resource]:
    """All kinds of objects that the API server keeps, in the preferred version of each group."""
    return [kind.resource for kind in _all(api) if {"list", "delete"} <= kind.verbs]


def plurals(api: Api, version: str) -> list[str]:
    """Everything that a version of a group has, subresources included, as rules of RBAC name it."""
    return [each["name"] for each in _described(api, version)]


def _all(api: Api) -> Iterator[Kind]:
    yield from _of_version(api, CORE)
    for group in api.request("GET", "/apis")["groups"]:
        yield from _of_version(api, group["preferredVersion"]["groupVersion"])


def _described(api: Api, version: str) -> Objects:
    path = f"/apis/{version}" if "/" in version else f"/api/{version}"
    found: Objects = api.request("GET", path)["resources"]
    return found


def _of_version(api: Api, version: str) -> Iterator[Kind]:
    for each in _described(api, version):
        if "/" not in each["name"]:
            names = {each["name"], each["kind"], each.get("singularName", ""), *each.get("shortNames", [])}
            lower = frozenset(name.lower() for name in names if name)
            verbs = frozenset(each["verbs"])
            yield Kind(Resource(version, each["name"]), each["kind"], each["namespaced"], lower, verbs)
