# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an LXD itself: what they are to be.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.capabilities import LxdCapabilities
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.settings import (
    Settings,
    alike,
    changed,
    merged,
    same_value,
    shown,
)

LABEL = "LXD"
# Without them, nobody could ask for anything any more.
KEPT = re.compile(r"^(core|cluster)\.https_address$|^volatile\.")
PASSWORD = "core.trust_password"
# What LXD has if nobody says otherwise. It lists no setting that is so, whoever made it so.
DEFAULTS: Mapping[str, str] = {
    "backups.compression_algorithm": "gzip",
    "cluster.images_minimal_replica": "3",
    "cluster.join_token_expiry": "3H",
    "cluster.max_standby": "2",
    "cluster.max_voters": "3",
    "cluster.offline_threshold": "20",
    "core.https_allowed_credentials": "false",
    "core.metrics_authentication": "true",
    "core.shutdown_timeout": "5",
    "core.trust_ca_certificates": "false",
    "images.auto_update_cached": "true",
    "images.auto_update_interval": "6",
    "images.compression_algorithm": "gzip",
    "images.remote_cache_expiry": "10",
    "instances.nic.host_name": "random",
    "network.ovn.integration_bridge": "br-int",
    "network.ovn.northbound_connection": "unix:/var/run/ovn/ovnnb_db.sock",
}
NEEDS = {"core.remote_token_expiry": "the expiry of trust tokens"}


@dataclass(frozen=True)
class ServerSpec:
    """What a task wants of the settings."""

    config: Settings
    purge: bool = False
    # Whether a password is set again where there is one: LXD does not tell which.
    renews_password: bool = False


def to_be(wish: ServerSpec, found: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they are to be, the password in clear where it is to be set."""

    def satisfied(key: str, value: str, settings: Mapping[str, Any]) -> bool:
        if key == PASSWORD:
            return bool(settings.get(key)) and not wish.renews_password
        return same_value(key, value, settings)

    after = merged(listed(found), wish.config, purge=wish.purge, kept=KEPT, satisfied=satisfied)
    return listed(after)


def listed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from what LXD has by itself."""
    return {
        key: value for key, value in settings.items() if key not in DEFAULTS or not alike(key, DEFAULTS[key], value)
    }


def changes(wish: ServerSpec, found: Mapping[str, Any]) -> Settings:
    """What LXD is told: an empty value unsets."""
    after = to_be(wish, found)
    return {key: str(after.get(key, "")) for key in changed(listed(found), after)}


def unlisted(asked: Settings, now: Mapping[str, Any]) -> list[str]:
    """What was set and is not seen: LXD has it by itself, and a task that asks for it would change it each time."""
    return [key for key, value in asked.items() if value and key not in now]


def plan(wish: ServerSpec, found: Mapping[str, Any]) -> Plan:
    keys = changes(wish, found)
    if not keys:
        return Plan()
    before, after = as_told(listed(found)), as_told(to_be(wish, found))
    return Plan([Step("update", LABEL, reason=", ".join(keys), before=before, after=after)])


def as_told(settings: Mapping[str, Any]) -> dict[str, Any]:
    """As LXD tells them: of a password, that there is one."""
    return {key: True if key == PASSWORD else value for key, value in shown(settings).items()}


def must_be_possible(wish: ServerSpec, found: Mapping[str, Any], able: LxdCapabilities, *, is_local: bool) -> None:
    """Raises the failure for settings that this LXD does not know, or that would cut us off."""
    for key in wish.config:
        if key in NEEDS:
            able.require(NEEDS[key], key)
    if not is_local and "core.https_address" in found and "core.https_address" not in to_be(wish, found):
        raise Failure(
            "conflict",
            f"core.https_address cannot be unset through {able.endpoint}: LXD would not answer there any more.",
            object="core.https_address",
            reason="this very connection needs it",
            hint="Do it through the socket of LXD on its machine.",
        )


def without_password(failure: Failure, endpoint: str) -> Failure:
    """What it means that LXD does not know trust passwords."""
    if PASSWORD not in failure.reason or "nknown key" not in failure.reason:
        return failure
    return Failure(
        "unsupported",
        f"LXD at {endpoint} has no trust passwords any more.",
        object=PASSWORD,
        reason=f"{PASSWORD} is unknown",
        hint="Give tokens out: metalshift.maas.lxd_trust with type: token issues them.",
        status=failure.status,
    )
