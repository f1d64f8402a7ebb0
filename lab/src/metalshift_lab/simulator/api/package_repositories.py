# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""package-repositories/"""

from __future__ import annotations

import re
from typing import Any

from metalshift_lab.simulator import settings
from metalshift_lab.simulator.errors import BadRequest
from metalshift_lab.simulator.forms import Field, Form, Wrong, assign, form_bool
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import PackageRepository
from metalshift_lab.simulator.routing import delete, get, post, put, resource

MAIN_ARCHES, PORTS_ARCHES = ["amd64", "i386"], ["armhf", "arm64", "ppc64el", "s390x"]
POCKETS = ["updates", "security", "backports"]
COMPONENTS = ["restricted", "universe", "multiverse"]
LISTS = ("arches", "distributions", "disabled_pockets", "disabled_components", "components")
NAMES = ("name", "url", "key", *LISTS, "disable_sources", "enabled")
NOTHING = (["None"], ["[]"], [""])


def url_or_ppa(value: str) -> str:
    if value.startswith("ppa:"):
        if not re.fullmatch(r"ppa:[\w.+-]+/[\w.+-]+(/[\w.+-]+)?", value):
            raise Wrong("Enter a valid repository URL or PPA location.")
        return value
    return settings.url(value)


def repository_form(request: Request, repository: PackageRepository | None = None) -> Form:
    fields = [
        Field("name", required=True),
        Field("url", url_or_ppa, required=True),
        Field("key"),
        Field("disable_sources", form_bool, empty=False),
        Field("enabled", form_bool, empty=True),
    ]
    form = Form(request.data, fields, partial=repository is not None)
    default = repository is not None and repository.default
    for name in LISTS:
        if name in request.data or repository is None:
            items = [i.strip() for v in request.data.getlist(name) for i in v.split(",")]
            form.cleaned[name] = [] if items in NOTHING else items
            _check(form, name, default=default)
    if default and form.get("enabled") is False:
        form.fail("__all__", "Default repositories may not be disabled.")
    taken = {r.name for r in request.state.package_repositories if r is not repository}
    form.unique("name", "Package repository", taken)
    form.finish()
    return form


def _check(form: Form, name: str, *, default: bool) -> None:
    items: list[str] = form.cleaned[name]
    if name == "arches":
        known = MAIN_ARCHES + PORTS_ARCHES
        _refuse(form, name, items, known, "architecture. Known architectures: " + ", ".join(sorted(known)))
        ports = form.get("name") == "ports_archive"
        form.cleaned[name] = items or list(PORTS_ARCHES if ports else MAIN_ARCHES)
    elif name == "disabled_pockets":
        _refuse(form, name, items, POCKETS, f"Ubuntu archive pocket. You can only disable {POCKETS}.")
    elif name == "disabled_components" and items and not default:
        form.fail(name, "This is a custom repository. Please update 'components' instead.")
    elif name == "disabled_components":
        _refuse(form, name, items, COMPONENTS, f"Ubuntu archive component. You can only disable {COMPONENTS}.")
    elif name == "components" and items and default:
        form.fail(name, "This is a default Ubuntu repository. Please update 'disabled_components' instead.")


def _refuse(form: Form, name: str, items: list[str], known: list[str], what: str) -> None:
    wrong = next((i for i in items if i not in known), None)
    if wrong is not None:
        form.fail(name, f"'{wrong}' is not a valid {what}")


@resource("package-repositories/")
class PackageRepositories:
    @get()
    def list(self, request: Request) -> Any:
        return [_render(r) for r in request.state.package_repositories]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        made = request.state.package_repositories.make(PackageRepository, **repository_form(request).cleaned)
        return _render(made)


@resource("package-repositories/{id}/")
class PackageRepositoryItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return _render(request.state.package_repositories.get(id))

    @put(admin=True)
    def update(self, request: Request, id: str) -> Any:
        repository = request.state.package_repositories.get(id)
        assign(repository, repository_form(request, repository), NAMES)
        return _render(repository)

    @delete(admin=True)
    def delete(self, request: Request, id: str) -> Any:
        repository = request.state.package_repositories.get(id)
        if repository.default:
            raise BadRequest("Cannot delete default Ubuntu archives.")
        request.state.package_repositories.discard(repository)
        return NO_CONTENT


def _render(repository: PackageRepository) -> dict[str, Any]:
    return {
        "id": repository.id,
        **{name: getattr(repository, name) for name in NAMES},
        "resource_uri": f"/MAAS/api/2.0/package-repositories/{repository.id}/",
    }
