# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import hashlib
from typing import Any

import pytest
import requests

from metalshift_lab.simulator import Simulator

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


def selected(maas: Any, source: int, release: str, *arches: str) -> Any:
    form = {"os": "ubuntu", "release": release, "arches": list(arches), "subarches": ["*"], "labels": ["*"]}
    return maas("POST", f"boot-sources/{source}/selections/", form)


def test_a_new_maas_has_a_boot_source_with_a_selection(maas: Any) -> None:
    (source,) = maas("GET", "boot-sources/").json()
    assert source["url"] == "http://images.maas.io/ephemeral-v3/stable/"
    (selection,) = maas("GET", f"boot-sources/{source['id']}/selections/").json()
    assert (selection["os"], selection["release"], selection["arches"]) == ("ubuntu", "noble", ["amd64"])
    assert maas("GET", selection["resource_uri"].removeprefix("/MAAS/api/2.0/")).json() == selection


def test_what_is_selected_is_there_after_an_import(maas: Any, sim: Simulator) -> None:
    (source,) = (each["id"] for each in maas("GET", "boot-sources/").json())
    assert "ubuntu/bionic" not in names(maas)
    made = selected(maas, source, "bionic", "amd64")
    assert made.status_code == 201
    maas("POST", "boot-resources/?op=import")
    assert maas("GET", "boot-resources/?op=is_importing").json() is True
    sim.forward(10)
    assert maas("GET", "boot-resources/?op=is_importing").json() is False
    assert names(maas)["ubuntu/bionic"] == ["amd64/ga-18.04"]
    path = f"boot-sources/{source}/selections/{made.json()['id']}/"
    assert maas("PUT", path, {"arches": ["*"]}).json()["arches"] == ["*"]
    assert maas("DELETE", path).status_code == 204
    assert maas("GET", path).status_code == 404


def names(maas: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for image in maas("GET", "boot-resources/").json():
        found.setdefault(image["name"], []).append(image["architecture"])
    return found


@pytest.mark.parametrize(
    ("release", "arch", "field", "message"),
    [
        ("nosuch", "amd64", "os", "OS ubuntu with release nosuch has no available images for download"),
        ("jammy", "mips", "arches", "No available images to download for ['mips']"),
        (
            "noble",
            "amd64",
            "__all__",
            "Boot source selection with this Boot source, Os and Release already exists.",
        ),
    ],
)
def test_a_selection_that_the_index_does_not_have_is_refused(
    maas: Any, release: str, arch: str, field: str, message: str
) -> None:
    (source,) = (each["id"] for each in maas("GET", "boot-sources/").json())
    answer = selected(maas, source, release, arch)
    assert (answer.status_code, answer.json()) == (400, {field: [message]})


def test_recordings_find_no_boot_source_after_a_reset(sim: Simulator, maas: Any) -> None:
    requests.post(f"{sim.control_url}/reset", timeout=10)
    assert maas("GET", "boot-sources/").json() == []
    requests.post(f"{sim.control_url}/reset?boot_source=1", timeout=10)
    assert len(maas("GET", "boot-sources/").json()) == 1
