# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How MAAS is reached."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of every module that talks to MAAS."""

    DOCUMENTATION = r"""
options:
  maas_endpoint:
    description:
      - The URL of MAAS, such as V(https://maas.example.com:5443/MAAS).
      - The path may be left out, and V(/api/2.0) may follow it.
      - If not set, the environment variable E(MAAS_ENDPOINT) is used, then E(MAAS_API_URL).
    type: str
  maas_api_key:
    description:
      - An API key of a MAAS user, in one piece as MAAS shows it.
      - If not set, the environment variable E(MAAS_API_KEY) is used.
    type: str
  maas_ca_cert:
    description:
      - A file with the certificates of the authorities to trust, or a folder of them.
      - If not set, the environment variable E(MAAS_CA_CERT) is used, then E(REQUESTS_CA_BUNDLE) and E(CURL_CA_BUNDLE),
        then the authorities of the system.
    type: path
  maas_validate_certs:
    description: Whether the server's certificate is verified.
    type: bool
    default: true
  maas_timeout:
    description:
      - How many seconds MAAS may take for one answer, from its first byte to its last. This does not bound how long a
        task waits for a machine.
    type: float
    default: 60.0
  maas_max_requests:
    description:
      - How many requests may be under way at MAAS at once, at most. From 1 to 64.
      - It is fewer where MAAS is no faster with more. Machines are allocated by constraints one after the other, since
        MAAS rolls back all but one of those that come together. Deployments are asked for side by side only as long as
        that is faster.
      - The default is what the four workers of one region controller get through. Where there are several region
        controllers, more may be faster.
    type: int
    default: 4
notes:
  - The module needs no Python library. The environment variables E(http_proxy), E(https_proxy), E(all_proxy) and
    E(no_proxy) count, also those of the task; the URL of a proxy begins with C(http://).
  - An empty text for a name, path or choice is refused. For an option to reach MAAS it counts as not set, as in an
    environment variable.
  - The module runs inside the Ansible controller process when its connection is local and it has neither C(become)
    nor C(async). In playbooks for other hosts use C(delegate_to=localhost). Elsewhere it runs as an ordinary module
    there.
"""
