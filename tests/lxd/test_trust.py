# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates, tokens and passwords: who gets in, how far, and what is said to the others."""

from __future__ import annotations

import base64
import json
import time
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust import store
from lxd.cases import project
from lxd.place import Place


def test_a_stranger_is_told_that_he_is_one(lxd: Place) -> None:
    told = lxd.run("lxd_project", {"name": "NAME", **lxd.pair()})
    assert told["failure"]["kind"] == "credentials"
    assert "does not trust the client certificate" in told.msg
    assert "lxc config trust add" in told.msg


def test_a_stranger_sees_what_everybody_sees(lxd: Place) -> None:
    told = lxd.run("lxd_info", {"gather": [], **lxd.pair()})["lxd"]
    assert (told["trusted"], told["version"], told["drivers"]) == (False, None, {})
    assert told["abilities"]["projects"]


def test_a_token_makes_a_stranger_trusted_once(lxd: Place) -> None:
    invited = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})
    stranger = lxd.pair()
    foreseen = lxd.run("lxd_trust", {"token": invited["token"], **stranger}, check=True)
    assert foreseen.changed
    enrolled = lxd.run("lxd_trust", {"token": invited["token"], **stranger})
    assert enrolled.changed, enrolled.msg
    assert enrolled["certificate"]["name"] == lxd.name
    again = lxd.run("lxd_trust", {"token": invited["token"], **stranger})
    assert (again.failed, again.changed) == (False, False)
    late = lxd.run("lxd_trust", {"token": invited["token"], **lxd.pair("late")})
    assert late["failure"]["kind"] == "credentials"
    assert "does not accept the token. A token can be used once, and expires." in late.msg
    assert lxd.run("lxd_project", {"name": "NAME", **stranger}).changed


def test_a_password_makes_a_stranger_trusted(lxd: Place) -> None:
    lxd.run("lxd_server", {"config": {"core.trust_password": "hunter2-hunter2"}})
    stranger = lxd.pair()
    wrong = lxd.run("lxd_trust", {"password": "hunter3-hunter3", **stranger})
    assert wrong["failure"]["kind"] == "credentials"
    assert "does not accept the password" in wrong.msg
    enrolled = lxd.run("lxd_trust", {"password": "hunter2-hunter2", "name": "NAME", **stranger})
    assert enrolled.changed, enrolled.msg
    assert enrolled["certificate"]["name"] == lxd.name


def test_a_token_is_for_our_own_certificate(lxd: Place) -> None:
    invited = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})
    told = lxd.run("lxd_trust", {"token": invited["token"], "certificate": lxd.real.client_cert, **lxd.pair()})
    assert told["failure"]["kind"] == "invalid"
    assert "makes the client certificate trusted, and no other one" in told.msg


def test_a_token_has_what_lxc_wants_of_one(lxd: Place) -> None:
    lxd.run("lxd_server", {"config": {"core.remote_token_expiry": "2H"}})
    invited = lxd.run("lxd_trust", {"type": "token", "name": "NAME", "projects": ["default"]})
    parts = json.loads(base64.b64decode(invited["token"]))
    assert parts["client_name"] == lxd.name
    assert parts["addresses"] == [lxd.real.endpoint.removeprefix("https://")]
    assert parts["expires_at"] == invited["trust_token"]["expires_at"]
    assert invited["trust_token"]["restricted"]


def test_a_token_that_stays_is_told_again(lxd: Place) -> None:
    first, again = (lxd.run("lxd_trust", {"type": "token", "name": "NAME"}) for _time in range(2))
    assert first["token"] == again["token"]
    assert not again.changed


def test_a_token_that_ends_too_soon_is_issued_anew(lxd: Place) -> None:
    lxd.run("lxd_server", {"config": {"core.remote_token_expiry": "1H"}})
    first = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})
    lxd.run("lxd_server", {"config": {"core.remote_token_expiry": "3H"}})
    enough = lxd.run("lxd_trust", {"type": "token", "name": "NAME", "min_validity": 1800})
    longer = lxd.run("lxd_trust", {"type": "token", "name": "NAME", "min_validity": 7200})
    assert not enough.changed
    assert longer.changed
    assert longer["token"] != first["token"]
    told = lxd.run("lxd_info", {"gather": ["trust"]})["lxd"]["trust"]["tokens"]
    assert [token["name"] for token in told] == [lxd.name]


def test_a_token_that_never_lasts_long_enough_is_told(lxd: Place) -> None:
    lxd.run("lxd_server", {"config": {"core.remote_token_expiry": "1H"}})
    told = lxd.run("lxd_trust", {"type": "token", "name": "NAME", "min_validity": 7200})
    assert "end before min_validity, so that each run issues another one" in told["warnings"][0]
    assert "warnings" not in lxd.run("lxd_trust", {"type": "token", "name": "NAME", "min_validity": 60})


def test_a_token_of_which_nothing_would_come_takes_no_other_away(lxd: Place) -> None:
    first = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})
    told = lxd.run("lxd_trust", {"type": "token", "name": "NAME", "projects": ["t-none"]})
    assert told["failure"]["kind"] == "not_found"
    assert lxd.run("lxd_trust", {"type": "token", "name": "NAME"})["token"] == first["token"]


