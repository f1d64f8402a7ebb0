# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleFilterError

from ansible_collections.metalshift.maas.plugins.filter import provider_id


def test_the_filter_bears_its_name() -> None:
    assert list(provider_id.FilterModule().filters()) == ["provider_id"]


def test_the_first_example_gives_what_it_says() -> None:
    example = yaml.safe_load(provider_id.EXAMPLES)[0]
    text = example["vars"]["node"]["spec"]["providerID"]
    assert provider_id.provider_id(text) == yaml.safe_load(provider_id.RETURN)["_value"]["sample"]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "metalshift.maas.provider_id: The providerID is empty"),
        ("aws:///a/b", "is one of aws, not of MAAS"),
        (None, "takes a text, not a NoneType"),
        ({"spec": {}}, "takes a text, not a dict"),
    ],
)
def test_bad_input_is_one_sentence(value: Any, says: str) -> None:
    with pytest.raises(AnsibleFilterError, match=says) as told:
        provider_id.provider_id(value)
    assert str(told.value).count("\n") == 0
