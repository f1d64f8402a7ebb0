# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How faults end, without a lab: in which order, which of them, and what they leave when something fails."""

from __future__ import annotations

import re
import signal
from typing import Any

import pytest

from metalshift_lab.kube.api import Api, ApiError, Object, Unreachable, of_name
from metalshift_lab.kube.faults import Effect, Fault, Faults, Words, rules, table


class House:
    """Rooms in which lamps go out, in the order in which they did and are lit again."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.jammed: set[str] = set()

    def begin(self, _lab: object, words: Words) -> Effect:
        room = words["room"]
        self.log.append(f"dark {room}")
        return Effect(f"{room} is dark", lambda: self.light(room))

    def flash(self, _lab: object, _words: Words) -> Effect:
        return Effect("it flashed")

    def light(self, room: str) -> None:
        if room in self.jammed:
            raise OSError("the switch is jammed")
        self.log.append(f"light {room}")


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> House:
    made = House()
    known = {"dark": Fault("a lamp goes out", made.begin, {"room": None, "by": "wind"}), "flash": Fault("", made.flash)}
    monkeypatch.setattr(table, "FAULTS", known)
    return made


@pytest.fixture
def faults(house: House) -> Faults:
    lab: Any = house
    made = Faults(lab)
    for room in ("hall", "attic", "cellar"):
        made.set("dark", room=room, by="mice" if room == "attic" else "wind")
    made.set("flash")
    house.log.clear()
    return made


@pytest.mark.parametrize(
    ("name", "words", "lit", "said", "dark"),
    [
        ("", {}, ["cellar", "attic", "hall"], "healed: dark, dark, dark", []),
        ("dark", {}, ["cellar", "attic", "hall"], "healed: dark, dark, dark", []),
        ("dark", {"room": "attic"}, ["attic"], "healed: dark", ["hall", "cellar"]),
        ("", {"by": "wind"}, ["cellar", "hall"], "healed: dark, dark", ["attic"]),
        ("flash", {}, [], "this fault is not set", ["hall", "attic", "cellar"]),
    ],
)
def test_the_faults_that_are_meant_end_and_the_last_first(
    house: House, faults: Faults, name: str, words: dict[str, str], lit: list[str], said: str, dark: list[str]
) -> None:
    assert faults.heal(name, **words) == said
    assert house.log == [f"light {room}" for room in lit]
    assert faults.active() == [f"dark: {room} is dark" for room in dark]


def test_a_cure_that_fails_keeps_none_of_the_others_and_can_be_had_again(house: House, faults: Faults) -> None:
    house.jammed = {"attic"}
    with pytest.raises(ValueError, match="dark could not be ended: the switch is jammed"):
        faults.heal()
    assert house.log == ["light cellar", "light hall"]
    assert faults.active() == ["dark: attic is dark"]
    house.jammed.clear()
    assert faults.heal() == "healed: dark"
    assert (house.log[-1], faults.active()) == ("light attic", [])


def test_a_name_that_no_fault_has_heals_nothing(house: House, faults: Faults) -> None:
    with pytest.raises(ValueError, match=r"There is no fault rain; there are dark, flash\."):
        faults.heal("rain")
    assert (house.log, len(faults.active())) == ([], 3)


# -- programs ---------------------------------------------------------------------------------------------------------


class Program:
    """One that stands still or goes on."""

    def __init__(self) -> None:
        self.still = False
        self.stops = 0

    def signal(self, number: signal.Signals) -> None:
        self.still = number == signal.SIGSTOP
        self.stops += self.still


class Place:
    """A lab with three programs."""

    def __init__(self) -> None:
        self.programs = {name: Program() for name in ("etcd", "demo/etcd", "kube-apiserver")}

    def processes(self) -> dict[str, Program]:
        return self.programs

    def signal(self, pattern: str, number: signal.Signals) -> list[str]:
        chosen = [name for name in self.programs if re.fullmatch(pattern, name)]
        for name in chosen:
            self.programs[name].signal(number)
        return chosen

    def still(self) -> list[str]:
        return [name for name, program in self.programs.items() if program.still]


def test_the_end_of_a_pause_leaves_what_another_one_holds() -> None:
    place: Any = Place()
    faults = Faults(place)
    faults.set("pause", name=".*etcd")
    faults.set("pause", name="etcd|kube-.*")
    faults.set("pause", name="etcd|kube-.*")
    faults.heal("pause", name=".*etcd")
    assert place.still() == ["etcd", "kube-apiserver"]
    faults.heal()
    assert place.still() == []


def test_a_stutter_does_not_continue_what_is_paused() -> None:
    place: Any = Place()
    faults = Faults(place)
    faults.set("pause", name="etcd")
    faults.set("stutter", name="etcd|kube-.*", every="0.02")
    server = place.programs["kube-apiserver"]
    while server.stops < 3:
        assert place.programs["etcd"].still
    faults.heal("stutter")
    assert place.still() == ["etcd"]
    faults.heal()
    assert place.still() == []


# -- what the API allows ----------------------------------------------------------------------------------------------


class Store(Api):
    """Objects by their path, with what a real API says of its kinds; `fails` is what the next requests meet."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.fails: dict[str, BaseException] = {}

    def request(self, method: str, path: str, body: Object | None = None, **_more: Any) -> Any:
        for concerned, error in self.fails.items():
            if f"{method} {path}".startswith(concerned):
                raise error
        if path == "/apis":
            return {"groups": []}
        if path == "/api/v1":
            kinds = {"pods": "Pod", "secrets": "Secret"}
            verbs = ["get", "list"]
            found = [{"name": name, "kind": kind, "namespaced": True, "verbs": verbs} for name, kind in kinds.items()]
            return {"resources": found}
        return {"POST": self._post, "PATCH": self._patch, "GET": self._get, "DELETE": self._delete}[method](path, body)

    def _post(self, path: str, body: Any) -> Object:
        meta = {**body["metadata"], "name": body["metadata"].get("name", "made")}
        self.objects[f"{path}/{meta['name']}"] = {**body, "metadata": meta}
        return self.objects[f"{path}/{meta['name']}"]

    def _patch(self, path: str, body: Any) -> Object:
        self.objects[path] = {**self._get(path, None), **body}
        return self.objects[path]

    def _get(self, path: str, _body: Any) -> Object:
        if path not in self.objects:
            raise ApiError(404, "NotFound", "not found")
        return self.objects[path]

    def _delete(self, path: str, _body: Any) -> Object:
        return {} if self.objects.pop(path, None) else self._get(path, None)


