# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that passes for a deployed machine, and playbooks that are run for it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from integration.harness import Played, clean_environment, reach
from metalshift_lab.lxd.nodes import HOST_ARGUMENTS, Node, nodes, remove
from metalshift_lab.lxd.server import RealLxd
from metalshift_lab.simulator import Simulator

NAME = "kvm-1"
ROLE = "metalshift.maas.lxd_host"
LIMIT = 1200
SAID = "It says: "


@dataclass(frozen=True)
class Machine:
    """A node, the MAAS that knows it as deployed, and where playbooks are run."""

    node: Node
    sim: Simulator
    folder: Path
    real: RealLxd

    def play(self, whole: Sequence[Mapping[str, Any]] | Path, *arguments: str) -> Played:
        playbook = self.folder / "play.yml"
        playbook.write_text(whole.read_text() if isinstance(whole, Path) else yaml.safe_dump(list(whole)))
        return self.run(
            {"kvm": {"hosts": {NAME: {**self.node.variables, "ansible_pipelining": True}}}}, "play.yml", *arguments
        )

    def run(self, inventory: Mapping[str, Any], playbook: str, *arguments: str) -> Played:
        events = self.folder / "events.jsonl"
        (self.folder / "hosts.json").write_text(json.dumps(inventory))
        events.unlink(missing_ok=True)
        done = subprocess.run(
            [Path(sys.executable).with_name("ansible-playbook"), "-i", "hosts.json", playbook, *arguments],
            env={**clean_environment(self.folder), **reach(self.sim), "LAB_EVENTS": str(events)},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        lines = events.read_text().splitlines() if events.exists() else []
        return Played(done.returncode, done.stdout, done.stderr, [json.loads(line) for line in lines], self.folder)

    def role(self, *arguments: str, **wish: Any) -> Played:
        """The role with these variables, without their prefix."""
        role = {"role": ROLE, **{f"lxd_host_{name}": value for name, value in wish.items()}}
        return self.play([{"hosts": "kvm", "gather_facts": False, "roles": [role]}], *arguments)

    def playbook(
        self, name: str, hosts: Mapping[str, Mapping[str, Any]], *arguments: str, elsewhere: Sequence[str] = ()
    ) -> Played:
        """A playbook of the collection, for these hosts, which are all this machine; `elsewhere` are in no group."""
        known = {**self.node.variables, "ansible_pipelining": True}
        inventory = {
            "lxd_hosts": {"hosts": {host: {**known, **more} for host, more in hosts.items()}},
            "ungrouped": {"hosts": dict.fromkeys(elsewhere, known)},
        }
        return self.run(inventory, f"metalshift.maas.{name}", *arguments)

    def roles(self, *wishes: Mapping[str, Any]) -> Played:
        """The role with each of these wishes, in one playbook, also after one that fails."""
        tasks = [
            {
                "block": [
                    {
                        "ansible.builtin.include_role": {"name": ROLE},
                        "vars": {f"lxd_host_{name}": value for name, value in wish.items()},
                    },
                    {"ansible.builtin.debug": {"msg": SAID}},
                ],
                "rescue": [{"ansible.builtin.debug": {"msg": SAID + "{{ ansible_failed_result.msg }}"}}],
            }
            for wish in wishes
        ]
        return self.play([{"hosts": "kvm", "gather_facts": False, "tasks": tasks}])

    def refusals(self, *wishes: Mapping[str, Any]) -> list[str]:
        """What the role says to each of these wishes; empty for what it does not refuse."""
        played = self.roles(*wishes)
        assert played.status == 0, played.output
        said = [str(result.get("msg", "")) for result in played.results]
        return [msg.removeprefix(SAID) for msg in said if msg.startswith(SAID)]

    def put(self, path: str, text: str) -> None:
        """A program on the machine."""
        command = f"cat > {path} && chmod 755 {path}"
        words = ["ssh", "-i", str(self.node.key), *HOST_ARGUMENTS.split(), f"root@{self.node.address}", command]
        subprocess.run(words, input=text, text=True, check=True, capture_output=True)

    def install(self, *packages: str) -> None:
        """Packages of Debian, with which the role has nothing to do."""
        command = "DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends"
        self.node.run(f"apt-get update --quiet && {command} {' '.join(packages)}")

    def told(self, program: str) -> list[str]:
        """What a stand-in was told so far."""
        return self.node.run(f"cat /var/log/{program} 2>/dev/null; rm -f /var/log/{program}").splitlines()

    @property
    def network(self) -> str:
        """What became of its network, for a test that fails."""
        return self.node.run("cat /var/lib/metalshift/network/log; journalctl -u systemd-networkd; ip address")

    @property
    def state(self) -> list[str]:
        """What the role changes on it."""
        packages = "dpkg-query --show --showformat '${Package}\\n'"
        look = "ip -brief link | cut -d' ' -f1; ls /etc/netplan /etc/systemd/system /var/lib"
        return self.node.run(f"{look}; {packages}").splitlines()


@contextmanager
def deployed(real: RealLxd, folder: Path) -> Iterator[Machine]:
    """A machine that is nothing yet; gone afterwards."""
    (node,) = nodes(real, [NAME])
    try:
        with Simulator() as sim:
            sim.auto(0.1)
            sim.standing(NAME, mac=node.mac, ip=node.address, network=real.subnet)
            sim.real_lxd(real.subnet)
            yield Machine(node, sim, folder, real)
    finally:
        remove(real, [NAME])


def changes(played: Played) -> int:
    """How many tasks changed something."""
    (count,) = re.findall(rf"{NAME} .*changed=(\d+)", played.stdout)
    return int(count)
