# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing Kubernetes objects to what a task wishes: found, compared, shown, tried, written.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.desired.pure import secrets
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Step
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.differences import Difference, differences
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.errors import KeptByOthers
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import (
    NAMESPACES,
    Object,
    ObjectKind,
    kind_of,
)
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.ownership import applied

if TYPE_CHECKING:
    from ansible_collections.metalshift.maas.plugins.module_utils._kube.client import Kube


# An operator may write an object between the look at it and the apply.
TAKE_OVER_ATTEMPTS = 5


def label_of(kind: ObjectKind, namespace: str, name: str) -> str:
    """An object in a sentence."""
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


@dataclass(frozen=True)
class DesiredObject:
    """One object as it is, and as it is to be applied. One that is made `once` is never written again."""

    wanted: Object
    live: Object | None
    once: bool = False
    # Fields that are taken from whoever keeps them; None where the task has no such option.
    take_over: Sequence[str] | None = None
    differences: Sequence[Difference] = field(init=False)

    def __post_init__(self) -> None:
        found: list[Difference] = []
        if self.live is not None and not self.once and not self._is_secret_as_wished:
            found = differences(self.live, self.wanted, applied(self.live))
        object.__setattr__(self, "differences", found)

    @property
    def _is_secret_as_wished(self) -> bool:
        """Whether it is a Secret that holds what is wanted, in whatever words, with the labels that are wanted."""
        live, wanted = self.live or {}, self.wanted
        if wanted["kind"] != "Secret" or not secrets.same_content(live, wanted):
            return False
        return not differences({**live, "data": None}, {**wanted, "data": None}, {})

    @property
    def label(self) -> str:
        metadata = self.wanted["metadata"]
        return label_of(kind_of(self.wanted), metadata.get("namespace", ""), metadata["name"])

    @property
    def step(self) -> Step | None:
        """What is to be done, as it is shown; None when it is as wished."""
        if self.live is None:
            return Step("create", self.label, after=_told(self.wanted))
        if not self.differences:
            return None
        before = {each.field: self._shown(each, each.now, secrets.HIDDEN_BEFORE) for each in self.differences}
        after = {each.field: self._shown(each, each.wanted, secrets.HIDDEN_AFTER) for each in self.differences}
        return Step("update", self.label, ", ".join(before), before, after)

    def _shown(self, difference: Difference, value: Any, hidden: str) -> Any:
        is_secret = self.wanted["kind"] == "Secret" and difference.path[0] == "data"
        return hidden if is_secret and value is not None else value

    def tried(self, kube: Kube) -> Object:
        """The object as the API would have it, by a dry run. One whose namespace is missing is tried in another."""
        try:
            return self._apply(kube, dry_run=True)
        except Failure as failure:
            if failure.kind != "not_found" or self.live is not None:
                raise
        metadata = {**self.wanted["metadata"], "namespace": "default"}
        try:
            found = kube.apply({**self.wanted, "metadata": metadata}, dry_run=True)
        except Failure as failure:
            if failure.kind != "forbidden":
                raise
            return self.wanted
        return {**found, "metadata": {**found["metadata"], "namespace": self.wanted["metadata"]["namespace"]}}

    def carry_out(self, kube: Kube) -> Object:
        """Write it, and return it as it is then."""
        if not self.once:
            return self._apply(kube)
        try:
            return kube.create(self.wanted)
        except Failure as failure:
            # Another run has made it in the meantime.
            metadata = self.wanted["metadata"]
            found = kube.get(kind_of(self.wanted), metadata["name"], metadata.get("namespace", ""))
            if failure.kind != "conflict" or found is None:
                raise
            return found

    def _apply(self, kube: Kube, *, dry_run: bool = False) -> Object:
        """Apply it, and take over what is named if that is all that is in the way."""
        try:
            return kube.apply(self.wanted, dry_run=dry_run)
        except KeptByOthers as kept:
            self._refuse_what_is_not_named(kept)
        for _attempt in range(TAKE_OVER_ATTEMPTS):
            version = self._version_without_others(kube)
            try:
                return kube.apply(self.wanted, dry_run=dry_run, force_at=version)
            except Failure as failure:
                # Somebody, perhaps an operator, has written it since it was looked at.
                if failure.kind != "conflict":
                    raise
        return kube.apply(self.wanted, dry_run=dry_run)

    def _version_without_others(self, kube: Kube) -> str:
        """The version in which nothing but what is named is kept by others."""
        metadata = self.wanted["metadata"]
        live = kube.get(kind_of(self.wanted), metadata["name"], metadata.get("namespace", "")) or {}
        version = str(live.get("metadata", {}).get("resourceVersion", ""))
        try:
            kube.apply({**self.wanted, "metadata": {**metadata, "resourceVersion": version}}, dry_run=True)
        except KeptByOthers as kept:
            self._refuse_what_is_not_named(kept)
        except Failure as failure:
            if failure.kind != "conflict":
                raise
        return version

    def _refuse_what_is_not_named(self, kept: KeptByOthers) -> None:
        if self.take_over is None:
            raise kept
        fields = sorted(kept.fields)
        if not fields or not all(is_within(field, self.take_over) for field in fields):
            it, is_as_it_is = ("it", "it is") if len(fields) == 1 else ("them", "they are")
            hint = f"Leave {it} as {is_as_it_is}, or take {it} over with take_over: [{', '.join(fields)}]."
            raise replace(kept, hint=hint)


def is_within(field: str, named: Sequence[str]) -> bool:
    """Whether a field is one of those named, or in one of them."""
    names = [name.lstrip(".") for name in named]
    return any(field == name or field.startswith((f"{name}.", f"{name}[")) for name in names)


# Options for the removal alone → what does what may have been meant.
OF_REMOVAL: Mapping[str, str] = {
    "force": "Finalizers are removed by a task with state: absent, of the cluster or of a node pool that hangs.",
    "remove_credentials": "The credentials go with the cluster, by a task with state: absent.",
    "erase": "Machines that a node pool gives back are erased with erase of metalshift.maas.node_pool.",
    "dns_names": "Names are created with metalshift.maas.dns_record.",
}


def refuse_options_of_removal(params: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise the failure for what would be ignored where nothing is removed."""
    given = [name for name in names if params[name]]
    if given:
        raise invalid(
            f"{' and '.join(given)} {'are' if len(given) > 1 else 'is'} for state: absent, not for state: present.",
            " ".join(OF_REMOVAL[name] for name in given),
        )


def namespace_wish(kube: Kube, name: str) -> DesiredObject:
    """A namespace that is there, or is to be made; it is not ours to change."""
    try:
        live = kube.get(NAMESPACES, name)
    except Failure as failure:
        if failure.kind != "forbidden":
            raise
        # Whoever may not even look at it was given it by somebody else.
        live = {"metadata": {"name": name}}
    return DesiredObject({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, live, once=True)


def _told(body: Object) -> Mapping[str, Any]:
    shown = secrets.shown(body)
    metadata = {key: value for key, value in body["metadata"].items() if key in ("labels", "annotations")}
    rest = {key: value for key, value in shown.items() if key not in ("apiVersion", "kind", "metadata")}
    return {**metadata, **rest}
