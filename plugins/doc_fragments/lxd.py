# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How an LXD is reached."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of every module that talks to LXD."""

    DOCUMENTATION = r"""
options:
  lxd_endpoint:
    description:
      - The URL of LXD, such as V(https://lxd.example.com:8443). The port is 8443 if it is left out.
      - Or V(unix://) for the LXD of the machine where the module runs. Its socket is then found, that of the snap or
        of Debian's package. Or the path of a socket, such as V(unix:///var/lib/lxd/unix.socket).
      - Whoever may open the socket needs no certificate, and no Python library. With C(become), a module so runs on a
        node where nothing but Python is installed.
      - If not set, the environment variable E(LXD_ENDPOINT) is used.
    type: str
  lxd_client_cert:
    description:
      - The client certificate by which LXD knows who asks, as the path of a file in PEM form, or as the text in it.
      - If not set, the environment variable E(LXD_CLIENT_CERT) is used.
    type: str
  lxd_client_key:
    description:
      - The private key of O(lxd_client_cert), as the path of a file in PEM form, or as the text in it. It must not be
        protected by a passphrase. A text is never written into a file.
      - If not set, the environment variable E(LXD_CLIENT_KEY) is used.
    type: str
  lxd_server_cert:
    description:
      - By what the server is known, which is the SHA-256 fingerprint of its certificate, or a certificate in PEM form,
        as the path of a file or as the text in it.
      - A fingerprint, or the certificate that LXD itself made, pins the server. It is then known wherever it answers,
        whatever names are in its certificate.
      - A certificate of an authority verifies what that authority has signed, names included.
      - If not set, the environment variable E(LXD_SERVER_CERT) is used, then the authorities of the system.
        E(REQUESTS_CA_BUNDLE) and E(CURL_CA_BUNDLE) do not count. The server is always verified.
    type: str
  lxd_project:
    description:
      - The project of LXD to work in.
      - If not set, the environment variable E(LXD_PROJECT) is used.
    type: str
    default: default
  lxd_timeout:
    description:
      - How many seconds LXD may take for one answer, until its last byte is here. What it does in the background may
        take longer.
    type: float
    default: 60.0
requirements:
  - cryptography, for certificates; it comes with ansible-core, and O(lxd_endpoint) as a socket needs none
"""

    # What uses MAAS as well has this from there.
    ALONE = r"""
options: {}
notes:
  - The module runs inside the Ansible controller process when its connection is local and it has neither C(become)
    nor C(async). In playbooks for other hosts use C(delegate_to=localhost). Elsewhere it runs as an ordinary module and
    needs the requirements there.
"""
