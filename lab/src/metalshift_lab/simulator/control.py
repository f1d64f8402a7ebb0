# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The side channel: what a test, not a client of MAAS, may ask.

POST (or GET, where it only reads) {control}/NAME?param=value.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from metalshift_lab.simulator import build, faults, lxd
from metalshift_lab.simulator.engine import ACTIONS, TRANSITIONS
from metalshift_lab.simulator.http import Request, Response
from metalshift_lab.simulator.model import Machine, Status
from metalshift_lab.simulator.world import World

Values = dict[str, str]
Action = Callable[[World, Values], Any]


class Control:
    def __init__(self, world: World) -> None:
        self.world = world

    def answer(self, request: Request) -> Response:
        name = request.path.strip("/")
        values: Values = dict([*request.query.pairs(), *request.data.pairs()])
        action = READS.get(name) if request.method == "GET" else ACTS.get(name)
        if action is None:
            known = ", ".join(sorted(READS if request.method == "GET" else ACTS))
            return _json({"error": f"The control API has no {request.method} {name!r}; it has {known}."}, 404)
        try:
            return _json(action(self.world, values))
        except (KeyError, ValueError, StopIteration) as error:
            text = f"{name} needs the parameter {error}." if isinstance(error, KeyError) else str(error)
            return _json({"error": text}, 400)


def _json(value: Any, status: int = 200) -> Response:
    return Response(status, json.dumps(value), "application/json")


def _machine(world: World, values: Values) -> Machine:
    system_id = values["system_id"]
    node = world.state.node_by_system_id(system_id) or world.state.node_by_hostname(system_id)
    if not isinstance(node, Machine):
        raise ValueError(f"There is no machine {system_id}.")
    return node


def reset(world: World, values: Values) -> dict[str, Any]:
    """As recordings of MAAS expect it: without a boot source, unless `boot_source=1` asks for the one of a new MAAS."""
    world.reset(boot_source=values.get("boot_source") == "1")
    return {}


def advance(world: World, values: Values) -> dict[str, Any]:
    """Finish the running transition of one machine (`system_id`), or of all that have one."""
    hardware: dict[str, Any] = {k: values[k] for k in ("cpu", "memory") if k in values}
    if "disk" in values:
        hardware["disks"] = values["disk"].split(",")
    with world.at_rest() as state:
        chosen = (
            [_machine(world, values)]
            if "system_id" in values
            else [m for m in state.machines if m.status in TRANSITIONS]
        )
        for machine in chosen:
            world.engine.finish(
                machine, fail=values.get("to") == "fail", reason=values.get("reason", ""), hardware=hardware
            )
    return {"machines": len(chosen)}


def force(world: World, values: Values) -> dict[str, Any]:
    name = values["status"].upper().replace(" ", "_")
    if name not in Status.__members__:
        raise ValueError(f"There is no status {values['status']}; there are {', '.join(Status.__members__)}.")
    with world.at_rest():
        world.engine.enter(_machine(world, values), Status[name])
    return {}


def power(world: World, values: Values) -> dict[str, Any]:
    with world.at_rest():
        _machine(world, values).power_state = values["state"]
    return {}


def auto(world: World, values: Values) -> dict[str, Any]:
    """`seconds`, and a number of seconds for single transitions by their name (deploy=5, erase=60, ...)."""
    durations = {name: float(values[name]) for name in ACTIONS if name in values}
    with world.at_rest():
        world.engine.set_auto(float(values.get("seconds", world.engine.auto)), durations)
    return {"seconds": world.engine.auto, **durations}


def clock(world: World, values: Values) -> dict[str, Any]:
    """Move the clock forward by `seconds`: what is due by then is done."""
    with world.lock:
        world.clock.forward(float(values["seconds"]))
        world.engine.tick()
    return {"now": world.clock.now().isoformat()}


def rack(world: World, values: Values) -> dict[str, Any]:
    with world.at_rest() as state:
        state.rack.connected = values["enabled"] not in ("0", "false", "False", "")
    return {}


def fail(world: World, values: Values) -> dict[str, Any]:
    with world.at_rest():
        if values.get("error"):
            world.engine.power_faults[values["name"]] = values["error"]
        else:
            world.engine.power_faults.pop(values["name"], None)
    return {}


def apikey(world: World, values: Values) -> dict[str, Any]:
    with world.at_rest() as state:
        user = state.users.first(username=values["username"])
        if user is None:
            raise ValueError(f"There is no user {values['username']}.")
        token = state.tokens.first(user=user) or state.new_token(user)
        return {"apikey": token.api_key}


