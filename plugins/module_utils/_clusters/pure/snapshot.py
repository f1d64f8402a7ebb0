# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of one hosted cluster at one moment.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object


def control_plane_namespace(namespace: str, name: str) -> str:
    """Where HyperShift puts the control plane of a hosted cluster."""
    return f"{namespace}-{name.replace('.', '-')}"


@dataclass(frozen=True)
class MissingCertificate:
    """A certificate that a machine's kubelet needs and has not got: the end of a sentence."""

    text: str
    # Whether it does not come by itself.
    refused: bool = False


@dataclass(frozen=True)
class ClusterSnapshot:
    """A hosted cluster and what belongs to it. None stands for what was not looked at, or could not be read."""

    namespace: str
    name: str
    cluster: Object | None = None
    control_plane: Object | None = None
    pools: Mapping[str, Object] = field(default_factory=dict)
    machine_deployments: Sequence[Object] = ()
    machine_sets: Sequence[Object] = ()
    machines: Sequence[Object] = ()
    maas_machines: Sequence[Object] = ()
    nodes: Sequence[Object] | None = None
    requests: Sequence[Object] | None = None
    # By Machine, what somebody waits for: nothing when nobody waits for certificates, None as long as it is not known.
    certificates: Mapping[str, MissingCertificate] | None = field(default_factory=dict)
    # What could not be read, as sentences.
    troubles: Sequence[str] = ()

    @property
    def label(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def control_plane_namespace(self) -> str:
        return control_plane_namespace(self.namespace, self.name)
