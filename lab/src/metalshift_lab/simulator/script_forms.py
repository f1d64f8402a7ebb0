# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commissioning, testing and release scripts: their form, and the description they carry in their head."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import yaml

from metalshift_lab.simulator.errors import BadRequest
from metalshift_lab.simulator.forms import REQUIRED, Form, Wrong, form_bool
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import HardwareType, ResultType, Script, ScriptVersion
from metalshift_lab.simulator.state import State

K = TypeVar("K", ResultType, HardwareType)

KINDS = "commissioning, testing or release"
TYPES = {
    "commission": ResultType.COMMISSIONING,
    "commissioning": ResultType.COMMISSIONING,
    "test": ResultType.TESTING,
    "testing": ResultType.TESTING,
    "release": ResultType.RELEASE,
}
RESULT_TYPES = {**TYPES, "install": ResultType.INSTALLATION, "installation": ResultType.INSTALLATION}
HARDWARE = {
    **dict.fromkeys(("node", "machine", "controller", "other", "generic"), HardwareType.NODE),
    **dict.fromkeys(("cpu", "processor"), HardwareType.CPU),
    **dict.fromkeys(("memory", "ram"), HardwareType.MEMORY),
    **dict.fromkeys(("storage", "disk", "ssd"), HardwareType.STORAGE),
    **dict.fromkeys(("network", "net", "interface"), HardwareType.NETWORK),
    **dict.fromkeys(("gpu", "graphics"), HardwareType.GPU),
}
HARDWARE_TAGS = {kind.name.lower(): kind for kind in HardwareType}
PARALLEL = {"disabled": 0, "none": 0, "instance": 1, "name": 1, "any": 2, "enabled": 2}
PARALLEL_NAMES = ("Disabled", "Run along other instances of this script", "Run along any other script")
DELIMITER = re.compile(r"\s*#\s*-+\s*(?:Start|End) MAAS (?P<version>\d+\.\d+) script metadata\s+-+", re.I)
DURATION = re.compile(
    r"(?:(?P<days>-?\d+) (?:days?, )?)?(?:(?:(?P<hours>\d+):)?(?P<minutes>\d+):)?(?P<seconds>\d+)(?:\.\d+)?"
)
FOR_HARDWARE = re.compile(
    r"modalias:.+|(?:pci|usb):[\da-f]{4}:[\da-f]{4}|(?:system_(?:vendor|product|version)|mainboard_(?:vendor|product)):.*",
    re.I,
)
FIELDS = (
    "name", "title", "description", "tags", "script_type", "hardware_type", "parallel", "packages", "timeout",
    "destructive", "script", "for_hardware", "may_reboot", "recommission", "apply_configured_networking",
)  # fmt: skip
FLAGS = ("destructive", "may_reboot", "recommission", "apply_configured_networking")
FREE_ON_DEFAULTS = ("tags", "timeout")


# -- words ----------------------------------------------------------------------------------------------------------


def script_type(value: str) -> ResultType:
    return _translate(value, TYPES, "Invalid script type numeric value.", f"Script type must be {KINDS}")


def result_type(value: str) -> ResultType:
    return _translate(value, RESULT_TYPES, "Invalid result type numeric value", "Invalid result type name")


def hardware_type(value: str) -> HardwareType:
    known = "Hardware type must be node, cpu, memory, storage, network, or gpu"
    return _translate(value.lower(), HARDWARE, "Invalid hardware type numeric value.", known)


def _translate(value: str, words: Mapping[str, K], unknown_number: str, unknown_word: str) -> K:
    if value.isdigit():
        found = next((kind for kind in words.values() if int(kind) == int(value)), None)
        if found is None:
            raise Wrong(unknown_number)
        return found
    if value not in words:
        raise Wrong(unknown_word)
    return words[value]


def parallel(value: str) -> int:
    if value.isdigit():
        if int(value) not in PARALLEL.values():
            raise Wrong("Invalid script parallel numeric value.")
        return int(value)
    if value.lower() not in PARALLEL:
        raise Wrong("Script parallel must be disabled, instance, or any.")
    return PARALLEL[value.lower()]


def seconds(value: str) -> int:
    match = DURATION.fullmatch(value.strip())
    if match is None:
        raise Wrong("Enter a valid duration.")
    days, hours, minutes, rest = (int(match[n] or 0) for n in ("days", "hours", "minutes", "seconds"))
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest


def plain(value: str, translate: Any) -> Any:
    """The same for a filter in a query, where a wrong word is a sentence."""
    try:
        return translate(value)
    except Wrong as wrong:
        raise BadRequest(wrong.messages[0]) from None


# -- the form -------------------------------------------------------------------------------------------------------


