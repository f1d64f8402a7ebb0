# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfigs that come from a cluster. They are data: one server, and what lets in, all of it inline.

Whoever may write Secrets beside a hosted cluster may write its kubeconfig. A kubeconfig can name a program to run,
files to read and send, and a proxy; here it cannot.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure

MISSING: ImportError | None = None
try:
    import yaml
except ImportError as missing:
    MISSING = missing

SECTIONS = ("clusters", "users", "contexts")
WHOLE = frozenset({"apiVersion", "kind", "preferences", "current-context", *SECTIONS})
CLUSTER = frozenset({"server", "certificate-authority-data"})
USER = frozenset({"client-certificate-data", "client-key-data", "token"})
CONTEXT = frozenset({"cluster", "user", "namespace"})
ALLOWED: Mapping[str, frozenset[str]] = {"clusters": CLUSTER, "users": USER, "contexts": CONTEXT}
TOKEN = re.compile(r"[\x21-\x7e]+")
HTTPS = 443
MOST_NAMED = 3


class NotPlain(Exception):
    """Why a kubeconfig is not taken, as the end of a sentence; it quotes no value."""


@dataclass(frozen=True)
class Published:
    """The server of a kubeconfig, and what lets in there."""

    server: str
    authority: str = field(repr=False)
    user: Mapping[str, str] = field(repr=False)

    @classmethod
    def read(cls, content: str | bytes | Mapping[str, Any], label: str = "the kubeconfig") -> Published:
        """What a kubeconfig names; the failure if it holds anything that is not plain data."""
        if MISSING:
            raise missing_library(MISSING, "kubernetes")
        try:
            return cls._of(content if isinstance(content, Mapping) else _parsed(content))
        except NotPlain as why:
            raise refused(label, str(why)) from None

    @classmethod
    def _of(cls, whole: Mapping[str, Any]) -> Published:
        _must_be_known(whole, WHOLE, "it")
        if whole.get("preferences"):
            raise NotPlain("it holds preferences")
        named = {section: _entries(whole, section) for section in SECTIONS}
        context = _named(named["contexts"], whole.get("current-context"), "context")
        cluster = _named(named["clusters"], context.get("cluster"), "cluster")
        user = _named(named["users"], context.get("user"), "user")
        for name, value in (*cluster.items(), *user.items()):
            _must_be_inline(name, value)
        return cls(str(cluster.get("server", "")), str(cluster.get("certificate-authority-data", "")), dict(user))

    def is_at(self, host: str, port: int) -> bool:
        """Whether its server is this address, by TLS, and nothing else is in its URL."""
        try:
            url = urlsplit(self.server)
            found = (url.scheme, url.hostname, url.port or HTTPS)
        except ValueError:
            return False
        plain = not (url.username or url.password or url.query or url.fragment or url.path.strip("/"))
        return plain and found == ("https", host.strip("[]").lower(), port)

    def whole(self, name: str = "hosted") -> dict[str, Any]:
        """A kubeconfig that holds this and nothing else, every part of it under the same name."""
        cluster = {"server": self.server}
        if self.authority:
            cluster["certificate-authority-data"] = self.authority
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": dict(self.user)}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }

    def text(self, name: str = "hosted") -> str:
        return as_text(self.whole(name))


def as_text(whole: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(whole), sort_keys=False))


def refused(label: str, why: str) -> Failure:
    """The failure for a kubeconfig that is not taken."""
    return Failure(
        "failed_state",
        f"{label[:1].upper()}{label[1:]} is not used: {why}.",
        object=label,
        reason=why,
        hint="A kubeconfig from a cluster may hold a server, its authority, and a client certificate or a token, "
        "all of them inline. See who changed it, and delete it: HyperShift writes it anew.",
    )


def _parsed(content: str | bytes) -> Mapping[str, Any]:
    """Every scalar as text: no date and no number is made of it, and nothing is merged into anything."""
    try:
        parsed = yaml.load(content, Loader=yaml.BaseLoader)
    # A text of ten thousand brackets is YAML, and deeper than Python goes.
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        parsed = None
    if not isinstance(parsed, Mapping):
        raise NotPlain("it is not a kubeconfig")
    return parsed


def _entries(whole: Mapping[str, Any], section: str) -> list[tuple[Any, Mapping[str, Any]]]:
    """Name and content of the entries of a section, each with nothing in it but what is allowed."""
    noun = section[:-1]
    found = whole.get(section)
    if not isinstance(found, list) or not all(isinstance(entry, Mapping) for entry in found):
        raise NotPlain(f"it has no list of {section}")
    for entry in found:
        _must_be_known(entry, {"name", noun}, f"one of its {section}")
        if not isinstance(entry.get(noun), Mapping):
            raise NotPlain(f"one of its {section} is empty")
        _must_be_known(entry[noun], ALLOWED[section], f"its {noun}")
    return [(entry.get("name"), entry[noun]) for entry in found]


def _must_be_known(part: Mapping[str, Any], allowed: Collection[str], what: str) -> None:
    others = sorted(str(name) for name in part if name not in allowed)
    if others:
        raise NotPlain(f"{what} holds {' and '.join(others[:MOST_NAMED])}")


def _named(entries: list[tuple[Any, Mapping[str, Any]]], name: Any, noun: str) -> Mapping[str, Any]:
    found = [content for own, content in entries if own == name]
    if len(found) != 1:
        raise NotPlain(f"it names a {noun} that it does not hold once")
    return found[0]


def _must_be_inline(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise NotPlain(f"its {name} is not a text")
    if name == "token" and not TOKEN.fullmatch(value):
        raise NotPlain("its token holds what no token holds")
    if name.endswith("-data"):
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise NotPlain(f"its {name} is not in base64") from None
