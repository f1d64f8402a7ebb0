# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real LXD from its start to its end, and after deaths."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pylxd
import pytest
from pylxd.client import get_session_for_url

from metalshift_lab.labs import LabError
from metalshift_lab.lxd import remains
from metalshift_lab.lxd.local import Refused
from metalshift_lab.lxd.places import place_for_tests
from metalshift_lab.lxd.server import RealLxd

VM = {"type": "virtual-machine", "source": {"type": "none"}, "config": {"limits.memory": "512MiB"}}


@pytest.fixture
def place(real_lxd: RealLxd) -> Iterator[Path]:
    """For an LXD that the test may break."""
    with place_for_tests() as folder:
        yield folder


def client(lxd: RealLxd) -> Any:
    session = get_session_for_url(lxd.endpoint, cert=(lxd.client_cert, lxd.client_key), verify=lxd.server_cert)
    session.trust_env = False
    return pylxd.Client(endpoint=lxd.endpoint, session=session)


def start_vm(lxd: RealLxd, name: str) -> None:
    lxd.local("POST", "/1.0/instances", {"name": name, **VM})
    lxd.local("PUT", f"/1.0/instances/{name}/state", {"action": "start"})


def taps() -> set[str]:
    return {path.name for path in Path("/sys/class/net").glob("tap*")}


def backing_files() -> Iterator[str]:
    for path in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):  # that of another test has just gone
            yield path.read_text()


def traces(folder: Path, bridge: str) -> list[str]:
    """All that this machine has of an LXD."""
    rules = subprocess.run(["nft", "list", "ruleset"], capture_output=True, text=True, check=False).stdout
    backing = list(backing_files())
    return [
        *(each.part for each in remains.family(folder)),
        *(line for line in Path("/proc/mounts").read_text().splitlines() if str(folder) in line),
        *(line for line in backing if str(folder) in line),
        *(line for line in rules.splitlines() if bridge in line),
        *(str(path) for path in (folder, Path(f"/sys/class/net/{bridge}")) if path.exists()),
    ]


def test_pylxd_is_trusted_over_https(real_lxd: RealLxd) -> None:
    lxd = client(real_lxd)
    assert lxd.trusted
    assert [pool.name for pool in lxd.storage_pools.all()] == ["default"]
    assert real_lxd.bridge in {network.name for network in lxd.networks.all()}
    assert set(lxd.profiles.get("default").devices) == {"root", "eth0"}


def test_nobody_else_is_trusted(real_lxd: RealLxd) -> None:
    session = get_session_for_url(real_lxd.endpoint, verify=real_lxd.server_cert)
    session.trust_env = False
    assert not pylxd.Client(endpoint=real_lxd.endpoint, session=session).trusted


def test_a_vm_that_sleeps_hears_its_power_button(real_lxd: RealLxd) -> None:
    if "qemu" not in real_lxd.drivers:
        pytest.skip("LXD has no virtual machines where there is no /dev/kvm.")
    start_vm(real_lxd, "sleeper")
    assert real_lxd.local.get("/1.0/instances/sleeper")["status"] == "Running"
    real_lxd.local("PUT", "/1.0/instances/sleeper/state", {"action": "stop", "timeout": 20})
    real_lxd.local("DELETE", "/1.0/instances/sleeper")
    with pytest.raises(Refused, match="not found"):
        real_lxd.local.get("/1.0/instances/sleeper")


def test_one_that_runs_is_left_as_it_is(place: Path) -> None:
    with RealLxd.start(place) as lxd:
        said: list[str] = []
        again = RealLxd.start(place, said.append)
        assert (again, again.pid, said) == (lxd, lxd.pid, [])
        assert RealLxd.find(place) == lxd


def test_nothing_is_left_of_one_that_was_stopped(place: Path, real_lxd: RealLxd) -> None:
    lxd = RealLxd.start(place)
    lxd.local("POST", "/1.0/networks", {"name": "msother", "type": "bridge", "config": {"ipv4.address": "none"}})
    if "qemu" in lxd.drivers:
        start_vm(lxd, "vm")
    assert traces(place, lxd.bridge)
    lxd.stop()
    assert traces(place, lxd.bridge) == traces(place, "msother") == []
    with pytest.raises(LabError, match="There is no LXD in"):
        RealLxd.find(place)
    assert real_lxd.pid, "another one goes on"


def test_a_killed_daemon_comes_back_with_what_runs_on_it(place: Path) -> None:
    with RealLxd.start(place) as lxd:
        if "qemu" in lxd.drivers:
            start_vm(lxd, "vm")
        lxd.kill()
        assert lxd.pid is None
        lxd.resume()
        assert {each["status"] for each in lxd.local.get("/1.0/instances?recursion=1")} <= {"Running"}
        assert client(lxd).trusted


@pytest.mark.parametrize("dies", ["the daemon", "everything"])
def test_the_next_start_clears_what_was_killed(place: Path, dies: str) -> None:
    first = RealLxd.start(place)
    if "qemu" in first.drivers:
        start_vm(first, "vm")
    mine = {path.name for path in Path(f"/sys/class/net/{first.bridge}/brif").glob("tap*")}
    for each in remains.family(place) if dies == "everything" else ():
        os.kill(each.pid, signal.SIGKILL)
    first.kill()
    with RealLxd.start(place) as second:
        assert second.local.get("/1.0/instances") == []
    assert traces(place, first.bridge) == traces(place, second.bridge) == []
    assert not mine & taps()


def test_one_that_cannot_come_up_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metalshift_lab.lxd.server._storage", lambda: {"driver": "nosuch", "config": {}})
    with pytest.raises(LabError, match=r"LXD did not take its configuration: Unknown driver"):
        RealLxd.start(place)
    assert traces(place, str(place)) == []


def test_a_folder_with_files_of_others_is_refused(place: Path) -> None:
    place.mkdir(parents=True)
    (place / "precious").touch()
    with pytest.raises(LabError, match="is no lab's folder"):
        RealLxd.start(place)
    (place / "precious").unlink()
    place.rmdir()
