# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Static addresses for the VMs of a set, from a list.

An address that a VM has stays with it. Otherwise the number of a VM says which address is its own, the first for
number 1; where that is taken or there are not so many, it gets the first that is left. So a run that was killed goes on
as it would have gone, and a VM that is made anew gets the address of the one before.

    assigned({"cp-1": 1, "cp-2": 2}, ["10.0.0.10", "10.0.0.11", "10.0.0.12"], {"10.0.0.10": "the gateway of lan"})
    -> {"cp-1": "10.0.0.12", "cp-2": "10.0.0.11"}

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import MOST_TOLD, Failure, invalid


def assigned(numbers: Mapping[str, int], addresses: Sequence[str], held: Mapping[str, str]) -> dict[str, str]:
    """The address of each VM. `numbers`: by hostname. `held`: by address, which VM has it, or what else
    it is: `used by node-7`, `the gateway of lan`.

    There are too few: a failure that says who has the others. Nothing has been sent by then.
    """
    found: dict[str, str] = {}
    ordered = sorted(numbers, key=lambda name: (numbers[name], name))
    for address in addresses:
        if held.get(address) in numbers:
            found.setdefault(held[address], address)
    left = dict.fromkeys(address for address in addresses if address not in held)
    for name in ordered:
        own = addresses[numbers[name] - 1] if 0 < numbers[name] <= len(addresses) else ""
        if name not in found and own in left:
            found[name] = own
            del left[own]
    lacking = [name for name in ordered if name not in found]
    if len(lacking) > len(left):
        if len(addresses) < len(ordered):
            raise invalid(f"{len(addresses)} static addresses are too few for {len(ordered)} VMs.", "List more.")
        kept = set(found.values())
        taken = [address for address in addresses if address in held and address not in kept]
        others = {one: f"used by {held[one]}" if held[one] in numbers else held[one] for one in taken}
        raise _too_few(lacking[len(left) :], others)
    found.update(zip(lacking, left, strict=False))
    return {name: found[name] for name in ordered}


def _too_few(lacking: Sequence[str], others: Mapping[str, str]) -> Failure:
    told = [f"{address} is {holder}" for address, holder in others.items()]
    more = [f"and {len(told) - MOST_TOLD} more"] if len(told) > MOST_TOLD else []
    why = ", ".join([*told[:MOST_TOLD], *more])
    names = ", ".join(lacking)
    message = f"No static address is left for {names}: {why}."
    return Failure("conflict", message, object=names, reason=why, hint="Free them, or list others.")