def read(request: Request, script: Script | None = None) -> Form:
    """A checked form. `cleaned` has only what was given, by the request or by the script's own head."""
    data: dict[str, Any] = {k: request.data.get(k) for k in request.data if k != "op"}
    if "script" in request.files:
        data["script"] = request.files["script"].decode("utf-8", "replace")
    elif len(request.files) == 1:
        data["name"], content = next(iter(request.files.items()))
        data["script"] = content.decode("utf-8", "replace")
    if "type" in data and "script_type" not in data:
        data["script_type"] = data.pop("type")
    form = Form(request.data, [], partial=script is not None)
    if script is None and not data.get("script"):
        form.fail("script", "Must be given a value")
    if data.get("script"):
        _read_head(form, data, script)
    if script is None and not data.get("name"):
        form.fail("name", REQUIRED)
    _clean(form, data)
    _check_name(request.state, form, data.get("name"), script)
    if script is not None and script.default and not form.errors:
        for field in FIELDS:
            if field in data and field not in FREE_ON_DEFAULTS:
                form.fail(field, "Not allowed to change on default scripts.")
    if "comment" in data and "script" not in data:
        form.fail("comment", '"comment" may only be used when specifying a "script" as well.')
    form.cleaned["comment"] = data.get("comment")
    form.finish()
    return form


def _check_name(state: State, form: Form, name: Any, script: Script | None) -> None:
    if not name:
        return
    name = str(name)
    if name.lower() == "none":
        form.fail("name", '"none" is a reserved name.')
    if name.isdigit():
        form.fail("name", "Cannot be a number.")
    if shlex.quote(name) != name:
        form.fail("name", f"Name '{name}' contains disallowed characters, e.g. space or quotes.")
    known = state.scripts.first(name=name)
    if known is not None and known is not script and "script" not in form.errors:
        form.fail("name", "Script with this Name already exists.")


def _clean(form: Form, data: dict[str, Any]) -> None:
    cleaners: dict[str, Any] = {
        "name": str,
        "title": str,
        "description": str,
        "script": str,
        "tags": lambda v: [t.strip() for t in v.split(",") if t.strip()],
        "script_type": script_type,
        "hardware_type": hardware_type,
        "parallel": parallel,
        "timeout": seconds,
        "packages": _packages,
        "for_hardware": _for_hardware,
        **dict.fromkeys(FLAGS, form_bool),
    }
    for name, clean in cleaners.items():
        if name not in data or (data[name] in ("", None) and name not in FLAGS):
            continue
        try:
            form.cleaned[name] = clean(str(data[name]) if not isinstance(data[name], str) else data[name])
        except Wrong as wrong:
            form.fail(name, *wrong.messages)


def _packages(value: str) -> dict[str, Any]:
    found = json.loads(value)
    for key in ("apt", "snap", "url"):
        if key in found and not isinstance(found[key], list):
            found[key] = [found[key]]
    for key in ("apt", "url"):
        if not all(isinstance(p, str) for p in found.get(key, [])):
            raise Wrong(f"Each {key} package must be a string.")
    for package in found.get("snap", []):
        if isinstance(package, dict):
            _check_snap(package)
        elif not isinstance(package, str):
            raise Wrong("Snap package must be a string.")
    return dict(found)


def _check_snap(package: dict[str, Any]) -> None:
    if not isinstance(package.get("name"), str):
        raise Wrong("Snap package name must be defined.")
    if package.get("channel", "stable") not in ("stable", "edge", "beta", "candidate"):
        raise Wrong("Snap channel must be stable, edge, beta, or candidate.")
    if package.get("mode", "classic") not in ("classic", "dev", "jail"):
        raise Wrong("Snap mode must be classic, dev, or jail.")


def _for_hardware(value: str) -> list[str]:
    try:
        found = json.loads(value)
    except ValueError:
        found = value
    if isinstance(found, str):
        found = found.split(",")
    if not isinstance(found, list):
        raise Wrong("Must be a list or string")
    wrong = [h for h in found if not FOR_HARDWARE.match(str(h))]
    if wrong:
        raise Wrong(
            *(
                f"Hardware identifier '{h}' must be a modalias, PCI ID, USB ID, system vendor, system product, "
                "system version, mainboard vendor, or mainboard product."
                for h in wrong
            )
        )
    return [str(h) for h in found]


# -- a script's head ------------------------------------------------------------------------------------------------


