# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installed HyperShift can do is said from its kinds and its operator."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.capability import (
    FORK_DEFAULT,
    Provider,
    is_unknown,
    provider_of,
    refuse_platform,
    refuse_provider,
    refuse_unknown,
    what_is_wrong,
)
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure

UPSTREAM = ["AWS", "KubeVirt", "Agent", "None"]
IMAGE = "registry.example:5000/provider"


def crd(types: list[str], maas: Any = None, version: str = "v1beta1") -> dict[str, Any]:
    platform: dict[str, Any] = {"type": {"enum": types}}
    if maas is not None:
        platform["maas"] = {"properties": maas}
    spec = {
        "properties": {
            "platform": {"properties": platform},
            "labels": {"additionalProperties": {"type": "string"}},
            "list": {"items": {"properties": {"name": {"type": "string"}}}},
            "free": {"x-kubernetes-preserve-unknown-fields": True},
        }
    }
    schema = {"openAPIV3Schema": {"properties": {"spec": spec}}}
    return {"spec": {"versions": [{"name": version, "served": True, "schema": schema}]}}


FORK = crd([*UPSTREAM, "MAAS"], {"identityRef": {}, "zone": {}})


@pytest.mark.parametrize(
    ("platform", "found", "says"),
    [
        ("MAAS", None, "does not know HostedCluster of hypershift.openshift.io/v1beta1"),
        ("MAAS", crd(UPSTREAM, version="v1alpha1"), "does not know HostedCluster"),
        ("MAAS", crd(UPSTREAM), "has no platform MAAS: its HostedClusters are of AWS, KubeVirt, Agent, None."),
        ("MAAS", crd([*UPSTREAM, "MAAS"]), "of spec.platform.maas it knows nothing, not identityRef"),
        ("MAAS", crd([*UPSTREAM, "MAAS"], {"maasConfig": {}}), "it knows maasConfig, not identityRef"),
        ("None", crd(["MAAS"]), "has no platform None"),
    ],
)
def test_a_platform_that_cannot_be_had_is_refused(platform: str, found: Any, says: str) -> None:
    with pytest.raises(Failure) as caught:
        refuse_platform(platform, found)
    assert caught.value.kind == "unsupported"
    assert says in str(caught.value)


def test_a_platform_that_can_be_had_is_not() -> None:
    refuse_platform("MAAS", FORK)
    refuse_platform("None", crd(UPSTREAM))


def test_fields_that_would_be_dropped_are_named() -> None:
    spec = {
        "platform": {"type": "MAAS", "maas": {"zome": "az1", "zone": "az1"}},
        "labels": {"any": "thing"},
        "list": [{"name": "x"}, {"nmae": "y"}],
        "free": {"what": "ever"},
        "extra": 1,
    }
    with pytest.raises(Failure) as caught:
        refuse_unknown(FORK, {"spec": spec}, {"misspelt": None}, "X")
    assert set(caught.value.fields) == {"spec.platform.maas.zome", "spec.list.nmae", "spec.extra", "spec.misspelt"}


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("v4.9.5-spectro", ""),
        ("v4.9.4-spectro", ""),
        ("v4.9.3-spectro", "too old"),
        ("v4.8.5-spectro", ""),
        ("v4.8.11-spectro", ""),
        ("v4.8.4-spectro", "too old"),
        ("v4.7.18-spectro", "too old"),
        ("v4.10.0-spectro", ""),
        ("v0.6.1-spectro-4.7.0", "too old"),
        ("v0.6.1-spectro-4.9.5", ""),
        ("v0.9.0", "stand-alone"),
        ("v0.6.1", "stand-alone"),
        ("latest", ""),
    ],
)
def test_versions_of_the_provider_are_judged_by_their_tag(tag: str, words: str) -> None:
    said = what_is_wrong(Provider(f"{IMAGE}:{tag}", "test"))
    assert words in said
    assert bool(said) is bool(words)


@pytest.mark.parametrize(
    ("image", "unknown"),
    [(f"{IMAGE}:v4.9.5-spectro", False), (f"{IMAGE}:latest", True), (IMAGE, True), (f"{IMAGE}@sha256:1234", True)],
)
def test_what_cannot_be_judged_is_known_to_be_unknown(image: str, unknown: bool) -> None:
    assert is_unknown(Provider(image, "test")) is unknown


def operator(image: str = "") -> dict[str, Any]:
    variables = [{"name": "OTHER", "value": "x"}]
    if image:
        variables.append({"name": "IMAGE_MAAS_CAPI_PROVIDER", "value": image})
    return {"spec": {"template": {"spec": {"containers": [{"name": "operator", "env": variables}]}}}}


@pytest.mark.parametrize(
    ("told", "annotated", "image"),
    [("a:v1", "b:v2", "a:v1"), ("", "b:v2", "b:v2"), ("", None, FORK_DEFAULT)],
)
def test_the_operators_variable_beats_the_annotation(told: str, annotated: str | None, image: str) -> None:
    assert provider_of(operator(told), annotated).image == image


def test_an_image_that_would_not_be_used_is_refused() -> None:
    provider = provider_of(operator(f"{IMAGE}:v4.9.5-spectro"), "other:v4.9.5-spectro")
    with pytest.raises(Failure, match=r"image other:v4\.9\.5-spectro: the operator's variable"):
        refuse_provider(provider, "other:v4.9.5-spectro", "X")


def test_the_default_of_the_fork_is_refused() -> None:
    with pytest.raises(Failure, match=r"No node could join X: .*v0\.6\.1-spectro-4\.7\.0 .* is too old"):
        refuse_provider(provider_of(operator(), None), None, "X")
