# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal is lost while a cluster is waited for: the task ends with it, and undoes no removal that comes after."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    HOSTED_CLUSTERS,
    NODE_POOLS,
    ObjectKind,
)
from chaos.runs import playbook
from chaos.test_lost_runs import LONGEST, SIGNALS, assert_gone, children, mortal
from hosted.cases import CLUSTER, POOL
from hosted.test_modules_bare import Ground, ground, one_ground

__all__ = ["ground", "mortal", "one_ground"]


@pytest.mark.parametrize("end", SIGNALS, ids=lambda end: end.name)
@pytest.mark.parametrize(
    ("module", "args", "kind"),
    [("hosted_cluster", CLUSTER, HOSTED_CLUSTERS), ("node_pool", POOL, NODE_POOLS)],
    ids=["hosted_cluster", "node_pool"],
)
def test_a_task_whose_playbook_has_died_makes_nothing_again(
    ground: Ground, tmp_path: Path, module: str, args: Mapping[str, Any], kind: ObjectKind, end: signal.Signals
) -> None:
    if kind is NODE_POOLS:
        ground.done("hosted_cluster", CLUSTER)
    whole = {
        name: value.replace("{folder}", str(tmp_path)) if isinstance(value, str) else value
        for name, value in args.items()
    }
    reach = {"kubeconfig": ground.kubeconfig, "maas_endpoint": ground.sim.url, "maas_api_key": ground.sim.api_key}
    given = {**reach, **whole, "wait": True, "wait_timeout": 600, "wait_sleep": 0.1}
    process = playbook(tmp_path, {f"metalshift.maas.{module}": given})
    deadline = time.monotonic() + LONGEST * 6
    while not ground.kube.list(kind):
        assert time.monotonic() < deadline, process.communicate(timeout=1)[0]
        time.sleep(0.05)
    workers = children(process.pid)
    os.kill(process.pid, end)
    assert process.wait(LONGEST) == -end
    assert_gone(workers)
    [made] = ground.kube.list(kind)
    assert ground.kube.delete(kind, str(made["metadata"]["name"]), "clusters")
    assert ground.kube.list(kind) == []
