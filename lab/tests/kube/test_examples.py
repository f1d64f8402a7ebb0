# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import json

import pytest

from metalshift_lab.kube import examples
from metalshift_lab.kube.api import Object

RELEASE = "127.0.0.1:5000/ocp/release:4.20.8"
PLATFORMS: tuple[examples.Platform, ...] = ("MAAS", "None")


def secret_names(objects: list[Object]) -> set[str]:
    return {each["metadata"]["name"] for each in objects if each["kind"] == "Secret"}


def referred(spec: Object) -> set[str]:
    references = [spec["pullSecret"], spec["sshKey"], spec["secretEncryption"]["aescbc"]["activeKey"]]
    if "maas" in spec["platform"]:
        references.append(spec["platform"]["maas"]["identityRef"])
    return {reference["name"] for reference in references}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_cluster_comes_with_the_secrets_that_it_refers_to_and_no_others(platform: examples.Platform) -> None:
    *before, cluster = examples.hosted_cluster("demo", RELEASE, platform)
    assert referred(cluster["spec"]) == secret_names(before)


def test_its_key_for_etcd_is_the_same_at_each_call_and_another_for_another_cluster() -> None:
    keys = [examples.secrets(name)[2]["data"]["key"] for name in ("demo", "demo", "other")]
    assert keys[0] == keys[1] != keys[2]
    assert len(base64.b64decode(keys[0])) == 32


def test_its_pull_secret_is_for_the_registry_of_its_release() -> None:
    pull_secret = examples.hosted_cluster("demo", RELEASE)[1]["data"][".dockerconfigjson"]
    assert list(json.loads(base64.b64decode(pull_secret))["auths"]) == ["127.0.0.1:5000"]


def test_the_version_of_the_provider_is_an_annotation_of_the_cluster() -> None:
    cluster = examples.hosted_cluster("demo", RELEASE, provider_image="provider:v4.9.5-spectro")[-1]
    assert cluster["metadata"]["annotations"] == {examples.PROVIDER_IMAGE: "provider:v4.9.5-spectro"}


def test_a_pool_uses_the_credentials_of_its_cluster() -> None:
    pool = examples.node_pool("workers", "demo", RELEASE)
    assert pool["spec"]["platform"]["maas"]["identityRef"] == {"name": examples.credentials("demo")}


def test_a_pool_without_machines_of_maas_says_nothing_of_them() -> None:
    assert examples.node_pool("workers", "demo", RELEASE, "None")["spec"]["platform"] == {"type": "None"}
