# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a Kubernetes API answered to a sentence that helps. Pure.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http.pure.answer import Answer

LONGEST_TEXT = 600

# The server failed while it did something; or it was overloaded, and began nothing.
FAILED, TOO_MANY = 500, 429
ALSO_PASSING = frozenset({FAILED, TOO_MANY})

KIND_OF_STATUS: Mapping[int, str] = {
    400: "rejected",
    401: "credentials",
    403: "forbidden",
    404: "not_found",
    405: "unsupported",
    409: "conflict",
    410: "conflict",
    413: "rejected",
    415: "unsupported",
    422: "rejected",
}

# `Apply failed with 1 conflict: conflict with "kubectl" using v1: .spec.replicas`, or a list of such.
CONFLICT_WITH = re.compile(r'conflicts? with "(?P<manager>[^"]+)"')

QUOTA = re.compile(r"exceeded quota: [^,]+, requested: .+, used: .+, limited: ")

# A refusal says first which object it is about; the sentence has said it already.
ABOUT = re.compile(r'^\S+ "[^"]*" is (invalid|forbidden): ')

CREDENTIALS_HINT = "Check the token or certificate that the kubeconfig or api_key names; it may have expired."


@dataclass(eq=False)
class KeptByOthers(Failure):
    """An apply that would take fields from those who wrote them; `fields` are these."""


@dataclass(frozen=True)
class KubeAnswer(Answer):
    """What the API answered, as plain data, or what kept it from coming."""

    body: Any = None

    @property
    def is_passing(self) -> bool:
        return super().is_passing or (self.status in ALSO_PASSING and not is_rejection(self))

    @property
    def in_doubt(self) -> bool:
        return super().in_doubt or (self.status == FAILED and not is_rejection(self))

    @property
    def message(self) -> str:
        said = self.body.get("message", "") if isinstance(self.body, Mapping) else str(self.body or "")
        text = " ".join(str(said).split())
        return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"

    @property
    def reason(self) -> str:
        return str(self.body.get("reason", "")) if isinstance(self.body, Mapping) else ""

    @property
    def causes(self) -> list[Mapping[str, Any]]:
        details = self.body.get("details") if isinstance(self.body, Mapping) else None
        return list((details or {}).get("causes") or []) if isinstance(details, Mapping) else []

    @property
    def from_kubernetes(self) -> bool:
        return isinstance(self.body, Mapping) and "kind" in self.body


def from_answer(what: str, answer: KubeAnswer, server: str, *, quiet: bool = False) -> Failure:
    """The failure that an answer other than 2xx stands for.

    `what` is what was asked, such as `apply the NodePool clusters/demo`; `quiet` is for objects whose values must not
    be shown: the API quotes them.
    """
    if answer.failure:
        return answer.failure
    if answer.status == 401:
        return Failure(
            "credentials",
            f"The Kubernetes API at {server} does not accept the credentials.",
            reason="Unauthorized",
            hint=CREDENTIALS_HINT,
            status=401,
        )
    if not answer.from_kubernetes:
        return not_kubernetes(server, answer.status)
    managers = list(dict.fromkeys(CONFLICT_WITH.findall(answer.message)))
    if answer.status == 409 and managers:
        return _owned_by_others(what, answer, managers)
    fields = _fields(answer)
    reason = "the API does not accept its values" if quiet else _reason(answer)
    kind = _kind(answer)
    return Failure(
        kind,
        _sentence(f"The Kubernetes API {'failed to' if kind == 'unavailable' else 'refused to'} {what}: {reason}"),
        reason=reason,
        hint=_hint(kind, answer),
        status=answer.status,
        fields={} if quiet else fields,
    )


def uncertain(what: str, answer: KubeAnswer, server: str) -> Failure:
    """The failure for a write whose answer is lost and that cannot be looked up."""
    cause = from_answer(what, answer, server, quiet=True)
    reason = cause.reason or cause.message
    return Failure(
        "uncertain",
        _sentence(f"The Kubernetes API was asked to {what}, its answer was lost, and it may have done so: {reason}"),
        reason=reason,
        hint="Run the task again: it looks first.",
        status=answer.status or None,
    )


def not_kubernetes(server: str, status: int | None = None) -> Failure:
    """Something answers, but it is no Kubernetes API."""
    seen = f" (status {status})" if status else ""
    return Failure(
        "unavailable" if status and status >= 500 else "unreachable",
        f"What answers at {server} is not a Kubernetes API{seen}.",
        hint="Check host or the kubeconfig, and the proxy between.",
        status=status,
    )


def _owned_by_others(what: str, answer: KubeAnswer, managers: list[str]) -> Failure:
    fields = sorted(str(cause.get("field", "")) for cause in answer.causes if cause.get("field"))
    owned = ", ".join(field.lstrip(".") for field in fields) or "some fields"
    others = " and ".join(managers)
    return KeptByOthers(
        "conflict",
        f"Could not {what}: {owned} {'is' if len(fields) == 1 else 'are'} kept by {others}.",
        reason=f"conflict with {others}",
        hint=f"Leave these fields to {others}, or let it give them up; this collection never takes over by force.",
        status=409,
        fields={str(cause.get("field", "")).lstrip("."): [str(cause.get("message", ""))] for cause in answer.causes},
    )


def _fields(answer: KubeAnswer) -> dict[str, list[str]]:
    """Field → what the API has against its value."""
    fields: dict[str, list[str]] = {}
    for cause in answer.causes:
        if cause.get("field"):
            fields.setdefault(str(cause["field"]), []).append(str(cause.get("message", "")))
    return fields


def is_rejection(answer: KubeAnswer) -> bool:
    """Whether a server error is about what was sent: a value of a wrong type in an apply is a 500."""
    return answer.status == 500 and answer.message.startswith("failed to create typed patch object")


def _kind(answer: KubeAnswer) -> str:
    if is_rejection(answer):
        return "rejected"
    if answer.status == 403 and QUOTA.search(answer.message):
        return "capacity"
    if answer.status == 429 or answer.status >= 500:
        return "unavailable"
    return KIND_OF_STATUS.get(answer.status, "rejected")


def _reason(answer: KubeAnswer) -> str:
    return ABOUT.sub("", answer.message) or answer.reason or f"status {answer.status}"


def _hint(kind: str, answer: KubeAnswer) -> str:
    if kind == "capacity":
        return "Raise the quota of the namespace, or ask for less."
    if kind == "forbidden" and "ValidatingAdmissionPolicy" not in answer.message and "admission" not in answer.message:
        return "Give the user of this kubeconfig or api_key a role that allows it."
    return ""


def _sentence(text: str) -> str:
    return f"{text.rstrip('.: ')}."
