# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what MAAS answered to a sentence that helps.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http.causes import Cause
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import MaasConnection
from ansible_collections.metalshift.maas.plugins.module_utils._maas.pure.wire import MaasAnswer

LONGEST_TEXT = 600

KIND_OF_STATUS: Mapping[int, str] = {
    403: "forbidden",
    404: "not_found",
    405: "unsupported",
    409: "conflict",
    410: "unsupported",
}

# MAAS answers 404 in many words: these alone do not prove that somebody else answers.
STRANGE_WORDS = "it answers 404 in words that are not MAAS's"
MISSING = re.compile("matches the given query")

# MAAS's own pages in HTML: a verb that an object does not have (always empty), a serialisation conflict.
HTML_OF_MAAS = frozenset({405, 409})


def from_answer(
    method: str,
    path: str,
    op: str,
    answer: MaasAnswer,
    connection: MaasConnection,
    is_maas: Callable[[], bool] = lambda: False,
) -> Failure:
    """The failure that an answer other than 2xx stands for. `is_maas` is asked where the answer leaves a doubt."""
    if answer.failure:
        return answer.failure
    if answer.status == 401:
        return _credentials(answer, connection)
    stranger = _how_it_is_not_maas(answer)
    if stranger and not (stranger == STRANGE_WORDS and is_maas()):
        return not_maas(connection, stranger)
    what = _what(method, path, op)
    fields = _field_errors(answer)
    reason = _reason(answer, fields)
    kind = _kind(method, answer)
    return Failure(
        kind,
        _sentence(f"MAAS {'failed at' if kind == 'unavailable' else 'refused'} {what}: {reason}"),
        object=path,
        reason=reason,
        hint=_hint(kind),
        status=answer.status,
        fields=fields,
    )


def _what(method: str, path: str, op: str) -> str:
    return f"{method} {path}" + (f" op={op}" if op else "")


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _kind(method: str, answer: MaasAnswer) -> str:
    if answer.passing_conflict or answer.status >= 500:
        return "unavailable"
    if answer.status == 404 and answer.text.startswith("Unknown API endpoint"):
        return "unsupported"
    if answer.status == 404 and method in ("POST", "PUT") and answer.text and not MISSING.search(answer.text):
        # Also what an address or a machine stands in the way of is refused so.
        return "conflict"
    return KIND_OF_STATUS.get(answer.status, "rejected")


def _how_it_is_not_maas(answer: MaasAnswer) -> str:
    """What tells that somebody else answered; empty if it may have been MAAS."""
    if 300 <= answer.status < 400:
        return f"it redirects to {answer.location.partition('?')[0] or 'nowhere'}"
    if answer.status < 500 and answer.content_type == "text/html" and answer.text:
        if "HTTPS port" in answer.text:
            return "the port speaks HTTPS and the URL does not"
        return "" if answer.status in HTML_OF_MAAS else f"it answers {answer.status} with a web page"
    if (
        answer.status == 404
        and not answer.from_maas
        and not re.search(r"matches the given query|already in use|Unknown API endpoint", answer.text)
    ):
        return STRANGE_WORDS
    return ""


def uncertain(method: str, path: str, op: str, answer: MaasAnswer, connection: MaasConnection) -> Failure:
    """The failure for a write whose answer is lost and that cannot be looked up."""
    cause = from_answer(method, path, op, answer, connection)
    reason = cause.reason or cause.message
    return Failure(
        "uncertain",
        _sentence(f"The answer to {_what(method, path, op)} was lost, and it may have taken effect: {reason}"),
        object=path,
        reason=reason,
        hint="Run the task again: it looks first.",
        status=answer.status or None,
    )


def _credentials(answer: MaasAnswer, connection: MaasConnection) -> Failure:
    # The body of a 401 can disclose the right secret: it is looked into here and never passed on.
    clock = "Expired timestamp" in answer.text
    return Failure(
        "credentials",
        f"MAAS at {connection.base} does not accept the API key"
        + (": this machine's clock is more than five minutes behind MAAS's." if clock else "."),
        reason="expired timestamp" if clock else "API key not accepted",
        hint="Set the clock." if clock else "Check maas_api_key: it may be wrong, deleted, or of another MAAS.",
        status=401,
    )


def not_maas(connection: MaasConnection, how: str = "it does not say which version it is") -> Failure:
    """Something answers, but not MAAS."""
    return Failure(
        "unreachable",
        f"{connection.base} does not look like MAAS: {how}.",
        reason=how,
        hint="Check maas_endpoint; it usually ends in /MAAS.",
    )


def unanswered(cause: Cause, connection: MaasConnection) -> MaasAnswer:
    """For an answer that never came."""
    failure = Failure(
        "unreachable",
        f"MAAS at {connection.base} does not answer: {cause.reason}.",
        reason=cause.reason,
        hint="Check maas_endpoint, the network, and that MAAS is running.",
    )
    return MaasAnswer(
        failure=_tls(cause.untrusted, connection) if cause.is_tls else failure,
        never_sent=cause.never_sent,
        worth_repeating=cause.is_passing,
    )


def _tls(text: str, connection: MaasConnection) -> Failure:
    if not text:
        return Failure(
            "tls",
            f"No TLS connection with MAAS at {connection.base}: the handshake failed.",
            reason="the TLS handshake failed",
            hint="Check that the port of maas_endpoint is one that speaks HTTPS.",
        )
    return Failure(
        "tls",
        f"The certificate of MAAS at {connection.base} cannot be verified: {text.rstrip('.')}.",
        reason=text,
        hint="Give its CA as maas_ca_cert, or set maas_validate_certs: false if you must.",
    )


def _field_errors(answer: MaasAnswer) -> dict[str, list[str]]:
    try:
        body = json.loads(answer.text)
    except ValueError:
        return {}
    if not isinstance(body, dict):
        return {}
    return {
        str(name): [str(text) for text in texts] if isinstance(texts, list) else [str(texts)]
        for name, texts in body.items()
    }


def _reason(answer: MaasAnswer, fields: Mapping[str, list[str]]) -> str:
    if fields:
        text = "; ".join(
            " ".join(texts) if name == "__all__" else f"{name}: {' '.join(texts)}" for name, texts in fields.items()
        )
    elif answer.content_type == "text/html":
        text = WITHOUT_WORDS.get(answer.status, f"status {answer.status}")
    else:
        text = answer.text if answer.text.strip() != "{}" else ""
    text = re.sub(r"\s+", " ", text).strip()
    if not text:
        return f"status {answer.status} without a reason"
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


WITHOUT_WORDS: Mapping[int, str] = {
    409: "others kept changing the same objects",
    502: "status 502, the proxy before MAAS gets no answer from it",
    503: "status 503, it has no capacity left",
    504: "status 504, the proxy before MAAS gets no answer from it",
}


def _hint(kind: str) -> str:
    return {
        "forbidden": "The MAAS user of this key may not do this; most changes need an administrator.",
        "unsupported": "Check the path of maas_endpoint; if it is right, this MAAS is too old or too new for that.",
        "unavailable": "Try again when MAAS is well; the run can be repeated safely.",
    }.get(kind, "")
