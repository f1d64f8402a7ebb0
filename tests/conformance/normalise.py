# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace run-specific values in recorded answers, so that two runs can be compared.

Values the client chose itself (MACs, IPs, names it sent) are kept; values the
server generated become placeholders such as ``<int>``, ``<mac>`` or ``<time>``.
Objects the scripts refer to (see ``session.Ref``) become ``{label}``.
"""

import json
import re

MAC = re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.I)
IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])")
UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.I)
HASH = re.compile(r"\b(?:[0-9a-f]{96}|[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b")
PEM = re.compile(r"-----BEGIN [A-Z0-9 ]+-----.*?-----END [A-Z0-9 ]+-----\n?", re.S)
EPOCH = re.compile(r"\b1[6-9]\d{8}(?:\.\d+)?\b")
RESOLVED = re.compile(r"\b((?:not_)?(?:subnets|vlans)=)\d+(?:,\d+)*(?![\d.])")
PAGE = re.compile(r"\b((?:after|before)=)\d+")
FAILURE = re.compile(r"(Marking node failed - ).*")
OBJECT = re.compile(r"\b((?:VM Host|Pod|Machine|Node|Subnet|VLAN|Interface|BMC) |subnet-)\d+\b")
# Lists of permitted values have no fixed order; numbers in them are ids.
QUOTED = re.compile(r"(?<=one of: )'[^']*'(?:, '[^']*')*")
WORDS = re.compile(r"(?<=is not one of )[A-Z]+(?: [A-Z]+)+")
CHOICE = re.compile(r"(?<=valid choice\. )\d+(?= is not)|(?<=with id=)\d+\b|(?<=')\d+(?=' is not)")
ADDR = re.compile(r"(?<= at )0x[0-9a-f]{6,}\b")
TIMES = [
    re.compile(
        r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{1,2} \w{3,4}\.? \d{4} \d{2}:\d{2}:\d{2}(?: ?[+-]\d{4}| GMT| UTC)?"
    ),
    re.compile(r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?"),
]
URI_NUMBER = re.compile(r"(?<=/)\d+(?=/|$)")
PETNAME = re.compile(r"^[a-z]+-[a-z]+$")
HOST = re.compile(r"^[A-Za-z0-9.-]+$")
SYSTEM_ID = re.compile(r"^[a-z0-9]{6}$")

# Numbers and texts that identify an object: compared for presence and type only.
ID_KEYS = re.compile(r"^(id|.*_id|serial)$")
NOT_ID_KEYS = {"cipher_suite_id", "auth_id", "device_id", "vendor_id", "product_id"}
SYSTEM_ID_KEYS = {"system_id", "primary_rack", "secondary_rack"}
SECRET_KEYS = {"token", "token_key", "token_secret", "consumer_key", "consumer_secret", "secret", "api_key"}
PEM_KEYS = {"certificate", "key"}
TIME_KEYS = {
    "created",
    "updated",
    "last_seen",
    "first_seen",
    "last_login",
    "date_joined",
    "last_applied",
    "starttime",
    "endtime",
    "runtime",
    "estimated_runtime",
}
# IP addresses under these keys are arithmetic on the client's input, not allocations.
KEEP_IP_KEYS = {
    "start",
    "end",
    "start_ip",
    "end_ip",
    "gateway_ip",
    "cidr",
    "subnet",
    "dns_servers",
    "network",
    "netmask",
}
LONG_TEXT = 400


class Normaliser:
    """Collects what one area sent and saw, then rewrites its exchanges."""

    def __init__(self, replacements, seed_ips=()):
        self.replacements = [(a, b) for a, b in replacements if a]  # exact texts
        self.sent = set()  # what the client sent, whole and in pieces
        self.whole = set()
        self.macs = set()
        self.ips = set(seed_ips)
        self.bmc_ips = set()  # addresses of BMCs: kept as such only, an allocation may coincide
        self.system_ids = {}
        self.hostnames = set()

    # -- learning ---------------------------------------------------------
    def learn_sent(self, value):
        if isinstance(value, dict):
            self.learn_sent(list(value.items()))
        elif isinstance(value, (list, tuple)):
            if len(value) == 2 and isinstance(value[0], str) and value[0].startswith("power_parameters"):
                self.sent.add(value[1])
                self.bmc_ips.update(IPV4.findall(str(value[1])))
                return
            for v in value:
                self.learn_sent(v)
        elif isinstance(value, str):
            self.whole.add(value)
            self.sent.add(value)
            self.sent.update(re.split(r"[\s,.:=/]+", value))
            self.macs.update(m.lower() for m in MAC.findall(value))
            self.ips.update(IPV4.findall(value))

    def learn_ref(self, label, value):
        if isinstance(value, str) and SYSTEM_ID.match(value):
            self.system_ids[value] = f"{{{label}}}"

    def learn_body(self, body, path=""):
        if isinstance(body, list):
            for v in body:
                self.learn_body(v, path)
        elif isinstance(body, dict):
            for k, v in body.items():
                if k in SYSTEM_ID_KEYS and isinstance(v, str) and SYSTEM_ID.match(v):
                    self.system_ids.setdefault(v, "<system_id>")
                elif isinstance(v, str) and PETNAME.match(v) and v not in self.sent:
                    if k == "hostname" or (k == "name" and "vm-hosts" in path):
                        self.hostnames.add(v)
                elif isinstance(v, (dict, list)):
                    self.learn_body(v, path)

    # -- rewriting --------------------------------------------------------
    def text(self, s, key=""):
        for a, b in self.replacements:
            s = s.replace(a, b)
        s = PEM.sub("<pem>", s)
        for sid, label in self.system_ids.items():
            if sid in s:
                s = re.sub(rf"(?<![A-Za-z0-9]){sid}(?![A-Za-z0-9])", lambda m, label=label: label, s)
        for h in self.hostnames:
            if h in s:
                s = re.sub(rf"(?<![A-Za-z0-9-]){h}(?![A-Za-z0-9-])", "<hostname>", s)
        s = UUID.sub("<uuid>", s)
        s = HASH.sub(lambda m: m.group() if m.group() in self.sent else "<hash>", s)
        for t in TIMES:
            s = t.sub("<time>", s)
        s = EPOCH.sub("<epoch>", s)
        s = PAGE.sub(r"\1<int>", s)
        s = FAILURE.sub(r"\1<reason>", s)
        s = OBJECT.sub(r"\1<int>", s)
        s = QUOTED.sub(
            lambda m: "<int>" if re.match(r"'\d+'", m.group()) else ", ".join(sorted(m.group().split(", "))), s
        )
        s = WORDS.sub(lambda m: " ".join(sorted(m.group().split())), s)
        s = CHOICE.sub(lambda m: m.group() if m.group() in self.whole else "<int>", s)
        s = RESOLVED.sub(r"\1<int>", s)
        s = MAC.sub(lambda m: m.group() if m.group().lower() in self.macs else "<mac>", s)
        if key not in KEEP_IP_KEYS:
            keep = self.ips | self.bmc_ips if key.startswith("power_") else self.ips
            s = IPV4.sub(lambda m: m.group() if m.group() in keep else "<ip>", s)
        s = ADDR.sub("<addr>", s)
        if "/api/2.0/" in s:
            s = URI_NUMBER.sub("<int>", s)
        return s

    def value(self, v, key=""):
        if key == "constraints_by_type":
            return self.ids(v)
        if isinstance(v, dict):
            return self.mapping(v)
        if isinstance(v, list):
            return [self.value(x, key) for x in v]
        if isinstance(v, bool) or v is None:
            return v
        if isinstance(v, (int, float)):
            if key in TIME_KEYS:
                return "<time>"
            return "<int>" if ID_KEYS.match(key) else v
        if key in SECRET_KEYS and v:
            return "<secret>"
        if key in PEM_KEYS and "BEGIN" in v:
            return "<pem>"
        if key in TIME_KEYS and v:
            return "<time>"
        if key == "error_description" and v and v not in self.sent:
            return "<reason>"
        if key in ("hostname", "fqdn") and HOST.match(v) and v.split(".")[0] not in self.sent:
            return "<hostname>" + ("." + v.split(".", 1)[1] if "." in v else "")
        if key.endswith("_id") and v.isdigit() and key not in NOT_ID_KEYS:
            return "<int>"
        return self.text(v, key)

    def ids(self, v):
        """A structure in which every number is an id."""
        if isinstance(v, dict):
            return self.mapping(v, lambda x, _: self.ids(x))
        if isinstance(v, list):
            return [self.ids(x) for x in v]
        return "<int>" if isinstance(v, int) else v

    def mapping(self, d, convert=None):
        groups = {}
        for k, v in d.items():
            groups.setdefault("<int>" if k.isdigit() else self.text(k), []).append((convert or self.value)(v, k))
        out = {}
        for k, values in groups.items():  # several objects keyed by generated ids
            for n, v in enumerate(sorted(values, key=lambda v: json.dumps(v, sort_keys=True))):
                out[k if n == 0 else f"{k}#{n + 1}"] = v
        return out

    def body(self, body):
        if isinstance(body, str):
            s = self.text(body)
            return s if len(s) <= LONG_TEXT else s[:LONG_TEXT] + "…"
        return self.value(body)
