# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every object of Kubernetes says of itself. Pure.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.fields import text

# The label that says which program made something.
MANAGED_BY = "app.kubernetes.io/managed-by"
# As which this collection writes, in that label and to the API.
MANAGER = "metalshift.maas"


def name_of(body: Any) -> str:
    return text(body, "metadata", "name")


def namespace_of(body: Any) -> str:
    return text(body, "metadata", "namespace")


def place_of(body: Any) -> str:
    """As NAMESPACE/NAME; the name alone for what is in no namespace."""
    return "/".join(part for part in (namespace_of(body), name_of(body)) if part)


def title_of(body: Any) -> str:
    """As people say it: `Machine clusters-demo/demo-abc`."""
    return f"{body['kind']} {place_of(body)}"


def is_deleted(body: Any) -> bool:
    """Whether somebody has asked for its end."""
    return bool(text(body, "metadata", "deletionTimestamp"))