def test_a_token_that_is_over_by_the_clock_here_is_told_even_so(lxd: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    lxd.run("lxd_server", {"config": {"core.remote_token_expiry": "1H"}})

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + timedelta(hours=2)

    monkeypatch.setattr(store, "datetime", Ahead)
    told = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})
    assert (told.failed, bool(told["token"])) == (False, True)


def test_a_token_that_has_expired_is_none(lxd: Place) -> None:
    lxd.run("lxd_server", {"config": {"core.remote_token_expiry": "1S"}})
    first = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})
    time.sleep(1.1)
    assert lxd.run("lxd_info", {"gather": ["trust"]})["lxd"]["trust"]["tokens"] == []
    assert lxd.run("lxd_trust", {"type": "token", "name": "NAME"})["token"] != first["token"]


def test_tokens_themselves_are_told_to_nobody_else(lxd: Place) -> None:
    invited = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})
    secret = json.loads(base64.b64decode(invited["token"]))["secret"]
    told = lxd.run("lxd_info", {"gather": ["trust"]})
    assert secret not in str(told.result)
    assert secret not in str({**invited.result, "token": ""})
    assert invited["token"] not in str(invited.screen)


def test_a_restricted_client_stays_in_his_projects(lxd: Place) -> None:
    project(lxd)
    restricted = lxd.pair()
    rights = {"certificate": restricted["lxd_client_cert"], "name": "NAME", "projects": ["NAME"]}
    assert lxd.run("lxd_trust", rights).changed
    told = lxd.run("lxd_info", {"gather": ["projects", "server"], "lxd_project": "NAME", **restricted})["lxd"]
    assert told["restricted"]
    assert [each["name"] for each in told["projects"]] == [lxd.name]
    assert lxd.run("lxd_profile", {"lxd_project": "NAME", "name": "NAME", **restricted}).changed
    for module, args, says in (
        ("lxd_profile", {"name": "NAME"}, "refused to show the profile"),
        ("lxd_project", {"name": "NAME-2"}, "refused to show the project"),
        ("lxd_storage_pool", {"name": "default", "config": {"user.a": 1}}, "hides the settings of the storage pool"),
        ("lxd_network", {"name": lxd.real.bridge, "config": {"user.a": 1}}, "refused to show the network"),
        ("lxd_server", {"config": {"user.a": 1}}, "hides the settings of LXD itself"),
    ):
        refused = lxd.run(module, {**args, **restricted})
        assert refused["failure"]["kind"] == "forbidden", (module, refused.msg)
        assert says in refused.msg


def test_a_list_of_projects_that_came_out_empty_gives_no_rights(lxd: Place) -> None:
    """To an LXD, no projects and no restriction would be all of them."""
    added = lxd.run("lxd_trust", {"certificate": "PAIR", "projects": []})
    invited = lxd.run("lxd_trust", {"type": "token", "name": "NAME", "projects": []})
    assert (added["certificate"]["restricted"], invited["trust_token"]["restricted"]) == (True, True)


def test_settings_that_lxd_hides_do_not_look_as_if_there_were_none(lxd: Place) -> None:
    restricted = lxd.pair()
    lxd.run("lxd_trust", {"certificate": restricted["lxd_client_cert"], "projects": ["default"]})
    told = lxd.run("lxd_network", {"name": lxd.real.bridge, "config": {"ipv4.nat": True}, **restricted})
    assert told["failure"]["kind"] == "forbidden"
    assert "hides the settings of the network" in told.msg


def test_a_certificate_is_known_by_a_part_of_its_fingerprint(lxd: Place) -> None:
    added = lxd.run("lxd_trust", {"certificate": "PAIR", "name": "NAME"})["certificate"]
    part = {"fingerprint": added["fingerprint"][:12].upper()}
    renamed = lxd.run("lxd_trust", {**part, "name": "NAME-2"})
    assert renamed["certificate"]["name"] == f"{lxd.name}-2"
    assert lxd.run("lxd_trust", {**part, "state": "absent"}).changed
    assert lxd.run("lxd_trust", {**part, "state": "absent"})["certificate"] == {}


def test_our_own_certificate_is_not_removed_by_a_part_of_its_fingerprint_either(lxd: Place) -> None:
    own = lxd.run("lxd_trust", {})["certificate"]["fingerprint"]
    kept = lxd.run("lxd_trust", {"fingerprint": own[:12], "state": "absent"}, check=True)
    assert "cannot be removed: it is the one with which LXD at" in kept.msg


def test_a_certificate_may_be_given_as_text(lxd: Place) -> None:
    text = Path(lxd.named("PAIR")).read_text()
    by_text = lxd.run("lxd_trust", {"certificate": text, "name": "NAME"})
    by_path = lxd.run("lxd_trust", {"certificate": "PAIR", "name": "NAME"})
    assert (by_text.changed, by_path.changed) == (True, False)
