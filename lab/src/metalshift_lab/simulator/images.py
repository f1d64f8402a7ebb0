# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Uploaded images: what they may be called, their files, and the pieces they arrive in."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from metalshift_lab.simulator import machine_forms
from metalshift_lab.simulator.errors import BadRequest, Forbidden, ServerError
from metalshift_lab.simulator.forms import Field, Form, Wrong, choice, form_bool, integer, listed
from metalshift_lab.simulator.http import Request
from metalshift_lab.simulator.model import BootFile, BootResource, BootSet
from metalshift_lab.simulator.state import State

UPLOADED = "Uploaded"
FILETYPES = {
    "tgz": "root-tgz",
    "tbz": "root-tbz",
    "txz": "root-txz",
    "ddtgz": "root-dd",
    "ddtbz": "root-dd.tar.bz2",
    "ddtxz": "root-dd.tar.xz",
    "ddtar": "root-dd.tar",
    "ddbz2": "root-dd.bz2",
    "ddgz": "root-dd.gz",
    "ddxz": "root-dd.xz",
    "ddraw": "root-dd.raw",
}
FILENAMES = {"root-tgz": "root.tgz", "root-tbz": "root.tbz", "root-txz": "root.txz"}
SYSTEMS = ("bootloader", "centos", "custom", "esxi", "ol", "rhel", "suse", "ubuntu", "ubuntu-core", "windows")
LINUX = ("ubuntu", "centos", "rhel", "ol", "suse")
UBUNTU_SERIES = (
    "precise", "trusty", "xenial", "artful", "bionic", "cosmic", "disco", "eoan", "focal", "groovy", "hirsute",
    "impish", "jammy", "kinetic", "lunar", "mantic", "noble", "oracular", "plucky", "questing",
)  # fmt: skip
SHA256_LENGTH = 64


def name(value: str) -> str:
    """ "custom/x" is x; another system before the slash must be one MAAS knows."""
    if value.count("/") > 1:
        raise ServerError("too many values to unpack (expected 2)")
    system, slash, rest = value.partition("/")
    if slash and system == "custom":
        value = rest
    elif slash and system not in SYSTEMS:
        raise Wrong(f"Unsupport operating system {system}, supported operating systems: {list(SYSTEMS)}")
    if value in SYSTEMS or re.fullmatch(r"centos\d\d?", value):
        raise Wrong(f"{value} is a reserved name")
    return value


def base_image(value: str) -> str:
    system, slash, series = value.lower().partition("/")
    if not slash or "/" in series:
        raise Wrong("a base image must follow the format: <osystem>/<series>")
    if system not in LINUX:
        raise Wrong("custom images require a valid non-custom OS type base image")
    known = series in UBUNTU_SERIES if system == "ubuntu" else re.fullmatch(r"(centos|rhel|ol)?\d[\d.-]*", series)
    if not known:
        raise Wrong("please select a valid base image OS and version")
    return f"{system}/{series}"


def sha256(value: str) -> str:
    if len(value) < SHA256_LENGTH:
        raise Wrong(f"Ensure this value has at least {SHA256_LENGTH} characters (it has {len(value)}).")
    if len(value) > SHA256_LENGTH:
        raise Wrong(f"Ensure this value has at most {SHA256_LENGTH} characters (it has {len(value)}).")
    return value


def upload_form(request: Request, content: bytes | None) -> Form:
    fields = [
        Field("name", name, required=True),
        Field("title"),
        Field("architecture", listed("architecture", machine_forms.architectures(request.state)), required=True),
        Field("filetype", choice(list(FILETYPES)), empty="tgz"),
        Field("base_image", base_image),
        Field("keep_old", form_bool, empty=False),
    ]
    if content is None:
        fields += [Field("sha256", sha256, required=True), Field("size", integer(), required=True)]
    form = Form(request.data, fields)
    if content == b"":
        form.fail("content", "The submitted file is empty.")
    form.finish()
    return form


