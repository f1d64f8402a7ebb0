# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all modules share: specs and their secrets, plans, parallel acts, results, durations."""

from __future__ import annotations

import re
import threading
import time

import pytest
from ansible.module_utils.basic import env_fallback
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.metalshift.maas.plugins.module_utils._core import spec as spec_module
from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK, in_words
from ansible_collections.metalshift.maas.plugins.module_utils._core.parallel import each
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step, to_make, to_remove
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import HIDDEN, MAAS_OPTIONS, Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, carry_out, without
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure.capabilities import SINCE, MaasCapabilities

# -- durations -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0s"),
        (0.4, "0s"),
        (59.4, "59s"),
        (59.6, "1m00s"),
        (60, "1m00s"),
        (250, "4m10s"),
        (3600, "1h00m"),
        (5430, "1h30m"),
    ],
)
def test_durations_are_written_as_people_write_them(seconds, words):
    assert in_words(seconds) == words


def test_the_wall_clock_does_not_go_back():
    before = WALL_CLOCK.now()
    WALL_CLOCK.sleep(0)
    assert WALL_CLOCK.now() >= before


# -- versions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "version"), [("3.6.5", (3, 6)), ("3.7.0~beta1", (3, 7)), ("3.10", (3, 10)), ("2.9.2 (something)", (2, 9))]
)
def test_a_version_is_read_as_maas_writes_it(text, version):
    assert MaasCapabilities.of(text).version == version


@pytest.mark.parametrize("text", ["", "latest", "v3", "3"])
def test_a_version_that_is_none_is_refused(text):
    with pytest.raises(Failure) as caught:
        MaasCapabilities.of(text)
    assert caught.value.kind == "unsupported"


@pytest.mark.parametrize("ability", SINCE)
def test_an_ability_comes_with_its_version(ability):
    major, minor = SINCE[ability]
    assert MaasCapabilities.of(f"{major}.{minor}.0").has(ability)
    older = MaasCapabilities.of(f"{major}.{minor - 1}.9")
    assert not older.has(ability)
    with pytest.raises(Failure, match=f"option needs {ability}, which came with MAAS {major}.{minor}") as caught:
        older.require(ability, "option")
    assert caught.value.kind == "unsupported"


# -- parallel --------------------------------------------------------------------------------------


def test_each_yields_values_and_failures_side_by_side():
    failure = Failure("conflict", "odd")

    def act(number):
        if number % 2:
            raise failure
        return number * 10

    assert dict(each(range(4), act)) == {0: 0, 1: failure, 2: 20, 3: failure}


def test_each_of_nothing_is_nothing():
    assert list(each([], lambda item: item)) == []


def test_each_does_at_most_so_many_at_once():
    at_work, most, lock = 0, 0, threading.Lock()

    def act(_item):
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.005)
        with lock:
            at_work -= 1

    list(each(range(20), act, at_once=3))
    assert most <= 3


@pytest.mark.parametrize("at_once", [0, -1])
def test_each_works_however_few_are_allowed(at_once):
    assert list(each([1], lambda item: item, at_once=at_once)) == [(1, 1)]


def test_a_defect_is_raised_where_it_is_seen_and_nothing_more_begins():
    begun = []

    def act(number):
        begun.append(number)
        raise KeyError(number)

    with pytest.raises(KeyError):
        list(each(range(1000), act, at_once=1))
    settled = len(begun)
    time.sleep(0.02)
    assert len(begun) <= settled + 1 < 1000


def test_nothing_more_begins_when_nobody_listens():
    begun, allowed = [], threading.Semaphore(1)

    def act(number):
        allowed.acquire()
        begun.append(number)

    answers = each(range(1000), act, at_once=1)
    next(answers)
    answers.close()
    for _again in range(5):
        allowed.release()
    time.sleep(0.02)
    assert len(begun) <= 2


# -- specs and secrets -----------------------------------------------------------------------------

SPEC = Spec(
    options={
        "name": {"type": "str", "aliases": ["label"]},
        "password": {"type": "str", "no_log": True, "aliases": ["pass"]},
        "tokens": {"type": "list", "elements": "str", "no_log": True},
        "power_parameters": {"type": "dict", "no_log": True},
        "machines": {
            "type": "list",
            "elements": "dict",
            "options": {"name": {"type": "str"}, "user_data": {"type": "str", "no_log": True}},
        },
        "nested": {"type": "dict", "options": {"key": {"type": "str", "no_log": True}}},
    },
    kube=True,
)

