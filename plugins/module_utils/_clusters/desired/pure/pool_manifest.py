# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the options of a task to the NodePool that is applied.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.cluster_manifest import (
    CREDENTIALS,
    PLATFORMS,
    Options,
    describe,
    own_name,
    pausing,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.secrets import labels
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    HEALTH_TIMEOUT,
    NODE_DELETION_TIMEOUT,
    STARTUP_TIMEOUT,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import NODE_POOLS, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import Path, at, merged, pruned, put
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.ownership import managers
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.units import duration

REPLICAS, AUTOSCALING = ("spec", "replicas"), ("spec", "autoScaling")
UPGRADE_TYPE = ("spec", "management", "upgradeType")
REPLACE = ("spec", "management", "replace")
MAAS = ("spec", "platform", "maas")

FIELDS: Mapping[str, Path] = {
    "release": ("spec", "release", "image"),
    "arch": ("spec", "arch"),
    "replicas": REPLICAS,
    "autoscaling": AUTOSCALING,
    "upgrade_type": UPGRADE_TYPE,
    "auto_repair": ("spec", "management", "autoRepair"),
    "node_labels": ("spec", "nodeLabels"),
    "taints": ("spec", "taints"),
    "image": (*MAAS, "image"),
    "min_cpu": (*MAAS, "minCpu"),
    "min_memory": (*MAAS, "minMemory"),
    "zone": (*MAAS, "zone"),
    "resource_pool": (*MAAS, "resourcePool"),
    "tags": (*MAAS, "tags"),
    "machine_type": (*MAAS, "machineType"),
    "min_disk_size": (*MAAS, "minDiskSize"),
    "lxd": (*MAAS, "lxd"),
    "static_ip": (*MAAS, "staticIP"),
}
DURATIONS: Mapping[str, Path] = {
    "node_drain_timeout": ("spec", "nodeDrainTimeout"),
    "node_volume_detach_timeout": ("spec", "nodeVolumeDetachTimeout"),
    "node_deletion_timeout": ("metadata", "annotations", NODE_DELETION_TIMEOUT),
    "node_startup_timeout": ("metadata", "annotations", STARTUP_TIMEOUT),
    "unhealthy_timeout": ("metadata", "annotations", HEALTH_TIMEOUT),
}

# What holds for a pool that is made, where the task says nothing else.
DEFAULTS: Mapping[str, Any] = {
    "arch": "amd64",
    "upgrade_type": "Replace",
    "strategy": "RollingUpdate",
    "auto_repair": False,
    "node_drain_timeout": "20m",
    "node_volume_detach_timeout": "10m",
    "node_deletion_timeout": "5m",
}
# HyperShift's own are made for clouds: it would take away a machine that MAAS still installs.
DEFAULTS_OF_REPAIR: Mapping[str, Any] = {"node_startup_timeout": "60m", "unhealthy_timeout": "15m"}
DEFAULT_SURGE = {"max_surge": 1, "max_unavailable": 0}

# Options that HyperShift for MAAS takes and forgets → what does what is meant by them.
IGNORED: Mapping[str, str] = {
    "machine_type": "give the machines of that type a tag in MAAS, and name it in tags",
    "min_disk_size": "give the machines with such disks a tag in MAAS (a definition finds them), and name it in tags",
    "lxd": "make the virtual machines in MAAS first, and name their tag or resource_pool",
    "static_ip": "set the address of each machine in MAAS, which gives it to the node",
}
MOST_TAGS = 10
LEAST_MEMORY = 1024
FOR_MAAS = ("image", "min_cpu", "min_memory", "zone", "resource_pool", "tags", *IGNORED)


def platform_of(options: Options, live: Object | None, cluster: Object | None) -> str:
    """That of the pool, else that of its cluster."""
    path = ("spec", "platform", "type")
    asked = PLATFORMS.get(options["platform"] or "")
    return str(asked or at(live or {}, path) or at(cluster or {}, path) or PLATFORMS["maas"])


def completed(options: Options, live: Object | None, cluster: Object | None) -> dict[str, Any]:
    """The options, and what holds if the task does not say: for a pool that is made, and for repair that begins."""
    defaults: dict[str, Any] = {}
    if live is None:
        defaults = {**DEFAULTS, "release": at(cluster or {}, ("spec", "release", "image"))}
    if options["auto_repair"] and at(live, FIELDS["auto_repair"]) is not True:
        # What the pool has, whoever gave it, stays as it is.
        defaults |= {name: value for name, value in DEFAULTS_OF_REPAIR.items() if at(live, DURATIONS[name]) is None}
    return {**options, **{name: value for name, value in defaults.items() if options[name] is None}}


