# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""LXD hosts with VMs that run, and the playbook that takes such a host out of use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from integration.harness import Played, clean_environment, reach, run_task
from integration.vm_hosts import QUICK, Hosts
from metalshift_lab.simulator import Simulator

NO_SCHEDULE = "maas-lxd-host-noschedule"
PLAYBOOK = "metalshift.maas.maintain_lxd_host"
SET: Mapping[str, Any] = {"claim": "cp", "count": 3, "interfaces": [{"addresses": ["10.99.0.71-10.99.0.79"]}]}
WORK: Mapping[str, Any] = {
    "name": "Work",
    "ansible.builtin.lineinfile": {"path": "{{ lab_work }}", "line": "{{ lxd_maintenance_host }}", "create": True},
}
# What `lxc stop` of the host asks of its LXD.
LXC = """#!{python}
import json, os, ssl, sys, urllib.request
if "--stubborn" in os.environ.get("LAB_LXC", ""):
    sys.exit("Error: Failed shutting down instance: context deadline exceeded")
words = sys.argv[1:]
assert words[:2] + words[3:4] == ["stop", "--project", "--timeout"], words
project, timeout, names = words[2], int(words[4]), words[5:]
lxd = json.loads(os.environ["LAB_LXD"])
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.load_cert_chain(lxd["certificate"], lxd["key"])
for name in names:
    wish = json.dumps({{"action": "stop", "timeout": timeout, "force": False}}).encode()
    url = f"{{lxd['endpoint']}}/1.0/instances/{{name}}/state?project={{project}}"
    asked = urllib.request.Request(url, wish, {{"Content-Type": "application/json"}}, method="PUT")
    urllib.request.urlopen(asked, context=context, timeout=20).read()
"""


@dataclass
class Maintenance:
    """Three hosts, each with a VM of a set that runs; kvm1 is the one to be worked on."""

    hosts: Hosts
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, sim: Simulator, folder: Path) -> Maintenance:
        hosts = Hosts.up(sim)
        done = hosts.run("vm_set", "maas", **SET)
        assert not done.failed, done.msg
        names = [vm["hostname"] for vm in done["vms"]]
        deployed = run_task(sim, "machine", {"machines": names, "claim": "cp", "state": "deployed", **QUICK})
        assert not deployed.failed, deployed.msg
        found = cls(hosts, folder)
        found._write()
        hosts.clear()
        return found

    def _write(self) -> None:
        (self.folder / "bin").mkdir()
        lxc = self.folder / "bin" / "lxc"
        lxc.write_text(LXC.format(python=sys.executable))
        lxc.chmod(0o755)
        (self.folder / "work.yml").write_text(yaml.safe_dump([dict(WORK)], sort_keys=False))
        # The machine that tests run on has no sudo, and its user is what become would make of it.
        known = f"ansible_connection=local ansible_python_interpreter={sys.executable} ansible_become=false"
        (self.folder / "inventory.ini").write_text(
            "".join(f"{name} {known}\n" for name in ("localhost", *self.hosts.servers))
        )
        server = self.hosts.servers["kvm1"]
        self.environment["LAB_LXD"] = json.dumps(
            {"endpoint": server.endpoint, "certificate": str(server.client_cert), "key": str(server.client_key)}
        )

    def command(self, given: Mapping[str, Any]) -> list[str]:
        extra = {"lxd_maintenance_hosts": ["kvm1"], "lab_work": str(self.folder / "done"), **given}
        (self.folder / "extra_vars.yml").write_text(yaml.safe_dump(extra))
        ansible = str(Path(sys.executable).with_name("ansible-playbook"))
        return [ansible, PLAYBOOK, "-i", "inventory.ini", "-e", "@extra_vars.yml"]

    @property
    def variables(self) -> dict[str, str]:
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return {**clean_environment(self.folder), **reach(self.hosts.sim), "PATH": path, **self.environment}

    def play(self, *arguments: str, **given: Any) -> Played:
        events = self.folder / "events.jsonl"
        events.unlink(missing_ok=True)
        done = subprocess.run(
            [*self.command({f"lxd_maintenance_{name}": value for name, value in given.items()}), *arguments],
            env={**self.variables, "LAB_EVENTS": str(events)},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        lines = events.read_text().splitlines() if events.exists() else []
        return Played(done.returncode, done.stdout, done.stderr, [json.loads(line) for line in lines], self.folder)

    def done(self, *arguments: str, **given: Any) -> Played:
        played = self.play(*arguments, **given)
        assert played.status == 0, played.output[-4000:]
        return played

    # -- what there is ------------------------------------------------------------------------------------------------

    def is_closed(self, host: str = "kvm1") -> bool:
        return NO_SCHEDULE in [tag.name for tag in self.machine(host).tags]

    def machine(self, hostname: str) -> Any:
        (found,) = [each for each in self.hosts.sim.state.machines if each.hostname == hostname]
        return found

    def power(self) -> dict[str, str]:
        return {name: machine.power_state for name, machine in sorted(self.hosts.in_maas.items())}

    @property
    def worked_on(self) -> list[str]:
        done = self.folder / "done"
        return done.read_text().split() if done.exists() else []

    @property
    def remembered(self) -> list[str]:
        return sorted(tag.name for tag in self.hosts.sim.state.tags if tag.name.startswith("lxd-stopped-"))

    def as_before(self) -> bool:
        running = dict.fromkeys(("cp-1", "cp-2", "cp-3"), "on")
        return (self.power(), self.is_closed(), self.remembered) == (running, False, [])
