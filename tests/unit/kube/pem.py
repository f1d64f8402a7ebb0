# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""True certificate requests, those of kubelets and others."""

from __future__ import annotations

import base64
import ipaddress
import warnings
from collections.abc import Sequence
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

ORGANIZATION, COMMON_NAME = x509.NameOID.ORGANIZATION_NAME, x509.NameOID.COMMON_NAME


def signing_request(
    node: str,
    names: Sequence[str] = (),
    addresses: Sequence[str] = (),
    *,
    organization: str = "system:nodes",
    common_name: str = "",
    more_subject: Sequence[tuple[x509.ObjectIdentifier, str]] = (),
    more_names: Sequence[x509.GeneralName] = (),
    extensions: Sequence[x509.ExtensionType] = (),
    with_rsa: bool = False,
) -> str:
    """As a kubelet asks for a node's certificate, in base64 of PEM; with names or addresses for a server's."""
    key: Any = (
        rsa.generate_private_key(public_exponent=65537, key_size=2048)
        if with_rsa
        else ec.generate_private_key(ec.SECP256R1())
    )
    subject = [(ORGANIZATION, organization), (COMMON_NAME, common_name or f"system:node:{node}"), *more_subject]
    builder = x509.CertificateSigningRequestBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = [x509.NameAttribute(oid, text, _validate=False) for oid, text in subject]
    builder = builder.subject_name(x509.Name(parts))
    reached: list[x509.GeneralName] = [
        *(x509.DNSName(name) for name in names),
        *(x509.IPAddress(ipaddress.ip_address(each)) for each in addresses),
        *more_names,
    ]
    if reached:
        builder = builder.add_extension(x509.SubjectAlternativeName(reached), critical=False)
    for extension in extensions:
        builder = builder.add_extension(extension, critical=True)
    return encoded(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))


def encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
