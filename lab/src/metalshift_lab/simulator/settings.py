# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MAAS's configuration: every setting with its default and what it accepts."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from metalshift_lab.simulator import names
from metalshift_lab.simulator.forms import Clean, Field, Wrong, at_most, choice, form_bool, integer, listed
from metalshift_lab.simulator.state import State

INTERVALS = ("0", "604800", "86400", "43200", "21600", "10800", "3600", "1800", "600")
LAYOUTS = ("bcache", "blank", "custom", "flat", "lvm", "vmfs6", "vmfs7")
LINK_TYPES = ("auto", "dhcp", "static", "link_up")
WORKAROUNDS = (
    "opensesspriv", "authcap", "idzero", "unexpectedauth", "forcepermsg", "endianseq", "intel20", "supermicro20",
    "sun20", "nochecksumcheck", "integritycheckvalue", "ipmiping", "",
)  # fmt: skip
URL = re.compile(
    r"https?://([a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}|localhost|[0-9.]+|\[[0-9a-f:]+\])(:\d+)?([/?#]\S*)?", re.I
)
SPAN = re.compile(r"(\d+(h|hr|hour|hours|m|min|minute|minutes|s|sec|second|seconds)\s*)+")
SEPARATORS = re.compile(r"[,\s]+")
MAAS_PORTS = range(5239, 5285)
SYSLOG_PORT = 5247


@dataclass(frozen=True)
class Setting:
    """`clean` makes the cleaner of a value in a state; `empty` is what an empty value is stored as."""

    name: str
    default: Any
    clean: Callable[[State], Clean]
    required: bool = False
    empty: Any = ""

    def field(self, state: State) -> Field:
        return Field(self.name, self.clean(state), required=self.required, empty=self.empty)


# -- what values look like ------------------------------------------------------------------------------------------


def always(clean: Clean) -> Callable[[State], Clean]:
    return lambda _state: clean


def url(value: str) -> str:
    if not URL.fullmatch(value):
        raise Wrong("Enter a valid URL.")
    return value


def port(own: int | None = None) -> Clean:
    def clean(value: str) -> int:
        number: int = integer()(value)
        if number == own:
            return number
        reason = ""
        if not 0 < number <= 65535:
            reason = "Port number is not between 0 - 65535."
        elif number <= 1023:
            reason = "Port number is reserved for system services."
        elif number in MAAS_PORTS:
            reason = "Port number is reserved for MAAS services."
        if reason:
            raise Wrong(f"Unable to change port number. {reason}")
        return number

    return clean


def addresses(value: str) -> str:
    found = [v for v in SEPARATORS.split(value) if v]
    for address in found:
        if not _is_address(address):
            raise Wrong(f"Invalid IP address: {address}; provide a list of space-separated IP addresses")
    return " ".join(found)


def networks(value: str) -> str:
    """Networks, addresses or host names."""
    found = [v for v in SEPARATORS.split(value) if v]
    for item in found:
        if re.fullmatch(r"[0-9.]+/\d+|[0-9a-fA-F:]+/\d+", item):
            if not _is_network(item):
                raise Wrong(f"Invalid network: {item}.")
        elif re.fullmatch(r"\d+\.\d+\.\d+\.\d+|[0-9a-fA-F]*:.*", item):
            if not _is_address(item):
                raise Wrong(f"Invalid IP address: {item}.")
        else:
            _host(item)
    return " ".join(found)


def hosts(value: str) -> str:
    """Addresses or host names."""
    found = [v for v in SEPARATORS.split(value) if v]
    for item in found:
        if ":" in item or re.fullmatch(r"\d+\.\d+\.\d+\.\d+", item):
            if not _is_address(item):
                raise Wrong(f"Failed to detect a valid IP address from '{item}'.")
        else:
            _host(item)
    return " ".join(found)


def _host(value: str) -> None:
    try:
        names.hostname(value)
    except Wrong as wrong:
        raise Wrong(f"Invalid hostname: {wrong.messages[0]}") from None


def _is_address(value: str) -> bool:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _is_network(value: str) -> bool:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return False
    return True


def syslog_server(value: str) -> str:
    host, _ignored, given = value.rpartition(":")
    return value if host and given.isdigit() else f"{value}:514"


def domain(value: str) -> str:
    if len(value) > 255 or not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9-]+)*", value):
        raise Wrong(f"Invalid domain name: {value}.")
    return value


def kg_key(value: str) -> str:
    if not re.fullmatch(r"0x[a-fA-F0-9]{40}|(?s:.{20})", value):
        raise Wrong(
            'Error: K_g must either be 20 characters in length, or 40 hexadecimal characters prefixed with "0x" '
            f"(current length is {len(value)})."
        )
    return value


def span(value: str) -> str:
    if not SPAN.fullmatch(value):
        units = "h|hr|hour|hours, m|min|minute|minutes, s|sec|second|seconds"
        raise Wrong(f"'{value}' is not a valid interval. Only '{units}' are valid units")
    return value


def one_of(options: Sequence[str], message: str) -> Clean:
    def clean(value: str) -> str:
        if value not in options:
            raise Wrong(message)
        return value

    return clean


# -- what depends on the images -------------------------------------------------------------------------------------


def systems(state: State) -> list[str]:
    """The operating systems there are images of; uploaded ones are "custom"."""
    found = {"custom" if "/" not in r.name else r.name.split("/")[0] for r in state.boot_resources}
    return sorted(found)


def releases(state: State, system: str) -> list[str]:
    if system == "custom":
        return sorted({r.name for r in state.boot_resources if "/" not in r.name})
    return sorted({r.name.split("/")[1] for r in state.boot_resources if r.name.startswith(f"{system}/")})


