# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the guides do what is said of them. Those of hosted clusters are run in the lab."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import certifi
import pytest

from integration.arranging import client
from integration.cases import deployed_with_lxd
from integration.documented import EXAMPLES, ROOT, SIMULATOR, blocks, playbook
from integration.harness import clean_environment, reach
from integration.maintaining import Maintenance
from integration.vm_hosts import Hosts
from metalshift_lab.authority import self_signed
from metalshift_lab.simulator import Simulator
from metalshift_lab.simulator.lxd import servers

pytestmark = pytest.mark.playbooks

Words = Mapping[str, str]


def nothing(_sim: Simulator, _folder: Path) -> Words:
    return {}


def racks(sim: Simulator, _folder: Path) -> Words:
    for zone in ("az1", "az2", "az3"):
        sim.machines(2, zones=[zone], tags=["nvme"], memory=131072)
    return {}


def control_planes(sim: Simulator, _folder: Path) -> Words:
    for number in (1, 2, 3):
        sim.machine(f"cp-{number}")
    return {}


def an_lxd_that_knows_us(sim: Simulator, folder: Path) -> Words:
    deployed_with_lxd(sim)
    pair = self_signed("maas")
    pair.write(folder / "maas.crt", folder / "maas.key")
    for server in servers(sim.state).values():
        server.trust(pair.certificate.decode())
    return {"/etc/metalshift": str(folder)}


def three_hosts(sim: Simulator, folder: Path) -> Words:
    """Known to MAAS, and reached as the example says."""
    hosts = Hosts.up(sim)
    words = {"/etc/metalshift": str(folder)}
    for name, server in hosts.servers.items():
        (folder / f"{name}.crt").write_bytes(Path(server.server_cert).read_bytes())
        words[f"https://{name}.example.com:8443"] = server.endpoint
    for part, text in hosts.pair.items():
        (folder / {"certificate": "client.crt", "key": "client.key"}[part]).write_text(text)
    return words


def three_hosts_and_a_domain(sim: Simulator, folder: Path) -> Words:
    client(sim).post("domains/", {"name": "lab.example.com"})
    return three_hosts(sim, folder)


def three_hosts_with_vms(sim: Simulator, folder: Path) -> Words:
    Maintenance.at(sim, folder)
    return {}


def a_pair_of_keys(_sim: Simulator, folder: Path) -> Words:
    self_signed("maas").write(folder / "maas.crt", folder / "maas.key")
    return {"/etc/metalshift": str(folder)}


#: It names LXDs by address: what does not answer is not taken for empty, in check mode either.
NEEDS_AN_LXD = ("vms_guide.rst 2",)
#: What has to be there before, and returns the words of the example that are replaced.
BEFORE: Mapping[str, Callable[[Simulator, Path], Words]] = {
    "claims_guide.rst 1": racks,
    "control_plane_vms/README.md 1": three_hosts_and_a_domain,
    "failures_guide.rst 1": nothing,
    "getting_started_guide.rst 1": nothing,
    "getting_started_guide.rst 2": racks,
    "lxd_maintenance/README.md 1": three_hosts_with_vms,
    "machines_guide.rst 1": nothing,
    "networks_guide.rst 1": control_planes,
    "networks_guide.rst 2": control_planes,
    "vm_hosts_guide.rst 1": an_lxd_that_knows_us,
    "vm_hosts_guide.rst 2": three_hosts_with_vms,
    "vms_guide.rst 1": three_hosts,
    "vms_guide.rst 2": three_hosts,
}
GIVEN = ("-e", "bmc_password=sesame")


def test_each_example_is_run_somewhere() -> None:
    assert sorted(name for name, _text in blocks()) == sorted(EXAMPLES)
    for where in EXAMPLES.values():
        assert where.startswith("no playbook: ") or (ROOT / "tests" / where).is_file(), where
    assert sorted(BEFORE) == sorted(name for name, where in EXAMPLES.items() if where == SIMULATOR)


@pytest.mark.parametrize("arguments", [(), ("--check", "--diff")], ids=["run", "check"])
@pytest.mark.parametrize("name", BEFORE)
def test_an_example_of_the_guides_runs(tmp_path: Path, name: str, arguments: tuple[str, ...]) -> None:
    assert_runs(tmp_path, name, BEFORE[name], *arguments)


@pytest.mark.parametrize("name", [name for name in BEFORE if name not in NEEDS_AN_LXD])
def test_an_example_of_the_guides_is_checked_where_there_is_nothing(tmp_path: Path, name: str) -> None:
    """An earlier play may be the one that would have made what it names."""
    assert_runs(tmp_path, name, a_pair_of_keys, "--check", "--diff")


def assert_runs(tmp_path: Path, name: str, before: Callable[[Simulator, Path], Words], *arguments: str) -> None:
    with Simulator() as maas:
        maas.auto(0.1)
        words = {
            **before(maas, tmp_path),
            "https://maas.example.com:5443/MAAS": maas.url,
            "/etc/ssl/certs/our-ca.pem": certifi.where(),
            "{{ vault_maas_api_key }}": maas.api_key,
        }
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("ansible-playbook")),
                playbook(name, tmp_path, **words),
                *GIVEN,
                *arguments,
            ],
            cwd=tmp_path,
            env={**clean_environment(tmp_path), **reach(maas)},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed=0" in done.stdout
    assert "ok=0" not in done.stdout
