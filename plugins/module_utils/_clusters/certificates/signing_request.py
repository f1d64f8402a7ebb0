# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what a certificate signing request asks for.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import warnings
from functools import lru_cache
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import CsrContent
from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library

MISSING: ImportError | None = None
try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    from cryptography.x509.oid import NameOID
except ImportError as missing:
    MISSING = missing

BEGIN = b"-----BEGIN "
# Far more than a kubelet of many addresses asks for; parsing is not for whoever sends megabytes.
LONGEST = 1 << 17
# Those of kubelets have one or two thousand characters. They are read once, however often it is looked at them.
USUAL, KEPT = 1 << 13, 1 << 13


def read(encoded: str) -> CsrContent:
    """What a request in base64 of PEM, as Kubernetes keeps it, asks for. A ValueError says why it cannot be read."""
    if MISSING:
        raise missing_library(MISSING, "cryptography")
    found = _kept(encoded) if len(encoded) <= USUAL else _read(encoded)
    if isinstance(found, str):
        raise ValueError(found)
    return found


@lru_cache(maxsize=KEPT)
def _kept(encoded: str) -> CsrContent | str:
    return _read(encoded)


def _read(encoded: str) -> CsrContent | str:
    """What it asks for, or why it cannot be read."""
    try:
        return _whole(_parsed(_decoded(encoded)))
    except ValueError as error:
        return str(error)


def _whole(request: Any) -> CsrContent:
    try:
        whole = request.is_signature_valid
        asked = _asked(request)
    except (InvalidSignature, UnsupportedAlgorithm):
        raise ValueError("its key or signature is of a kind that is not known here") from None
    except (x509.DuplicateExtension, x509.UnsupportedGeneralNameType, ValueError, TypeError):
        raise ValueError("its extensions or its key make no sense") from None
    if not whole:
        raise ValueError("it was not signed with the key that it is for")
    return asked


def _decoded(encoded: str) -> bytes:
    if len(encoded) > LONGEST:
        raise ValueError("it is far too long")
    try:
        pem = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("it is not base64") from None
    if pem.count(BEGIN) != 1:
        # Readers differ in which of several they take.
        raise ValueError("it does not hold exactly one block of PEM")
    return pem


def _parsed(pem: bytes) -> Any:
    try:
        with warnings.catch_warnings():
            # Names of nodes may be longer than X.509 wants names to be.
            warnings.simplefilter("ignore")
            return x509.load_pem_x509_csr(pem)
    except (ValueError, TypeError):
        raise ValueError("it is no certificate request") from None


def _asked(request: Any) -> CsrContent:
    public = request.public_key()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subject = list(request.subject)
        extensions = list(request.extensions)
    wanted = (NameOID.ORGANIZATION_NAME, NameOID.COMMON_NAME)
    other_extensions = [_called(one.oid) for one in extensions if one.oid != x509.SubjectAlternativeName.oid]
    names = [name for one in extensions if one.oid == x509.SubjectAlternativeName.oid for name in one.value]
    plain = (x509.DNSName, x509.IPAddress)
    return CsrContent(
        organizations=[str(one.value) for one in subject if one.oid == wanted[0]],
        common_names=[str(one.value) for one in subject if one.oid == wanted[1]],
        other_subject=[f"{_called(one.oid)}={one.value}" for one in subject if one.oid not in wanted],
        other_names=[f"{type(name).__name__} {name.value}" for name in names if not isinstance(name, plain)],
        other_extensions=other_extensions,
        dns_names=[name.value for name in names if isinstance(name, x509.DNSName)],
        addresses=[str(name.value) for name in names if isinstance(name, x509.IPAddress)],
        rsa=isinstance(public, RSAPublicKey),
        key=hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest(),
    )


def _called(oid: Any) -> str:
    name = getattr(oid, "_name", "")
    return name if name and name != "Unknown OID" else str(oid.dotted_string)