KUBECONFIG = """apiVersion: v1
clusters:
- cluster: {server: "https://api.example:6443"}
users:
- name: jo
  user:
    token: T0p
    client-key-data: "S3cret key"
    password: 'pw,9'
    client-certificate-data: Q2VydA==
"""
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("params", "secrets"),
    [
        ({}, set()),
        ({"name": "n"}, set()),
        ({"password": "s3cret"}, {"s3cret"}),
        ({"pass": "s3cret"}, {"s3cret"}),
        ({"password": None}, set()),
        ({"password": ""}, set()),
        ({"tokens": ["a1", "b2"]}, {"a1", "b2"}),
        ({"power_parameters": {"power_address": "10.0.0.1", "power_user": "admin", "power_pass": "p"}}, {"p"}),
        ({"power_parameters": {"certificate": "C", "key": "K", "privacy": {"token": ["T"]}}}, {"C", "K", "T"}),
        ({"power_parameters": {"power_pass": 123456, "power_off_mode": "soft"}}, {"123456"}),
        ({"power_parameters": '{"power_pass": "p"}'}, {'{"power_pass": "p"}'}),
        ({"machines": [{"name": "a", "user_data": "#cloud"}, "b"]}, {"#cloud"}),
        ({"nested": {"key": "k3y"}}, {"k3y"}),
        ({"maas_api_key": "a:b:c"}, {"a:b:c"}),
        ({"kubeconfig": "/home/jo/.kube/config"}, set()),
        ({"kubeconfig": {"users": [{"user": {"token": "T", "client-key-data": "K"}}], "kind": "Config"}}, {"T", "K"}),
        ({"kubeconfig": KUBECONFIG}, {KUBECONFIG, "T0p", "S3cret key", "pw,9", "Q2VydA=="}),
        ({"kubeconfig": '{"token": "T", "server": "https://x"}'}, {'{"token": "T", "server": "https://x"}', "T"}),
        ({"kubeconfig": "users: [\n  token: T"}, {"users: [\n  token: T", "T"}),
        ({"client_key": PEM}, {PEM, "MIIE"}),
        ({"proxy_headers": {"basic_auth": "jo:pw", "user_agent": "x"}}, {"jo:pw"}),
    ],
)
def test_the_secrets_of_a_task_are_known(params, secrets):
    assert SPEC.secrets(params) == secrets


@pytest.mark.parametrize(
    ("params", "shown"),
    [
        ({"name": "n", "label": "n"}, {"name": "n", "label": "n"}),
        ({"password": "s", "pass": "s"}, {"password": HIDDEN, "pass": HIDDEN}),
        ({"password": None}, {"password": None}),
        ({"power_parameters": {"power_user": "admin"}}, {"power_parameters": HIDDEN}),
        ({"machines": [{"name": "a", "user_data": "u"}, "b"]}, {"machines": [{"name": "a", "user_data": HIDDEN}, "b"]}),
        ({"machines": [{"name": "a", "user_dta": "u"}]}, {"machines": [{"name": "a", "user_dta": HIDDEN}]}),
        ({"machines": '[{"user_data": "u"}]'}, {"machines": HIDDEN}),
        ({"machines": "node-1"}, {"machines": "node-1"}),
        ({"machines": ["52:54:00:00:00:01", ' "user_data": "u"}']}, {"machines": ["52:54:00:00:00:01", HIDDEN]}),
        ({"nested": {"key": "k"}}, {"nested": {"key": HIDDEN}}),
        ({"nested": "key=k"}, {"nested": HIDDEN}),
        ({"passwrod": "s"}, {"passwrod": HIDDEN}),
        ({"maas_api_key": "a:b:c", "maas_timeout": 5.0}, {"maas_api_key": HIDDEN, "maas_timeout": 5.0}),
        ({"kubeconfig": "/home/jo/.kube/config"}, {"kubeconfig": "/home/jo/.kube/config"}),
        ({"kubeconfig": {"users": []}}, {"kubeconfig": HIDDEN}),
        ({"kubeconfig": KUBECONFIG}, {"kubeconfig": HIDDEN}),
        ({"kubeconfig": "apiVersion: v1"}, {"kubeconfig": HIDDEN}),
        ({"client_key": PEM}, {"client_key": HIDDEN}),
    ],
)
def test_options_are_shown_without_secrets(params, shown):
    assert SPEC.masked(params) == shown


