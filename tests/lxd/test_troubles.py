# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that are lost, others who are faster, an LXD that restarts: every run ends well, or with one sentence."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._http import client as client_module
from chaos.runs import Run
from integration.harness import Outcome
from lxd.between import Between
from lxd.cases import LIVES, Case, bridge
from lxd.place import Args, Place

# One life of each kind of object.
ONE_EACH = list({case.noun: case for case in reversed(LIVES)}.values())
STEPS = ("create", "change", "delete")


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between attempts are tested elsewhere."""
    monkeypatch.setattr(client_module, "FIRST_PAUSE", 0.001)


@pytest.fixture
def between(lxd: Place, hasty: None) -> Iterator[Between]:
    with Between(lxd.real.socket) as between:
        yield between


def run(lxd: Place, between: Between, module: str, args: Args, **keywords: Any) -> Outcome:
    return lxd.run(module, {**args, "lxd_endpoint": between.socket}, **keywords)


def prepare(lxd: Place, case: Case, step: str) -> None:
    """What is there before the step."""
    case.arrange(lxd)
    for earlier in STEPS[: STEPS.index(step)]:
        done = lxd.run(case.module, getattr(case, earlier))
        assert not done.failed, done.msg


def is_so(lxd: Place, case: Case, step: str) -> None:
    """A run that changes nothing is the proof."""
    again = lxd.run(case.module, getattr(case, step))
    assert not again.failed, again.msg
    assert not again.changed


@pytest.mark.parametrize("case", ONE_EACH, ids=str)
@pytest.mark.parametrize("step", STEPS)
def test_a_write_whose_answer_is_lost_is_found_out(lxd: Place, between: Between, case: Case, step: str) -> None:
    prepare(lxd, case, step)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        between.loses_the_answer_to(method)
    done = run(lxd, between, case.module, getattr(case, step))
    assert not done.failed, done.msg
    assert done.changed
    is_so(lxd, case, step)


def test_a_change_whose_answer_is_lost_is_told_as_one_though_lxd_made_more_of_it(lxd: Place, between: Between) -> None:
    """It is not as it was written: LXD has put an address in the place of `auto`."""
    bridge(lxd)
    between.loses_the_answer_to("PUT")
    done = run(lxd, between, "lxd_network", {"name": "NAME", "config": {"ipv6.address": "auto"}})
    assert (done.failed, done.changed) == (False, True)
    assert lxd.get(f"networks/{lxd.name}")["config"]["ipv6.address"].startswith("fd42")


@pytest.mark.parametrize("case", ONE_EACH, ids=str)
@pytest.mark.parametrize("step", STEPS)
def test_a_write_that_never_arrived_is_sent_again(lxd: Place, between: Between, case: Case, step: str) -> None:
    prepare(lxd, case, step)
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        between.breaks_before(method)
        between.answers(method, 503)
    done = run(lxd, between, case.module, getattr(case, step))
    assert not done.failed, done.msg
    assert done.changed
    is_so(lxd, case, step)


@pytest.mark.parametrize("case", ONE_EACH, ids=str)
@pytest.mark.parametrize("step", STEPS)
def test_what_is_done_in_the_background_is_waited_for(lxd: Place, between: Between, case: Case, step: str) -> None:
    prepare(lxd, case, step)
    if case.noun == "trust_token":
        pytest.skip("a token is an operation itself")
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        between.in_the_background(method)
    done = run(lxd, between, case.module, getattr(case, step))
    assert not done.failed, done.msg
    assert any(path.startswith("/1.0/operations/") for _method, path in between.seen)
    is_so(lxd, case, step)


def test_what_fails_in_the_background_is_a_failure(lxd: Place, between: Between) -> None:
    between.in_the_background("POST")
    done = run(lxd, between, "lxd_project", {"name": "NAME", "config": {"foo": "bar"}})
    assert done.failed
    assert 'refused to create the project NAME: Invalid project configuration key "foo".' in done.msg.replace(
        lxd.name, "NAME"
    )
    assert done["failure"]["kind"] == "rejected"


# LXD says that an object exists with 409, 400 or 500.
RIVALS: Mapping[str, tuple[str, Any]] = {
    "lxd_project": ("projects", {"name": "NAME"}),
    "lxd_storage_pool": ("storage-pools", {"name": "NAME", "driver": "dir"}),
    "lxd_network": ("networks", {"name": "NAME", "config": {"ipv4.address": "none", "ipv6.address": "none"}}),
    "lxd_profile": ("profiles", {"name": "NAME"}),
}


@pytest.mark.parametrize("module", RIVALS)
def test_an_object_that_another_run_made_first_is_brought_to_the_wished_state(
    lxd: Place, between: Between, module: str
) -> None:
    path, body = RIVALS[module]
    between.before("POST", lambda: lxd.ask("POST", path, body))
    wish = {"name": "NAME", "description": "ours", **({"driver": "dir"} if "pool" in module else {})}
    network = {"config": body["config"]} if module == "lxd_network" else {}
    done = run(lxd, between, module, {**wish, **network})
    assert not done.failed, done.msg
    assert lxd.get(f"{path}/{lxd.name}")["description"] == "ours"


def test_a_certificate_that_another_run_added_first_gets_the_wished_rights(lxd: Place, between: Between) -> None:
    body = "".join(open(lxd.named("PAIR")).read().splitlines()[1:-1])  # noqa: SIM115
    between.before("POST", lambda: lxd.ask("POST", "certificates", {"type": "client", "certificate": body}))
    done = run(lxd, between, "lxd_trust", {"certificate": "PAIR", "name": "NAME", "projects": ["default"]})
    assert not done.failed, done.msg
    assert lxd.get(f"certificates/{done['certificate']['fingerprint']}")["restricted"]


def test_what_others_changed_meanwhile_is_not_undone(lxd: Place, between: Between) -> None:
    lxd.ask("POST", "profiles", {"name": "NAME"})
    path, theirs = f"profiles/{lxd.name}", {"description": "", "config": {"user.theirs": "1"}, "devices": {}}
    between.before("PUT", lambda: lxd.ask("PUT", path, theirs))
    done = run(lxd, between, "lxd_profile", {"name": "NAME", "config": {"user.ours": 1}})
    assert not done.failed, done.msg
    assert lxd.get(path)["config"] == {"user.theirs": "1", "user.ours": "1"}


def test_those_who_never_stop_changing_it_are_told(lxd: Place, between: Between) -> None:
    lxd.ask("POST", "profiles", {"name": "NAME"})
    path, numbers = f"profiles/{lxd.name}", iter(range(100))

    def theirs() -> None:
        lxd.ask("PUT", path, {"config": {"user.theirs": str(next(numbers))}, "devices": {}})

    between.before("PUT", theirs, times=50)
    done = run(lxd, between, "lxd_profile", {"name": "NAME", "config": {"user.ours": 1}})
    assert done.failed
    assert "was changed by others each time" in done.msg
    assert done["failure"]["kind"] == "conflict"


def test_a_token_that_has_expired_is_not_taken_for_the_one_whose_answer_was_lost(lxd: Place, between: Between) -> None:
    lxd.run("lxd_server", {"config": {"core.remote_token_expiry": "1S"}})
    first = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})
    time.sleep(1.1)
    between.loses_the_answer_to("POST")
    again = run(lxd, between, "lxd_trust", {"type": "token", "name": "NAME"})
    assert again["token"] not in (None, first["token"])


def test_a_token_that_is_used_just_before_it_is_revoked_needs_no_end(lxd: Place, between: Between) -> None:
    invited = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})
    between.before("DELETE", lambda: lxd.run("lxd_trust", {"token": invited["token"], **lxd.pair("guest")}))
    revoked = run(lxd, between, "lxd_trust", {"type": "token", "name": "NAME", "state": "absent"})
    assert not revoked.failed, revoked.msg


# -- runs that die ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ONE_EACH, ids=str)
@pytest.mark.parametrize("done", [False, True], ids=["asked", "done"])
def test_a_killed_run_is_completed_by_the_next(lxd: Place, between: Between, case: Case, done: bool) -> None:
    """Killed at each step's first write, and once more at its second if it has one."""
    case.arrange(lxd)
    for step in STEPS:
        died = [dies_at_a_write(lxd, between, case, getattr(case, step), done=done) for _time in range(2)]
        assert died[0]
        completed = lxd.run(case.module, getattr(case, step))
        assert not completed.failed, f"{step}: {completed.msg}"
        is_so(lxd, case, step)


def dies_at_a_write(lxd: Place, between: Between, case: Case, args: Args, *, done: bool) -> bool:
    killed = Run(case.module, {**lxd.reach, **lxd.named(args), "lxd_endpoint": between.socket})
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        between.dies_at(method, killed.kill, done)
    result = killed.end()
    between.rules.clear()
    return result is None


def test_an_lxd_that_restarts_is_waited_for(lxd: Place) -> None:
    lxd.real.kill()
    outcomes: list[Outcome] = []
    task = threading.Thread(target=lambda: outcomes.append(lxd.run("lxd_project", {"name": "NAME"})))
    began = time.monotonic()
    task.start()
    lxd.real.resume()
    task.join(60)
    assert outcomes, f"still waiting after {time.monotonic() - began:.0f} s"
    assert not outcomes[0].failed, outcomes[0].msg
    assert lxd.get(f"projects/{lxd.name}")
