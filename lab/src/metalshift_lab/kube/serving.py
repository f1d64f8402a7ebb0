# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether somebody answers at a URL of the loopback interface."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request

_ANY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_ANY.check_hostname = False
_ANY.verify_mode = ssl.CERT_NONE
# Whoever set a proxy for this shell did not mean the loopback interface.
LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=_ANY))


def serves(url: str) -> bool:
    """A probe, as a kubelet makes it: any success counts, certificates do not."""
    try:
        with LOCAL.open(url, timeout=3) as answer:
            return bool(answer.status < 400)
    except (OSError, ValueError):
        return False
