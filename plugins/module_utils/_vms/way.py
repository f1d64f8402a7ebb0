# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A way to VMs: what it can tell and do, whether MAAS composes them or LXD is asked for them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.identity import Machine
from ansible_collections.metalshift.maas.plugins.module_utils._vms.attachments import Attachment
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.placement import PlacementHost
from ansible_collections.metalshift.maas.plugins.module_utils._vms.pure.set_plan import FoundVm
from ansible_collections.metalshift.maas.plugins.module_utils._vms.size_difference import Limits
from ansible_collections.metalshift.maas.plugins.module_utils._vms.template import Template


@dataclass(frozen=True)
class NewVmSpec:
    """A VM that is to be made."""

    name: str
    host: str
    template: Template
    attachments: Sequence[Attachment] = ()
    # By interface: the static addresses.
    addresses: Mapping[str, str] = field(default_factory=dict)
    # The cores that it is pinned to.
    cores: tuple[int, ...] = ()
    # The set that it belongs to.
    claim: str = ""

    def ip(self, attachment: Attachment) -> str:
        return self.addresses.get(attachment.nic.name) or attachment.nic.static

    @property
    def commissioning(self) -> Mapping[str, Any]:
        """What its commissioning is to be told, lest it set up anew the interfaces that were asked for."""
        return {"skip_networking": True} if any(one.is_linked for one in self.attachments) else {}


@dataclass(frozen=True)
class Made:
    """The machine of a VM that was made, and its host: another one if another run of the same task was faster."""

    system_id: str
    host: str


@dataclass(frozen=True)
class Reattachment:
    """Interfaces of a VM that go from one interface of the host to another, by their names."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    apply: Callable[[], None]

    def step(self, name: str) -> Step:
        ports = ", ".join(f"{self.before[nic]} is a port of {self.after[nic]}" for nic in sorted(self.before))
        return Step("change", name, f"in LXD: {ports}", dict(self.before), dict(self.after))


# It has been set up, and only its cores and memory are others.
RECOMMISSIONING: Mapping[str, Any] = {"skip_networking": True, "skip_storage": True}


class Way(Protocol):
    """All that differs between the two ways."""

    @property
    def away(self) -> Mapping[str, Failure]:
        """The hosts that do not answer, and why."""

    def hosts(self, attachments: Sequence[Attachment], pinned: bool) -> list[PlacementHost]:
        """The hosts, with what keeps VMs of these interfaces away; who is pinned where only if that matters."""

    def names_like(self, prefix: str) -> set[str]:
        """The VMs on the hosts whose names begin so, as far as the hosts tell."""

    def lost(self, names: Iterable[str]) -> set[str]:
        """Of these names, the machines of MAAS whose VM is not on the host where MAAS switches it."""

    def found(self, machines: Iterable[Machine], names: Iterable[str]) -> list[FoundVm]:
        """What is called so: the machines of MAAS, and the VMs that it does not know."""

    def may_finish(self, host: str, name: str) -> None:
        """Raises the failure that keeps a VM that MAAS does not know from being added to it."""

    def make(self, order: NewVmSpec) -> Made:
        """Make a VM, or finish one that a killed run began."""

    def reattachment(self, host: str, name: str) -> Reattachment | None:
        """What is to be done about interfaces of a VM that exists, if they hang where they cannot work."""

    def keeping(self, host: str, name: str) -> Callable[[], None] | None:
        """What takes the mark from a VM that it is being removed; None if it has none."""

    def limits(self, found: FoundVm) -> Limits | None:
        """What a VM that exists was given, if this way can give it another size."""

    def may_remove(self, machine: Machine, found: FoundVm) -> None:
        """Raises the failure that keeps this way from removing a VM whole."""

    def mark_leaving(self, found: FoundVm) -> None:
        """Write on a VM that it is being removed, so that another run can finish that when MAAS has forgotten it."""

    def clear(self, found: FoundVm) -> bool:
        """Remove what is left of a VM when MAAS has forgotten it; whether there was something."""
