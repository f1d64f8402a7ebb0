# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever kills runs of `vm_host`, or how many there are at once: one VM host, and none left when it shall go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts import keys
from chaos.assassin import ANSWERED, COMMITTED, RECEIVED, Door
from chaos.runs import Run
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.lxd import servers

MOMENTS = (RECEIVED, COMMITTED, ANSWERED)
KVM1 = {"name": "kvm1", "power_address": "127.0.0.1:8449", "project": "maas", "password": "sekret"}
WISH = {**KVM1, "zone": "az1", "tags": ["fast"], "schedulable": False, "default_storage_pool": "default"}


@pytest.fixture(scope="module")
def pair() -> keys.Pair:
    return keys.make()


def reach(sim: Simulator, door: Door) -> dict[str, Any]:
    return {
        "maas_endpoint": door.url,
        "maas_api_key": sim.api_key,
        "maas_timeout": 10,
        "wait_sleep": 0.02,
        "wait_timeout": 20,
    }


def furnish(sim: Simulator) -> None:
    sim.clear()
    sim.reset()
    sim.machine("other", zone="az1")


def run(sim: Simulator, door: Door, **options: Any) -> dict[str, Any]:
    result = Run("vm_host", {**reach(sim, door), **options}).end()
    assert result is not None
    assert not result.get("failed"), result["msg"]
    return result


def killed_everywhere(
    sim: Simulator, door: Door, moment: str, before: Callable[[], object], **options: Any
) -> Iterator[int]:
    """Kill a run at each of its requests in turn, each time after `before`; yields when it is dead.

    Before a request arrives and after it was answered, only writes make a difference.
    """
    before()
    sim.requests.clear()
    run(sim, door, **options)
    sent = list(sim.requests)
    chosen = [at for at, each in enumerate(sent, 1) if moment == COMMITTED or each.method != "GET"]
    dead = 0
    for at in chosen:
        before()
        killed = Run("vm_host", {**reach(sim, door), **options})
        door.kill(killed.kill, at, moment)
        dead += killed.end() is None
        door.spare()
        yield at
    # How often a run looks while it waits varies a little.
    assert dead >= len(chosen) - 3


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_registration_is_completed_by_another_run(sim: Simulator, moment: str, pair: keys.Pair) -> None:
    wish = {**WISH, **pair.form}
    with Door(sim) as door:
        for at in killed_everywhere(sim, door, moment, lambda: furnish(sim), **wish):
            host = run(sim, door, **wish)["vm_host"]
            assert [each.name for each in sim.state.vm_hosts] == ["kvm1"], at
            assert (host["zone"], host["tags"]) == ("az1", ["fast", "pod-console-logging"])
            assert (host["schedulable"], host["capacity"]["cores"]["total"]) == (False, 16)


def test_a_killed_registration_whose_certificate_only_maas_has_is_found_by_its_address(sim: Simulator) -> None:
    """Each run would make a certificate of its own, and MAAS take each for another host."""
    with Door(sim) as door:
        for _at in killed_everywhere(sim, door, COMMITTED, lambda: furnish(sim), **KVM1):
            run(sim, door, **KVM1)
            assert [each.name for each in sim.state.vm_hosts] == ["kvm1"]


def test_a_killed_registration_leaves_files_that_the_next_one_uses(sim: Simulator, tmp_path: Path) -> None:
    folders = iter(range(1000))
    files: dict[str, str] = {}

    def before() -> None:
        furnish(sim)
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        files.update(certificate=str(folder / "maas.crt"), key=str(folder / "maas.key"))

    with Door(sim) as door:
        before()
        for at in range(1, 6):
            before()
            wish = {**KVM1, **files, "make_certificate": True}
            killed = Run("vm_host", {**reach(sim, door), **wish})
            door.kill(killed.kill, at, COMMITTED)
            killed.end()
            door.spare()
            run(sim, door, **wish)
            kept = Path(files["certificate"]).read_text()
            (host,) = sim.state.vm_hosts
            assert keys.fingerprint(host.parameters["certificate"]) == keys.fingerprint(kept)


@pytest.mark.parametrize("vms", ["delete", "keep"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_removal_is_completed_by_another_run(sim: Simulator, moment: str, vms: str, pair: keys.Pair) -> None:
    absent = {"name": "kvm1", "state": "absent", "vms": vms}
    with Door(sim) as door:

        def before() -> None:
            furnish(sim)
            run(sim, door, **KVM1, **pair.form)
            maas = Client(MaasConnection(base=sim.url, key=ApiKey.parse(sim.api_key)))
            for name in ("vm1", "vm2"):
                form = {"hostname": name, "skip_commissioning": True}
                maas.post(f"vm-hosts/{next(iter(sim.state.vm_hosts)).id}/", form, op="compose")

        for _at in killed_everywhere(sim, door, moment, before, **absent):
            run(sim, door, **absent)
            assert not list(sim.state.vm_hosts)
            assert [machine.hostname for machine in sim.state.machines] == ["other"]
            left = sorted(servers(sim.state)["127.0.0.1", 8449].projects["maas"])
            assert left == ([] if vms == "delete" else ["vm1", "vm2"])


def test_runs_at_once_with_the_same_certificate_register_one_host(sim: Simulator, pair: keys.Pair) -> None:
    with Door(sim, jitter=0.02) as door:
        for _time in range(5):
            furnish(sim)
            runs = [Run("vm_host", {**reach(sim, door), **WISH, **pair.form}) for _number in range(3)]
            results = [each.end() for each in runs]
            assert all(result and not result.get("failed") for result in results), results
            assert [host.name for host in sim.state.vm_hosts] == ["kvm1"]
