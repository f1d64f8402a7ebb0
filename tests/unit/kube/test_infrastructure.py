# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control-plane operator writes into a hosted cluster's Infrastructure, as its ConfigMap has it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.diagnosis.infrastructure import (
    MANIFEST,
    platform_of,
)

STOCK = """\
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata:
  name: cluster
spec:
  cloudConfig:
    name: ""
  platformSpec:
    type: MAAS
status:
  platform: MAAS
  platformStatus:
    type: MAAS
"""


@pytest.mark.parametrize(
    ("data", "platform"),
    [
        ({MANIFEST: STOCK}, "MAAS"),
        ({MANIFEST: STOCK.replace("MAAS", "None")}, "None"),
        ({MANIFEST: STOCK.replace("type: MAAS", "type: None")}, "MAAS"),
        ({MANIFEST: "- no: object"}, ""),
        ({MANIFEST: "a: {"}, ""),
        ({MANIFEST: ""}, ""),
        ({"another.yaml": STOCK}, ""),
        (None, ""),
    ],
)
def test_a_platform_that_openshift_refuses_is_seen_before_there_is_a_node(
    data: dict[str, Any] | None, platform: str
) -> None:
    assert platform_of(None if data is None else {"data": data}) == platform
