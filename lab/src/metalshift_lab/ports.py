# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's ports on the loopback interface: a block of its own, so that two labs do not meet."""

from __future__ import annotations

import random
import socket
import threading

LOOPBACK = "127.0.0.1"
# Below the ports that Linux gives to outgoing connections, above those of well-known servers.
FIRST, LAST = 20000, 32000
BLOCK = 400
# The front of the block is for NodePorts, which the API server hands out.
NODE_PORTS = 200


class Ports:
    """A block that nobody listens in now: its front for NodePorts, its back for the lab's own servers."""

    def __init__(self) -> None:
        starts = list(range(FIRST, LAST - BLOCK, BLOCK))
        random.shuffle(starts)
        self.first = next((start for start in starts if _idle(start)), starts[0])
        self._lock = threading.Lock()
        self._taken: set[int] = set()

    @property
    def node_ports(self) -> str:
        """As the API server's option wants it."""
        return f"{self.first}-{self.first + NODE_PORTS - 1}"

    def take(self) -> int:
        with self._lock:
            for port in range(self.first + NODE_PORTS, self.first + BLOCK):
                if port not in self._taken and _free(port):
                    self._taken.add(port)
                    return port
        raise OSError(f"All ports of the lab, {self.first + NODE_PORTS} to {self.first + BLOCK - 1}, are in use.")

    def give_back(self, *ports: int) -> None:
        with self._lock:
            self._taken.difference_update(ports)


def _idle(start: int) -> bool:
    """Probes of the block show no other lab; a single port that is busy is passed over later."""
    return all(_free(port) for port in range(start, start + BLOCK, 20)) and all(
        _free(port) for port in range(start + NODE_PORTS, start + NODE_PORTS + 20)
    )


def _free(port: int) -> bool:
    with socket.socket() as probe:
        # A server that just ended leaves connections behind that do not keep the next one from listening.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
