# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options with which modules say how machines are commissioned, deployed and released.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import Options

COMMISSION_OPTIONS: Options = {
    "commissioning_scripts": {"type": "list", "elements": "str"},
    "testing_scripts": {"type": "list", "elements": "str"},
    "enable_ssh": {"type": "bool"},
    "skip_bmc_config": {"type": "bool"},
    "skip_networking": {"type": "bool"},
    "skip_storage": {"type": "bool"},
}

DEPLOY_OPTIONS: Options = {
    "osystem": {"type": "str"},
    "distro_series": {"type": "str"},
    "hwe_kernel": {"type": "str"},
    # Not a text, for Ansible would make one of a mapping, and that none that anything on the machine reads.
    "user_data": {"type": "raw", "no_log": True},
    "user_data_file": {"type": "path"},
    "ephemeral_deploy": {"type": "bool"},
    "enable_hw_sync": {"type": "bool"},
}

RELEASE_OPTIONS: Options = {
    "erase": {"type": "bool"},
    "quick_erase": {"type": "bool"},
    "secure_erase": {"type": "bool"},
    "force": {"type": "bool"},
}

COMMENT_OPTIONS: Options = {
    "comment": {"type": "str"},
    "take_over": {"type": "bool", "default": False},
}


# What cloud-init knows a part by, and Ignition, which images of CoreOS have in its place.
KNOWN_HEADS = (
    b"#cloud-config",
    b"#!",
    b"#include",
    b"#cloud-boothook",
    b"#part-handler",
    b"#upstart-job",
    b"## template:",
    b"Content-Type:",
    b"MIME-Version:",
    b"From ",
    b"\x1f\x8b",
    b"#ps1",
    b"rem cmd",
    b"{",
)


def doubt_user_data(data: bytes | None) -> list[str]:
    """What is to be said of user data that nothing on the machine is going to read."""
    if not data or data.startswith(KNOWN_HEADS):
        return []
    return [
        "cloud-init ignores user_data that begins as this one does: "
        "its first line has to be #cloud-config, #! and a program, or the head of a MIME message."
    ]


def user_data(params: Mapping[str, Any]) -> bytes | None:
    """What cloud-init is to be given, from the option that holds it or the one that names a file."""
    text, path = params.get("user_data"), params.get("user_data_file")
    if text is not None and not isinstance(text, str):
        raise invalid(
            f"user_data is a {'mapping' if isinstance(text, Mapping) else type(text).__name__} and not a text.",
            "Write a text block, as in `user_data: |`, or add `| to_nice_yaml` or `| to_json` to an expression.",
        )
    if text and path:
        raise invalid("user_data and user_data_file exclude each other.", "Give one of them.")
    if not path:
        return text.encode() if text else None
    try:
        return Path(os.path.expanduser(path)).read_bytes()
    except (OSError, ValueError) as error:
        # A path with a null byte, or half of a character, is no path for the operating system.
        why = (getattr(error, "strerror", None) or "this is no path").lower()
        raise invalid(f"user_data_file cannot be read: {path!r} ({why}).") from error
