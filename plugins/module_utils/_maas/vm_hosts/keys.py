# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificate and key with which MAAS talks to the LXD of a VM host: given, made by us, kept in files.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid

MISSING: ImportError | None = None
try:
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
except ImportError as missing:
    MISSING = missing

BEGIN = "-----BEGIN "
CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)
# As MAAS's own: nobody renews them unasked.
UTC = datetime.timezone.utc
VALID = datetime.timedelta(days=3650)
BITS = 3072
NAME = "metalshift.maas"


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, both in PEM."""

    certificate: str
    key: str = field(repr=False)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.certificate)

    @property
    def form(self) -> dict[str, str]:
        return {"certificate": self.certificate, "key": self.key}


@dataclass(frozen=True)
class KeysSpec:
    """What a task says of certificate and key: a pair, or the files that are to hold one, or nothing.

    `key` is the one in the second file, if that alone is there: what a killed run leaves.
    """

    pair: Pair | None = None
    files: tuple[Path, Path] | None = None
    key: str = field(default="", repr=False)

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> KeysSpec:
        certificate, key = params["certificate"], params["key"]
        if certificate is None:
            return cls()
        if not params["make_certificate"]:
            return cls(_checked(Pair(_text(certificate, "certificate"), _text(key, "key"))))
        if BEGIN in certificate or BEGIN in key:
            raise invalid("make_certificate needs certificate and key to be paths.", "Name the files to keep them in.")
        files = Path(certificate).expanduser(), Path(key).expanduser()
        there = [path.exists() for path in files]
        if all(there):
            return cls(_checked(Pair(*(_text(str(path), path.name) for path in files))))
        if there[0]:
            raise invalid(
                f"The certificate {files[0]} is there, but its key is not.",
                "Put the key back, or remove the certificate so that both are made anew.",
            )
        return cls(files=files, key=_text(str(files[1]), files[1].name) if there[1] else "")


def fingerprint(certificate: str) -> str:
    """As LXD shows it; empty for what is no certificate."""
    match = CERTIFICATE.search(certificate)
    try:
        return hashlib.sha256(base64.b64decode("".join(match[1].split()))).hexdigest() if match else ""
    except binascii.Error:
        return ""


def same_key(one: str, other: str) -> bool:
    """Whether two keys are the same text, however its lines are broken."""
    return "".join(one.split()) == "".join(other.split())


def is_rsa(pair: Pair) -> bool:
    """Whether MAAS surely takes the key: its newer versions fail at any other."""
    _library()
    return isinstance(serialization.load_pem_private_key(pair.key.encode(), password=None), rsa.RSAPrivateKey)


def make() -> Pair:
    """A new pair, in memory."""
    key = _new_key()
    return Pair(_certificate_for(key), key)


def kept(files: tuple[Path, Path], known: Pair | None = None) -> Pair:
    """The pair in the files; what is missing is made, or taken from a known one.

    Of several runs at once the first one's stays, for all.
    """
    certificate, key = files
    key_text = _first(key, lambda: known.key if known else _new_key())
    known = known if known and same_key(known.key, key_text) else None
    return _checked(
        Pair(_first(certificate, lambda: known.certificate if known else _certificate_for(key_text)), key_text)
    )


def _first(path: Path, make_text: Callable[[], str]) -> str:
    if not path.exists():
        text = make_text()
        try:
            _put(path, text)
        except OSError as error:
            raise invalid(
                f"{path} cannot be written: {error.strerror}.", "Make its folder, or name another."
            ) from error
    return _text(str(path), path.name)


def _put(path: Path, text: str) -> None:
    """Write a file that is whole or not there, for its owner alone; one that is there stays."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)


def _text(value: str, what: str) -> str:
    """PEM as it was given, or from the file that was named. Messages do not repeat it: it may be a key."""
    if BEGIN in value:
        return value
    try:
        text = Path(value).expanduser().read_text(encoding="ascii")
    except FileNotFoundError:
        raise invalid(
            f"{what} names a file that does not exist.",
            "Give PEM or the path of it; make_certificate: true makes what is missing.",
        ) from None
    except (OSError, ValueError):
        raise invalid(f"{what} names a file that cannot be read as PEM.", "Give PEM or the path of it.") from None
    return text


def _checked(pair: Pair) -> Pair:
    """The pair, if LXD and MAAS can use it."""
    _library()
    try:
        certificate = x509.load_pem_x509_certificate(pair.certificate.encode())
    except ValueError:
        raise invalid("certificate is not a certificate in PEM.") from None
    try:
        key: Any = serialization.load_pem_private_key(pair.key.encode(), password=None)
    except TypeError:
        raise invalid("key has a passphrase, and MAAS asks nobody for it.", "Give the key without.") from None
    except (ValueError, UnsupportedAlgorithm):
        raise invalid("key is not a private key in PEM.") from None
    if _public(certificate) != _public(key):
        raise invalid("certificate and key do not belong together.")
    # Before version 42 the library gives naive times.
    end = getattr(certificate, "not_valid_after_utc", None) or certificate.not_valid_after.replace(tzinfo=UTC)
    if end < datetime.datetime.now(UTC):
        raise invalid(f"certificate expired on {end:%Y-%m-%d}.", "Make a new one.")
    return pair


def _public(holder: Any) -> bytes:
    encoded: bytes = holder.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return encoded


def _new_key() -> str:
    _library()
    key = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def _certificate_for(key_text: str) -> str:
    _library()
    try:
        key: Any = serialization.load_pem_private_key(key_text.encode(), password=None)
    except (TypeError, ValueError, UnsupportedAlgorithm):
        raise invalid("key is not a private key in PEM without a passphrase.") from None
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    begin = datetime.datetime.now(UTC) - datetime.timedelta(hours=1)
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + VALID)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return signed.public_bytes(serialization.Encoding.PEM).decode()


def _library() -> None:
    if MISSING:
        raise missing_library(MISSING, "cryptography")
