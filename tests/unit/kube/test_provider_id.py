# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.provider_id import (
    ProviderId,
    parse,
    system_id_of,
)

READ = [
    ("maas:///az1/abc123", ProviderId("az1", "abc123", "maas")),
    ("maas:///my zone/abc123", ProviderId("my zone", "abc123", "maas")),
    ("maas://az1/abc123", ProviderId("az1", "abc123", "maas")),
    ("maas:///abc123", ProviderId("", "abc123", "maas")),
    ("maas://abc123", ProviderId("", "abc123", "maas")),
    ("maas-lxd:///az1/abc123", ProviderId("az1", "abc123", "maas-lxd")),
    ("maas-lxd://az1/abc123", ProviderId("az1", "abc123", "maas-lxd")),
    ("maas-lxd://abc123", ProviderId("", "abc123", "maas-lxd")),
]

UNREADABLE = [
    ("", "The providerID is empty"),
    ("  ", "The providerID is empty"),
    ("aws:///us-east-1a/i-0123", "is one of aws, not of MAAS"),
    ("maas:///", "does not read maas:///ZONE/SYSTEM_ID"),
    ("maas:///az1/", "does not read maas:///ZONE/SYSTEM_ID"),
    ("maas:///az1/abc123/", "does not read maas:///ZONE/SYSTEM_ID"),
    ("maas:///az1/pool/abc123", "does not read maas:///ZONE/SYSTEM_ID"),
    ("maas:////az1/abc123", "does not read maas:///ZONE/SYSTEM_ID"),
    ("maas:///az1/ABC123", "does not read maas:///ZONE/SYSTEM_ID"),
    ("maas:/az1/abc123", "does not read maas:///ZONE/SYSTEM_ID"),
    ("abc123", "does not read maas:///ZONE/SYSTEM_ID"),
    ("maas:///az1/abc123\n", "does not read maas:///ZONE/SYSTEM_ID"),
]


@pytest.mark.parametrize(("text", "found"), READ)
def test_every_form_is_read(text: str, found: ProviderId) -> None:
    assert parse(text) == found
    assert system_id_of({"spec": {"providerID": text}}) == found.system_id


@pytest.mark.parametrize(("text", "says"), UNREADABLE)
def test_what_names_no_machine_is_told_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as told:
        parse(text)
    assert str(told.value).endswith(".")
    assert system_id_of({"spec": {"providerID": text}}) == ""


def test_the_provider_writes_the_system_id_first() -> None:
    assert system_id_of({"spec": {"systemID": "abc123"}}) == "abc123"
    assert system_id_of({"spec": {"systemID": "abc123", "providerID": "maas:///az1/zzz999"}}) == "abc123"


def test_an_object_without_a_machine_names_none() -> None:
    assert system_id_of({}) == ""
