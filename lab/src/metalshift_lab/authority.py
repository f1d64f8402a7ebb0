# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of the lab: an authority makes pairs, and kubeconfigs with them."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

VALID = datetime.timedelta(days=365)
# Clocks of machines that talk to each other differ.
EARLIER = datetime.timedelta(hours=1)


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes

    def write(self, certificate: Path, key: Path) -> None:
        write(certificate, self.certificate)
        write(key, self.key)


class Authority:
    """A certificate authority, made once and kept in a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.file = folder / f"{name}.crt"
        self.key_file = folder / f"{name}.key"
        if not self.file.exists():
            key = ec.generate_private_key(ec.SECP256R1())
            subject = _subject(name, ())
            certificate = _builder(subject, subject, key.public_key(), key.public_key(), authority=True)
            write(self.key_file, _pem(key))
            write(self.file, certificate.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        self._certificate = x509.load_pem_x509_certificate(self.file.read_bytes())
        loaded = serialization.load_pem_private_key(self.key_file.read_bytes(), None)
        if not isinstance(loaded, ec.EllipticCurvePrivateKey):
            raise ValueError(f"{self.key_file} is not the key that an authority of the lab writes.")
        self._key = loaded

    @property
    def pem(self) -> bytes:
        return self.file.read_bytes()

    def server(self, common_name: str, names: Sequence[str]) -> Pair:
        """For a server that is reached under these names and addresses."""
        return self._pair(common_name, (), names, ExtendedKeyUsageOID.SERVER_AUTH)

    def client(self, common_name: str, groups: Sequence[str] = ()) -> Pair:
        return self._pair(common_name, groups, (), ExtendedKeyUsageOID.CLIENT_AUTH)

    def kubeconfig(self, server: str, common_name: str, groups: Sequence[str] = ()) -> dict[str, Any]:
        """For a user with a certificate."""
        pair = self.client(common_name, groups)
        user = {"client-certificate-data": encoded(pair.certificate), "client-key-data": encoded(pair.key)}
        return kubeconfig(server, self.pem, user, name=common_name)

    def _pair(
        self, common_name: str, groups: Sequence[str], names: Sequence[str], usage: x509.ObjectIdentifier
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(
            _subject(common_name, groups), self._certificate.subject, key.public_key(), self._key.public_key()
        ).add_extension(x509.ExtendedKeyUsage([usage]), False)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName([_name(each) for each in names]), False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return Pair(certificate.public_bytes(serialization.Encoding.PEM), _pem(key))


def self_signed(common_name: str, names: Sequence[str] = ()) -> Pair:
    """For servers and clients that are known by their certificate alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _subject(common_name, ())
    usage = ExtendedKeyUsageOID.SERVER_AUTH if names else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = _builder(subject, subject, key.public_key(), key.public_key())
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), False)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([_name(each) for each in names]), False)
    return Pair(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM), _pem(key))


def kubeconfig(server: str, authority: bytes, user: dict[str, Any], *, name: str = "lab") -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": server, "certificate-authority-data": encoded(authority)}}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": name}}],
    }


def signing_key() -> tuple[bytes, bytes]:
    """A key that signs service account tokens, and its public half."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return _pem(key), public


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def write(file: Path, data: bytes | str) -> None:
    """Write a file that only its owner can read, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_name(f".{file.name}.new")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data.encode() if isinstance(data, str) else data)
    made.replace(file)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _subject(common_name: str, groups: Sequence[str]) -> x509.Name:
    organizations = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organizations, x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)])


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    signer: ec.EllipticCurvePublicKey,
    *,
    authority: bool = False,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=not authority,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLIER)
        .not_valid_after(now + VALID)
        .add_extension(x509.BasicConstraints(authority, None), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), False)
        .add_extension(usage, True)
    )
