# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import gzip
import io
import json
import tarfile
from typing import Any

import pytest

from metalshift_lab.kube import releases
from metalshift_lab.kube.releases import BOOT_IMAGES, REFERENCES, RELEASES, Image

HOST = "127.0.0.1:5443"


def files(image: Image) -> dict[str, Any]:
    """The files of an image, which here are all JSON."""
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(image.layer))) as archive:
        members = [(member.name, archive.extractfile(member)) for member in archive]
        return {name: json.load(content) for name, content in members if content is not None}


def labels(image: Image) -> dict[str, str]:
    return dict(json.loads(image.config)["config"]["Labels"])


def test_a_release_lists_images_that_it_brings() -> None:
    images = releases.release(HOST, "4.20.8")
    tags = files(images[RELEASES, "4.20.8"])[REFERENCES]["spec"]["tags"]
    listed = {tag["from"]["name"] for tag in tags}
    brought = {f"{HOST}/{repository}@{image.digest}" for (repository, _tag), image in images.items()}
    assert {"hypershift", "cluster-capi-controllers", "haproxy-router"} <= {tag["name"] for tag in tags}
    assert listed <= brought


def test_a_release_says_its_version_everywhere() -> None:
    image = releases.release(HOST, "4.20.10")[RELEASES, "4.20.10"]
    content = files(image)
    assert content[REFERENCES]["metadata"]["name"] == "4.20.10"
    assert content[BOOT_IMAGES]["data"]["releaseVersion"] == "4.20.10"
    assert labels(image)["io.openshift.release"] == "4.20.10"


@pytest.mark.parametrize(("version", "kubernetes"), [("4.19.3", "1.32.5"), ("4.20.8", "1.33.5"), ("4.25.0", "1.38.5")])
def test_a_release_has_the_kubernetes_of_its_generation(version: str, kubernetes: str) -> None:
    tags = files(releases.release(HOST, version)[RELEASES, version])[REFERENCES]["spec"]["tags"]
    assert {tag["annotations"]["io.openshift.build.versions"] for tag in tags} == {f"kubernetes={kubernetes}"}


def test_an_operator_says_what_it_can_do() -> None:
    hypershift = releases.release(HOST, "4.20.8")["ocp/hypershift", "4.20.8"]
    assert "io.openshift.hypershift.control-plane-operator-subcommands" in labels(hypershift)
    assert set(releases.OPERATOR_LABELS) <= set(labels(releases.operator("v1")))


def test_a_manifest_describes_what_is_there() -> None:
    image = releases.release(HOST, "4.20.8")[RELEASES, "4.20.8"]
    manifest = json.loads(image.manifest)
    described = [manifest["config"], *manifest["layers"]]
    assert [(each["digest"], each["size"]) for each in described] == [
        (releases.digest(blob), len(blob)) for blob in image.blobs
    ]


def test_the_same_release_is_the_same_image() -> None:
    assert releases.release(HOST, "4.20.8") == releases.release(HOST, "4.20.8")


@pytest.mark.parametrize("version", ["", "latest", "5.0.1", "4.20"])
def test_a_version_that_is_none_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"called like 4\.20\.8"):
        releases.release(HOST, version)
