#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an LXD itself."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lxd_server
short_description: Manage the settings of an LXD server
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Changes settings of an LXD itself, such as the address at which it listens.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_lxd
  - metalshift.maas.lxd
  - metalshift.maas.lxd.alone
  - metalshift.maas.plan
options:
  config:
    description:
      - Settings of the server, in the words of LXD. Booleans and numbers are written as LXD writes them.
      - Keys that are not named stay as they are. One with an empty value or null is unset.
      - Values of keys that hold passwords, tokens or keys are never shown.
      - C(core.trust_password) is known to LXD up to 5.21. M(metalshift.maas.lxd_trust) issues tokens, which all know.
      - C(core.https_address) can only be unset through the socket.
    type: dict
    required: true
  update_password:
    description:
      - LXD tells of C(core.trust_password) only whether there is one.
      - V(on_create) sets it if there is none.
      - V(always) sets it in every run, which is a change each time.
    type: str
    choices: [on_create, always]
    default: on_create
  purge_config:
    description:
      - Whether settings that O(config) does not name are unset. C(core.https_address) and C(cluster.https_address)
        stay.
    type: bool
    default: false
    aliases: [purge]
seealso:
  - module: metalshift.maas.lxd_info
  - module: metalshift.maas.lxd_trust
"""

EXAMPLES = r"""
- name: Let LXD be reached over the network
  metalshift.maas.lxd_server:
    lxd_endpoint: unix://
    config:
      core.https_address: "[::]:8443"
      core.remote_token_expiry: 2H

- name: No password that makes everybody a trusted client
  metalshift.maas.lxd_server:
    config:
      core.trust_password: ""
"""

RETURN = r"""
server:
  description: The server as it is now, or as it would be in check mode.
  returned: success
  type: dict
  contains:
    config:
      description: Its settings. A C(core.trust_password) is true if there is one.
      type: dict
      sample: {"core.https_address": "[::]:8443", "core.remote_token_expiry": "2H"}
    environment:
      description: What it runs on, in the words of LXD.
      type: dict
      sample: {"server": "lxd", "server_name": "node-1", "server_version": "5.0.2"}
plan:
  description:
    - What the task did, in check mode what it would do; one element an action, in their order. Empty if there is
      nothing to change. A task that failed may not have come to all of them.
    - Fields whose values are secret are left out or masked, and so are those that stay as they are.
  returned: always, but for wrong input
  type: list
  elements: dict
  contains:
    action:
      description: What is done, such as V(create), V(update), V(delete), V(enlist), V(deploy) or V(release).
      type: str
    object:
      description: To which object.
      type: str
    reason:
      description: Why. Empty if the task asks for just that.
      type: str
    before:
      description: The fields that change, as they are.
      type: dict
    after:
      description: The same fields as they will be; null where only the server knows it in advance.
      type: dict
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome, run
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._lxd import overview
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import server
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import SECRET, wished

SPEC = Spec(
    options={
        "config": {"type": "dict", "required": True, "no_log": True},
        "update_password": {
            "type": "str",
            "choices": ["on_create", "always"],
            "default": "on_create",
            "no_log": False,
        },
        "purge_config": {"type": "bool", "default": False, "aliases": ["purge"]},
    },
    maas=False,
    lxd=True,
    secret_settings={"config": SECRET},
)


UNLISTED = "LXD does not list {key}: it has that value by itself. Leave it out, or it is changed in every run."


@dataclass(frozen=True)
class ServerState:
    """The settings of an LXD, and the server as results show it."""

    settings: Mapping[str, str]
    shown: dict[str, Any]
    warnings: Sequence[str] = ()


class ServerEngine:
    """The settings of an LXD."""

    def __init__(self, task: Task) -> None:
        options, self.lxd = task.params, task.lxd
        renews = options["update_password"] == "always"
        self.wish = server.ServerSpec(wished("config", options["config"]) or {}, options["purge_config"], renews)

    def read(self) -> ServerState:
        found = self.lxd.settings
        server.must_be_possible(self.wish, found, self.lxd.capabilities, is_local=self.lxd.connection.is_local)
        return ServerState(found, overview.server(self.lxd))

    def plan(self, current: ServerState) -> Plan:
        return server.plan(self.wish, current.settings)

    def predict(self, current: ServerState, plan: Plan) -> ServerState:
        return replace(current, shown={**self._expected(current), "predicted": True})

    def apply(self, current: ServerState, plan: Plan) -> ServerState:
        if not plan:
            return current
        changes = server.changes(self.wish, current.settings)
        try:
            self.lxd.patch("", {"config": changes}, what="change its settings")
        except Failure as failure:
            raise server.without_password(failure, self.lxd.connection.endpoint) from None
        try:
            self.lxd.refreshed()
        except Failure:
            if "core.https_address" not in changes:
                raise
            moved = f"LXD does not answer at {self.lxd.connection.endpoint} any more: its address is another one now."
            return replace(current, shown=self._expected(current), warnings=[moved])
        now = overview.server(self.lxd)
        unlisted = [UNLISTED.format(key=key) for key in server.unlisted(changes, now["config"])]
        return replace(current, shown=now, warnings=unlisted)

    def result(self, current: ServerState) -> Outcome:
        return Outcome({"server": current.shown}, current.warnings)

    def _expected(self, current: ServerState) -> dict[str, Any]:
        return {**current.shown, "config": server.as_told(server.to_be(self.wish, current.settings))}


def converge(task: Task) -> Result:
    """Bring the settings of the server to the wished state."""
    return run(ServerEngine(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "lxd_server")


if __name__ == "__main__":
    main()
