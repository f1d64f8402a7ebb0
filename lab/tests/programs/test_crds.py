# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds that MAAS is in, on real API servers: ours, and beside it those that the fork of HyperShift installs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from metalshift_lab.kube import examples
from metalshift_lab.kube.api import APPLY, MERGE, NAMESPACES, Api, ApiError, Object, of_name
from programs.crd_cases import CASES, KINDS, Accepted, Case, Refused, Request, found

if TYPE_CHECKING:
    from programs.loaded import Loaded

# What each server makes up for itself
OWN = ("uid", "creationTimestamp", "resourceVersion", "managedFields")
OF_MAAS = {
    "hostedclusters.hypershift.openshift.io",
    "hostedcontrolplanes.hypershift.openshift.io",
    "nodepools.hypershift.openshift.io",
    "maasclusters.infrastructure.cluster.x-k8s.io",
    "maasmachines.infrastructure.cluster.x-k8s.io",
    "maasmachinetemplates.infrastructure.cluster.x-k8s.io",
}
CONTRACT = "cluster.x-k8s.io/v1beta1"


@pytest.fixture(scope="module")
def our_api(ours: Loaded) -> Api:
    return furnished(ours.api)


@pytest.fixture(scope="module")
def their_api(theirs: Loaded) -> Api:
    return furnished(theirs.api)


def furnished(api: Api) -> Api:
    """With one object of each kind, to be changed."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": examples.NAMESPACE}}
    api.create(NAMESPACES, namespace)
    for kind in KINDS:
        api.create(kind.resource, kind.example)
    return api


def answer(api: Api, request: Request) -> Object | ApiError:
    """What the API would keep, or why it would not."""
    query = {"dryRun": "All", "fieldValidation": "Strict" if request.strict else "Ignore"}
    resource, body = request.resource, request.body
    if request.verb != "change":
        body = {**body, "metadata": {**body["metadata"], "name": "another"}}
    place = resource.path(examples.NAMESPACE, of_name(body), request.subresource)
    try:
        if request.verb == "create":
            kept: Object = api.request("POST", resource.path(examples.NAMESPACE), body, query=query)
        elif request.verb == "apply":
            kept = api.request("PATCH", place, body, query={**query, "fieldManager": "test"}, content=APPLY)
        else:
            kept = api.request("PATCH", place, body, query=query, content=MERGE)
    except ApiError as error:
        return error
    for field in OWN:
        kept["metadata"].pop(field, None)
    return kept


def as_in(expected: Accepted | Refused, said: Object | ApiError) -> Accepted | Refused:
    """The answer, as far as the expected one speaks of it."""
    if isinstance(expected, Refused) and isinstance(said, ApiError) and expected.says in said.message:
        return Refused(expected.says, said.status)
    if isinstance(expected, Accepted) and isinstance(said, dict):
        return Accepted({path: found(said, path) for path in expected.kept})
    return whole(said)


def whole(said: Object | ApiError) -> Accepted | Refused:
    return Refused(said.message, said.status) if isinstance(said, ApiError) else Accepted(said)


def test_all_kinds_are_served_without_a_warning(ours: Loaded) -> None:
    assert {crd["metadata"]["name"] for crd in ours.crds} >= OF_MAAS
    assert ours.warnings == ""


def test_cluster_api_is_told_which_version_of_the_provider_to_read(ours: Loaded) -> None:
    labels = {crd["metadata"]["name"]: crd["metadata"].get("labels", {}) for crd in ours.crds}
    infrastructure = {name for name in OF_MAAS if "infrastructure" in name}
    assert {labels[name].get(CONTRACT) for name in infrastructure} == {"v1beta1"}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_api_answers_as_the_table_says(our_api: Api, case: Case) -> None:
    assert as_in(case.answer, answer(our_api, case.request)) == case.answer


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_fork_answers_alike(our_api: Api, their_api: Api, case: Case) -> None:
    said = answer(their_api, case.request)
    if case.fork is None:
        assert whole(said) == whole(answer(our_api, case.request))
    else:
        assert as_in(case.fork, said) == case.fork


def test_both_serve_the_kinds_under_the_same_names(ours: Loaded, theirs: Loaded) -> None:
    def served(loaded: Loaded) -> dict[str, Object]:
        return {
            crd["metadata"]["name"]: {
                "names": crd["spec"]["names"],
                "scope": crd["spec"]["scope"],
                "versions": [
                    {key: version.get(key) for key in ("name", "served", "storage", "subresources")}
                    for version in crd["spec"]["versions"]
                ],
                "columns": [version.get("additionalPrinterColumns") for version in crd["spec"]["versions"]],
            }
            for crd in loaded.crds
            if crd["metadata"]["name"] in OF_MAAS
        }

    assert served(ours) == served(theirs)