def manifest(
    options: Options, live: Object | None, kept: Object, cluster: Object | None, configs: Sequence[str] | None
) -> Object:
    """The NodePool to apply: what we applied before, with what the task says, and its overrides last.

    `configs` are the names of the ConfigMaps that hold its configuration; None: as they are.
    """
    options = completed(options, live, cluster)
    of_cluster = str(at(live or {}, ("spec", "clusterName")) or options["cluster"])
    body: Object = deepcopy(kept)
    body.update(apiVersion=NODE_POOLS.api, kind=NODE_POOLS.name)
    metadata = body.setdefault("metadata", {})
    metadata.update(name=options["name"], namespace=options["namespace"])
    before = {
        key: at(metadata, ("annotations", key)) for key in (NODE_DELETION_TIMEOUT, HEALTH_TIMEOUT, STARTUP_TIMEOUT)
    }
    describe(metadata, "annotations", options["annotations"], before)
    ours = labels(of_cluster) if live is None or metadata.get("labels") else {}
    describe(metadata, "labels", options["labels"], ours)
    for path, value in _assignments(options, live, kept, cluster):
        put(body, path, value)
    if configs is not None:
        put(body, ("spec", "config"), [{"name": name} for name in configs])
    if options["tuning_config"] is not None:
        put(body, ("spec", "tuningConfig"), [{"name": name} for name in options["tuning_config"]])
    whole: Object = pruned(merged(body, {"spec": options["spec_overrides"] or {}}))
    return whole


def _assignments(
    options: Options, live: Object | None, kept: Object, cluster: Object | None
) -> Iterator[tuple[Path, Any]]:
    if live is None:
        yield ("spec", "clusterName"), options["cluster"]
        platform = platform_of(options, live, cluster)
        yield ("spec", "platform", "type"), platform
        if platform == "MAAS":
            # The schema asks for it; only that of the HostedCluster is used.
            there = at(cluster or {}, CREDENTIALS)
            yield CREDENTIALS, there or own_name(options["cluster"], "credentials")
        if options["replicas"] is None and not options["autoscaling"]:
            yield REPLICAS, 0
    else:
        if options["cluster"]:
            yield ("spec", "clusterName"), options["cluster"]
        if options["platform"]:
            yield ("spec", "platform", "type"), PLATFORMS[options["platform"]]
    for option, path in FIELDS.items():
        if options[option] is not None:
            yield path, _words(options[option]) if option == "node_labels" else options[option]
    if options["replicas"] is not None:
        yield AUTOSCALING, None
    elif options["autoscaling"]:
        yield REPLICAS, None
    for option, path in DURATIONS.items():
        if options[option] is not None:
            yield path, duration(options[option], option)
    yield from _upgrading(options, live)
    yield from pausing(options["paused"], live, kept)


def _upgrading(options: Options, live: Object | None) -> Iterator[tuple[Path, Any]]:
    surge = {name: _number_or_percent(options[name]) for name in DEFAULT_SURGE}
    in_place = (options["upgrade_type"] or at(live or {}, UPGRADE_TYPE)) == "InPlace"
    if in_place:
        if options["max_unavailable"] is not None:
            yield ("spec", "management", "inPlace", "maxUnavailable"), surge["max_unavailable"]
        return
    strategy = options["strategy"]
    if strategy:
        yield (*REPLACE, "strategy"), strategy
    if strategy == "OnDelete":
        yield (*REPLACE, "rollingUpdate"), None
    elif strategy or any(value is not None for value in surge.values()):
        filled = _filled(options, live)
        yield (
            (*REPLACE, "rollingUpdate"),
            {
                "maxSurge": filled["max_surge"],
                "maxUnavailable": filled["max_unavailable"],
            },
        )


def _filled(options: Options, live: Object | None) -> dict[str, Any]:
    """Both numbers of a rolling update, for they are written together: as asked, as they are, or as by default."""
    there = at(live or {}, (*REPLACE, "rollingUpdate")) or {}
    before = {"max_surge": there.get("maxSurge"), "max_unavailable": there.get("maxUnavailable")}
    asked = {name: _number_or_percent(options[name]) for name in DEFAULT_SURGE}
    return {
        name: next((value for value in (asked[name], before[name]) if value is not None), default)
        for name, default in DEFAULT_SURGE.items()
    }


def _words(labels_given: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in labels_given.items() if value is not None}


def _number_or_percent(value: str | None) -> int | str | None:
    return int(value) if value is not None and value.isdigit() else value


# -- what must be known before ---------------------------------------------------------------------------------------


