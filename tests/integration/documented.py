# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the README, of the roles' READMEs and of the guides, and where each is run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "roles/*/README.md", "docs/docsite/rst/*.rst")
FENCED = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^\.\. code-block:: (\w+)\n\n((?:    .*\n|\n)+)", re.MULTILINE)

SIMULATOR, LAB = "integration/test_documented.py", "hosted/test_documented_lab.py"
#: Each example, by its page and its number there: the test that runs it, or why none does.
EXAMPLES = {
    "README.md 1": "no playbook: ansible-galaxy reads it",
    "README.md 2": "integration/test_readme.py",
    "capi_provider_maas/README.md 1": "hosted/test_roles_capi_provider_maas.py",
    "capi_provider_maas/README.md 2": "hosted/test_roles_capi_provider_maas.py",
    "control_plane_vms/README.md 1": SIMULATOR,
    "hosted_openshift/README.md 1": LAB,
    "lxd_host/README.md 1": "lxd/test_role_lxd_host.py",
    "lxd_host/README.md 2": "no playbook: it needs a disk and zfs; lxd/test_role_lxd_host.py goes up to the command",
    "lxd_host/README.md 3": "lxd/test_role_lxd_host.py",
    "lxd_host/README.md 4": "no playbook: the molecule scenario has one like it, on a real Kubernetes",
    "lxd_maintenance/README.md 1": SIMULATOR,
    "hypershift_operator/README.md 1": "hosted/test_roles_hypershift_operator.py",
    "claims_guide.rst 1": SIMULATOR,
    "failures_guide.rst 1": SIMULATOR,
    "getting_started_guide.rst 1": SIMULATOR,
    "getting_started_guide.rst 2": SIMULATOR,
    "machines_guide.rst 1": SIMULATOR,
    "hosted_clusters_guide.rst 1": LAB,
    "hosted_clusters_guide.rst 2": LAB,
    "hosted_clusters_guide.rst 3": LAB,
    "networks_guide.rst 1": SIMULATOR,
    "networks_guide.rst 2": SIMULATOR,
    "vm_hosts_guide.rst 1": SIMULATOR,
    "vm_hosts_guide.rst 2": SIMULATOR,
    "vms_guide.rst 1": SIMULATOR,
    "vms_guide.rst 2": SIMULATOR,
    "lxd_guide.rst 1": "lxd/test_guide.py",
    "lxd_guide.rst 2": "lxd/test_guide.py",
    "lxd_guide.rst 3": "lxd/test_guide.py",
    "lxd_guide.rst 4": "lxd/test_guide.py",
    "lab_guide.rst 1": "no playbook: molecule reads it, and the roles' scenarios have one like it",
}


def blocks(kind: str = "yaml") -> Iterator[tuple[str, str]]:
    """The blocks of this kind, by their names."""
    for pattern in PAGES:
        for page in sorted(ROOT.glob(pattern)):
            name = str(page.relative_to(ROOT)) if page.parent == ROOT else page.name
            name = f"{page.parent.name}/{name}" if page.parent.parent.name == "roles" else name
            for number, text in enumerate(_of_page(page.read_text(), kind), 1):
                yield f"{name} {number}", text


def _of_page(text: str, kind: str) -> list[str]:
    fenced = FENCED.findall(text) if kind == "yaml" else []
    return fenced + [textwrap.dedent(block) for word, block in DIRECTIVE.findall(text) if word == kind]


def block(name: str, kind: str = "yaml") -> str:
    return dict(blocks(kind))[name]


def playbook(name: str, folder: Path, **words: str) -> str:
    """The example as a playbook that stands in this folder, with these words of it replaced; tasks become a play."""
    text = block(name)
    for old, new in words.items():
        text = text.replace(old, new)
    whole: list[dict[str, Any]] = yaml.safe_load(text)
    if not {"hosts", "ansible.builtin.import_playbook"} & whole[0].keys():
        whole = [{"hosts": "localhost", "gather_facts": False, "tasks": whole}]
    file = folder / "example.yml"
    file.write_text(yaml.safe_dump(whole, sort_keys=False))
    return str(file)
