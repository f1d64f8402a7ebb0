# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""OAuth 1 as MAAS checks it: PLAINTEXT and HMAC-SHA1, timestamps, nonces."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote

from metalshift_lab.simulator.errors import BadRequest, ServerError, Unauthorized
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import Token, User

REQUIRED = ("consumer_key", "token", "signature", "signature_method", "timestamp", "nonce")
THRESHOLD = 300
NONCE_LENGTH = 255
METHODS = ("PLAINTEXT", "HMAC-SHA1")


class Nonces:
    """Every nonce of a token is accepted once. Those too old to be accepted anyway are forgotten."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], int] = {}
        self._sweep_at = 5000

    def use(self, token: str, nonce: str, timestamp: int, now: float) -> bool:
        if (token, nonce) in self._seen:
            return False
        self._seen[token, nonce] = timestamp
        if len(self._seen) > self._sweep_at:
            self._seen = {k: t for k, t in self._seen.items() if now - t <= THRESHOLD}
            self._sweep_at = max(5000, 2 * len(self._seen))
        return True


def authenticate(request: Request, nonces: Nonces) -> User | None:
    """The user of a request; None without (complete) credentials; 401 for wrong ones."""
    values = _credentials(request)
    if any(f"oauth_{name}" not in values for name in REQUIRED):
        return None
    token = _token(request, values)
    _check_time(request, values, token, nonces)
    method = values["oauth_signature_method"].upper()
    if method not in METHODS:
        raise _refused(f"'Signature method {method} not supported try one of the following: {', '.join(METHODS)}'")
    if method == "PLAINTEXT":
        # A raw "&secret" in the header is accepted as well as its encoded form.
        if not hmac.compare_digest(values["oauth_signature"].encode(), f"&{token.secret}".encode()):
            # MAAS discloses the secret here; so do we, because clients must never show this body.
            raise _refused(f"'Invalid signature. Expected signature base string: &{token.secret}'")
        return token.user
    given = values["oauth_signature"].encode()
    expected = [_hmac_sha1(base, token) for base in _base_strings(request, values)]
    if not any(hmac.compare_digest(given, e) for e in expected):
        raise _refused(
            f"'Invalid signature. Expected signature base string: {next(iter(_base_strings(request, values)))}'"
        )
    return token.user


def _credentials(request: Request) -> dict[str, str]:
    header = request.headers.get("Authorization", "")
    if header.startswith("OAuth "):
        return {unquote(k): unquote(v) for k, v in re.findall(r'([\w.%-]+)="([^"]*)"', header[6:])}
    return {k: v for k, v in [*request.query.pairs(), *request.data.pairs()] if k.startswith("oauth_")}


def _token(request: Request, values: dict[str, str]) -> Token:
    tokens = [t for t in request.state.tokens if t.consumer == values["oauth_consumer_key"]]
    if not tokens:
        raise _refused("Invalid API key.")
    token = next((t for t in tokens if t.key == values["oauth_token"]), None)
    if token is None:
        raise _refused(f"'Invalid access token: {values['oauth_token']}'")
    return token


def _check_time(request: Request, values: dict[str, str], token: Token, nonces: Nonces) -> None:
    try:
        timestamp = int(values["oauth_timestamp"])
    except ValueError as error:
        raise (BadRequest if request.state.release >= (3, 8) else ServerError)(str(error)) from None
    # The clients' clocks do not move with the simulator's.
    now = time.time()
    if now - timestamp > THRESHOLD:
        raise _refused(
            f"'Expired timestamp: given {timestamp} and now {int(now)} "
            f"has a greater difference than threshold {THRESHOLD}'"
        )
    if len(values["oauth_nonce"]) > NONCE_LENGTH:
        raise ServerError(f"value too long for type character varying({NONCE_LENGTH})\n")
    if not nonces.use(token.key, values["oauth_nonce"], timestamp, now):
        raise _refused(f"'Nonce already used: {values['oauth_nonce']}'")


def _refused(why: str) -> Unauthorized:
    return Unauthorized(f"Authorization Error: {why}", html=True)


def _hmac_sha1(base: str, token: Token) -> bytes:
    return base64.b64encode(hmac.new(f"&{token.secret}".encode(), base.encode(), hashlib.sha1).digest())


def _base_strings(request: Request, values: dict[str, str]) -> Iterator[str]:
    """What clients may have signed.

    MAAS collapses repeated keys before it signs, Go clients take the first value of each, and for PUT some sign no
    body at all.
    """
    oauth = [(k, v) for k, v in values.items() if k not in ("oauth_signature", "realm")]
    query, body = list(request.query.pairs()), list(request.data.pairs())
    host = request.headers.get("Host", "")
    for path in dict.fromkeys((request.raw_path, request.path)):
        url = f"http://{host.lower()}{path}"
        for pairs in (query + body, _first(query + body), list(dict(query + body).items()), query, []):
            yield "&".join((request.method, _escape(url), _escape(_normalised([*oauth, *pairs]))))


def _first(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    out: dict[str, str] = {}
    for key, value in pairs:
        out.setdefault(key, value)
    return list(out.items())


def _normalised(pairs: Iterable[tuple[str, str]]) -> str:
    return "&".join(f"{k}={v}" for k, v in sorted((_escape(k), _escape(v)) for k, v in pairs))


def _escape(text: str) -> str:
    return quote(text, safe="~")
