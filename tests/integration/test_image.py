# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images are uploaded in pieces, each once, whatever becomes of answers and runs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._maas import client as client_module
from ansible_collections.metalshift.maas.plugins.module_utils._maas.images import content
from integration.arranging import client
from integration.harness import Outcome, run_task
from metalshift_lab.simulator import Simulator

SIZE, PIECE = 10_000, 1_000


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "PIECE", PIECE)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "disk.raw.gz"
    path.write_bytes(bytes(number * 7 % 251 for number in range(SIZE)))
    return path


def upload(sim: Simulator, file: Path, **more: Any) -> Outcome:
    sim.requests.clear()
    return run_task(sim, "image", {"name": "rhcos", "path": str(file), **more})


def pieces(sim: Simulator) -> int:
    return sum(request.method == "PUT" for request in sim.requests.writes())


def in_maas(sim: Simulator) -> dict[str, Any]:
    """What MAAS has of the image."""
    [image] = [one for one in client(sim).get("boot-resources/") if one["name"] == "rhcos"]
    [content] = client(sim).get(f"boot-resources/{image['id']}/")["sets"].values()
    return dict(next(iter(content["files"].values())))


def test_an_image_arrives_in_pieces_and_is_not_sent_again(sim: Simulator, file: Path) -> None:
    assert upload(sim, file)["image"]["complete"]
    assert pieces(sim) == SIZE / PIECE
    assert in_maas(sim)["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    again = file.rename(file.with_name("other.raw.gz"))
    assert not upload(sim, again).changed


def test_other_content_replaces_what_was_there(sim: Simulator, file: Path) -> None:
    upload(sim, file)
    file.write_bytes(b"other")
    assert upload(sim, file)["plan"][0]["reason"] == "its content differs"
    assert (in_maas(sim)["size"], in_maas(sim)["complete"]) == (5, True)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_piece_whose_answer_is_lost_arrives_once(
    sim: Simulator, file: Path, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ansible_collections.metalshift.maas.plugins.module_utils._http.client.FIRST_PAUSE", 0.01)
    for skipped in (0, 3):
        sim.fault(does="drop", when=when, method="PUT", skip=skipped)
    assert upload(sim, file)["image"]["complete"]


def test_another_run_continues_an_upload_that_was_interrupted(sim: Simulator, file: Path) -> None:
    sim.fault(method="PUT", status=403, text="No.", skip=6)
    broken = upload(sim, file)
    assert broken.failed
    assert broken.changed
    assert not in_maas(sim)["complete"]
    foreseen = run_task(sim, "image", {"name": "rhcos", "path": str(file)}, check=True)
    assert foreseen["plan"][0]["reason"] == "its upload was not finished"
    assert upload(sim, file)["image"]["complete"]
    assert pieces(sim) == SIZE / PIECE - 6
    assert sim.requests.writes()[0].method == "PUT"


def test_a_file_that_is_written_meanwhile_is_refused(
    sim: Simulator, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = client_module.Client.upload

    def change_and_send(self: Any, path: str, piece: bytes, **more: Any) -> None:
        file.write_bytes(bytes(SIZE))
        send(self, path, piece, **more)

    monkeypatch.setattr(client_module.Client, "upload", change_and_send)
    outcome = upload(sim, file)
    assert "was changed while it was uploaded" in outcome.msg
    assert outcome["failure"]["kind"] == "conflict"


def test_an_image_that_a_machine_has_is_not_removed(sim: Simulator, file: Path) -> None:
    upload(sim, file)
    sim.machine("node-1")
    sim.auto(0.01)
    deployed = {"machines": ["node-1"], "state": "deployed", "distro_series": "custom/rhcos", "wait_sleep": 0.01}
    assert run_task(sim, "machine", deployed).changed
    gone = {"name": "rhcos", "state": "absent"}
    for check in (True, False):
        outcome = run_task(sim, "image", gone, check=check)
        assert outcome.msg == (
            "The image rhcos (amd64/generic) cannot be removed: node-1 has it. Release them first, or leave the image."
        )
    assert in_maas(sim)["complete"]


def test_what_cannot_be_asked_is_not_unused(sim: Simulator, file: Path) -> None:
    upload(sim, file)
    sim.fault(method="GET", path="machines/", status=403, text="No.")
    assert run_task(sim, "image", {"name": "rhcos", "state": "absent"}).failed
    assert in_maas(sim)["complete"]


def test_a_long_upload_says_how_far_it_is(sim: Simulator, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "LINES_EVERY", 0.0)
    lines = [line for line in upload(sim, file).screen.shown if "uploaded" in line]
    assert len(lines) == SIZE / PIECE - 1
    assert "of 0 MiB uploaded" in lines[0]
