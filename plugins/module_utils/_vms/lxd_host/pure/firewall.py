# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rules of ufw and firewalld let MAAS and virtual machines through, and which of them are ours.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.facts import HostFacts
from ansible_collections.metalshift.maas.plugins.module_utils._vms.lxd_host.pure.spec import HostSpec

# What ufw keeps with a rule, and takes off when somebody adds the same rule: then it is theirs.
MARK = "metalshift.maas"
MARKED = re.compile(r"^ufw (.*?) comment '" + re.escape(MARK) + "'$")
WRITTEN = re.compile(r"^ufw (.*?)( comment '.*')?$")

DROPS = re.compile(
    r"^-P FORWARD DROP|^-A FORWARD -j (REJECT|DROP)|hook forward priority [^;]+; policy drop;", re.MULTILINE
)
ACCEPTS = r"-i {0} -o {0} .*-j ACCEPT|--physdev-is-bridged .*-j ACCEPT|iifname \"{0}\" oifname \"{0}\" .*accept"


@dataclass(frozen=True)
class Network:
    """Who is let in: one address or several, as a firewall shows it. Everybody has no family."""

    given: str
    text: str
    family: str


@dataclass(frozen=True)
class FirewallRules:
    """What is to be done with the firewalls' rules. Each is written as its firewall shows it, to be found again."""

    # Those that ufw lacks.
    ufw: Sequence[str]
    # Those that firewalld is to have.
    firewalld: Sequence[str]
    # Ours that nobody needs any more, with the name of their firewall.
    closed: Sequence[str]
    # In our record, and somebody else's since.
    theirs: Sequence[str]
    # Those of firewalld that a killed run was about to add: whoever has them made them, perhaps.
    begun: Sequence[str]


def networks(texts: Sequence[str]) -> list[Network]:
    return [_network(str(text)) for text in texts]


def _network(text: str) -> Network:
    try:
        network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        return Network(text, "", "")
    single = network.prefixlen == network.max_prefixlen
    family = f"ipv{network.version}" if network.prefixlen else ""
    return Network(text, str(network.network_address if single else network), family)


def is_on(facts: HostFacts) -> tuple[bool, bool]:
    """Whether ufw is, and whether firewalld is."""
    return facts.ufw.startswith("Status: active"), facts.firewalld.strip() == "running"


def is_filtered(facts: HostFacts) -> bool:
    """Where the module br_netfilter is loaded, as for Kubernetes, what a bridge forwards passes the firewall."""
    return facts.bridged.strip() != "0"


def bridge_is_cut_off(spec: HostSpec, facts: HostFacts) -> bool:
    """Whether a firewall drops what the bridge forwards, and the role does not open it."""
    if not is_filtered(facts):
        return False
    ufw, firewalld = is_on(facts)
    accepts = re.compile(ACCEPTS.format(re.escape(spec.bridge)))
    drops = any(DROPS.search(text) and not accepts.search(text) for text in facts.rules)
    let_through = (ufw and spec.firewall) or not drops
    return not let_through or (firewalld and not (facts.forwards and (spec.firewall or bool(facts.zone))))


def wanted_of_ufw(spec: HostSpec, facts: HostFacts) -> list[str]:
    named = [f"allow from {each.text} to any port {spec.port} proto tcp" for each in networks(spec.allowed_from)]
    opened = list(dict.fromkeys(named)) or [f"allow {spec.port}/tcp"]
    return [*opened, *([_ufw_forward(spec)] if is_filtered(facts) else [])]


def wanted_of_firewalld(spec: HostSpec, facts: HostFacts) -> list[str]:
    opens = f'port port="{spec.port}" protocol="tcp" accept'
    named = [
        f'rich-rule=rule family="{each.family}" source address="{each.text}" {opens}'
        for each in networks(spec.allowed_from)
    ]
    opened = list(dict.fromkeys(named)) or [f"port={spec.port}/tcp"]
    return [*opened, *([_firewalld_forward(spec)] if is_filtered(facts) and not facts.zone else [])]


def _ufw_forward(spec: HostSpec) -> str:
    return f"route allow in on {spec.bridge} out on {spec.bridge}"


def _firewalld_forward(spec: HostSpec) -> str:
    """firewalld lets a zone forward between the interfaces that it names, and from one of them to itself."""
    return f"interface={spec.bridge}"


def rules(spec: HostSpec, facts: HostFacts) -> FirewallRules:
    """What the firewalls lack, and what they have of us that nobody needs any more. What the bridge forwards stays."""
    ufw, firewalld = wanted_of_ufw(spec, facts), wanted_of_firewalld(spec, facts)
    kept = {f"ufw {rule}" for rule in (*ufw, _ufw_forward(spec))}
    kept |= {f"firewalld {rule}" for rule in (*firewalld, _firewalld_forward(spec))}
    return FirewallRules(
        ufw=[rule for rule in ufw if rule not in _written(facts)],
        firewalld=firewalld,
        closed=[rule for rule in ours(facts) if rule not in kept],
        theirs=theirs(facts),
        begun=begun(facts),
    )


def ours(facts: HostFacts) -> list[str]:
    """The rules that we added for certain. ufw says so itself, unless it is not there to be asked."""
    of_others = theirs(facts)
    recorded = [f"ufw {rule}" for rule in facts.recorded("ufw")]
    marked = [f"ufw {rule}" for rule in _marked(facts)]
    of_ufw = [rule for rule in dict.fromkeys((*recorded, *marked)) if rule not in of_others]
    return [*of_ufw, *(f"firewalld {rule}" for rule in facts.recorded("firewalld"))]


def theirs(facts: HostFacts) -> list[str]:
    """The rules in our record that somebody else has added since: ufw took our mark off."""
    others = {*_written(facts)} - {*_marked(facts)}
    return [f"ufw {rule}" for rule in facts.recorded("ufw") if rule in others]


def begun(facts: HostFacts) -> list[str]:
    """firewalld keeps no marks: a rule counts as ours once it is recorded that we have added it."""
    return [rule for rule in facts.recorded("firewalld-begun") if rule not in facts.recorded("firewalld")]


def _marked(facts: HostFacts) -> list[str]:
    return [match[1] for line in facts.ufw_rules if (match := MARKED.match(line))]


def _written(facts: HostFacts) -> list[str]:
    return [match[1] for line in facts.ufw_rules if (match := WRITTEN.match(line))]
