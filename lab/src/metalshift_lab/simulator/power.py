# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Power types and their parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from metalshift_lab.simulator.errors import BadRequest
from metalshift_lab.simulator.forms import REQUIRED, Form
from metalshift_lab.simulator.http import Params

PREFIX = "power_parameters_"


@dataclass(frozen=True)
class Parameter:
    name: str
    label: str
    required: bool = False
    default: str = ""
    choices: tuple[str, ...] = ()
    many: bool = False
    secret: bool = False
    scope: str = "bmc"


POWER_TYPES: dict[str, tuple[Parameter, ...]] = {
    "amt": (
        Parameter("power_user", "AMT user", default="admin"),
        Parameter("power_pass", "Power password", secret=True),
        Parameter("port", "HTTP or HTTPS", choices=("16992", "16993"), default="16992"),
        Parameter("power_address", "Power address", required=True),
    ),
    "apc": (
        Parameter("power_address", "IP for APC PDU", required=True),
        Parameter("node_outlet", "APC PDU node outlet number (1-16)", required=True, scope="node"),
        Parameter("power_on_delay", "Power ON outlet delay (seconds)", default="5"),
        Parameter("pdu_type", "PDU type", choices=("RPDU", "MASTERSWITCH"), default="RPDU"),
    ),
    "dli": (
        Parameter("outlet_id", "Outlet ID", required=True, scope="node"),
        Parameter("power_address", "Power address", required=True),
        Parameter("power_user", "Power user"),
        Parameter("power_pass", "Power password", secret=True),
    ),
    "eaton": (
        Parameter("power_address", "IP for Eaton PDU", required=True),
        Parameter("node_outlet", "Eaton PDU node outlet number (1-24)", required=True, scope="node"),
        Parameter("power_on_delay", "Power ON outlet delay (seconds)", default="5"),
    ),
    "hmc": (
        Parameter("power_address", "IP for HMC", required=True),
        Parameter("power_user", "HMC username"),
        Parameter("power_pass", "HMC password", secret=True),
        Parameter("server_name", "HMC Managed System server name", required=True, scope="node"),
        Parameter("lpar", "HMC logical partition", required=True, scope="node"),
    ),
    "hmcz": (
        Parameter("power_address", "HMC Address", required=True),
        Parameter("power_user", "HMC username", required=True),
        Parameter("power_pass", "HMC password", required=True, secret=True),
        Parameter("power_partition_name", "HMC partition name", required=True, scope="node"),
        Parameter(
            "power_verify_ssl",
            "Verify certificate presented by the HMC during SSL/TLS handshake",
            required=True,
            choices=("n", "y"),
            default="y",
        ),
    ),
    "ipmi": (
        Parameter("power_driver", "Power driver", required=True, choices=("LAN", "LAN_2_0"), default="LAN_2_0"),
        Parameter("power_boot_type", "Power boot type", choices=("auto", "legacy", "efi"), default="auto"),
        Parameter("power_address", "IP address", required=True),
        Parameter("power_user", "Power user"),
        Parameter("power_pass", "Power password", secret=True),
        Parameter("k_g", "K_g BMC key", secret=True),
        Parameter("cipher_suite_id", "Cipher Suite ID", choices=("17", "3", "", "8", "12"), default="3"),
        Parameter("privilege_level", "Privilege Level", choices=("USER", "OPERATOR", "ADMIN"), default="OPERATOR"),
        Parameter(
            "workaround_flags",
            "Workaround Flags",
            choices=(
                "opensesspriv",
                "authcap",
                "idzero",
                "unexpectedauth",
                "forcepermsg",
                "endianseq",
                "intel20",
                "supermicro20",
                "sun20",
                "nochecksumcheck",
                "integritycheckvalue",
                "ipmiping",
                "",
            ),
            many=True,
            default="opensesspriv",
        ),
        Parameter("mac_address", "Power MAC", scope="node"),
        Parameter("power_off_mode", "Power off mode", choices=("soft", "hard"), default="hard"),
    ),
    "lxd": (
        Parameter("power_address", "LXD address", required=True),
        Parameter("instance_name", "Instance name", required=True, scope="node"),
        Parameter("project", "LXD project", required=True, default="default"),
        Parameter("password", "LXD password (optional)", secret=True),
        Parameter("certificate", "LXD certificate (optional)"),
        Parameter("key", "LXD private key (optional)", secret=True),
    ),
    "manual": (),
    "moonshot": (
        Parameter("power_address", "Power address", required=True),
        Parameter("power_user", "Power user"),
        Parameter("power_pass", "Power password", secret=True),
        Parameter("power_hwaddress", "Power hardware address", required=True, scope="node"),
    ),
    "mscm": (
        Parameter("power_address", "IP for MSCM CLI API", required=True),
        Parameter("power_user", "MSCM CLI API user"),
        Parameter("power_pass", "MSCM CLI API password", secret=True),
        Parameter(
            "node_id",
            "Node ID - Must adhere to cXnY format (X=cartridge number, Y=node number).",
            required=True,
            scope="node",
        ),
    ),
    "msftocs": (
        Parameter("power_address", "Power address", required=True),
        Parameter("power_port", "Power port"),
        Parameter("power_user", "Power user"),
        Parameter("power_pass", "Power password", secret=True),
        Parameter("blade_id", "Blade ID (Typically 1-24)", required=True, scope="node"),
    ),
    "nova": (
        Parameter("nova_id", "Host UUID", required=True, scope="node"),
        Parameter("os_tenantname", "Tenant name", required=True),
        Parameter("os_username", "Username", required=True),
        Parameter("os_password", "Password", required=True, secret=True),
        Parameter("os_authurl", "Auth URL", required=True),
    ),
    "openbmc": (
        Parameter("power_address", "OpenBMC address", required=True),
        Parameter("power_user", "OpenBMC user", required=True),
        Parameter("power_pass", "OpenBMC password", required=True, secret=True),
    ),
    "proxmox": (
        Parameter("power_address", "Proxmox host name or IP", required=True),
        Parameter("power_user", "Proxmox username, including realm", required=True),
        Parameter("power_pass", "Proxmox password, required if a token name and secret aren't given", secret=True),
        Parameter("power_token_name", "Proxmox API token name"),
        Parameter("power_token_secret", "Proxmox API token secret", secret=True),
        Parameter("power_vm_name", "Node ID", required=True, scope="node"),
        Parameter(
            "power_verify_ssl",
            "Verify SSL connections with system CA certificates",
            required=True,
            choices=("n", "y"),
            default="n",
        ),
    ),
    "raritan": (
        Parameter("power_address", "IP for Raritan PDU", required=True),
        Parameter("node_outlet", "Raritan PDU node outlet number", required=True, scope="node"),
        Parameter("power_on_delay", "Power ON outlet delay (seconds)", default="5"),
    ),
    "recs_box": (
        Parameter("node_id", "Node ID", required=True, scope="node"),
        Parameter("power_address", "Power address", required=True),
        Parameter("power_port", "Power port"),
        Parameter("power_user", "Power user"),
        Parameter("power_pass", "Power password", secret=True),
    ),
    "redfish": (
        Parameter("power_address", "Redfish address", required=True),
        Parameter("power_user", "Redfish user", required=True),
        Parameter("power_pass", "Redfish password", required=True, secret=True),
        Parameter("node_id", "Node ID", scope="node"),
    ),
    "sm15k": (
        Parameter("system_id", "System ID", required=True, scope="node"),
        Parameter("power_address", "Power address", required=True),
        Parameter("power_user", "Power user"),
        Parameter("power_pass", "Power password", secret=True),
        Parameter(
            "power_control",
            "Power control type",
            required=True,
            choices=("ipmi", "restapi", "restapi2"),
            default="ipmi",
        ),
    ),
    "ucsm": (
        Parameter("uuid", "Server UUID", required=True, scope="node"),
        Parameter("power_address", "URL for XML API", required=True),
        Parameter("power_user", "API user"),
        Parameter("power_pass", "API password", secret=True),
    ),
    "virsh": (
        Parameter("power_address", "Address", required=True),
        Parameter("power_pass", "Password (optional)", secret=True),
        Parameter("power_id", "Virsh VM ID", required=True, scope="node"),
    ),
    "vmware": (
        Parameter("power_vm_name", "VM Name (if UUID unknown)", scope="node"),
        Parameter("power_uuid", "VM UUID (if known)", scope="node"),
        Parameter("power_address", "VMware IP", required=True),
        Parameter("power_user", "VMware username", required=True),
        Parameter("power_pass", "VMware password", required=True, secret=True),
        Parameter("power_port", "VMware API port (optional)"),
        Parameter("power_protocol", "VMware API protocol (optional)"),
    ),
    "webhook": (
        Parameter("power_on_uri", "URI to power on the node", required=True),
        Parameter("power_off_uri", "URI to power off the node", required=True),
        Parameter("power_query_uri", "URI to query the nodes power status", required=True),
        Parameter("power_on_regex", "Regex to confirm the node is on", required=True, default="status.*\\:.*running"),
        Parameter("power_off_regex", "Regex to confirm the node is off", required=True, default="status.*\\:.*stopped"),
        Parameter("power_user", "Power user"),
        Parameter("power_pass", "Power password", secret=True),
        Parameter("power_token", "Power token, will be used in place of power_user and power_pass", secret=True),
        Parameter(
            "power_verify_ssl",
            "Verify SSL connections with system CA certificates",
            required=True,
            choices=("n", "y"),
            default="n",
        ),
    ),
    "wedge": (
        Parameter("power_address", "IP address", required=True),
        Parameter("power_user", "Power user"),
        Parameter("power_pass", "Power password", secret=True),
    ),
}


