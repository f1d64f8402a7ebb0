# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that a whole lab feels, in a lab of their own; and what the API refuses, in its own words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest

from metalshift_lab.kube.api import CONFIG_MAPS, LEASES, NAMESPACES, ApiError, Object, Unreachable
from metalshift_lab.kube.handle import Lab
from metalshift_lab.labs import LabError
from metalshift_lab.programs import Programs

SPACE = "faulty"


@pytest.fixture(scope="module")
def broken(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Without an operator: no test here needs one."""
    with Lab.start(tmp_path_factory.mktemp("labs") / "broken", speed=240, machines=1, operator=False) as lab:
        lab.api.create(NAMESPACES, {"metadata": {"name": SPACE}})
        yield lab


@pytest.fixture(autouse=True)
def whole_again(broken: Lab) -> Iterator[None]:
    yield
    broken.heal()
    broken.until("the API server serves", broken.api.healthy)


def config_map(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": SPACE}}


def refused(act: Callable[[], object]) -> tuple[int, str, str]:
    with pytest.raises(ApiError) as refusal:
        act()
    return refusal.value.status, refusal.value.reason, refusal.value.message


# -- programs ---------------------------------------------------------------------------------------------------------


def test_an_api_server_that_restarts_ends_watches_and_knows_everything_afterwards(broken: Lab) -> None:
    api = broken.api
    api.create(CONFIG_MAPS, config_map("kept"))
    _objects, version = api.listing(CONFIG_MAPS, SPACE)
    watch = iter(api.watch(CONFIG_MAPS, SPACE, version))
    api.create(CONFIG_MAPS, config_map("seen"))
    assert next(watch)[1]["metadata"]["name"] == "seen"
    assert broken.fault("restart-api") == "kube-apiserver has ended, and is started again"
    with pytest.raises((StopIteration, Unreachable)):
        next(watch)
    with pytest.raises(Unreachable, match="Connection refused"):
        api.get(NAMESPACES, SPACE)
    broken.until("it serves again", api.healthy)
    assert api.get(CONFIG_MAPS, "kept", SPACE)
    assert broken.status()["faults"] == [], "it is over by itself"


def test_after_an_expiry_old_watches_and_pages_are_gone(broken: Lab) -> None:
    api = broken.api
    page = api.request("GET", CONFIG_MAPS.path(), query={"limit": 1})
    _objects, version = api.listing(CONFIG_MAPS, SPACE)
    broken.fault("watch-expiry")
    broken.until("it serves again", api.healthy)
    status, reason, message = refused(lambda: list(api.watch(CONFIG_MAPS, SPACE, version)))
    assert (status, reason) == (410, "Expired")
    assert message.startswith(f"too old resource version: {version} (")
    exactly = {"resourceVersion": version, "resourceVersionMatch": "Exact"}
    assert refused(lambda: api.request("GET", CONFIG_MAPS.path(), query=exactly)) == (
        410,
        "Expired",
        "The resourceVersion for the provided list is too old.",
    )
    status, reason, message = refused(
        lambda: api.request("GET", CONFIG_MAPS.path(), query={"limit": 1, "continue": page["metadata"]["continue"]})
    )
    assert (status, reason) == (410, "Expired")
    assert message.startswith("The provided continue parameter is too old to display a consistent list result.")
    assert api.listing(CONFIG_MAPS, SPACE)[1]


def test_an_api_server_whose_etcd_stands_still_says_that_it_is_not_ready(broken: Lab) -> None:
    api = broken.api
    broken.fault("pause", name="etcd")
    status, reason, message = refused(
        lambda: api.request("POST", CONFIG_MAPS.path(SPACE), config_map("never"), query={"timeout": "2s"})
    )
    assert (status, reason) == (504, "Timeout")
    assert message.startswith("Timeout: request did not complete within ")
    assert "[-]etcd failed" in refused(lambda: api.request("GET", "/readyz"))[2]
    broken.heal("pause")
    broken.until("it serves again", api.healthy)


def test_what_is_down_stays_down_till_it_is_healed_by_whoever_finds_the_lab(broken: Lab) -> None:
    broken.fault("down", name="kube-apiserver")
    time.sleep(1)
    with pytest.raises(LabError, match=r"connection to the server .* was refused"):
        broken.kubectl("get", "namespaces")
    assert broken.status()["faults"] == ["down: kube-apiserver is stopped, and not started again"]
    assert Lab.find(broken.folder).heal() == "healed: down"
    broken.until("it serves again", broken.api.healthy)


def test_what_stutters_answers_late(broken: Lab) -> None:
    broken.fault("stutter", name="kube-apiserver", share="0.9", every="1")
    begin = time.monotonic()
    for _number in range(4):
        assert broken.api.get(NAMESPACES, SPACE)
        time.sleep(0.11)
    assert time.monotonic() - begin > 0.8


# -- what the API refuses ---------------------------------------------------------------------------------------------


def test_a_quota_refuses_with_its_figures(broken: Lab) -> None:
    broken.fault("quota", namespace=SPACE, resource="count/configmaps", hard="0")
    used = len(broken.api.list(CONFIG_MAPS, SPACE))
    status, reason, message = refused(lambda: broken.api.create(CONFIG_MAPS, config_map("more")))
    assert (status, reason) == (403, "Forbidden")
    assert message.startswith('configmaps "more" is forbidden: exceeded quota: lab-fault-')
    # It counts in its own time what others have just made.
    figures = r"requested: count/configmaps=1, used: count/configmaps=(\d+), limited: count/configmaps=0$"
    counted = re.search(figures, message)
    assert counted
    assert int(counted[1]) <= used
    broken.heal("quota")
    broken.api.create(CONFIG_MAPS, config_map("more"))


def test_a_policy_refuses_with_its_message(broken: Lab) -> None:
    def lease(seconds: int) -> Object:
        made = {"metadata": {"name": "seconds", "namespace": SPACE}, "spec": {"leaseDurationSeconds": seconds}}
        return {"apiVersion": LEASES.api, "kind": "Lease", **made}

    when = "object.spec.leaseDurationSeconds > 3"
    said = broken.fault("deny", kind="Lease", operations="CREATE,UPDATE", namespace=SPACE, when=when, message="No.")
    assert said == f"CREATE and UPDATE of leases.coordination.k8s.io in {SPACE} is denied: No."
    denied = r"ValidatingAdmissionPolicy '(lab-fault-\w+)' with binding '\1' denied request: No\."
    with pytest.raises(LabError, match=denied):
        broken.apply([lease(4)])
    broken.apply([lease(3)])
    with pytest.raises(LabError, match=denied):
        broken.apply([lease(4)])
    broken.heal("deny")
    broken.apply([lease(4)])


def test_a_user_has_just_the_rights_that_are_given(broken: Lab) -> None:
    reader = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]
    alice = broken.user("alice", reader, namespace=SPACE)
    assert "kube-root-ca.crt" in broken.kubectl("-n", SPACE, "get", "configmaps", kubeconfig=alice)
    for command, refusal in {
        ("-n", SPACE, "delete", "configmap", "kube-root-ca.crt"): (
            'configmaps "kube-root-ca.crt" is forbidden: User "alice" cannot delete resource "configmaps" '
            f'in API group "" in the namespace "{SPACE}"'
        ),
        ("-n", "default", "get", "configmaps"): (
            'configmaps is forbidden: User "alice" cannot list resource "configmaps" '
            'in API group "" in the namespace "default"'
        ),
        (
            "get",
            "nodes",
        ): 'nodes is forbidden: User "alice" cannot list resource "nodes" in API group "" at the cluster',
    }.items():
        with pytest.raises(LabError) as refused_so:
            broken.kubectl(*command, kubeconfig=alice)
        assert refusal in str(refused_so.value)


def test_a_role_loses_a_verb_and_has_it_again(broken: Lab) -> None:
    operator = "--as=system:serviceaccount:lab:operator"
    role, binding = "clusterrole/half", "clusterrolebinding/half"
    broken.kubectl("create", *role.split("/"), "--verb=*", "--resource=configmaps,secrets")
    broken.kubectl("create", *binding.split("/"), "--clusterrole=half", "--serviceaccount=lab:operator")

    def may(verb: str, kind: str) -> bool:
        try:
            return broken.kubectl("auth", "can-i", verb, kind, operator).strip() == "yes"
        except LabError:
            return False

    broken.until("it may", lambda: may("update", "configmaps"))
    broken.fault("forbid", kind="configmaps", verbs="update,patch", role="half")
    broken.until("it may not", lambda: not may("update", "configmaps"))
    assert may("get", "configmaps")
    assert may("update", "secrets")
    broken.heal("forbid")
    broken.until("it may again", lambda: may("update", "configmaps"))


def test_an_object_with_a_finalizer_goes_when_it_is_healed(broken: Lab) -> None:
    api = broken.api
    api.create(CONFIG_MAPS, config_map("stuck"))
    broken.fault("stuck", kind="ConfigMap", name="stuck", namespace=SPACE)
    api.delete(CONFIG_MAPS, "stuck", SPACE)
    assert (api.get(CONFIG_MAPS, "stuck", SPACE) or {})["metadata"]["deletionTimestamp"]
    broken.heal("stuck")
    assert api.get(CONFIG_MAPS, "stuck", SPACE) is None


@pytest.mark.parametrize(
    ("name", "words", "refusal"),
    [
        ("rain", {}, "There is no fault rain; there are .*watch-expiry"),
        ("hold", {}, "The fault hold needs name; its parameters are name, namespace"),
        ("maas-full", {"loud": "yes"}, "The fault maas-full does not take loud; its parameters are none"),
        ("maas-down", {"when": "soon"}, "when of maas-down is before or after, not 'soon'"),
        ("maas-error", {"hits": "often"}, "hits of maas-error is a whole number from 0 on, not 'often'"),
        ("machine-fails", {"times": "x"}, "times of machine-fails is a whole number from -1 on, not 'x'"),
        ("pause", {"name": "nobody"}, "Nothing that runs is called nobody; there are etcd, kube-apiserver, .*"),
        ("down", {"name": "nobody"}, "The lab has no program nobody; it has etcd, kube-apiserver, .*"),
        ("stuck", {"kind": "Unicorn", "name": "x"}, "The API server has no kind Unicorn"),
        ("stuck", {"kind": "Secret", "name": "x"}, "Secret is a kind of objects in namespaces: say namespace="),
        ("stuck", {"kind": "Node", "name": "x"}, "There is no Node x"),
        ("forbid", {"kind": "Pod", "verbs": "get", "role": "x"}, "There is no role x"),
        ("forbid", {"kind": "Pod", "verbs": "get", "role": "cluster-admin"}, "A rule allows .* in all groups: .*"),
        ("stutter", {"share": "2"}, r"share of stutter is a number from 0\.01 to 0\.99, not '2'"),
        ("stutter", {"share": "x"}, r"share of stutter is a number from 0\.01 to 0\.99, not 'x'"),
        ("stutter", {"every": "x"}, r"every of stutter is a number from 0\.01 to 3600, not 'x'"),
        ("restart-api", {"namespace": "x"}, "Nothing that runs is called x/kube-apiserver; there are etcd, .*"),
        ("watch-expiry", {"namespace": "x"}, "Nothing that runs is called x/kube-apiserver; there are etcd, .*"),
        ("machine-fails", {"action": "sing"}, "There is no action sing of machines; there are .*deploy.*"),
        ("release-incomplete", {"version": "4.20.9", "lacks": "soul"}, "A release has no component soul"),
        ("release-gone", {"version": "9.9.9"}, r"There is no release 9\.9\.9; there are 4\.20\.8, 4\.20\.10"),
        ("incomplete", {"operator": "choir"}, "There is no cluster operator choir; there are .*ingress.*"),
        ("slow", {"factor": "0"}, "A machine is slower by a factor above 0, not 0"),
        ("slow", {"factor": "x"}, "A machine is slower by a factor above 0, not x"),
    ],
)
def test_a_fault_that_cannot_be_says_why(broken: Lab, name: str, words: dict[str, str], refusal: str) -> None:
    with pytest.raises(LabError, match=refusal):
        broken.fault(name, **words)
    assert broken.status()["faults"] == []
    assert not list(broken.folder.glob("hosted/*"))
