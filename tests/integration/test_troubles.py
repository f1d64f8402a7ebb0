# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that are lost, servers that fail, users who may not, and versions that cannot."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._http import client as client_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from integration.cases import LIVES, Case
from integration.harness import Outcome, run_task
from metalshift_lab.simulator import Simulator

# Machines have troubles of their own, and tests of their own.
NAMED = [case for case in LIVES if case.module in ("zone", "resource_pool", "tag", "dns_record")]
STEPS = ("create", "change", "delete")

LOST: dict[str, dict[str, Any]] = {
    "dropped before": {"does": "drop", "when": "before"},
    "dropped after": {"does": "drop", "when": "after"},
    "503 before": {"does": "error", "status": 503, "when": "before"},
    "503 after": {"does": "error", "status": 503, "when": "after"},
    "conflict": {"does": "retry", "retry_after": 0},
}


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between attempts are tested elsewhere."""
    monkeypatch.setattr(client_module, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(client_module, "LONGEST_RETRY_AFTER", 0.001)


@pytest.mark.parametrize("case", NAMED, ids=str)
@pytest.mark.parametrize("trouble", LOST.values(), ids=LOST)
def test_a_lost_answer_is_made_up_for(sim: Simulator, case: Case, trouble: dict[str, Any]) -> None:
    case.arrange(sim)
    for step in STEPS:
        sim.fault(method="POST", **trouble)
        sim.fault(method="PUT", **trouble)
        sim.fault(method="DELETE", **trouble)
        done = run_task(sim, case.module, getattr(case, step))
        sim.clear()
        assert not done.failed, f"{step}: {done.msg}"
        assert done.changed, step
        again = run_task(sim, case.module, getattr(case, step))
        assert not again.changed, f"{step}: {again['diff']}"
        assert {key: value for key, value in done.result.items() if key == case.module} == {
            key: value for key, value in again.result.items() if key == case.module
        }


@pytest.mark.parametrize("case", NAMED, ids=str)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_server_error_is_one_sentence_and_the_next_run_repairs_it(sim: Simulator, case: Case, when: str) -> None:
    case.arrange(sim)
    for step in STEPS:
        for method in ("POST", "PUT", "DELETE"):
            sim.fault(method=method, status=500, text="Simulated failure.", when=when)
        first = run_task(sim, case.module, getattr(case, step))
        assert "Traceback" not in str(first.result)
        if first.failed:
            assert "Simulated failure" in first.msg
            assert first["failure"]["status"] == 500
        sim.clear()
        for _attempt in range(2):
            last = run_task(sim, case.module, getattr(case, step))
        assert not last.failed
        assert not last.changed


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_a_plain_user_is_told_that_an_administrator_is_needed(sim: Simulator, case: Case) -> None:
    case.arrange(sim)
    maas = Client(MaasConnection(base=sim.url, key=ApiKey.parse(sim.api_key)))
    maas.post("users/", {"username": "plain", "password": "p", "email": "p@example.com", "is_superuser": "0"})
    sim.requests.clear()
    done = run_task(sim, case.module, {**case.create, "maas_api_key": sim.key_of("plain")})
    assert done.failed
    assert not done.changed
    assert done["failure"]["kind"] == "forbidden"
    assert done.msg.endswith("most changes need an administrator.")


VERSIONS = ["3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "no-vmhosts"]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_supported_version_can_be_looked_at(sim: Simulator, version: str) -> None:
    sim.set_version(version)
    try:
        done = run_task(sim, "maas_info", {"gather": ["all"]})
    finally:
        sim.set_version("3.6")
    assert not done.failed, done.msg
    maas = done["maas"]
    assert (maas["vm_hosts"] is None) == (version == "no-vmhosts")
    assert maas["abilities"]["reserved IP addresses"] == (version not in ("3.3", "3.4", "3.5"))
    assert maas["user"]["username"] == "admin"
    assert [zone["name"] for zone in maas["zones"]] == ["default"]


def test_looking_around_is_one_request_for_each_thing(sim: Simulator) -> None:
    sim.machines(20)
    run_task(sim, "maas_info", {"gather": ["zones", "tags", "machines"]})
    paths = sorted(request.path.rpartition("/api/2.0/")[2] or request.path for request in sim.requests)
    assert len(paths) == 4
    assert [path.strip("/").rpartition("/")[2] for path in paths] == ["machines", "tags", "version", "zones"]


def test_machines_are_counted_by_their_status(sim: Simulator) -> None:
    sim.machines(3)
    sim.machine("odd", status="Failed testing")
    assert run_task(sim, "maas_info", {"gather": ["machines"]})["maas"]["machines"] == {"failed_testing": 1, "ready": 3}


@pytest.mark.parametrize("version", ["3.2", "3.9"])
def test_another_version_is_warned_about(sim: Simulator, version: str) -> None:
    sim.state.version = f"{version}.0"
    done: Outcome = run_task(sim, "maas_info", {"gather": []})
    assert not done["maas"]["supported"]
    assert f"This is MAAS {version}.0; the collection is made for MAAS 3.3 to 3.8" in done["warnings"][0]


# -- tags and their machines -----------------------------------------------------------------------


def test_many_machines_get_a_tag_in_one_request(sim: Simulator) -> None:
    names = [machine.hostname for machine in sim.machines(50)]
    run_task(sim, "tag", {"name": "fast"})
    sim.requests.clear()
    done = run_task(sim, "tag", {"name": "fast", "machines": names})
    assert len(done["tag"]["machines"]) == 50
    assert [request.op for request in sim.requests.writes()] == ["update_nodes"]


def test_machines_that_are_not_named_keep_their_tag_unless_purged(sim: Simulator) -> None:
    for name in ("a", "b", "c"):
        sim.machine(name, tags=["fast"] if name == "a" else [])
    kept = run_task(sim, "tag", {"name": "fast", "machines": ["b"]})
    assert kept["tag"]["machines"] == ["a", "b"]
    purged = run_task(sim, "tag", {"name": "fast", "machines": ["c"], "purge_machines": True})
    assert purged["tag"]["machines"] == ["c"]
    assert purged["diff"][0]["after_header"] == "machines of tag fast (tag: 1 added, 2 removed)"
    none = run_task(sim, "tag", {"name": "fast", "machines": [], "purge_machines": True})
    assert none["tag"]["machines"] == []


def test_a_tag_that_maas_gives_refuses_machines_of_ours(sim: Simulator) -> None:
    sim.machine("a")
    run_task(sim, "tag", {"name": "auto", "definition": "//node"})
    refused = run_task(sim, "tag", {"name": "auto", "machines": ["a"]})
    assert refused.failed
    assert "MAAS itself chooses its machines" in refused.msg
    by_hand = run_task(sim, "tag", {"name": "auto", "definition": "", "machines": ["a"]})
    assert by_hand["tag"]["machines"] == ["a"]


# -- DNS -------------------------------------------------------------------------------------------


def test_records_of_other_types_stay(sim: Simulator) -> None:
    run_task(sim, "dns_record", {"name": "www", "value": "10.99.0.50", "ttl": 60})
    run_task(sim, "dns_record", {"name": "www", "type": "TXT", "value": "hello"})
    run_task(sim, "dns_record", {"name": "www", "type": "AAAA", "value": "2001:db8::1"})
    run_task(sim, "dns_record", {"name": "www", "state": "absent"})
    text = run_task(sim, "dns_record", {"name": "www", "type": "TXT", "value": "hello"})
    assert not text.changed
    six = run_task(sim, "dns_record", {"name": "www", "type": "AAAA", "value": "2001:db8::1"})
    assert not six.changed
    assert six["dns_record"]["ttl"] == 60


def test_only_the_values_named_are_removed(sim: Simulator) -> None:
    run_task(sim, "dns_record", {"name": "www", "value": ["10.99.0.50", "10.99.0.51"]})
    done = run_task(sim, "dns_record", {"name": "www", "value": ["10.99.0.51", "10.99.0.99"], "state": "absent"})
    assert done["dns_record"]["value"] == ["10.99.0.50"]


def test_purge_with_absent_leaves_nothing_at_the_name(sim: Simulator) -> None:
    run_task(sim, "dns_record", {"name": "www", "value": "10.99.0.50"})
    run_task(sim, "dns_record", {"name": "www", "type": "TXT", "value": "hello"})
    done = run_task(sim, "dns_record", {"name": "www", "state": "absent", "purge": True})
    assert done["dns_record"] == {}
    assert [resource.name for resource in sim.state.dns_resources] == []


def test_the_longest_domain_that_fits_is_taken(sim: Simulator) -> None:
    maas = Client(MaasConnection(base=sim.url, key=ApiKey.parse(sim.api_key)))
    for domain in ("example.com", "lab.example.com"):
        maas.post("domains/", {"name": domain})
    done = run_task(sim, "dns_record", {"fqdn": "API.Lab.Example.com.", "value": "10.99.0.50"})
    assert (done["dns_record"]["name"], done["dns_record"]["domain"]) == ("api", "lab.example.com")
