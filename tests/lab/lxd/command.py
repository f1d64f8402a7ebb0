# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m lab lxd: a real LXD from the command line, and nodes on it."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lab import labs
from lab.labs import LabError
from lab.lxd import remains
from lab.lxd.obstacles import obstacles
from lab.lxd.places import TESTS
from lab.output import say

if TYPE_CHECKING:
    from lab.lxd.server import RealLxd

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
    from lab.lxd import image, packages

    packages.install((*packages.DAEMON, *packages.NODES), say)
    say(f"LXD {packages.version('lxd')}; image of nodes {image.image(say=say).recipe}")
    return DONE


def start(given: argparse.Namespace) -> int:
    from lab.lxd.server import RealLxd

    if obstacles():
        return check(given)
    lxd = RealLxd.start(folder(given.name), say)
    for name, value in reached(lxd).items():
        say(f"  export {name}={shlex.quote(value)}")
    if "qemu" not in lxd.drivers:
        say("It has no virtual machines: there is no /dev/kvm.")
    return DONE


def stop(given: argparse.Namespace) -> int:
    where = folder(given.name)
    if not where.exists() and not remains.family(where):
        say(f"No LXD called {given.name} runs. There is nothing to stop.")
        return DONE
    end(where)
    say(f"The LXD {given.name} has ended. Nothing of it is left.")
    return DONE


def nodes(given: argparse.Namespace) -> int:
    """Make nodes, and write an inventory of them."""
    from lab.lxd.nodes import inventory
    from lab.lxd.nodes import nodes as make

    written = json.dumps(inventory(make(_running(given), given.nodes, suite=given.suite, say=say)), indent=1)
    if given.inventory:
        given.inventory.write_text(f"{written}\n")
    else:
        say(written)
    return DONE


def remove(given: argparse.Namespace) -> int:
    from lab.lxd.nodes import remove as take_away

    take_away(_running(given), given.nodes)
    return DONE


def reached(lxd: RealLxd) -> dict[str, str]:
    """How modules reach it, as variables of the environment."""
    return {
        "LXD_ENDPOINT": lxd.endpoint,
        "LXD_CLIENT_CERT": lxd.client_cert,
        "LXD_CLIENT_KEY": lxd.client_key,
        "LXD_SERVER_CERT": lxd.server_cert,
        # for lxc
        "LXD_DIR": str(lxd.lxd_dir),
    }


def folder(name: str) -> Path:
    """Where the LXD with this name lives."""
    if not re.fullmatch(labs.NAME, name) or name.startswith(f"{TESTS}-"):
        raise LabError(f"{name!r} is no name for an LXD of the lab: it has small letters and digits, as lxd-2.")
    return remains.HOME / name


def end(where: Path) -> None:
    """In good order when that is possible."""
    try:
        from lab.lxd.server import RealLxd

        RealLxd.find(where).stop()
    except (ImportError, LabError):
        remains.clear(where)


def _running(given: argparse.Namespace) -> RealLxd:
    from lab.lxd.server import RealLxd

    lxd = RealLxd.find(folder(given.name))
    if lxd.pid is None:
        raise LabError(f"The LXD {given.name} does not run any more: lxd start begins anew.")
    return lxd


COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], int], str]] = {
    "check": (check, "say whether LXD can run here, and why not"),
    "prepare": (prepare, "install Debian's packages and build the image of nodes, once"),
    "start": (start, "start an LXD, and say how it is reached; one that runs is left as it is"),
    "stop": (stop, "end an LXD; nothing of it is left"),
    "nodes": (nodes, "make system containers that pass for machines, reached by ssh"),
    "remove": (remove, "delete such nodes"),
}


def describe(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    made = {name: commands.add_parser(name, help=meaning) for name, (_run, meaning) in COMMANDS.items()}
    for verb in ("start", "stop", "nodes", "remove"):
        made[verb].add_argument("--name", default=labs.STANDARD, help="which LXD (default %(default)s)")
    made["nodes"].add_argument("--suite", default="bookworm", help="Debian's release (default %(default)s)")
    made["nodes"].add_argument("--inventory", type=Path, metavar="FILE", help="where the inventory goes, if not out")
    for verb in ("nodes", "remove"):
        made[verb].add_argument("nodes", nargs="+", metavar="NODE", help="their names")


def run(given: argparse.Namespace) -> int:
    return COMMANDS[given.verb][0](given)