class Cluster:
    """A lab that has an API and nothing else."""

    def __init__(self) -> None:
        self.api = Store()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(rules, "SOON", 0.0)
    return Cluster()


ADMISSION = "/apis/admissionregistration.k8s.io/v1"
BINDING = f"{ADMISSION}/validatingadmissionpolicybindings"


@pytest.mark.parametrize(
    ("name", "words", "fails", "refusal"),
    [
        ("quota", {"namespace": "a"}, {}, ValueError),
        ("quota", {"namespace": "a"}, {"GET /api/v1/namespaces/a/resourcequotas": Unreachable("gone")}, Unreachable),
        ("deny", {"kind": "Pod"}, {f"POST {BINDING}": ApiError(403, "Forbidden", "no")}, ApiError),
        ("deny", {"kind": "Pod"}, {f"POST {BINDING}": KeyboardInterrupt()}, KeyboardInterrupt),
    ],
)
def test_a_fault_that_does_not_begin_leaves_nothing(
    cluster: Any, name: str, words: dict[str, str], fails: dict[str, BaseException], refusal: type[BaseException]
) -> None:
    cluster.api.fails = fails
    faults = Faults(cluster)
    with pytest.raises(refusal):
        faults.set(name, **words)
    left = [of_name(each) for path, each in cluster.api.objects.items() if "configmaps" not in path]
    assert (left, faults.active()) == ([], [])


ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/half"


def _may(cluster: Any) -> dict[str, list[str]]:
    """The verbs that the role has, by kind."""
    held = cluster.api.objects[ROLE]["rules"]
    return {kind: rule["verbs"] for rule in held for kind in rule["resources"]}


@pytest.mark.parametrize("first", ["pods", "secrets"])
def test_each_of_two_losses_of_a_role_ends_by_itself(cluster: Any, first: str) -> None:
    before = [{"apiGroups": [""], "resources": ["pods", "secrets"], "verbs": ["get", "list"]}]
    cluster.api.objects[ROLE] = {"metadata": {"name": "half"}, "rules": before}
    faults = Faults(cluster)
    faults.set("forbid", role="half", kind="pods", verbs="get")
    faults.set("forbid", role="half", kind="secrets", verbs="list")
    assert _may(cluster) == {"pods": ["list"], "secrets": ["get"]}
    faults.heal("forbid", kind=first)
    whole = ["get", "list"]
    assert _may(cluster) == {"pods": ["list"], "secrets": ["get"], first: whole}
    faults.set("forbid", role="half", kind=first, verbs="get")
    faults.heal("forbid", kind="secrets")
    faults.heal("forbid", kind="pods")
    assert cluster.api.objects[ROLE]["rules"] == before


def test_a_role_that_cannot_be_reached_gets_its_rights_back_later(cluster: Any) -> None:
    before = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    cluster.api.objects[ROLE] = {"metadata": {"name": "half"}, "rules": before}
    faults = Faults(cluster)
    faults.set("forbid", role="half", kind="pods", verbs="get")
    with pytest.raises(ValueError, match=r"The role half does not allow to get pods\."):
        faults.set("forbid", role="half", kind="pods", verbs="get")
    cluster.api.fails = {"PATCH": Unreachable("gone")}
    with pytest.raises(ValueError, match="forbid could not be ended: gone"):
        faults.heal()
    cluster.api.fails = {}
    assert faults.heal() == "healed: forbid"
    assert cluster.api.objects[ROLE]["rules"] == before
