# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may see and change which node."""

from __future__ import annotations

from metalshift_lab.simulator.errors import Forbidden
from metalshift_lab.simulator.model import Controller, Machine, Node, User


def visible(user: User, node: Node) -> bool:
    """Plain users see what is theirs or nobody's, and no controllers."""
    if user.is_superuser:
        return True
    return not isinstance(node, Controller) and node.owner in (None, user)


def may_see(user: User, node: Node) -> None:
    if not visible(user, node):
        raise Forbidden("")


def may_edit(user: User, node: Node) -> None:
    """Use a machine that is one's own or nobody's; nobody, not even an admin, changes a locked one."""
    if isinstance(node, Machine) and node.locked:
        raise Forbidden("")
    if not visible(user, node):
        raise Forbidden("")


def may_lock(user: User, node: Node) -> None:
    """Lock and unlock one's own."""
    if not user.is_superuser and node.owner is not user:
        raise Forbidden("")


def may_administer(user: User, node: Node) -> None:
    if not user.is_superuser or (isinstance(node, Machine) and node.locked):
        raise Forbidden("")
