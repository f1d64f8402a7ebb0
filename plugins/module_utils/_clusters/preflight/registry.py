# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a registry gives out an image, asked as the operator asks: with the pull secret, by the manifest.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library

MISSING: ImportError | None = None
try:
    import requests
    from requests.exceptions import RequestException, SSLError
except ImportError as missing:
    MISSING = missing

INDEXES = ("application/vnd.docker.distribution.manifest.list.v2+json", "application/vnd.oci.image.index.v1+json")
MANIFESTS = ("application/vnd.docker.distribution.manifest.v2+json", "application/vnd.oci.image.manifest.v1+json")
TIMEOUT = (5.0, 15.0)
LONGEST_MANIFEST = 1 << 20
CHALLENGE = re.compile(r'(\w+)="([^"]*)"')

Verdict = Literal["there", "missing", "refused", "unreachable", "untrusted", "strange"]


@dataclass(frozen=True)
class Image:
    """The parts of an image's name."""

    host: str
    repository: str
    reference: str

    @classmethod
    def parse(cls, name: str) -> Image | None:
        """None if the name does not begin with a registry, or ends in no tag and no digest."""
        host, slash, rest = name.partition("/")
        if not slash or not ("." in host or ":" in host or host == "localhost"):
            return None
        path, at, digest = rest.partition("@")
        last = path.rpartition("/")[2]
        tag = last.partition(":")[2]
        repository = path[: len(path) - len(tag) - 1] if tag else path
        if not repository or not (digest if at else tag):
            return None
        return cls(host, repository, digest or tag)


@dataclass(frozen=True)
class RegistryAnswer:
    """What a registry said about an image."""

    verdict: Verdict
    said: str = ""
    # Of an image with several: the architectures. Of an image with one, nobody tells without reading more.
    architectures: tuple[str, ...] = ()


def ask(image: Image, pull_secret: str, *, verify: bool | str = True) -> RegistryAnswer:
    """One to three requests: the manifest, if need be a token, and the manifest again."""
    if MISSING:
        raise missing_library(MISSING, "requests")
    login = login_for(f"{image.host}/{image.repository}", pull_secret)
    with requests.Session() as session:
        # The registry of the release is reached as the environment says, but never with a login from ~/.netrc.
        session.auth = _as_is
        try:
            return _asked(session, image, login, verify)
        except SSLError as error:
            return RegistryAnswer("untrusted", _reason(error))
        except RequestException as error:
            return RegistryAnswer("unreachable", _reason(error))


def login_for(repository: str, pull_secret: str) -> str:
    """The `user:password` in Base64 that a pull secret has for a repository; empty if it has none, or is not readable.

    A login may be for a part of a registry, `quay.io/team`; the one that says most counts.
    """
    parts = repository.split("/")
    places = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    try:
        logins = json.loads(pull_secret or "{}").get("auths") or {}
        named = (logins.get(key) for place in places for key in (place, f"https://{place}"))
        login: Mapping[str, Any] = next(filter(None, named), {})
        return str(login.get("auth") or _encoded(login))
    except (ValueError, AttributeError, TypeError):
        return ""


def _encoded(login: Mapping[str, Any]) -> str:
    if not login.get("username"):
        return ""
    return base64.b64encode(f"{login['username']}:{login.get('password', '')}".encode()).decode()


def _asked(session: requests.Session, image: Image, login: str, verify: bool | str) -> RegistryAnswer:
    url = f"https://{image.host}/v2/{image.repository}/manifests/{image.reference}"
    headers = {"Accept": ", ".join((*INDEXES, *MANIFESTS))}
    # With each request: a session's own is overruled by the environment.
    response = session.get(url, headers=headers, timeout=TIMEOUT, verify=verify, stream=True)
    if response.status_code == 401:
        authorization = _authorization(session, response.headers.get("WWW-Authenticate", ""), login, verify)
        if authorization:
            response = session.get(
                url, headers={**headers, "Authorization": authorization}, timeout=TIMEOUT, verify=verify, stream=True
            )
    if response.status_code in (401, 403):
        return RegistryAnswer("refused", f"status {response.status_code}")
    if response.status_code == 404:
        return RegistryAnswer("missing", "status 404")
    if response.status_code != 200:
        return RegistryAnswer("strange", f"status {response.status_code}")
    try:
        manifest = json.loads(_beginning(response))
        listed = [entry["platform"]["architecture"] for entry in manifest.get("manifests") or [] if "platform" in entry]
    except (ValueError, AttributeError, TypeError, KeyError):
        return RegistryAnswer("strange", "what it calls a manifest is none")
    return RegistryAnswer("there", architectures=tuple(sorted(set(map(str, listed)) - {"unknown"})))


def _beginning(response: requests.Response) -> bytes:
    """As much of the body as a manifest may have: what a registry sends has no bound."""
    content = b""
    for block in response.iter_content(1 << 16):
        content += block
        if len(content) > LONGEST_MANIFEST:
            break
    return content[:LONGEST_MANIFEST]


def _authorization(session: requests.Session, challenge: str, login: str, verify: bool | str) -> str:
    """What to send along after a 401; empty if there is nothing that could help."""
    scheme, _space, rest = challenge.partition(" ")
    if scheme.lower() == "basic":
        return f"Basic {login}" if login else ""
    asked = dict(CHALLENGE.findall(rest))
    realm = asked.pop("realm", "")
    if scheme.lower() != "bearer" or not realm.startswith("https://"):
        return ""
    headers = {"Authorization": f"Basic {login}"} if login else {}
    response = session.get(realm, params=asked, headers=headers, timeout=TIMEOUT, verify=verify)
    if response.status_code != 200:
        return ""
    try:
        answer = response.json()
        token = answer.get("token") or answer.get("access_token") or ""
    except (ValueError, AttributeError):
        return ""
    return f"Bearer {token}" if token else ""


def _as_is(request: Any) -> Any:
    return request


def _reason(error: Exception) -> str:
    """The last, plainest part of what requests says; the rest repeats the URL."""
    text = str(error)
    found = re.findall(
        r"(certificate verify failed: [^(]*|\[Errno [^\]]*\] [^'\")]*|Name or service not known|timed out)", text
    )
    return (found[-1] if found else type(error).__name__).strip()
