# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Static addresses for the VMs of a set, from a list that may hold ranges.

An address that a VM has stays with it. Otherwise the number of a VM says which address is its own, the first for
number 1; where that is taken or there are not so many, it gets the first that is left. So a run that was killed goes on
as it would have gone, and a VM that is made anew gets the address of the one before.

    assigned({"cp-1": 1, "cp-2": 2}, parse(["10.0.0.10-10.0.0.19"]), {"10.0.0.10": "the gateway of lan"})
    -> {"cp-1": "10.0.0.12", "cp-2": "10.0.0.11"}

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Union

from ansible_collections.metalshift.maas.plugins.module_utils._failure import MOST_TOLD, Failure, invalid

# Far more than a set has, and far less than an IPv6 range may.
MOST = 65536

# `|` between classes is refused by the pylint of ansible-core 2.17.
Address = Union[IPv4Address, IPv6Address]  # noqa: UP007


def parse(written: Iterable[str], option: str = "addresses") -> tuple[str, ...]:
    """The addresses that an option lists, each once, as MAAS writes them. A range is written FIRST-LAST."""
    found: dict[str, None] = {}
    for text in written:
        first, dash, last = (part.strip() for part in str(text).partition("-"))
        one = _address(first, text, option)
        other = _address(last, text, option) if dash else one
        if type(one) is not type(other) or int(other) < int(one):
            raise invalid(f"{option} cannot contain {text!r}.", "A range goes from a lower address to a higher one.")
        if int(other) - int(one) + len(found) >= MOST:
            raise invalid(f"{option} lists more than {MOST} addresses.", "Write the part of the range that is yours.")
        kind = type(one)
        found.update((str(kind(number)), None) for number in range(int(one), int(other) + 1))
    return tuple(found)


def assigned(numbers: Mapping[str, int], addresses: Sequence[str], held: Mapping[str, str]) -> dict[str, str]:
    """The address of each VM. `numbers`: by hostname. `held`: by address, whose it is: a hostname or other words.

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
        others = {address: held[address] for address in addresses if address in held and address not in kept}
        raise _too_few(lacking[len(left) :], others)
    found.update(zip(lacking, left, strict=False))
    return {name: found[name] for name in ordered}


def _address(text: str, whole: object, option: str) -> Address:
    try:
        return ip_address(text)
    except ValueError:
        hint = "Write an address such as 10.0.0.10, or a range such as 10.0.0.10-10.0.0.19."
        raise invalid(f"{option} cannot contain {whole!r}.", hint) from None


def _too_few(lacking: Sequence[str], others: Mapping[str, str]) -> Failure:
    told = [f"{address} is used by {holder}" for address, holder in others.items()]
    more = [f"and {len(told) - MOST_TOLD} more"] if len(told) > MOST_TOLD else []
    why = ", ".join([*told[:MOST_TOLD], *more])
    names = ", ".join(lacking)
    message = f"No static address is left for {names}: {why}."
    return Failure("conflict", message, object=names, reason=why, hint="Free them, or list others.")
