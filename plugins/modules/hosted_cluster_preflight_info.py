#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that would fail later."""

from __future__ import annotations

DOCUMENTATION = r"""
module: hosted_cluster_preflight_info
short_description: Find what would keep a hosted cluster from coming up
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Looks at MAAS, at the management cluster and at the registry of the release before anything is written, and tells
    what would fail later, each with what to do.
  - Machines are counted for all node pools at once, together with what the node pools of other hosted clusters still
    ask for, so that two clusters that are created at the same time do not take each other's.
  - The options mean what they mean in M(metalshift.maas.hosted_cluster) and M(metalshift.maas.node_pool). What is not
    given is not checked.
  - A failed check fails the task, unless O(fail=false). The whole table is in the result either way.
extends_documentation_fragment:
  - metalshift.maas.attributes.info
  - metalshift.maas.attributes.actiongroup_k8s
  - metalshift.maas.maas
  - metalshift.maas.kubernetes
options:
  namespace:
    description: The namespace of the HostedCluster.
    type: str
    default: clusters
  name:
    description: The name of the hosted cluster. It need not exist.
    type: str
    required: true
  platform:
    description: The platform of the hosted cluster. With V(none) nothing about machines is checked.
    type: str
    choices: [maas, none]
    default: maas
  release:
    description: The release image of the control plane.
    type: str
  allow_downgrade:
    description: Whether O(release) may be older than what an installed cluster has. The check C(upgrade) warns then.
    type: bool
    default: false
  pull_secret:
    description: The pull secret, as JSON, with which the registry of O(release) is asked.
    type: raw
  release_ca_cert:
    description:
      - A file with the authorities to trust when the registry of O(release) is asked.
      - If not set, those that the Python library C(certifi) trusts, or E(REQUESTS_CA_BUNDLE).
    type: path
  base_domain:
    description: The domain below which the names of the hosted cluster are.
    type: str
  base_domain_prefix:
    description: What stands before O(base_domain) in these names. If not set, the name of the hosted cluster.
    type: str
  dns_in_maas:
    description: Whether the names of the hosted cluster are to be kept in the DNS of MAAS.
    type: bool
    default: false
  provider_image:
    description: The image of the Cluster API provider for MAAS, if not the operator's own choice.
    type: str
  control_plane_operator_image:
    description: The image of HyperShift's control-plane operator, if not that of the release.
    type: str
  provider_maas_endpoint:
    description: The URL of MAAS for the provider, if another one than O(maas_endpoint).
    type: str
  provider_maas_api_key:
    description:
      - The API key of the provider, which must be an administrator's. If not set, O(maas_api_key).
    type: str
  credentials_secret:
    description: The Secret in the same namespace that has the provider's key, in place of O(provider_maas_api_key).
    type: str
  allow_plain_maas_user:
    description: Whether the provider's key may be that of a user who is not an administrator of MAAS.
    type: bool
    default: false
  etcd_storage_class:
    description: The storage class for etcd. If not set, the default one of the management cluster.
    type: str
  image_content_sources:
    description: Mirrors of images, as in the HostedCluster. With platform V(maas) they keep node pools from starting.
    type: list
    elements: dict
  services_address:
    description: The address at which services of the control plane are published by node ports.
    type: str
  services:
    description: How the services of the control plane are published.
    type: list
    elements: dict
    suboptions:
      service:
        description: The service.
        type: str
        required: true
        choices: [APIServer, Ignition, Konnectivity, OAuthServer, OIDC]
      type:
        description: How it is published.
        type: str
        choices: [NodePort, LoadBalancer, Route, None, S3]
        default: NodePort
      address:
        description: The address of a V(NodePort). If not set, O(services_address).
        type: str
      port:
        description: The port of a V(NodePort). If not set, one is chosen.
        type: int
      hostname:
        description: The name of a V(Route) or V(LoadBalancer). It is not looked at.
        type: str
  node_pools:
    description: The node pools that the hosted cluster is to have.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: The name of the node pool.
        type: str
        required: true
      replicas:
        description: How many nodes it is to have.
        type: int
      autoscaling:
        description: The fewest and the most nodes. The fewest are asked for.
        type: dict
        suboptions:
          min:
            description: The fewest nodes.
            type: int
            required: true
          max:
            description: The most nodes.
            type: int
            required: true
      image:
        description: The image in MAAS.
        type: str
      zone:
        description: The zone of its machines.
        type: str
      resource_pool:
        description: The resource pool of its machines.
        type: str
      tags:
        description: The tags that its machines have, all of them.
        type: list
        elements: str
      min_cpu:
        description: The fewest cores.
        type: int
      min_memory:
        description: The least memory, such as V(16GiB), or a number of MiB.
        type: raw
      arch:
        description: The architecture.
        type: str
        default: amd64
      upgrade_type:
        description: How it is upgraded.
        type: str
        choices: [Replace, InPlace]
        default: Replace
      max_surge:
        description: How many machines more an upgrade may take. The operator's default is one.
        type: raw
  operator_namespace:
    description: The namespace of HyperShift's operator.
    type: str
    default: hypershift
  checks:
    description:
      - The checks to make, if not all.
      - V(machines) alone is what decides between two hosted clusters that are created at once.
    type: list
    elements: str
    choices:
      - DNS
      - address of services
      - architecture
      - control plane operator
      - disk /dev/sda
      - image
      - key of the provider
      - machines
      - names in MAAS
      - names of the cluster
      - namespace
      - node ports
      - operator
      - operator and release
      - platform
      - provider
      - pull secret
      - release
      - rights in Kubernetes
      - rights in MAAS
      - services
      - storage class
      - the fork
      - upgrade
  fail:
    description: Whether the task fails when a check did.
    type: bool
    default: true
seealso:
  - module: metalshift.maas.hosted_cluster
  - module: metalshift.maas.node_pool
"""

