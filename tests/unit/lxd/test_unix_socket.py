# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes through the socket of an LXD, with nothing but the standard library."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import ansible
import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import ATTEMPTS, Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import LxdConnection
from unit.lxd.conftest import Papers, Play, hello, refused, said
from unit.scripted_maas import Call, FakeClock, ScriptedMaas

Start = Callable[..., tuple[Lxd, ScriptedMaas]]

PROJECTS = Call("GET /1.0/projects", json=said(["/1.0/projects/default"]), query=[("recursion", "1")])
CREATED = Call("POST /1.0/projects", 201, json=said())


def client(path: Path, clock: FakeClock) -> Lxd:
    return Lxd(LxdConnection.from_params({"lxd_endpoint": f"unix://{path}", "lxd_timeout": 5}, {}), clock=clock)


@pytest.fixture
def lxd(play: Play, clock: FakeClock, tmp_path: Path) -> Start:
    """A client of an LXD that plays a script on a socket, and that LXD."""

    def start(*script: Call) -> tuple[Lxd, ScriptedMaas]:
        server = play(hello(), *script, path=str(tmp_path / "unix.socket"))
        return client(tmp_path / "unix.socket", clock), server

    return start


def test_what_is_asked_arrives_and_is_counted(lxd: Start) -> None:
    asks, _server = lxd(PROJECTS)
    assert asks.get("projects", {"recursion": 1}) == ["/1.0/projects/default"]
    assert [(each.method, each.path, each.query, each.status) for each in asks.exchanges] == [
        ("GET", "/1.0", "", 200),
        ("GET", "/1.0/projects", "recursion=1", 200),
    ]


def test_a_body_goes_as_json_and_its_etag_with_it(lxd: Start) -> None:
    found = Call("GET /1.0/profiles/x", json=said({"name": "x"}), headers={"Etag": "abc"})
    asks, server = lxd(found, Call("PUT /1.0/profiles/x", json=said()))
    seen = asks.find("profiles/x")
    assert seen
    asks.put("profiles/x", {"description": "d"}, what="change the profile x", etag=seen.etag)
    assert server.seen[-1].headers["If-Match"] == "abc"
    assert json.loads(server.seen[-1].body) == {"description": "d"}


@pytest.mark.parametrize("trouble", ["breaks", "breaks_in_body"])
def test_a_read_that_breaks_is_repeated(lxd: Start, clock: FakeClock, trouble: str) -> None:
    asks, _server = lxd(Call("GET /1.0/projects", **{trouble: True}), PROJECTS)
    assert asks.get("projects", {"recursion": 1})
    assert len(clock.slept) == 1


def test_a_lost_write_is_looked_up_before_it_is_sent_again(lxd: Start) -> None:
    gone = Call("GET /1.0/projects/x", 404, json=refused(404, "Project not found"))
    asks, _server = lxd(Call("POST /1.0/projects", breaks=True), gone, CREATED)
    asks.post("projects", {"name": "x"}, what="create the project x", settled=lambda: asks.find("projects/x"))
    assert asks.wrote


@pytest.mark.parametrize("drips", ["drips_in_head", "drips_in_body"])
def test_an_answer_that_drips_is_given_up(play: Play, tmp_path: Path, clock: FakeClock, drips: str) -> None:
    """Each byte comes in time, and the whole answer would take minutes."""
    dripping = Call("POST /1.0/projects", json=said("x" * 5000), **{drips: 0.1})
    play(hello(), dripping, path=str(tmp_path / "unix.socket"))
    asks = Lxd(LxdConnection(str(tmp_path / "unix.socket"), read_timeout=0.5), clock=clock)
    with pytest.raises(Failure, match=r"no answer within 0\.5 seconds"):
        asks.post("projects", {"name": "x"}, what="create the project x")


def test_no_socket_is_one_sentence(tmp_path: Path, clock: FakeClock) -> None:
    with pytest.raises(Failure, match="does not answer: there is no such socket") as caught:
        client(tmp_path / "nobody", clock).get("projects")
    assert (caught.value.kind, clock.slept) == ("unreachable", [])


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A socket whose queue is full, as that of an LXD which hangs at its start."""
    path = tmp_path / "full.socket"
    with closing(socket.socket(socket.AF_UNIX)) as server, closing(socket.socket(socket.AF_UNIX)) as waiting:
        server.bind(str(path))
        server.listen(0)
        waiting.connect(str(path))
        yield path


def test_a_socket_that_nobody_listens_to_is_tried_again(full: Path, clock: FakeClock) -> None:
    with pytest.raises(Failure, match="does not answer: connection refused"):
        client(full, clock).get("projects")
    assert len(clock.slept) == ATTEMPTS - 1


def test_what_speaks_no_http_is_told_apart(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "other.socket"
    talks = f"import socket; s = socket.socket(socket.AF_UNIX); s.bind({str(path)!r}); s.listen(); print(flush=True)\n"
    answers = "while True:\n c, _ = s.accept(); c.recv(4096); c.sendall(b'hello\\r\\n\\r\\n'); c.close()"
    with subprocess.Popen([sys.executable, "-c", talks + answers], stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(Failure, match="does not look like LXD: it does not speak HTTP"):
            client(path, clock).get("projects")
        other.kill()


# What such a module may find on a node: ansible-core's own utils come with it, and nothing else does.
ALONE = """
import importlib, json, pathlib, sys
assert not [each for each in sys.path if "-packages" in each], sys.path
sys.path.insert(0, sys.argv[2])
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task, carry_out
name, given = json.loads(sys.argv[1])
module = importlib.import_module(f"ansible_collections.metalshift.maas.plugins.modules.{name}")
params = ArgumentSpecValidator(module.SPEC.argument_spec).validate(given).validated_parameters
print(json.dumps(carry_out(module.converge, Task(params, environment={}), name, module.SPEC)))
"""


def test_a_module_needs_nothing_but_the_standard_library(lxd: Start, tmp_path: Path) -> None:
    _asks, _server = lxd(
        Call("GET /1.0/projects/maas", 404, json=refused(404, "Project not found")),
        CREATED,
        Call("GET /1.0/projects/maas", json=said({"name": "maas", "description": "", "config": {}})),
    )
    told = alone(tmp_path, "lxd_project", {"name": "maas", "state": "present"})
    assert (told.get("msg"), told["changed"]) == (None, True)


def test_the_library_that_reads_certificates_is_named_where_it_is_missing(papers: Papers, tmp_path: Path) -> None:
    where = {**papers.params, "lxd_endpoint": "https://127.0.0.1:9"}
    told = alone(tmp_path, "lxd_project", {**where, "name": "maas", "state": "present"})
    assert told["msg"].startswith("The Python library cryptography is missing on "), told["msg"]


def alone(folder: Path, module: str, params: dict[str, Any]) -> dict[str, Any]:
    """What a module says that finds only what Ansible copies to a node with it."""
    for name, target in {
        "ansible/module_utils": Path(ansible.__file__).parent / "module_utils",
        "ansible_collections/metalshift/maas": Path(__file__).parents[3],
    }.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).symlink_to(target)
    (folder / "ansible" / "__init__.py").touch()
    given = {"lxd_endpoint": str(folder / "unix.socket"), "lxd_timeout": 5, **params}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", ALONE, json.dumps([module, given]), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
