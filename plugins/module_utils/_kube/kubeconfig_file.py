# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kubeconfig on disk: what was written there for a hosted cluster, and what is somebody else's.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure, invalid
from ansible_collections.metalshift.maas.plugins.module_utils._kube.kubeconfig import SECTIONS, Published

MISSING: ImportError | None = None
try:
    import yaml
except ImportError as missing:
    MISSING = missing

# kubectl and other programs keep what stands under `extensions` as it is.
NOTE = "metalshift.maas"
# Of a file that a killed run left beside the one that it wrote; nobody else's ends so.
HALF_WRITTEN = ".metalshift"
LONGEST = 16 * 1024 * 1024


@dataclass(frozen=True)
class KubeconfigEntries:
    """What a kubeconfig holds, seen by one hosted cluster."""

    # None for a file that is no kubeconfig.
    whole: Mapping[str, Any] | None
    cluster: Mapping[str, str]
    name: str

    @classmethod
    def of(cls, content: bytes, namespace: str, name: str) -> KubeconfigEntries:
        if MISSING:
            raise missing_library(MISSING, "kubernetes")
        return cls(_parsed(content), {"namespace": namespace, "name": name}, name)

    @property
    def has_own(self) -> bool:
        return any(True for _entry in self._all(self._is_own))

    @property
    def has_others(self) -> bool:
        return self.whole is None or any(True for _entry in self._all(lambda entry: not self._is_own(entry)))

    @property
    def others(self) -> str:
        """What they are, as the end of a sentence."""
        if self.whole is None:
            return "is not a kubeconfig"
        names = [str(entry.get("name")) for entry in _listed(self.whole, "contexts") if not self._is_own(entry)]
        if not names:
            return "holds what was not written there for this hosted cluster"
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return (
            f"holds the context{'s' if len(names) > 1 else ''} {', '.join(names[:3])}{more}, written by somebody else"
        )

    def refuse_namesakes(self, path: str) -> None:
        """Raise the failure for what cannot be merged into."""
        if self.whole is None:
            raise Failure(
                "conflict",
                f"{path} was left as it is: it is not a kubeconfig, so that no context fits in.",
                object=path,
            )
        for entry in self._all(lambda entry: not self._is_own(entry)):
            if entry.get("name") == self.name:
                raise Failure(
                    "conflict",
                    f"{path} was left as it is: it has {self.name} already, which was not written there for "
                    f"{self.cluster['namespace']}/{self.name}.",
                    object=path,
                    hint="Rename that one, or name another file as dest.",
                )

    def with_own(self, published: Published) -> dict[str, Any]:
        """The whole with the context of the hosted cluster as it is published now."""
        own = published.whole(self.name)
        if not self.whole:
            return {**own, **{section: [self._noted(entry, section) for entry in own[section]] for section in SECTIONS}}
        result = {**self.whole}
        for section in SECTIONS:
            (entry,) = own[section]
            kept = _listed(self.whole, section)
            places = [place for place, each in enumerate(kept) if self._is_own(each)]
            others = [each for each in kept if not self._is_own(each)]
            # Where it was, so that an unchanged one leaves the file unchanged.
            others.insert(min(places[0] if places else len(kept), len(others)), self._noted(entry, section))
            result[section] = others
        result["current-context"] = self.whole.get("current-context") or self.name
        return result

    def without_own(self) -> dict[str, Any]:
        result = {**(self.whole or {})}
        for section in SECTIONS:
            result[section] = [entry for entry in _listed(result, section) if not self._is_own(entry)]
        if result.get("current-context") == self.name:
            result["current-context"] = ""
        return result

    def _noted(self, entry: Mapping[str, Any], section: str) -> dict[str, Any]:
        """With the note of whose it is."""
        noun = section[:-1]
        note = [{"name": NOTE, "extension": dict(self.cluster)}]
        return {"name": entry["name"], noun: {**entry[noun], "extensions": note}}

    def _is_own(self, entry: Mapping[str, Any]) -> bool:
        contents = [value for key, value in entry.items() if key in ("cluster", "user", "context")]
        notes = contents[0].get("extensions") if contents and isinstance(contents[0], Mapping) else None
        return isinstance(notes, list) and {"name": NOTE, "extension": dict(self.cluster)} in notes

    def _all(self, wanted: Callable[[Mapping[str, Any]], bool]) -> Iterator[Mapping[str, Any]]:
        for section in SECTIONS:
            yield from filter(wanted, _listed(self.whole or {}, section))


