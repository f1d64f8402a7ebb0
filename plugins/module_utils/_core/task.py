# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module's `converge` is given and gives back, however it is run.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.parameters import remove_values

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import WALL_CLOCK, Clock
from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import Deadline
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.exchange import Exchange
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, unique
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.printable import line, texts
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.unknown import as_null
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import FAIL_ON_CHANGE, Spec
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import MaasConnection

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
    from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd


@dataclass
class Result:
    """What a task tells: whether it changed something, the objects as they are now, and what went wrong with some."""

    changed: bool
    values: Mapping[str, Any]
    plan: Plan = field(default_factory=Plan)
    failure: Failure | None = None
    warnings: Sequence[str] = ()


class Api(Protocol):
    """Something that sends requests, and can tell which."""

    exchanges: list[Exchange]
    wrote: bool


Sends = TypeVar("Sends", bound=Api)


class Task:
    """One run of one module: its options, its modes, and its ways to MAAS, to Kubernetes and to LXD."""

    def __init__(
        self,
        params: Mapping[str, Any],
        *,
        check: bool = False,
        say: Callable[[str], None] = lambda _line: None,
        trace: Callable[[str], None] = lambda _line: None,
        environment: Mapping[str, str] | None = None,
        clock: Clock = WALL_CLOCK,
    ) -> None:
        self.params = params
        # Whoever only asks whether something would change, changes nothing.
        self.must_not_change = bool(params.get(FAIL_ON_CHANGE))
        self.check = check or self.must_not_change
        self.say: Callable[[str], None] = lambda text: say(line(text))
        self.clock = clock
        self._trace: Callable[[str], None] = lambda text: trace(line(text))
        self.environment = os.environ if environment is None else environment
        # Until when it waits, for the requests that it sends meanwhile.
        self.deadline = Deadline(clock)
        self._apis: list[Api] = []
        self.wrote_file = False
        self._traced: dict[int, int] = {}

    @cached_property
    def maas(self) -> Client:
        """The MAAS that the options name; nothing is sent before its first use."""
        connection = MaasConnection.from_params(self.params, self.environment)
        return self.joined(Client(connection, clock=self.clock, deadline=self.deadline))

    @cached_property
    def kube(self) -> Kube:
        """The Kubernetes API that the options name; nothing is sent before its first use."""
        # Here, because its library takes longer to import than a task on MAAS takes.
        from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
        from ansible_collections.metalshift.maas.plugins.module_utils._kube.connection import Access

        access = Access.from_params(self.params, self.environment)
        return self.joined(Kube(access, clock=self.clock, deadline=self.deadline))

    @cached_property
    def lxd(self) -> Lxd:
        """The LXD that the options name; nothing is sent before its first use."""
        # Here, because its library takes longer to import than a task on MAAS takes.
        from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
        from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import (
            LxdConnection,
        )

        return self.joined(
            Lxd(LxdConnection.from_params(self.params, self.environment), clock=self.clock, deadline=self.deadline)
        )

    def joined(self, client: Sends) -> Sends:
        """Count the requests of one more API, such as that of a hosted cluster, as this task's."""
        self._apis.append(client)
        return client

    @property
    def exchanges(self) -> list[Exchange]:
        return [exchange for api in self._apis for exchange in list(api.exchanges)]

    @property
    def wrote(self) -> bool:
        """Whether anything was changed, as far as is known: by a request, or in a file."""
        return self.wrote_file or any(api.wrote for api in self._apis)

    def trace_requests(self) -> None:
        """Show the requests since the last call. Threads make them, but only the main thread may display."""
        for api in self._apis:
            done = list(api.exchanges)
            for exchange in done[self._traced.get(id(api), 0) :]:
                self._trace(str(exchange))
            self._traced[id(api)] = len(done)


# More objects than so many tell nobody more.
MOST_NAMED = 5

Converge = Callable[[Task], Result]


