# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How an LXD is reached and known, in the ways in which a task can run; and what becomes of keys."""

from __future__ import annotations

import hashlib
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.harness import assert_no_secret, assert_no_secret_left, run_playbook
from integration.test_runner import A_MODULE, AS_MODULE, assert_one_sentence
from lxd.place import Place

PROJECT = "metalshift.maas.lxd_project"


@pytest.fixture(params=[{}, A_MODULE], ids=["in-process", "as a module"])
def way(request: pytest.FixtureRequest) -> dict[str, Any]:
    way: dict[str, Any] = request.param
    return way


def fingerprint(lxd: Place) -> str:
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(Path(lxd.real.server_cert).read_text())).hexdigest()


# -- by what the server is known -------------------------------------------------------------------


@pytest.mark.parametrize("form", ["path", "text", "fingerprint", "with colons", "as openssl prints it"])
def test_the_server_is_known_by_its_certificate_or_its_fingerprint(lxd: Place, form: str) -> None:
    digits = fingerprint(lxd)
    colons = ":".join(digits[at : at + 2] for at in range(0, 64, 2)).upper()
    known = {
        "path": lxd.real.server_cert,
        "text": Path(lxd.real.server_cert).read_text(),
        "fingerprint": digits,
        "with colons": colons,
        "as openssl prints it": f"sha256:{colons}",
    }
    assert not lxd.run("lxd_info", {"lxd_server_cert": known[form]}).failed


def test_a_pinned_server_may_answer_under_any_name(lxd: Place) -> None:
    elsewhere = lxd.real.endpoint.replace("127.0.0.1", "127.1")
    assert not lxd.run("lxd_info", {"lxd_endpoint": elsewhere}).failed


@pytest.mark.parametrize("check", [True, False], ids=["check mode", "for real"])
def test_a_server_that_nothing_vouches_for_is_refused(lxd: Place, check: bool) -> None:
    told = lxd.run("lxd_project", {"name": "NAME", "lxd_server_cert": ""}, check=check)
    assert told["failure"]["kind"] == "tls"
    assert "cannot be verified: self" in told.msg
    assert "as lxd_server_cert." in told.msg


VARIABLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("where", ["controller", "task"])
def test_variables_of_the_http_library_do_not_say_who_is_trusted(
    lxd: Place, monkeypatch: pytest.MonkeyPatch, variable: str, where: str
) -> None:
    def run(value: str, **args: str) -> Any:
        if where == "controller":
            monkeypatch.setenv(variable, value)
            return lxd.run("lxd_info", args)
        return lxd.run("lxd_info", args, environment={variable: value})

    assert not run(lxd.real.client_cert).failed
    assert run(lxd.real.server_cert, lxd_server_cert="")["failure"]["kind"] == "tls"
    assert run(lxd.real.server_cert, lxd_server_cert="0" * 64)["failure"]["kind"] == "tls"


# -- who we are ------------------------------------------------------------------------------------


