# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the role lxd_host makes of what it reads, and the keys that it makes, where no machine is needed for it."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from stat import S_IMODE
from typing import Any

import ansible_runner

from integration.harness import made_of_role, passed_by_awx, reach, run_playbook
from integration.vm_hosts import Hosts
from metalshift_lab.simulator import Simulator

# As tasks/look.yml reads them.
FILES = ["/dev/kvm", "/dev/vhost-vsock", "/usr/bin/lxd", "/var/lib/lxd/unix.socket"]
MACHINE = {"status_name": "Deployed", "pool": "kvm", "ip_addresses": ["10.0.0.5"], "interfaces": []}
LXD = {
    "api_extensions": ["projects", "virtual-machines", "custom_block_volumes"],
    "server": {"config": {}, "environment": {"server_version": "5.0.2", "driver": "qemu"}},
    "trust": {"certificates": []},
}
READ: dict[str, Any] = {
    "ansible_facts": {
        "distribution": "Debian",
        "pkg_mgr": "apt",
        "interfaces": ["br0", "eth0"],
        "env": {},
        "br0": {"device": "br0", "type": "bridge"},
        "eth0": {"device": "eth0", "type": "ether"},
    },
    "lxd_host_machine": "kvm-1",
    "lxd_host__files": {"stdout_lines": FILES},
    "lxd_host__listeners": {"stdout": ""},
    "lxd_host__machines": {"machines": [MACHINE]},
    "lxd_host__vm_hosts": {"vm_hosts": []},
    "lxd_host__recorded": {"content": b64encode(b"project maas\nlisten\n").decode()},
    "lxd_host__lxd": LXD,
}


def decided(folder: Path, **more: Any) -> dict[str, Any]:
    """What the role lets be judged, and what comes back."""
    role = {"name": "metalshift.maas.lxd_host", "tasks_from": "decide.yml"}
    task = {"ansible.builtin.include_role": role, "vars": {**READ, **more}}
    played = run_playbook(folder, [task])
    assert played.status == 0, played.output
    return dict(played.results[-1])


def test_what_the_tasks_have_read_is_judged(tmp_path: Path) -> None:
    wanted = {"lxd_host_reserved_cores": "2", "lxd_host_register": "no", "lxd_host_storage_size": "1GiB"}
    judged = decided(tmp_path, **wanted)
    said = {each["name"] for each in judged["preflight"]["findings"] if each["status"] == "failed"}
    assert said == {"python3-apt", "size of a folder", "bridge in MAAS"}
    assert judged["preflight"]["found"] == [
        "LXD 5.0.2, a package, with the storage pools none and the instances none.",
        "Bridges: br0. MAAS knows none.",
    ]
    assert judged["host"]["pool"]["config"] == {"size": "1073741824B"}


def test_a_certificate_is_found_among_those_that_lxd_trusts(tmp_path: Path) -> None:
    pem = "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n"
    trusted = [{"name": name, "certificate": pem.format(text)} for name, text in (("a", "QUJD"), ("b", "WF\nla"))]
    there = {**READ, "lxd_host__lxd": {**LXD, "trust": {"certificates": trusted}}}
    hosts = [{**there, "lxd_host__certificate": pem.format(text)} for text in ("WFla", "Tm9uZQ")]
    hosts += [{**there, "lxd_host__certificate": ""}, {**READ, "lxd_host__lxd": {}, "lxd_host__certificate": "x"}]
    names = made_of_role(tmp_path, "lxd_host", hosts, "{{ lxd_host__trusted.name | default('none') }}")
    assert names == ["b", "none", "none", "none"]


def have_pair(
    folder: Path,
    certificate: Path,
    key: Path,
    environment: Mapping[str, str] | None = None,
    registered: Sequence[str] = (),
    **more: Any,
) -> None:
    """As a run that finds no files of the certificate and its key."""
    role = {"name": "metalshift.maas.lxd_host", "tasks_from": "make_certificate.yml"}
    paths = {"lxd_host_certificate": str(certificate), "lxd_host_key": str(key)}
    judged = {"lxd_host__decided": {"host": {"registered": list(registered)}}}
    task = {"ansible.builtin.include_role": role, "vars": {**paths, **judged, **more}}
    played = run_playbook(folder, [task], environment=environment)
    assert played.status == 0, played.output
    assert "PRIVATE KEY" in key.read_text()
    assert "BEGIN CERTIFICATE" in certificate.read_text()


def test_a_folder_that_is_there_keeps_its_mode_and_the_certificate_may_be_in_another_one(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    certificates = tmp_path / "certificates" / "maas"
    have_pair(tmp_path, certificates / "maas.crt", shared / "maas.key")
    assert [S_IMODE(folder.stat().st_mode) for folder in (shared, certificates)] == [0o755, 0o700]


def test_a_pair_that_maas_has_comes_into_an_empty_place(sim: Simulator, tmp_path: Path) -> None:
    hosts = Hosts.up(sim, zones=["az1"])
    key = tmp_path / "empty" / "maas.key"
    have_pair(tmp_path, key.with_suffix(".crt"), key, reach(sim), ["kvm1"], lxd_host_machine="kvm1")
    assert key.read_text().strip() == hosts.pair["key"].strip()


def test_the_playbook_takes_what_awx_gives_it_unasked(sim: Simulator, tmp_path: Path) -> None:
    done = ansible_runner.run(
        private_data_dir=str(tmp_path),
        playbook="metalshift.maas.lxd_hosts",
        extravars=passed_by_awx("lxd_hosts"),
        envvars={**reach(sim), "ANSIBLE_COLLECTIONS_PATH": os.environ["ANSIBLE_COLLECTIONS_PATH"]},
        quiet=True,
    )
    said = done.stdout.read()
    assert "There is no machine to make a host of, and nothing was done" in said, said
    assert "the inventory has none in lxd_hosts" in said
