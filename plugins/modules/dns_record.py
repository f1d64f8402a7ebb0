#!/usr/bin/python
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DNS records of MAAS."""

from __future__ import annotations

DOCUMENTATION = r"""
module: dns_record
short_description: Manage DNS records of MAAS
version_added: 0.1.0
author:
  - The metalshift.maas authors (@metalshift)
description:
  - Makes sure that a name in one of MAAS's domains has exactly these records of one type.
  - Records of other types at the same name stay as they are, unless O(purge_records=true).
  - The records that MAAS itself makes for its machines are neither seen nor touched.
extends_documentation_fragment:
  - metalshift.maas.attributes
  - metalshift.maas.attributes.actiongroup_maas
  - metalshift.maas.maas
  - metalshift.maas.plan
options:
  fqdn:
    description:
      - The whole name, such as V(api.lab.example.com) or V(_sip._tcp.lab.example.com).
      - It must end in a domain that MAAS has; the longest that fits is taken. In check mode, and with O(state=absent),
        the domain may be missing.
      - What has addresses, V(A) or V(AAAA), must be one label within its domain. V(api.demo.lab.example.com) needs the
        domain V(demo.lab.example.com).
    type: str
  name:
    description:
      - The name within O(domain). V(@) is the domain itself, V(*) every name that has no records.
    type: str
  domain:
    description:
      - The domain of O(name). If not set, it is MAAS's default domain.
    type: str
  type:
    description: The type of the records.
    type: str
    choices: [A, AAAA, CNAME, MX, NS, SRV, SSHFP, TXT]
    default: A
  value:
    description:
      - All values that the name has in records of this type, in the form of a zone file, such as
        V(10 mail.example.com.) for V(MX).
      - Required for O(state=present). For O(state=absent), only these values are removed if set.
    type: list
    elements: str
  ttl:
    description:
      - How many seconds others may keep the records. Kept as it is if not set; V(0) stands for that of the domain.
      - The addresses of a name, V(A) and V(AAAA), share one.
    type: int
  purge_records:
    description: Whether the records of all other types at this name are removed.
    type: bool
    default: false
    aliases: [purge]
  state:
    description:
      - V(present) makes sure that the name has these records of this type, and no others of it.
      - V(absent) makes sure that it has none of this type, or none of the values in O(value). Without the domain there
        are none.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: metalshift.maas.maas_info
"""

EXAMPLES = r"""
- name: The API of a hosted cluster
  metalshift.maas.dns_record:
    fqdn: api.demo.lab.example.com
    value: [10.99.0.50, 10.99.0.51]
    ttl: 60

- name: All names below apps, in a domain of its own
  metalshift.maas.dns_record:
    name: "*"
    domain: apps.demo.lab.example.com
    value: 10.99.0.60

- name: An alias in place of whatever the name had
  metalshift.maas.dns_record:
    fqdn: console.lab.example.com
    type: CNAME
    value: ingress.lab.example.com.
    purge_records: true

- name: One address less
  metalshift.maas.dns_record:
    fqdn: api.demo.lab.example.com
    value: 10.99.0.51
    state: absent
"""

RETURN = r"""
dns_record:
  description: The records as they are now, or as they would be in check mode. Empty when there are none.
  returned: success
  type: dict
  contains:
    fqdn:
      description: The whole name.
      type: str
      sample: api.demo.lab.example.com
    name:
      description: The name within the domain.
      type: str
      sample: api
    domain:
      description: The domain.
      type: str
      sample: demo.lab.example.com
    type:
      description: The type of the records.
      type: str
      sample: A
    value:
      description: The values, sorted.
      type: list
      elements: str
      sample: [10.99.0.50, 10.99.0.51]
    ttl:
      description: How many seconds others may keep the records; null for that of the domain.
      type: int
      sample: 60
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
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Spec
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, run_as_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.addresses.dns_records import RecordEngine

SPEC = Spec(
    options={
        "fqdn": {"type": "str"},
        "name": {"type": "str"},
        "domain": {"type": "str"},
        "type": {"type": "str", "choices": ["A", "AAAA", "CNAME", "MX", "NS", "SRV", "SSHFP", "TXT"], "default": "A"},
        "value": {"type": "list", "elements": "str"},
        "ttl": {"type": "int"},
        "purge_records": {"type": "bool", "default": False, "aliases": ["purge"]},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    },
    required_one_of=[("fqdn", "name")],
    mutually_exclusive=[("fqdn", "name"), ("fqdn", "domain")],
    required_if=[("state", "present", ("value",))],
    predictable=frozenset({"value"}),
)


def converge(task: Task) -> Result:
    """Bring the records of one type at one name to the wished state."""
    return run(RecordEngine(task), task)


def main() -> None:
    run_as_module(SPEC, converge, "dns_record")


if __name__ == "__main__":
    main()
