# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users of the management cluster that have just the rights they are given: for what the API refuses to them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path

from metalshift_lab.authority import write
from metalshift_lab.kube.api import Api, Object, Resource
from metalshift_lab.kube.control_plane import ControlPlane
from metalshift_lab.kube.rights import Rule

RBAC = "rbac.authorization.k8s.io/v1"
REVIEWS = Resource("authorization.k8s.io/v1", "subjectaccessreviews")
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,50}[a-z0-9])?")
SOON = 10.0


def user(control_plane: ControlPlane, folder: Path, name: str, rules: Sequence[Rule], namespace: str = "") -> Path:
    """The kubeconfig of a user with these rights, everywhere or in one namespace; rights of before are gone."""
    if not NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a user of the lab: small letters, digits, dots and hyphens.")
    api = control_plane.api
    role = {"kind": "Role" if namespace else "ClusterRole", "name": f"lab-user-{name}"}
    meta = {"name": role["name"], **({"namespace": namespace} if namespace else {})}
    _apply(api, role["kind"], {"metadata": meta, "rules": list(rules)})
    reference = {"apiGroup": "rbac.authorization.k8s.io", **role}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}
    _apply(api, f"{role['kind']}Binding", {"metadata": meta, "roleRef": reference, "subjects": [subject]})
    _await(api, name, rules, namespace)
    file = folder / f"{name}.kubeconfig"
    write(file, json.dumps(control_plane.authority.kubeconfig(control_plane.server, name), indent=1))
    return file


def _apply(api: Api, kind: str, body: Object) -> None:
    api.apply(Resource(RBAC, f"{kind.lower()}s"), {"apiVersion": RBAC, "kind": kind, **body})


def _await(api: Api, name: str, rules: Sequence[Rule], namespace: str) -> None:
    """The API server learns of rights by a watch, a moment after they are written."""
    last = next((rule for rule in reversed(rules) if rule.get("resources")), None)
    if last is None:
        return
    asked = {"group": last["apiGroups"][-1], "resource": last["resources"][-1], "verb": last["verbs"][-1]}
    spec = {"user": name, "resourceAttributes": {**asked, "namespace": namespace}}
    review = {"apiVersion": REVIEWS.api, "kind": "SubjectAccessReview", "spec": spec}
    deadline = time.monotonic() + SOON
    while not api.create(REVIEWS, review)["status"]["allowed"]:
        if time.monotonic() > deadline:
            raise ValueError(f"The rights of {name} did not come into force within {SOON:.0f} s.")
        time.sleep(0.05)
