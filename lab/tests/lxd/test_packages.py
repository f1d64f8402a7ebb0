# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian's packages, with an apt that only says what it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from metalshift_lab.labs import LabError
from metalshift_lab.lxd import packages

DPKG_QUERY = """\
#!/bin/sh
for last; do :; done
if grep -qsx "$last" {there}; then
    printf 'installed 1.0-1'
elif [ "$last" = removed ]; then
    printf 'config-files 1.0-1'
else
    echo "dpkg-query: no packages found matching $last" >&2
    exit 1
fi
"""
# Its lock is held for as many calls as {busy} has lines.
APT_GET = """\
#!/bin/sh
if [ -s {busy} ]; then
    sed -i 1d {busy}
    echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)"
    exit 100
fi
echo "$*" >> {log}
case $* in
    *' broken') echo "E: Unable to locate package broken"; exit 100 ;;
esac
"""


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands of apt-get go; `present` is there."""
    (tmp_path / "there").write_text("present\n")
    for name, text in {"dpkg-query": DPKG_QUERY, "apt-get": APT_GET}.items():
        (tmp_path / name).write_text(text.format(**{each: tmp_path / each for each in ("there", "log", "busy")}))
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "log"


def test_nothing_is_asked_of_apt_when_nothing_is_missing(apt: Path) -> None:
    said: list[str] = []
    packages.install(["present"], said.append)
    assert (said, apt.exists()) == ([], False)


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (["present", "one"], "Installing one from Debian, once"),
        (["removed", "one", "two", "three", "four"], "Installing removed, one, two and 2 more from Debian, once"),
    ],
)
def test_what_is_missing_is_installed_in_one_transaction(apt: Path, wanted: list[str], line: str) -> None:
    said: list[str] = []
    packages.install(wanted, said.append)
    update, install = apt.read_text().splitlines()
    assert said == [line]
    assert update.startswith("update")
    assert install.startswith("install --yes")
    assert install.endswith(" ".join(name for name in wanted if name != "present"))


def test_what_apt_says_of_a_failure_is_told(apt: Path) -> None:
    with pytest.raises(LabError, match=r"apt-get install failed; its last words:\nE: Unable to locate package broken"):
        packages.install(["broken"], lambda line: None)


def test_another_program_that_installs_packages_is_waited_for(apt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "PAUSE", 0.0)
    apt.with_name("busy").write_text("1\n2\n")
    said: list[str] = []
    packages.install(["one"], said.append)
    assert said[1:] == ["Another program is installing packages; waiting for it"]
    assert len(apt.read_text().splitlines()) == 2


def test_a_program_that_installs_packages_for_too_long_is_told(apt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "PATIENCE", 0.0)
    apt.with_name("busy").write_text("1\n")
    with pytest.raises(LabError, match=r"apt-get update failed(.|\n)*held by process 7"):
        packages.install(["one"], lambda line: None)
