# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all modules promise."""

from __future__ import annotations


class ModuleDocFragment:
    """Attributes of modules."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and returns what would change, without a write.
    support: full
  diff_mode:
    description: Shows in diff mode what changes, or would change in check mode.
    support: full
  idempotent:
    description: A second run with the same options changes nothing.
    support: full
  async:
    description: Can run under C(async). It then runs as an ordinary module and not inside the controller process.
    support: full
"""

    INFO = r"""
options: {}
attributes:
  check_mode:
    description: Only reads, so that check mode makes no difference.
    support: full
  diff_mode:
    description: Only reads, so that there is no difference to show.
    support: N/A
  idempotent:
    description: Only reads, so that it never changes anything.
    support: full
  async:
    description: Can run under C(async). It then runs as an ordinary module and not inside the controller process.
    support: full
"""

    ACTIONGROUP_MAAS = r"""
options: {}
attributes:
  action_group:
    description: Use C(group/metalshift.maas.maas) in C(module_defaults) to set options for all modules that use MAAS.
    support: full
    membership:
      - metalshift.maas.maas
"""

    ACTIONGROUP_K8S = r"""
options: {}
attributes:
  action_group:
    description:
      - Use C(group/metalshift.maas.maas) in C(module_defaults) to set options for all modules that use MAAS, and
        C(group/metalshift.maas.k8s) for those that use Kubernetes.
    support: full
    membership:
      - metalshift.maas.maas
      - metalshift.maas.k8s
"""

    ACTIONGROUP_LXD = r"""
options: {}
attributes:
  action_group:
    description: Use C(group/metalshift.maas.lxd) in C(module_defaults) to set options for all modules that use LXD.
    support: full
    membership:
      - metalshift.maas.lxd
"""

    ACTIONGROUP_KUBERNETES = r"""
options: {}
attributes:
  action_group:
    description:
      - Use C(group/metalshift.maas.k8s) in C(module_defaults) to set options for all modules that use Kubernetes.
    support: full
    membership:
      - metalshift.maas.k8s
"""

    ACTIONGROUP_MAAS_LXD = r"""
options: {}
attributes:
  action_group:
    description:
      - Use C(group/metalshift.maas.maas) in C(module_defaults) to set options for all modules that use MAAS, and
        C(group/metalshift.maas.lxd) for those that use LXD.
    support: full
    membership:
      - metalshift.maas.maas
      - metalshift.maas.lxd
"""
