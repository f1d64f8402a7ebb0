# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of etcd's JSON gateway, for what no API server offers: to forget history on purpose."""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
from pathlib import Path
from typing import Any

from metalshift_lab.kube.control_plane import ETCD_SOCKET

TIMEOUT = 10
# Outside of what the API server reads.
KEY = "/lab/now"


class Etcd:
    """The etcd whose socket is in this folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def forget_history(self) -> int:
        """Compact up to now; the revision from which on there is a history."""
        # A revision of its own: nobody can have seen it yet.
        put = self._ask("kv/put", {"key": _encoded(KEY), "value": _encoded("now")})
        revision = int(put["header"]["revision"])
        self._ask("kv/compaction", {"revision": str(revision), "physical": True})
        return revision

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        # The path of a socket may have 107 characters; by way of the folder's descriptor it always fits.
        folder = os.open(self._folder, os.O_RDONLY)
        connection = http.client.HTTPConnection("etcd", timeout=TIMEOUT)
        try:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(TIMEOUT)
            connection.sock.connect(f"/proc/self/fd/{folder}/{ETCD_SOCKET}")
            connection.request("POST", f"/v3/{path}", json.dumps(body))
            response = connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read())
        except OSError as error:
            raise ValueError(f"etcd in {self._folder} does not answer: {error}") from None
        finally:
            connection.close()
            os.close(folder)
        if response.status != http.client.OK:
            raise ValueError(f"etcd refuses {path}: {answer.get('message', answer)}")
        return answer


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
