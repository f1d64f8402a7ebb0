# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine is to be as an LXD host: the variables of the role lxd_host that decisions depend on.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

TRUE = frozenset({"true", "yes", "on", "1", "y", "t"})
FALSE = frozenset({"false", "no", "off", "0", "n", "f", ""})


@dataclass(frozen=True)
class HostSpec:
    """The variables, without their prefix. The role's argument spec describes them."""

    machine: str = ""
    discard_unanswered: Sequence[str] = ()
    existing_vms: str = "refuse"
    install: str = "auto"
    snap_channel: str = "5.21/stable"
    storage_pool: str = "default"
    storage_driver: str = "dir"
    storage_source: str = ""
    storage_size: str = ""
    bridge: str = "br0"
    bridge_create: bool = False
    project: str = "maas"
    reserved_cores: int = 0
    reserved_memory: str = "0"
    listen: str = "[::]"
    port: int = 8443
    address: str = ""
    firewall: bool = True
    allowed_from: Sequence[str] = ()
    register: bool = True
    pool: str = ""
    cpu_over_commit_ratio: float = 0.0
    memory_over_commit_ratio: float = 0.0
    proof: bool = True
    kubernetes_node: str = ""
    kubeconfig: bool = False

    @classmethod
    def from_params(cls, given: Mapping[str, Any]) -> HostSpec:
        """The variables as a template leaves them, where numbers and booleans may be texts."""
        return cls(**converted(cls, "wanted", given))

    @property
    def https_address(self) -> str:
        return f"{self.listen}:{self.port}"


def converted(target: type, option: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a dataclass's fields, each of the type of its default. None stands for the default."""
    known = {field.name: field.default for field in fields(target)}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise invalid(f"{option} has {', '.join(unknown)}, which it does not take; it takes {', '.join(known)}.")
    return {name: _as(f"{option}: {name}", known[name], value) for name, value in given.items() if value is not None}


def _as(label: str, default: Any, value: Any) -> Any:
    try:
        return _converters[type(default)](value)
    except (KeyError, TypeError, ValueError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}.get(type(default), "a list")
        wanted = "a dict" if default is None else wanted
        raise invalid(f"{label} must be {wanted}, not {value!r}.") from None


def _as_bool(value: Any) -> bool:
    word = str(value).strip().lower()
    if word not in TRUE | FALSE:
        raise ValueError
    return word in TRUE


def _as_int(value: Any) -> int:
    number = int(value)
    if number != float(value):
        raise ValueError
    return number


def _as_list(value: Any) -> Sequence[Any]:
    if isinstance(value, (str, bytes, Mapping)):
        raise TypeError
    return tuple(value)


def _as_dict(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError
    return value


_converters: Mapping[type, Callable[[Any], Any]] = {
    bool: _as_bool,
    int: _as_int,
    float: float,
    str: str,
    tuple: _as_list,
    type(None): _as_dict,
}
