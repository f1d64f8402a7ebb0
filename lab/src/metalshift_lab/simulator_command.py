# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""metalshift-lab simulator: a simulated MAAS in the foreground, until Ctrl-C."""

from __future__ import annotations

import argparse
import errno
import math
import os
import pathlib
import shlex
import signal
import sys
import threading
from typing import TYPE_CHECKING

from metalshift_lab.output import typed
from metalshift_lab.ports import LOOPBACK

if TYPE_CHECKING:
    from metalshift_lab.simulator import Simulator

DEFAULT_PORT, DEFAULT_AUTO = 5240, 5.0
HIGHEST_PORT = 65534


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > HIGHEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {HIGHEST_PORT}")
    return int(text)


def seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return found


def count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of machines")
    return int(text)


def describe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default=LOOPBACK, help="address to listen on (default %(default)s)")
    parser.add_argument(
        "--port",
        type=port,
        default=DEFAULT_PORT,
        help="port of the API; the control API is on the next one (default %(default)s)",
    )
    parser.add_argument(
        "--key-file",
        type=pathlib.Path,
        default=pathlib.Path("key.txt"),
        help="where to write the admin's API key (default %(default)s)",
    )
    parser.add_argument(
        "--auto",
        type=seconds,
        default=DEFAULT_AUTO,
        metavar="SECONDS",
        help="how long each transition of a machine takes (default %(default)g; 0: it never ends by itself)",
    )
    parser.add_argument(
        "--seed", type=count, default=0, metavar="N", help="start with N Ready machines in the zones az1, az2 and az3"
    )
    parser.add_argument(
        "--version", default="3.6", help="the MAAS version, 3.3 to 3.8, or no-vmhosts (default %(default)s)"
    )
    parser.add_argument(
        "--lxd", action="store_true", help="also serve the API of the LXD that MAAS has, for clients of LXD"
    )


def write_key(path: pathlib.Path, key: str) -> None:
    """The file belongs to its owner only, also when it existed with other rights."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(f"{key}\n")


def _open_lxd(simulator: Simulator) -> dict[str, str]:
    """How clients of LXD reach the one that MAAS has from the start."""
    from metalshift_lab.simulator import lxd

    (server,) = lxd.servers(simulator.state).values()
    return server.door.reached()


def run(options: argparse.Namespace) -> int:
    from metalshift_lab.simulator import Simulator

    try:
        simulator = Simulator(
            host=options.host,
            port=options.port,
            control_port=options.port + 1 if options.port else 0,
            version=options.version,
            auto=options.auto,
        )
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            sentence = (
                f"Port {options.port} or {options.port + 1} of {options.host} is taken: "
                f"choose another one, as in  {typed('simulator', port=options.port + 100)}"
            )
        else:
            sentence = f"Cannot listen on {options.host}, port {options.port}: {error.strerror or error}."
        print(sentence, file=sys.stderr)
        return 1
    except (ValueError, OverflowError) as error:
        print(error, file=sys.stderr)
        return 1
    try:
        write_key(options.key_file, simulator.api_key)
    except OSError as error:
        simulator.stop()
        print(f"Cannot write the API key to {options.key_file}: {error.strerror}.", file=sys.stderr)
        return 1
    if options.seed:
        simulator.machines(options.seed, zones=["az1", "az2", "az3"])
    try:
        opened = _open_lxd(simulator) if options.lxd else {}
    except ValueError as error:
        simulator.stop()
        print(error, file=sys.stderr)
        return 1
    finished = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: finished.set())
    with simulator:
        print(
            f"MAAS {simulator.state.version} (simulated) listens on {simulator.url}, "
            f"its control API on {simulator.control_url}."
        )
        print(
            f"Transitions finish after {options.auto:g} s."
            if options.auto
            else "Transitions finish when the control API says so."
        )
        print("In another terminal:\n")
        print(f"  export MAAS_ENDPOINT={simulator.url}")
        print(f'  export MAAS_API_KEY="$(cat {shlex.quote(str(options.key_file.absolute()))})"\n')
        for name, value in opened.items():
            print(f"  export LXD_{name.upper()}={shlex.quote(value)}")
        print("Ctrl-C ends it.", flush=True)
        finished.wait()
    print("\nThe simulator has ended.")
    return 0
