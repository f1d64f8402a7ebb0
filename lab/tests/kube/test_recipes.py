# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which containers become a program, which a stand-in, and which only say that they run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from metalshift_lab.kube import hosted, recipes
from metalshift_lab.kube.api import Object
from metalshift_lab.kube.recipes import lock_of, recipe_for
from metalshift_lab.kube.runs import PartRun
from metalshift_lab.kube.surroundings import Surroundings


class Standing:
    """A stand-in that notes what happens to it."""

    def __init__(self, namespace: str) -> None:
        self.told = [namespace]

    def start(self) -> None:
        self.told.append("start")

    def stop(self) -> None:
        self.told.append("stop")


AROUND = cast(Surroundings, SimpleNamespace(parts={"ignition-server-proxy": Standing}))


def container(name: str, *command: str, image: str = "registry.example/image:1", args: tuple[str, ...] = ()) -> Object:
    return {"name": name, "image": image, "command": list(command), "args": list(args)}


OPERATOR = container("operator", "/usr/bin/hypershift-operator", args=("run", "--namespace=hypershift"))
CAPI = container("manager", "/manager", image="127.0.0.1:20001/ocp/cluster-capi-controllers@sha256:0")
ETCD = container("etcd", "/usr/bin/etcd", image="127.0.0.1:20001/ocp/etcd@sha256:0")
API_SERVER = container("kube-apiserver", "hyperkube", args=("kube-apiserver",))
PROXY = container("ignition-server-proxy", "/bin/bash")


@pytest.mark.parametrize(
    ("which", "recipe"),
    [
        (OPERATOR, recipes.hypershift_operator),
        (container("control-plane-operator", "/usr/bin/control-plane-operator", "run"), recipes.control_plane_operator),
        (CAPI, recipes.cluster_api),
        (container("maas-capi-controller", "/manager"), recipes.provider),
        (ETCD, hosted.etcd),
        (API_SERVER, hosted.api_server),
        (container("kube-controller-manager", "hyperkube", "kube-controller-manager"), hosted.controller_manager),
        # The same names with other programs, first arguments or images:
        (container("operator", "/bin/other", "run"), None),
        (container("operator", "/usr/bin/hypershift-operator", "init"), None),
        (container("operator"), None),
        (container("control-plane-operator", "/usr/bin/control-plane-operator"), None),
        (container("manager", "/manager"), None),
        (container("kube-apiserver", "hyperkube", "kube-scheduler"), None),
        (container("etcd", "/bin/sh", image="registry.example/backup@sha256:0"), None),
        # The same program in a container of another name:
        (container("init", "/usr/bin/hypershift-operator", "run"), None),
        (container("kube-scheduler", "hyperkube", "kube-scheduler"), None),
    ],
)
def test_a_container_of_a_control_plane_is_known_by_its_name_and_program(which: Object, recipe: Any) -> None:
    assert recipe_for(which, AROUND, hosted=True) is recipe


@pytest.mark.parametrize("which", [CAPI, ETCD, API_SERVER, PROXY, container("maas-capi-controller", "/manager")])
def test_elsewhere_a_look_alike_is_somebody_elses(which: Object) -> None:
    assert recipe_for(which, AROUND, hosted=False) is None


def test_the_operator_is_known_in_every_namespace() -> None:
    assert recipe_for(OPERATOR, AROUND, hosted=False) is recipes.hypershift_operator


def test_a_stand_in_is_made_for_the_namespace_and_runs_till_it_is_stopped() -> None:
    recipe = recipe_for(PROXY, AROUND, hosted=True)
    assert recipe is not None
    run = recipe(AROUND, cast(Any, SimpleNamespace(namespace="clusters-one")))
    assert isinstance(run, PartRun)
    assert isinstance(run.part, Standing)
    assert run.ready()
    run.stop()
    run.stop()
    assert run.part.told == ["clusters-one", "start", "stop"]
    assert not run.alive
    assert not run.ready()


@pytest.mark.parametrize(
    ("which", "lock"), [(OPERATOR, "hypershift-operator-leader-elect"), (ETCD, ""), (container("some", "thing"), "")]
)
def test_a_lock_is_that_of_the_program(which: Object, lock: str) -> None:
    assert lock_of(which) == lock
