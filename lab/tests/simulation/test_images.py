# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import hashlib
from typing import Any

import pytest

CONTENT = b"an image" * 1000
IMAGE = {"name": "custom/lab", "architecture": "amd64/generic", "filetype": "tgz"}
BYTES = {"Content-Type": "application/octet-stream"}


def declare(maas: Any, **form: Any) -> Any:
    declared = {**IMAGE, "sha256": hashlib.sha256(CONTENT).hexdigest(), "size": str(len(CONTENT)), **form}
    return maas("POST", "boot-resources/", declared)


def file_of(resource: dict[str, Any]) -> dict[str, Any]:
    (boot_set,) = resource["sets"].values()
    (file,) = boot_set["files"].values()
    return dict(file)


def put(maas: Any, uri: str, piece: bytes) -> Any:
    return maas("PUT", uri.removeprefix("/MAAS/api/2.0/"), piece, headers=BYTES)


def test_an_image_arrives_in_pieces(maas: Any) -> None:
    declared = declare(maas)
    assert declared.status_code == 201
    file = file_of(declared.json())
    assert (file["complete"], file["progress"]) == (False, 0.0)
    half = len(CONTENT) // 2
    assert put(maas, file["upload_uri"], CONTENT[:half]).text == "OK"
    uri = f"boot-resources/{declared.json()['id']}/"
    assert file_of(maas("GET", uri).json())["progress"] == 50.0
    assert put(maas, file["upload_uri"], CONTENT[half:]).ok
    done = file_of(maas("GET", uri).json())
    assert done["complete"]
    assert "upload_uri" not in done
    assert put(maas, file["upload_uri"], b"more").text == "Cannot upload to a complete file."


@pytest.mark.parametrize(
    ("piece", "answer"),
    [
        (b"", "Missing data."),
        (CONTENT + b"!", "Too much data received."),
        (b"x" * len(CONTENT), "Saved content does not match given SHA256 value."),
    ],
)
def test_wrong_pieces_are_refused(maas: Any, piece: bytes, answer: str) -> None:
    uri = file_of(declare(maas).json())["upload_uri"]
    refused = put(maas, uri, piece)
    assert (refused.status_code, refused.text) == (400, answer)
    assert put(maas, uri, CONTENT).ok, "a refused piece leaves nothing behind"


def test_an_upload_in_one_step_renews_the_image(maas: Any) -> None:
    first = maas("POST", "boot-resources/", IMAGE, files={"content": ("lab.tgz", CONTENT)}).json()
    second = maas("POST", "boot-resources/", IMAGE, files={"content": ("lab.tgz", b"newer")}).json()
    assert first["id"] == second["id"]
    assert file_of(second)["sha256"] == hashlib.sha256(b"newer").hexdigest()


@pytest.mark.parametrize(
    ("form", "field", "words"),
    [
        ({"name": "ubuntu"}, "name", "ubuntu is a reserved name"),
        ({"name": "plan9/four"}, "name", "Unsupport operating system plan9"),
        ({"architecture": "riscv/generic"}, "architecture", "is not a valid architecture"),
        ({"filetype": "zip"}, "filetype", "Select a valid choice. zip"),
        ({"base_image": "ubuntu"}, "base_image", "must follow the format: <osystem>/<series>"),
        ({"base_image": "windows/2022"}, "base_image", "non-custom OS type"),
        ({"base_image": "ubuntu/wobbly"}, "base_image", "please select a valid base image OS and version"),
        ({"sha256": "abc"}, "sha256", "at least 64 characters (it has 3)"),
        ({"size": "big"}, "size", "Enter a whole number."),
    ],
)
def test_wrong_images_are_refused(maas: Any, form: dict[str, str], field: str, words: str) -> None:
    refused = declare(maas, **form)
    assert refused.status_code == 400
    assert words in refused.json()[field][0]


def test_a_file_has_one_size(maas: Any) -> None:
    declare(maas)
    refused = declare(maas, name="custom/other", size="1")
    assert refused.text == "File already exists with sha256 that is of different size."
