# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/1.0/projects"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from metalshift_lab.simulator.lxd.api.asked import (
    BAD_REQUEST,
    BROKEN,
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    Answer,
    Asked,
    Refused,
    address,
    changed,
)
from metalshift_lab.simulator.lxd.api.operations import Operation
from metalshift_lab.simulator.lxd.api.routing import resource
from metalshift_lab.simulator.lxd.api.users import of_project
from metalshift_lab.simulator.lxd.server import Server

KEYS = re.compile(
    r"features\.(images|profiles|networks|networks\.zones|storage\.volumes|storage\.buckets)"
    r"|limits\.(containers|virtual-machines|instances|cpu|memory|disk|processes|networks)(\.pool\..+)?"
    r"|restricted(\.[\w.-]+)?|backups\.compression_algorithm|images\.\w+|user\..+"
)


@resource("projects")
class Projects:
    def get(self, asked: Asked) -> Answer:
        names = [name for name in sorted(asked.server.projects) if asked.client.may_enter(name)]
        return asked.listed({address("projects", name): document(asked.server, name) for name in names})

    def post(self, asked: Asked) -> Answer:
        asked.require_unrestricted()
        server, name, config = asked.server, asked.name_wished(), asked.wish.get("config") or {}
        _check_name(name)
        _check(config)
        if name in server.projects:
            words = 'Failed adding database record: This "projects" entry already exists'
            raise Refused(CONFLICT, f'Failed creating project "{name}": {words}')
        server.projects[name] = {}
        made = server.about(name)
        made.config |= changed({}, config, replace=True)
        made.description = asked.wish.get("description") or ""
        return Answer.created(address("projects", name))


@resource("projects/{name}")
class OneProject:
    def get(self, asked: Asked, name: str) -> Answer:
        require(asked, name)
        return asked.tagged(document(asked.server, name))

    def put(self, asked: Asked, name: str) -> Answer:
        return self._change(asked, name, asked.wish.get("description") or "")

    def patch(self, asked: Asked, name: str) -> Answer:
        """A trap of 5.0: a given configuration replaces the whole, as with PUT."""
        require(asked, name)
        about = asked.server.about(name)
        return self._change(asked, name, asked.wish.get("description", about.description))

    def post(self, asked: Asked, name: str) -> Operation:
        require(asked, name)
        asked.require_unrestricted()
        wished = asked.name_wished()

        def rename() -> None:
            if wished in asked.server.projects:
                raise Refused(BAD_REQUEST, f'A project named "{wished}" already exists')
            asked.server.rename_project(name, wished)

        return asked.operations.run("Renaming project", rename)

    def delete(self, asked: Asked, name: str) -> Answer:
        asked.require_unrestricted()
        if name == "default":
            raise Refused(FORBIDDEN, "The 'default' project cannot be deleted")
        require(asked, name, f'Fetch project "{name}": Project not found')
        own = {address("profiles", "default", project=name)}
        if set(of_project(asked.server, name)) - own:
            raise Refused(BROKEN, "Only empty projects can be removed")
        asked.server.forget_project(name)
        return Answer()

    def _change(self, asked: Asked, name: str, description: str) -> Answer:
        asked.require_unrestricted()
        require(asked, name)
        about = asked.server.about(name)
        asked.require_current(document(asked.server, name))
        _check(asked.wish.get("config") or {})
        if asked.wish.get("config") is not None or asked.method == "PUT":
            about.config = changed(about.config, asked.wish.get("config"), replace=True)
        about.description = description
        return Answer()


def require(asked: Asked, project: str, words: str = "Project not found") -> None:
    """There must be the project, and the client must be let in."""
    if not asked.client.may_enter(project):
        raise Refused(FORBIDDEN, asked.server.knows.restricted)
    if project not in asked.server.projects:
        raise Refused(NOT_FOUND, words)


def document(server: Server, name: str) -> dict[str, Any]:
    about = server.about(name)
    return {
        "config": dict(about.config),
        "description": about.description,
        "name": name,
        "used_by": of_project(server, name),
    }


def _check_name(name: str) -> None:
    for sign, called in ((" ", "spaces"), ("/", "slashes")):
        if sign in name:
            raise Refused(BAD_REQUEST, f"Project names may not contain {called}")


def _check(keys: Iterable[str]) -> None:
    for key in keys:
        if not KEYS.fullmatch(key):
            raise Refused(BAD_REQUEST, f'Invalid project configuration key "{key}"')