def _read_head(form: Form, data: dict[str, Any], script: Script | None) -> None:
    """What stands in comments between the start and end lines counts as if it had been sent."""
    content = str(data["script"])
    if not content.startswith("#!/"):
        form.fail("script", "Must start with shebang.")
    lines = _head(content)
    if any("#" not in line for line in lines):
        form.fail("script", 'Missing "#" on YAML line.')
        return
    try:
        head = yaml.safe_load("\n".join(line.split("#", 1)[1] for line in lines))
    except yaml.YAMLError as mistake:
        form.fail("script", f"Invalid YAML: {mistake}")
        return
    if not isinstance(head, dict):
        return
    for name in ("results", "parameters"):
        form.cleaned[name] = head.pop(name, None) or {}
    _check_results(form, form.cleaned["results"])
    # An update of a script keeps its tags and timeout.
    tags, timeout = head.pop("tags", None), head.pop("timeout", None)
    if script is None and tags is not None and "tags" not in data:
        if isinstance(tags, list) and all(isinstance(t, str) for t in tags):
            tags = ",".join(tags)
        if isinstance(tags, str):
            data["tags"] = tags
        else:
            form.fail("tags", "Embedded tags must be a string of comma seperated values, or a list of strings.")
    if script is None and timeout is not None:
        data.setdefault("timeout", str(timeout))
    for name in ("packages", "for_hardware"):
        value = head.pop(name, None)
        if value is not None:
            data.setdefault(name, json.dumps(value))
    for name, value in head.items():
        if name in FIELDS:
            _merge(form, data, name, value)


def _head(content: str) -> list[str]:
    found: list[str] = []
    version: str | None = None
    for line in content.splitlines()[1:]:
        match = DELIMITER.search(line)
        if match and version is None and match["version"] == "1.0":
            version = match["version"]
        elif match and version == match["version"]:
            break
        elif version is not None and line.strip():
            found.append(line)
    return found


def _merge(form: Form, data: dict[str, Any], name: str, value: Any) -> None:
    if name not in data:
        data[name] = value
        return
    same = bool(value == data[name])
    if name == "script_type":
        try:
            same = script_type(str(value)) is script_type(str(data[name]))
        except Wrong:
            same = False
    if not same:
        form.fail(name, "May not override values defined in embedded YAML.")


def _check_results(form: Form, results: Any) -> None:
    if isinstance(results, list):
        if not all(isinstance(r, str) for r in results):
            form.fail("results", "Each result in a result list must be a string.")
    elif isinstance(results, dict):
        for result in results.values():
            if not isinstance(result, dict):
                form.fail("results", "Each result in a result dictionary must be a dictionary.")
            elif "title" not in result:
                form.fail("results", "title must be included in a result dictionary.")
            else:
                for key in ("title", "description"):
                    if not isinstance(result.get(key, ""), str):
                        form.fail("results", f"{key} must be a string.")
    else:
        form.fail("results", "results must be a list of strings or a dictionary of dictionaries.")


# -- writing --------------------------------------------------------------------------------------------------------


def save(state: State, form: Form, script: Script | None = None) -> Script:
    cleaned = form.cleaned
    if script is None:
        script = state.scripts.make(Script, name=cleaned["name"], type=ResultType.TESTING)
    names = ("name", "title", "description", "tags", "hardware_type", "parallel", "timeout", "packages", "for_hardware")
    for name in (*names, *FLAGS, "parameters", "results"):
        if name in cleaned:
            setattr(script, name, cleaned[name])
    script.type = cleaned.get("script_type", script.type)
    content = cleaned.get("script")
    if content is not None and (not script.history or script.history[-1].content != content):
        script.history.append(
            state.script_versions.make(ScriptVersion, content=content, comment=cleaned["comment"], created=state.now)
        )
    tag_by_kind(script)
    return script


def tag_by_kind(script: Script) -> None:
    """A script always has the tag of its hardware and of no other, and "destructive" if it is."""
    own = HARDWARE_TAGS_OF[script.hardware_type]
    wanted = [own, *(["destructive"] if script.destructive else [])]
    kept = [t for t in script.tags if t in wanted or (t not in HARDWARE_TAGS and t != "destructive")]
    script.tags = [*kept, *(t for t in wanted if t not in kept)]


HARDWARE_TAGS_OF = {kind: name for name, kind in HARDWARE_TAGS.items()}


def revert(state: State, script: Script, to: int) -> None:
    """Back to a revision by its id, or by a number of steps; newer ones are forgotten."""
    ids: Sequence[int] = [v.id for v in script.history]
    if to < 0:
        if -to >= len(ids):
            raise BadRequest("Goes too far back.")
        position = len(ids) - 1 + to
    elif to in ids:
        position = ids.index(to)
    else:
        raise BadRequest(f"{to} not found in history")
    for version in script.history[position + 1 :]:
        state.script_versions.discard(version)
    del script.history[position + 1 :]
