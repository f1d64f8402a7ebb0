# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an LXD host is taken back, what stays and for whom, and what is no longer recorded then.

What is ours is in the record. What projects share goes with the last one that uses it, and its line goes with it, so
that the record says at any moment what is still there.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure import firewall
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.facts import Object
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.host import Host, users_of_pool

# The lines about what is in LXD.
IN_LXD = ("certificate", "listen", "project", "limit", "pool")


@dataclass(frozen=True)
class Trust:
    """A certificate of ours: the projects that it keeps; none, and it goes."""

    fingerprint: str
    name: str
    projects: Sequence[str]

    def as_result(self) -> dict[str, Any]:
        return {"fingerprint": self.fingerprint, "name": self.name, "projects": list(self.projects)}


@dataclass(frozen=True)
class Removal:
    """What is to be done, in this order."""

    trust: Sequence[Trust]
    project: bool
    # Those that go, and the sentences of those that stay.
    pools: Sequence[str]
    # Whether nobody else uses what projects share: the listening address, rules, pools, the bridge and LXD.
    shared: bool
    listen: bool
    rules: Sequence[str]
    # Why something stays, in sentences.
    stays: Sequence[str]
    # Lines of the record that nothing belongs to any more once this is done.
    forgotten: Sequence[str]

    def as_result(self) -> dict[str, Any]:
        return {
            "trust": [each.as_result() for each in self.trust],
            "project": self.project,
            "pools": list(self.pools),
            "shared": self.shared,
            "listen": self.listen,
            "rules": list(self.rules),
            "stays": list(self.stays),
            "forgotten": list(self.forgotten),
        }


# -- may it be done at all -------------------------------------------------------------------------


def obstacle(host: Host) -> str:
    """Why nothing may be taken back; empty if it may."""
    return _in_use(host) or _silent(host)


def _in_use(host: Host) -> str:
    project = host.spec.project
    instances = [f"{each['name']} ({str(each.get('status', '')).lower()})" for each in host.facts.instances_of(project)]
    volumes = [f"the volume {name}" for name, owner in host.facts.volumes() if owner == project]
    left = [*instances, *volumes]
    if not left:
        return ""
    them = "them" if len(left) > 1 else "it"
    return (
        f"{host.facts.host} stays an LXD host, and nothing was changed, while its project {project} has "
        f"{', '.join(left)}. Delete {them} first, in MAAS if MAAS knows {them}."
    )


def _silent(host: Host) -> str:
    """Of an LXD that does not answer, nobody knows what it has."""
    facts = host.facts
    if not facts.is_silent:
        return ""
    stays = f"{facts.host} stays an LXD host, and nothing was changed: its LXD does not answer"
    start = f"systemctl start {host.service}; journalctl -u {host.service} says why it does not run"
    if facts.on_disk:
        return (
            f"{stays}, and has {', '.join(facts.on_disk)} on disk. Start it ({start}), and delete there what nobody "
            "needs."
        )
    known = facts.is_silent_and_empty or facts.host in host.spec.discard_unanswered
    if known or not (facts.record or host.registered):
        return ""
    return (
        f"{stays}, so that nobody knows what it has. Start it ({start}). If nobody needs what it may have, name "
        f"{facts.host} in lxd_host_discard_unanswered."
    )


# -- what is done ----------------------------------------------------------------------------------


def removal(host: Host) -> Removal:
    facts, project = host.facts, host.spec.project
    trust, others = own_trust(host), users(host)
    pools, kept = _pools(host)
    rules = firewall.ours(facts)
    stays = [f"{facts.host} stays an LXD host: {_listed(others)} {_use(others)} it."] if others else []
    gone = [] if others else pools
    lines = [
        *_lines_of_trust(host, trust),
        *(line for line in facts.record if line == f"project {project}" or line.startswith(f"limit {project} ")),
        *([] if others else ["listen"]),
        *(f"pool {name}" for name in facts.recorded("pool") if name in gone or not facts.pool(name)),
    ]
    return Removal(
        trust=trust,
        project=project in facts.recorded("project") and bool(host.project),
        pools=gone,
        shared=not others,
        listen=not others and "listen" in facts.record and bool(facts.listens_on),
        rules=[] if others else rules,
        stays=[*stays, *([] if others else kept)],
        # An LXD that does not answer, and that nobody needs, goes with all that it has.
        forgotten=[line for line in facts.record if (line in lines if facts.answers else line.split()[0] in IN_LXD)],
    )


def users(host: Host) -> list[str]:
    """Who needs the host besides the project that goes."""
    project = host.spec.project
    ours = {each.fingerprint for each in own_trust(host)}
    projects = [str(each["name"]) for each in host.facts.projects if each["name"] not in ("default", project)]
    certificates = [
        str(each.get("name") or str(each["fingerprint"])[:12])
        for each in host.facts.certificates
        if each["fingerprint"] not in ours and each.get("type", "client") == "client" and _needs_more(each, project)
    ]
    instances = [str(each["name"]) for each in host.facts.instances if each.get("project", "default") != project]
    volumes = [name for name, owner in host.facts.volumes() if owner != project]
    named = {"project": projects, "certificate": certificates, "instance": instances, "volume": volumes}
    return [f"{kind} {name}" for kind, names in named.items() for name in names]


def _needs_more(certificate: Object, project: str) -> bool:
    """Whether it gives a right that does not go with the project."""
    return not certificate.get("restricted") or bool({*(certificate.get("projects") or ())} - {project})


def own_trust(host: Host) -> list[Trust]:
    """Ours that give rights in the project. One that we trust for other projects too keeps those."""
    project, names = host.spec.project, host.facts.recorded("certificate")
    return [
        Trust(str(each["fingerprint"]), str(each["name"]), [name for name in each["projects"] if name != project])
        for each in host.facts.certificates
        if each.get("restricted") and each.get("name") in names and project in (each.get("projects") or ())
    ]


def _lines_of_trust(host: Host, trust: Sequence[Trust]) -> list[str]:
    """Of names under which no certificate stays that may be ours."""
    gone = {each.fingerprint for each in trust if not each.projects}
    stay = {each.get("name") for each in host.facts.certificates if each["fingerprint"] not in gone}
    return [f"certificate {name}" for name in host.facts.recorded("certificate") if name not in stay]


def _pools(host: Host) -> tuple[list[str], list[str]]:
    """The pools that we made and nobody else uses, and sentences about those that others use."""
    made = [pool for name in host.facts.recorded("pool") if (pool := host.facts.pool(name))]
    using: Mapping[str, list[str]] = {str(pool["name"]): users_of_pool(host, pool) for pool in made}
    kept = [
        f"The storage pool {name} stays, since others use it ({', '.join(others)})."
        for name, others in using.items()
        if others
    ]
    return [name for name, others in using.items() if not others], kept


def left(host: Host) -> list[str]:
    """What keeps LXD itself on the machine, once the rest is taken back; in check mode, once it would be."""
    plan = removal(host)
    facts = host.facts
    projects = [str(each["name"]) for each in facts.projects if each["name"] != "default"]
    pools = [str(each["name"]) for each in facts.pools]
    if facts.check:
        projects = [name for name in projects if not (plan.project and name == host.spec.project)]
        pools = [name for name in pools if name not in plan.pools]
    return [
        *facts.on_disk,
        *(f"instance {each['name']}" for each in facts.instances),
        *(f"project {name}" for name in projects),
        *(f"pool {name}" for name in pools),
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def _use(names: Sequence[str]) -> str:
    return "use" if len(names) > 1 else "uses"