def carry_out(converge: Converge, task: Task, name: str, spec: Spec | None = None) -> dict[str, Any]:
    """Run a module's `converge` and put what it says into Ansible's words. Never raises, never shows a traceback."""
    try:
        if spec is not None:
            spec.require_texts(task.params)
        result = converge(task)
        if task.must_not_change and result.changed and result.failure is None:
            result = replace(result, changed=False, failure=_drift(result.plan))
    except Failure as failure:
        result = Result(changed=task.wrote, values={}, failure=failure)
    except Exception as error:
        for shown in traceback.format_exc().splitlines():
            task._trace(shown)
        result = Result(changed=task.wrote, values={}, failure=_defect(name, error))
    finally:
        task.trace_requests()
    told = {**result.values, "diff": result.plan.diff(), "plan": result.plan.as_result()}
    said: dict[str, Any] = {"changed": result.changed, **texts(as_null(told) if task.check else told)}
    if spec is not None and not spec.writes:
        del said["plan"]
    if result.plan and not result.failure:
        task.say(result.plan.totals(done=not task.check))
    if result.warnings:
        said["warnings"] = [line(warning) for warning in result.warnings]
    if result.failure:
        said.update(failed=True, msg=line(str(result.failure)), failure=result.failure.to_dict())
    return said


def _drift(plan: Plan) -> Failure:
    objects = unique(step.object for step in plan.steps)
    more = f" and {len(objects) - MOST_NAMED} more" if len(objects) > MOST_NAMED else ""
    named = ", ".join(objects[:MOST_NAMED]) + more
    return Failure(
        "drift",
        f"{named} {'is' if len(objects) == 1 else 'are'} not as the task describes: {plan.totals()}.",
        object=named,
        hint="Nothing was changed, since fail_on_change is set; plan says what would be.",
    )


def _defect(name: str, error: Exception) -> Failure:
    return Failure(
        "bug",
        f"metalshift.maas.{name} stopped because of a defect of its own ({type(error).__name__}).",
        reason=type(error).__name__,
        hint="Please report it with the output of the same run at -vvv.",
    )


# A shorter secret is hidden where it is a whole value only: within texts it would blot out half of the result.
SHORTEST_WITHIN_TEXT = 4


def without(secrets: set[str], value: Any) -> Any:
    """`value` with every secret in it masked: the second net, results do not hold secrets in the first place."""
    long = {secret for secret in secrets if len(secret) >= SHORTEST_WITHIN_TEXT}
    return remove_values(value, long) if long else value


class OrdinaryModule(AnsibleModule):  # type: ignore[misc]
    """AnsibleModule, with its errors about arguments in our form, and without what misspelt options hold."""

    def __init__(self, spec: Spec, name: str) -> None:
        self._own_spec = spec
        self._own_name = name
        super().__init__(argument_spec=spec.argument_spec, supports_check_mode=True, **spec.rules())

    def _load_params(self) -> None:
        super()._load_params()
        check = bool(self.params.get("_ansible_check_mode"))
        self.params: dict[str, Any] = self._own_spec.given(self.params, check=check)

    def fail_json(self, msg: str, **said: Any) -> NoReturn:
        if "failure" not in said:
            failure = invalid(f"metalshift.maas.{self._own_name}: {msg.rstrip('.')}.")
            msg, said["failure"] = str(failure), failure.to_dict()
        said["invocation"] = {"module_args": self._own_spec.masked(self.params)}
        super().fail_json(msg, **said)
        raise SystemExit(1)


def run_as_module(spec: Spec, converge: Converge, name: str) -> None:
    """The ordinary module: where Ansible copied it, under async and become."""
    module = OrdinaryModule(spec, name)
    lines: list[str] = []
    task = Task(module.params, check=module.check_mode, trace=lines.append)
    # Ansible would mask every value of a secret dict, a user name such as `admin` among them, wherever it appears.
    secrets = spec.secrets(module.params)
    module.no_log_values = {secret for secret in secrets if len(secret) >= SHORTEST_WITHIN_TEXT}
    said = carry_out(converge, task, name, spec)
    if not module._diff:
        said.pop("diff")
    if module._verbosity >= 3:
        said["requests"] = lines
    if said.pop("failed", False):
        module.fail_json(**said)
    module.exit_json(**said, invocation={"module_args": spec.masked(module.params)})