@dataclass(frozen=True)
class KubeconfigState:
    """A file as it is."""

    content: bytes
    mode: int


class KubeconfigFile:
    """One file, read and written as one that others must not read."""

    def __init__(self, dest: str) -> None:
        self.path = os.path.abspath(dest)
        self._folder, self._name = os.path.split(self.path)

    def must_have_its_folder(self) -> None:
        if not os.path.isdir(self._folder):
            raise invalid(f"dest is in a folder that does not exist: {self._folder}.", "Make the folder first.")
        if os.path.isdir(self.path):
            raise invalid(f"dest is a folder: {self.path}.", "Name the file in it.")

    def must_be_no_link(self) -> None:
        """A link is never followed when it is written: it would become a file, and what it leads to would stay."""
        if os.path.islink(self.path):
            raise invalid(f"dest is a symbolic link: {self.path}.", "Name the file to which it leads.")

    def read(self) -> KubeconfigState | None:
        """The file; None if there is none. What is no file is not waited for."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode):
                    raise invalid(f"dest is not a file: {self.path}.", "Name a file.")
                if found.st_size > LONGEST:
                    raise invalid(f"dest is larger than a kubeconfig can be: {self.path}.", "Name another file.")
                return KubeconfigState(file.read(), stat.S_IMODE(found.st_mode))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise invalid(f"dest cannot be read: {self.path} ({error.strerror}).") from None

    def write(self, content: bytes, mode: int) -> None:
        """In a file beside it, which is the owner's alone from the beginning, and then in its place."""
        self._sweep()
        try:
            descriptor, temporary = tempfile.mkstemp(HALF_WRITTEN, f".{self._name}.", self._folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    # As long as it is written, no other run takes it for a left-over.
                    fcntl.flock(file, fcntl.LOCK_EX)
                    file.write(content)
                    file.flush()
                    os.fchmod(file.fileno(), mode)
                    os.fsync(file.fileno())
                    os.replace(temporary, self.path)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            raise invalid(f"dest cannot be written: {self.path} ({error.strerror}).") from None

    def keep(self, there: KubeconfigState, now: time.struct_time) -> str:
        """A copy beside it, as Ansible names one."""
        kept = f"{self.path}.{time.strftime('%Y-%m-%d@%H:%M:%S', now)}~"
        try:
            descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(there.content)
                os.fsync(file.fileno())
        except OSError as error:
            raise invalid(f"A copy of dest cannot be kept: {kept} ({error.strerror}).") from None
        return kept

    def remove(self) -> None:
        self._sweep()
        try:
            os.unlink(self.path)
        except OSError as error:
            raise invalid(f"dest cannot be removed: {self.path} ({error.strerror}).") from None

    def _sweep(self) -> None:
        """Remove what killed runs have left beside the file; what a run is writing now is locked."""
        with suppress(OSError):
            for name in os.listdir(self._folder):
                if name.startswith(f".{self._name}.") and name.endswith(HALF_WRITTEN):
                    _remove_unlocked(os.path.join(self._folder, name))


def _remove_unlocked(path: str) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
        finally:
            os.close(descriptor)


def _parsed(content: bytes) -> Mapping[str, Any] | None:
    if not content.strip():
        return {}
    try:
        parsed = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if not isinstance(parsed, Mapping) or parsed.get("kind", "Config") != "Config" or "clusters" not in parsed:
        return None
    return parsed


def _listed(whole: Mapping[str, Any], section: str) -> list[Mapping[str, Any]]:
    found = whole.get(section)
    return [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []
