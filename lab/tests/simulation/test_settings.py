# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from metalshift_lab.simulator.settings import SETTINGS


def write(maas: Any, name: str, value: str) -> Any:
    return maas("POST", "maas/?op=set_config", {"name": name, "value": value})


def read(maas: Any, name: str) -> Any:
    return maas("GET", f"maas/?op=get_config&name={name}").json()


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("upstream_dns", "1.1.1.1, 8.8.8.8", "1.1.1.1 8.8.8.8"),
        ("upstream_dns", "", ""),
        ("enable_http_proxy", "no", True),
        ("enable_http_proxy", "false", False),
        ("node_timeout", "45", 45),
        ("http_proxy", "http://proxy.example.com:3128/", "http://proxy.example.com:3128/"),
        ("remote_syslog", "log.example.com", "log.example.com:514"),
        ("default_storage_layout", "lvm", "lvm"),
        ("default_min_hwe_kernel", "hwe-24.04", "hwe-24.04"),
        ("kernel_opts", "console=ttyS0", "console=ttyS0"),
    ],
)
def test_a_setting_keeps_what_it_is_given(maas: Any, name: str, value: str, stored: Any) -> None:
    assert write(maas, name, value).text == "OK"
    assert read(maas, name) == stored


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("maas_name", "", "This field is required."),
        (
            "upstream_dns",
            "dns.example",
            "Invalid IP address: dns.example; provide a list of space-separated IP addresses",
        ),
        ("http_proxy", "proxy", "Enter a valid URL."),
        ("node_timeout", "0", "Ensure this value is greater than or equal to 1."),
        ("session_length", "9", "Ensure this value is greater than or equal to 10."),
        ("maas_proxy_port", "80", "Unable to change port number. Port number is reserved for system services."),
        ("maas_proxy_port", "5240", "Unable to change port number. Port number is reserved for MAAS services."),
        (
            "dnssec_validation",
            "maybe",
            "'maybe' is not a valid dnssec_validation.  It should be one of: 'auto', 'yes', 'no'.",
        ),
        ("default_storage_layout", "zfs", "Select a valid choice. zfs is not one of the available choices."),
        ("maas_auto_ipmi_user_privilege_level", "ROOT", "Valid choices are ADMIN, OPERATOR, or USER"),
    ],
)
def test_a_wrong_value_is_refused(maas: Any, name: str, value: str, message: str) -> None:
    before = read(maas, name)
    refused = write(maas, name, value)
    assert refused.status_code == 400
    assert refused.json() == {name: [message]}
    assert read(maas, name) == before


def test_every_setting_accepts_its_default(maas: Any) -> None:
    for name, setting in SETTINGS.items():
        if setting.default is None or setting.default == "":
            continue
        value = str(setting.default).lower() if isinstance(setting.default, bool) else str(setting.default)
        assert write(maas, name, value).ok, name


def test_only_administrators_write(plain: Any) -> None:
    assert read(plain, "node_timeout") == 30
    assert write(plain, "node_timeout", "1").status_code == 403
