# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates and keys as texts.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

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
    """One certificate: as LXD takes it, by what LXD knows it, and whether it vouches for others."""

    base64: str
    fingerprint: str
    is_authority: bool
    public_key: bytes = field(repr=False)
    expires: datetime | None = None

    @property
    def expired(self) -> str:
        """The day on which it expired; empty if it has not."""
        past = self.expires is not None and self.expires < datetime.now(timezone.utc)
        return self.expires.date().isoformat() if self.expires is not None and past else ""


def certificates(option: str, text: str) -> list[Certificate]:
    """The certificates in a text in PEM, at least one; `option` is where it was given."""
    if MISSING:
        raise missing_library(MISSING, "pylxd")
    found = [_certificate(option, match[1]) for match in BLOCK.finditer(text)]
    if not found:
        raise invalid(f"{option} holds no certificate in PEM form.")
    return found


def _certificate(option: str, body: str) -> Certificate:
    try:
        der = base64.b64decode(re.sub(r"\s", "", body), validate=True)
        parsed = x509.load_der_x509_certificate(der)
        key = _public(parsed.public_key())
    except (ValueError, UnsupportedAlgorithm):
        raise invalid(f"{option} holds a certificate that cannot be read.") from None
    fingerprint = hashlib.sha256(der).hexdigest()
    return Certificate(base64.b64encode(der).decode(), fingerprint, _is_authority(parsed), key, _expires(parsed))


def _expires(parsed: x509.Certificate) -> datetime:
    if hasattr(parsed, "not_valid_after_utc"):
        return parsed.not_valid_after_utc
    # Before cryptography 42.
    return parsed.not_valid_after.replace(tzinfo=timezone.utc)


def public_key(option: str, text: str) -> bytes:
    """What belongs to a private key in PEM; never says anything about the key itself."""
    if MISSING:
        raise missing_library(MISSING, "pylxd")
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


def _is_authority(parsed: x509.Certificate) -> bool:
    try:
        return bool(parsed.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
    except (x509.ExtensionNotFound, ValueError):
        return False
