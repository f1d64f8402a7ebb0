# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import LxdConnection
from metalshift_lab.authority import Authority
from unit.scripted_maas import Call, FakeClock, ScriptedMaas

EXTENSIONS = ["projects", "certificate_project", "certificate_token"]


class Papers:
    """Certificates of an authority: of a client, and of servers, which have their keys in the same file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.authority = Authority(folder, "authority")
        self.client_cert, self.client_key = folder / "client.crt", folder / "client.key"
        self.authority.client("client").write(self.client_cert, self.client_key)
        self.server = self.of_server("127.0.0.1")
        self.elsewhere = self.of_server("lxd.example.com")

    def of_server(self, name: str) -> Path:
        pair = self.authority.server(name, [name])
        path = self.folder / f"{name}.pem"
        path.write_bytes(pair.certificate + pair.key)
        return path

    @property
    def params(self) -> dict[str, Any]:
        """The options of a task that presents them, without those of the server."""
        return {
            "lxd_client_cert": str(self.client_cert),
            "lxd_client_key": str(self.client_key),
            "lxd_server_cert": str(self.authority.file),
            "lxd_project": "default",
            "lxd_timeout": 5.0,
        }


@pytest.fixture(scope="session")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    return Papers(tmp_path_factory.mktemp("papers"))


def said(metadata: Any = None, **more: Any) -> dict[str, Any]:
    """LXD's envelope around an answer."""
    return {"type": "sync", "status": "Success", "status_code": 200, "metadata": metadata, **more}


def refused(status: int, error: str) -> dict[str, Any]:
    return {"type": "error", "error": error, "error_code": status, "metadata": None}


def hello(auth: str = "trusted", extensions: Sequence[str] = tuple(EXTENSIONS), **more: Any) -> Call:
    """What the client begins with: the question what LXD is."""
    return Call("GET /1.0", json=said({"auth": auth, "api_extensions": list(extensions), "config": {}, **more}))


Play = Callable[..., ScriptedMaas]


@pytest.fixture
def lxd(play: Play, clock: FakeClock, papers: Papers) -> Callable[..., Lxd]:
    """A client of an LXD that plays a script, after the first question."""

    def start(*script: Call, first: Call | None = None, certificate: str = "", **params: Any) -> Lxd:
        server = play(first or hello(), *script, certificate=certificate or str(papers.server))
        where = {"lxd_endpoint": f"https://127.0.0.1:{server.port}"}
        return Lxd(LxdConnection.from_params({**papers.params, **where, **params}, {}), clock=clock)

    return start
