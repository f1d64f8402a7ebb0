# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which machine a providerID of Kubernetes names.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object

# What the provider writes is `maas:///zone/id`. Two slashes, another scheme for LXD's virtual machines, and no zone
# stand in designs and comments of it, and in what people wrote by hand after those.
FORM = re.compile(r"(?P<kind>maas|maas-lxd):///?(?:(?P<zone>[^/]+)/)?(?P<system_id>[a-z0-9]+)")


@dataclass(frozen=True)
class ProviderId:
    """The zone may be one that the machine has left since; without a zone it is empty."""

    zone: str
    system_id: str
    kind: str


def parse(text: str) -> ProviderId:
    """The machine that a providerID names; a ValueError says in a sentence why it names none."""
    found = FORM.fullmatch(text)
    if found:
        return ProviderId(found["zone"] or "", found["system_id"], found["kind"])
    if not text.strip():
        raise ValueError("The providerID is empty: nothing has linked the object to a machine yet.")
    scheme = text.partition("://")[0]
    if "://" in text and scheme not in ("maas", "maas-lxd"):
        raise ValueError(f"The providerID {text!r} is one of {scheme}, not of MAAS.")
    raise ValueError(f"The providerID {text!r} does not read maas:///ZONE/SYSTEM_ID.")


def system_id_of(body: Object) -> str:
    """The machine that a MaasMachine, a Machine or a Node stands for; empty if it is none of MAAS, or none yet."""
    spec = body.get("spec") or {}
    found = FORM.fullmatch(str(spec.get("providerID") or ""))
    return str(spec.get("systemID") or "") or (found["system_id"] if found else "")
