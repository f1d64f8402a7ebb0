# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role hosted_openshift makes of its variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.harness import made_of_role

pytestmark = pytest.mark.smoke
POOLS = [{"name": "a", "replicas": 2}, {"name": "b", "autoscaling": {"min": 3, "max": 9}}, {"name": "c"}]


def test_nodes_are_expected_where_somebody_makes_them(tmp_path: Path) -> None:
    given = [
        {"hosted_openshift_platform": platform, "hosted_openshift_node_pools": POOLS} for platform in ("maas", "none")
    ]
    made = made_of_role(tmp_path, "hosted_openshift", given, "{{ hosted_openshift__replicas }}")
    assert [int(replicas) for replicas in made] == [5, 0], "ansible-core before 2.19 makes text of a number"


@pytest.mark.parametrize(("allowed", "failed"), [(False, ["provider", "DNS"]), (True, ["DNS"])])
def test_a_provider_that_is_allowed_stops_nothing(tmp_path: Path, allowed: bool, failed: list[str]) -> None:
    checks = [
        {"name": name, "status": status} for name, status in (("provider", "failed"), ("DNS", "failed"), ("x", "ok"))
    ]
    given = {
        "hosted_openshift__preflight": {"preflight": {"checks": checks}},
        "hosted_openshift_allow_unfit_provider": allowed,
    }
    assert made_of_role(
        tmp_path, "hosted_openshift", [given], "{{ hosted_openshift__failed | map(attribute='name') }}"
    ) == [failed]