def version(world: World, values: Values) -> dict[str, Any]:
    world.set_version(values["version"])
    return {"version": world.state.version, "vm_hosts": not world.state.vm_hosts_gone}


def fault(world: World, values: Values) -> dict[str, Any]:
    """Add a fault for requests; without parameters: remove all of them."""
    if not values:
        world.faults.clear()
        return {}
    world.faults.add(faults.from_params(dict(values)))
    return {}


def machine(world: World, values: Values) -> dict[str, Any]:
    """Machines that fail: `hostname` (a regular expression), `action`, `times` (-1: always), `reason`; `clear=1`."""
    with world.at_rest():
        if values.get("clear"):
            world.engine.machine_faults.clear()
            return {}
        action = values["action"]
        if action not in ACTIONS:
            raise ValueError(f"Machines cannot fail at {action!r}; they can at {', '.join(ACTIONS)}.")
        made = faults.MachineFault(values["hostname"], action, int(values.get("times", 1)), values.get("reason", ""))
        world.engine.machine_faults.append(made)
    return {}


def clear_requests(world: World, _values: Values) -> dict[str, Any]:
    world.log.clear()
    return {}


def seed(world: World, values: Values) -> dict[str, Any]:
    """Make machines at once: see `build.options`; `zones`, `pools`, `tags` and `disk` take commas."""
    with world.at_rest() as state:
        made = build.machines(state, world.engine, **build.options(values))
        return {"system_ids": [m.system_id for m in made]}


def standing(world: World, values: Values) -> dict[str, Any]:
    """A machine that is really somewhere: `hostname`, `mac`, `ip`, `network` as 10.1.2.0/24, and what seed takes."""
    given = dict(values)
    place = {name: given.pop(name) for name in ("hostname", "mac", "ip", "network") if name in given}
    known = build.options({name: given[name] for name in given if name not in ("zone", "pool")})
    known |= {name: given[name] for name in ("zone", "pool") if name in given}
    with world.at_rest() as state:
        there = state.node_by_hostname(place["hostname"])
        made = there or build.standing(state, world.engine, **{"mac": "", "ip": "", **place}, **known)
        return {"system_id": made.system_id}


def lxd_server(world: World, values: Values) -> dict[str, Any]:
    """An LXD more, on a `machine` or at an `address`; `password`, `cores`, `memory` (MiB), `storage` (GB), `version`.

    With `https=1` its API is opened for clients of LXD. With `real`, an address or a network, MAAS drives the real LXDs
    there instead.
    """
    if "real" in values:
        with world.at_rest() as state:
            lxd.believe(state, values["real"])
        return {"real": values["real"]}
    known: dict[str, Any] = {
        name: values[name] for name in ("address", "password", "name", "ip", "mac", "version") if name in values
    }
    known |= {name: int(values[name]) for name in ("cores", "memory") if name in values}
    if "storage" in values:
        known["pools"] = [lxd.StoragePool(total=int(values["storage"]) * lxd.GB, used=0)]
    with world.at_rest() as state:
        if "machine" in values:
            made = lxd.on_machine(state, _machine(world, {"system_id": values["machine"]}), **known)
        else:
            known.setdefault("mac", state.new_mac())
            made = lxd.add_server(state, lxd.Server(**{"address": values["address"], "ip": "", **known}))
    said = {"address": made.address, "password": made.password}
    return {**said, **made.door.reached()} if values.get("https") else said


def requests(world: World, values: Values) -> list[dict[str, Any]]:
    """The request log; `since` gives only what has a higher number."""
    since = int(values.get("since", 0))
    return [e.as_json() for e in world.log if e.number > since]


def status(world: World, _values: Values) -> dict[str, Any]:
    with world.at_rest() as state:
        machines: dict[str, int] = {}
        for found in state.machines:
            machines[found.status.label] = machines.get(found.status.label, 0) + 1
        return {"version": state.version, "auto": world.engine.auto, "machines": machines, "requests": len(world.log)}


ACTS: dict[str, Action] = {
    "reset": reset,
    "advance": advance,
    "force": force,
    "power": power,
    "auto": auto,
    "clock": clock,
    "rack": rack,
    "fail": fail,
    "apikey": apikey,
    "version": version,
    "fault": fault,
    "machine": machine,
    "requests/clear": clear_requests,
    "seed": seed,
    "lxd": lxd_server,
    "standing": standing,
}
READS: dict[str, Action] = {"requests": requests, "status": status}
