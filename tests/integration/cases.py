# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every module is tested with. A module that is in none of these tables fails the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.simulator import Simulator

Args = Mapping[str, Any]
Arrange = Callable[[Simulator], object]


def nothing(_sim: Simulator) -> None:
    """The seed state is enough."""


@dataclass(frozen=True)
class Case:
    """One object's life: made, changed, removed. `noun` is the key of the result that holds it."""

    module: str
    create: Args
    change: Args
    delete: Args
    name: str = ""
    noun: str = ""
    arrange: Arrange = nothing
    # Keys of a real object that a predicted one need not have, because nobody can know them.
    unpredictable: Sequence[str] = ()

    def __str__(self) -> str:
        return self.name or self.module


@dataclass(frozen=True)
class Wrong:
    """Arguments that cannot be carried out, and words of the sentence that says so."""

    module: str
    args: Args
    says: str
    arrange: Arrange = nothing
    kind: str = "invalid"
    # Reaching MAAS is part of every bad-input case unless it is what is wrong.
    connect: bool = True


LIVES: list[Case] = [
    Case(
        "zone",
        create={"name": "az1", "description": "first"},
        change={"name": "az1", "description": "second"},
        delete={"name": "az1", "state": "absent"},
    ),
]

# Modules that only read: the arguments with which they are run.
READERS: Mapping[str, Sequence[Args]] = {}

# What is wrong for every module, on top of what is right for it.
WRONG_EVERYWHERE: list[Wrong] = [
    Wrong("*", {}, "maas_endpoint is missing: give the option or set", connect=False),
    Wrong("*", {"maas_endpoint": "http://maas.invalid"}, "maas_api_key is missing", connect=False),
    Wrong("*", {"maas_endpoint": "maas.example.com"}, "maas_endpoint is not a URL: 'maas.example.com'"),
    Wrong("*", {"maas_endpoint": "http://u:p@maas"}, "maas_endpoint must not hold a user name"),
    Wrong("*", {"maas_endpoint": ["http://a", "http://b"]}, "maas_endpoint is not a URL"),
    Wrong("*", {"maas_api_key": "sesame"}, "maas_api_key is not an API key of MAAS"),
    Wrong("*", {"maas_api_key": "a:b:c"}, "does not accept the API key", kind="credentials"),
    Wrong("*", {"maas_ca_cert": "/nowhere/ca.pem"}, "maas_ca_cert names a file that does not exist"),
    Wrong("*", {"maas_timeout": "soon"}, "maas_timeout"),
    Wrong("*", {"maas_timeout": 0}, "maas_timeout must be more than 0"),
    Wrong("*", {"maas_validate_certs": "perhaps"}, "maas_validate_certs"),
    Wrong("*", {"maas_api_kye": "a:b:c"}, "unknown option maas_api_kye"),
]

WRONG: list[Wrong] = [
    Wrong("zone", {}, "missing required arguments: name"),
    Wrong("zone", {"name": "x", "state": "gone"}, "value of state must be one of: present, absent"),
    Wrong("zone", {"name": "x", "nmae": "y"}, "unknown option nmae"),
    Wrong("zone", {"name": "../tags"}, "'../tags' cannot be the name of a zone"),
    Wrong("zone", {"name": ""}, "cannot be the name of a zone"),
    Wrong("zone", {"name": "a!b"}, "MAAS refused POST zones/: name: Enter a valid value", kind="rejected"),
]
