# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the MAAS platform adds to the kinds of HyperShift: one more platform type, and its block beside the others.

Upstream HyperShift knows no MAAS. The fields, types and limits here are those of its forks 4.19 and 4.20; the words are
ours.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

PLATFORM, BLOCK = "MAAS", "maas"
GROUP = "hypershift.openshift.io"


class UnexpectedManifest(Exception):
    """The manifest is not of the shape that MAAS can be added to; the text says what is missing."""


def _field(type_: str, words: str, **limits: Any) -> Schema:
    return {"type": type_, "description": words, **limits}


def _block(words: str, fields: Mapping[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    block = _field("object", words, properties=dict(fields))
    return {**block, "required": list(required)} if required else block


def _name(words: str) -> Schema:
    return _field("string", words, maxLength=255)


def _at_least(least: int, words: str) -> Schema:
    return _field("integer", words, format="int32", minimum=least)


def _list(words: str, **limits: Any) -> Schema:
    return _field("array", words, items={"type": "string"}, **limits)


_CREDENTIALS = _block(
    "The Secret with the address of MAAS and a key for it.",
    {"name": _field("string", "A Secret in the same namespace, with the keys MAAS_ENDPOINT and MAAS_API_KEY.")},
    required=("name",),
)

_CLUSTER = _block(
    "The cluster's machines come from MAAS.",
    {
        "identityRef": _CREDENTIALS,
        "dnsDomain": _name("The domain in MAAS for the cluster's names."),
        "zone": _name("The zone of MAAS for the cluster; any, when not given."),
    },
    required=("identityRef",),
)

_NODE_POOL = _block(
    "The machines of the pool come from MAAS.",
    {
        "identityRef": _CREDENTIALS,
        "image": _name("The image of MAAS that is deployed."),
        "machineType": _name("The kind of machine; no part of HyperShift reads it."),
        "minCpu": _at_least(1, "The fewest cores that will do."),
        "minMemory": _at_least(1024, "The least memory that will do, in MB."),
        "minDiskSize": _at_least(1, "The smallest disk that will do, in GB; no part of HyperShift reads it."),
        "zone": _name("The zone of MAAS to take machines from, when failureDomain is not given."),
        "failureDomain": _name("The zone of MAAS to take machines from."),
        "resourcePool": _name("The resource pool of MAAS to take machines from."),
        "tags": _list("The tags that a machine must have.", maxItems=10),
        "lxd": _block(
            "Virtual machines on LXD; no part of HyperShift reads it.",
            {
                "enabled": _field("boolean", "Whether to compose virtual machines.", default=False),
                "storagePool": _name("The storage pool for their disks."),
                "network": _name("The network that they are put on."),
            },
        ),
        "staticIP": _block(
            "A fixed address for virtual machines; no part of HyperShift reads it.",
            {
                "ip": _field("string", "The address."),
                "cidr": _field("string", "The network that the address is in."),
                "gateway": _field("string", "The way out of that network."),
                "nameservers": _list("The servers to ask for names."),
            },
        ),
    },
    required=("identityRef",),
)

BLOCKS: Mapping[str, Schema] = {"HostedCluster": _CLUSTER, "HostedControlPlane": _CLUSTER, "NodePool": _NODE_POOL}

# arm64 is refused on MAAS only because upstream's rule names the platforms that may have it
_ARM64 = "self.arch != 'arm64'"


def add_maas(crd: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of one of upstream's kinds, with MAAS added; UnexpectedManifest where that cannot be done safely."""
    added = copy.deepcopy(dict(crd))
    name = str((added.get("metadata") or {}).get("name", "without a name"))
    spec = added.get("spec") or {}
    kind = str((spec.get("names") or {}).get("kind"))
    if added.get("kind") != "CustomResourceDefinition" or spec.get("group") != GROUP or kind not in BLOCKS:
        raise UnexpectedManifest(f"{name} does not define one of the kinds {', '.join(BLOCKS)} of {GROUP}.")
    if not spec.get("versions"):
        raise UnexpectedManifest(f"{name} has no versions.")
    for version in spec["versions"]:
        _add_to(version, kind, f"{name}, version {version.get('name')}")
    return added


def _add_to(version: Mapping[str, Any], kind: str, where: str) -> None:
    wish = _at(version, ("schema", "openAPIV3Schema", "properties", "spec"), where)
    platforms = _at(wish, ("properties", "platform", "properties"), where)
    types = _at(platforms, ("type",), where).get("enum")
    if not isinstance(types, list) or "None" not in types:
        raise UnexpectedManifest(f"{where}: spec.platform.type does not list the platforms.")
    if PLATFORM in types or BLOCK in platforms:
        raise UnexpectedManifest(f"{where}: spec.platform knows {PLATFORM} already.")
    rules = [str(rule.get("rule")) for rule in wish.get("x-kubernetes-validations", ())]
    if kind == "NodePool" and not any(_ARM64 in rule for rule in rules):
        raise UnexpectedManifest(f"{where}: no rule says which platforms may have machines of arm64.")
    types.append(PLATFORM)
    platforms[BLOCK] = copy.deepcopy(BLOCKS[kind])


def _at(schema: Mapping[str, Any], path: tuple[str, ...], where: str) -> dict[str, Any]:
    found = dict(schema)
    for depth, step in enumerate(path, 1):
        below = found.get(step)
        if not isinstance(below, dict):
            raise UnexpectedManifest(f"{where}: the schema has no {'.'.join(path[:depth])}.")
        found = below
    return found
