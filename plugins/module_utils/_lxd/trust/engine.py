# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines of whom an LXD trusts: certificates, and tokens with which to become trusted.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome, Stale
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import pem
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pem import certificates
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import errors
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust import store
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure import spec
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure.spec import TrustSpec
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.pure.tokens import Token


@dataclass(frozen=True)
class CertificateState:
    """A certificate as LXD has it, None while it does not trust it, and as results show it."""

    found: Mapping[str, Any] | None
    shown: Mapping[str, Any]


class CertificateEngine:
    """A certificate that LXD trusts as it is asked for, or not at all."""

    def __init__(self, task: Task) -> None:
        self.lxd, self.params = task.lxd, task.params
        self.wish = _wish(task.params, task.lxd)
        self.removes = task.params["state"] == "absent"
        # Who is not trusted sees no certificates; with a token or a password LXD trusts him, with his own one.
        self.enrols = not self.removes and not task.lxd.trusted

    def read(self) -> CertificateState:
        if self.enrols:
            self._must_be_able_to_enrol()
            return CertificateState(None, {})
        state = self._look()
        if self.removes:
            self._must_not_cut_itself_off(state)
        elif state.found is None and not self.wish.base64:
            raise spec.unknown(self.wish, self.lxd.connection.endpoint)
        return state

    def plan(self, current: CertificateState) -> Plan:
        if self.removes:
            return spec.plan_removal(self.wish, current.found)
        return spec.plan(self.wish, current.found)

    def predict(self, current: CertificateState, plan: Plan) -> CertificateState:
        return replace(current, shown={} if self.removes else spec.predicted(self.wish, current.found))

    def apply(self, current: CertificateState, plan: Plan) -> CertificateState:
        if not plan:
            return current
        if self.removes and current.found:
            store.remove(self.lxd, current.found["fingerprint"])
            return CertificateState(None, {})
        if self.enrols:
            self._enrol()
            current = self._look()
        if spec.plan(self.wish, current.found):
            self._make(current.found)
        return self._look()

    def result(self, current: CertificateState) -> Outcome:
        return Outcome({"certificate": current.shown})

    def _look(self) -> CertificateState:
        seen = store.find(self.lxd, self.wish.fingerprint)
        return CertificateState(seen.body, store.told(seen.body)) if seen else CertificateState(None, {})

    def _make(self, found: Mapping[str, Any] | None) -> None:
        """Trust it with the rights that are asked for, or change those that it has."""
        wish = self.wish
        store.must_have(self.lxd, sorted({*(wish.projects or ())} - {*((found or {}).get("projects") or ())}))
        if found:
            store.change(self.lxd, found["fingerprint"], spec.to_change(wish, found))
            return
        try:
            store.add(self.lxd, wish.base64, wish.fingerprint, {"name": wish.name or wish.label, **wish.rights})
        except Failure as failure:
            # Another run may have added it since it was looked for; then it has what rights that gave it.
            if errors.exists_already(failure) and store.find(self.lxd, wish.fingerprint):
                raise Stale(wish.label) from failure
            raise

    def _enrol(self) -> None:
        secret = self.params["token"] or self.params["password"]
        store.enrol(self.lxd, self.wish.name or self.wish.label, secret, is_token=bool(self.params["token"]))

    def _must_be_able_to_enrol(self) -> None:
        """With our own certificate only, for LXD sees no other."""
        endpoint, own = self.lxd.connection.endpoint, self.lxd.connection.identity
        if not own:
            raise errors.untrusted(endpoint, "")
        if not (self.params["token"] or self.params["password"]) or own.certificate.expired:
            raise errors.untrusted(endpoint, own.certificate.fingerprint, own.certificate.expired)
        if own.certificate.fingerprint != self.wish.fingerprint:
            raise invalid(
                "A token or password makes the client certificate trusted, and no other one.",
                hint="Leave certificate and fingerprint out.",
            )

    def _must_not_cut_itself_off(self, state: CertificateState) -> None:
        own = self.lxd.connection.identity
        if state.found and own and state.found["fingerprint"] == own.certificate.fingerprint:
            raise spec.cut_off(self.wish, self.lxd.connection.endpoint)


def _wish(options: Mapping[str, Any], lxd: Lxd) -> TrustSpec:
    restricted, projects = spec.rights(options)
    if restricted is not None or projects is not None:
        lxd.capabilities.require("certificates restricted to projects", "restricted and projects")
    if options["fingerprint"]:
        fingerprint = spec.part_of_fingerprint(options["fingerprint"])
        return TrustSpec(fingerprint, "", options["name"], restricted, projects)
    own = lxd.connection.identity
    if options["certificate"]:
        given = certificates("certificate", pem("certificate", options["certificate"]))[0]
    elif own:
        given = own.certificate
    else:
        raise invalid("certificate is missing: who asks through a socket has none of its own.")
    return TrustSpec(given.fingerprint, given.base64, options["name"], restricted, projects)


# -- tokens ----------------------------------------------------------------------------------------

SHORT = (
    "LXD issues tokens that end before min_validity, so that each run issues another one. Lower it, or raise "
    "core.remote_token_expiry with metalshift.maas.lxd_server."
)


@dataclass(frozen=True)
class TokenState:
    """The token that fits, those of its name that do not, and the one that results show."""

    kept: Token | None
    unfit: Sequence[Token]
    shown: Mapping[str, Any]


class TokenEngine:
    """Exactly one token of a name with the rights that are asked for, or none."""

    def __init__(self, task: Task) -> None:
        self.lxd, self.name, self.validity = task.lxd, task.params["name"], task.params["min_validity"]
        self.lxd.capabilities.require("trust tokens", "type: token")
        self.restricted, self.projects = spec.rights(task.params)
        self.removes = task.params["state"] == "absent"

    def read(self) -> TokenState:
        tokens = store.tokens(self.lxd)
        good = {token.id for token in tokens if not self.removes and self._is_valid(token)}
        kept, unfit = spec.sort_out(tokens, self.name, self.restricted, self.projects, good)
        return TokenState(kept, unfit, kept.told if kept else {})

    def plan(self, current: TokenState) -> Plan:
        return spec.token_plan(self.name, current.kept, current.unfit, None if self.removes else self._asked)

    def predict(self, current: TokenState, plan: Plan) -> TokenState:
        if current.kept or self.removes:
            return current
        unknown = {"issued_at": None, "expires_at": None, "predicted": True}
        return replace(current, shown={"name": self.name, **self._asked, **unknown})

    def apply(self, current: TokenState, plan: Plan) -> TokenState:
        issues = current.kept is None and not self.removes
        if issues:
            store.must_have(self.lxd, self._asked["projects"])
        for token in current.unfit:
            store.revoke(self.lxd, token)
        if not issues:
            return current
        issued = store.issue(self.lxd, self.name, self._asked["restricted"], self._asked["projects"])
        return TokenState(issued, (), issued.told)

    def result(self, current: TokenState) -> Outcome:
        """The text of a token too: nobody else is told it, and LXD not again."""
        token = current.kept
        warnings = [SHORT] if token and not self._is_valid(token) else []
        return Outcome({"trust_token": current.shown, "token": token.text if token else None}, warnings)

    @property
    def _asked(self) -> dict[str, Any]:
        return {"restricted": bool(self.restricted), "projects": sorted(self.projects or [])}

    def _is_valid(self, token: Token) -> bool:
        return token.is_valid(datetime.now(timezone.utc), self.validity)
