# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of MAAS and of its machines while MAAS has them in hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from metalshift_lab.kube.faults.fault import Effect, Fault, Words, number, whole_number
from metalshift_lab.simulator.engine import ACTIONS
from metalshift_lab.simulator.faults import WHEN

if TYPE_CHECKING:
    from metalshift_lab.kube.supervisor import Supervisor

NO_MACHINE = "No machine available."


# Which requests; whether they are carried out before it strikes; how many it strikes (0: all).
CHOICE = {"method": "", "path": "", "op": "", "when": "before", "hits": "0"}


def _requests(lab: Supervisor, said: str, does: str, **values: Any) -> Effect:
    fault = lab.simulator.fault(does, **{"hits": 0, **values})
    return Effect(said, lambda: lab.simulator.heal(fault))


def _chosen(fault: str, words: Words) -> tuple[str, dict[str, Any]]:
    """The requests in words, and as the simulator has them."""
    if words["when"] not in WHEN:
        raise ValueError(f"when of {fault} is {' or '.join(WHEN)}, not {words['when']!r}.")
    hits = whole_number(fault, words, "hits", 0)
    chosen = {key: words[key] for key in ("method", "path", "op") if words[key]}
    said = " ".join(chosen.values()) or "everything"
    said += " that it has carried out" if words["when"] == "after" else ""
    said += f", {hits} times" if hits else ""
    return said, {**chosen, "when": words["when"], "hits": hits}


def _down(lab: Supervisor, words: Words) -> Effect:
    requests, values = _chosen("maas-down", words)
    return _requests(lab, f"MAAS closes the connection without an answer: {requests}", "drop", **values)


def _answers(lab: Supervisor, words: Words) -> Effect:
    status = int(number("maas-error", words, "status", 400, 599))
    requests, values = _chosen("maas-error", words)
    values |= {"status": status, "text": words["text"]}
    return _requests(lab, f"MAAS answers with {status}: {requests}", "error", **values)


def _full(lab: Supervisor, _words: Words) -> Effect:
    return _requests(lab, "MAAS has no machine available", "error", status=409, text=NO_MACHINE, op="allocate")


def _slow(lab: Supervisor, words: Words) -> Effect:
    seconds = number("maas-slow", words, "seconds", 0, 3600)
    return _requests(lab, f"MAAS takes {seconds:g} s longer", "latency", latency=seconds * 1000)


def _revoke(lab: Supervisor, _words: Words) -> Effect:
    with lab.simulator.world.at_rest() as state:
        revoked = dict(state.tokens.rows)
        state.tokens.rows.clear()

    def give_back() -> None:
        with lab.simulator.world.at_rest() as state:
            state.tokens.rows.update(revoked)

    return Effect("the API keys of MAAS are no longer valid", give_back)


def _demote(lab: Supervisor, _words: Words) -> Effect:
    with lab.simulator.world.at_rest() as state:
        administrators = list(state.users.where(is_superuser=True))
        for user in administrators:
            user.is_superuser = False

    def give_back() -> None:
        for user in administrators:
            user.is_superuser = True

    return Effect("the users of all API keys of MAAS have no administrator rights", give_back)


def _machine(lab: Supervisor, words: Words) -> Effect:
    if words["action"] not in ACTIONS:
        raise ValueError(f"There is no action {words['action']} of machines; there are {', '.join(ACTIONS)}.")
    fault = lab.simulator.fault(
        "machine",
        hostname=words["hostname"],
        action=words["action"],
        times=whole_number("machine-fails", words, "times", -1),
        reason=words["reason"],
    )
    which = f"machines that match {words['hostname']}" if words["hostname"] else "machines"
    return Effect(f"{which} fail to {words['action']}", lambda: lab.simulator.heal(fault))


def _stays(lab: Supervisor, words: Words) -> Effect:
    stay = lab.simulator.fault("stay", hostname=words["hostname"], action="deploy")
    which = f"machines that match {words['hostname']}" if words["hostname"] else "machines"
    return Effect(f"{which} never finish deploying", lambda: lab.simulator.heal(stay))


FAULTS = {
    "maas-down": Fault(
        "MAAS closes connections without an answer, before or after it carries out the request,"
        " for as many requests as hits= says (0: all)",
        _down,
        CHOICE,
    ),
    "maas-slow": Fault("MAAS answers each request later", _slow, {"seconds": "5"}),
    "maas-full": Fault("MAAS has no machine available", _full),
    "maas-key-revoked": Fault("the API keys of MAAS are no longer valid", _revoke),
    "maas-key-plain": Fault("the users of all API keys of MAAS lose their administrator rights", _demote),
    "maas-error": Fault(
        "MAAS answers with an error: all requests, or those with a method, path (a regular expression) and operation;"
        " before or after it carries out the request, for as many requests as hits= says (0: all)",
        _answers,
        {"status": "503", "text": "Simulated failure.", **CHOICE},
    ),
    "machine-fails": Fault(
        "an action of MAAS on a machine fails (deploy, release, commission, …),"
        " as many times as times= says (-1: always)",
        _machine,
        {"hostname": "", "action": "deploy", "times": "-1", "reason": ""},
    ),
    "deploys-for-ever": Fault(
        "a deployment never finishes: MAAS keeps showing the machine as Deploying", _stays, {"hostname": ""}
    ),
}
