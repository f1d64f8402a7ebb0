# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the role hosted_openshift: all that it reads is documented, and what the modules can it can, too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.metalshift.maas.plugins.modules import hosted_cluster, node_pool

COLLECTION = Path(__file__).parents[2]
ROLE = COLLECTION / "roles/hosted_openshift"
PREFIX = "hosted_openshift_"
# Of the playbook that scales, which has an argument spec of its own.
OF_SCALING = {"pool", "replicas", "erase"}
# What the role decides itself, and what is left to spec_overrides or to a task of one's own.
NOT_OF_CLUSTERS = {
    *("wait", "wait_sleep", "state", "force", "stall_timeout", "drain", "erase"),
    *("remove_credentials", "etcd_encryption", "etcd_encryption_secret", "pull_secret_name", "ssh_key_name"),
    *("trust_bundle_name", "channel", "base_domain_prefix", "network_type", "infrastructure_availability", "fips"),
    *("infra_id", "node_selector", "image_content_sources", "dns_domain", "zone", "paused", "labels"),
}
NOT_OF_POOLS = {
    *("wait_for", "wait_timeout", "wait_sleep", "approve_csrs", "state", "force", "stall_timeout", "drain"),
    *("erase", "platform", "paused", "labels", "annotations", "allow_ignored"),
    *("machine_type", "min_disk_size", "lxd", "static_ip"),
}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def options(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = read(path)["argument_specs"]["main"]["options"]
    return found


OPTIONS = options(ROLE / "meta/argument_specs.yml")
NAMES = {name.removeprefix(PREFIX) for name in OPTIONS}


def passed(file: str, module: str) -> list[dict[str, Any]]:
    """The options that tasks of the role give to a module."""
    tasks = read(ROLE / "tasks" / file)
    return [task[f"metalshift.maas.{module}"] for task in tasks if f"metalshift.maas.{module}" in task]


def test_every_variable_that_is_read_is_documented() -> None:
    texts = [path.read_text() for part in ("tasks", "vars", "defaults") for path in (ROLE / part).glob("*.yml")]
    read_names = {name for text in texts for name in re.findall(rf"\b{PREFIX}(?!_)(\w+)", text)}
    assert read_names - OF_SCALING == NAMES


def test_the_role_can_make_what_the_modules_can() -> None:
    (cluster,) = passed("control_plane.yml", "hosted_cluster")
    assert set(hosted_cluster.SPEC.options) - set(cluster) == NOT_OF_CLUSTERS
    (pool,) = passed("node_pools.yml", "node_pool")
    assert set(node_pool.SPEC.options) - set(pool) == NOT_OF_POOLS


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


def test_the_playbook_takes_the_same_variables() -> None:
    playbook = options(COLLECTION / "playbooks/argument_specs/create_hosted_cluster.yml")
    assert {name for name in playbook if name.startswith(PREFIX)} == set(OPTIONS) - {f"{PREFIX}state", f"{PREFIX}force"}
    pools = f"{PREFIX}node_pools"
    assert playbook[pools] == OPTIONS[pools]
