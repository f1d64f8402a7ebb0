# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adding MAAS to HyperShift's kinds, on manifests that hold no more than the place where it goes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from metalshift_lab.programs import maas_properties
from metalshift_lab.programs.maas_properties import BLOCKS, UnexpectedManifest, add_maas

CRDS = Path(maas_properties.__file__).parent / "crds"
ARM64 = {"rule": "self.arch != 'arm64' || self.platform.type == 'None'", "message": "not everywhere"}

NONE_OF_OURS = (
    "does not define one of the kinds HostedCluster, HostedControlPlane, NodePool of hypershift.openshift.io."
)


def manifest(kind: str) -> dict[str, Any]:
    platform = {"type": "object", "properties": {"type": {"type": "string", "enum": ["Agent", "None"]}}}
    spec: dict[str, Any] = {"type": "object", "properties": {"platform": platform}}
    if kind == "NodePool":
        spec["x-kubernetes-validations"] = [ARM64]
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.hypershift.openshift.io"},
        "spec": {
            "group": "hypershift.openshift.io",
            "names": {"kind": kind},
            "versions": [{"name": "v1beta1", "schema": schema}],
        },
    }


def wish(crd: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return found


def platforms(crd: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = wish(crd)["properties"]["platform"]["properties"]
    return found


def of(kind: str) -> dict[str, Any]:
    crd: dict[str, Any] = yaml.safe_load((CRDS / f"infrastructure.cluster.x-k8s.io_{kind}.yaml").read_text())
    found: dict[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return found


@pytest.mark.parametrize("kind", BLOCKS)
def test_maas_comes_last_among_the_platforms_with_a_block_of_its_own(kind: str) -> None:
    added = platforms(add_maas(manifest(kind)))
    assert added["type"]["enum"] == ["Agent", "None", "MAAS"]
    assert added["maas"]["required"] == ["identityRef"]


@pytest.mark.parametrize("kind", BLOCKS)
def test_the_manifest_that_was_given_stays_as_it_was(kind: str) -> None:
    given = manifest(kind)
    add_maas(given)
    assert given == manifest(kind)


def test_every_version_gets_it() -> None:
    two = manifest("HostedCluster")
    two["spec"]["versions"].append(copy.deepcopy(two["spec"]["versions"][0]) | {"name": "v1"})
    schemas = [version["schema"]["openAPIV3Schema"] for version in add_maas(two)["spec"]["versions"]]
    assert all("maas" in schema["properties"]["spec"]["properties"]["platform"]["properties"] for schema in schemas)


def test_type_maas_alone_is_enough_because_the_block_is_not_required() -> None:
    assert "required" not in wish(add_maas(manifest("HostedCluster")))["properties"]["platform"]


REFUSED: dict[str, tuple[str, Callable[[dict[str, Any]], Any], str]] = {
    "another kind of object": (
        "HostedCluster",
        lambda crd: crd.update(kind="Deployment"),
        f"hostedclusters.hypershift.openshift.io {NONE_OF_OURS}",
    ),
    "another group": (
        "NodePool",
        lambda crd: crd["spec"].update(group="example.com"),
        f"nodepools.hypershift.openshift.io {NONE_OF_OURS}",
    ),
    "no versions": (
        "NodePool",
        lambda crd: crd["spec"].update(versions=[]),
        "nodepools.hypershift.openshift.io has no versions.",
    ),
    "no platform": (
        "NodePool",
        lambda crd: wish(crd)["properties"].clear(),
        "nodepools.hypershift.openshift.io, version v1beta1: the schema has no properties.platform.",
    ),
    "types without a list": (
        "NodePool",
        lambda crd: platforms(crd)["type"].pop("enum"),
        "nodepools.hypershift.openshift.io, version v1beta1: spec.platform.type does not list the platforms.",
    ),
    "MAAS twice": (
        "HostedCluster",
        lambda crd: platforms(crd)["type"]["enum"].append("MAAS"),
        "hostedclusters.hypershift.openshift.io, version v1beta1: spec.platform knows MAAS already.",
    ),
    "no rule for arm64": (
        "NodePool",
        lambda crd: wish(crd)["x-kubernetes-validations"].clear(),
        "nodepools.hypershift.openshift.io, version v1beta1: no rule says which platforms may have machines of arm64.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_manifest_of_another_shape_is_refused_in_one_sentence(case: str) -> None:
    kind, spoil, sentence = REFUSED[case]
    crd = manifest(kind)
    spoil(crd)
    with pytest.raises(UnexpectedManifest) as error:
        add_maas(crd)
    assert str(error.value) == sentence


def test_a_template_takes_what_a_machine_takes() -> None:
    template = of("maasmachinetemplates")["spec"]["properties"]["template"]["properties"]["spec"]
    machine = of("maasmachines")["spec"]
    assert template == machine


def test_a_cluster_and_a_machine_report_their_conditions_alike() -> None:
    cluster, machine = (of(kind)["status"]["properties"]["conditions"] for kind in ("maasclusters", "maasmachines"))
    assert cluster == machine
