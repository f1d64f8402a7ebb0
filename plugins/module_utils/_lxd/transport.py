# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""By what an LXD is verified, and what we present to it.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._http.wire import trusting, trusting_all
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import LxdConnection


def context(connection: LxdConnection) -> ssl.SSLContext:
    """For a fingerprint, which is compared after the handshake and before anything is sent, or for authorities."""
    made = trusting_all() if connection.pin else _judging(connection.authorities)
    if connection.identity:
        try:
            with _as_file(connection.identity.chain) as chain, _as_file(connection.identity.key) as key:
                made.load_cert_chain(chain, key)
        except OSError:
            raise invalid("lxd_client_cert and lxd_client_key cannot be used: Python's ssl refuses them.") from None
    return made


def _judging(authorities: str) -> ssl.SSLContext:
    try:
        return trusting(text=authorities or None)
    except ssl.SSLError:
        raise invalid("lxd_server_cert holds certificates that cannot be read.") from None


@contextmanager
def _as_file(text: str) -> Iterator[str]:
    """A text as something to open by name that is on no disk, because Python reads certificates from files alone.

    It fits into the pipe as a whole, so that nobody needs to write while it is read.
    """
    read, write = os.pipe()
    try:
        with os.fdopen(write, "w", encoding="utf-8") as file:
            file.write(text)
        yield f"/dev/fd/{read}"
    finally:
        os.close(read)
