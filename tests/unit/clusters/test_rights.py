# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that each journey needs, and the page that lists them."""

from __future__ import annotations

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.rights import (
    JOURNEYS,
    RIGHTS,
    in_words,
    questions,
)


def test_every_row_is_for_a_journey() -> None:
    assert {journey for right in RIGHTS for journey in right.journeys.split()} == set(JOURNEYS)


@pytest.mark.parametrize(
    ("journey", "on_maas", "has", "lacks"),
    [
        ("create", True, "create nodepools.hypershift.openshift.io in clusters", "delete hostedclusters"),
        ("create", False, "list deployments.apps in clusters-a-b", "maasmachines"),
        ("scale", True, "patch nodepools.hypershift.openshift.io in clusters", "create nodepools"),
        ("destroy", False, "list maasmachines.infrastructure.cluster.x-k8s.io in clusters-a-b", "delete namespaces"),
        ("destroy", True, "watch maasclusters.infrastructure.cluster.x-k8s.io in clusters-a-b", "delete namespaces"),
        ("diagnose", True, "list pods in hypershift", "patch"),
        ("preflight", True, "list nodes", "patch"),
    ],
)
def test_what_a_journey_asks_for(journey: str, on_maas: bool, has: str, lacks: str) -> None:
    asked = [in_words(one) for one in questions("clusters", "a.b", journey, on_maas=on_maas)]
    assert has in asked
    assert not [one for one in asked if lacks in one]
