# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which release is older than which, as far as anybody can tell."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure.releases import (
    is_older,
    running,
    version_of,
)

DIGEST = "quay.io/openshift-release-dev/ocp-release@sha256:1efb"


def cluster(image: str, *history: tuple[str, str], digest: str = "") -> dict[str, Any]:
    entries = [{"state": state, "version": version, "image": digest or f"x/{version}"} for state, version in history]
    return {"spec": {"release": {"image": image}}, "status": {"version": {"history": entries}}}


@pytest.mark.parametrize(
    ("image", "than", "older"),
    [
        ("quay.io/ocp-release:4.20.8-x86_64", "4.20.10", True),
        ("quay.io/ocp-release:4.20.10-x86_64", "4.20.10", False),
        ("quay.io/ocp-release:4.20.11", "4.20.10", False),
        ("quay.io/ocp-release:4.9.59", "4.20.0", True),
        ("quay.io/ocp-release:4.21.0-rc.2-x86_64", "4.21.0-rc.10", True),
        ("quay.io/ocp-release:4.21.0-ec.5", "4.21.0-rc.1", True),
        ("quay.io/ocp-release:4.21.0-rc.5", "4.21.0", True),
        ("quay.io/ocp-release:4.21.0", "4.21.0-rc.5", False),
        ("localhost:5000/ocp-release:4.20.8", "4.20.10", True),
        ("localhost:5000/ocp-release", "4.20.10", False),
        ("quay.io/ocp-release:latest", "4.20.10", False),
        ("quay.io/ocp-release:4.20.8", "", False),
        (DIGEST, "4.20.10", False),
    ],
)
def test_a_release_is_older_by_its_version(image: str, than: str, older: bool) -> None:
    assert is_older(image, than) is older


def test_what_a_digest_is_the_cluster_has_noted() -> None:
    history = [{"image": DIGEST, "version": "4.20.8"}]
    assert version_of(DIGEST, history) == "4.20.8"
    assert is_older(DIGEST, "4.20.10", history)


@pytest.mark.parametrize(
    ("body", "version"),
    [
        (None, ""),
        (cluster("x/r:4.20.10", ("Partial", "4.20.10")), ""),
        (cluster("x/r:4.20.8", ("Completed", "4.20.8")), "4.20.8"),
        (cluster("x/r:4.20.10", ("Completed", "4.20.8")), "4.20.10"),
        (cluster("x/r:4.20.10", ("Partial", "4.20.10"), ("Completed", "4.20.8")), "4.20.10"),
        (cluster(DIGEST, ("Completed", "4.20.8")), "4.20.8"),
    ],
)
def test_a_cluster_is_where_it_goes_once_it_is_installed(body: Any, version: str) -> None:
    assert running(body) == version
