# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/1.0/profiles"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.lxd.api.asked import (
    BAD_REQUEST,
    BROKEN,
    FORBIDDEN,
    NOT_FOUND,
    Answer,
    Asked,
    Refused,
    address,
    changed,
)
from metalshift_lab.simulator.lxd.api.devices import wrong_config, wrong_device
from metalshift_lab.simulator.lxd.api.operations import Operation
from metalshift_lab.simulator.lxd.api.projects import require
from metalshift_lab.simulator.lxd.api.routing import resource
from metalshift_lab.simulator.lxd.api.users import of_profile
from metalshift_lab.simulator.lxd.server import Profile


@resource("profiles")
class Profiles:
    def get(self, asked: Asked) -> Answer:
        known = _known(asked)
        return asked.listed({_address(asked, name): _document(asked, known[name]) for name in sorted(known)})

    def post(self, asked: Asked) -> Answer:
        known, name = _known(asked), asked.name_wished()
        if "/" in name:
            raise Refused(BAD_REQUEST, "Profile names may not contain slashes")
        _check(asked)
        if name in known:
            raise Refused(BROKEN, f'Error inserting "{name}" into database: The profile already exists')
        made = known[name] = Profile(name)
        _change(made, asked.wish, replace=True)
        return Answer.created(_address(asked, name))


@resource("profiles/{name}")
class OneProfile:
    def get(self, asked: Asked, name: str) -> Answer:
        return asked.tagged(_document(asked, _find(asked, name, "Fetch profile: Profile not found")))

    def put(self, asked: Asked, name: str) -> Answer | Operation:
        return self._changed(asked, name, replace=True)

    def patch(self, asked: Asked, name: str) -> Answer | Operation:
        return self._changed(asked, name, replace=False)

    def post(self, asked: Asked, name: str) -> Answer:
        found, wished = _find(asked, name), asked.name_wished()
        known = _known(asked)
        if wished in known:
            raise Refused(BROKEN, f'Name "{wished}" already in use')
        known[wished] = known.pop(name)
        found.name = wished
        return Answer.created(_address(asked, wished))

    def delete(self, asked: Asked, name: str) -> Answer:
        if name == "default":
            raise Refused(FORBIDDEN, 'The "default" profile cannot be deleted')
        _find(asked, name)
        if of_profile(asked.server, asked.project, name):
            raise Refused(BAD_REQUEST, "Profile is currently in use")
        del _known(asked)[name]
        return Answer()

    def _changed(self, asked: Asked, name: str, *, replace: bool) -> Answer | Operation:
        found = _find(asked, name)
        asked.require_current(_document(asked, found))
        _check(asked)
        if asked.server.knows.changes_profiles_in_the_background:
            return asked.operations.run("Updating profile", lambda: _change(found, asked.wish, replace=replace))
        _change(found, asked.wish, replace=replace)
        return Answer()


def _change(profile: Profile, wish: dict[str, Any], *, replace: bool) -> None:
    given = {name: dict(device) for name, device in (wish.get("devices") or {}).items()}
    profile.config = changed(profile.config, wish.get("config"), replace=replace)
    profile.devices = given if replace else {**profile.devices, **given}
    if replace or "description" in wish:
        profile.description = wish.get("description") or ""


def _check(asked: Asked) -> None:
    wish = asked.wish
    wrong = wrong_config(asked.server, wish.get("config") or {}) or wrong_device(
        asked.server, wish.get("devices") or {}
    )
    if wrong:
        raise Refused(BAD_REQUEST, wrong)


def _known(asked: Asked) -> dict[str, Profile]:
    require(asked, asked.project, f'Failed loading project "{asked.project}": Project not found')
    return asked.server.profiles(asked.project)


def _find(asked: Asked, name: str, words: str = "Profile not found") -> Profile:
    known = _known(asked)
    if name not in known:
        raise Refused(NOT_FOUND, words)
    return known[name]


def _address(asked: Asked, name: str) -> str:
    return address("profiles", name, project=asked.project)


def _document(asked: Asked, profile: Profile) -> dict[str, Any]:
    return {
        "config": dict(profile.config),
        "description": profile.description,
        "devices": {name: dict(device) for name, device in profile.devices.items()},
        "name": profile.name,
        "used_by": of_profile(asked.server, asked.project, profile.name),
    }
