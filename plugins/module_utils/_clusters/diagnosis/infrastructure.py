# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform that the control-plane operator writes into a hosted cluster's Infrastructure.

OpenShift knows no platform MAAS. The control-plane operator of the fork writes None, that of a stock release MAAS,
which the hosted cluster's API refuses. Its ConfigMap says so before there is any node.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import at, text
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object

MISSING: ImportError | None = None
try:
    import yaml
except ImportError as missing:
    MISSING = missing

# In the control plane's namespace.
CONFIG_MAP, MANIFEST = "machine-config-server", "cluster-infrastructure-02-config.yaml"
PLACES = (("spec", "platformSpec", "type"), ("status", "platform"), ("status", "platformStatus", "type"))
REFUSED = "MAAS"
SAID = (
    "Its control-plane operator writes platform MAAS into the Infrastructure of the hosted cluster, which OpenShift "
    "refuses: it is that of a stock release, and not the fork's."
)
CURE = "Name the fork's in control_plane_operator_image of metalshift.maas.hosted_cluster."


def platform_of(config_map: Object | None) -> str:
    """The platform of the Infrastructure: MAAS if any of its fields says so, which is refused; empty if unknown."""
    if MISSING:
        raise missing_library(MISSING, "PyYAML")
    try:
        body = yaml.safe_load(text(config_map, "data", MANIFEST))
    except yaml.YAMLError:
        return ""
    found = [str(value) for place in PLACES if (value := at(body, *place))]
    return REFUSED if REFUSED in found else next(iter(found), "")
