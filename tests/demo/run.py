# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make demo`: the built collection, run by ansible-runner as AWX runs it, against the lab, told as a story.

The first two acts need the simulated MAAS alone. Meanwhile the programs of the third are built: hosted clusters, with
the real operators.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ansible_runner

from metalshift_lab.kube.handle import Lab
from metalshift_lab.programs import NoPrograms, programs
from metalshift_lab.simulator import Simulator

HERE = Path(__file__).parent
TRANSITION = 2.0
# What real systems count in minutes is divided by it.
SPEED = 240
MACHINES = 12
GIB = 1024
STOPPED = 130


def main() -> int:
    began = time.monotonic()
    theatre = Theatre()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, theatre.stop)
    build = Build()
    build.start()
    status = machines(theatre) or virtual_machines(theatre) or clusters(theatre, build)
    if theatre.stopped:
        tell("\nThe demo was stopped; nothing is left of it.")
        return STOPPED
    if status:
        tell("\nThe demo did not go to its end.")
        return status
    tell(f"\nAll of it took {time.monotonic() - began:.0f} seconds.")
    tell("Next: `make lab` for a lab of your own to try playbooks on, `make test` for everything else.")
    return 0


def machines(theatre: Theatre) -> int:
    """The first act: bare metal."""
    tell("ACT ONE: MACHINES\n")
    with Simulator() as maas:
        maas.auto(TRANSITION)
        maas.fault("machine", hostname="node-", action="deploy", times=1)
        tell("A simulated MAAS is up. Its machines take two seconds for what takes real ones minutes,")
        tell("and the first of them to be deployed will fail.")
        return counted(theatre, maas, "machines.yml", {"demo_bmc_password": secrets.token_hex(8)})


def virtual_machines(theatre: Theatre) -> int:
    """The second act: VMs on LXD hosts."""
    if theatre.stopped:
        return STOPPED
    tell("\n\nACT TWO: VIRTUAL MACHINES\n")
    password = secrets.token_hex(8)
    with Simulator() as maas:
        maas.auto(TRANSITION)
        for number in (1, 2, 3):
            maas.machine(f"kvm{number}", status="Deployed", zone=f"az{number}")
            maas.lxd(f"kvm{number}", password=password, cores=16, memory=32 * GIB)
        tell("Three deployed machines, each in a zone of its own, have an LXD: a stand-in, as their MAAS is.")
        return counted(theatre, maas, "vms.yml", {"demo_lxd_password": password})


def counted(theatre: Theatre, maas: Simulator, playbook: str, variables: Mapping[str, Any]) -> int:
    """Play an act that needs MAAS alone, and tell how much MAAS was asked."""
    began = time.monotonic()
    status = theatre.play(playbook, {"demo_endpoint": maas.url, "demo_api_key": maas.api_key, **variables})
    requests = list(maas.requests)
    writes = sum(request.method != "GET" for request in requests)
    if not status:
        tell(
            f"\nThat was {len(requests)} requests to MAAS, {writes} of them writes, "
            f"in {time.monotonic() - began:.0f} seconds."
        )
    return status


def clusters(theatre: Theatre, build: Build) -> int:
    """The third act: hosted clusters on such machines."""
    if theatre.stopped:
        return STOPPED
    tell("\n\nACT THREE: HOSTED CLUSTERS\n")
    problem = build.finish(theatre)
    if problem:
        tell(f"It is left out, because the programs of the lab cannot be had here: {problem}")
        return 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="metalshift-demo-lab-")))
        tell("A management cluster starts: etcd, Kubernetes, Cluster API and HyperShift are real; MAAS, its")
        tell(f"Cluster API provider, {MACHINES} machines in three zones and what boots on them are stand-ins.")
        lab = stack.enter_context(Lab.start(folder / "lab", speed=SPEED, machines=MACHINES))
        variables = hosted_variables(lab, folder / "demo.kubeconfig")
        status = theatre.play("create.yml", variables)
        if status:
            return status
        tell("\n(The next machine that is deployed will fail, once.)")
        lab.fault("machine-fails", action="deploy", times="1")
        status = theatre.play("change.yml", variables)
        if status:
            return status
        states = list(lab.machines().values())
        tell(f"\nIn MAAS, {states.count('Ready')} of {len(states)} machines are Ready.")
        wrong = what_is_left(states, theatre.audits)
        for line in wrong:
            tell(f"  FAILED: {line}")
        return 1 if wrong else 0