def refuse_contradictions(options: Options, live: Object | None, cluster: Object | None, label: str) -> None:
    """Raise the failure for what cannot be, or would only fail later."""
    platform = platform_of(options, live, cluster)
    found = [
        *_about_machines(options, live, platform),
        *_about_numbers(options),
        *_about_upgrades(options, live),
    ]
    if found:
        raise invalid(f"{label} cannot be as asked: {'; '.join(found)}.")
    if platform == "None" and options["wait"]:
        raise invalid(
            f"wait_for: {options['wait_for']} is not possible for {label}: on platform none nobody makes nodes.",
            "Set wait: false, and bring the nodes yourself.",
        )


def _about_machines(options: Options, live: Object | None, platform: str) -> Iterator[str]:
    given = [option for option in FOR_MAAS if options[option] is not None]
    if platform != "MAAS":
        if given:
            yield f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} for platform maas, not {platform}"
        return
    if live is None and not options["image"]:
        yield "image is missing: without it HyperShift would deploy ubuntu/focal, which cannot become a node"
    if options["arch"] == "arm64":
        yield "arch arm64 is not possible on platform maas"
    if not options["allow_ignored"]:
        for option in given:
            if option in IGNORED:
                yield (
                    f"{option} would be accepted and ignored by HyperShift; instead, {IGNORED[option]}"
                    " (allow_ignored: true writes it all the same)"
                )
    if len(options["tags"] or ()) > MOST_TAGS:
        yield f"tags has {len(options['tags'])} entries, and {MOST_TAGS} are possible"
    if options["min_cpu"] is not None and options["min_cpu"] < 1:
        yield f"min_cpu is {options['min_cpu']}, and must be at least 1"
    if options["min_memory"] is not None and options["min_memory"] < LEAST_MEMORY:
        yield f"min_memory is {options['min_memory']} MiB, and must be at least {LEAST_MEMORY} MiB"


def _about_numbers(options: Options) -> Iterator[str]:
    if options["replicas"] is not None and options["autoscaling"]:
        yield "replicas and autoscaling exclude each other"
    if options["replicas"] is not None and options["replicas"] < 0:
        yield f"replicas is {options['replicas']}"
    scaling = options["autoscaling"] or {}
    if scaling and scaling["min"] < 1:
        yield f"autoscaling.min is {scaling['min']}, and must be at least 1"
    if scaling and scaling["max"] < scaling["min"]:
        yield f"autoscaling.max is {scaling['max']}, less than autoscaling.min {scaling['min']}"


def _about_upgrades(options: Options, live: Object | None) -> Iterator[str]:
    kind = options["upgrade_type"] or at(live or {}, UPGRADE_TYPE) or DEFAULTS["upgrade_type"]
    strategy = options["strategy"] or at(live or {}, (*REPLACE, "strategy")) or DEFAULTS["strategy"]
    if kind == "InPlace":
        for option in ("strategy", "max_surge"):
            if options[option] is not None:
                yield f"{option} is for upgrade_type Replace, not InPlace"
        return
    for option in DEFAULT_SURGE:
        if options[option] is not None and not re.fullmatch(r"\d+%?", options[option]):
            yield f"{option} is {options[option]!r}, neither a number nor a percentage"
        if options[option] is not None and strategy == "OnDelete":
            yield f"{option} is for strategy RollingUpdate, not OnDelete"
    asked = [option for option in DEFAULT_SURGE if options[option] is not None]
    if strategy == "RollingUpdate" and asked and all(_is_none(value) for value in _filled(options, live).values()):
        unsaid = [f" ({name} is not said)" for name in DEFAULT_SURGE if name not in asked]
        kept = "".join(unsaid)
        yield f"max_surge and max_unavailable would both be 0{kept}, so that no node could ever be replaced"


def _is_none(value: Any) -> bool:
    return str(value).rstrip("%").strip("0") == ""


def refuse_foreign_replicas(options: Options, live: Object, label: str) -> None:
    """Raise the failure for a change between a number and a range that somebody else's value stands in the way of."""
    for wished, path, other in (("autoscaling", REPLICAS, "replicas"), ("replicas", AUTOSCALING, "autoscaling")):
        others = [each for each in managers(live, path) if each != "metalshift.maas"]
        if options[wished] is not None and at(live, path) is not None and others:
            raise Failure(
                "conflict",
                f"{label} cannot have {wished} while it has {other}, which {' and '.join(others)} set.",
                object=label,
                hint=f"Take {other} away with what set it, or make it yours with another value of {other} and "
                f"take_over: [{'.'.join(path)}].",
            )


def config_name(pool: str, name: str) -> str:
    """What a ConfigMap that we make for a pool is called."""
    return f"{pool}-{name}"
