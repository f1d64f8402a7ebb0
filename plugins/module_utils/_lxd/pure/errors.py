# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what LXD answered to a sentence that helps.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.wire import LxdAnswer

LONGEST_TEXT = 600

KIND_OF_STATUS: Mapping[int, str] = {
    401: "credentials",
    403: "forbidden",
    404: "not_found",
    405: "unsupported",
    409: "conflict",
    412: "conflict",
    429: "unavailable",
    501: "unsupported",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}

# LXD answers many plain refusals with 400 or 500: its words say more. The first that fits counts.
KIND_OF_WORDS: Sequence[tuple[str, str]] = (
    (r"already exists|already in trust store|already trusted", "conflict"),
    (r"currently in use|[Oo]nly empty projects|non-empty projects|is running|not running", "conflict"),
    (r"no space left|[Nn]ot enough (free )?space|[Qq]uota|[Ll]imit .*(exceeded|reached)", "capacity"),
    (r"[Rr]equired tool|[Ee]rror loading \S+ module|no(t| longer) supported|[Uu]nknown driver", "unsupported"),
    (r"database is locked|no available dqlite leader|context deadline exceeded|shutting down", "unavailable"),
)

NO_PROJECT = "the project does not exist"

# An object that another run made in the meantime is said in as many ways as LXD has kinds of objects.
EXISTS = re.compile(r"already (exists|in trust store|trusted)")

HINTS: Mapping[str, str] = {
    "forbidden": "The client certificate may not do this; look at its restriction with metalshift.maas.lxd_info.",
    "unavailable": "Try again when LXD is well; the run can be repeated safely.",
}


def from_answer(what: str, answer: LxdAnswer, endpoint: str) -> Failure:
    """The failure that an answer other than 2xx stands for; `what` was to be done: `create the project maas`."""
    if answer.failure:
        return answer.failure
    kind, reason = kind_of(answer), _one_line(answer.error) or f"status {answer.status} without a reason"
    return Failure(
        kind,
        _sentence(f"LXD at {endpoint} {'failed' if kind == 'unavailable' else 'refused'} to {what}: {reason}"),
        object=what.partition(" the ")[2],
        reason=reason,
        hint=HINTS.get(kind, ""),
        status=answer.status,
    )


def kind_of(answer: LxdAnswer) -> str:
    """In which of the closed list of kinds a refusal belongs."""
    known = KIND_OF_STATUS.get(answer.status)
    if known and answer.status != 409:
        return known
    return next((kind for words, kind in KIND_OF_WORDS if re.search(words, answer.error)), known or "rejected")


def exists_already(failure: Failure) -> bool:
    """Whether a creation was refused because the object is there."""
    return bool(EXISTS.search(failure.reason))


def of_operation(what: str, operation: Mapping[str, object], endpoint: str) -> Failure:
    """The failure of something that LXD began and did not end well. It comes in an answer of 200."""
    reason = str(operation.get("err") or operation.get("status") or "it does not say why")
    return from_answer(what, LxdAnswer(status=400, body={"error": reason}), endpoint)


def untrusted(endpoint: str, fingerprint: str, expired: str = "") -> Failure:
    """`expired` is the day on which the certificate did."""
    if expired:
        return Failure(
            "credentials",
            f"LXD at {endpoint} does not trust the client certificate {fingerprint[:12]}: it expired on {expired}.",
            reason=f"the client certificate expired on {expired}",
            hint="Make a new one with a key, and have it trusted in its place.",
            status=403,
        )
    return Failure(
        "credentials",
        f"LXD at {endpoint} does not trust the client certificate {fingerprint[:12]}.",
        reason="the client certificate is not trusted",
        hint="Add it there with `lxc config trust add`, or with metalshift.maas.lxd_trust and a token.",
        status=403,
    )


def lacks_project(answer: LxdAnswer) -> bool:
    """Whether it is the project that LXD does not find, rather than what was looked for in it."""
    return "roject not found" in answer.error


def is_no_project(failure: Failure) -> bool:
    return failure.reason == NO_PROJECT


def withheld(what: str, endpoint: str) -> Failure:
    """The failure for settings that LXD hides, which look as if there were none."""
    return Failure(
        "forbidden",
        f"LXD at {endpoint} hides the settings of {what} from the client certificate.",
        object=what,
        reason="the client certificate is restricted to projects",
        hint="Use a certificate without restrictions.",
    )


def no_project(endpoint: str, project: str) -> Failure:
    return Failure(
        "not_found",
        f"LXD at {endpoint} has no project {project}.",
        object=f"project {project}",
        reason=NO_PROJECT,
        hint="Check its name, or make it with metalshift.maas.lxd_project.",
        status=404,
    )


def uncertain(what: str, answer: LxdAnswer, endpoint: str) -> Failure:
    """The failure for a write whose answer is lost and that cannot be looked up."""
    cause = from_answer(what, answer, endpoint)
    reason = cause.reason or cause.message
    return Failure(
        "uncertain",
        _sentence(f"LXD at {endpoint} was asked to {what}, its answer was lost, and it may have done so: {reason}"),
        object=cause.object,
        reason=reason,
        hint="Run the task again: it looks first.",
        status=answer.status or None,
    )


def too_slow(what: str, endpoint: str, seconds: float) -> Failure:
    return Failure(
        "timeout",
        f"LXD at {endpoint} was asked to {what} and is still at it after {seconds:g} seconds.",
        reason=f"the operation did not end within {seconds:g} seconds",
        hint="Run the task again later: it looks first.",
    )


def not_lxd(endpoint: str, how: str) -> Failure:
    """Something answers, but not LXD."""
    return Failure(
        "unreachable",
        f"{endpoint} does not look like LXD: {how}.",
        reason=how,
        hint="Check lxd_endpoint; LXD usually listens on port 8443.",
    )


# The value of a key that LXD does not know may be a secret, and the key misspelt.
UNKNOWN_KEY = re.compile(r"(cannot set '[^']*' to )'.*'(: unknown key)", re.DOTALL)


def _one_line(text: str) -> str:
    line = re.sub(r"\s+", " ", UNKNOWN_KEY.sub(r"\1'***'\2", text)).strip().rstrip(".")
    return line if len(line) <= LONGEST_TEXT else line[:LONGEST_TEXT] + "…"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
