# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import yaml

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.certificates.pure.judgement import REASONS
from ansible_collections.metalshift.maas.plugins.modules import node_csr


def test_the_documentation_says_what_each_reason_means() -> None:
    """And which may pass, out of the table that the code goes by."""
    told = yaml.safe_load(node_csr.RETURN)["certificate_requests"]["contains"]["reason"]["description"]
    expected = [
        f"V({name}){' (passing)' if reason.passing else ''} - {reason.meaning}" for name, reason in REASONS.items()
    ]
    assert told[-len(expected) :] == expected