EXAMPLES = r"""
- name: What would fail
  metalshift.maas.hosted_cluster_preflight_info:
    name: demo
    release: quay.io/openshift-release-dev/ocp-release:4.20.8-x86_64
    base_domain: example.com
    services_address: 10.0.0.10
    node_pools:
      - name: workers
        replicas: 3
        image: custom/rhcos-4.20
        tags: [worker]
        min_cpu: 4
        min_memory: 16GiB
    fail: false
  register: preflight

- name: Show the table
  ansible.builtin.debug:
    msg: "{{ preflight.preflight.table }}"

- name: Only whether there are machines enough
  metalshift.maas.hosted_cluster_preflight_info:
    name: demo
    node_pools:
      - name: workers
        replicas: 4
        tags: [worker]
    checks: [machines, names in MAAS]
    fail: false
"""

RETURN = r"""
preflight:
  description: What was found.
  returned: always
  type: dict
  contains:
    checks:
      description: The checks.
      type: list
      elements: dict
      contains:
        name:
          description: What was checked.
          type: str
          sample: machines for workers
        status:
          description:
            - V(ok), V(warning) or V(failed); V(unknown) if it could not be checked.
          type: str
          sample: failed
        found:
          description: What was found, or why it could not be checked.
          type: str
          sample: "3 machines asked for (zone az1), 1 available: az1: 1 ready, 1 fits."
        advice:
          description: What to do.
          type: str
          sample: Add machines to MAAS, release some, or ask for fewer.
    summary:
      description: How many checks ended how.
      type: dict
      sample: {"failed": 0, "ok": 14, "unknown": 0, "warning": 1}
    asks_for:
      description:
        - What the node pools ask for, for the annotation C(metalshift.maas/asks-for) of the HostedCluster.
          Until a node pool exists, others who look for machines count what it asks for, if this HostedCluster is older
          than theirs.
      type: str
    table:
      description: The same for people, a line a check, the worst first.
      type: list
      elements: str
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight import preflight
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.checks import (
    Check,
    ClusterSpec,
    PoolSpec,
    table,
)
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.preflight.pure.capacity import announcement
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure import sizes

SERVICE_OPTIONS: dict[str, dict[str, Any]] = {
    "service": {
        "type": "str",
        "required": True,
        "choices": ["APIServer", "Ignition", "Konnectivity", "OAuthServer", "OIDC"],
    },
    "type": {"type": "str", "choices": ["NodePort", "LoadBalancer", "Route", "None", "S3"], "default": "NodePort"},
    "address": {"type": "str"},
    "port": {"type": "int"},
    "hostname": {"type": "str"},
}
POOL_OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "replicas": {"type": "int"},
    "autoscaling": {
        "type": "dict",
        "options": {"min": {"type": "int", "required": True}, "max": {"type": "int", "required": True}},
    },
    "image": {"type": "str"},
    "zone": {"type": "str"},
    "resource_pool": {"type": "str"},
    "tags": {"type": "list", "elements": "str"},
    "min_cpu": {"type": "int"},
    "min_memory": {"type": "raw"},
    "arch": {"type": "str", "default": "amd64"},
    "upgrade_type": {"type": "str", "choices": ["Replace", "InPlace"], "default": "Replace"},
    "max_surge": {"type": "raw"},
}

SPEC = Spec(
    writes=False,
    kube=True,
    options={
        "namespace": {"type": "str", "default": "clusters"},
        "name": {"type": "str", "required": True},
        "platform": {"type": "str", "choices": ["maas", "none"], "default": "maas"},
        "release": {"type": "str"},
        "allow_downgrade": {"type": "bool", "default": False},
        "pull_secret": {"type": "raw", "no_log": True},
        "release_ca_cert": {"type": "path"},
        "base_domain": {"type": "str"},
        "base_domain_prefix": {"type": "str"},
        "dns_in_maas": {"type": "bool", "default": False},
        "provider_image": {"type": "str"},
        "control_plane_operator_image": {"type": "str"},
        "provider_maas_endpoint": {"type": "str"},
        "provider_maas_api_key": {"type": "str", "no_log": True},
        "credentials_secret": {"type": "str", "no_log": False},
        "allow_plain_maas_user": {"type": "bool", "default": False},
        "etcd_storage_class": {"type": "str"},
        "image_content_sources": {"type": "list", "elements": "dict"},
        "services_address": {"type": "str"},
        "services": {"type": "list", "elements": "dict", "options": SERVICE_OPTIONS},
        "node_pools": {
            "type": "list",
            "elements": "dict",
            "default": [],
            "options": POOL_OPTIONS,
            "mutually_exclusive": [("replicas", "autoscaling")],
            "required_one_of": [("replicas", "autoscaling")],
        },
        "operator_namespace": {"type": "str", "default": "hypershift"},
        "checks": {"type": "list", "elements": "str", "choices": sorted(preflight.NAMES)},
        "fail": {"type": "bool", "default": True},
    },
)


def converge(task: Task) -> Result:
    """Look at everything, and tell what would fail."""
    wish = _wish(task.params)
    found = preflight.examine(task, wish, task.params["checks"] or ())
    said = {
        "checks": [check.to_dict() for check in found],
        "summary": {status: sum(check.status == status for check in found) for status in STATUSES},
        "table": table(found),
        "asks_for": announcement([(pool.name, pool.replicas, pool.maas) for pool in wish.pools]) if wish.pools else "",
    }
    failed = [check for check in found if check.status == "failed"]
    failure = _failure(task.params, failed) if failed and task.params["fail"] else None
    return Result(changed=False, values={"preflight": said}, failure=failure)


STATUSES = ("failed", "ok", "unknown", "warning")


def _failure(params: Mapping[str, Any], failed: Sequence[Check]) -> Failure:
    names = f"{params['namespace']}/{params['name']}"
    short = all(check.name.startswith("machines") for check in failed)
    return Failure(
        "capacity" if short else "conflict",
        f"Hosted cluster {names} is not ready for this: "
        + "; ".join(f"{check.name}: {check.found.rstrip('.')}" for check in failed)
        + ".",
        object=names,
        reason=", ".join(check.name for check in failed),
        hint=" ".join(dict.fromkeys(check.advice for check in failed if check.advice)),
    )


def _wish(params: Mapping[str, Any]) -> ClusterSpec:
    return ClusterSpec(
        namespace=params["namespace"],
        name=params["name"],
        platform=params["platform"],
        release=params["release"] or "",
        allow_downgrade=params["allow_downgrade"],
        base_domain=params["base_domain"] or "",
        base_domain_prefix=params["base_domain_prefix"] or "",
        pull_secret=_text_of(params["pull_secret"]),
        provider_image=params["provider_image"] or "",
        control_plane_operator_image=params["control_plane_operator_image"] or "",
        own_provider_key=bool(params["provider_maas_api_key"] or params["credentials_secret"]),
        allow_plain_maas_user=params["allow_plain_maas_user"],
        storage_class=params["etcd_storage_class"] or "",
        image_content_sources=bool(params["image_content_sources"]),
        dns_in_maas=params["dns_in_maas"],
        pools=[_pool(pool) for pool in params["node_pools"]],
        services=preflight.services_of(params["services"], params["services_address"]),
    )


def _text_of(secret: Any) -> str | None:
    """YAML makes a dictionary of what was meant as JSON."""
    return json.dumps(secret) if isinstance(secret, Mapping) else secret


def _pool(options: Mapping[str, Any]) -> PoolSpec:
    memory = options["min_memory"]
    maas = {
        "zone": options["zone"],
        "resourcePool": options["resource_pool"],
        "tags": options["tags"],
        "minCpu": options["min_cpu"],
        "minMemory": None if memory is None else sizes.mebibytes(sizes.parse(memory, "min_memory", "MiB")),
    }
    return PoolSpec(
        name=options["name"],
        replicas=_replicas(options),
        image=options["image"] or "",
        arch=options["arch"],
        upgrade_type=options["upgrade_type"],
        max_surge=_surge(options),
        maas={key: value for key, value in maas.items() if value},
    )


def _replicas(options: Mapping[str, Any]) -> int:
    return int(options["replicas"] if options["autoscaling"] is None else options["autoscaling"]["min"])


def _surge(options: Mapping[str, Any]) -> int | None:
    """A number, or a share of the replicas, rounded up as the API does."""
    value = options["max_surge"]
    if value is None:
        return None
    text = str(value).strip()
    if text.endswith("%") and text[:-1].isdigit():
        return -(-_replicas(options) * int(text[:-1]) // 100)
    if not text.isdigit():
        raise Failure("invalid", f"max_surge cannot be {value!r}.", hint="Write a number, or a share such as 25%.")
    return int(text)


def main() -> None:
    run_as_module(SPEC, converge, "hosted_cluster_preflight_info")


if __name__ == "__main__":
    main()
