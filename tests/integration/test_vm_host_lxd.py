# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What MAAS does not know of a VM host, and its LXD says where it can be asked."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._http import client as client_module
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts import apply
from integration.cases import PROMPT
from integration.harness import Outcome, run_task
from integration.test_vm_host import done, instance, registered
from metalshift_lab.authority import self_signed
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.lxd import Certificate, Network, Server

Change = Callable[[Server], None]


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between attempts are nothing that these tests are about."""
    monkeypatch.setattr(client_module, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(apply, "WHILE_LXD_STARTS", 0.05)


@pytest.fixture
def lxd(sim: Simulator) -> Server:
    server = sim.lxd("", address="127.0.0.1:8452", networks={"br0": Network("br0", managed=False)})
    server.projects["maas"] = {}
    return server


def wish(lxd: Server, **more: Any) -> dict[str, Any]:
    """A host at the address where its LXD really answers, with a certificate that it trusts."""
    pair = {"certificate": lxd.client_cert, "key": lxd.client_key}
    return {"name": "kvm1", "power_address": lxd.endpoint, "server_cert": lxd.server_cert, **pair, **PROMPT, **more}


def vm_host(sim: Simulator, check: bool = False, **options: Any) -> Outcome:
    return run_task(sim, "vm_host", options, check=check)


def nothing(_lxd: Server) -> None:
    """It is well."""


def too_new(lxd: Server) -> None:
    lxd.version = "6.7"


def no_bridge(lxd: Server) -> None:
    del lxd.networks["br0"]


def no_qemu(lxd: Server) -> None:
    lxd.drivers = ["lxc"]


BRIDGELESS = "LXD has no bridge, and default_macvlan_mode is not set: VMs there have nothing to be attached to."
NOT_RUNNING = "LXD has no virtual machines: it finds no QEMU, or no /dev/kvm."
NEW = "LXD 6.7 has instance_boot_mode, and MAAS composes VMs without it: composing fails."
SEEN: Mapping[str, tuple[Change, dict[str, Any], str]] = {
    "nothing": (nothing, {}, ""),
    "too new": (too_new, {}, NEW),
    "no bridge": (no_bridge, {}, BRIDGELESS),
    "no bridge, and none needed": (no_bridge, {"default_macvlan_mode": "bridge"}, ""),
    "no QEMU": (no_qemu, {}, NOT_RUNNING),
}


@pytest.mark.parametrize(("change", "options", "says"), SEEN.values(), ids=SEEN)
def test_what_lxd_says_keeps_vms_away_is_told_before_and_after(
    sim: Simulator, lxd: Server, change: Change, options: dict[str, Any], says: str
) -> None:
    change(lxd)
    foreseen = vm_host(sim, check=True, **wish(lxd, **options))
    came = vm_host(sim, **wish(lxd, **options))
    again = vm_host(sim, **wish(lxd, **options))
    maas_says = "MAAS knows no network of kvm1"
    for outcome in (foreseen, came, again):
        told = [text for text in done(outcome)["obstacles"] if maas_says not in text]
        assert [text[: len(says)] for text in told] == ([says] if says else [])
        assert all(text in outcome.result.get("warnings", []) for text in told)
    assert (came.changed, again.changed) == (True, False)
    assert lxd.door.requests.writes() == []


def test_vms_of_the_project_are_found_before_anything_is_registered(sim: Simulator, lxd: Server) -> None:
    lxd.projects["maas"] = {"mine": instance("mine", lxd)}
    for check in (True, False):
        came = vm_host(sim, check=check, **wish(lxd))
        assert came["failure"]["kind"] == "conflict"
        assert came.msg.startswith("The project maas has VMs already (mine), and MAAS would commission them")
    assert registered(sim) == []
    assert "mine" in " ".join(vm_host(sim, **wish(lxd, existing_vms="import"))["warnings"])


def test_a_restricted_certificate_is_said_with_its_projects(sim: Simulator, lxd: Server, tmp_path: Path) -> None:
    narrow = {"certificate": str(tmp_path / "crt"), "key": str(tmp_path / "key")}
    self_signed("narrow").write(tmp_path / "crt", tmp_path / "key")
    lxd.projects["other"] = {}
    lxd.trust((tmp_path / "crt").read_text(), Certificate(restricted=True, projects=["other"]))
    foreseen = vm_host(sim, check=True, **wish(lxd, **narrow))
    came = vm_host(sim, **wish(lxd, **narrow))
    assert (came["failure"]["kind"], registered(sim)) == ("forbidden", [])
    says = "for projects that are named (other), and maas is not among them."
    assert says in came.msg
    assert says in foreseen["warnings"][0]
    assert vm_host(sim, **wish(lxd, **narrow, project="other"))["vm_host"]["discovered"]


def test_a_certificate_that_is_not_trusted_is_foreseen(sim: Simulator, lxd: Server, tmp_path: Path) -> None:
    stranger = {"certificate": str(tmp_path / "crt"), "key": str(tmp_path / "key")}
    self_signed("stranger").write(tmp_path / "crt", tmp_path / "key")
    foreseen = vm_host(sim, check=True, **wish(lxd, **stranger))
    assert foreseen["warnings"][0].startswith("LXD does not trust the certificate with the fingerprint ")
    assert not vm_host(sim, check=True, **wish(lxd, **stranger, password="sekret")).result.get("warnings")


def test_capacity_that_does_not_come_is_explained(sim: Simulator, lxd: Server) -> None:
    no_qemu(lxd)
    lxd.cores = 0
    came = vm_host(sim, **wish(lxd, wait_timeout=0.5))
    assert came["failure"]["kind"] == "timeout"
    assert f"MAAS has not learned how many cores it has. {NOT_RUNNING}" in came.msg


# -- who is asked ------------------------------------------------------------------------------------------------------


def test_an_lxd_that_nothing_vouches_for_is_not_asked(sim: Simulator, lxd: Server) -> None:
    no_qemu(lxd)
    came = vm_host(sim, **{**wish(lxd), "server_cert": None})
    assert NOT_RUNNING not in done(came)["obstacles"]
    assert list(lxd.door.requests) == []


def test_an_lxd_that_is_not_reached_from_here_is_passed_over(sim: Simulator, lxd: Server) -> None:
    no_qemu(lxd)
    came = vm_host(sim, **{**wish(lxd), "power_address": "127.0.0.1:8452"})
    assert NOT_RUNNING not in done(came)["obstacles"]


@pytest.mark.parametrize("check", [True, False])
def test_another_server_than_the_one_that_is_meant_is_a_failure(sim: Simulator, lxd: Server, check: bool) -> None:
    came = vm_host(sim, check=check, **wish(lxd, server_cert="ab" * 32))
    assert came["failure"]["kind"] == "tls"
    assert "is not that of server_cert: its fingerprint is" in came.msg
    assert "lxd_" not in came.msg
    assert (registered(sim), list(lxd.door.requests)) == ([], [])


def test_a_token_says_by_what_the_server_is_known(sim: Simulator, lxd: Server) -> None:
    no_qemu(lxd)
    content = {"client_name": "maas", "secret": "s", "fingerprint": lxd.door.fingerprint, "addresses": []}
    token = base64.b64encode(json.dumps(content).encode()).decode()
    came = vm_host(sim, **{**wish(lxd), "server_cert": None, "token": token})
    assert NOT_RUNNING in done(came)["obstacles"]