PEM = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2\nHw==\n-----END EC PRIVATE KEY-----\n"
OF_LXD = Spec(
    options={"config": {"type": "dict", "no_log": True}, "name": {"type": "str"}},
    maas=False,
    lxd=True,
    secret_settings={"config": re.compile("password|user-data")},
)


@pytest.mark.parametrize(
    ("params", "secrets"),
    [
        ({"lxd_client_key": "/etc/lxd/client.key"}, set()),
        ({"lxd_client_key": PEM}, {PEM, "MHcCAQEEIIrYSSNQFaA2", "Hw=="}),
        ({"name": PEM}, {PEM, "MHcCAQEEIIrYSSNQFaA2", "Hw=="}),
        (
            {"config": {"core.trust_password": "hunter2", "user.a": "b", "user.user-data": "#cloud"}},
            {"hunter2", "#cloud"},
        ),
        ({"config": {"core.trust_password": True, "user.password": ""}}, set()),
        ({"config": None}, set()),
        ({"config": "core.trust_password=hunter2"}, set()),
    ],
)
def test_keys_and_some_settings_are_secrets(params, secrets):
    assert OF_LXD.secrets(params) == secrets


@pytest.mark.parametrize(
    ("params", "shown"),
    [
        (
            {"config": {"core.trust_password": "s", "user.a": "b"}},
            {"config": {"core.trust_password": HIDDEN, "user.a": "b"}},
        ),
        ({"config": "core.trust_password=hunter2"}, {"config": HIDDEN}),
        ({"config": None}, {"config": None}),
        ({"name": PEM}, {"name": HIDDEN}),
        ({"lxd_client_key": PEM}, {"lxd_client_key": HIDDEN}),
    ],
)
def test_settings_are_shown_but_for_secrets(params, shown):
    assert OF_LXD.masked(params) == shown


def test_the_options_to_reach_maas_come_with_every_spec():
    assert set(MAAS_OPTIONS) <= set(SPEC.argument_spec)
    assert SPEC.argument_spec["maas_api_key"]["fallback"] == (env_fallback, ["MAAS_API_KEY"])


# -- plans -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wished", "found", "verbs", "changes"),
    [
        ({"name": "a", "description": "d"}, None, ["create"], {"name": "a", "description": "d"}),
        ({"name": "a", "description": None}, None, ["create"], {"name": "a"}),
        ({"name": "a", "description": "d"}, {"name": "a", "description": "d", "id": 1}, [], {}),
        ({"name": "a", "description": None}, {"name": "a", "description": "d"}, [], {}),
        ({"name": "a", "description": "new"}, {"name": "a", "description": "d"}, ["update"], {"description": "new"}),
        ({"name": "a", "description": ""}, {"name": "a", "description": "d"}, ["update"], {"description": ""}),
    ],
)
def test_a_plan_holds_what_is_to_be_done_and_nothing_else(wished, found, verbs, changes):
    plan = to_make("zone a", wished, found)
    assert [step.verb for step in plan.steps] == verbs
    assert bool(plan) == bool(verbs)
    assert {name: value for step in plan.steps for name, value in step.changes.items()} == changes


def test_a_plan_to_remove_what_is_not_there_is_empty():
    assert not to_remove("zone a", None, ["name"])
    assert to_remove("zone a", {"name": "a", "id": 2}, ["name"]).steps == [
        Step("delete", "zone a", before={"name": "a"})
    ]


def test_the_diff_says_what_changes_and_why():
    (entry,) = to_make("zone a", {"description": "new"}, {"description": "old", "id": 1}).diff()
    assert entry == {
        "before_header": "zone a",
        "after_header": "zone a (update: description)",
        "before": {"description": "old"},
        "after": {"description": "new"},
    }


