# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each request about a machine carries, from a task's options.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.spec import MachineOp

Form = Mapping[str, Any]

# The options that a request takes under the same name.
SAME_NAME: Mapping[MachineOp, tuple[str, ...]] = {
    MachineOp.COMMISSION: ("enable_ssh", "skip_bmc_config", "skip_networking", "skip_storage"),
    MachineOp.ALLOCATE: ("comment",),
    MachineOp.DEPLOY: ("hwe_kernel", "ephemeral_deploy", "enable_hw_sync", "comment"),
    MachineOp.RELEASE: ("erase", "quick_erase", "secure_erase", "force", "comment"),
    MachineOp.ABORT: ("comment",),
    MachineOp.TEST: ("enable_ssh",),
    MachineOp.OVERRIDE_FAILED_TESTING: ("comment",),
    MachineOp.MARK_BROKEN: ("comment",),
    MachineOp.MARK_FIXED: ("comment",),
    MachineOp.LOCK: ("comment",),
    MachineOp.UNLOCK: ("comment",),
    MachineOp.POWER_ON: ("comment",),
    MachineOp.POWER_OFF: ("comment",),
    MachineOp.DELETE: ("force",),
}


def forms_from_params(params: Mapping[str, Any], user_data: bytes | None = None) -> dict[MachineOp, dict[str, Any]]:
    """The form of each request. Options that are not set are left out, so that MAAS's own defaults hold."""
    forms = {
        op: {name: params[name] for name in names if params.get(name) is not None} for op, names in SAME_NAME.items()
    }
    forms[MachineOp.COMMISSION].update(_scripts(params, "commissioning_scripts", "testing_scripts"))
    forms[MachineOp.TEST].update(_scripts(params, "testing_scripts"))
    series = operating_system(params)
    if series:
        forms[MachineOp.DEPLOY]["distro_series"] = series
    if user_data:
        forms[MachineOp.DEPLOY]["user_data"] = b64encode(user_data).decode()
    if params.get("quick_erase") or params.get("secure_erase"):
        # To MAAS each of the two means erasing, whatever `erase` says.
        if params.get("erase") is False:
            raise invalid("erase: false contradicts quick_erase and secure_erase.", "Leave them out to keep the data.")
        forms[MachineOp.RELEASE]["erase"] = True
    return forms


def erasing(params: Mapping[str, Any]) -> bool | None:
    """Whether a release erases; None where the task leaves it to MAAS's configuration."""
    return True if params.get("quick_erase") or params.get("secure_erase") else params.get("erase")


def operating_system(params: Mapping[str, Any]) -> str | None:
    """`osystem/series`: the form in which MAAS takes both, for its parameter `osystem` counts for nothing."""
    osystem, series = params.get("osystem"), params.get("distro_series")
    if not osystem:
        return series
    if not series:
        raise invalid(f"osystem: {osystem} needs distro_series.", "Give both, such as ubuntu and noble.")
    if "/" not in series:
        return f"{osystem}/{series}"
    if series.split("/")[0] != osystem:
        raise invalid(f"osystem: {osystem} contradicts distro_series: {series}.", "Leave osystem out.")
    return str(series)


def deployed_otherwise(machine: Mapping[str, Any], deployment: Form) -> list[tuple[str, str]]:
    """What a deployed machine runs, and what the form of a deployment asks for, where these differ."""
    series, kernel = deployment.get("distro_series"), deployment.get("hwe_kernel")
    present = f"{machine.get('osystem')}/{machine.get('distro_series')}"
    found = []
    if series and series not in (present, machine.get("distro_series")):
        found.append((present, series))
    # MAAS takes another kernel than the one that is asked for where the image lacks it, and does not say so.
    if kernel and machine.get("hwe_kernel") and kernel != machine["hwe_kernel"]:
        found.append((str(machine["hwe_kernel"]), kernel))
    return found


def _scripts(params: Mapping[str, Any], *names: str) -> dict[str, str]:
    """Lists of scripts, which MAAS wants in one piece. An empty list means no script at all: `none`."""
    return {name: _joined(params[name]) for name in names if params.get(name) is not None}


def _joined(scripts: Iterable[str]) -> str:
    return ",".join(scripts) or "none"
