# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person reads who starts a playbook with wrong variables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.metalshift.maas.plugins.action.playbook_variables import sentences

CREATE, SCALE = "metalshift.maas.create_hosted_cluster", "metalshift.maas.scale_node_pool"


def played(playbook: str, *variables: str) -> str:
    """What a run says that ends at its variables."""
    command = [str(Path(sys.executable).with_name("ansible-playbook")), playbook]
    command += [argument for variable in variables for argument in ("-e", variable)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)
    assert done.returncode == 2, done.stdout + done.stderr
    return done.stdout


@pytest.mark.smoke
def test_a_missing_variable_is_one_sentence_and_not_the_argument_spec() -> None:
    said = played(CREATE)
    assert "hosted_openshift_pull_secret and hosted_openshift_release are needed." in said
    assert "argument_spec" not in said
    assert max(map(len, said.splitlines())) < 400


def test_a_wrong_type_and_a_wrong_choice_are_named_with_the_variable() -> None:
    said = played(SCALE, "hosted_openshift_name=demo", "hosted_openshift_pool=a", "hosted_openshift_replicas=many")
    assert "hosted_openshift_replicas must be of type int." in said


def test_the_words_of_modules_become_those_of_playbooks() -> None:
    errors = [
        "missing required arguments: a, b, c",
        "argument 'count' is of type <class 'str'> and we were unable to convert to int: no",
        "value of size must be one of: small, large, got: huge",
    ]
    assert sentences(errors) == (
        "a, b and c are needed. count must be of type int. size must be one of small, large, and is huge."
    )
