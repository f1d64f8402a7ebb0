# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what kept an answer of LXD from coming to a sentence that helps.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.errors import not_lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.wire import LxdAnswer

# By the name of any exception in the chain, the first one that is there counts.
REASONS: Mapping[str, str] = {
    "ProxyError": "the proxy does not let us through",
    "gaierror": "its name cannot be resolved",
    "ConnectionRefusedError": "connection refused",
    "FileNotFoundError": "there is no such socket",
    "PermissionError": "this user may not open its socket",
    "ConnectTimeout": "no connection within {connect:g} seconds",
    "ReadTimeout": "no answer within {read:g} seconds",
    "ReadTimeoutError": "no answer within {read:g} seconds",
    "TimeoutError": "no answer within {read:g} seconds",
}
NEVER_SENT = frozenset(
    {
        *("NewConnectionError", "ConnectTimeoutError", "ConnectTimeout", "NameResolutionError", "ProxyError"),
        *("ConnectionRefusedError", "FileNotFoundError", "PermissionError"),
    }
)
# What answers so is something else.
NOT_HTTP = frozenset({"BadStatusLine", "UnknownProtocol"})
# Raised before there is a connection, and again the next time.
UNMADE = frozenset(
    {
        *("InvalidURL", "InvalidSchema", "InvalidProxyURL", "InvalidHeader", "UnicodeEncodeError"),
        *("LocationValueError", "FileNotFoundError", "PermissionError"),
    }
)


def as_answer(error: Exception, endpoint: str, *, pinned: bool, connect: float, read: float) -> LxdAnswer:
    """An exception of the HTTP library as an answer that never came."""
    causes = list(_causes(error))
    names = {type(cause).__name__ for cause in causes}
    if "TooManyRedirects" in names:
        return LxdAnswer(failure=not_lxd(endpoint, "it redirects to somewhere else"), never_sent=True)
    if names & NOT_HTTP:
        return LxdAnswer(failure=not_lxd(endpoint, "it does not speak HTTP"))
    if "SSLError" in names:
        return _tls(causes, endpoint, pinned)
    unmade = bool(names & UNMADE)
    reason = next((reason for name, reason in REASONS.items() if name in names), "")
    if not reason:
        reason = "the request could not be made ({error})" if unmade else "the connection broke"
    unknown_name = any(getattr(cause, "errno", None) == socket.EAI_NONAME for cause in causes)
    reason = reason.format(connect=connect, read=read, error=type(error).__name__)
    return LxdAnswer(
        failure=Failure(
            "unreachable",
            f"LXD at {endpoint} does not answer: {reason}.",
            reason=reason,
            hint=_where_to_look(endpoint, names),
        ),
        never_sent=unmade or bool(names & NEVER_SENT),
        worth_repeating=not unmade and not unknown_name,
    )


def _where_to_look(endpoint: str, names: set[str]) -> str:
    if "PermissionError" in names:
        return "Use become, or a user of the group that LXD was started with, usually lxd."
    if endpoint.startswith("/"):
        return "Check lxd_endpoint, which may be unix:// for the LXD of this machine, and that LXD is running."
    return "Check lxd_endpoint, the network, and that LXD is running with core.https_address set."


def _tls(causes: list[BaseException], endpoint: str, pinned: bool) -> LxdAnswer:
    text = next((str(getattr(cause, "verify_message", "")) for cause in causes if hasattr(cause, "verify_message")), "")
    # Nothing was sent if the certificate was refused by us; the connection may also have died later.
    other = next((match[1] for cause in causes if (match := _OTHER.search(str(cause)))), "") if pinned else ""
    if other:
        return LxdAnswer(failure=_another_certificate(endpoint, other), never_sent=True)
    if text:
        return LxdAnswer(
            failure=Failure(
                "tls",
                f"The certificate of LXD at {endpoint} cannot be verified: {text.rstrip('.')}.",
                reason=text,
                hint="Give its certificate, its SHA-256 fingerprint or its authority as lxd_server_cert.",
            ),
            never_sent=True,
        )
    refused = next((alert for alert in _ALERTS if any(alert in str(cause) for cause in causes)), "")
    return LxdAnswer(
        failure=Failure(
            "tls",
            f"No TLS connection with LXD at {endpoint}: "
            + ("it refuses the client certificate." if refused else "the handshake failed."),
            reason=refused or "the TLS handshake failed",
            hint="Check that lxd_client_cert is valid." if refused else "Check that the port of lxd_endpoint is LXD's.",
        )
    )


_OTHER = re.compile(r"Fingerprints did not match\. Expected \"\w+\", got \"(\w+)\"")
_ALERTS = ("CERTIFICATE_EXPIRED", "BAD_CERTIFICATE", "CERTIFICATE_UNKNOWN", "UNKNOWN_CA", "CERTIFICATE_REQUIRED")


def _another_certificate(endpoint: str, fingerprint: str) -> Failure:
    return Failure(
        "tls",
        f"The certificate of LXD at {endpoint} is not that of lxd_server_cert: its fingerprint is {fingerprint}.",
        reason=f"its certificate has the fingerprint {fingerprint}",
        hint="If LXD was given a new one, give its fingerprint as lxd_server_cert. If not, this is not your LXD.",
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
