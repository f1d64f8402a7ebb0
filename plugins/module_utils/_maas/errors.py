# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what MAAS answered to a sentence that helps.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress

from ansible_collections.metalshift.maas.plugins.module_utils._failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import Connection
from ansible_collections.metalshift.maas.plugins.module_utils._maas.wire import Answer

with suppress(ImportError):
    import requests

LONGEST_TEXT = 300

KIND_OF_STATUS: Mapping[int, str] = {
    400: "rejected",
    401: "credentials",
    403: "forbidden",
    404: "not_found",
    405: "unsupported",
    409: "conflict",
    410: "unsupported",
}


def from_answer(method: str, path: str, op: str, answer: Answer, connection: Connection) -> Failure:
    """The failure that an answer other than 2xx stands for."""
    if answer.failure:
        return answer.failure
    if answer.status == 401:
        return _credentials(answer, connection)
    if 300 <= answer.status < 400:
        return not_maas(connection, f"it answers with a redirect ({answer.status})")
    if answer.content_type == "text/html" and answer.status in (403, 404, 405) and answer.text:
        return not_maas(connection, f"it answers {answer.status} with a web page")
    what = f"{method} {path}" + (f" op={op}" if op else "")
    fields = _field_errors(answer)
    reason = _reason(answer, fields)
    kind = KIND_OF_STATUS.get(answer.status, "unavailable")
    if kind == "conflict" and answer.passing_conflict:
        kind = "unavailable"
    return Failure(
        kind,
        f"MAAS refused {what}: {reason}" if kind != "unavailable" else f"MAAS failed at {what}: {reason}",
        object=path,
        reason=reason,
        hint=_hint(kind),
        status=answer.status,
        fields=fields,
    )


def uncertain(method: str, path: str, op: str, answer: Answer, connection: Connection) -> Failure:
    """The failure for a write whose answer is lost and that cannot be looked up."""
    cause = from_answer(method, path, op, answer, connection)
    what = f"{method} {path}" + (f" op={op}" if op else "")
    return Failure(
        "uncertain",
        f"The answer to {what} was lost, and it may have taken effect: {cause.reason or cause.message}",
        object=path,
        reason=cause.reason,
        hint="Run the task again: it looks first.",
        status=answer.status or None,
    )


def _credentials(answer: Answer, connection: Connection) -> Failure:
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


def not_maas(connection: Connection, how: str = "it does not say which version it is") -> Failure:
    """Something answers, but not MAAS."""
    return Failure(
        "unreachable",
        f"{connection.base} does not look like MAAS: {how}.",
        reason=how,
        hint="Check maas_endpoint; it usually ends in /MAAS.",
    )


def missing_library(missing: ImportError) -> Failure:
    """A library that the client needs is not there: where, and how to get it."""
    name = (missing.name or str(missing)).split(".")[0].replace("_", "-")
    return Failure(
        "missing_library",
        f"The Python library {name} is missing on {socket.gethostname()} for {sys.executable}.",
        reason=f"{name} cannot be imported",
        hint=f"Install it there: {sys.executable} -m pip install requests requests-oauthlib.",
    )


def as_answer(error: Exception, connection: Connection) -> Answer:
    """An exception of the HTTP library as an answer that never came."""
    causes = list(_causes(error))
    names = {type(cause).__name__ for cause in causes}
    if isinstance(error, requests.exceptions.SSLError):
        return Answer(failure=_tls(causes, connection), never_sent=True)
    refused = any(isinstance(cause, ConnectionRefusedError) for cause in causes)
    never_sent = bool(names & {"NewConnectionError", "ConnectTimeoutError", "ConnectTimeout", "NameResolutionError"})
    if isinstance(error, requests.exceptions.ReadTimeout):
        reason = f"no answer within {connection.read_timeout:g} seconds"
    elif refused:
        reason = "connection refused"
    elif any(isinstance(cause, socket.gaierror) for cause in causes):
        reason = "its name cannot be resolved"
    elif isinstance(error, requests.exceptions.ConnectTimeout):
        reason = "no connection within 10 seconds"
    elif isinstance(error, requests.exceptions.ProxyError):
        reason, never_sent = "the proxy does not let us through", True
    elif isinstance(error, (requests.exceptions.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        reason = "the connection broke"
    else:
        reason = f"the request could not be made ({type(error).__name__})"
    return Answer(
        failure=Failure(
            "unreachable",
            f"MAAS at {connection.base} does not answer: {reason}.",
            reason=reason,
            hint="Check maas_endpoint, the network, and that MAAS is running.",
        ),
        never_sent=never_sent,
    )


def _tls(causes: list[BaseException], connection: Connection) -> Failure:
    text = next((str(getattr(cause, "verify_message", "")) for cause in causes if hasattr(cause, "verify_message")), "")
    if not text:
        text = "the TLS handshake failed; is the port one that speaks HTTPS?"
    return Failure(
        "tls",
        f"The certificate of MAAS at {connection.base} cannot be verified: {text.rstrip('.?')}.",
        reason=text,
        hint="Give its CA as maas_ca_cert, or set maas_validate_certs: false if you must.",
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and all that it was raised from or wraps."""
    seen: set[int] = set()
    todo = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        todo += [one.__cause__, one.__context__, getattr(one, "reason", None)]
        todo += [arg for arg in one.args if isinstance(arg, BaseException)]
        todo = [item for item in todo if isinstance(item, BaseException)]


def _field_errors(answer: Answer) -> dict[str, list[str]]:
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


def _reason(answer: Answer, fields: Mapping[str, list[str]]) -> str:
    if fields:
        return "; ".join(
            " ".join(texts) if name == "__all__" else f"{name}: {' '.join(texts)}" for name, texts in fields.items()
        )
    if answer.content_type == "text/html":
        return f"status {answer.status}"
    text = re.sub(r"\s+", " ", answer.text).strip()
    if not text or text == "{}":
        return f"status {answer.status} without a reason"
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


def _hint(kind: str) -> str:
    return {
        "forbidden": "The MAAS user of this key may not do this; most changes need an administrator.",
        "unavailable": "Try again when MAAS is well; the run can be repeated safely.",
    }.get(kind, "")
