# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""metalshift-lab lxd: a real LXD from the command line, and nodes on it."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from metalshift_lab import labs
from metalshift_lab.labs import LabError
from metalshift_lab.lxd import remains
from metalshift_lab.lxd.obstacles import obstacles
from metalshift_lab.lxd.places import known, named
from metalshift_lab.output import say

if TYPE_CHECKING:
    from metalshift_lab.lxd.server import RealLxd

# As in a test that is to be skipped.
CANNOT_RUN = 77
DONE = 0


def check(given: argparse.Namespace) -> int:
    """Why it cannot run here, or that it can."""
    reasons = obstacles()
    if reasons:
        say(f"LXD cannot run here. {' '.join(reasons)}")
        return CANNOT_RUN
    say("LXD can run here.")
    return DONE


def prepare(given: argparse.Namespace) -> int:
    """Install packages, and build the image of nodes: what takes long, and once."""
    if obstacles():
        return check(given)
    from metalshift_lab.lxd import image, packages

    packages.install((*packages.DAEMON, *packages.NODES), say)
    say(f"LXD {packages.version('lxd')}; image of nodes {image.image(say=say).recipe}")
    return DONE


def start(given: argparse.Namespace) -> int:
    from metalshift_lab.lxd.server import RealLxd

    if obstacles():
        return check(given)
    lxd = RealLxd.start(named(given.name), say)
    for name, value in lxd.reached.items():
        say(f"  export {name}={shlex.quote(value)}")
    if "qemu" not in lxd.drivers:
        say("It has no virtual machines: there is no /dev/kvm.")
    return DONE


def stop(given: argparse.Namespace) -> int:
    named(given.name)
    if given.name not in known():
        say(f"No LXD called {given.name} runs. There is nothing to stop.")
        return DONE
    end(given.name)
    say(f"The LXD {given.name} has ended. Nothing is left of it.")
    return DONE


def nodes(given: argparse.Namespace) -> int:
    """Make nodes, write an inventory of them, and let a MAAS know them."""
    from metalshift_lab.lxd.nodes import introduce, inventory
    from metalshift_lab.lxd.nodes import nodes as make

    lxd = _running(given)
    found = make(lxd, given.nodes, suite=given.suite, say=say)
    written = json.dumps(inventory(found), indent=1)
    if given.control:
        introduce(found, lxd, given.control, given.zones.split(","))
    if given.inventory:
        given.inventory.write_text(f"{written}\n")
    else:
        say(written)
    return DONE


def remove(given: argparse.Namespace) -> int:
    from metalshift_lab.lxd.nodes import remove as take_away

    take_away(_running(given), given.nodes)
    return DONE


def end(name: str) -> list[str]:
    """End the LXD with this name, in good order when that is possible; the names of what ran."""
    where = named(name)
    ran = sorted(each.part for each in remains.family(where))
    try:
        from metalshift_lab.lxd.server import RealLxd

        RealLxd.find(where).stop()
    except (ImportError, LabError):
        remains.clear(where)
    return ran


def _running(given: argparse.Namespace) -> RealLxd:
    from metalshift_lab.lxd.server import RealLxd

    lxd = RealLxd.find(named(given.name))
    if lxd.pid is None:
        raise LabError(
            f"The LXD {given.name} no longer runs. Start it again: metalshift-lab lxd start --name {given.name}"
        )
    return lxd


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], int], str]] = {
    "check": (check, "say whether LXD can run here, and if not, why"),
    "prepare": (prepare, "install Debian's packages and build the image of nodes, once"),
    "start": (start, "start an LXD, and print how to reach it; one that runs already is not changed"),
    "stop": (stop, "end an LXD, and remove everything that belongs to it"),
    "nodes": (nodes, "make nodes: system containers that stand for machines, reached by ssh"),
    "remove": (remove, "delete nodes"),
}


def describe(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    made = {name: commands.add_parser(name, help=meaning) for name, (_run, meaning) in COMMANDS.items()}
    for verb in ("start", "stop", "nodes", "remove"):
        made[verb].add_argument("--name", default=labs.STANDARD, help="which LXD (default %(default)s)")
    made["nodes"].add_argument("--suite", default="bookworm", help="Debian's release (default %(default)s)")
    made["nodes"].add_argument(
        "--inventory", type=Path, metavar="FILE", help="where to write the inventory (default: standard output)"
    )
    made["nodes"].add_argument(
        "--control",
        metavar="URL",
        help="the control API of a simulated MAAS, to which they are added as deployed machines",
    )
    made["nodes"].add_argument(
        "--zones", default="az1,az2,az3", help="the zones of MAAS that they are put into, in turn (default %(default)s)"
    )
    for verb in ("nodes", "remove"):
        made[verb].add_argument("nodes", nargs="+", metavar="NODE", help="their names")


def run(given: argparse.Namespace) -> int:
    return COMMANDS[given.verb][0](given)
