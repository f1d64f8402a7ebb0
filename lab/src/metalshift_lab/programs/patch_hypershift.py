# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's additions to HyperShift: a platform MAAS, which is in no release of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from .errors import NoPrograms
from .insertion import Insertion, insert
from .maas_properties import UnexpectedManifest, add_maas
from .sources import HERE

TYPES = "api/hypershift/v1beta1"
CONTROLLERS = "hypershift/hypershift-operator/controllers"
PLATFORM = f"{CONTROLLERS}/hostedcluster/internal/platform"
NODE_POOL = f"{CONTROLLERS}/nodepool"
ASSETS = "hypershift/cmd/install/assets"
MANIFESTS = f"{ASSETS}/hypershift-operator/zz_generated.crd-manifests"
INFRASTRUCTURE = "hypershift/support/globalconfig/infrastructure.go"
PROVIDER = "cluster-api-provider-maas"
PLATFORM_PACKAGE = PLATFORM.replace("hypershift", "github.com/openshift/hypershift", 1)

# Ours, beside this file, and what they are called in the copy
FILES = {
    "api_types.go": f"{TYPES}/lab_maas.go",
    "hostedcluster_platform.go": f"{PLATFORM}/maas/maas.go",
    "nodepool_template.go": f"{NODE_POOL}/lab_maas.go",
}
CHANGED_KINDS = ("hostedclusters", "hostedcontrolplanes", "nodepools")


INSERTIONS = (
    # The fields of the two kinds, and that a copy of one is not the same one
    Insertion(
        f"{TYPES}/hostedcluster_types.go",
        after='OpenStack *OpenStackPlatformSpec `json:"openstack,omitempty"`',
        text='MAAS *MAASPlatformSpec `json:"maas,omitempty"`',
    ),
    Insertion(
        f"{TYPES}/hostedcluster_types.go",
        after="return []PlatformType{",
        text="\tMAASPlatform,",
    ),
    Insertion(
        f"{TYPES}/nodepool_types.go",
        after='OpenStack *OpenStackNodePoolPlatform `json:"openstack,omitempty"`',
        text='MAAS *MAASNodePoolPlatform `json:"maas,omitempty"`',
    ),
    Insertion(
        f"{TYPES}/zz_generated.deepcopy.go",
        after="func (in *PlatformSpec) DeepCopyInto(out *PlatformSpec) {",
        text="\tdefer func() { out.MAAS = in.MAAS.DeepCopy() }()",
    ),
    Insertion(
        f"{TYPES}/zz_generated.deepcopy.go",
        after="func (in *NodePoolPlatform) DeepCopyInto(out *NodePoolPlatform) {",
        text="\tdefer func() { out.MAAS = in.MAAS.DeepCopy() }()",
    ),
    # HostedCluster: the platform
    Insertion(
        f"{PLATFORM}/platform.go",
        after=f'"{PLATFORM_PACKAGE}/kubevirt"',
        text=f'"{PLATFORM_PACKAGE}/maas"',
    ),
    Insertion(
        f"{PLATFORM}/platform.go",
        after="platform = gcp.New()",
        text="case hyperv1.MAASPlatform:\n\tplatform = maas.MAAS{}",
    ),
    # NodePool: the template of its machines, the deadline of the MachineDeployment, the clean-up of old templates
    Insertion(
        f"{NODE_POOL}/capi.go",
        after="template, err = c.openstackMachineTemplate(templateNameGenerator)",
        text="case hyperv1.MAASPlatform:\n\ttemplate, err = c.maasMachineTemplate(templateNameGenerator)",
    ),
    Insertion(
        f"{NODE_POOL}/capi.go",
        after="machineDeployment.Spec.MinReadySeconds = ptr.To[int32](0)",
        text="machineDeployment.Spec.ProgressDeadlineSeconds = progressDeadlineSeconds(nodePool)",
    ),
    Insertion(
        f"{NODE_POOL}/capi.go",
        after="// need a default path that returns a value that does not cause the hypershift operator to crash",
        text="if nodePool.Spec.Platform.Type == hyperv1.MAASPlatform {\n\tgvk = maasMachineTemplateKind\n\tbreak\n}",
    ),
    Insertion(
        f"{NODE_POOL}/nodepool_controller.go",
        after="supported := false",
        text=(
            "if nodePool.Spec.Platform.Type == hyperv1.MAASPlatform {\n"
            "\tarch := nodePool.Spec.Arch\n"
            "\tsupported = arch == hyperv1.ArchitectureAMD64 || arch == hyperv1.ArchitectureARM64\n"
            "}"
        ),
    ),
    # The fork's control-plane operator writes platform None into the hosted cluster, that of a stock release MAAS
    Insertion(
        INFRASTRUCTURE,
        after='configv1 "github.com/openshift/api/config/v1"',
        text='"os"',
    ),
    Insertion(
        INFRASTRUCTURE,
        after="platformType := hcp.Spec.Platform.Type",
        text=(
            'if platformType == hyperv1.MAASPlatform && os.Getenv("LAB_CONTROL_PLANE_OPERATOR") != "stock" {\n'
            "\tplatformType = hyperv1.NonePlatform\n"
            "}"
        ),
    ),
    # `hypershift install`: MAAS is a platform whose CRDs can be asked for
    Insertion(
        "hypershift/cmd/install/install.go",
        after="var ValidPlatforms = set.New[string](",
        text='\t"maas",',
    ),
    Insertion(
        f"{ASSETS}/assets.go",
        after="//go:embed cluster-api-provider-openstack/*",
        text=f"//go:embed {PROVIDER}/*",
    ),
)


def add(source: Path) -> None:
    """Put the lab's additions into a folder that holds the copied modules."""
    for ours, theirs in FILES.items():
        target = source / theirs
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(HERE / "hypershift" / "maas" / ours, target)
    insert(source, INSERTIONS)
    _add_provider(source)
    for kind in CHANGED_KINDS:
        manifests = sorted((source / MANIFESTS).glob(f"{kind}-*.yaml"))
        if not manifests:
            raise NoPrograms(f"HyperShift's source has no manifest {kind}-*.yaml in {MANIFESTS}.")
        for manifest in manifests:
            _change(manifest)


def _add_provider(source: Path) -> None:
    """The three kinds of the provider, with the label by which Cluster API finds the version it understands."""
    crds = sorted((HERE / "crds").glob("*.yaml"))
    folder = source / ASSETS / PROVIDER
    folder.mkdir()
    for crd in crds:
        shutil.copyfile(crd, folder / crd.name)
    kinds = Insertion(
        f"{ASSETS}/assets.go",
        after="var capiResources = map[string]string{",
        text="\n".join(f'\t"{PROVIDER}/{crd.name}": "v1beta1",' for crd in crds),
    )
    insert(source, [kinds])


def _change(manifest: Path) -> None:
    """What is written is JSON, which is YAML as well and says nothing in two ways."""
    try:
        changed = add_maas(_read(manifest))
    except UnexpectedManifest as problem:
        raise NoPrograms(f"The lab's additions do not fit HyperShift's {manifest.name}: {problem}") from None
    manifest.write_text(json.dumps(changed))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML as Kubernetes reads it: neither dates nor the value `=` are anything but text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.rsplit(":", 1)[-1] not in ("timestamp", "value")]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def _read(manifest: Path) -> Mapping[str, Any]:
    loaded = yaml.load(manifest.read_text(), _Loader)
    if not isinstance(loaded, dict):
        raise UnexpectedManifest("it is no object")
    return loaded
