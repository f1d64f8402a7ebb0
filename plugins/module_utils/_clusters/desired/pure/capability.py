# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the HyperShift that is installed can do, before anything is asked of it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import Path, at, dotted

VERSION = "v1beta1"
PROVIDER_VARIABLE = "IMAGE_MAAS_CAPI_PROVIDER"
FORK_DEFAULT = (
    "us-docker.pkg.dev/palette-images/palette/cluster-api-maas/cluster-api-provider-maas-controller"
    ":v0.6.1-spectro-4.7.0"
)

# Release line → the first version that publishes the addresses by which node certificates are approved.
FIRST_WITH_ADDRESSES: Mapping[tuple[int, int], tuple[int, int, int]] = {(4, 8): (4, 8, 5), (4, 9): (4, 9, 4)}
FIT = "v4.8.5-spectro, v4.9.4-spectro or newer"
# The same release is tagged v4.9.5-spectro and v0.6.1-spectro-4.9.5.
_SPECTRO = re.compile(r"v?(?:\d+\.\d+\.\d+-spectro-)?(4)\.(\d+)\.(\d+)(?:-spectro)?(?:$|[-.+])")
_PLAIN = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:$|[-+])")


# -- the kinds -------------------------------------------------------------------------------------------------------


def schema_of(crd: Object) -> Mapping[str, Any] | None:
    """The schema that objects of the version we write are held against; None when that version is not served."""
    for version in at(crd, ("spec", "versions")) or []:
        if version.get("name") == VERSION and version.get("served"):
            return at(version, ("schema", "openAPIV3Schema")) or {}
    return None


def refuse_platform(platform: str, crd: Object | None, noun: str = "HostedCluster") -> None:
    """Raise the failure that a cluster of this platform would end in on this management cluster."""
    schema = schema_of(crd) if crd else None
    if schema is None:
        raise Failure(
            "unsupported",
            f"The management cluster does not know {noun} of hypershift.openshift.io/{VERSION}.",
            object=noun,
            hint="Install HyperShift first, for instance with the role metalshift.maas.hypershift_operator.",
        )
    known = at(schema, ("properties", "spec", "properties", "platform", "properties")) or {}
    types = at(known, ("type", "enum")) or []
    if platform not in types:
        raise _no_such_platform(platform, noun, types)
    if platform == "MAAS" and at(known, ("maas", "properties", "identityRef")) is None:
        found = ", ".join(at(known, ("maas", "properties")) or {}) or "nothing"
        raise Failure(
            "unsupported",
            f"The HyperShift that is installed takes {noun}s of platform MAAS, but with another schema:"
            f" of spec.platform.maas it knows {found}, not identityRef.",
            object=noun,
            reason="another schema of platform MAAS",
            hint=f"Install a build whose {noun} has spec.platform.maas.identityRef, such as that of OpenShift 4.20.",
        )


def _no_such_platform(platform: str, noun: str, types: list[str]) -> Failure:
    return Failure(
        "unsupported",
        f"The HyperShift that is installed has no platform {platform}: its {noun}s are of {', '.join(types)}.",
        object=noun,
        reason=f"no platform {platform}",
        hint="Install the build of HyperShift that has it"
        + (", or use platform: none and bring the nodes yourself." if platform == "MAAS" else "."),
    )


def unknown_fields(crd: Object, body: Object) -> list[str]:
    """The fields of `body` that this management cluster would not keep."""
    schema = schema_of(crd) or {}
    spec = at(schema, ("properties", "spec")) or {}
    return [dotted(("spec", *path)) for path in _unknown(spec, body.get("spec") or {}, ())]


def _unknown(schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[Path]:
    if schema.get("x-kubernetes-preserve-unknown-fields"):
        return
    if isinstance(value, Mapping):
        known, others = schema.get("properties") or {}, schema.get("additionalProperties")
        for name, inner in value.items():
            if name in known:
                yield from _unknown(known[name], inner, (*path, name))
            elif isinstance(others, Mapping):
                yield from _unknown(others, inner, (*path, name))
            elif not others and (known or schema.get("type") == "object"):
                yield (*path, name)
    elif isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for item in value:
            yield from _unknown(schema["items"], item, path)


def refuse_unknown(crd: Object, body: Object, overrides: Mapping[str, Any] | None, label: str) -> None:
    """Raise the failure that names what this management cluster would not keep.

    Of the overrides also what is empty or null, and so not in the body: it may be misspelt.
    """
    fields = list(dict.fromkeys([*unknown_fields(crd, body), *unknown_fields(crd, {"spec": overrides})]))
    if fields:
        raise Failure(
            "unsupported",
            f"{label} cannot have {', '.join(fields)}: the HyperShift that is installed does not know"
            f" {'it' if len(fields) == 1 else 'them'}.",
            object=label,
            hint="Check the spelling, or the version of HyperShift.",
            fields={field: ["unknown"] for field in fields},
        )


# -- the provider for MAAS -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Provider:
    """The image of Cluster API's provider that a hosted cluster will run, and what decides it."""

    image: str
    source: str

    @property
    def tag(self) -> str:
        """The tag of the image; empty when it has none."""
        return self.image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def operator_image(operator: Object | None) -> str:
    """The provider's image that the operator was told; empty when it was told none."""
    for container in at(operator, ("spec", "template", "spec", "containers")) or []:
        for variable in container.get("env") or []:
            if variable.get("name") == PROVIDER_VARIABLE:
                return str(variable.get("value") or "")
    return ""


def provider_of(operator: Object | None, annotation: str | None) -> Provider:
    """The operator's variable beats the annotation, and that beats what the fork was built with."""
    told = operator_image(operator)
    if told:
        return Provider(told, f"the operator's variable {PROVIDER_VARIABLE}")
    if annotation:
        return Provider(annotation, "the option provider_image")
    return Provider(FORK_DEFAULT, "the default of the HyperShift that is installed")


def what_is_wrong(provider: Provider) -> str:
    """Why nodes could not join with this provider, as the end of a sentence; empty when nothing is known against it."""
    spectro = _SPECTRO.match(provider.tag)
    if spectro:
        version = (int(spectro[1]), int(spectro[2]), int(spectro[3]))
        line = version[:2]
        if line < min(FIRST_WITH_ADDRESSES) or version < FIRST_WITH_ADDRESSES.get(line, version):
            return "is too old: it does not publish the names by which the certificates of nodes are approved"
        return ""
    if _PLAIN.match(provider.tag):
        return (
            "is of the stand-alone line v0.x, which cannot work under HyperShift: it writes its own DNS records, and"
            " needs rights and certificates that it is not given there"
        )
    return ""


def refuse_provider(provider: Provider, asked: str | None, label: str) -> None:
    """Raise the failure that nodes would end in with this provider."""
    if asked and provider.image != asked:
        raise Failure(
            "conflict",
            f"{label} cannot have the provider image {asked}: {provider.source} says {provider.image}, which wins.",
            object=label,
            hint=f"Change {PROVIDER_VARIABLE} of Deployment operator, or leave provider_image out.",
        )
    wrong = what_is_wrong(provider)
    if wrong:
        raise Failure(
            "unsupported",
            f"No node could join {label}: the provider image {provider.image} ({provider.source}) {wrong}.",
            object=label,
            reason="provider image",
            hint=f"Name an image of {FIT} in provider_image. If you know better, set allow_unfit_provider: true.",
        )


def is_unknown(provider: Provider) -> bool:
    """Whether the image's name does not tell its version."""
    return not _SPECTRO.match(provider.tag) and not _PLAIN.match(provider.tag)
