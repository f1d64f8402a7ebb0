# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import sys

import pytest
from cryptography import x509

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates import signing_request as reading
from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import CsrContent
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from unit.kube.pem import encoded, signing_request

NODE = "worker-1.maas"
WHOLE = base64.b64decode(signing_request(NODE))


def test_a_client_is_read() -> None:
    found = reading.read(signing_request(NODE))
    expected = CsrContent(["system:nodes"], [f"system:node:{NODE}"], [], [], [], [], [], key=found.key)
    assert found == expected


def test_each_key_is_told_apart_and_the_same_one_is_known_again() -> None:
    first, second = signing_request(NODE), signing_request(NODE)
    assert reading.read(first).key == reading.read(first).key != reading.read(second).key


def test_a_server_is_read() -> None:
    asked = reading.read(signing_request(NODE, [NODE, "worker-1"], ["10.0.0.5", "FD00:0::5"]))
    assert (asked.dns_names, asked.addresses) == ([NODE, "worker-1"], ["10.0.0.5", "fd00::5"])


def test_an_rsa_key_is_told() -> None:
    assert reading.read(signing_request(NODE, with_rsa=True)).rsa


@pytest.mark.filterwarnings("error")
def test_a_long_name_is_no_obstacle() -> None:
    long = f"worker-1.{'long.' * 20}example"
    assert reading.read(signing_request(long)).common_names == [f"system:node:{long}"]


def test_everything_beyond_what_a_kubelet_asks_for_is_told_by_its_name() -> None:
    asked = reading.read(
        signing_request(
            NODE,
            [NODE],
            more_subject=[
                (x509.NameOID.ORGANIZATIONAL_UNIT_NAME, "x"),
                (x509.NameOID.COMMON_NAME, "admin"),
                (x509.NameOID.ORGANIZATION_NAME, "system:masters"),
                (x509.ObjectIdentifier("1.2.3.4"), "y"),
            ],
            more_names=[x509.RFC822Name("a@example.com"), x509.UniformResourceIdentifier("spiffe://a")],
            extensions=[x509.BasicConstraints(ca=True, path_length=None)],
        )
    )
    assert asked.organizations == ["system:nodes", "system:masters"]
    assert asked.common_names == [f"system:node:{NODE}", "admin"]
    assert asked.other_subject == ["organizationalUnitName=x", "1.2.3.4=y"]
    assert asked.other_names == ["RFC822Name a@example.com", "UniformResourceIdentifier spiffe://a"]
    assert asked.other_extensions == ["basicConstraints"]


def forged() -> bytes:
    """Made out to another node after it was signed."""
    der = base64.b64decode("".join(WHOLE.decode().splitlines()[1:-1]))
    return pem(der.replace(b"worker-1", b"worker-2"))


def pem(der: bytes) -> bytes:
    return b"-----BEGIN CERTIFICATE REQUEST-----\n" + base64.encodebytes(der) + b"-----END CERTIFICATE REQUEST-----\n"


UNREADABLE = [
    ("", "does not hold exactly one block of PEM"),
    ("%%%", "it is not base64"),
    ("ä", "it is not base64"),
    (encoded(b"hello"), "does not hold exactly one block of PEM"),
    (encoded(WHOLE + WHOLE), "does not hold exactly one block of PEM"),
    (encoded(pem(b"hello")), "it is no certificate request"),
    (encoded(WHOLE.replace(b"CERTIFICATE REQUEST", b"CERTIFICATE")), "it is no certificate request"),
    (encoded(WHOLE[: len(WHOLE) // 2]), "it is no certificate request"),
    (encoded(forged()), "it was not signed with the key that it is for"),
    (encoded(b" " * reading.LONGEST), "it is far too long"),
]


@pytest.mark.parametrize(("text", "says"), UNREADABLE)
def test_what_cannot_be_read_is_a_reason(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        reading.read(text)


def test_an_extension_that_makes_no_sense_is_a_reason() -> None:
    broken = x509.UnrecognizedExtension(x509.SubjectAlternativeName.oid, b"hello")
    with pytest.raises(ValueError, match="its extensions or its key make no sense"):
        reading.read(signing_request(NODE, extensions=[broken]))


def test_a_missing_library_is_said_with_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MISSING", ImportError("No module", name="cryptography"))
    with pytest.raises(Failure, match=f"The Python library cryptography is missing on .* for {sys.executable}"):
        reading.read(signing_request(NODE))
