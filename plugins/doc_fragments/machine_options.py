# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How machines are commissioned, deployed and released."""

from __future__ import annotations


class ModuleDocFragment:
    """Options that go into MAAS's requests."""

    DOCUMENTATION = r"""
options: {}
"""

    COMMISSION = r"""
options:
  commissioning_scripts:
    description:
      - The scripts, by name or tag, that discover a machine's hardware when it is commissioned.
      - If not set, MAAS runs those that its settings name.
    type: list
    elements: str
  testing_scripts:
    description:
      - The scripts, by name or tag, that test a machine when it is commissioned or tested. An empty list runs none.
      - If not set, MAAS runs those that its settings name.
    type: list
    elements: str
  enable_ssh:
    description: Whether the machine stays powered on and reachable by SSH after commissioning or testing.
    type: bool
  skip_bmc_config:
    description: Whether commissioning leaves the BMC's user and password as they are.
    type: bool
  skip_networking:
    description: Whether commissioning keeps the network configuration that the machine has in MAAS.
    type: bool
  skip_storage:
    description: Whether commissioning keeps the storage configuration that the machine has in MAAS.
    type: bool
"""

    DEPLOY = r"""
options:
  osystem:
    description:
      - The operating system to deploy, such as V(ubuntu) or V(custom). Needs O(distro_series).
      - It can be given in O(distro_series) as well, as V(ubuntu/noble).
    type: str
  distro_series:
    description:
      - The release or image to deploy, such as V(noble).
      - If not set, MAAS deploys the default of its settings.
      - An image that MAAS does not have is refused before anything is done, also in check mode. There one whose name
        begins with V(custom/) is a warning, since an earlier task may be the one that uploads it.
      - A machine that is deployed already keeps what it has; the task warns if that is something else.
    type: str
  hwe_kernel:
    description:
      - The kernel to deploy, such as V(hwe-24.04).
      - MAAS replaces a kernel that it does not know by the default of the release, and does not say so. One that it
        does not have is refused here, and the task warns if another one was deployed.
      - A machine that is deployed already keeps its kernel; the task warns if that is another one.
    type: str
  user_data:
    description:
      - What cloud-init is given on the first boot, as text. It is encoded by the module.
      - A mapping is refused. The task warns of a text that cloud-init would ignore for its first line.
      - A machine that is deployed already keeps what it has. MAAS does not say what that is, so there is no warning.
      - Never shown, for it often holds secrets.
    type: raw
  user_data_file:
    description: A file with what O(user_data) would hold. It may be binary, such as a compressed archive.
    type: path
  ephemeral_deploy:
    description: Whether the operating system runs in memory, leaving the disks alone.
    type: bool
  enable_hw_sync:
    description: Whether the deployed machine keeps telling MAAS about changes of its hardware.
    type: bool
"""

    RELEASE = r"""
options:
  erase:
    description:
      - Whether a release erases the machine's disks.
      - If not set, MAAS's own setting decides.
      - A machine in the status V(Failed disk erasing) needs it to be said, because its disks may still hold data.
    type: bool
  quick_erase:
    description: Whether the erasing only wipes the beginning and the end of each disk. Implies O(erase=true).
    type: bool
  secure_erase:
    description: Whether the erasing uses the disks' own secure erase where they have it. Implies O(erase=true).
    type: bool
  force:
    description: Whether a machine is released or deleted even if it runs virtual machines that MAAS knows.
    type: bool
"""

    COMMENT = r"""
options:
  comment:
    description: A reason, kept in the events that MAAS records of what is done to the machine.
    type: str
  take_over:
    description:
      - Whether a machine may be taken from another claim, from a hosted cluster or from another user of MAAS.
      - Without it such a machine is refused as soon as anything would have to be done to it.
    type: bool
    default: false
"""
