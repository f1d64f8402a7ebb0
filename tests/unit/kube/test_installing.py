# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a removal keeps because it cannot see."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._http.client import ATTEMPTS
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access
from ansible_collections.metalshift.maas.plugins.module_utils._kube.manifests.installation import Installation
from ansible_collections.metalshift.maas.plugins.module_utils._kube.manifests.pure.installed import (
    InstalledObject,
    marked,
    record_body,
)
from unit.scripted_maas import Call, FakeClock, ScriptedMaas

RECORD, MARK, PLACE = "rec", "kube-system/rec", "place"
NAMESPACE: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": PLACE, "uid": "u"}}
CORE = [("Namespace", "namespaces", False), ("ConfigMap", "configmaps", True)]
OTHERS = {"items": [{"metadata": {"name": "x", "namespace": PLACE}}], "metadata": {"resourceVersion": "1"}}
NOTHING = {"items": [], "metadata": {"resourceVersion": "1"}}


def resources(*kinds: tuple[str, str, bool]) -> dict[str, Any]:
    return {
        "resources": [
            {"kind": kind, "name": plural, "namespaced": namespaced, "verbs": ["list"]}
            for kind, plural, namespaced in kinds
        ]
    }


def refused(path: str, code: int) -> list[Call]:
    said = {"kind": "Status", "status": "Failure", "code": code, "message": f"a {code} it is"}
    return [Call(f"GET {path}", code, json=said)] * (ATTEMPTS if code == 503 else 1)


def read(path: str, body: dict[str, Any]) -> list[Call]:
    return [Call(f"GET {path}", json=body)]


BROKEN, LISTED = "/apis/metrics.example/v1", f"/api/v1/namespaces/{PLACE}/configmaps"
CASES: list[tuple[list[Call], list[Call], str]] = [
    (read(LISTED, NOTHING), refused(BROKEN, 503), "could not be seen: .*a 503 it is"),
    (read(LISTED, NOTHING), refused(BROKEN, 403), "could not be seen: .*a 403 it is"),
    (refused(LISTED, 403), read(BROKEN, resources()), "could not be seen: .*a 403 it is"),
    (read(LISTED, OTHERS), [], "there is something else in it: ConfigMap place/x"),
    (refused(LISTED, 403), refused(BROKEN, 503), "could not be seen: .*a 403 it is"),
]


@pytest.fixture
def removal(play: Callable[..., ScriptedMaas]) -> Callable[..., Installation]:
    def begin(*calls: Call) -> Installation:
        clock = FakeClock()
        record = record_body(RECORD, "kube-system", [InstalledObject("v1", "Namespace", "", PLACE)])
        groups = {"groups": [{"preferredVersion": {"groupVersion": "metrics.example/v1"}}]}
        server = play(
            *read(f"/api/v1/namespaces/kube-system/configmaps/{RECORD}", record),
            *read("/api/v1", resources(*CORE)),
            *read(f"/api/v1/namespaces/{PLACE}", marked(NAMESPACE, MARK)),
            *read("/apis", groups),
            *read("/api/v1", resources(*CORE)),
            *calls,
        )
        access = Access.from_params({"host": f"http://127.0.0.1:{server.port}", "api_key": "t"}, {})
        return Installation(Kube(access, clock=clock), RECORD, "kube-system", Patience(clock, print, 1.0, 0.1))

    return begin


@pytest.mark.parametrize(("listed", "broken", "why"), CASES, ids=[why for _listed, _broken, why in CASES])
def test_a_namespace_of_which_something_cannot_be_seen_stays(
    removal: Callable[..., Installation], listed: list[Call], broken: list[Call], why: str
) -> None:
    """One kind that nobody serves, or that is forbidden, fails no run: what may be in use is kept, with the reason."""
    one = removal(*listed, *broken)
    one.remove(definitions=False, wait=False)
    (told,) = one.told
    assert told["action"] == "kept"
    assert re.search(why, told["reason"])
    assert one.steps == []


def test_any_other_failure_is_the_task_s(removal: Callable[..., Installation]) -> None:
    with pytest.raises(Failure, match="does not accept the credentials"):
        removal(*refused(LISTED, 401)).remove(definitions=False, wait=False)
