# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make demo`: the built collection, run by ansible-runner as AWX runs it, against the simulator, told as a story."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ansible_runner

from lab.simulator import Simulator

HERE = Path(__file__).parent
TRANSITION = 2.0


def main() -> int:
    began = time.monotonic()
    password = secrets.token_hex(8)
    with Simulator() as maas:
        maas.auto(TRANSITION)
        maas.fault("machine", hostname="node-", action="deploy", times=1)
        tell("A simulated MAAS is up. Its machines take two seconds for what takes real ones minutes,")
        tell("and the first of them to be deployed will fail.")
        with private_data_dir(maas, password) as folder:
            story = Story()
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, story.stop)
            run = ansible_runner.run(
                private_data_dir=str(folder),
                playbook="demo.yml",
                event_handler=story.hear,
                cancel_callback=lambda: False,
                envvars={"TMPDIR": str(folder)},
                quiet=True,
                settings={"suppress_ansible_output": True},
            )
        requests = list(maas.requests)
    if story.stopped:
        tell("\nThe demo was stopped; nothing is left of it.")
        return 130
    if run.rc or not story.finished:
        tell("\nThe demo did not go to its end.")
        return 1
    writes = sum(request.method != "GET" for request in requests)
    tell(
        f"\nThat was {len(requests)} requests to MAAS, {writes} of them writes, "
        f"in {time.monotonic() - began:.0f} seconds."
    )
    tell("Next: `make simulator` for a MAAS of your own to try playbooks on, `make test` for everything else.")
    return 0


@contextmanager
def private_data_dir(maas: Simulator, password: str) -> Iterator[Path]:
    """What AWX gives ansible-runner: the project, the inventory, and the secrets apart from both."""
    folder = Path(tempfile.mkdtemp(prefix="metalshift-demo-"))
    try:
        for name in ("project", "inventory", "env"):
            (folder / name).mkdir(mode=0o700)
        shutil.copy(HERE / "demo.yml", folder / "project")
        (folder / "inventory" / "hosts").write_text("localhost ansible_connection=local\n")
        variables = {"demo_endpoint": maas.url, "demo_api_key": maas.api_key, "demo_bmc_password": password}
        secret = folder / "env" / "extravars"
        secret.touch(mode=0o600)
        secret.write_text(json.dumps(variables))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Story:
    """Turns job events into lines that a person reads."""

    def __init__(self) -> None:
        self.finished = self.stopped = False
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
            tell(f"\n* {data['name']}")
        elif kind == "verbose":
            self._progress(event.get("stdout", ""))
        elif kind in ("runner_on_failed", "runner_item_on_failed", "runner_on_unreachable"):
            tell(f"  FAILED: {result.get('msg', '')}")
        elif kind in ("runner_on_ok", "runner_item_on_ok") and result.get("msg") and "results" not in result:
            tell(f"  {result['msg']}")
        elif kind == "playbook_on_stats":
            self.finished = not data.get("failures") and not data.get("dark")
        return True

    @staticmethod
    def _progress(text: str) -> None:
        for line in text.splitlines():
            if line.startswith("["):
                tell(f"  … {line.partition('] ')[2] or line}")


def tell(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
