# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a request was not answered, from the exception that came in the answer's place.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ansible_collections.metalshift.maas.plugins.module_utils._core.deadline import TooLong
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import Proxy
from ansible_collections.metalshift.maas.plugins.module_utils._http.wire import (
    CONNECT_TIMEOUT,
    NotSent,
    ProxyRefused,
    UnusableProxy,
)

Kind = TypeVar("Kind", bound=BaseException)
Reasons = Sequence[tuple[type[BaseException], str]]

# Those of any exception in the chain; the first one that is there counts.
REASONS: Reasons = (
    (socket.gaierror, "its name cannot be resolved"),
    (ConnectionRefusedError, "connection refused"),
)


@dataclass(frozen=True)
class Cause:
    """What kept an answer from coming."""

    reason: str
    # Nothing was sent, so nothing was done.
    never_sent: bool
    # The next attempt may succeed.
    is_passing: bool
    is_tls: bool
    chain: Sequence[BaseException] = field(repr=False)
    # What helps, if that is known.
    hint: str = ""

    def find(self, kind: type[Kind]) -> Kind | None:
        """The first exception of a kind in the chain."""
        return next((error for error in self.chain if isinstance(error, kind)), None)

    @property
    def untrusted(self) -> str:
        """Why the server's certificate is not accepted; empty if it was not refused."""
        refused = self.find(ssl.SSLCertVerificationError)
        return str(getattr(refused, "verify_message", "") or refused or "")


def cause_of(
    error: BaseException,
    *,
    seconds: float,
    proxy: Proxy | None = None,
    unsent: tuple[type[BaseException], ...] = (),
    more: Reasons = (),
) -> Cause:
    """`seconds` were allowed for the answer; `unsent` and `more` are about what another HTTP library raises."""
    chain = list(_chain(error))
    never_sent = _any(chain, NotSent, ssl.SSLCertVerificationError, *unsent)
    # A connection may also end in the middle of an answer.
    is_tls = _any(chain, ssl.SSLError) and (never_sent or not _any(chain, ssl.SSLEOFError))
    first = error.__cause__ if isinstance(error, NotSent) else error
    # No URL, no header, no character: it would be the same the next time.
    unmade = isinstance(first, (ValueError, http.client.InvalidURL)) and not is_tls
    unknown = any(getattr(each, "errno", None) == socket.EAI_NONAME for each in chain)
    reason, hint = _of_proxy(chain, proxy)
    reason = reason or next((text for kind, text in (*more, *REASONS) if _any(chain, kind)), "")
    if not reason and _any(chain, TimeoutError, TooLong):
        connects = never_sent and not _any(chain, TooLong)
        reason = (
            f"no connection within {CONNECT_TIMEOUT:g} seconds"
            if connects
            else f"no answer within {round(seconds, 2):g} seconds"
        )
    if not reason:
        reason = f"the request could not be made ({type(first).__name__})" if unmade else "the connection broke"
    return Cause(reason, never_sent or unmade, not (unmade or unknown or is_tls), is_tls, chain, hint)


def _of_proxy(chain: Sequence[BaseException], proxy: Proxy | None) -> tuple[str, str]:
    """What the proxy has to do with it, and what helps; nothing if it is not to blame."""
    who = str(proxy or "the proxy")
    variable = proxy.variable if proxy else "its variable"
    if _any(chain, UnusableProxy):
        return f"{who} cannot be used", f"Give {variable} a URL that begins with http://."
    refused = next((error for error in chain if isinstance(error, ProxyRefused)), None)
    if refused is None:
        return "", ""
    why = f"{refused}" or next((text for kind, text in REASONS if _any(chain, kind)), "it does not answer")
    return f"{who} does not let us through ({why})", f"Correct {variable}, or name the host in no_proxy."


def _any(chain: Sequence[BaseException], *kinds: type[BaseException]) -> bool:
    return any(isinstance(error, kinds) for error in chain)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and all that it was raised from or wraps."""
    known: set[int] = set()
    todo: list[object] = [error]
    while todo:
        each = todo.pop(0)
        # What failed before, while this was asked, says nothing about this.
        if isinstance(each, BaseException) and not isinstance(each, Failure) and id(each) not in known:
            known.add(id(each))
            yield each
            todo += [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]
