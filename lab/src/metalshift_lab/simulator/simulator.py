# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulator for tests:

with Simulator() as sim:
    sim.machine("node01", zone="az1", tags=["fast"])
    client = Client(sim.url, sim.api_key)
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from metalshift_lab.simulator import build, lxd
from metalshift_lab.simulator.contention import WORKERS, Contention
from metalshift_lab.simulator.control import Control
from metalshift_lab.simulator.engine import TRANSITIONS
from metalshift_lab.simulator.faults import DOES, Fault, MachineFault, Stay
from metalshift_lab.simulator.log import RequestLog
from metalshift_lab.simulator.model import Machine, Token, User
from metalshift_lab.simulator.seed import ADMIN
from metalshift_lab.simulator.server import Server
from metalshift_lab.simulator.state import State
from metalshift_lab.simulator.world import DEFAULT_VERSION, World

LOOPBACK = "127.0.0.1"


class Simulator:
    """A MAAS in this process, on free ports of the loopback interface unless told otherwise."""

    def __init__(
        self,
        *,
        version: str = DEFAULT_VERSION,
        host: str = LOOPBACK,
        port: int = 0,
        control_port: int = 0,
        auto: float = 0,
    ) -> None:
        self.world = World(version)
        self._api = Server(host, port, self.world.answer)
        try:
            self._control = Server(host, control_port, Control(self.world).answer)
        except OSError:
            self._api.stop()
            raise
        self.host = host
        if auto:
            self.auto(auto)

    # -- running ----------------------------------------------------------------------------------------------------

    def start(self) -> Simulator:
        self._api.start()
        self._control.start()
        return self

    def stop(self) -> None:
        self._api.stop()
        self._control.stop()
        self.world.close()

    def __enter__(self) -> Simulator:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- what clients need ------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self._api.port}/MAAS"

    @property
    def control_url(self) -> str:
        return f"http://{self.host}:{self._control.port}"

    @property
    def api_key(self) -> str:
        return ":".join(self.world.admin_key)

    def key_of(self, username: str) -> str:
        """An API key of another user."""
        with self.world.at_rest() as state:
            user = state.users.only(username=username)
            return (state.tokens.first(user=user) or state.new_token(user)).api_key

    def let_in(self, *api_keys: str, username: str = ADMIN) -> None:
        """These are keys of that user as well, who is made as a plain one if there is none of the name."""
        with self.world.at_rest() as state:
            user = state.users.first(username=username) or state.users.make(User, username=username, email="")
            for api_key in api_keys:
                consumer, key, secret = api_key.split(":")
                state.tokens.make(Token, user=user, name="given", consumer=consumer, key=key, secret=secret)

    # -- looking inside ---------------------------------------------------------------------------------------------

    @property
    def requests(self) -> RequestLog:
        return self.world.log

    @property
    def state(self) -> State:
        """The database, with all that is due done. Look, or change it while no request runs."""
        with self.world.at_rest() as state:
            return state

    def find(self, name: str) -> Machine:
        """A machine by hostname or system_id."""
        state = self.state
        node = state.node_by_hostname(name) or state.node_by_system_id(name)
        if not isinstance(node, Machine):
            raise LookupError(f"The simulator has no machine {name}.")
        return node

    # -- arranging --------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget the logged requests and the faults."""
        self.world.log.clear()
        self.world.faults.clear()
        with self.world.lock:
            self.world.engine.machine_faults.clear()
            self.world.engine.stays.clear()
            self.world.engine.power_faults.clear()

    def reset(self) -> None:
        """The seed state, an empty log, no faults; nothing advances by itself."""
        self.world.reset()
        self.world.log.clear()

    def machine(self, hostname: str = "", **values: Any) -> Machine:
        """A machine, Ready unless `status` says otherwise; see `build.machine` for what can be said."""
        with self.world.at_rest() as state:
            return build.machine(state, self.world.engine, hostname, **values)

    def machines(self, count: int, **values: Any) -> list[Machine]:
        """Many machines, spread over `zones` and `pools`."""
        with self.world.at_rest() as state:
            return build.machines(state, self.world.engine, count=count, **values)

    def standing(self, hostname: str, *, mac: str, ip: str, network: str = "", **values: Any) -> Machine:
        """A machine that is really somewhere: deployed, known by its MAC address; see `build.standing`."""
        with self.world.at_rest() as state:
            return build.standing(state, self.world.engine, hostname, mac=mac, ip=ip, network=network, **values)

    def lxd(self, machine: str = "", **values: Any) -> lxd.Server:
        """An LXD server more, on a machine or at an `address` of its own; see `lxd.Server` for what can be said."""
        with self.world.at_rest() as state:
            if machine:
                return lxd.on_machine(state, self.find(machine), **values)
            return lxd.add_server(state, lxd.Server(**{"mac": state.new_mac(), "ip": "", **values}))

    def real_lxd(self, where: str) -> None:
        """VM hosts and machines drive the real LXD at this address, or at all addresses of a network (10.1.2.0/24)."""
        with self.world.at_rest() as state:
            lxd.believe(state, where)

    def fault(self, does: str = "error", **values: Any) -> Fault | MachineFault | Stay:
        """A fault of requests (`faults.Fault`), or one of machines: with `does="machine"` they fail (hostname, action,
        times), with `does="stay"` they go on for ever (hostname, action).
        """
        if does == "machine":
            made = MachineFault(**values)
            with self.world.lock:
                self.world.engine.machine_faults.append(made)
            return made
        if does == "stay":
            stay = Stay(**values)
            with self.world.lock:
                self.world.engine.stays.append(stay)
            return stay
        if does not in DOES:
            raise ValueError(f"A fault is one of {', '.join((*DOES, 'machine', 'stay'))}, not {does!r}.")
        return self.world.faults.add(Fault(does=does, **values))

    def heal(self, fault: Fault | MachineFault | Stay) -> None:
        """End one fault, however often it was still to strike."""
        if isinstance(fault, Fault):
            self.world.faults.remove(fault)
            return
        with self.world.lock:
            engine = self.world.engine
            engine.machine_faults[:] = [each for each in engine.machine_faults if each is not fault]
            engine.stays[:] = [each for each in engine.stays if each is not fault]

    def latency(self, milliseconds: float) -> None:
        """Every request takes this much longer."""
        self.world.faults.latency = milliseconds

    def workers(self, number: int = WORKERS) -> Contention:
        """Requests take their time, so many at once, and hold up each other as in a real MAAS; 0: no longer."""
        self.world.contention.begin(number)
        return self.world.contention

    def power_fault(self, action: str, error: str) -> None:
        """Power actions "power-on", "power-off", "power-cycle" fail with this text; "": heal."""
        with self.world.lock:
            if error:
                self.world.engine.power_faults[action] = error
            else:
                self.world.engine.power_faults.pop(action, None)

    def auto(self, seconds: float, **durations: float) -> None:
        """Transitions end by themselves after this time; `deploy=…`, `erase=…` and so on for single ones; 0: never."""
        with self.world.at_rest():
            self.world.engine.set_auto(seconds, durations)

    def advance(self, *machines: Machine | str, fail: bool = False, reason: str = "", **hardware: Any) -> None:
        """End the running transitions of these machines (of all that have one, when none is named)."""
        with self.world.at_rest() as state:
            chosen = [m if isinstance(m, Machine) else self.find(m) for m in machines]
            chosen = chosen or [m for m in state.machines if m.status in TRANSITIONS]
            for machine in chosen:
                self.world.engine.finish(machine, fail=fail, reason=reason, hardware=hardware, boots=True)

    def forward(self, seconds: float) -> None:
        """Move the clock; with `auto`, what is due by then is done."""
        with self.world.lock:
            self.world.clock.forward(seconds)
            self.world.engine.tick()

    def set_version(self, version: str) -> None:
        """ "3.3" to "3.8", or "no-vmhosts"."""
        self.world.set_version(version)

    def set_rack(self, connected: bool) -> None:
        with self.world.at_rest() as state:
            state.rack.connected = connected
