# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is recorded of a manifest, in which order it is applied, and whose an object is."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.manifests.pure import installed
from ansible_collections.metalshift.maas.plugins.module_utils._kube.manifests.pure.installed import (
    InstalledObject,
    Required,
)

Object = dict[str, Any]


def thing(kind: str, name: str = "x", namespace: str = "", api: str = "v1", **metadata: Any) -> Object:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **place, **metadata}}


def entry(kind: str = "ConfigMap", name: str = "x", *, ours: bool = True, api: str = "v1") -> InstalledObject:
    return InstalledObject(api, kind, "ns", name, ours)


def test_what_others_need_comes_first() -> None:
    kinds = ["ValidatingWebhookConfiguration", "Deployment", "Issuer", "Service", "RoleBinding", "Role", "Secret"]
    kinds += ["ServiceAccount", "Namespace", "CustomResourceDefinition"]
    ordered = [body["kind"] for body in installed.checked(thing(kind) for kind in kinds)]
    expected = ["CustomResourceDefinition", "Namespace", "ServiceAccount", "Secret", "Role", "RoleBinding", "Service"]
    assert ordered == [*expected, "Issuer", "Deployment", "ValidatingWebhookConfiguration"]


def test_lists_are_taken_apart_and_a_status_is_left_out() -> None:
    listed = {"kind": "List", "apiVersion": "v1", "items": [{**thing("Secret"), "status": {"a": 1}}, None]}
    assert installed.checked([None, listed]) == [thing("Secret")]


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        (["text"], "no Kubernetes object: 'text'"),
        ([{"kind": "Secret", "metadata": {"name": "x"}}], "no Kubernetes object"),
        ([{"apiVersion": "v1", "kind": "Job", "metadata": {"generateName": "x-"}}], "a Job without metadata.name"),
        ([thing("Secret", namespace="a"), thing("Secret", namespace="a")], "the Secret a/x twice"),
    ],
)
def test_what_is_no_manifest_is_refused(documents: list[Any], words: str) -> None:
    with pytest.raises(Failure, match=words):
        installed.checked(documents)


def test_a_record_is_read_as_it_was_written() -> None:
    entries = [entry("ConfigMap"), entry("Deployment", api="apps/v1", ours=False)]
    body = installed.record_body("r", "kube-system", entries)
    assert installed.recorded(body) == entries
    assert installed.recorded(None) == []


def test_a_config_map_that_is_no_record_is_left_alone() -> None:
    with pytest.raises(Failure, match="kube-system/r is no record"):
        installed.recorded({**thing("ConfigMap", "r", "kube-system"), "data": {"a": "b"}})


@pytest.mark.parametrize(
    ("there", "before", "ours"),
    [
        (False, [], True),
        (True, [], False),
        (True, [entry(ours=True)], True),
        (True, [entry(ours=False)], False),
        # Somebody removed what was there before us: what we put there now is ours.
        (False, [entry(ours=False)], True),
    ],
)
def test_ours_is_what_was_not_there_before_us(there: bool, before: list[InstalledObject], ours: bool) -> None:
    (made,) = installed.to_record([entry()], before, {entry().key: there})
    assert made.ours is ours


def test_what_a_new_version_has_no_more_stays_recorded_until_it_is_gone_if_it_is_ours() -> None:
    before = [entry(name="old"), entry(name="theirs", ours=False), entry()]
    made = installed.to_record([entry()], before, {entry().key: True})
    assert made == [entry(), entry(name="old")]


def test_another_version_of_its_kind_is_the_same_object() -> None:
    old, new = entry(api="policy/v1beta1"), entry(api="policy/v1")
    assert installed.outdated([new], [old]) == []


SERVICE_ACCOUNT = thing("ServiceAccount", "default", "ns")
WRITTEN = {"managedFields": [{"manager": "kube-controller-manager"}, {"manager": "operator"}]}


@pytest.mark.parametrize(
    ("body", "goes"),
    [
        (SERVICE_ACCOUNT, True),
        (thing("ConfigMap", **WRITTEN), True),
        (thing("ConfigMap", managedFields=[{"manager": "operator"}, {"manager": "kubectl-edit"}]), False),
        (thing("ConfigMap", managedFields=[{"manager": "helm"}]), False),
        (thing("ConfigMap"), False),
        (thing("Pod", ownerReferences=[{"kind": "ReplicaSet"}], managedFields=[{"manager": "x"}]), True),
    ],
)
def test_a_namespace_goes_with_what_only_the_cluster_and_the_installation_wrote(body: Object, goes: bool) -> None:
    assert installed.goes_along(body, frozenset({"operator"})) is goes


def test_what_differs_is_shown_and_nothing_else() -> None:
    old = {**thing("Deployment", generation=1, resourceVersion="1"), "spec": {"a": [{"b": 1, "c": 2}], "d": 3}}
    new = {**thing("Deployment", generation=2, resourceVersion="2"), "spec": {"a": [{"b": 9, "c": 2}], "d": 3}}
    assert installed.difference(old, new) == ({"spec": {"a": {"[0]": {"b": 1}}}}, {"spec": {"a": {"[0]": {"b": 9}}}})


def test_what_the_server_keeps_is_no_difference() -> None:
    old = {**thing("Service", generation=1, managedFields=[{"time": 1}]), "status": {"a": 1}}
    assert installed.difference(old, thing("Service")) == ({}, {})


def test_values_of_secrets_are_not_shown() -> None:
    old, new = {**thing("Secret"), "data": {"key": "b2xk"}}, {**thing("Secret"), "data": {"key": "bmV3"}}
    assert installed.difference(old, new) == ({"data": "hidden"}, {"data": "hidden"})


def definition(properties: Object, **schema: Any) -> Object:
    spec = {"type": "object", "properties": properties, **schema}
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}}
    return {**thing("CustomResourceDefinition"), "spec": {"names": {"kind": "Pool"}, "versions": [version]}}


@pytest.mark.parametrize(
    ("required", "body", "why"),
    [
        ("Pool spec.type", definition({"type": {}}), ""),
        ("Pool spec.other", definition({"type": {}}), "Pool (v1) has no field spec.other"),
        ("Pool spec.type=MAAS", definition({"type": {"enum": ["MAAS", "None"]}}), ""),
        ("Pool spec.type=MAAS", definition({"type": {"enum": ["None"]}}), "spec.type of Pool (v1) may not be MAAS"),
        ("Pool spec.maas.image", definition({}, **{"x-kubernetes-preserve-unknown-fields": True}), ""),
    ],
)
def test_a_kind_that_lacks_a_field_is_found(required: str, body: Object, why: str) -> None:
    assert Required.parse(required).why_lacking(body) == why


@pytest.mark.parametrize("text", ["", "Pool", "Pool =x"])
def test_a_required_field_needs_a_kind_and_a_path(text: str) -> None:
    with pytest.raises(Failure, match="KIND PATH"):
        Required.parse(text)
