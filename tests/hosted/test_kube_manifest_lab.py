# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module kube_manifest against a real API server: what it takes away again, and what it leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from integration.harness import Outcome, run_task
from metalshift_lab.kube.api import CONFIG_MAPS, CRDS, NAMESPACES, SECRETS, Object, Resource
from metalshift_lab.kube.handle import Lab

NAME = "manifest-test"
BEADS = Resource("toys.example/v1", "beads")


def config_map(name: str, namespace: str = NAME, **data: str) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


NAMESPACE: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAME}}
SECRET: Object = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "namespace": NAME},
    "stringData": {"key": "not-to-be-seen"},
}
BEAD: Object = {"apiVersion": "toys.example/v1", "kind": "Bead", "metadata": {"name": "red", "namespace": "default"}}
SCHEMA = {"openAPIV3Schema": {"type": "object"}}
KIND: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "beads.toys.example"},
    "spec": {
        "group": "toys.example",
        "scope": "Namespaced",
        "names": {"kind": "Bead", "plural": "beads"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


@pytest.fixture(autouse=True)
def clean(lab: Lab) -> Iterator[None]:
    yield
    install(lab, state="absent", remove_kinds=True)
    lab.kubectl("delete", "namespace", NAME, "--ignore-not-found")


def install(lab: Lab, *objects: Object, check: bool = False, **options: Any) -> Outcome:
    """The module knows no MAAS: it is given what reaches Kubernetes, and nothing else."""
    args = {"kubeconfig": lab.facts["kubeconfig"], "name": NAME, "objects": list(objects), **options}
    return run_task(None, "kube_manifest", args, check=check, connect=False)


def actions(outcome: Outcome) -> dict[str, str]:
    assert not outcome.failed, outcome.msg
    return {f"{each['kind']} {each['name']}": each["action"] for each in outcome["objects"]}


def test_its_own_kinds_and_namespaces_come_first_and_check_mode_knows_them(lab: Lab) -> None:
    objects = (BEAD, config_map("a"), NAMESPACE, KIND)
    expected = {
        "CustomResourceDefinition beads.toys.example": "created",
        f"Namespace {NAME}": "created",
        "ConfigMap a": "created",
        "Bead red": "created",
    }
    assert actions(install(lab, *objects, check=True)) == expected
    assert lab.api.get(NAMESPACES, NAME) is None
    assert actions(install(lab, *objects)) == expected
    again = install(lab, *objects)
    assert not again.changed
    assert again["summary"]["unchanged"] == len(expected)
    assert not install(lab, *objects, check=True).changed


def test_what_was_there_before_is_changed_and_stays(lab: Lab) -> None:
    lab.apply([NAMESPACE, config_map("theirs", a="1")])
    assert actions(install(lab, config_map("theirs", b="2"), config_map("ours")))["ConfigMap theirs"] == "changed"
    removed = install(lab, state="absent")
    assert actions(removed) == {"ConfigMap theirs": "kept", "ConfigMap ours": "deleted"}
    assert (lab.api.get(CONFIG_MAPS, "theirs", NAME) or {})["data"] == {"a": "1", "b": "2"}
    assert lab.api.get(CONFIG_MAPS, "ours", NAME) is None
    assert lab.api.get(CONFIG_MAPS, NAME, "kube-system") is None


def test_what_somebody_else_made_anew_is_not_taken_for_ours(lab: Lab) -> None:
    lab.apply([NAMESPACE])
    actions(install(lab, config_map("a")))
    lab.kubectl("-n", NAME, "delete", "configmap", "a")
    lab.kubectl("-n", NAME, "create", "configmap", "a")
    removed = install(lab, state="absent")
    assert actions(removed) == {"ConfigMap a": "kept"}
    assert "somebody else made it" in removed["objects"][0]["reason"]


def test_a_run_that_died_after_its_record_is_finished_by_the_next(lab: Lab) -> None:
    real, calls = Kube.apply, []

    def dies(kube: Kube, body: Object, **options: Any) -> Object:
        calls.append(body["metadata"]["name"])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(kube, body, **options)

    with mock.patch.object(Kube, "apply", dies), pytest.raises(KeyboardInterrupt):
        install(lab, NAMESPACE, config_map("a"), config_map("b"))
    assert calls == [NAME, NAME, "a"], "the record first, then the namespace"
    assert lab.api.get(NAMESPACES, NAME)
    made = actions(install(lab, NAMESPACE, config_map("a"), config_map("b")))
    assert made == {f"Namespace {NAME}": "unchanged", "ConfigMap a": "created", "ConfigMap b": "created"}
    assert not install(lab, state="absent").failed
    assert lab.api.get(NAMESPACES, NAME) is None, "it was ours from the start"


def test_fields_of_others_are_a_conflict_that_names_them(lab: Lab) -> None:
    lab.apply([NAMESPACE, config_map("theirs", a="1")])
    outcome = install(lab, config_map("theirs", a="2"))
    assert outcome.failed
    assert outcome["failure"]["kind"] == "conflict"
    assert "lab-test" in outcome.msg
    assert (lab.api.get(CONFIG_MAPS, "theirs", NAME) or {})["data"] == {"a": "1"}


def test_a_kind_stays_while_somebody_has_objects_of_it(lab: Lab) -> None:
    actions(install(lab, KIND))
    lab.apply([BEAD])
    assert actions(install(lab, state="absent"))["CustomResourceDefinition beads.toys.example"] == "kept"
    removed = install(lab, state="absent", remove_kinds=True)
    assert "there are objects of it: default/red" in removed["objects"][0]["reason"]
    assert lab.api.list(BEADS)
    lab.kubectl("-n", "default", "delete", "bead", "red")
    assert install(lab, state="absent", remove_kinds=True).changed
    assert lab.api.get(CRDS, "beads.toys.example") is None


def test_what_a_new_version_has_no_more_goes(lab: Lab) -> None:
    actions(install(lab, NAMESPACE, config_map("old"), config_map("both")))
    assert actions(install(lab, NAMESPACE, config_map("both"), check=True))["ConfigMap old"] == "deleted"
    assert lab.api.get(CONFIG_MAPS, "old", NAME)
    assert actions(install(lab, NAMESPACE, config_map("both")))["ConfigMap old"] == "deleted"
    assert lab.api.get(CONFIG_MAPS, "old", NAME) is None
    assert not install(lab, NAMESPACE, config_map("both")).changed


def test_values_of_secrets_are_in_no_difference(lab: Lab) -> None:
    made = install(lab, NAMESPACE, SECRET)
    other = {**SECRET, "stringData": {"key": "another-one"}}
    changed = install(lab, NAMESPACE, other)
    assert actions(changed)["Secret s"] == "changed"
    told = json.dumps([made["diff"], made["objects"], changed["diff"], changed["objects"]])
    for value in ("not-to-be-seen", "another-one", *(lab.api.get(SECRETS, "s", NAME) or {})["data"].values()):
        assert value not in told


def test_a_kind_that_nobody_knows_is_refused_before_anything_is_written(lab: Lab) -> None:
    outcome = install(lab, NAMESPACE, {**BEAD, "apiVersion": "toys.example/v9"})
    assert outcome["failure"]["kind"] == "unsupported"
    assert "Bead default/red (toys.example/v9)" in outcome.msg
    assert lab.api.get(NAMESPACES, NAME) is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "There is nothing to install"),
        ({"src": "/nowhere.yml"}, "/nowhere.yml cannot be read"),
        ({"objects": [{"kind": "Secret"}]}, "no Kubernetes object"),
        ({"objects": [NAMESPACE], "required_fields": ["Bead"]}, "KIND PATH"),
        ({"objects": [NAMESPACE], "required_fields": ["Bead spec.a"]}, "neither the manifest nor the cluster knows"),
        ({"objects": [config_map("a", "")], "wait_timeout": 0}, "wait_timeout must be more than 0"),
    ],
)
def test_what_is_wrong_is_one_sentence(lab: Lab, options: dict[str, Any], words: str) -> None:
    outcome = install(lab, **options)
    assert outcome.failed
    assert not outcome.changed
    assert words in outcome.msg
