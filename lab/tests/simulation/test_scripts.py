# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import io
import tarfile
from typing import Any

import pytest

from metalshift_lab.simulator import Simulator

HEAD = """#!/bin/bash
# --- Start MAAS 1.0 script metadata ---
# name: burn-in
# title: Burn in
# script_type: testing
# hardware_type: storage
# tags: [slow, "by night"]
# timeout: 00:10:00
# destructive: true
# packages: {{apt: stress-ng}}
# results:
#   speed:
#     title: Speed
# {more}
# --- End MAAS 1.0 script metadata ---
echo hi
"""


def create(maas: Any, more: str = "", **form: Any) -> Any:
    return maas("POST", "scripts/", {"script": HEAD.format(more=more), **form})


def test_a_script_describes_itself(maas: Any) -> None:
    made = create(maas).json()
    assert (made["name"], made["title"], made["type_name"]) == ("burn-in", "Burn in", "Testing script")
    assert made["tags"] == ["slow", "by night", "storage", "destructive"]
    assert (made["timeout"], made["hardware_type_name"], made["destructive"]) == ("0:10:00", "Storage", True)
    assert made["packages"] == {"apt": ["stress-ng"]}
    assert made["results"] == {"speed": {"title": "Speed"}}


@pytest.mark.parametrize(
    ("form", "errors"),
    [
        ({"script": "echo", "name": "x"}, {"script": ["Must start with shebang."]}),
        ({"name": "x"}, {"script": ["Must be given a value"]}),
        ({"script": "#!/bin/sh"}, {"name": ["This field is required."]}),
        ({"script": "#!/bin/sh", "name": "7"}, {"name": ["Cannot be a number."]}),
        ({"script": "#!/bin/sh", "name": "none"}, {"name": ['"none" is a reserved name.']}),
        (
            {"script": "#!/bin/sh", "name": "a b"},
            {"name": ["Name 'a b' contains disallowed characters, e.g. space or quotes."]},
        ),
        ({"script": "#!/bin/sh", "name": "x", "timeout": "soon"}, {"timeout": ["Enter a valid duration."]}),
    ],
)
def test_wrong_scripts_are_refused(maas: Any, form: dict[str, str], errors: dict[str, Any]) -> None:
    refused = maas("POST", "scripts/", form)
    assert (refused.status_code, refused.json()) == (400, errors)


def test_a_head_that_is_no_yaml_is_refused(maas: Any) -> None:
    refused = create(maas, more="parameters: [1, 2")
    assert refused.status_code == 400
    assert refused.json()["script"][0].startswith("Invalid YAML: while parsing a flow sequence")


def test_what_a_script_says_itself_is_not_overridden(maas: Any) -> None:
    assert create(maas, title="Other").json() == {"title": ["May not override values defined in embedded YAML."]}
    assert create(maas, type="test").ok, "another word for the same is fine"


def test_revisions_come_and_go(maas: Any) -> None:
    create(maas)
    newer = HEAD.format(more="").replace("hi", "ho")
    history = maas("PUT", "scripts/burn-in", {"script": newer, "comment": "louder"}).json()["history"]
    assert [v["comment"] for v in history] == ["louder", None]
    assert "echo ho" in maas("GET", "scripts/burn-in?op=download").text
    assert "echo hi" in maas("GET", f"scripts/burn-in?op=download&revision={history[1]['id']}").text
    assert maas("POST", "scripts/burn-in?op=revert", {"to": "-5"}).text == "Goes too far back."
    assert len(maas("POST", "scripts/burn-in?op=revert", {"to": "-1"}).json()["history"]) == 1
    assert "echo hi" in maas("GET", "scripts/burn-in?op=download").text


def test_built_in_scripts_keep_what_they_are(maas: Any) -> None:
    refused = maas("PUT", "scripts/memtester", {"title": "Other"})
    assert refused.json() == {"title": ["Not allowed to change on default scripts."]}
    assert maas("PUT", "scripts/memtester", {"timeout": "60"}).json()["timeout"] == "0:01:00"
    assert maas("DELETE", "scripts/memtester").text == "Unable to delete default script"


def test_results_are_shown_filtered_and_packed(sim: Simulator, maas: Any) -> None:
    node = sim.machine("node01")
    uri = f"nodes/{node.system_id}/results/"
    assert [s["type_name"] for s in maas("GET", uri).json()] == ["Commissioning", "Testing"]
    (found,) = maas("GET", f"{uri}?type=commissioning&filters=maas-lshw").json()
    assert [r["name"] for r in found["results"]] == ["maas-lshw"]
    current = maas("GET", f"{uri}current-commissioning/").json()
    assert current["id"] == found["id"]
    packed = maas("GET", f"{uri}{found['id']}/?op=download&filetype=tar.xz").content
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        assert f"node01-commissioning-{found['id']}/maas-lshw" in archive.getnames()
    assert maas("GET", f"{uri}nosuch/").status_code == 400
    assert maas("DELETE", f"{uri}{found['id']}/").status_code == 204
    assert maas("GET", f"{uri}{found['id']}/").status_code == 404


def test_results_go_with_their_machine(sim: Simulator, maas: Any) -> None:
    node = sim.machine("node01")
    maas("DELETE", f"machines/{node.system_id}/")
    assert maas("GET", "installation-results/").json() == []