def given(data: Params) -> dict[str, Any] | None:
    """The power parameters of a request, flat or as one JSON string; None when there are none."""
    whole = data.get("power_parameters")
    if whole:
        try:
            values = json.loads(whole)
        except ValueError:
            raise BadRequest("Failed to parse JSON power_parameters") from None
        return values if isinstance(values, dict) else {}
    flat: dict[str, Any] = {}
    for key in data:
        if key.startswith(PREFIX):
            name = key[len(PREFIX) :]
            flat[name] = data.getlist(key) if name == "workaround_flags" else data.get(key)
    return flat or None


def clean(
    form: Form, power_type: str, values: dict[str, Any], current: dict[str, Any], *, skip_check: bool = False
) -> dict[str, Any]:
    """The parameters of a power type: those given over the current ones over the defaults. Errors go into the form."""
    parameters = POWER_TYPES.get(power_type, ())
    if skip_check:
        return {**current, **values}
    if not any(v not in ("", None, []) for v in {**current, **values}.values()) and any(
        p.required and not p.default for p in parameters
    ):
        form.fail("power_parameters", REQUIRED)
        return {}
    known = {parameter.name for parameter in parameters}
    if unknown := [name for name in values if name not in known]:
        form.fail("power_parameters", f"Unknown parameter(s): {', '.join(unknown)}.")
        return {}
    out: dict[str, Any] = {}
    for parameter in parameters:
        value = values.get(parameter.name, current.get(parameter.name))
        if value in (None, ""):
            value = [parameter.default] if parameter.many and parameter.default else parameter.default
        if parameter.required and value in ("", []):
            form.fail("power_parameters", f"{parameter.label}: {REQUIRED}")
        chosen = value if isinstance(value, list) else [value]
        for wrong in (str(v) for v in chosen if parameter.choices and v not in ("", *parameter.choices)):
            form.fail(
                "power_parameters",
                f"{parameter.label}: Select a valid choice. {wrong} is not one of the available choices.",
            )
        out[parameter.name] = chosen if parameter.many else value
    return out
