# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""users/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.errors import SERIALISATION_CONFLICT, BadRequest, ServerError
from metalshift_lab.simulator.forms import mandatory
from metalshift_lab.simulator.http import NO_CONTENT, Request, Response
from metalshift_lab.simulator.model import User
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, resource
from metalshift_lab.simulator.state import State


@resource("users/")
class Users:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.user(u) for u in sorted(request.state.users, key=lambda u: u.username)]

    @get("whoami")
    def whoami(self, request: Request) -> Any:
        return Render(request.state).user(request.me)

    @post(admin=True)
    def create(self, request: Request) -> Any:
        username, email, password = (mandatory(request.data, name) for name in ("username", "email", "password"))
        is_superuser = _zero_or_one(mandatory(request.data, "is_superuser"))
        if request.state.users.first(username=username):
            # The duplicate is a conflict in the database, which MAAS takes for a passing one.
            return Response(409, SERIALISATION_CONFLICT, "text/html; charset=utf-8", {"Retry-After": "5"})
        user = request.state.users.make(
            User, username=username, email=email, password=password, is_superuser=is_superuser
        )
        return Render(request.state).user(user)


@resource("users/{username}/")
class UserItem:
    @get()
    def read(self, request: Request, username: str) -> Any:
        return Render(request.state).user(request.state.users.only(username=username))

    @delete(admin=True)
    def delete(self, request: Request, username: str) -> Any:
        state = request.state
        if username == request.me.username:
            raise BadRequest("An administrator cannot self-delete.")
        user = state.users.first(username=username)
        if user is None:
            return NO_CONTENT
        heir = request.query.get("transfer_resources_to")
        if heir:
            _transfer(state, user, state.users.only(username=heir))
        _check_owns_nothing(state, user)
        for token in list(state.tokens.where(user=user)):
            state.tokens.discard(token)
        for key in list(state.ssh_keys.where(user=user)):
            state.ssh_keys.discard(key)
        state.users.discard(user)
        return NO_CONTENT


def _zero_or_one(value: str) -> bool:
    if value not in ("0", "1"):
        raise ServerError(f"Not a valid Boolean value (0 or 1): {value!r}")
    return value == "1"


def _transfer(state: State, user: User, heir: User) -> None:
    for node in state.nodes:
        if node.owner is user:
            node.owner = heir
    for address in state.addresses:
        if address.user is user:
            address.user = heir
    for found in state.ranges:
        if found.user is user:
            found.user = heir


def _check_owns_nothing(state: State, user: User) -> None:
    owned = [
        (sum(1 for a in state.addresses if a.user is user), "static IP address(es)"),
        (sum(1 for r in state.ranges if r.user is user), "IP range(s)"),
        (sum(1 for n in state.nodes if n.owner is user), "node(s)"),
    ]
    found = ", ".join(f"{count} {what}" for count, what in owned if count)
    if found:
        raise BadRequest(f"User {user.username} cannot be deleted: {found} are still allocated")
