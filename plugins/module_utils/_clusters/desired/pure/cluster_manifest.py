# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From the options of a task to the HostedCluster that is applied.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.publishing import services
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.secrets import labels
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import (
    CONTROL_PLANE_OPERATOR_IMAGE,
    PROVIDER_IMAGE,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import HOSTED_CLUSTERS, Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import Path, at, merged, pruned, put

Options = Mapping[str, Any]

PLATFORMS = {"maas": "MAAS", "none": "None"}

# Options that are one field each, as they are.
FIELDS: Mapping[str, Path] = {
    "release": ("spec", "release", "image"),
    "channel": ("spec", "channel"),
    "base_domain": ("spec", "dns", "baseDomain"),
    "base_domain_prefix": ("spec", "dns", "baseDomainPrefix"),
    "api_dns_name": ("spec", "kubeAPIServerDNSName"),
    "network_type": ("spec", "networking", "networkType"),
    "control_plane_availability": ("spec", "controllerAvailabilityPolicy"),
    "infrastructure_availability": ("spec", "infrastructureAvailabilityPolicy"),
    "etcd_storage_class": ("spec", "etcd", "managed", "storage", "persistentVolume", "storageClassName"),
    "etcd_storage_size": ("spec", "etcd", "managed", "storage", "persistentVolume", "size"),
    "fips": ("spec", "fips"),
    "infra_id": ("spec", "infraID"),
    "node_selector": ("spec", "nodeSelector"),
    "image_content_sources": ("spec", "imageContentSources"),
    "dns_domain": ("spec", "platform", "maas", "dnsDomain"),
    "zone": ("spec", "platform", "maas", "zone"),
}
NETWORKS: Mapping[str, Path] = {
    "cluster_network": ("spec", "networking", "clusterNetwork"),
    "service_network": ("spec", "networking", "serviceNetwork"),
    "machine_network": ("spec", "networking", "machineNetwork"),
}
FOR_MAAS = (
    "dns_domain",
    "zone",
    "provider_image",
    "provider_maas_endpoint",
    "provider_maas_api_key",
    "credentials_secret",
)
PAUSED = ("spec", "pausedUntil")
ENCRYPTED = ("spec", "secretEncryption", "type")
ENCRYPTION = ("spec", "secretEncryption", "aescbc", "activeKey", "name")
CREDENTIALS = ("spec", "platform", "maas", "identityRef", "name")


@dataclass(frozen=True)
class Names:
    """What the Secrets and the ConfigMap of a hosted cluster are called; empty where it has none."""

    pull_secret: str = ""
    ssh_key: str = ""
    encryption_key: str = ""
    credentials: str = ""
    trust_bundle: str = ""


# Which of them the HostedCluster names where.
REFERENCES: Mapping[str, Path] = {
    "pull_secret": ("spec", "pullSecret", "name"),
    "ssh_key": ("spec", "sshKey", "name"),
    "encryption_key": ENCRYPTION,
    "credentials": CREDENTIALS,
    "trust_bundle": ("spec", "additionalTrustBundle", "name"),
}


def own_name(cluster: str, what: str) -> str:
    """What a Secret or ConfigMap that we make is called."""
    endings = {"encryption_key": "etcd-encryption-key", "credentials": "maas-credentials"}
    return f"{cluster}-{endings.get(what, what.replace('_', '-'))}"


def platform_of(options: Options, live: Object | None) -> str:
    """As HyperShift writes it; that of the cluster if the task does not say."""
    asked = PLATFORMS.get(options["platform"] or "")
    there = at(live or {}, ("spec", "platform", "type"))
    return asked or there or PLATFORMS["maas"]


def names(options: Options, live: Object | None) -> Names:
    """What will be referred to: what the task names, what it gives the content of, and what the cluster has already."""
    cluster, creating = options["name"], live is None
    there = {what: at(live or {}, path) or "" for what, path in REFERENCES.items()}
    maas = platform_of(options, live) == "MAAS"

    def named(what: str, option: str, given: bool) -> str:
        return options[option] or there[what] or (own_name(cluster, what) if given else "")

    encrypt = options["etcd_encryption"] is not False and creating
    return Names(
        pull_secret=named("pull_secret", "pull_secret_name", bool(options["pull_secret"])),
        ssh_key=named("ssh_key", "ssh_key_name", bool(options["ssh_key"])),
        encryption_key=named("encryption_key", "etcd_encryption_secret", encrypt),
        credentials=named("credentials", "credentials_secret", True) if maas else "",
        trust_bundle=named("trust_bundle", "trust_bundle_name", bool(options["trust_bundle"])),
    )


def manifest(options: Options, live: Object | None, kept: Object) -> Object:
    """The HostedCluster to apply: what we applied before, with what the task says, and its overrides last.

    `kept` is what we applied to `live`. What the task does not mention stays as it is.
    """
    creating = live is None
    body: Object = deepcopy(kept)
    body.update(apiVersion=HOSTED_CLUSTERS.api, kind=HOSTED_CLUSTERS.name)
    for path, value in _assignments(options, live, kept):
        put(body, path, value)
    _describe(body, options, creating)
    whole: Object = pruned(merged(body, {"spec": options["spec_overrides"] or {}}))
    return whole


def _assignments(options: Options, live: Object | None, kept: Object) -> Iterator[tuple[Path, Any]]:
    creating = live is None
    platform = platform_of(options, live)
    if creating or options["platform"]:
        yield ("spec", "platform", "type"), platform
    if creating:
        yield ("spec", "etcd", "managementType"), "Managed"
        yield ("spec", "etcd", "managed", "storage", "type"), "PersistentVolume"
        # Said, so that they cannot become something else later: the API lets what was left out be set once.
        yield FIELDS["etcd_storage_size"], "8Gi"
        yield FIELDS["fips"], False
    for option, path in FIELDS.items():
        if options[option] is not None:
            yield path, options[option]
    for option, path in NETWORKS.items():
        if options[option] is not None:
            yield path, [{"cidr": cidr} for cidr in options[option]]
    if creating or options["services"] or options["services_address"]:
        there = at(live or {}, ("spec", "services")) or []
        yield ("spec", "services"), services(options["services"] or [], options["services_address"], there)
    refer = names(options, live)
    for what, path in REFERENCES.items():
        if getattr(refer, what) and getattr(refer, what) != at(live or {}, path):
            yield path, getattr(refer, what)
            if what == "encryption_key":
                yield ENCRYPTED, "aescbc"
    yield from pausing(options["paused"], live, kept)


def pausing(paused: bool | None, live: Object | None, kept: Object) -> Iterator[tuple[Path, Any]]:
    """Pause, or end a pause. One that somebody else set is answered, so that the API can say whose it is."""
    there = at(live or {}, PAUSED)
    if paused:
        yield PAUSED, there if str(there).lower() == "true" else "true"
    elif paused is False and there is not None and str(there).lower() != "false":
        yield PAUSED, "false" if at(kept, PAUSED) is None else None


def _describe(body: Object, options: Options, creating: bool) -> None:
    metadata = body.setdefault("metadata", {})
    metadata.update(name=options["name"], namespace=options["namespace"])
    ours = labels(options["name"]) if creating or at(metadata, ("labels",)) else {}
    describe(metadata, "labels", options["labels"], ours)
    images = {PROVIDER_IMAGE: "provider_image", CONTROL_PLANE_OPERATOR_IMAGE: "control_plane_operator_image"}
    ours = {note: options[option] or at(metadata, ("annotations", note)) for note, option in images.items()}
    describe(metadata, "annotations", options["annotations"], ours)


def describe(metadata: dict[str, Any], field: str, given: Mapping[str, Any] | None, own: Mapping[str, Any]) -> None:
    """Labels or annotations: those given in place of those given before, and our own."""
    before = metadata.get(field) or {}
    wished = before if given is None else {key: str(value) for key, value in given.items() if value is not None}
    metadata[field] = {**wished, **{key: value for key, value in own.items() if value}}


# -- what must be known before ---------------------------------------------------------------------------------------

# Option, or one of several, → what it is needed for.
NEEDED: Sequence[tuple[tuple[str, ...], str]] = (
    (("release",), "the release image"),
    (("base_domain",), "the domain under which the cluster will be"),
    (("pull_secret", "pull_secret_name"), "the logins for the registry"),
    (("services_address", "services"), "where the services of the control plane are reached"),
)


def refuse_incomplete(options: Options, label: str) -> None:
    """Raise the failure for a cluster that cannot be created, because the task does not say enough."""
    lacking = [f"{' or '.join(some)} ({what})" for some, what in NEEDED if not any(options[each] for each in some)]
    if lacking:
        raise invalid(f"{label} does not exist, and to create it the task lacks {', '.join(lacking)}.")


def refuse_contradictions(options: Options, live: Object | None) -> None:
    """Raise the failure for options that cannot hold together."""
    platform = platform_of(options, live)
    given = [option for option in FOR_MAAS if options[option] is not None]
    if platform != "MAAS" and given:
        raise invalid(f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} for platform maas, not {platform}.")
    if options["etcd_encryption"] is False and options["etcd_encryption_secret"]:
        raise invalid("etcd_encryption: false contradicts etcd_encryption_secret.")
    if platform == "None" and options["wait"] and options["wait_for"] in ("nodes", "complete"):
        raise invalid(
            f"wait_for: {options['wait_for']} is not possible on platform none: nobody makes nodes there.",
            "Wait for the control_plane, and bring the nodes yourself.",
        )


def refuse_late_encryption(options: Options, live: Object, wanted: Object, label: str) -> None:
    """Raise the failure for a wish about encryption that comes after the cluster. `wanted` is what would be applied."""
    there = at(live, ENCRYPTED)
    if there:
        if options["etcd_encryption"] is False:
            raise _late(label, f"it is encrypted ({there}), and etcd_encryption: false is asked for")
        return
    if options["etcd_encryption"]:
        asked = "etcd_encryption: true"
    elif options["etcd_encryption_secret"]:
        asked = f"etcd_encryption_secret: {options['etcd_encryption_secret']}"
    else:
        asked = "spec_overrides with secretEncryption" if at(wanted, ENCRYPTED[:-1]) else ""
    if asked:
        raise _late(label, f"it is not encrypted, and {asked} is asked for")


def _late(label: str, what: str) -> Failure:
    return Failure(
        "conflict",
        f"{label} was left as it is: what etcd holds cannot be encrypted otherwise than it is: {what}.",
        object=label,
        reason="immutable",
        hint="Leave what is said about encryption out, or make another cluster.",
    )
