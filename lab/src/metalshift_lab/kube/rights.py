# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules of RBAC with something taken out of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from metalshift_lab.kube.api import Resource

Rule = dict[str, Any]

ALL = "*"
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


def without(
    rules: Sequence[Rule], resource: Resource, verbs: Collection[str], plurals: Collection[str] = ()
) -> list[Rule]:
    """The rules, but for these verbs on this kind. What its group has is needed where a rule says "all of it".

    >>> pods = Resource("v1", "pods")
    >>> without([{"apiGroups": [""], "resources": ["pods", "nodes"], "verbs": ["get"]}], pods, ["get"])
    [{'apiGroups': [''], 'resources': ['nodes'], 'verbs': ['get']}]
    """
    return [part for rule in rules for part in _narrowed(rule, resource, verbs, plurals)]


def _narrowed(rule: Rule, resource: Resource, verbs: Collection[str], plurals: Collection[str]) -> list[Rule]:
    groups, kinds, allowed = (list(rule.get(field) or []) for field in ("apiGroups", "resources", "verbs"))
    concerned = {resource.group, ALL} & set(groups) and {resource.plural, ALL} & set(kinds)
    if not concerned or not {ALL, *verbs} & set(allowed):
        return [rule]
    if ALL in groups:
        raise ValueError(f"A rule allows {', '.join(allowed)} in all groups: nothing can be taken out of it.")
    others = [kind for kind in (plurals if ALL in kinds else kinds) if kind != resource.plural]
    left = [verb for verb in (VERBS if ALL in allowed else allowed) if verb not in verbs]
    parts = [
        {**rule, "apiGroups": [group for group in groups if group != resource.group]},
        {**rule, "apiGroups": [resource.group], "resources": others},
        {**rule, "apiGroups": [resource.group], "resources": [resource.plural], "verbs": left},
    ]
    return [part for part in parts if part["apiGroups"] and part["resources"] and part["verbs"]]
