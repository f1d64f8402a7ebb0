# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installing a manifest, bringing it to another version, and taking away exactly what was installed.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube
from ansible_collections.metalshift.maas.plugins.module_utils._kube.manifests.pure import installed
from ansible_collections.metalshift.maas.plugins.module_utils._kube.manifests.pure.installed import (
    CRD,
    NAMESPACE,
    InstalledObject,
    Key,
    Required,
    entry_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    CONFIG_MAPS,
    CRDS,
    Object,
    ObjectKind,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import MANAGER, is_deleted

Found = TypeVar("Found")


class Catalogue:
    """The kinds that the cluster serves, and those that a manifest brings."""

    def __init__(self, kube: Kube, objects: Iterable[Object] = ()) -> None:
        self._kube = kube
        self._served: dict[str, Mapping[str, ObjectKind]] = {}
        self._brought = {(kind.api, kind.name): kind for body in objects for kind in _defined(body)}

    def served(self, entry: InstalledObject) -> ObjectKind | None:
        """The kind, if the cluster serves it now."""
        if entry.api not in self._served:
            self._served[entry.api] = self._kube.kinds(entry.api)
        return self._served[entry.api].get(entry.kind)

    def forget(self) -> None:
        """Ask again: definitions were added."""
        self._served.clear()

    def require(self, entry: InstalledObject) -> ObjectKind:
        """The kind, served or brought; a Failure for one that is neither, before anything is written."""
        kind = self.served(entry) or self._brought.get((entry.api, entry.kind))
        if kind is None:
            raise Failure(
                "unsupported",
                f"The kind of the {entry} ({entry.api}) is neither known to the cluster nor defined in the manifest.",
                object=str(entry),
                hint="Install what defines it first, or put its CustomResourceDefinition into the manifest.",
            )
        if kind.namespaced and not entry.namespace:
            raise invalid(f"The {entry} of the manifest names no namespace, and its kind needs one.")
        return kind


def _defined(body: Object) -> Iterable[ObjectKind]:
    if body["kind"] != CRD:
        return
    spec = body["spec"]
    for version in spec.get("versions") or []:
        if version.get("served"):
            names = spec["names"]
            api = f"{spec['group']}/{version['name']}"
            yield ObjectKind(api, names["kind"], names["plural"], namespaced=spec.get("scope") == "Namespaced")


def _defines(body: Object, kind: str) -> bool:
    return bool(body["spec"]["names"]["kind"] == kind)


@dataclass
class Installation:
    """One record, and what becomes of the objects in it."""

    kube: Kube
    name: str
    namespace: str
    patience: Patience
    check: bool = False
    byproducts: frozenset[str] = frozenset()
    steps: list[Step] = field(default_factory=list)
    told: list[dict[str, Any]] = field(default_factory=list)

    @property
    def mark(self) -> str:
        return f"{self.namespace}/{self.name}"

    def record(self) -> list[InstalledObject]:
        return installed.recorded(self.kube.get(CONFIG_MAPS, self.name, self.namespace))

    # -- present ----------------------------------------------------------------------------------------------------

    def install(
        self,
        manifest: Sequence[Object],
        *,
        fallbacks: Sequence[Object] = (),
        required: Sequence[Required] = (),
        wait: bool,
    ) -> None:
        """Record, apply, take away what this version has no more, and wait till its Deployments serve."""
        self._require(manifest, required)
        objects = self._with_fallbacks(manifest, fallbacks)
        catalogue = Catalogue(self.kube, objects)
        wished = [entry_of(body) for body in objects]
        kinds = {entry.key: catalogue.require(entry) for entry in wished}
        found = {entry.key: self._find(catalogue, entry) for entry in wished}
        before = self.record()
        record = installed.to_record(wished, before, {key: body is not None for key, body in found.items()})
        self._keep(before, record)
        ours = {entry.key for entry in record if entry.ours}
        definitions = [body for body in objects if body["kind"] == CRD]
        for body in definitions:
            self._apply(kinds, found, body, ours)
        if any(found[entry_of(body).key] is None for body in definitions) and not self.check:
            self._await_definitions(definitions)
            catalogue.forget()
        for body in objects:
            if body["kind"] != CRD:
                self._apply(kinds, found, body, ours)
        left = self._remove(catalogue, installed.outdated(wished, record), definitions=False)
        self._keep(record, [*(entry for entry in record if entry.key in kinds), *left])
        if wait and not self.check:
            self._await_deployments([entry for entry in wished if entry.kind == "Deployment"], kinds)

    def _require(self, objects: Sequence[Object], required: Sequence[Required]) -> None:
        """Refuse a manifest with kinds that lack a field, and one without the kind where the cluster's lacks it."""
        lacking = []
        for each in required:
            definitions = [body for body in objects if body["kind"] == CRD and _defines(body, each.kind)]
            definitions = definitions or [body for body in self._definitions if _defines(body, each.kind)]
            if not definitions:
                lacking.append(f"neither the manifest nor the cluster knows the kind {each.kind}")
            lacking += [why for body in definitions for why in [each.why_lacking(body)] if why]
        if lacking:
            raise Failure(
                "unsupported",
                f"What the manifest installs would not do what is required: {'; '.join(dict.fromkeys(lacking))}.",
                reason="required_fields",
                hint="Use a manifest of a build that has it; nothing was written.",
            )

    def _with_fallbacks(self, manifest: Sequence[Object], fallbacks: Sequence[Object]) -> list[Object]:
        """The manifest, and what else it needs as far as nobody else has put it there."""
        has = {entry_of(body).key for body in manifest}
        catalogue = Catalogue(self.kube, fallbacks)
        free = [
            body
            for body in fallbacks
            if entry_of(body).key not in has and self._is_free(self._find(catalogue, entry_of(body)))
        ]
        return installed.checked([*manifest, *free])

    def _is_free(self, body: Object | None) -> bool:
        return body is None or (installed.carries(body, self.mark) and not installed.kept_by_others(body, MANAGER))

    @cached_property
    def _definitions(self) -> list[Object]:
        return self.kube.list(CRDS)

    def _find(self, catalogue: Catalogue, entry: InstalledObject) -> Object | None:
        kind = catalogue.served(entry)
        return self.kube.get(kind, entry.name, entry.namespace) if kind else None

    def _keep(self, before: Sequence[InstalledObject], record: Sequence[InstalledObject]) -> None:
        """Write the record if it says something else than before."""
        if self.check or {*before} == {*record}:
            return
        if record:
            self.kube.apply(installed.record_body(self.name, self.namespace, record))
        else:
            self.kube.delete(CONFIG_MAPS, self.name, self.namespace)

    def _apply(
        self, kinds: Mapping[Key, ObjectKind], found: Mapping[Key, Object | None], body: Object, ours: set[Key]
    ) -> None:
        entry = entry_of(body)
        before = found[entry.key]
        wish = installed.marked(body, self.mark) if entry.key in ours else body
        # What is not there yet may be refused in a dry run only because its namespace or kind is not there either.
        skipped = self.check and before is None
        after = wish if skipped else self.kube.apply(wish, kind=kinds[entry.key], dry_run=self.check)
        old, new = installed.difference(before, after)
        action = "created" if before is None else "changed" if old or new else "unchanged"
        if action != "unchanged":
            verb = "create" if before is None else "update"
            self.steps.append(Step(verb, str(entry), before=old, after=new))
        self.told.append(entry.told(action))

    def _await_definitions(self, definitions: Sequence[Object]) -> None:
        entries = [entry_of(body) for body in definitions]

        def missing() -> list[str]:
            there = {body["metadata"]["name"]: body for body in self.kube.list(CRDS)}
            return [entry.name for entry in entries if not _holds(there.get(entry.name), "Established")]

        left = self._until(missing, lambda names: f"{len(names)} kinds are not served yet" if names else "")
        if left:
            raise Failure("timeout", f"Not served within {self.patience.timeout:g} seconds: {', '.join(left)}.")

    def _await_deployments(self, entries: Sequence[InstalledObject], kinds: Mapping[Key, ObjectKind]) -> None:
        def missing() -> list[str]:
            return [
                why
                for entry in entries
                for why in [_not_rolled_out(entry, self.kube.get(kinds[entry.key], entry.name, entry.namespace))]
                if why
            ]

        left = self._until(missing, "; ".join)
        if left:
            raise Failure(
                "timeout",
                f"Not within {self.patience.timeout:g} seconds: {'; '.join(left)}.",
                object=", ".join(map(str, entries)),
                hint="Look at its pods and their logs; a later run goes on waiting.",
            )

    def _until(self, missing: Callable[[], list[str]], tell: Callable[[list[str]], str]) -> list[str]:
        """Look until nothing is missing; what is when the time is up."""
        last: list[str] = []

        def look() -> list[str]:
            last[:] = missing()
            return last

        return [] if self.patience.until(look, lambda seen: not seen, tell) is not None else last

    # -- absent -----------------------------------------------------------------------------------------------------

    def remove(self, *, definitions: bool, wait: bool) -> None:
        """Take away what the record calls ours; what must stay stays in the record."""
        before = self.record()
        catalogue = Catalogue(self.kube)
        for entry in before:
            if not entry.ours:
                self.told.append(entry.told("kept", "it was there before"))
        ours = [entry for entry in before if entry.ours]
        left = self._remove(catalogue, ours, definitions=definitions, wait=wait)
        self._keep(before, left)

    def _remove(
        self, catalogue: Catalogue, entries: Sequence[InstalledObject], *, definitions: bool, wait: bool = True
    ) -> list[InstalledObject]:
        """What cannot go, or not yet."""
        kept, gone = [], []
        # Kinds go when everything else has gone: objects of theirs may be among it.
        for entry in sorted(entries, key=lambda each: (each.kind == CRD, -each.rank, each.key)):
            kind = catalogue.served(entry)
            body = self.kube.get(kind, entry.name, entry.namespace) if kind else None
            if kind is None or body is None:
                continue
            reason = self._why_kept(entry, body, entries, definitions)
            if reason:
                self.told.append(entry.told("kept", reason))
                kept += [entry] if installed.carries(body, self.mark) else []
                continue
            if not is_deleted(body):
                self.steps.append(Step("delete", str(entry), before=installed.difference(None, body)[1]))
                if not self.check:
                    self.kube.delete(kind, entry.name, entry.namespace, uid=body["metadata"]["uid"])
            self.told.append(entry.told("deleted"))
            gone.append((kind, entry))
        if wait and gone and not self.check:
            self._await_end(gone)
        return kept

    def _why_kept(
        self, entry: InstalledObject, body: Object, entries: Sequence[InstalledObject], definitions: bool
    ) -> str:
        if not installed.carries(body, self.mark):
            return "somebody else made it after the one that was installed had gone"
        if entry.kind == CRD and not definitions:
            return "kinds are removed only when that is asked for"
        if entry.kind == CRD and installed.kept_by_others(body, MANAGER):
            return "somebody else keeps it too"
        if entry.kind == CRD:
            return self._in_use(body)
        if entry.kind == NAMESPACE:
            return self._inhabited(entry.name, {each.key for each in entries})
        return ""

    def _in_use(self, body: Object) -> str:
        """Which objects of this kind there are that nobody but the installation made."""
        unread = ""
        for kind in _defined(body):
            found, why = self._readable(partial(self.kube.list, kind))
            unread = unread or why
            others = [each for each in found or () if not installed.goes_along(each, self.byproducts)]
            if others:
                return f"there are objects of it: {_some(others)}"
        return unread

    def _inhabited(self, namespace: str, keys: set[Key]) -> str:
        """What is in a namespace that did not come with the installation, or why that is not known."""
        unread = ""
        for api in self.kube.apis():
            kinds, why = self._readable(partial(self.kube.kinds, api, listable=True))
            unread = unread or why
            for kind in (kinds or {}).values():
                if not kind.namespaced:
                    continue
                found, why = self._readable(partial(self.kube.list, kind, namespace))
                unread = unread or why
                others = [
                    body
                    for body in found or ()
                    if entry_of(body).key not in keys and not installed.goes_along(body, self.byproducts)
                ]
                if others:
                    return f"there is something else in it: {kind} {_some(others)}"
        return unread

    def _readable(self, read: Callable[[], Found]) -> tuple[Found | None, str]:
        """What is read, or why it cannot be: one kind that nobody serves now, or that is forbidden, ends no run."""
        try:
            return read(), ""
        except Failure as failure:
            if failure.kind not in ("forbidden", "unavailable"):
                raise
            return None, f"whether there is something else could not be seen: {failure.message.rstrip('.')}"

    def _await_end(self, gone: Sequence[tuple[ObjectKind, InstalledObject]]) -> None:
        def left() -> list[str]:
            there = [(entry, self.kube.get(kind, entry.name, entry.namespace)) for kind, entry in gone]
            return [f"{entry}{_finalizers(body)}" for entry, body in there if body is not None]

        last = self._until(left, lambda names: f"{len(names)} of {len(gone)} objects still end" if names else "")
        if last:
            raise Failure(
                "timeout",
                f"Not gone within {self.patience.timeout:g} seconds: {', '.join(last)}.",
                hint="See what still holds them; a later run goes on.",
            )


def _some(bodies: Sequence[Object]) -> str:
    names = [str(entry_of(body)).partition(" ")[2] for body in bodies]
    return f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"


def _finalizers(body: Object) -> str:
    held = [*(body["metadata"].get("finalizers") or []), *((body.get("spec") or {}).get("finalizers") or [])]
    return f" (finalizers: {', '.join(held)})" if held else ""


def _holds(body: Object | None, kind: str) -> bool:
    conditions = ((body or {}).get("status") or {}).get("conditions") or []
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)


def _not_rolled_out(entry: InstalledObject, body: Object | None) -> str:
    """Why this Deployment does not serve yet as it is wished; empty when it does."""
    if body is None:
        return f"{entry} is not there any more"
    status, wanted = body.get("status") or {}, (body.get("spec") or {}).get("replicas", 1)
    if status.get("observedGeneration", 0) < body["metadata"].get("generation", 0):
        return f"{entry}: its change is not seen yet"
    if status.get("updatedReplicas", 0) < wanted:
        return f"{entry}: {status.get('updatedReplicas', 0)} of {wanted} pods are new"
    if status.get("availableReplicas", 0) < wanted:
        told = [each.get("message", "") for each in status.get("conditions") or [] if each["status"] != "True"]
        return f"{entry}: {status.get('availableReplicas', 0)} of {wanted} pods serve{_because(told)}"
    return ""


def _because(messages: Sequence[str]) -> str:
    said = [message.rstrip(".") for message in messages if message]
    return f" ({'; '.join(said)})" if said else ""
