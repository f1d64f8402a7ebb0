#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom an LXD trusts."""

from __future__ import annotations

DOCUMENTATION = r"""
module: lxd_trust
short_description: Manage whom an LXD trusts
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Adds client certificates, restricts them to projects, renames and removes them.
  - Issues and revokes tokens with which somebody can become a trusted client, once.
  - Becomes a trusted client itself, by a token or a password.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_lxd
  - metalshift.maas.lxd
  - metalshift.maas.lxd.alone
  - metalshift.maas.plan
options:
  type:
    description:
      - V(certificate) is about a client certificate, which is known by its fingerprint.
      - V(token) is about a token, which is known by O(name). LXD keeps tokens in memory and loses them when it
        restarts.
    type: str
    choices: [certificate, token]
    default: certificate
  certificate:
    description:
      - The certificate, as the path of a file in PEM form, or as the text in it.
      - If neither this nor O(fingerprint) is set, it is that of O(lxd_client_cert).
    type: str
  fingerprint:
    description: The SHA-256 fingerprint of a certificate that LXD knows, or at least its first 12 digits.
    type: str
  name:
    description:
      - What LXD calls the certificate. Kept as it is if not set. A new one without it is called by its fingerprint.
      - Of a token, its name, which is that of the certificate that comes with it. Required for O(type=token).
    type: str
  restricted:
    description:
      - Whether the certificate sees nothing but O(projects). Kept as it is if not set, V(false) for a new one.
      - It is V(true) if not set, and O(projects) are, also if that is an empty list.
    type: bool
  projects:
    description: All projects that the certificate, or the one that comes with the token, can use.
    type: list
    elements: str
  token:
    description:
      - A token that makes the certificate of O(lxd_client_cert) trusted if it is not yet. It is not used if it is.
      - The rights of the certificate are those of the token. O(name), O(restricted) and O(projects) are changed
        afterwards, as far as the certificate may do so.
    type: str
  password:
    description:
      - What C(core.trust_password) is, which makes the certificate of O(lxd_client_cert) trusted if it is not yet.
      - Up to LXD 5.21.
    type: str
  min_validity:
    description:
      - How many seconds a token must still be good. One that expires earlier is revoked and a new one issued.
      - When tokens expire is a setting of the server, C(core.remote_token_expiry), which M(metalshift.maas.lxd_server)
        changes. It counts for tokens that are issued afterwards. Without it, tokens do not expire.
    type: int
    default: 0
  state:
    description:
      - V(present) makes sure that the certificate is trusted, or that there is exactly one such token.
      - V(absent) makes sure that it is not trusted, or that there is no token of that name. The certificate with which
        LXD is asked is not removed.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.lxd_info
  - module: metalshift.maas.lxd_server
"""

EXAMPLES = r"""
- name: MAAS may use its project, and nothing else
  metalshift.maas.lxd_trust:
    lxd_endpoint: unix://
    certificate: /etc/ansible/maas-lxd.crt
    name: maas
    projects: [maas]

- name: A token for somebody who comes later
  metalshift.maas.lxd_trust:
    type: token
    name: jo
    projects: [team-blue]
  register: invitation
  no_log: true

- name: Become a trusted client by it, on another machine
  metalshift.maas.lxd_trust:
    lxd_client_cert: ~/.config/lxc/client.crt
    lxd_client_key: ~/.config/lxc/client.key
    token: "{{ invitation.token }}"

- name: No token of that name
  metalshift.maas.lxd_trust:
    type: token
    name: jo
    state: absent

- name: No longer trust a certificate
  metalshift.maas.lxd_trust:
    fingerprint: 580dc4d6b091
    state: absent
"""

RETURN = r"""
certificate:
  description: The certificate as LXD knows it now, or as it would be in check mode. Empty when it is not trusted.
  returned: success, for O(type=certificate)
  type: dict
  sample:
    name: maas
    type: client
    fingerprint: 580dc4d6b091db36ec624b4827de9bd605cc6649d21c96349d39b3baa8f4f56f
    restricted: true
    projects: [maas]
    certificate: "-----BEGIN CERTIFICATE-----\n..."
trust_token:
  description: What is known of the token. Empty when there is none.
  returned: success, for O(type=token)
  type: dict
  sample:
    name: jo
    restricted: true
    projects: [team-blue]
    issued_at: "2026-11-19T01:59:17.928630709Z"
    expires_at: "2026-11-19T03:59:17.928592579Z"
token:
  description:
    - The token itself. It is a secret and the only one that this module tells, so give the task C(no_log).
    - Null in check mode, and when there is none.
  returned: success, for O(type=token)
  type: str
plan:
  description:
    - What the task did, in check mode what it would do; one element an action, in their order. Empty if there is
      nothing to change. A task that failed may not have come to all of them.
    - Fields whose values are secret are left out or masked, and so are those that stay as they are.
  returned: always, but for wrong input
  type: list
  elements: dict
  contains:
    action:
      description: What is done, such as V(create), V(update), V(delete), V(enlist), V(deploy) or V(release).
      type: str
    object:
      description: To which object.
      type: str
    reason:
      description: Why. Empty if the task asks for just that.
      type: str
    before:
      description: The fields that change, as they are.
      type: dict
    after:
      description: The same fields as they will be; null where only the server knows it in advance.
      type: dict
"""

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import run
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.trust.engine import CertificateEngine, TokenEngine

SPEC = Spec(
    options={
        "type": {"type": "str", "choices": ["certificate", "token"], "default": "certificate"},
        "certificate": {"type": "str"},
        "fingerprint": {"type": "str"},
        "name": {"type": "str"},
        "restricted": {"type": "bool"},
        "projects": {"type": "list", "elements": "str"},
        "token": {"type": "str", "no_log": True},
        "password": {"type": "str", "no_log": True},
        "min_validity": {"type": "int", "default": 0},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    },
    maas=False,
    lxd=True,
    mutually_exclusive=[("certificate", "fingerprint"), ("token", "password")],
    required_if=[("type", "token", ("name",))],
)

# What says nothing about a token.
OF_CERTIFICATES = ("certificate", "fingerprint", "token", "password")


def converge(task: Task) -> Result:
    """Bring whom the LXD trusts to the wished state."""
    options = task.params
    if options["min_validity"] < 0:
        raise invalid(f"min_validity must be 0 or more, not {options['min_validity']}.")
    if options["type"] == "certificate":
        return run(CertificateEngine(task), task)
    for name in OF_CERTIFICATES:
        if options[name]:
            raise invalid(f"{name} is about certificates, and type is token.")
    return run(TokenEngine(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "lxd_trust")


if __name__ == "__main__":
    main()
