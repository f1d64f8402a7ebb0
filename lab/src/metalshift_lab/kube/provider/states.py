# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a MaasMachine becomes in each state of its machine: tables, without I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from metalshift_lab.kube.provider.conditions import Condition, false, true, unknown

DEPLOYED = "MachineDeployed"
DNS_ATTACHED = "DNSAttached"

WAITING_FOR_CLUSTER = false(DEPLOYED, "WaitingForClusterInfrastructure", "Info")
WAITING_FOR_BOOTSTRAP = false(DEPLOYED, "WaitingForBootstrapData", "Info")
STARTED = false(DEPLOYED, "MachineDeployStartedReason", "Info")
RETRYING = false(DEPLOYED, "MachineDeploying", "Info", "retrying after broken machine")
COMPOSED = false(DEPLOYED, "MachineDeploying", "Info", "VM composed; commissioning")
DELETED = false(DEPLOYED, "Deleted", "Info")
FAILED = "MachineDeployFailed"


def failed(text: str) -> Condition:
    return false(DEPLOYED, FAILED, "Error", text)


def not_found(text: str) -> Condition:
    return unknown(DEPLOYED, "MachineNotFound", text)


@dataclass(frozen=True)
class Outcome:
    """What a pass writes; None leaves it as it was."""

    condition: Condition | None
    ready: bool | None
    #: (reason, text) of a Warning.
    event: tuple[str, str] | None = None
    failure: str = ""
    power_on: bool = False


#: States that the provider takes for its own: everything else is deployed (again).
ADOPTED = frozenset({"Deployed", "Deploying"})
RUNNING = ADOPTED
OPERATIONAL = RUNNING | {"Allocated"}
KNOWN = OPERATIONAL | {"Disk erasing", "Releasing", "Ready", "New"}

_TERMINATED = ("MachineUnexpectedTermination", "Unexpected Maas m termination")
_UNDEFINED = ("MachineUnhandledState", "MaaS m state is undefined")
_OFF = Outcome(false(DEPLOYED, "MachinePoweredOff", "Warning"), ready=False)
_DEPLOYING = Outcome(false(DEPLOYED, "MachineDeploying", "Warning"), ready=False)
#: By state, then by power.
_OUTCOMES: dict[str, dict[bool, Outcome]] = {
    "Deployed": {True: Outcome(true(DEPLOYED), ready=True), False: Outcome(None, ready=None, power_on=True)},
    "Deploying": {True: _DEPLOYING, False: _OFF},
    "Allocated": {True: _DEPLOYING, False: _OFF},
}


def outcome(state: str, powered: bool) -> Outcome:
    if state in _OUTCOMES:
        return _OUTCOMES[state][powered]
    if state in KNOWN:
        text = f'Maas machine state "{state}" is unexpected'
        return Outcome(false(DEPLOYED, "MachineTerminatedReason", "Error"), False, _TERMINATED, text)
    return Outcome(unknown(DEPLOYED, ""), False, _UNDEFINED, f'MaaS m state "{state}" is undefined')


def addresses(fqdn: str, ips: Iterable[str], *, internal: bool) -> list[dict[str, str]]:
    """What the provider publishes of a machine's names and addresses."""
    out = []
    for kind, values in (("DNS", [fqdn] if fqdn else []), ("IP", list(ips))):
        for value in values:
            out.append({"type": f"External{kind}", "address": value})
            if internal:
                out.append({"type": f"Internal{kind}", "address": value})
    return out


def node_name(nodes: Iterable[str], hostname: str) -> str | None:
    """Which node is the machine with this name in MAAS: the same, its short form, or one that goes on after a dot."""
    names = list(nodes)
    wanted = hostname.lower()
    exact = [each for each in (wanted, wanted.partition(".")[0]) if each in names]
    longer = [each for each in names if each.lower().startswith(f"{wanted}.")]
    return next(iter((*exact, *longer)), None) if hostname else None


def split_image(image: str, *, splits: bool) -> tuple[str, str]:
    """Operating system and series to ask MAAS for."""
    system, slash, series = image.partition("/")
    return (system, series) if slash and splits else ("custom", image)


def provider_id(zone: str, system_id: str) -> str:
    return f"maas:///{zone}/{system_id}"


def system_id_of(provider: str) -> str:
    """The machine's ID out of a provider ID; empty if there is none."""
    return provider.rpartition("/")[2] if provider.startswith("maas://") else ""


def machine_in(text: str) -> str:
    """The machine that MAAS's error names; empty if it names none."""
    found = re.search(r"machines? ([a-z0-9]{4,6})", text)
    return found[1] if found else ""