def what_is_left(states: Sequence[str], audits: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """What an end with nothing left would not have: machines that are not free, leaks, or nobody who looked."""
    kept = [state for state in states if state != "Ready"]
    wrong = [f"{len(kept)} machines were not given back: {', '.join(kept)}."] if kept else []
    leaks = [leak for audit in audits for leak in audit if leak["verdict"] != "kept"]
    wrong += [f"{leak['object']} is left: {leak['reason']}." for leak in leaks]
    return wrong if audits else [*wrong, "Nobody has looked for what is left."]


def hosted_variables(lab: Lab, kubeconfig: Path) -> dict[str, Any]:
    """All that the playbooks of the collection are told."""
    return {
        "kubeconfig": str(lab.facts["kubeconfig"]),
        "maas_endpoint": lab.facts["maas_url"],
        "maas_api_key": lab.facts["maas_api_key"],
        "hosted_openshift_name": "demo",
        "hosted_openshift_release": lab.release("4.20.8"),
        "hosted_openshift_release_ca_cert": str(lab.folder / "pki" / "registry-ca.crt"),
        "hosted_openshift_base_domain": "lab.example",
        "hosted_openshift_pull_secret": {"auths": {lab.facts["registry"]: {"auth": "bGFiOmxhYg=="}}},
        "hosted_openshift_services_address": "127.0.0.1",
        "hosted_openshift_control_plane_availability": "SingleReplica",
        "hosted_openshift_provider_image": f"registry.example/cluster-api-provider-maas-controller:{PROVIDER}",
        "hosted_openshift_kubeconfig": str(kubeconfig),
        "hosted_openshift_node_pools": [
            {
                "name": "workers",
                "replicas": 3,
                "image": "custom/rhcos-4.20",
                "resource_pool": "openshift",
                "tags": ["worker"],
                "min_cpu": 4,
                "min_memory": "8GiB",
            }
        ],
    }


# The lab's stand-in behaves as the version in this tag.
PROVIDER = "v4.9.5-spectro"


class Build(threading.Thread):
    """The programs of the lab, built while the first acts are played; what it says then is said after them."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.problem = ""
        self._said: list[str] = []
        self._loud = False

    def run(self) -> None:
        try:
            programs(self._say)
        except NoPrograms as problem:
            self.problem = str(problem)

    def finish(self, theatre: Theatre) -> str:
        """Wait for them; why there are none, if so."""
        if self.is_alive():
            tell("The programs of the lab are still being built, once for all (about twelve minutes on two cores):")
        for line in self._said:
            tell(f"  {line}")
        self._loud = True
        while self.is_alive() and not theatre.stopped:
            self.join(0.5)
        return self.problem

    def _say(self, line: str) -> None:
        if self._loud:
            tell(f"  {line}")
        else:
            self._said.append(line)


@dataclass
class Theatre:
    """Plays one playbook after the other, until somebody stops it."""

    stopped: bool = False
    # What each audit of a hosted cluster has listed.
    audits: list[Sequence[Mapping[str, Any]]] = field(default_factory=list)
    _story: Story | None = field(default=None, repr=False)

    def stop(self, *_: object) -> None:
        self.stopped = True
        if self._story:
            self._story.stop()

    def play(self, playbook: str, variables: Mapping[str, Any]) -> int:
        """One playbook; 0 if it went to its end."""
        if self.stopped:
            return STOPPED
        with private_data_dir(variables) as folder:
            self._story = story = Story()
            run = ansible_runner.run(
                private_data_dir=str(folder),
                playbook=playbook,
                event_handler=story.hear,
                cancel_callback=lambda: False,
                envvars={"TMPDIR": str(folder)},
                quiet=True,
                settings={"suppress_ansible_output": True},
            )
            self._story = None
        self.audits += story.audits
        return 0 if story.finished and not run.rc and not self.stopped else 1


@contextmanager
def private_data_dir(variables: Mapping[str, Any]) -> Iterator[Path]:
    """What AWX gives ansible-runner: the project, the inventory, and the secrets apart from both."""
    folder = Path(tempfile.mkdtemp(prefix="metalshift-demo-"))
    try:
        for name in ("project", "inventory", "env"):
            (folder / name).mkdir(mode=0o700)
        for playbook in HERE.glob("*.yml"):
            shutil.copy(playbook, folder / "project")
        (folder / "inventory" / "hosts").write_text("localhost ansible_connection=local\n")
        secret = folder / "env" / "extravars"
        secret.touch(mode=0o600)
        secret.write_text(json.dumps(dict(variables)))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# What only leads to other tasks, or checks what it was given.
SILENT = {
    "ansible.builtin.include_role",
    "ansible.builtin.include_tasks",
    "ansible.builtin.set_fact",
    "metalshift.maas.playbook_variables",
}


# What an assertion says that has nothing of its own to say.
PASSED = "All assertions passed"


class Story:
    """Turns job events into lines that a person reads."""

    def __init__(self) -> None:
        self.finished = self.stopped = False
        self.audits: list[Sequence[Mapping[str, Any]]] = []
        self._heading = ""
        self.pid: int | None = None

    def stop(self, *_: object) -> None:
        """Let Ansible end its workers: Ctrl-C reaches neither, and ansible-runner would kill Ansible alone."""
        self.stopped = True
        if self.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGINT)

    def hear(self, event: Mapping[str, Any]) -> bool:
        self.pid = event.get("pid", self.pid)
        if self.stopped:
            self.stop()
        data = event.get("event_data", {})
        kind = event.get("event")
        result = data.get("res") or {}
        if kind == "playbook_on_task_start":
            self._heading = data["name"].rpartition(" : ")[2]
        elif kind == "verbose":
            self._progress(event.get("stdout", ""))
        elif kind in ("runner_on_failed", "runner_item_on_failed", "runner_on_unreachable"):
            self._tell(f"  FAILED: {result.get('msg', '')}")
        elif kind in ("runner_on_ok", "runner_item_on_ok") and data.get("task_action") not in SILENT:
            self.audits += [result["leaks"]] if "leaks" in result else []
            said = result.get("msg", "") if "results" not in result else ""
            if said == PASSED:
                return True
            for line in said if isinstance(said, list) else str(said).splitlines():
                self._tell(f"  {line}")
            self._tell()
        elif kind == "playbook_on_stats":
            self.finished = not data.get("failures") and not data.get("dark")
        return True

    def _tell(self, line: str = "") -> None:
        """A line below the name of its task; a task that did nothing is not told of."""
        if self._heading:
            tell(f"\n* {self._heading}")
            self._heading = ""
        if line:
            tell(line)

    def _progress(self, text: str) -> None:
        """What a task says while it works is indented; warnings are not."""
        for line in text.splitlines():
            if line.startswith("      "):
                self._tell(line)
            elif line.startswith("    "):
                self._tell(f"  … {line.strip()}")


def tell(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
