# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real LXD for one test: how it is reached, names for what the test makes, and a look at it past our own code."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from integration.harness import Outcome, run_task
from metalshift_lab.authority import Authority, Pair
from metalshift_lab.lxd.local import Refused
from metalshift_lab.lxd.server import RealLxd

Args = Mapping[str, Any]

# In these words a case has the name that is new for each test; an interface's has 15 letters at most.
NAME = "NAME"
# The path of a certificate that nobody trusts yet.
PAIR = "PAIR"


class Place:
    """One test's LXD."""

    def __init__(self, real: RealLxd, folder: Path) -> None:
        self.real = real
        self.folder = folder
        self.name = f"t{secrets.token_hex(4)}"
        self._config = self._settings()
        self._trusted = self._fingerprints()

    # -- how it is reached --------------------------------------------------------------------------

    @property
    def reach(self) -> dict[str, str]:
        """The options of a client that is trusted for everything."""
        return {
            "lxd_endpoint": self.real.endpoint,
            "lxd_client_cert": self.real.client_cert,
            "lxd_client_key": self.real.client_key,
            "lxd_server_cert": self.real.server_cert,
        }

    @property
    def variables(self) -> dict[str, str]:
        """The same for a playbook."""
        return {name.upper(): value for name, value in self.reach.items()}

    def run(self, module: str, args: Args | None = None, *, check: bool = False, **keywords: Any) -> Outcome:
        """One task through its action plugin, with this test's name in the place of NAME."""
        return run_task(None, module, {**self.reach, **self.named(args or {})}, check=check, **keywords)

    def named(self, value: Any) -> Any:
        text = json.dumps(value).replace(NAME, self.name)
        return json.loads(text.replace(PAIR, self._stranger) if PAIR in text else text)

    @cached_property
    def _stranger(self) -> str:
        return self.pair()["lxd_client_cert"]

    def pair(self, name: str = "") -> dict[str, str]:
        """A certificate and a key that nobody trusts yet, as options."""
        made = self.made_pair(name)
        certificate, key = self.folder / f"{name or 'new'}.crt", self.folder / f"{name or 'new'}.key"
        made.write(certificate, key)
        return {"lxd_client_cert": str(certificate), "lxd_client_key": str(key)}

    def made_pair(self, name: str = "") -> Pair:
        return Authority(self.folder / "pki", "authority").client(name or self.name)

    # -- what it is, past our own code --------------------------------------------------------------

    def get(self, path: str) -> Any:
        return self.real.local.get(f"/1.0/{path}".rstrip("/"))

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return self.real.local(method, f"/1.0/{path}".rstrip("/"), self.named(body) if body else body)

    def snapshot(self) -> Any:
        """All that a task could change."""
        lists = [f"{path}?recursion=1" for path in ("storage-pools", "projects", "certificates")]
        profiles = [f"profiles?recursion=1&project={project}" for project in self._names("projects")]
        tokens = [each for found in self.get("operations?recursion=1").values() for each in found]
        return [
            *(self.get(path) for path in (*lists, *profiles)),
            # Interfaces of the machine come and go without us.
            [each for each in self.get("networks?recursion=1") if each["managed"]],
            self._settings(),
            [each["id"] for each in tokens if each["class"] == "token" and each["status"] == "Running"],
        ]

    # -- tidy ---------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Whatever has a name of this test goes, the users before what they use."""
        for project in self._names("projects"):
            for instance in self._own("instances", project):
                with suppress(Refused):
                    stop = {"action": "stop", "force": True, "timeout": 30}
                    self.real.local("PUT", f"/1.0/instances/{instance}/state?project={project}", stop)
                self._delete(f"instances/{instance}?project={project}")
        for alias in self._own("images/aliases", "default"):
            self._delete(f"images/{self.get(f'images/aliases/{alias}')['target']}")
        for pool in self._names("storage-pools"):
            for volume in self._own(f"storage-pools/{pool}/volumes/custom", "default"):
                self._delete(f"storage-pools/{pool}/volumes/custom/{volume}")
        for project in self._names("projects"):
            for kind in ("profiles", "networks"):
                for name in self._own(kind, project):
                    self._delete(f"{kind}/{name}?project={project}")
        for kind in ("storage-pools", "projects"):
            for name in self._own(kind, "default"):
                self._delete(f"{kind}/{name}")
        for fingerprint in self._fingerprints() - self._trusted:
            self._delete(f"certificates/{fingerprint}")
        for found in self.get("operations?recursion=1").values():
            for each in found:
                if each["class"] == "token" and each["status"] == "Running":
                    self._delete(f"operations/{each['id']}")
        unset = {key: "" for key in self._settings() if key not in self._config}
        self.ask("PATCH", "", {"config": {**unset, **{k: v for k, v in self._config.items() if v is not True}}})

    def _delete(self, path: str) -> None:
        with suppress(Refused):
            self.ask("DELETE", path)

    def _own(self, path: str, project: str) -> Sequence[str]:
        return [name for name in self._names(path, project) if name.startswith(self.name)]

    def _names(self, path: str, project: str = "default") -> list[str]:
        urls = self.get(f"{path}?project={project}")
        return [url.rpartition("/")[2].partition("?")[0] for url in urls]

    def _fingerprints(self) -> set[str]:
        return {url.rpartition("/")[2] for url in self.get("certificates")}

    def _settings(self) -> dict[str, Any]:
        found: dict[str, Any] = self.get("")["config"]
        return found