@pytest.fixture
def written() -> Iterator[list[str]]:
    """The files that this process opens to write."""
    seen: list[str] = []
    listening = [True]

    def hear(event: str, arguments: Any) -> None:
        if event == "open" and listening and isinstance(arguments[0], (str, bytes, os.PathLike)):
            path, mode, flags = os.fsdecode(arguments[0]), arguments[1], arguments[2]
            if "w" in (mode or "") or (isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
                seen.append(path)

    sys.addaudithook(hear)
    yield seen
    listening.clear()


def test_a_key_that_is_given_as_text_is_in_no_file(lxd: Place, written: list[str]) -> None:
    as_text = {name: Path(lxd.reach[name]).read_text() for name in ("lxd_client_cert", "lxd_client_key")}
    written.clear()
    done = lxd.run("lxd_project", {"name": "NAME", **as_text})
    assert done.changed, done.msg
    assert [path for path in written if path != os.devnull] == []
    with open(lxd.folder / "heard", "w") as file:
        file.write("The ears are good.")
    assert written == [str(lxd.folder / "heard")]


def test_whoever_may_open_the_socket_needs_no_certificate(lxd: Place) -> None:
    args = {"lxd_endpoint": lxd.real.socket, "lxd_client_cert": None, "lxd_client_key": None, "lxd_server_cert": None}
    assert lxd.run("lxd_project", {"name": "NAME", **args}).changed


@pytest.mark.parametrize("every_way", AS_MODULE.values(), ids=AS_MODULE)
def test_the_environment_says_where_and_who(lxd: Place, tmp_path: Path, every_way: dict[str, Any]) -> None:
    task = {PROJECT: {"name": lxd.name}, **every_way}
    played = run_playbook(tmp_path, [task], environment=lxd.variables)
    assert played.results[-1]["changed"], played.output
    assert lxd.get(f"projects/{lxd.name}")


def test_the_environment_of_the_task_counts(lxd: Place, tmp_path: Path, way: dict[str, Any]) -> None:
    task = {PROJECT: {"name": lxd.name}, "environment": lxd.variables, **way}
    assert run_playbook(tmp_path, [task]).results[-1]["changed"]


def test_module_defaults_of_the_group_count(lxd: Place, tmp_path: Path, way: dict[str, Any]) -> None:
    play = {"module_defaults": {"group/metalshift.maas.lxd": lxd.reach}}
    played = run_playbook(tmp_path, [{PROJECT: {"name": lxd.name}, **way}], **play)
    assert played.results[-1]["changed"], played.output


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """A Python that has nothing but its standard library."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    return str(tmp_path / "bare" / "bin" / "python")


def test_a_missing_library_is_said_with_where_and_how_to_get_it(lxd: Place, tmp_path: Path, bare: str) -> None:
    task = {PROJECT: {**lxd.reach, "name": lxd.name}, "async": 60, "poll": 1}
    said = assert_one_sentence(run_playbook(tmp_path, [task], python=bare))
    assert said.startswith("The Python library ")
    assert "pip install " in said


def test_through_the_socket_a_module_needs_nothing_but_python(lxd: Place, tmp_path: Path, bare: str) -> None:
    of_project = {"lxd_project": lxd.name}
    certificate = Path(lxd.pair()["lxd_client_cert"]).read_text()
    nic = {"type": "nic", "nictype": "macvlan", "parent": "lo"}
    tasks: dict[str, dict[str, Any]] = {
        "lxd_storage_pool": {"name": lxd.name, "driver": "dir"},
        "lxd_project": {"name": lxd.name, "config": {"features.profiles": True}},
        "lxd_profile": {"name": "default", "devices": {"eth0": nic}, **of_project},
        "lxd_network": {"name": lxd.name, "config": {"ipv4.address": "none", "ipv6.address": "none"}},
        "lxd_trust": {"certificate": certificate, "name": lxd.name, "projects": [lxd.name]},
        "lxd_server": {"config": {"user.made": lxd.name}},
        "lxd_info": {"gather": ["all"]},
    }
    way = {"lxd_endpoint": lxd.real.socket}
    as_modules = [{f"metalshift.maas.{name}": {**way, **args}, **A_MODULE} for name, args in tasks.items()]
    again = run_playbook(tmp_path, as_modules + as_modules, python=bare)
    assert [each["changed"] for each in again.results] == [True] * 6 + [False] * 8, again.output


# -- secrets ---------------------------------------------------------------------------------------

PASSWORD, USER_DATA, MEANT, NEW = "pw-hunter2-lxd", "launch-code-4711", "meant-for-the-wrong-key", "new-hunter3-lxd"


IN_A_MODULE = ("the key as text", "a key in the place of a name", "a password that LXD refuses", "user data", "a token")


@pytest.mark.parametrize("check", [[], ["--check"]], ids=["for real", "check mode"])
def test_secrets_are_nowhere(
    lxd: Place, tmp_path: Path, way: dict[str, Any], check: list[str], eavesdropped: list[str]
) -> None:
    key = Path(lxd.real.client_key).read_text()
    line = key.splitlines()[1]
    token = lxd.run("lxd_trust", {"type": "token", "name": "NAME"})["token"]
    stranger = lxd.pair()
    tasks: dict[str, Any] = {
        "the key as text": {"lxd_project": {"name": "NAME"}},
        "a key that is not the certificate's": {"lxd_project": {"name": "NAME", "lxd_client_cert": "PAIR"}},
        "a key in the place of a certificate": {"lxd_trust": {"certificate": key}},
        "a key in the place of a name": {"lxd_project": {"name": key}},
        "a password": {"lxd_server": {"config": {"core.trust_password": PASSWORD}}},
        "another password": {
            "lxd_server": {"config": {"core.trust_password": NEW}, "update_password": "always"},
        },
        "a password that LXD refuses": {"lxd_server": {"config": {"core.trust_pasword": PASSWORD}}},
        "a misspelt option": {"lxd_server": {"confg": {"core.trust_password": PASSWORD}}},
        "a wrong password": {"lxd_trust": {"password": MEANT, **stranger}},
        "a wrong token": {"lxd_trust": {"token": MEANT, **stranger}},
        "a token": {"lxd_trust": {"token": token, **stranger}},
        "user data": {"lxd_profile": {"name": "NAME", "config": {"cloud-init.user-data": USER_DATA}}},
        "other user data": {
            "lxd_profile": {"name": "NAME", "config": {"cloud-init.user-data": f"#!/bin/sh\n{USER_DATA}", "foo": "x"}}
        },
        "no user data": {"lxd_profile": {"name": "NAME", "config": {"user.a": "b"}, "purge": True}},
        "what there is": {"lxd_info": {"gather": ["all"]}},
    }
    if way:
        # A module takes its time, and what differs is how its options and its result travel.
        tasks = {name: tasks[name] for name in IN_A_MODULE}
    given = tmp_path / "given"
    given.mkdir()
    made = [{"lxd_client_key": key, **args} for wanted in tasks.values() for args in wanted.values()]
    (given / "tasks.json").write_text(json.dumps(lxd.named(made)))
    read = f"lookup('file', '{given}/tasks.json') | from_json"
    modules = [module for wanted in tasks.values() for module in wanted]
    playbook: list[dict[str, Any]] = [
        {"name": name, f"metalshift.maas.{module}": f"{{{{ ({read})[{at}] }}}}", "ignore_errors": True, **way}
        for at, (name, module) in enumerate(zip(tasks, modules, strict=True))
    ]
    run = tmp_path / "run"
    run.mkdir()
    variables = {name: value for name, value in lxd.variables.items() if name != "LXD_CLIENT_KEY"}
    log = {"ANSIBLE_LOG_PATH": str(run / "log")}
    played = run_playbook(run, playbook, "-vvvv", "--diff", *check, environment={**variables, **log})
    assert "Traceback" not in played.output
    results = played.results
    assert len(results) == len(tasks)
    failed = {name for name, result in zip(tasks, results, strict=True) if "failure" in result}
    wrong = ("a key ", "a misspelt") if check else ("a key ", "a misspelt", "a wrong")
    expected = {name for name in tasks if name.startswith(wrong)}
    assert expected <= failed, failed
    assert failed - expected <= {"a password that LXD refuses", "other user data"}, failed
    secrets = [PASSWORD, NEW, USER_DATA, MEANT, token, line]
    assert_no_secret(played.output + json.dumps(played.events) + "\n".join(eavesdropped), secrets)
    assert_no_secret_left(run, secrets)
