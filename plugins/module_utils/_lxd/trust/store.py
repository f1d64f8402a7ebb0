# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom an LXD trusts: client certificates, and tokens with which to become one of them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import segment
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd, TaggedObject
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.errors import no_project
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure.tokens import Token, of_operations


def told(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """A certificate as it is in a result."""
    return {**certificate, "projects": sorted(certificate.get("projects") or [])}


def find(lxd: Lxd, fingerprint: str) -> TaggedObject | None:
    """The certificate of that fingerprint, or of one that begins so."""
    return lxd.find(f"certificates/{fingerprint}", what=f"show the certificate {fingerprint[:12]}")


def add(lxd: Lxd, base64: str, fingerprint: str, fields: Mapping[str, Any]) -> None:
    """Trust it. Another run may have made that so since it was looked for."""
    what = f"trust the certificate {fingerprint[:12]}"
    body = {"type": "client", "certificate": base64, **fields}
    lxd.post("certificates", body, what=what, settled=lambda: find(lxd, fingerprint))


def change(lxd: Lxd, fingerprint: str, fields: Mapping[str, Any]) -> None:
    what = f"change the certificate {fingerprint[:12]}"
    lxd.patch(f"certificates/{fingerprint}", fields, what=what)


def must_have(lxd: Lxd, projects: Sequence[str]) -> None:
    """Raises the failure for a project that LXD does not have. Of a token it would say so when that is used up."""
    for project in projects:
        path = f"projects/{segment(project, 'name of a project')}"
        if lxd.find(path, what=f"show the project {project}") is None:
            raise no_project(lxd.connection.endpoint, project)


def remove(lxd: Lxd, fingerprint: str) -> None:
    lxd.delete(f"certificates/{fingerprint}", what=f"remove the certificate {fingerprint[:12]}")


# -- becoming trusted ------------------------------------------------------------------------------


def enrol(lxd: Lxd, name: str, secret: str, *, is_token: bool) -> None:
    """Become trusted with our own certificate, the one of this very connection."""
    # Before they had a field of their own, tokens went where passwords go.
    own = is_token and lxd.capabilities.has("trust tokens as such")
    body = {"type": "client", "name": name, ("trust_token" if own else "password"): secret}
    try:
        lxd.post("certificates", body, what="trust the client certificate", settled=lambda: _is_trusted(lxd))
    except Failure as failure:
        raise _not_enrolled(lxd, failure, "token" if is_token else "password") from None
    lxd.refreshed()


def _is_trusted(lxd: Lxd) -> bool | None:
    return lxd.refreshed().body.get("auth") == "trusted" or None


def _not_enrolled(lxd: Lxd, failure: Failure, called: str) -> Failure:
    where = f"LXD at {lxd.connection.endpoint}"
    if failure.status == 501:
        return Failure(
            "unsupported",
            f"{where} takes no trust passwords any more.",
            reason=failure.reason,
            hint="Give a token: metalshift.maas.lxd_trust with type: token issues one.",
            status=failure.status,
        )
    if failure.status in (401, 403) or failure.kind == "rejected":
        return Failure(
            "credentials",
            f"{where} does not accept the {called}.",
            reason=f"the {called} is not accepted",
            hint="A token can be used once, and expires." if called == "token" else "Check core.trust_password there.",
            status=failure.status,
        )
    return failure


# -- tokens ----------------------------------------------------------------------------------------


def tokens(lxd: Lxd) -> list[Token]:
    """The tokens that can still be used."""
    now = datetime.now(timezone.utc)
    return [token for token in _listed(lxd) if token.is_valid(now)]


def _listed(lxd: Lxd) -> list[Token]:
    """The tokens that LXD has, whatever the time is here."""
    return of_operations(lxd.get("operations", {"recursion": 1}, what="list its tokens"))


def issue(lxd: Lxd, name: str, restricted: bool, projects: list[str]) -> Token:
    before = {token.id for token in _listed(lxd)}

    def issued() -> Mapping[str, Any] | None:
        """One that came in the meantime; it is read anew, because its form is not that of the first answer."""
        return next(({"id": token.id} for token in _listed(lxd) if token.name == name and token.id not in before), None)

    body = {"type": "client", "token": True, "name": name, "restricted": restricted, "projects": projects}
    said = lxd.post("certificates", body, what=f"issue the token {name}", settled=issued, waits=False)
    found = next((token for token in _listed(lxd) if token.id == said["id"]), None)
    if found is None:
        raise Failure(
            "uncertain",
            f"The token {name} was issued and is gone already: it was used, was revoked or has expired.",
            object=f"token {name}",
            reason="LXD does not list it",
            hint="Run the task again. How long tokens are good says core.remote_token_expiry of LXD.",
        )
    return found


def revoke(lxd: Lxd, token: Token) -> None:
    """End it. One that was used or has expired in the meantime needs no end."""
    try:
        lxd.delete(f"operations/{token.id}", what=f"revoke the token {token.name}")
    except Failure as failure:
        if "running operations" not in failure.reason:
            raise
