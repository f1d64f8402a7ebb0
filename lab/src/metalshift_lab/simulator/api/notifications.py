# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""notifications/"""

from __future__ import annotations

import json
from typing import Any

from metalshift_lab.simulator.errors import BadRequest, Forbidden
from metalshift_lab.simulator.forms import Field, Form, Wrong, among, assign, choice, form_bool
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import Notification, User
from metalshift_lab.simulator.routing import delete, get, post, put, resource

CATEGORIES = ("error", "warning", "success", "info")
NAMES = ("ident", "user", "users", "admins", "message", "context", "category", "dismissable")


def context(value: str) -> dict[str, Any]:
    try:
        found = json.loads(value)
    except ValueError:
        raise Wrong("Enter a valid JSON.") from None
    if not isinstance(found, dict):
        raise Wrong("Context is not a mapping.")
    return found


def notification_form(request: Request, notification: Notification | None = None) -> Form:
    fields = [
        Field("ident", empty=None),
        Field("user", among(request.state.users.find), empty=None),
        Field("users", form_bool, empty=False),
        Field("admins", form_bool, empty=False),
        Field("message", required=True),
        Field("context", context, empty={}),
        Field("category", choice(CATEGORIES), empty="info"),
        Field("dismissable", form_bool, empty=True),
    ]
    form = Form(request.data, fields, partial=notification is not None)
    taken = {n.ident for n in request.state.notifications if n is not notification and n.ident}
    form.unique("ident", "Notification", taken)
    form.finish()
    return form


def concerns(notification: Notification, user: User) -> bool:
    """Meant for this user, and not dismissed."""
    meant = notification.user is user or (notification.admins if user.is_superuser else notification.users)
    return meant and user not in notification.dismissed_by


@resource("notifications/")
class Notifications:
    @get()
    def list(self, request: Request) -> Any:
        return [_render(n) for n in request.state.notifications if concerns(n, request.me)]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        return _render(request.state.notifications.make(Notification, **notification_form(request).cleaned))


@resource("notifications/{id}/")
class NotificationItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        notification = request.state.notifications.get(id)
        if not concerns(notification, request.me) and not request.is_admin:
            raise Forbidden("")
        return _render(notification)

    @put(admin=True)
    def update(self, request: Request, id: str) -> Any:
        notification = request.state.notifications.get(id)
        assign(notification, notification_form(request, notification), NAMES)
        return _render(notification)

    @delete(admin=True)
    def delete(self, request: Request, id: str) -> Any:
        request.state.notifications.discard(request.state.notifications.get(id))
        return NO_CONTENT

    @post("dismiss")
    def dismiss(self, request: Request, id: str) -> Any:
        notification = request.state.notifications.get(id)
        if not concerns(notification, request.me):
            raise Forbidden("")
        if not notification.dismissable:
            raise BadRequest("Notification is not dismissable.")
        notification.dismissed_by.append(request.me)


def _render(notification: Notification) -> dict[str, Any]:
    return {
        "id": notification.id,
        **{name: getattr(notification, name) for name in NAMES if name != "user"},
        "user": {"username": notification.user.username} if notification.user else None,
        "resource_uri": f"/MAAS/api/2.0/notifications/{notification.id}/",
    }