def test_a_plan_shows_one_hunk_an_object_without_what_stays():
    plan = Plan(
        [
            Step("enlist", "n1", "MAAS does not know it", {"status": None}, {"status": "New", "zone": "az1"}),
            Step("create", "zone a", after={"name": "a"}),
            Step("deploy", "n1", "", {"status": "Ready", "locked": 0}, {"status": "Deployed", "locked": 0}),
        ]
    )  # fmt: skip
    first, second = plan.diff()
    assert first == {
        "before_header": "n1",
        "after_header": "n1 (enlist: MAAS does not know it; deploy)",
        "before": {"status": None},
        "after": {"status": "Deployed", "zone": "az1"},
    }
    assert second["after_header"] == "zone a (create)"
    assert [action["after"] for action in plan.as_result()] == [
        {"status": "New", "zone": "az1"}, {"name": "a"}, {"status": "Deployed"}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("verbs", "wanted", "done"),
    [
        ([], "", ""),
        (["create", "update", "create"], "to create 2, to change 1", "2 created, 1 changed"),
        ([("erase", "release"), "delete"], "to erase and release 1, to delete 1", "1 erased and released, 1 deleted"),
        (["leave alone", "create"], "to create 1", "1 created"),
        (["make default", "power_on"], "to make default 1, to power on 1", "1 made default, 1 powered on"),
        (["rescue_mode"], "to put into rescue mode 1", "1 put into rescue mode"),
    ],
)
def test_totals_count_what_is_done_to_how_many_objects(verbs, wanted, done):
    named = [(verb,) if isinstance(verb, str) else verb for verb in verbs]
    plan = Plan([Step(verb, f"object {number}") for number, some in enumerate(named) for verb in some])
    assert (plan.totals(), plan.totals(done=True)) == (wanted, done)


def test_a_plan_that_only_leaves_something_alone_changes_nothing():
    plan = Plan([Step("leave alone", "machine n1", "it belongs to another cluster")])
    assert (bool(plan), plan.totals(), len(plan.diff())) == (False, "", 1)


# -- results ---------------------------------------------------------------------------------------


def test_a_defect_is_one_sentence_and_its_traceback_goes_to_the_trace_only():
    lines: list[str] = []
    said = carry_out(lambda task: {}["hunter2"], Task({}, trace=lines.append), "zone")
    assert said["failed"]
    assert said["failure"]["kind"] == "bug"
    assert "metalshift.maas.zone stopped because of a defect of its own (KeyError)" in said["msg"]
    assert "Traceback" not in str(said)
    assert "hunter2" not in str(said)
    assert lines[0].startswith("Traceback")


def test_a_result_carries_its_failure_and_what_was_done_before_it():
    plan = Plan([Step("create", "zone a", after={"name": "a"})])
    result = Result(True, {"zone": {"name": "a"}}, plan, Failure("conflict", "No."), warnings=["Careful."])
    said = carry_out(lambda task: result, Task({}), "zone")
    assert (said["changed"], said["failed"], said["msg"], said["warnings"]) == (True, True, "No.", ["Careful."])
    assert said["zone"] == {"name": "a"}
    assert len(said["diff"]) == 1


def test_known_secrets_are_scrubbed_from_any_depth():
    value = {"a": ["x hunter2 y", {"b": "hunter2"}], "c": 5, "d": None}
    assert "hunter2" not in str(without({"hunter2", "abc"}, value))
    assert without({"abc"}, {"a": "abcdef"}) == {"a": "abcdef"}
    assert without(set(), value) is value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("power_paramters", "unknown option power_paramters, where power_parameters may be meant"),
        ("xyzzy", "unknown option xyzzy; there are architecture, one, power_parameters, state, two and 3 more"),
    ],
)
def test_an_unknown_option_is_told_with_the_nearest_one(monkeypatch: pytest.MonkeyPatch, given: str, said: str) -> None:
    monkeypatch.setattr(spec_module, "MOST_LISTED", 5)
    known = ("power_parameters", "state", "architecture", "one", "two", "zzz1", "zzz2", "zzz3")
    validator = ArgumentSpecValidator({name: {"type": "str"} for name in known})
    assert spec_module.what_is_wrong(validator.validate({given: "secret"}).errors) == said
