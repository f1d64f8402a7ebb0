# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of the provider that can be stood in for, and what tells them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metalshift_lab.kube.provider.conditions import V1BETA1, V1BETA2, Contract


@dataclass(frozen=True)
class Behaviour:
    version: str
    #: HyperShift can start it: its conditions fit the kinds that HyperShift brings.
    hosted: bool = True
    #: Of Cluster API, which decides the shape of conditions.
    contract: Contract = V1BETA1
    #: InternalDNS and InternalIP beside ExternalDNS and ExternalIP: what HyperShift approves certificates by.
    internal_addresses: bool = True
    #: The annotation spectrocloud.com/custom-dns-provided keeps it away from MAAS's DNS.
    custom_dns: bool = True
    #: The name in DNS is written only when its addresses change, and not when all machines are off at once.
    careful_dns: bool = True
    #: Addresses of the ConfigMap maas-preferred-subnet go first into DNS.
    preferred_subnets: bool = True
    #: --namespace confines it; otherwise the namespace is only named in the log.
    confined: bool = True
    #: An image OS/SERIES is deployed as that system; otherwise all images are "custom".
    splits_images: bool = True
    #: Each deployment says whether it is ephemeral.
    says_ephemeral: bool = False
    #: Machines may be VMs that MAAS composes; maintenance tags are removed from machines.
    lxd: bool = True
    #: Two subnets of a VM become its interfaces.
    vm_interfaces: bool = True
    #: Credentials to delete a VM with, when the Secret is missing: names of environment variables.
    vm_credentials: tuple[tuple[str, str], ...] = (("MAAS_API_URL", "MAAS_API_TOKEN"),)


BEHAVIOURS = (
    Behaviour("v4.9.5-spectro"),
    Behaviour(
        "v0.6.1-spectro-4.7.0",
        internal_addresses=False,
        careful_dns=False,
        splits_images=False,
        lxd=False,
        vm_interfaces=False,
    ),
    Behaviour(
        "v0.9.0",
        hosted=False,
        contract=V1BETA2,
        custom_dns=False,
        careful_dns=False,
        preferred_subnets=False,
        confined=False,
        says_ephemeral=True,
        vm_interfaces=False,
        vm_credentials=(("MAAS_ENDPOINT", "MAAS_API_KEY"), ("MAAS_API_URL", "MAAS_API_TOKEN")),
    ),
)


HOSTED = tuple(behaviour.version for behaviour in BEHAVIOURS if behaviour.hosted)


def tag_of(image: str) -> str:
    """The tag of an image's name, empty if it has none."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def chosen(environment: Mapping[str, str]) -> Behaviour:
    """LAB_PROVIDER, or the tag of LAB_IMAGE; LookupError in one sentence if that is none of ours."""
    image = environment.get("LAB_IMAGE", "")
    asked = environment.get("LAB_PROVIDER") or tag_of(image)
    for behaviour in BEHAVIOURS:
        if behaviour.version == asked:
            return behaviour
    known = ", ".join(behaviour.version for behaviour in BEHAVIOURS)
    what = f"the provider {asked}" if asked else f"a provider without a version (LAB_IMAGE is {image!r})"
    raise LookupError(f"The lab cannot stand in for {what}; it knows {known}.")
