# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Client certificates, as far as the simulator needs them: texts of the right form that tell clients apart."""

from __future__ import annotations

import base64
import binascii
import re
import textwrap

from metalshift_lab.simulator.state import State

PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----\s+(.+?)\s+-----END \1-----", re.DOTALL)


def generate(state: State) -> tuple[str, str]:
    """A certificate and its key. Where nothing makes real ones they are made up, and only LXD itself would notice."""
    try:
        from metalshift_lab.authority import self_signed
    except ImportError:
        return _made_up(state)
    pair = self_signed("maas")
    return pair.certificate.decode(), pair.key.decode()


def _made_up(state: State) -> tuple[str, str]:
    return _pem("CERTIFICATE", state.random.randbytes(1200)), _pem("PRIVATE KEY", state.random.randbytes(1700))


def valid(certificate: str, key: str) -> bool:
    return _is_pem(certificate, "CERTIFICATE") and _is_pem(key, "PRIVATE KEY")


def _pem(label: str, content: bytes) -> str:
    lines = "\n".join(textwrap.wrap(base64.b64encode(content).decode(), 64))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"


def _is_pem(text: str, label: str) -> bool:
    match = PEM.search(text)
    if match is None or not match[1].endswith(label):
        return False
    try:
        base64.b64decode("".join(match[2].split()), validate=True)
    except binascii.Error:
        return False
    return True