def _kernels(state: State) -> Clean:
    series = state.config.get("commissioning_distro_series", "noble")
    known = {k for r in state.boot_resources if r.name == f"ubuntu/{series}" for k in r.kernels if "-" in k}
    return listed("default_min_hwe_kernel", ["", *sorted(known)])


def _releases(state: State) -> Clean:
    return listed("release", releases(state, str(state.config.get("default_osystem", "ubuntu"))))


def _commissioning_releases(state: State) -> Clean:
    return listed("commissioning_distro_series", releases(state, "ubuntu"))


TEXT = always(str)
BOOL = always(form_bool)
NUMBER = always(integer())
COUNT = always(integer(1))

SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("maas_name", "", TEXT, required=True),
        Setting("theme", "", TEXT),
        Setting("kernel_opts", None, TEXT),
        Setting("enable_http_proxy", True, BOOL),
        Setting("maas_proxy_port", 8000, always(port()), empty=None),
        Setting("use_peer_proxy", False, BOOL),
        Setting("prefer_v4_proxy", False, BOOL),
        Setting("http_proxy", None, always(url)),
        Setting("default_dns_ttl", 30, NUMBER, empty=None),
        Setting("upstream_dns", None, always(addresses)),
        Setting("dnssec_validation", "auto", always(listed("dnssec_validation", ("auto", "yes", "no")))),
        Setting("maas_internal_domain", "maas-internal", always(domain)),
        Setting("dns_trusted_acl", None, always(networks)),
        Setting("ntp_servers", "ntp.ubuntu.com", always(hosts)),
        Setting("ntp_external_only", False, BOOL),
        Setting("allow_only_trusted_transfers", True, BOOL),
        Setting("remote_syslog", None, always(syslog_server), empty=None),
        Setting("maas_syslog_port", SYSLOG_PORT, always(port(SYSLOG_PORT)), empty=None),
        Setting("network_discovery", "enabled", always(listed("network_discovery", ("enabled", "disabled")))),
        Setting("active_discovery_interval", 10800, always(listed("active_discovery_interval", INTERVALS))),
        Setting("default_boot_interface_link_type", "auto", always(choice(LINK_TYPES)), required=True),
        Setting("default_osystem", "ubuntu", lambda state: listed("osystem", systems(state))),
        Setting("default_distro_series", "noble", _releases),
        Setting("default_min_hwe_kernel", "", _kernels),
        Setting("enable_kernel_crash_dump", False, BOOL),
        Setting("default_storage_layout", "flat", always(choice(LAYOUTS)), required=True),
        Setting("commissioning_distro_series", "noble", _commissioning_releases),
        Setting("enable_third_party_drivers", True, BOOL),
        Setting("windows_kms_host", None, TEXT),
        Setting("enable_disk_erasing_on_release", False, BOOL),
        Setting("disk_erase_with_secure_erase", True, BOOL),
        Setting("disk_erase_with_quick_erase", False, BOOL),
        Setting("boot_images_auto_import", True, BOOL),
        Setting("boot_images_no_proxy", False, BOOL),
        Setting("curtin_verbose", True, BOOL),
        Setting("force_v1_network_yaml", False, BOOL),
        Setting("enable_analytics", True, BOOL),
        Setting("completed_intro", False, BOOL),
        Setting("max_node_commissioning_results", 10, COUNT, empty=None),
        Setting("max_node_testing_results", 10, COUNT, empty=None),
        Setting("max_node_installation_results", 3, COUNT, empty=None),
        Setting("max_node_release_results", 3, COUNT, empty=None),
        Setting("subnet_ip_exhaustion_threshold_count", 16, COUNT, empty=None),
        Setting("release_notifications", True, BOOL),
        Setting("use_rack_proxy", True, BOOL),
        Setting("node_timeout", 30, COUNT, empty=None),
        Setting("prometheus_enabled", False, BOOL),
        Setting("prometheus_push_gateway", None, TEXT),
        Setting("prometheus_push_interval", 60, NUMBER, empty=None),
        Setting("promtail_enabled", False, BOOL),
        Setting("promtail_port", 5238, NUMBER, empty=None),
        Setting("enlist_commissioning", True, BOOL),
        Setting("maas_auto_ipmi_user", "maas", always(at_most(20))),
        Setting(
            "maas_auto_ipmi_user_privilege_level",
            "ADMIN",
            always(one_of(("USER", "OPERATOR", "ADMIN"), "Valid choices are ADMIN, OPERATOR, or USER")),
        ),
        Setting("maas_auto_ipmi_k_g_bmc_key", "", always(kg_key)),
        Setting(
            "maas_auto_ipmi_cipher_suite_id",
            "3",
            always(one_of(("17", "3", "", "8", "12"), "Valid choices are 17,3,,8,12")),
        ),
        Setting(
            "maas_auto_ipmi_workaround_flags",
            None,
            always(one_of(WORKAROUNDS, f"Valid choices are {', '.join(WORKAROUNDS)}")),
        ),
        Setting("vcenter_server", "", TEXT),
        Setting("vcenter_username", "", TEXT),
        Setting("vcenter_password", "", TEXT),
        Setting("vcenter_datacenter", "", TEXT),
        Setting("hardware_sync_interval", "15m", always(span)),
        Setting("tls_cert_expiration_notification_enabled", False, BOOL),
        Setting("tls_cert_expiration_notification_interval", 30, always(integer(1, 90)), empty=None),
        Setting("session_length", 1209600, always(integer(10, 1209600)), empty=None),
        Setting("auto_vlan_creation", True, BOOL),
    )
}


def value_of(state: State, name: str) -> Any:
    return state.config.get(name, SETTINGS[name].default)
