# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the role hosted_openshift: all that it reads is documented, and what the modules can it can, too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.dns_names import NAMES_OPTION
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.deletion.teardown import (
    CREDENTIALS_OPTION,
    REMOVAL_OPTIONS,
)
from ansible_collections.metalshift.maas.plugins.modules import hosted_cluster, node_pool

COLLECTION = Path(__file__).parents[2]
ROLE = COLLECTION / "roles/hosted_openshift"
PREFIX = "hosted_openshift_"
# What the role decides itself, and what only a removal takes.
NOT_OF_CLUSTERS = {"wait", "state", *REMOVAL_OPTIONS, *CREDENTIALS_OPTION, *NAMES_OPTION}
NOT_OF_POOLS = {"wait_for", "wait_timeout", "wait_sleep", "approve_csrs", "state", *REMOVAL_OPTIONS}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def options(path: Path, entry: str = "main") -> dict[str, Any]:
    found: dict[str, Any] = read(path)["argument_specs"][entry]["options"]
    return found


OPTIONS = options(ROLE / "meta/argument_specs.yml")
NAMES = {name.removeprefix(PREFIX) for name in OPTIONS}
OF_SCALING = {name.removeprefix(PREFIX) for name in options(ROLE / "meta/argument_specs.yml", "scale")}


def passed(file: str, module: str) -> list[dict[str, Any]]:
    """The options that tasks of the role give to a module."""
    tasks = read(ROLE / "tasks" / file)
    return [task[f"metalshift.maas.{module}"] for task in tasks if f"metalshift.maas.{module}" in task]


def test_every_variable_that_is_read_is_documented() -> None:
    texts = [path.read_text() for part in ("tasks", "vars", "defaults") for path in (ROLE / part).glob("*.yml")]
    read_names = {name for text in texts for name in re.findall(rf"\b{PREFIX}(?!_)(\w+)", text)}
    assert read_names == NAMES | OF_SCALING


def test_the_role_can_make_what_the_modules_can() -> None:
    (cluster,) = passed("control_plane.yml", "hosted_cluster")
    assert set(hosted_cluster.SPEC.options) - set(cluster) == NOT_OF_CLUSTERS
    (pool,) = passed("node_pools.yml", "node_pool")
    assert set(node_pool.SPEC.options) - set(pool) == NOT_OF_POOLS


def test_the_role_can_remove_what_the_module_can() -> None:
    (cluster,) = passed("absent.yml", "hosted_cluster")
    taken = {*REMOVAL_OPTIONS, *CREDENTIALS_OPTION}
    assert taken | NAMES_OPTION.keys() <= set(cluster)
    playbook = options(COLLECTION / "playbooks/argument_specs/destroy_hosted_cluster.yml")
    assert {f"{PREFIX}{option}" for option in taken} <= set(playbook)


def test_every_option_of_a_pool_is_documented_and_handed_on() -> None:
    (pool,) = passed("node_pools.yml", "node_pool")
    handed_on = {name for value in pool.values() for name in re.findall(r"\bitem\.(\w+)", str(value))}
    assert handed_on == set(OPTIONS["hosted_openshift_node_pools"]["options"])


def test_every_task_on_a_cluster_that_is_there_names_the_same_credentials() -> None:
    """A task that named none would write into the Secret that another names."""
    for file in ("control_plane.yml", "claim.yml", "nodes.yml"):
        for given in passed(file, "hosted_cluster"):
            for option in ("provider_maas_endpoint", "provider_maas_api_key", "credentials_secret"):
                assert given[option] == f"{{{{ {PREFIX}{option} | default(omit) }}}}", file


@pytest.mark.parametrize("secret", ["pull_secret", "provider_maas_api_key"])
def test_secrets_are_not_shown(secret: str) -> None:
    assert OPTIONS[f"{PREFIX}{secret}"]["no_log"] is True
