# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what MAAS answered to a sentence that helps.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

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
    what = intent(method, path, op)
    fields = _field_errors(answer)
    reason = _reason(answer, fields)
    kind = _kind(method, answer)
    return Failure(
        kind,
        _sentence(f"MAAS {'failed' if kind == 'unavailable' else 'refused'} to {what}: {reason}"),
        object=path,
        reason=reason,
        hint=_hint(kind),
        status=answer.status,
        fields=fields,
    )


# What the collections of MAAS hold, by the part of the path that names them.
NOUNS: Mapping[str, str] = {
    "zones": "zone",
    "resourcepools": "resource pool",
    "resourcepool": "resource pool",
    "tags": "tag",
    "domains": "domain",
    "dnsresources": "DNS name",
    "dnsresourcerecords": "DNS record",
    "machines": "machine",
    "nodes": "node",
    "interfaces": "interface",
    "devices": "device",
    "rackcontrollers": "rack controller",
    "vm-hosts": "VM host",
    "ipaddresses": "IP address",
    "reservedips": "reserved IP address",
    "ipranges": "IP range",
    "subnets": "subnet",
    "vlans": "VLAN",
    "fabrics": "fabric",
    "spaces": "space",
    "static-routes": "static route",
    "boot-resources": "image",
    "boot-sources": "image source",
    "scripts": "script",
    "results": "script result",
    "events": "event",
    "users": "user",
    "account": "API key",
    "maas": "setting",
    "version": "version",
}
# Where the words of MAAS make no sentence.
OPS: Mapping[str, str] = {
    "set_workload_annotations": "annotate",
    "mark_broken": "mark as broken",
    "mark_fixed": "mark as fixed",
}
VERBS: Mapping[str, str] = {"GET": "show", "POST": "create", "PUT": "change", "DELETE": "delete"}


def intent(method: str, path: str, op: str) -> str:
    """What a request was to do, in words: `create a zone`, `release the machine abc123`."""
    parts = [part for part in path.split("/") if part]
    place = max((place for place, part in enumerate(parts) if part in NOUNS), default=None)
    if place is None:
        return f"answer to {path or 'a request'}"
    noun, named = NOUNS[parts[place]], "/".join(parts[place + 1 :])
    verb = OPS.get(op) or op.replace("_", " ") if op and method != "GET" else VERBS[method]
    if named:
        return f"{verb} the {noun} {named}"
    if method == "GET":
        return f"{verb} its {noun}s"
    return f"{verb} {'an' if noun[0] in 'aeioA' or noun.startswith('IP') else 'a'} {noun}"


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
        _sentence(
            f"MAAS was asked to {intent(method, path, op)}, and its answer was lost; it may have been done: {reason}"
        ),
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
        hint=cause.hint or "Check maas_endpoint, the network, and that MAAS is running.",
    )
    return MaasAnswer(
        failure=_tls(cause.untrusted, connection) if cause.is_tls else failure,
        never_sent=cause.never_sent,
        worth_repeating=cause.is_passing,
    )


OTHER_CA = "Give its CA as maas_ca_cert, or set maas_validate_certs: false if you must."
# By OpenSSL's words: a certificate that its authority has signed for another name, or that is too old, helps no CA.
TLS_HINTS: Mapping[str, str] = {
    "IP address mismatch": "Its certificate is for other names: give one of them in maas_endpoint.",
    "Hostname mismatch": "Its certificate is for other names: give one of them in maas_endpoint.",
    "certificate has expired": "Give MAAS a new certificate.",
    "certificate is not yet valid": "Set the clock of this machine, or that of MAAS.",
}


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
        hint=next((hint for words, hint in TLS_HINTS.items() if words in text), OTHER_CA),
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
        told = [
            " ".join(texts) if name == "__all__" else f"{name}: {' '.join(texts)}" for name, texts in fields.items()
        ]
        text = "; ".join([*(text.rstrip(".") for text in told[:-1]), *told[-1:]])
    elif answer.content_type == "text/html":
        text = ""
    else:
        text = answer.text if answer.text.strip() != "{}" else ""
    text = re.sub(r"\s+", " ", text).strip()
    if not text:
        return WITHOUT_WORDS.get(answer.status) or f"it does not say why (status {answer.status})"
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"


WITHOUT_WORDS: Mapping[int, str] = {
    409: "others kept changing the same objects",
    405: "it has no such request",
    502: "the proxy before it gets no answer from it (status 502)",
    503: "it has no capacity left (status 503)",
    504: "the proxy before it gets no answer from it (status 504)",
}


def about(failure: Failure, name: str, what: str, hints: Mapping[str, str] | None = None) -> Failure:
    """A failure of a request, told of the object that it was about: which, and what it cannot be.

    `hints` are by words of MAAS, for what it only says is wrong.
    """
    if failure.kind in TOLD_OF_MAAS or failure.object == name:
        return replace(failure, object=name)
    if failure.kind == "uncertain":
        said = f"The answer of MAAS was lost, and {name} may have been {what}, or not ({failure.reason.rstrip('.')})."
        return replace(failure, message=said, object=name)
    if failure.status is None:
        return replace(failure, message=f"{name} cannot be {what}: {failure.message}", object=name)
    hint = next((hint for text, hint in (hints or {}).items() if text in failure.reason), failure.hint)
    verb = "MAAS failed" if failure.kind == "unavailable" else "MAAS refuses"
    said = f"{name} cannot be {what}: {verb} ({failure.reason.rstrip('.')})."
    return replace(failure, message=said, object=name, hint=hint)


# What is wrong with all requests, whatever they are about.
TOLD_OF_MAAS = frozenset({"credentials", "tls"})


def _hint(kind: str) -> str:
    return {
        "forbidden": "The MAAS user of this key may not do this; most changes need an administrator.",
        "unsupported": "Check the path of maas_endpoint; if it is right, this MAAS is too old or too new for that.",
        "unavailable": "Try again when MAAS is well; the run can be repeated safely.",
    }.get(kind, "")
