# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sums of sessions: what ran, how long it took, what was skipped and why, and what runs elsewhere."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nox
from trees import ROOT, STATE

COLD, WARM = 45, 15
REPORTS = STATE / "reports"
# When each part of `verify` passed last, and on which commit; nothing is left out because of it.
VERIFIED = STATE / "verified.json"
SHOWN = 15


def report_of(session: nox.Session) -> Path:
    REPORTS.mkdir(parents=True, exist_ok=True)
    return REPORTS / f"{session.name}.xml"


def add_up(session: nox.Session, chosen: list[str], at_once: int, elsewhere: list[str]) -> None:
    """Run sessions, and say at the end what became of them."""
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir(parents=True)
    begun, report = time.monotonic(), REPORTS / "sessions.json"
    command = [sys.executable, "-m", "nox", "-f", str(ROOT / "noxfile.py"), "-j", str(at_once), *chosen]
    status = subprocess.call([*command, "--report", str(report)])
    results = json.loads(report.read_text())["sessions"] if report.exists() else []
    verified = _remember([each["name"] for each in results if each["result"] == "success"])

    lines = ["", "What ran, in seconds; several ran at once:"]
    for each in sorted(results, key=lambda each: -each["duration"]):
        counted = _counted([REPORTS / f"{each['name']}.xml"])
        lines.append(
            f"  {each['result']:<8} {each['name']:<18} {each['duration']:6.0f}  {counted or each['reason'] or ''}"
        )
    lines += ["", "The slowest tests:", *(f"  {taken:6.1f}  {name}" for taken, name in _durations()[:SHOWN])]
    lines += [f"  and all of them in {REPORTS / 'durations.tsv'}"]
    lines += ["", *(f"Skipped {count} times: {reason}" for reason, count in _skipped().most_common())]
    taken = (time.monotonic() - begun) / 60
    lines += [
        f"It took {taken:.0f} minutes. The budget of make test is {WARM}, and {COLD} where nothing is fetched or built."
    ]
    lines += ["", "Only make verify runs, and passed here last:"]
    lines += [f"  {name:<18} {verified.get(name, 'never')}" for name in elsewhere]
    print("\n".join([*lines, "", _counted(list(REPORTS.glob("*.xml")))]), flush=True)
    if status or not results:
        session.error(
            "failed: " + ", ".join(each["name"] for each in results if each["result"] in ("failed", "aborted"))
        )


def _suites(reports: list[Path]) -> Iterator[Any]:
    for report in reports:
        if report.exists():
            yield from ElementTree.parse(report).getroot().iter("testsuite")


def _counted(reports: list[Path]) -> str:
    total: Counter[str] = Counter()
    for suite in _suites(reports):
        total.update({key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")})
    bad = total["failures"] + total["errors"]
    return (
        f"{total['tests'] - bad - total['skipped']} passed, {bad} failed, {total['skipped']} skipped" if total else ""
    )


def _cases() -> Iterator[tuple[str, Any]]:
    for report in REPORTS.glob("*.xml"):
        for suite in _suites([report]):
            yield from ((report.stem, case) for case in suite.iter("testcase"))


def _durations() -> list[tuple[float, str]]:
    """Longest first, and in a table."""
    found = [
        (float(case.get("time", 0)), f"{part}\t{case.get('classname')}.{case.get('name')}") for part, case in _cases()
    ]
    rows = sorted(found, reverse=True)
    (REPORTS / "durations.tsv").write_text("".join(f"{taken:.2f}\t{name}\n" for taken, name in rows))
    return [(taken, name.replace("\t", ": ")) for taken, name in rows]


def _skipped() -> Counter[str]:
    return Counter(skip.get("message", "") for _part, case in _cases() for skip in case.iter("skipped"))


def _remember(passed: list[str]) -> dict[str, str]:
    verified: dict[str, str] = json.loads(VERIFIED.read_text()) if VERIFIED.exists() else {}
    describe = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    commit = subprocess.run(describe, capture_output=True, text=True, check=False).stdout.strip()
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    verified |= dict.fromkeys(passed, f"{now}, {commit}")
    VERIFIED.write_text(json.dumps(verified))
    return verified
