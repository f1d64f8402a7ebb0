# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run modules, playbooks and roles against a lab, as integration/harness.py does against the simulator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection
from ansible_collections.metalshift.maas.plugins.plugin_utils._runner import module_of
from integration.harness import Outcome, Played, clean_environment, run_task
from metalshift_lab.kube.handle import Lab


def reach(lab: Lab) -> dict[str, str]:
    """The options with which a task finds both APIs of the lab."""
    facts = lab.facts
    return {
        "kubeconfig": str(facts["kubeconfig"]),
        "maas_endpoint": str(facts["maas_url"]),
        "maas_api_key": str(facts["maas_api_key"]),
    }


def another_key(lab: Lab) -> str:
    """A further API key of the lab's administrator of MAAS."""
    found = reach(lab)
    maas = Client(MaasConnection(base=found["maas_endpoint"], key=ApiKey.parse(found["maas_api_key"])))
    made = maas.post("account/", {"name": "another"}, op="create_authorisation_token")
    return ":".join(made[part] for part in ("consumer_key", "token_key", "token_secret"))


def variables(lab: Lab) -> dict[str, str]:
    """The same, as the environment of a playbook."""
    found = reach(lab)
    return {
        "K8S_AUTH_KUBECONFIG": found["kubeconfig"],
        "MAAS_ENDPOINT": found["maas_endpoint"],
        "MAAS_API_KEY": found["maas_api_key"],
    }


def run(
    lab: Lab, module: str, args: Mapping[str, Any] | None = None, *, check: bool = False, **keywords: Any
) -> Outcome:
    """One task through its action plugin, in this process, with what it needs to find the lab."""
    options = module_of(module).SPEC.argument_spec
    found = {name: value for name, value in reach(lab).items() if name in options}
    return run_task(None, module, {**found, **(args or {})}, check=check, connect=False, **keywords)


def play(
    lab: Lab,
    folder: Path,
    playbook: str,
    given: Mapping[str, Any] | None = None,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    limit: float = 600,
) -> Played:
    """A true ansible-playbook: `metalshift.maas.create_hosted_cluster`, or a file; `given` are its extra variables."""
    return played(
        folder, playbook, given, *arguments, environment={**variables(lab), **(environment or {})}, limit=limit
    )


def played(
    folder: Path,
    playbook: str,
    given: Mapping[str, Any] | None = None,
    *arguments: str,
    environment: Mapping[str, str],
    limit: float = 600,
) -> Played:
    """The same where there is no whole lab: what it finds is in the environment."""
    extra, events = folder / "extra_vars.yml", folder / "events.jsonl"
    extra.write_text(yaml.safe_dump(dict(given or {}), sort_keys=False))
    events.unlink(missing_ok=True)
    done = subprocess.run(
        [str(Path(sys.executable).with_name("ansible-playbook")), playbook, "-e", f"@{extra}", *arguments],
        env={**clean_environment(folder), "LAB_EVENTS": str(events), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    lines = events.read_text().splitlines() if events.exists() else []
    return Played(done.returncode, done.stdout, done.stderr, [json.loads(line) for line in lines], folder)
