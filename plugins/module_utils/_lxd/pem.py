# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates and keys as texts.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import hashlib
import re
import ssl
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid

MISSING: ImportError | None = None
try:
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
except ImportError as missing:
    MISSING = missing

BLOCK = re.compile(r"-----BEGIN CERTIFICATE-----\s+(.+?)\s+-----END CERTIFICATE-----", re.DOTALL)


@dataclass(frozen=True)
class Certificate:
    """One certificate: as LXD takes it, by what LXD knows it, and what is in it.

    The first two need nothing but the standard library. What is in it is read when somebody asks.
    """

    option: str = field(repr=False)
    der: bytes = field(repr=False)

    @property
    def base64(self) -> str:
        return base64.b64encode(self.der).decode()

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.der).hexdigest()

    @property
    def is_authority(self) -> bool:
        """Whether it vouches for others."""
        # Not in the try: without the library there is no x509 that its clause could name.
        certificate = self._parsed
        try:
            return bool(certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
        except (x509.ExtensionNotFound, ValueError):
            return False

    @property
    def public_key(self) -> bytes:
        certificate = self._parsed
        try:
            return _public(certificate.public_key())
        except (ValueError, UnsupportedAlgorithm):
            raise _unreadable(self.option) from None

    @property
    def expires(self) -> datetime:
        if hasattr(self._parsed, "not_valid_after_utc"):
            return self._parsed.not_valid_after_utc
        # Before cryptography 42.
        return self._parsed.not_valid_after.replace(tzinfo=timezone.utc)

    @property
    def expired(self) -> str:
        """The day on which it expired; empty if it has not."""
        return self.expires.date().isoformat() if self.expires < datetime.now(timezone.utc) else ""

    @cached_property
    def _parsed(self) -> x509.Certificate:
        if MISSING:
            raise missing_library(MISSING, "cryptography")
        try:
            return x509.load_der_x509_certificate(self.der)
        except ValueError:
            raise _unreadable(self.option) from None


def certificates(option: str, text: str) -> list[Certificate]:
    """The certificates in a text in PEM, at least one; `option` is where it was given."""
    found = [_certificate(option, match[1]) for match in BLOCK.finditer(text)]
    if not found:
        raise invalid(f"{option} holds no certificate in PEM form.")
    return found


def _certificate(option: str, body: str) -> Certificate:
    try:
        der = base64.b64decode(re.sub(r"\s", "", body), validate=True)
        # Nothing else of the standard library says whether it is one.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=der)
    except (ValueError, ssl.SSLError):
        raise _unreadable(option) from None
    return Certificate(option, der)


def _unreadable(option: str) -> Failure:
    return invalid(f"{option} holds a certificate that cannot be read.")


def public_key(option: str, text: str) -> bytes:
    """What belongs to a private key in PEM; never says anything about the key itself."""
    if MISSING:
        raise missing_library(MISSING, "cryptography")
    if "PRIVATE KEY-----" not in text:
        raise invalid(f"{option} holds no private key in PEM form.")
    try:
        return _public(load_pem_private_key(text.encode(), None).public_key())
    except TypeError:
        raise invalid(
            f"{option} is protected by a passphrase, for which nobody can be asked.",
            hint="Keep it without one, or as a vaulted variable.",
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise invalid(f"{option} holds a private key that cannot be read.") from None


def _public(key: Any) -> bytes:
    shown: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return shown
