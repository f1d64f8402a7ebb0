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
  purge:
    description:
      - Whether settings that O(config) does not name are unset. C(core.https_address) and C(cluster.https_address)
        stay.
    type: bool
    default: false
seealso:
  - module: metalshift.maas.lxd_info
  - module: metalshift.maas.lxd_trust
"""

EXAMPLES = r"""
- name: Let LXD be reached over the network
  metalshift.maas.lxd_server:
    lxd_endpoint: /var/snap/lxd/common/lxd/unix.socket
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
"""

from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._lxd import overview
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
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
        "purge": {"type": "bool", "default": False},
    },
    maas=False,
    lxd=True,
    secret_settings={"config": SECRET},
)


UNLISTED = "LXD does not list {key}: it has that value by itself. Leave it out, or it is changed in every run."


def converge(task: Task) -> Result:
    """Bring the settings of the server to the wished state."""
    options, lxd = task.params, task.lxd
    renews = options["update_password"] == "always"
    wish = server.Wish(wished("config", options["config"]) or {}, options["purge"], renews)
    found = lxd.settings
    server.must_be_possible(wish, found, lxd.capabilities, is_local=lxd.connection.is_local)
    plan = server.plan(wish, found)
    now: dict[str, Any] = overview.server(lxd)
    warnings: list[str] = []
    if plan:
        now["config"] = server.as_told(server.to_be(wish, found))
        if task.check:
            now["predicted"] = True
        else:
            now, warnings = carry_out(lxd, server.changes(wish, found), now)
    return Result(changed=bool(plan), values={"server": now}, plan=plan, warnings=warnings)


def carry_out(lxd: Lxd, changes: dict[str, str], expected: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The server afterwards; what it is expected to be if it listens elsewhere now."""
    try:
        lxd.patch("", {"config": changes}, what="change its settings")
    except Failure as failure:
        raise server.without_password(failure, lxd.connection.endpoint) from None
    try:
        lxd.refreshed()
    except Failure:
        if "core.https_address" not in changes:
            raise
        moved = f"LXD does not answer at {lxd.connection.endpoint} any more: its address is another one now."
        return expected, [moved]
    now = overview.server(lxd)
    return now, [UNLISTED.format(key=key) for key in server.unlisted(changes, now["config"])]


def main() -> None:
    run_as_module(SPEC, converge, "lxd_server")


if __name__ == "__main__":
    main()
