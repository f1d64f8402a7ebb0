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


def three_machines(sim: Simulator) -> None:
    for name in ("node-1", "node-2", "node-3"):
        sim.machine(name)


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
    Case(
        "zone",
        name="zone with odd texts",
        create={"name": "zöne 1", "description": "first\n line, 'quoted' & {{ curly }}\n"},
        change={"name": "zöne 1", "description": ""},
        delete={"name": "zöne 1", "state": "absent"},
    ),
    Case(
        "resource_pool",
        create={"name": "hosted", "description": "first"},
        change={"name": "hosted", "description": "second"},
        delete={"name": "hosted", "state": "absent"},
    ),
    Case(
        "resource_pool",
        name="resource_pool called as another's id",
        create={"name": "0"},
        change={"name": "0", "description": "not the default pool"},
        delete={"name": "0", "state": "absent"},
    ),
    Case(
        "tag",
        create={"name": "fast", "comment": "first", "kernel_opts": "console=ttyS0"},
        change={"name": "fast", "comment": "second"},
        delete={"name": "fast", "state": "absent"},
    ),
    Case(
        "tag",
        name="tag with machines",
        create={"name": "fast", "machines": ["node-1", "node-2"]},
        change={"name": "fast", "machines": ["node-2", "node-3"], "purge_machines": True},
        delete={"name": "fast", "state": "absent"},
        arrange=three_machines,
    ),
    Case(
        "tag",
        name="tag that MAAS gives",
        create={"name": "auto", "definition": "//node[@class='system']"},
        change={"name": "auto", "definition": "", "kernel_opts": "quiet"},
        delete={"name": "auto", "state": "absent"},
    ),
]

# Modules that only read: the arguments with which they are run.
READERS: Mapping[str, Sequence[Args]] = {
    "maas_info": [{}, {"gather": []}, {"gather": ["all", "machines"]}],
}

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
    Wrong("zone", {"name": "default", "state": "absent"}, "The default zone cannot be removed", kind="conflict"),
    Wrong("resource_pool", {}, "missing required arguments: name"),
    Wrong("resource_pool", {"name": ".."}, "'..' cannot be the name of a resource pool"),
    Wrong("resource_pool", {"name": "bad!"}, "name: Enter a valid value", kind="rejected"),
    Wrong(
        "resource_pool", {"name": "default", "state": "absent"}, "default resource pool default cannot", kind="conflict"
    ),
    Wrong(
        "resource_pool",
        {"name": "hosted", "state": "absent"},
        "The resource pool hosted cannot be removed: node-1 is in it.",
        kind="conflict",
        arrange=lambda sim: sim.machine("node-1", pool="hosted"),
    ),
    Wrong("tag", {}, "missing required arguments: name"),
    Wrong("tag", {"name": "two words"}, "name: Enter a valid value", kind="rejected"),
    Wrong("tag", {"name": "auto", "definition": "((("}, "definition: Invalid xpath expression", kind="rejected"),
    Wrong("tag", {"name": "fast", "machines": ["node-9"]}, "MAAS does not know node-9.", kind="not_found"),
    Wrong("tag", {"name": "fast", "machines": {"name": "node-9"}}, "machines"),
    Wrong(
        "tag",
        {"name": "auto", "definition": "//node", "machines": ["node-1"]},
        "MAAS itself chooses its machines",
        arrange=three_machines,
    ),
    Wrong("maas_info", {"gather": ["everything"]}, "value of gather must be one or more of: all, boot_resources"),
]
