# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an LXD host is taken back, what stays and for whom, and what is forgotten then."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.host import Host
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.removal import (
    left,
    obstacle,
    removal,
    users,
)
from unit.lxd_host.machines import FILES, a_host, an_lxd

LISTENS = {"server": an_lxd(address="[::]:8443")}
BASE = ["packages lxd", "bridge br0 eth0"]
ONE = [*BASE, "pool default", "project maas", "limit maas limits.cpu", "certificate maas", "listen", "registered maas"]
TWO = [*ONE, "project b", "certificate b", "limit b limits.cpu"]
MAAS, B, DEFAULT = {"name": "maas"}, {"name": "b"}, {"name": "default"}


def certificate(name: str, *projects: str, restricted: bool = True) -> dict[str, Any]:
    return {
        "name": name,
        "fingerprint": f"{name}-{'-'.join(projects)}",
        "restricted": restricted,
        "projects": [*projects],
        "type": "client",
    }


def pool(name: str, *used_by: str) -> dict[str, Any]:
    return {"name": name, "used_by": [f"/1.0/{user}" for user in used_by]}


OF_MAAS, OF_B = "profiles/default?project=maas", "profiles/default?project=b"


def shared(**more: Any) -> Host:
    """A host of two projects, of which maas goes."""
    facts = {
        **LISTENS,
        "record": TWO,
        "projects": [DEFAULT, MAAS, B],
        "certificates": [certificate("maas", "maas"), certificate("b", "b")],
        "pools": [pool("default", OF_MAAS, OF_B)],
        "interfaces": ["br0"],
    }
    return a_host(**{**facts, **more})


def alone(**more: Any) -> Host:
    facts = {
        **LISTENS,
        "record": ONE,
        "projects": [DEFAULT, MAAS],
        "certificates": [certificate("maas", "maas")],
        "pools": [pool("default", OF_MAAS)],
    }
    return a_host(**{**facts, **more})


def test_the_last_project_takes_all_with_it() -> None:
    plan = removal(alone())
    assert [each.projects for each in plan.trust] == [[]]
    assert (plan.project, plan.pools, plan.shared, plan.listen, plan.stays) == (True, ["default"], True, True, [])
    assert plan.forgotten == ["pool default", "project maas", "limit maas limits.cpu", "certificate maas", "listen"]


def test_one_project_of_two_leaves_what_both_share() -> None:
    plan = removal(shared())
    assert (plan.project, plan.pools, plan.shared, plan.listen, plan.rules) == (True, [], False, False, [])
    assert plan.stays == ["kvm-1 stays an LXD host: project b and certificate b use it."]
    assert plan.forgotten == ["project maas", "limit maas limits.cpu", "certificate maas"]


OTHERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"projects": [DEFAULT, MAAS, B]}, ["project b"]),
    ({"certificates": [certificate("admin", restricted=False)]}, ["certificate admin"]),
    ({"certificates": [certificate("b", "b")]}, ["certificate b"]),
    ({"certificates": [certificate("maas", "maas", "b")]}, []),
    ({"certificates": [{**certificate("m", restricted=False), "type": "metrics"}]}, []),
    ({"certificates": [certificate("stranger", "maas")]}, []),
    ({"instances": [{"name": "web", "project": "default"}]}, ["instance web"]),
    ({"pools": [pool("default", "storage-pools/default/volumes/custom/data")]}, ["volume data"]),
    ({"pools": [pool("default", "profiles/default")]}, []),
]


@pytest.mark.parametrize(("facts", "named"), OTHERS)
def test_who_else_needs_the_host_is_named(facts: Any, named: list[str]) -> None:
    host = alone(**facts)
    assert users(host) == named
    assert removal(host).shared is not bool(named)


def test_a_certificate_for_two_projects_keeps_the_other_one_and_its_line() -> None:
    plan = removal(shared(certificates=[certificate("maas", "maas", "b")]))
    assert [each.projects for each in plan.trust] == [["b"]]
    assert "certificate maas" not in plan.forgotten


def test_certificates_that_are_not_ours_stay() -> None:
    found = [certificate("maas", "maas", restricted=False), certificate("jo", "maas")]
    assert removal(alone(certificates=found)).trust == []


def test_a_pool_that_others_use_stays_and_is_not_forgotten() -> None:
    host = alone(pools=[pool("default", OF_MAAS, "profiles/default"), pool("old")], record=[*ONE, "pool old"])
    plan = removal(host)
    assert plan.pools == ["old"]
    assert plan.stays == ["The storage pool default stays, since others use it (/1.0/profiles/default)."]
    assert ("pool old" in plan.forgotten, "pool default" in plan.forgotten) == (True, False)


