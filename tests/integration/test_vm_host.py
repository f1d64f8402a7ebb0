# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""VM hosts: registered once, adopted, repaired, closed, and taken away with their VMs or without."""

from __future__ import annotations

import base64
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._http import client as client_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts import keys
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts import apply
from integration.arranging import client
from integration.cases import LXD, PROMPT, deployed_with_lxd, two_vms_on_kvm1
from integration.harness import Outcome, assert_no_secret, reach, run_playbook, run_task
from integration.test_runner import A_MODULE
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.lxd import Disk, Instance, Nic, StoragePool, servers
from metalshift_lab.simulator.model import VMHost

KVM1 = {"name": "kvm1", **LXD, **PROMPT}
CLOSED = ["maas-lxd-host-maintenance", "maas-lxd-host-noschedule"]
LONG_AGO, NEVER = "2020-01-01T00:00:00.123456789Z", "0001-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between attempts and the strength of keys are nothing that these tests are about."""
    monkeypatch.setattr(client_module, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(client_module, "LONGEST_RETRY_AFTER", 0.001)
    monkeypatch.setattr(apply, "WHILE_LXD_STARTS", 0.05)
    monkeypatch.setattr(keys, "BITS", 1024)


def vm_host(sim: Simulator, check: bool = False, **options: Any) -> Outcome:
    return run_task(sim, "vm_host", options, check=check)


def done(outcome: Outcome) -> dict[str, Any]:
    assert not outcome.failed, outcome.msg
    found: dict[str, Any] = outcome["vm_host"]
    return found


def registered(sim: Simulator) -> list[VMHost]:
    return list(sim.state.vm_hosts)


def writes(sim: Simulator) -> list[str]:
    return [f"{entry.method} {entry.op or ''}".strip() for entry in sim.requests.writes()]


def token(**content: Any) -> str:
    return base64.b64encode(json.dumps(content).encode()).decode()


# -- registering ------------------------------------------------------------------------------------------------------


def test_a_new_host_is_told_when_vms_can_be_composed_there(sim: Simulator) -> None:
    host = done(vm_host(sim, **KVM1, cpu_over_commit_ratio=2))
    assert host["capacity"]["cores"] == {"total": 16, "used": 0, "limit": 32, "available": 32}
    assert host["obstacles"] == []
    assert (host["project"], host["version"], host["schedulable"]) == ("maas", "5.21.3", True)


def test_without_waiting_a_new_host_has_no_capacity_yet_and_says_so(sim: Simulator) -> None:
    came = vm_host(sim, **{**KVM1, "wait": False})
    assert done(came)["capacity"]["cores"]["total"] == 0
    assert came["warnings"] == ["MAAS has not learned how many cores it has."]


def test_a_host_takes_from_its_machine_what_the_task_does_not_say(sim: Simulator) -> None:
    deployed_with_lxd(sim)
    host = done(vm_host(sim, machine="node-1", password="sekret", **PROMPT))
    address = sim.find("node-1").interfaces[0].links[0].ip
    assert (host["name"], host["zone"], host["pool"]) == ("node-1", "az1", "virtual")
    assert host["power_address"] == f"{address}:8443"
    assert host["machine"]["hostname"] == "node-1"


FAILURES: dict[str, tuple[dict[str, Any], str, str]] = {
    "wrong password": ({"password": "wrong"}, "credentials", "accepts neither the certificate nor the password"),
    "no password": ({"password": None}, "credentials", "does not trust the certificate with the fingerprint"),
    "nothing listens": ({"power_address": "127.0.0.1:9"}, "unreachable", "do not reach an LXD at 127.0.0.1:9"),
}


@pytest.mark.parametrize(("options", "kind", "says"), FAILURES.values(), ids=FAILURES)
def test_what_maas_cannot_use_is_not_left_registered(
    sim: Simulator, options: dict[str, Any], kind: str, says: str
) -> None:
    came = vm_host(sim, **{**KVM1, **options})
    assert came.failed
    assert not came.changed
    assert came["failure"]["kind"] == kind
    assert came.msg.startswith("VM host kvm1 cannot be used: ")
    assert says in came.msg
    assert "It was not registered." in came.msg
    assert registered(sim) == []


TEXTS = {
    "restricted": ("VM Host 3: Certificate is restricted", "forbidden", "but not for the project maas"),
    "passwords are gone": ("VM Host 3: Password authentication is no longer supported", "unsupported", "no password"),
    "too old": ("Please upgrade your LXD host to 4.16 or higher to support projects", "unsupported", "is too old"),
    "unheard of": ("VM Host 3: the moon is full", "unavailable", "MAAS cannot talk to its LXD: the moon is full."),
}


@pytest.mark.parametrize(("text", "kind", "says"), TEXTS.values(), ids=TEXTS)
def test_the_words_of_maas_become_a_sentence(sim: Simulator, text: str, kind: str, says: str) -> None:
    sim.fault(method="POST", op="refresh", status=503, text=f"Failed talking to pod: {text}", hits=0)
    came = vm_host(sim, **{**KVM1, "password": "wrong"})
    assert came["failure"]["kind"] == kind
    assert says in came.msg
    assert registered(sim) == []


def test_an_lxd_without_storage_pool_is_said_to_lack_one(sim: Simulator) -> None:
    sim.lxd(address="127.0.0.1:8450", password="sekret", pools=[])
    came = vm_host(sim, **{**KVM1, "power_address": "127.0.0.1:8450"})
    assert came["failure"]["kind"] == "capacity"
    assert "LXD has no storage pool, and VMs need one. It was not registered. Make one with" in came.msg


def test_a_maas_without_racks_is_named_as_that(sim: Simulator) -> None:
    sim.set_rack(False)
    came = vm_host(sim, **KVM1)
    assert came["failure"]["kind"] == "unavailable"
    assert "no rack controller of MAAS is connected" in came.msg


def test_an_lxd_that_is_just_starting_is_waited_for(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply, "WHILE_LXD_STARTS", 10.0)
    text = "Failed talking to pod: Pod 1: Failed to connect to the LXD REST API: Connection refused"
    sim.set_rack(False)
    sim.fault(method="POST", op="refresh", status=503, text=text, hits=2)

    def start(_self: object, seconds: float) -> None:
        sim.set_rack(True)

    monkeypatch.setattr("ansible_collections.metalshift.maas.plugins.module_utils._core.clock.WallClock.sleep", start)
    assert done(vm_host(sim, **{**KVM1, "wait_timeout": 100}))["discovered"]


def test_capacity_that_does_not_come_ends_the_wait_with_what_is_missing(sim: Simulator) -> None:
    sim.lxd(address="127.0.0.1:8450", password="sekret", cores=0)
    came = vm_host(sim, **{**KVM1, "power_address": "127.0.0.1:8450", "wait_timeout": 0.5})
    assert came["failure"]["kind"] == "timeout"
    assert came.changed
    assert "no VM can be composed there: MAAS has not learned how many cores it has." in came.msg
    assert len(registered(sim)) == 1


def test_capacity_that_is_late_is_asked_for_again(sim: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply, "BETWEEN_REFRESHES", 0.0)
    lxd = sim.lxd(address="127.0.0.1:8450", password="sekret", cores=0)
    done(vm_host(sim, **{**KVM1, "power_address": "127.0.0.1:8450", "wait": False}))
    lxd.cores = 8
    came = vm_host(sim, **{**KVM1, "power_address": "127.0.0.1:8450"})
    assert done(came)["capacity"]["cores"]["total"] == 8
    assert came["diff"][0]["after_header"].endswith("(refresh: MAAS has not learned how many cores it has)")


def test_what_keeps_vms_from_starting_is_warned_of(sim: Simulator) -> None:
    sim.lxd(address="127.0.0.1:8450", password="sekret", version="6.7", mac="52:54:00:00:77:01")
    came = vm_host(sim, **{**KVM1, "power_address": "127.0.0.1:8450"})
    texts = done(came)["obstacles"]
    assert texts[0].startswith("LXD 6.7 has instance_boot_mode, and MAAS composes VMs without it: composing fails.")
    assert texts[1] == "MAAS knows no network of kvm1: VMs there have nothing to be attached to."
    assert came["warnings"] == texts


def test_a_host_whose_networks_have_no_dhcp_is_warned_of(sim: Simulator) -> None:
    deployed_with_lxd(sim)
    sim.find("node-1").interfaces[0].vlan.dhcp_on = False  # type: ignore[union-attr]
    came = vm_host(sim, machine="node-1", password="sekret", **PROMPT)
    assert came["warnings"] == [
        "No VLAN that node-1 is on has DHCP (fabric-0/untagged): VMs there cannot boot from MAAS."
    ]


# -- which one --------------------------------------------------------------------------------------------------------


SPELLINGS = ["127.0.0.1:8449", "https://127.0.0.1:8449", "https://127.0.0.1:8449/"]


@pytest.mark.parametrize("address", SPELLINGS)
def test_an_lxd_is_registered_once_however_its_address_is_written(sim: Simulator, address: str) -> None:
    done(vm_host(sim, **KVM1))
    again = vm_host(sim, power_address=address, project="maas")
    assert not again.changed, again["diff"]
    assert len(registered(sim)) == 1


def test_another_name_renames_the_host_of_that_address(sim: Simulator) -> None:
    done(vm_host(sim, **KVM1))
    assert done(vm_host(sim, **{**KVM1, "name": "kvm2"}))["name"] == "kvm2"
    assert len(registered(sim)) == 1


def test_the_host_of_a_machine_is_found_under_any_address_of_it(sim: Simulator) -> None:
    deployed_with_lxd(sim)
    server = sim.lxd("node-1", password="sekret", address="node-1.maas:8443")
    server.trusted = sim.lxd("node-1", password="sekret").trusted
    done(vm_host(sim, machine="node-1", password="sekret", **PROMPT))
    came = vm_host(sim, name="node-1", power_address="node-1.maas", **PROMPT)
    assert done(came)["power_address"] == "node-1.maas"
    assert len(registered(sim)) == 1
    assert not vm_host(sim, machine="node-1").changed


def test_another_project_of_the_same_lxd_is_another_host(sim: Simulator) -> None:
    done(vm_host(sim, **KVM1))
    done(vm_host(sim, **{**KVM1, "name": "kvm1-other", "project": "other"}))
    assert [host.parameters["project"] for host in registered(sim)] == ["maas", "other"]
    assert done(vm_host(sim, power_address="127.0.0.1:8449"))["name"] == "kvm1", "the project maas, unless told"


def test_two_registrations_of_one_project_are_not_chosen_from(sim: Simulator) -> None:
    maas = client(sim)
    for name in ("a", "b"):
        maas.post("vm-hosts/", {"type": "lxd", "name": name, "project": "maas", **LXD})
    came = vm_host(sim, power_address="127.0.0.1:8449", project="maas")
    assert came["failure"]["kind"] == "invalid"
    assert "fits several VM hosts: a (maas, id 1), b (maas, id 2)." in came.msg
    assert done(vm_host(sim, name="b"))["name"] == "b"


def test_a_name_that_is_taken_is_refused(sim: Simulator) -> None:
    sim.lxd(address="127.0.0.1:8450", password="sekret", mac="52:54:00:00:77:01")
    done(vm_host(sim, **KVM1))
    done(vm_host(sim, **{**KVM1, "name": "kvm2", "power_address": "127.0.0.1:8450"}))
    came = vm_host(sim, **{**KVM1, "name": "kvm2"})
    assert came["failure"]["kind"] == "conflict"
    assert came.msg.startswith("VM host kvm1 cannot be called kvm2: another VM host is called so.")


def test_a_host_of_another_type_is_left_alone(sim: Simulator) -> None:
    client(sim).post("vm-hosts/", {"type": "virsh", "name": "old", "power_address": "qemu+ssh://x/system"})
    came = vm_host(sim, **{**KVM1, "name": "old"})
    assert "VM host old is of the type virsh" in came.msg
    assert not vm_host(sim, name="gone", state="absent").failed


def instance(name: str, server: Any) -> Instance:
    return Instance(
        name, 1, 1024, [Disk("root", server.pools[0], 10**9)], [Nic("eth0", f"52:54:00:00:88:0{len(name)}")]
    )


def test_vms_that_a_project_has_already_are_not_restarted_unasked(sim: Simulator) -> None:
    server = sim.lxd(address="127.0.0.1:8450", password="sekret", mac="52:54:00:00:77:01")
    there = {**KVM1, "power_address": "127.0.0.1:8450"}
    server.projects["private"] = {"mine": instance("mine", server)}
    done(vm_host(sim, **there))
    refused = vm_host(sim, **{**there, "name": "more", "project": "private"})
    assert refused["failure"]["kind"] == "conflict"
    assert refused.msg.startswith("The project private has VMs already (mine), and MAAS would commission them")
    assert len(registered(sim)) == 1
    told = vm_host(sim, **{**there, "name": "more", "project": "private", "existing_vms": "import"})
    assert "MAAS took over VMs, and restarts them to commission them: mine." in told["warnings"]
    assert [vm["name"] for vm in done(told)["virtual_machines"]] == ["mine"]


# -- lost answers -----------------------------------------------------------------------------------------------------

LOST = {
    "dropped before": {"does": "drop", "when": "before"},
    "dropped after": {"does": "drop", "when": "after"},
    "503 before": {"does": "error", "status": 503, "when": "before"},
    "503 after": {"does": "error", "status": 503, "when": "after"},
    "504 after": {"does": "error", "status": 504, "when": "after"},
    "conflict": {"does": "retry", "retry_after": 0},
}


@pytest.mark.parametrize("trouble", LOST.values(), ids=LOST)
def test_a_lost_answer_makes_no_second_host(sim: Simulator, trouble: dict[str, Any]) -> None:
    sim.fault(method="POST", path="vm-hosts/$", op="", **trouble)
    came = vm_host(sim, **KVM1, tags=["fast"], schedulable=False)
    assert done(came)["capacity"]["cores"]["total"] == 16
    assert [host.name for host in registered(sim)] == ["kvm1"]
    for method in ("POST", "PUT", "DELETE"):
        sim.fault(method=method, **trouble)
    assert done(vm_host(sim, **{**KVM1, "zone": "default", "tags": ["slow"], "schedulable": True}))["schedulable"]
    sim.clear()
    assert not vm_host(sim, **KVM1, tags=["fast", "slow"], schedulable=True).changed
    sim.fault(method="DELETE", **trouble)
    done(vm_host(sim, name="kvm1", state="absent"))
    assert registered(sim) == []


@pytest.mark.parametrize("trouble", LOST.values(), ids=LOST)
def test_a_lost_refresh_is_made_up_for(
    sim: Simulator, monkeypatch: pytest.MonkeyPatch, trouble: dict[str, Any]
) -> None:
    monkeypatch.setattr(apply, "WHILE_LXD_STARTS", 10.0)
    client(sim).post("vm-hosts/", {"type": "lxd", "name": "kvm1", "project": "maas", **LXD, "password": "wrong"})
    sim.fault(method="POST", op="refresh", **trouble)
    assert done(vm_host(sim, **KVM1))["capacity"]["cores"]["total"] == 16


def test_a_host_that_another_run_registers_meanwhile_is_adopted(sim: Simulator, pair: keys.Pair) -> None:
    first = client(sim).post("vm-hosts/", {"type": "lxd", "name": "kvm1", "project": "maas", **LXD, **pair.form})
    # As it was when this run looked.
    sim.fault(method="GET", path="vm-hosts/$", status=200, text="[]")
    came = vm_host(sim, **KVM1, **pair.form, tags=["fast"])
    assert (done(came)["id"], done(came)["tags"]) == (first["id"], ["fast", "pod-console-logging"])
    assert len(registered(sim)) == 1


def test_what_a_killed_run_left_empty_is_repaired(sim: Simulator) -> None:
    client(sim).post("vm-hosts/", {"type": "lxd", "name": "kvm1", "project": "maas", **LXD, "password": "wrong"})
    foreseen = vm_host(sim, check=True, **KVM1)
    assert foreseen["diff"][0]["after_header"] == "VM host kvm1 (refresh: MAAS could not discover it)"
    assert done(vm_host(sim, **KVM1))["version"] == "5.21.3"
    assert not vm_host(sim, **KVM1).changed


def test_what_was_there_before_is_not_removed_when_it_cannot_be_discovered(sim: Simulator) -> None:
    client(sim).post("vm-hosts/", {"type": "lxd", "name": "kvm1", "project": "maas", **LXD, "password": "wrong"})
    came = vm_host(sim, **{**KVM1, "password": "also wrong"})
    assert came["failure"]["kind"] == "credentials"
    assert len(registered(sim)) == 1
    assert not vm_host(sim, name="kvm1", state="absent").failed
    assert registered(sim) == []


# -- certificates -----------------------------------------------------------------------------------------------------


@pytest.fixture
def pair(hasty: None) -> keys.Pair:
    return keys.make()


@pytest.fixture
def trusted(sim: Simulator, pair: keys.Pair) -> Callable[[str], None]:
    """Makes the LXD of the seed trust a certificate."""
    server = sim.lxd(address="127.0.0.1:8449", mac="52:54:00:f0:00:01", ip="10.99.0.240")

    def trust(certificate: str = pair.certificate) -> None:
        server.trusted.add("".join(certificate.split()))

    trust()
    return trust


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("given", ["text", "paths"])
def test_a_certificate_may_be_given_as_text_or_path(
    sim: Simulator, tmp_path: Path, pair: keys.Pair, given: str
) -> None:
    options = pair.form
    if given == "paths":
        options = {"certificate": str(tmp_path / "c.crt"), "key": str(tmp_path / "c.key")}
        (tmp_path / "c.crt").write_text(pair.certificate)
        (tmp_path / "c.key").write_text(pair.key)
    wish = {**KVM1, "password": None, **options}
    assert done(vm_host(sim, **wish))["certificate_fingerprint"] == pair.fingerprint
    assert not vm_host(sim, **wish).changed
    assert not vm_host(sim, **{**KVM1, "password": None}).changed, "without one it stays as it is"


def test_files_that_keep_a_certificate_are_their_owners_alone(sim: Simulator, tmp_path: Path) -> None:
    files = {"certificate": str(tmp_path / "maas.crt"), "key": str(tmp_path / "maas.key")}
    wish = {**KVM1, **files, "make_certificate": True}
    foreseen = vm_host(sim, check=True, **wish)
    assert list(tmp_path.iterdir()) == []
    came = vm_host(sim, **wish)
    assert came["diff"] == foreseen["diff"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["maas.crt", "maas.key"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert keys.fingerprint((tmp_path / "maas.crt").read_text()) == done(came)["certificate_fingerprint"]
    assert not vm_host(sim, **wish).changed


@pytest.mark.parametrize("lost", [["maas.crt"], ["maas.crt", "maas.key"]])
def test_files_that_were_lost_are_written_again_from_what_maas_has(
    sim: Simulator, tmp_path: Path, lost: list[str]
) -> None:
    files = {"certificate": str(tmp_path / "maas.crt"), "key": str(tmp_path / "maas.key")}
    wish = {**KVM1, **files, "make_certificate": True}
    before = done(vm_host(sim, **wish))["certificate_fingerprint"]
    for name in lost:
        (tmp_path / name).unlink()
    assert done(vm_host(sim, **wish))["certificate_fingerprint"] == before
    assert not vm_host(sim, **wish).changed


def test_a_key_without_its_certificate_gets_one(sim: Simulator, tmp_path: Path, pair: keys.Pair) -> None:
    """What a run leaves that is killed between the two files."""
    (tmp_path / "maas.key").write_text(pair.key)
    files = {"certificate": str(tmp_path / "maas.crt"), "key": str(tmp_path / "maas.key")}
    done(vm_host(sim, **KVM1, **files, make_certificate=True))
    assert (tmp_path / "maas.key").read_text() == pair.key
    assert registered(sim)[0].parameters["key"].strip() == pair.key.strip()


def test_another_certificate_takes_the_place_of_the_first_if_lxd_trusts_it(
    sim: Simulator, pair: keys.Pair, trusted: Callable[[str], None]
) -> None:
    before = done(vm_host(sim, **{**KVM1, "password": None}, **pair.form))["certificate_fingerprint"]
    other = keys.make()
    refused = vm_host(sim, name="kvm1", **other.form)
    assert refused["failure"]["kind"] == "credentials"
    assert "MAAS uses what it had before." in refused.msg
    assert done(vm_host(sim, name="kvm1"))["certificate_fingerprint"] == before
    trusted(other.certificate)
    assert done(vm_host(sim, name="kvm1", **other.form))["certificate_fingerprint"] == other.fingerprint
    assert not vm_host(sim, name="kvm1", **other.form).changed


WRONG_PAIRS: dict[str, tuple[dict[str, str], str]] = {
    "mixed": ({"key": "other"}, "certificate and key do not belong together."),
    "key is none": ({"key": "-----BEGIN PRIVATE KEY-----\nbGFi\n-----END PRIVATE KEY-----\n"}, "key is not a private"),
}


@pytest.mark.parametrize(("change", "says"), WRONG_PAIRS.values(), ids=WRONG_PAIRS)
def test_a_pair_that_is_none_is_not_sent(sim: Simulator, pair: keys.Pair, change: dict[str, str], says: str) -> None:
    key = keys.make().key if change["key"] == "other" else change["key"]
    came = vm_host(sim, **KVM1, **{**pair.form, "key": key})
    assert came["failure"]["kind"] == "invalid"
    assert says in came.msg
    assert writes(sim) == []


def test_a_certificate_without_its_key_is_not_replaced(sim: Simulator, tmp_path: Path) -> None:
    (tmp_path / "maas.crt").write_text("somebody's")
    files = {"certificate": str(tmp_path / "maas.crt"), "key": str(tmp_path / "maas.key")}
    came = vm_host(sim, **KVM1, **files, make_certificate=True)
    assert "is there, but its key is not." in came.msg
    assert (tmp_path / "maas.crt").read_text() == "somebody's"


def test_a_token_stands_for_a_password(sim: Simulator) -> None:
    good = token(client_name="maas", secret="s", fingerprint="f", addresses=[], expires_at=NEVER)
    sim.lxd(address="127.0.0.1:8450", password=good)
    there = {"name": "kvm1", "power_address": "127.0.0.1:8450", "token": good}
    assert done(vm_host(sim, **there, **PROMPT))["discovered"]
    assert not vm_host(sim, **{**there, "token": "used up"}).changed, "what is registered needs no token"


def test_a_token_that_has_expired_is_not_sent(sim: Simulator) -> None:
    old = token(secret="s", expires_at=LONG_AGO)
    came = vm_host(sim, name="kvm1", power_address="127.0.0.1:8449", token=old)
    assert came.msg == "token expired on 2020-01-01 at 00:00 UTC. Ask LXD for a new one."
    assert writes(sim) == []


# -- changing ---------------------------------------------------------------------------------------------------------


def test_tags_of_the_provider_and_of_maas_stay(sim: Simulator) -> None:
    host = done(vm_host(sim, **KVM1, tags=["a"]))
    client(sim).post(f"vm-hosts/{host['id']}/", {"tag": "maas-lxd-wlc-cp"}, op="add_tag")
    kept = done(vm_host(sim, name="kvm1", tags=["b"], purge_tags=True))
    assert kept["tags"] == ["b", "maas-lxd-wlc-cp", "pod-console-logging"]
    assert not vm_host(sim, name="kvm1", tags=["b"], purge_tags=True).changed


def test_tags_are_changed_without_a_list_of_all(sim: Simulator) -> None:
    """A list would take away what others set meanwhile, and refresh the host."""
    done(vm_host(sim, **KVM1, tags=["a"]))
    sim.requests.clear()
    done(vm_host(sim, name="kvm1", tags=["b"], purge_tags=True))
    assert writes(sim) == ["POST add_tag", "POST remove_tag"]


def test_a_storage_pool_that_is_new_to_maas_is_looked_for(sim: Simulator) -> None:
    server = sim.lxd(address="127.0.0.1:8450", password="sekret")
    there = {**KVM1, "power_address": "127.0.0.1:8450"}
    done(vm_host(sim, **there))
    missing = vm_host(sim, **there, default_storage_pool="fast")
    assert missing["failure"]["kind"] == "not_found"
    assert missing.msg.startswith("VM host kvm1 has no storage pool fast; it has default. Make it with")
    server.pools.append(StoragePool("fast"))
    assert done(vm_host(sim, **there, default_storage_pool="fast"))["default_storage_pool"] == "fast"
    assert not vm_host(sim, **there, default_storage_pool="fast").changed


# -- closing ----------------------------------------------------------------------------------------------------------


def tags_under(sim: Simulator) -> list[str]:
    host = registered(sim)[0].host
    return sorted(tag.name for tag in host.tags if tag.name.startswith("maas-lxd")) if host else []


def test_a_closed_host_carries_the_tags_of_the_provider_and_lists_its_vms(sim: Simulator) -> None:
    two_vms_on_kvm1(sim)
    closed = done(vm_host(sim, name="kvm1", schedulable=False))
    assert closed["schedulable"] is False
    assert [(vm["name"], vm["power_state"]) for vm in closed["virtual_machines"]] == [("vm1", "off"), ("vm2", "off")]
    assert tags_under(sim) == CLOSED
    composed = sim.find("vm1")
    assert not [tag.name for tag in composed.tags if tag.name.startswith("maas-lxd")], "its VMs do not inherit them"
    assert done(vm_host(sim, name="kvm1", schedulable=True))["schedulable"] is True
    assert tags_under(sim) == []


def test_a_half_closed_host_is_closed_whole(sim: Simulator) -> None:
    done(vm_host(sim, **KVM1, schedulable=False))
    system_id = registered(sim)[0].host.system_id  # type: ignore[union-attr]
    client(sim).post("tags/maas-lxd-host-maintenance/", {"remove": [system_id]}, op="update_nodes")
    assert done(vm_host(sim, name="kvm1"))["schedulable"] is False, "one is enough for the provider"
    assert vm_host(sim, name="kvm1", schedulable=False).changed
    assert tags_under(sim) == CLOSED


def test_what_the_provider_is_emptying_is_not_opened(sim: Simulator) -> None:
    done(vm_host(sim, **KVM1, schedulable=False))
    maas = client(sim)
    maas.post("tags/", {"name": "maas-lxd-hcp-op-1"})
    maas.post("tags/maas-lxd-hcp-op-1/", {"add": [registered(sim)[0].host.system_id]}, op="update_nodes")  # type: ignore[union-attr]
    came = vm_host(sim, name="kvm1", schedulable=True)
    assert came["failure"]["kind"] == "claimed"
    assert "the Cluster API provider is emptying it (maas-lxd-hcp-op-1)" in came.msg
    assert tags_under(sim)[0] == "maas-lxd-hcp-op-1"


# -- taking away ------------------------------------------------------------------------------------------------------


def instances(sim: Simulator) -> list[str]:
    return sorted(servers(sim.state)["127.0.0.1", 8449].projects["maas"])


@pytest.mark.parametrize(("vms", "left"), [("delete", []), ("keep", ["vm1", "vm2"])])
def test_a_host_goes_with_its_vms_or_without(sim: Simulator, vms: str, left: list[str]) -> None:
    two_vms_on_kvm1(sim)
    foreseen = vm_host(sim, check=True, name="kvm1", state="absent", vms=vms)
    assert writes(sim) == []
    came = vm_host(sim, name="kvm1", state="absent", vms=vms)
    assert done(came) == {}
    assert came["diff"] == foreseen["diff"]
    assert [entry["before_header"] for entry in came["diff"]] == ["VM vm1", "VM vm2", "VM host kvm1"]
    assert instances(sim) == left
    assert [machine.hostname for machine in sim.state.machines] == []


def test_a_vm_that_cannot_be_deleted_keeps_its_host(sim: Simulator) -> None:
    """MAAS's own way would forget the VM and leave it in LXD."""
    two_vms_on_kvm1(sim)
    stuck = sim.find("vm2").system_id
    sim.fault(method="DELETE", path=f"machines/{stuck}/", status=503, text="LXD is away", hits=0)
    came = vm_host(sim, name="kvm1", state="absent", vms="delete")
    assert came.failed
    assert came.msg.startswith("VM host kvm1 stays: 1 of 2 VMs failed: ")
    assert "LXD is away" in came.msg
    assert [host.name for host in registered(sim)] == ["kvm1"]
    sim.clear()
    done(vm_host(sim, name="kvm1", state="absent", vms="delete"))
    assert instances(sim) == []


@pytest.mark.parametrize("vms", ["delete", "keep"])
def test_vms_that_others_count_on_are_not_taken_away(sim: Simulator, vms: str) -> None:
    two_vms_on_kvm1(sim)
    vm = sim.find("vm1")
    vm.annotations["metalshift_cluster"] = "clusters/demo"
    came = vm_host(sim, name="kvm1", state="absent", vms=vms)
    assert came["failure"]["kind"] == "claimed"
    assert "hosted clusters use 1 VM: vm1 (hosted cluster clusters/demo)." in came.msg
    vm.annotations.clear()
    vm.locked = True
    came = vm_host(sim, name="kvm1", state="absent", vms=vms)
    assert "locked are 1 VM: vm1." in came.msg
    assert instances(sim) == ["vm1", "vm2"]


def test_a_deployed_machine_stays_and_is_open_when_it_becomes_a_host_again(sim: Simulator) -> None:
    deployed_with_lxd(sim)
    done(vm_host(sim, machine="node-1", password="sekret", schedulable=False, **PROMPT))
    done(vm_host(sim, machine="node-1", state="absent"))
    node = sim.find("node-1")
    assert node.status.label == "Deployed"
    assert [tag.name for tag in node.tags if tag.name.startswith("maas-lxd")] == []
    assert not vm_host(sim, machine="node-1", state="absent").changed


def test_a_host_that_may_be_of_a_cluster_is_not_removed(sim: Simulator) -> None:
    done(vm_host(sim, **KVM1))
    cluster = [{"id": 1, "name": "three", "project": "maas", "version": "5.21.3", "vmhost_count": 3}]
    sim.fault(method="GET", path="vm-clusters/", status=200, text=json.dumps(cluster))
    came = vm_host(sim, name="kvm1", state="absent")
    assert "it may be a member of the LXD cluster three, and MAAS would remove the others with it." in came.msg
    assert len(registered(sim)) == 1


# -- who may, and where -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["3.3", "3.5", "3.8"])
def test_vm_hosts_live_in_every_supported_version(sim: Simulator, version: str) -> None:
    sim.set_version(version)
    try:
        host = done(vm_host(sim, **KVM1, tags=["fast"], schedulable=False))
        assert (host["capacity"]["cores"]["total"], host["schedulable"]) == (16, False)
        assert done(vm_host(sim, name="kvm1", state="absent")) == {}
    finally:
        sim.set_version("3.6")


def test_a_maas_without_vm_hosts_points_to_lxd(sim: Simulator) -> None:
    sim.set_version("no-vmhosts")
    try:
        came = vm_host(sim, **KVM1)
        gone = vm_host(sim, name="kvm1", state="absent")
    finally:
        sim.set_version("3.6")
    assert came["failure"]["kind"] == "unsupported"
    assert "Make VMs with metalshift.maas.vm and via: lxd" in came.msg
    assert not gone.failed
    assert gone["warnings"] == ["This MAAS has no VM hosts any more, and so not this one either."]


def test_a_plain_user_is_told_that_an_administrator_is_needed(sim: Simulator) -> None:
    form = {"username": "plain", "password": "p", "email": "p@example.com", "is_superuser": "0"}
    client(sim).post("users/", form)
    refused = vm_host(sim, **KVM1, maas_api_key=sim.key_of("plain"))
    assert refused["failure"]["kind"] == "forbidden"
    assert not refused.changed


def test_a_journey_runs_in_check_mode_on_nothing(sim: Simulator) -> None:
    for options in (
        {"machine": "node-1", "name": "kvm1", "zone": "az1", "schedulable": False},
        {"name": "kvm1", "default_storage_pool": "fast"},
    ):
        came = vm_host(sim, check=True, **options)
        assert done(came)["predicted"] is True
        assert came["warnings"]


# -- secrets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [{}, A_MODULE], ids=["in-process", "as a module"])
def test_password_token_and_key_are_nowhere(
    sim: Simulator, tmp_path: Path, pair: keys.Pair, way: dict[str, Any]
) -> None:
    good = token(client_name="maas", secret="token-secret-77", expires_at=NEVER)
    sim.lxd(address="127.0.0.1:8450", password="pw-hunter2")
    sim.lxd(address="127.0.0.1:8451", password=good)
    given = tmp_path / "given"
    given.mkdir()
    (given / "key.pem").write_text(pair.key)
    there = {"project": "maas", **PROMPT}
    tasks: list[dict[str, Any]] = [
        {"name": "a", "power_address": "127.0.0.1:8450", "password": "pw-hunter2", **there},
        {"name": "b", "power_address": "127.0.0.1:8451", "token": good, **there},
        {"name": "c", "power_address": "127.0.0.1:8449", "password": "sesame-9", **pair.form, **there},
        {"name": "a", "pasword": "pw-hunter2", "kee": pair.key},
        {"name": "a", "certificate": pair.certificate, "key": f"{given}/key.pem"},
        {"name": "a", "state": "absent"},
    ]
    (given / "tasks.json").write_text(json.dumps(tasks))
    run = tmp_path / "run"
    run.mkdir()
    read = f"lookup('file', '{given}/tasks.json') | from_json"
    played = run_playbook(
        run,
        [
            {"metalshift.maas.vm_host": f"{{{{ ({read})[{number}] }}}}", "ignore_errors": True, **way}
            for number in range(len(tasks))
        ]
        + [{"metalshift.maas.vm_host_info": {"gather": ["parameters", "virtual_machines"]}, **way}],
        "-vvvv",
        "--diff",
        environment=reach(sim),
    )
    assert ["failure" in result for result in played.results] == [False, False, True, True, True, False, False]
    key_lines = [line for line in pair.key.splitlines() if "-----" not in line]
    kept = [host.parameters["key"] for host in registered(sim)]
    secrets = ["pw-hunter2", "sesame-9", good, "token-secret-77", key_lines[1], *(key.splitlines()[2] for key in kept)]
    assert_no_secret(played.output + json.dumps(played.events), secrets)


def test_a_host_that_maas_has_on_another_machine_is_said_to_be_there(sim: Simulator) -> None:
    """MAAS finds no MAC address in common with the machine, and makes another one for the LXD."""
    sim.machine("kvm1", status="Deployed")
    sim.lxd("kvm1", password="sesame").mac = "52:54:00:ff:ff:ff"
    named = {"name": "kvm1", "machine": "kvm1", "password": "sesame", "wait_sleep": 0.05}
    assert run_task(sim, "vm_host", named).changed
    again = run_task(sim, "vm_host", named)
    assert "is on the machine " in again.msg
    assert f"and not on the machine {sim.find('kvm1').system_id}. Leave out machine" in again.msg
