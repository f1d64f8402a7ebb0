# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of a module in processes of their own, that can be killed."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from integration.harness import begun

PLUGINS = "ansible_collections.metalshift.maas.plugins"
# All is imported once, and each run is forked from there.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])
for _preloaded in ("machine", "machine_set", "vm", "vm_host", "vm_set"):
    importlib.import_module(f"{PLUGINS}.modules.{_preloaded}")
# It is otherwise imported with the first request to an LXD.
importlib.import_module(f"{PLUGINS}.module_utils._lxd.client")
LONGEST = 60.0


class Run:
    """One run of a module, begun at once."""

    def __init__(self, module: str, params: Mapping[str, Any]) -> None:
        self._end, other = CONTEXT.Pipe(duplex=False)
        self._process = CONTEXT.Process(target=_carry_out, args=(module, dict(params), other), daemon=True)
        self._process.start()
        other.close()

    @property
    def pid(self) -> int:
        return int(self._process.pid or 0)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def end(self) -> dict[str, Any] | None:
        """Its result; None when it was killed."""
        try:
            result: dict[str, Any] | None = self._end.recv() if self._end.poll(LONGEST) else None
        except EOFError:
            result = None
        if result is None and self._process.is_alive():
            self._process.join(0.5)
        if self._process.is_alive() and result is None:
            self.kill()
            raise TimeoutError(f"a run took more than {LONGEST} seconds")
        self._process.join()
        return result


def _carry_out(module: str, given: dict[str, Any], end: Connection) -> None:
    task = importlib.import_module(f"{PLUGINS}.module_utils._core.task")
    code = importlib.import_module(f"{PLUGINS}.modules.{module}")
    checked = ArgumentSpecValidator(code.SPEC.argument_spec, **code.SPEC.rules()).validate(given)
    if checked.error_messages:
        raise ValueError("; ".join(checked.error_messages))
    lines: list[str] = []
    run = task.Task(checked.validated_parameters, say=lines.append, environment={})
    end.send({**task.carry_out(code.converge, run, module), "lines": lines})


def playbook(folder: Path, *tasks: Mapping[str, Any], python: str = sys.executable) -> subprocess.Popen[str]:
    """A whole ansible-playbook, of the environment that this Python belongs to, begun at once."""
    play = {"hosts": "localhost", "gather_facts": False, "tasks": list(tasks)}
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    program = Path(python).with_name("ansible-playbook")
    environment = {**os.environ, "HOME": str(folder), "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"), "ANSIBLE_NOCOLOR": "1"}
    return begun([str(program), "-i", "localhost,", "-c", "local", "play.yml"], folder, environment)
