# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from metalshift_lab.kube.provider import settings, versions
from metalshift_lab.kube.provider.conditions import V1BETA2

KUBECONFIG = {"KUBECONFIG": "/nowhere"}
ARGUMENTS = ("--v=2", "--leader-elect=true", "--sync-period=15m", "--namespace=clusters-demo")
PACKAGES = Path(settings.__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("registry.example:5000/capi/controller:v4.9.5-spectro", "v4.9.5-spectro"),
        ("controller:v0.9.0@sha256:abc", "v0.9.0"),
        ("registry.example:5000/capi/controller", ""),
    ],
)
def test_an_image_says_its_version(image: str, tag: str) -> None:
    assert versions.tag_of(image) == tag


def test_the_version_that_is_told_counts_more_than_the_image() -> None:
    told = {**KUBECONFIG, "LAB_IMAGE": "c:v4.9.5-spectro", "LAB_PROVIDER": "v0.9.0"}
    assert settings.parse(ARGUMENTS, told).behaviour.contract is V1BETA2


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"LAB_IMAGE": "c:v1.2.3"}, "The lab cannot stand in for the provider v1.2.3; it knows v4.9.5-spectro, "),
        ({"LAB_IMAGE": "c"}, "The lab cannot stand in for a provider without a version (LAB_IMAGE is 'c'); it knows "),
    ],
)
def test_an_unknown_version_is_one_sentence(environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(LookupError) as refused:
        settings.parse(ARGUMENTS, {**KUBECONFIG, **environment})
    assert refused.value.args[0].startswith(sentence)


def test_an_unknown_version_ends_the_program() -> None:
    environment = {**KUBECONFIG, "PYTHONPATH": str(PACKAGES), "LAB_IMAGE": "c:v1.2.3"}
    command = [sys.executable, "-m", "metalshift_lab.kube.provider", *ARGUMENTS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_arguments_are_those_of_the_deployment() -> None:
    told = settings.parse(ARGUMENTS, {**KUBECONFIG, "LAB_IMAGE": "c:v0.9.0", "LAB_SPEED": "60"})
    assert (told.leader_elect, told.sync_period, told.namespace) == (True, 900, "clusters-demo")
    assert told.speed.seconds(120) == 2


@pytest.mark.parametrize(("text", "seconds"), [("15m", 900), ("1h30m", 5400), ("90s", 90), ("1.5s", 1.5)])
def test_a_duration_is_written_as_in_go(text: str, seconds: float) -> None:
    assert settings.duration(text) == seconds


def test_the_key_is_not_shown() -> None:
    told = settings.parse(ARGUMENTS, {**KUBECONFIG, "LAB_IMAGE": "c:v0.9.0", "MAAS_API_KEY": "a:b:secret"})
    assert "secret" not in repr(told)


@pytest.mark.parametrize(
    ("speed", "real", "seconds"),
    [("1", 30, 30), ("1", None, 900), ("1", 1000, 900), ("60", 300, 5), ("60", None, 15), ("240", 30, 0.5)],
)
def test_the_next_look_comes_in_the_lab_s_time(speed: str, real: float | None, seconds: float) -> None:
    told = settings.parse(ARGUMENTS, {**KUBECONFIG, "LAB_IMAGE": "c:v0.9.0", "LAB_SPEED": speed})
    assert told.again(real) == seconds
