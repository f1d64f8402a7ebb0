# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an LXD did not answer, in a sentence that helps.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from http.client import BadStatusLine, RemoteDisconnected

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._http.causes import Cause
from ansible_collections.metalshift.maas.plugins.module_utils._http.wire import OtherCertificate
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.errors import not_lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.wire import LxdAnswer

# By what a TLS server says that it does not take the client's certificate.
ALERTS = ("CERTIFICATE_EXPIRED", "BAD_CERTIFICATE", "CERTIFICATE_UNKNOWN", "UNKNOWN_CA", "CERTIFICATE_REQUIRED")


def no_answer(cause: Cause, endpoint: str) -> LxdAnswer:
    """For an answer that never came."""
    if cause.find(BadStatusLine) and not cause.find(RemoteDisconnected):
        return LxdAnswer(failure=not_lxd(endpoint, "it does not speak HTTP"))
    if cause.is_tls:
        return LxdAnswer(failure=_tls(cause, endpoint), never_sent=cause.never_sent)
    missing, forbidden = (
        endpoint.startswith("/") and cause.find(kind) is not None for kind in (FileNotFoundError, PermissionError)
    )
    reason = (
        "there is no such socket" if missing else "this user may not open its socket" if forbidden else cause.reason
    )
    return LxdAnswer(
        failure=Failure(
            "unreachable",
            f"LXD at {endpoint} does not answer: {reason}.",
            reason=reason,
            hint=cause.hint or _where_to_look(endpoint, forbidden),
        ),
        never_sent=cause.never_sent,
        worth_repeating=cause.is_passing and not missing and not forbidden,
    )


def _where_to_look(endpoint: str, forbidden: bool) -> str:
    if forbidden:
        return "Use become, or a user of the group that LXD was started with, usually lxd."
    if endpoint.startswith("/"):
        return "Check lxd_endpoint, which may be unix:// for the LXD of this machine, and that LXD is running."
    return "Check lxd_endpoint, the network, and that LXD is running with core.https_address set."


def _tls(cause: Cause, endpoint: str) -> Failure:
    other = cause.find(OtherCertificate)
    if other:
        return Failure(
            "tls",
            f"The certificate of LXD at {endpoint} is not that of lxd_server_cert: "
            f"its fingerprint is {other.fingerprint}.",
            reason=f"its certificate has the fingerprint {other.fingerprint}",
            hint="If LXD was given a new one, give its fingerprint as lxd_server_cert. If not, this is not your LXD.",
        )
    if cause.untrusted:
        return Failure(
            "tls",
            f"The certificate of LXD at {endpoint} cannot be verified: {cause.untrusted.rstrip('.')}.",
            reason=cause.untrusted,
            hint="Give its certificate, its SHA-256 fingerprint or its authority as lxd_server_cert.",
        )
    refused = next((alert for alert in ALERTS if any(alert in str(error) for error in cause.chain)), "")
    return Failure(
        "tls",
        f"No TLS connection with LXD at {endpoint}: "
        + ("it refuses the client certificate." if refused else "the handshake failed."),
        reason=refused or "the TLS handshake failed",
        hint="Check that lxd_client_cert is valid." if refused else "Check that the port of lxd_endpoint is LXD's.",
    )
