# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing whom an LXD trusts to the wished state: certificates, and tokens with which to become trusted.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import pem
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pem import certificates
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import errors
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust import store
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure import spec
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure.spec import Wish
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure.tokens import Token


def converge_certificate(task: Task) -> Result:
    """Trust the certificate as wished, or not at all."""
    options, lxd = task.params, task.lxd
    wish = _wish(options, lxd)
    if options["state"] == "absent":
        return _distrust(task, wish)
    if not lxd.trusted:
        return _enrol(task, wish)
    return _make(task, wish, Plan())


def _make(task: Task, wish: Wish, done: Plan) -> Result:
    lxd, seen = task.lxd, store.find(task.lxd, wish.fingerprint)
    found = seen.body if seen else None
    if found is None and not wish.base64:
        raise spec.unknown(wish, lxd.connection.endpoint)
    plan = spec.plan(wish, found)
    whole = Plan([*done.steps, *plan.steps])
    if plan and task.check:
        return _told(whole, spec.predicted(wish, found))
    if plan:
        store.must_have(lxd, _new_projects(wish, found))
    if plan and seen:
        store.change(lxd, seen.body["fingerprint"], spec.to_change(wish, seen.body))
    elif plan:
        try:
            store.add(lxd, wish.base64, wish.fingerprint, {"name": wish.name or wish.label, **wish.rights})
        except Failure as failure:
            # Another run may have added it since it was looked for; then it has what rights that gave it.
            if errors.exists_already(failure) and store.find(lxd, wish.fingerprint):
                return _make(task, wish, done)
            raise
    now = store.find(lxd, wish.fingerprint) if plan else seen
    return _told(whole, store.told(now.body) if now else {})


def _new_projects(wish: Wish, found: Mapping[str, Any] | None) -> Sequence[str]:
    """Those that a certificate is to be restricted to, and is not yet."""
    return sorted({*(wish.projects or ())} - {*((found or {}).get("projects") or ())})


def _enrol(task: Task, wish: Wish) -> Result:
    """Become trusted by a token or a password: with our own certificate, for LXD sees no other."""
    options, lxd = task.params, task.lxd
    own, secret = lxd.connection.identity, options["token"] or options["password"]
    if not own:
        raise errors.untrusted(lxd.connection.endpoint, "")
    if not secret or own.certificate.expired:
        raise errors.untrusted(lxd.connection.endpoint, own.certificate.fingerprint, own.certificate.expired)
    if own.certificate.fingerprint != wish.fingerprint:
        raise invalid(
            "A token or password makes the client certificate trusted, and no other one.",
            hint="Leave certificate and fingerprint out.",
        )
    plan = Plan([Step("create", wish.label, after={"fingerprint": wish.fingerprint, **wish.rights})])
    if task.check:
        return _told(plan, spec.predicted(wish, None))
    store.enrol(lxd, wish.name or wish.label, secret, is_token=bool(options["token"]))
    return _make(task, wish, plan)


def _distrust(task: Task, wish: Wish) -> Result:
    lxd, seen = task.lxd, store.find(task.lxd, wish.fingerprint)
    own = lxd.connection.identity
    if seen and own and seen.body["fingerprint"] == own.certificate.fingerprint:
        raise spec.cut_off(wish, lxd.connection.endpoint)
    plan = spec.plan_removal(wish, seen.body if seen else None)
    if plan and seen and not task.check:
        store.remove(lxd, seen.body["fingerprint"])
    return _told(plan, {})


def _wish(options: Mapping[str, Any], lxd: Lxd) -> Wish:
    restricted, projects = spec.rights(options)
    if restricted is not None or projects is not None:
        lxd.capabilities.require("certificates restricted to projects", "restricted and projects")
    if options["fingerprint"]:
        fingerprint = spec.part_of_fingerprint(options["fingerprint"])
        return Wish(fingerprint, "", options["name"], restricted, projects)
    own = lxd.connection.identity
    if options["certificate"]:
        given = certificates("certificate", pem("certificate", options["certificate"]))[0]
    elif own:
        given = own.certificate
    else:
        raise invalid("certificate is missing: who asks through a socket has none of its own.")
    return Wish(given.fingerprint, given.base64, options["name"], restricted, projects)


def _told(plan: Plan, now: Mapping[str, Any]) -> Result:
    return Result(changed=bool(plan), values={"certificate": now}, plan=plan)


# -- tokens ----------------------------------------------------------------------------------------


def converge_token(task: Task) -> Result:
    """Have exactly one token of that name with the wished rights, or none."""
    options, lxd = task.params, task.lxd
    lxd.capabilities.require("trust tokens", "type: token")
    restricted, projects = spec.rights(options)
    tokens, absent = store.tokens(lxd), options["state"] == "absent"
    now = datetime.now(timezone.utc)
    good = {token.id for token in tokens if not absent and token.is_valid(now, options["min_validity"])}
    kept, unfit = spec.sort_out(tokens, options["name"], restricted, projects, good)
    asked: dict[str, Any] = {"restricted": bool(restricted), "projects": sorted(projects or [])}
    plan = spec.token_plan(options["name"], kept, unfit, None if absent else asked)
    if task.check:
        unknown = {"issued_at": None, "expires_at": None, "predicted": True}
        predicted = {} if absent else {"name": options["name"], **asked, **unknown}
        return _token_told(plan, kept.told if kept else predicted, None)
    issues = kept is None and not absent
    if issues:
        store.must_have(lxd, asked["projects"])
    for token in unfit:
        store.revoke(lxd, token)
    if issues:
        kept = store.issue(lxd, options["name"], asked["restricted"], asked["projects"])
    short = kept is not None and not kept.is_valid(now, options["min_validity"])
    return _token_told(plan, kept.told if kept else {}, kept, [SHORT] if short else [])


SHORT = (
    "LXD issues tokens that end before min_validity, so that each run issues another one. Lower it, or raise "
    "core.remote_token_expiry with metalshift.maas.lxd_server."
)


def _token_told(plan: Plan, now: Mapping[str, Any], token: Token | None, warnings: Sequence[str] = ()) -> Result:
    values = {"trust_token": now, "token": token.text if token else None}
    return Result(changed=bool(plan), values=values, plan=plan, warnings=warnings)
