# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of MAAS and of its machines while MAAS has them in hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lab.kube.faults.fault import Effect, Fault, Words
from lab.simulator.engine import ACTIONS

if TYPE_CHECKING:
    from lab.kube.supervisor import Supervisor

NO_MACHINE = "No machine available."


def _requests(lab: Supervisor, said: str, does: str, **values: Any) -> Effect:
    fault = lab.simulator.fault(does, hits=0, **values)
    return Effect(said, lambda: lab.simulator.heal(fault))


def _number(fault: str, words: Words, name: str, least: float, most: float) -> float:
    try:
        number = float(words[name])
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise ValueError(f"{name} of {fault} is a number from {least:g} to {most:g}, not {words[name]!r}.")
    return number


def _down(lab: Supervisor, _words: Words) -> Effect:
    return _requests(lab, "MAAS closes each connection without an answer", "drop")


def _answers(lab: Supervisor, words: Words) -> Effect:
    status = int(_number("maas-error", words, "status", 400, 599))
    chosen = {key: words[key] for key in ("method", "path") if words[key]}
    operation = {"op": words["op"]} if words["op"] else {}
    request = " ".join([*chosen.values(), *operation.values()]) or "everything"
    said = f"MAAS answers {request} with {status}"
    return _requests(lab, said, "error", status=status, text=words["text"], **chosen, **operation)


def _full(lab: Supervisor, _words: Words) -> Effect:
    return _requests(lab, "MAAS has no machine to give", "error", status=409, text=NO_MACHINE, op="allocate")


def _slow(lab: Supervisor, words: Words) -> Effect:
    seconds = _number("maas-slow", words, "seconds", 0, 3600)
    return _requests(lab, f"MAAS takes {seconds:g} s longer", "latency", latency=seconds * 1000)


def _revoke(lab: Supervisor, _words: Words) -> Effect:
    with lab.simulator.world.at_rest() as state:
        revoked = dict(state.tokens.rows)
        state.tokens.rows.clear()

    def give_back() -> None:
        with lab.simulator.world.at_rest() as state:
            state.tokens.rows.update(revoked)

    return Effect("the API keys of MAAS are not valid any more", give_back)


def _machine(lab: Supervisor, words: Words) -> Effect:
    if words["action"] not in ACTIONS:
        raise ValueError(f"There is no action {words['action']} of machines; there are {', '.join(ACTIONS)}.")
    fault = lab.simulator.fault(
        "machine",
        hostname=words["hostname"],
        action=words["action"],
        times=int(words["times"]),
        reason=words["reason"],
    )
    which = f"machines that match {words['hostname']}" if words["hostname"] else "machines"
    return Effect(f"{which} fail to {words['action']}", lambda: lab.simulator.heal(fault))


def _stays(lab: Supervisor, words: Words) -> Effect:
    stay = lab.simulator.fault("stay", hostname=words["hostname"], action="deploy")
    which = f"machines that match {words['hostname']}" if words["hostname"] else "machines"
    return Effect(f"{which} are deployed for ever", lambda: lab.simulator.heal(stay))


FAULTS = {
    "maas-down": Fault("MAAS closes each connection without an answer", _down),
    "maas-slow": Fault("MAAS takes longer for each answer", _slow, {"seconds": "5"}),
    "maas-full": Fault("MAAS has no machine to give", _full),
    "maas-key-revoked": Fault("the API keys of MAAS are not valid any more", _revoke),
    "maas-error": Fault(
        "MAAS answers requests with an error: all, or those of a method, path (a regular expression) and operation",
        _answers,
        {"status": "503", "text": "Simulated failure.", "method": "", "path": "", "op": ""},
    ),
    "machine-fails": Fault(
        "what MAAS does with a machine fails (deploy, release, commission, …), so many times (-1: always)",
        _machine,
        {"hostname": "", "action": "deploy", "times": "-1", "reason": ""},
    ),
    "deploys-for-ever": Fault(
        "a deployment does not end: MAAS shows the machine as Deploying", _stays, {"hostname": ""}
    ),
}