def upload(request: Request, content: bytes | None) -> BootResource:
    """Make (or renew) an image: with its content, or only with its file declared."""
    state = request.state
    cleaned = upload_form(request, content).cleaned
    digest = hashlib.sha256(content).hexdigest() if content is not None else cleaned["sha256"]
    size = len(content) if content is not None else cleaned["size"]
    if content is None and any(f.sha256 == digest and f.size != size for f in state.boot_files):
        raise BadRequest("File already exists with sha256 that is of different size.")
    wanted = {"type": UPLOADED, "name": cleaned["name"], "architecture": cleaned["architecture"]}
    resource = state.boot_resources.first(**wanted) or state.boot_resources.make(BootResource, **wanted)
    resource.subarches = cleaned["architecture"].split("/")[1]
    resource.kernels = [resource.subarches]
    resource.title = cleaned["title"]
    resource.base_image = resource.base_image or _base_image(
        state, str(request.data.get("name")), cleaned["base_image"]
    )
    if not cleaned["keep_old"]:
        forget_sets(state, resource)
    filetype = FILETYPES[cleaned["filetype"]]
    boot_set = state.boot_sets.make(BootSet, version=_next_version(state, resource), label="uploaded")
    boot_set.files.append(
        state.boot_files.make(
            BootFile,
            filename=FILENAMES.get(filetype, filetype),
            filetype=filetype,
            size=size,
            sha256=digest,
            received=size if content is not None else 0,
        )
    )
    resource.sets.append(boot_set)
    return resource


def _base_image(state: State, asked_name: str, given: str) -> str:
    """What a custom image is built on; an image of a known system needs to say nothing."""
    if "/" in asked_name and not asked_name.startswith("custom/"):
        return ""
    return given or f"{state.config['commissioning_osystem']}/{state.config['commissioning_distro_series']}"


def _next_version(state: State, resource: BootResource) -> str:
    today, taken = state.now.strftime("%Y%m%d"), {s.version for s in resource.sets}
    numbered = (f"{today}.{n}" for n in range(1, len(taken) + 2))
    return today if today not in taken else next(v for v in numbered if v not in taken)


def forget_sets(state: State, resource: BootResource) -> None:
    for boot_set in resource.sets:
        for file in boot_set.files:
            state.boot_files.discard(file)
        state.boot_sets.discard(boot_set)
    resource.sets.clear()


def receive(resource: BootResource, file: BootFile, piece: bytes) -> None:
    """The next piece of a declared file; with the last one its hash must be the declared one."""
    if not piece:
        raise BadRequest("Missing data.")
    if resource.type != UPLOADED:
        raise Forbidden("Cannot upload to a resource of type: 0.")
    if file.complete:
        raise BadRequest("Cannot upload to a complete file.")
    if file.received + len(piece) > file.size:
        raise BadRequest("Too much data received.")
    digest = file.digest.copy()
    digest.update(piece)
    if file.received + len(piece) == file.size and digest.hexdigest() != file.sha256:
        file.received, file.digest = 0, hashlib.sha256()
        raise BadRequest("Saved content does not match given SHA256 value.")
    file.received, file.digest = file.received + len(piece), digest


def render(resource: BootResource, *, with_sets: bool = False) -> dict[str, Any]:
    uri = f"/MAAS/api/2.0/boot-resources/{resource.id}/"
    shown = {
        "platform": resource.platform,
        "subarches": resource.subarches,
        "supported_platforms": resource.supported_platforms,
        "title": resource.title,
        "base_image": resource.base_image or None,
    }
    out: dict[str, Any] = {
        "id": resource.id,
        "type": resource.type,
        "name": resource.name,
        "architecture": resource.architecture,
        "resource_uri": uri,
        "last_deployed": resource.last_deployed.isoformat() if resource.last_deployed else None,
        **{key: value for key, value in shown.items() if value is not None},
    }
    if with_sets:
        out["sets"] = {s.version: _render_set(uri, s) for s in reversed(resource.sets)}
    return out


def _render_set(uri: str, boot_set: BootSet) -> dict[str, Any]:
    size, received = (sum(getattr(f, name) for f in boot_set.files) for name in ("size", "received"))
    complete = bool(boot_set.files) and all(f.complete for f in boot_set.files)
    return {
        "version": boot_set.version,
        "label": boot_set.label,
        "size": size,
        "complete": complete,
        **({} if complete else {"progress": _percent(received, size)}),
        "files": {f.filename: _render_file(uri, f) for f in boot_set.files},
    }


def _render_file(uri: str, file: BootFile) -> dict[str, Any]:
    missing = (
        {}
        if file.complete
        else {
            "progress": _percent(file.received, file.size),
            "upload_uri": f"{uri}upload/{file.id}/",
        }
    )
    return {
        "filename": file.filename,
        "filetype": file.filetype,
        "sha256": file.sha256,
        "filename_on_disk": file.sha256[:7],
        "size": file.size,
        "complete": file.complete,
        **missing,
    }


def _percent(received: int, size: int) -> float:
    return 100 * received / size if size else 0.0
