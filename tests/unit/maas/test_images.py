# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of images and kernels, beside those that MAAS has."""

from __future__ import annotations

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.images import Images

IMAGES = Images.from_resources(
    [
        {"name": "ubuntu/noble", "architecture": "amd64/ga-24.04", "subarches": "generic,hwe-p,ga-24.04"},
        {"name": "ubuntu/noble", "architecture": "amd64/hwe-24.04-edge", "subarches": None},
        {"name": "rhcos-4.20", "architecture": "amd64/generic", "type": "Uploaded"},
    ]
)


@pytest.mark.parametrize(
    ("series", "kernel"),
    [
        ("noble", None),
        ("ubuntu/noble", "ga-24.04"),
        ("noble", "hwe-24.04-edge"),
        ("noble", "hwe-p"),
        ("rhcos-4.20", None),
        ("custom/rhcos-4.20", None),
        (None, "ga-24.04"),
    ],
)
def test_what_maas_has_may_be_asked_for(series: str | None, kernel: str | None) -> None:
    assert IMAGES.why_not(series, kernel) is None


@pytest.mark.parametrize(
    ("series", "kernel", "said"),
    [
        ("nobel", None, "distro_series: nobel is not an image of this MAAS; it has custom/rhcos-4.20, ubuntu/noble. "
                        "Did you mean ubuntu/noble?"),
        ("custom/rhcos-4.21", None, "Did you mean custom/rhcos-4.20?"),
        ("windows", None, "Import or upload it first."),
        ("noble", "hwe-24.4", "hwe_kernel: hwe-24.4 is not a kernel of ubuntu/noble in this MAAS; it has ga-24.04, "),
        ("rhcos-4.20", "ga-24.04", "is not a kernel of custom/rhcos-4.20 in this MAAS; it has generic."),
    ],
)  # fmt: skip
def test_what_maas_lacks_is_told_with_the_nearest_that_it_has(series: str, kernel: str | None, said: str) -> None:
    assert said in str(IMAGES.why_not(series, kernel))


def test_many_images_are_counted() -> None:
    many = Images.from_resources({"name": f"image-{number:02}"} for number in range(30))
    assert "custom/image-09 and 20 more." in str(many.why_not("nosuch", None))


def test_a_maas_without_images_has_none() -> None:
    assert "it has none." in str(Images.from_resources([]).why_not("noble", None))