def test_a_pool_that_is_not_recorded_stays() -> None:
    assert removal(alone(record=[], pools=[pool("default", OF_MAAS)])).pools == []


def test_what_is_not_recorded_is_not_taken_back() -> None:
    plan = removal(alone(record=[]))
    assert (plan.trust, plan.project, plan.listen, plan.forgotten) == ([], False, False, [])


INSTANCES = [
    {"name": "vm1", "project": "maas", "status": "Stopped"},
    {"name": "vm2", "project": "b", "status": "Running"},
]


def test_nothing_is_taken_back_while_the_project_has_something() -> None:
    said = obstacle(alone(instances=INSTANCES))
    assert said == (
        "kvm-1 stays an LXD host, and nothing was changed, while its project maas has vm1 (stopped). Delete it first, "
        "in MAAS if MAAS knows it."
    )
    volumes = alone(pools=[pool("default", "storage-pools/default/volumes/custom/data?project=maas")])
    assert "while its project maas has the volume data." in obstacle(volumes)
    assert obstacle(alone(instances=INSTANCES[1:])) == ""


@pytest.mark.parametrize(
    ("facts", "wanted", "says"),
    [
        ({"record": ONE}, {}, "name kvm-1 in lxd_host_discard_unanswered."),
        ({"record": ONE}, {"discard_unanswered": ["kvm-1"]}, ""),
        ({"record": ONE, "on_disk": ["/x/vm"]}, {"discard_unanswered": ["kvm-1"]}, "and has /x/vm on disk."),
        ({"record": ["packages lxd"]}, {}, ""),
        ({"record": []}, {}, ""),
        ({"record": [], "vm_hosts": [{"name": "kvm-1", "project": "maas"}]}, {}, "nobody knows what it has"),
        ({"record": ONE, "files": [path for path in FILES if "lxd" not in path]}, {}, ""),
    ],
)
def test_an_lxd_that_does_not_answer_is_not_taken_for_empty(facts: Any, wanted: Any, says: str) -> None:
    said = obstacle(a_host(wanted, server=None, **facts))
    assert says in said
    assert bool(said) is bool(says)


def test_what_keeps_lxd_on_the_machine_is_named() -> None:
    assert left(alone()) == ["project maas", "pool default"]
    assert left(alone(check=True)) == []
    assert left(alone(projects=[DEFAULT], pools=[], on_disk=["/var/lib/lxd/disks/default.img"])) == [
        "/var/lib/lxd/disks/default.img"
    ]


# -- killed anywhere -------------------------------------------------------------------------------


def after(host: Host, done: int) -> Host:
    """The machine when a run was killed after so many of its steps; lines of the record go last."""
    plan = removal(host)
    facts = {name: getattr(host.facts, name) for name in type(host.facts).__dataclass_fields__}
    gone = {each.fingerprint for each in plan.trust}
    pools = [
        {**each, "used_by": [user for user in each["used_by"] if "project=maas" not in user]} for each in facts["pools"]
    ]
    forgotten = [plan.forgotten[: number + 1] for number in range(len(plan.forgotten))]
    steps: list[dict[str, Any]] = [
        {"certificates": [each for each in facts["certificates"] if each["fingerprint"] not in gone]},
        {"server": an_lxd()} if plan.listen else {},
        {"projects": [each for each in facts["projects"] if each["name"] != "maas"], "pools": pools},
        {"pools": [each for each in pools if each["name"] not in plan.pools]} if plan.pools else {},
        *({"record": [line for line in facts["record"] if line not in lines]} for lines in forgotten),
    ]
    for step in steps[:done]:
        facts |= step
    return a_host(**facts)


@pytest.mark.parametrize("host", [alone(), shared()], ids=["alone", "shared"])
@pytest.mark.parametrize("killed_after", range(10))
def test_a_run_after_one_that_was_killed_ends_as_if_it_had_not_been(host: Host, killed_after: int) -> None:
    whole = after(host, 99)
    again = after(after(host, killed_after), 99)
    assert (again.facts.certificates, again.facts.projects) == (whole.facts.certificates, whole.facts.projects)
    assert [each["name"] for each in again.facts.pools] == [each["name"] for each in whole.facts.pools]
    assert [*again.facts.record] == [*whole.facts.record]
