# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A container registry on loopback, which serves the lab's release images out of memory."""

from __future__ import annotations

import base64
import json
import logging
import re
import secrets
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from metalshift_lab.kube import releases
from metalshift_lab.kube.https import Handler, Server, server_context
from metalshift_lab.kube.releases import CONFIG, LAYER, MANIFEST, OPERATOR, RELEASES, Image, Tagged

TOKEN_PATH = "/v2/auth"
JSON = "application/json"
MANIFEST_PATH = re.compile(r"/v2/(?P<repository>.+)/manifests/(?P<name>[^/]+)")
BLOB_PATH = re.compile(r"/v2/(?P<repository>.+)/blobs/(?P<digest>[^/]+)")

# code -> (status, message): the words of a real registry, which its clients repeat to their users.
ERRORS = {
    "MANIFEST_UNKNOWN": (404, "manifest unknown"),
    "BLOB_UNKNOWN": (404, "blob unknown to registry"),
    "NAME_UNKNOWN": (404, "repository name not known to registry"),
    "UNSUPPORTED": (405, "The operation is unsupported."),
    "UNAUTHORIZED": (401, "access to the requested resource is not authorized"),
}
WRONG_CREDENTIALS = "Could not find robot or user with these credentials"


@dataclass
class Shelf:
    """The images of a registry, by tag and by digest."""

    images: dict[Tagged, Image] = field(default_factory=dict)
    blobs: dict[str, tuple[bytes, str]] = field(default_factory=dict)

    def put(self, tagged: Tagged, image: Image) -> None:
        self.images[tagged] = self.images[tagged[0], image.digest] = image
        for blob, media in ((image.config, CONFIG), (image.layer, LAYER)):
            self.blobs[releases.digest(blob)] = blob, media

    def drop(self, tagged: Tagged) -> None:
        image = self.images.pop(tagged)
        self.images.pop((tagged[0], image.digest), None)


class Registry:
    """Serves releases (`image`) and operators (`operator`) over TLS, as a real registry would, with its faults."""

    name = "registry"

    def __init__(
        self,
        certificate_file: str | Path,
        key_file: str | Path,
        port: int = 0,
        versions: Sequence[str] = ("4.20.8", "4.20.10"),
    ) -> None:
        self.log = logging.getLogger("lab.registry")
        self._tls = server_context(certificate_file, key_file)
        self._port = port
        self._wanted = list(versions)
        self._server: Server | None = None
        self._lock = threading.Lock()
        self.shelf = Shelf()
        self.user, self.password = "lab", secrets.token_urlsafe(12)
        self._tokens: set[str] = set()
        self._private = False
        self._missing: set[Tagged] = set()
        self._replaced: dict[Tagged, Image | None] = {}

    # -- the part of the lab ----------------------------------------------------------------------------------------

    def start(self) -> None:
        with self._lock:
            if self._server is not None:
                return
            self._server = Server(self._port, self._tls, _handler(self))
            # The port is part of every image's name: it stays, whatever happens to the server.
            self._port = self._server.port
            while self._wanted:
                self.add(self._wanted.pop(0))
            self._server.open()

    def stop(self) -> None:
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.close()

    @property
    def host(self) -> str:
        if not self._port:
            raise RuntimeError("The registry has no address before it is started.")
        return f"127.0.0.1:{self._port}"

    # -- images -----------------------------------------------------------------------------------------------------

    @property
    def versions(self) -> list[str]:
        """The releases that are here, as they came."""
        return [tag for repository, tag in self.shelf.images if repository == RELEASES and ":" not in tag]

    def add(self, version: str, lacks: Collection[str] = ()) -> str:
        """Serve a further release, and say what its image is called."""
        for tagged, image in releases.release(self.host, version, lacks).items():
            self.shelf.put(tagged, image)
        return self.image(version)

    def image(self, version: str, *, by_digest: bool = False) -> str:
        """What the release image of this version is called, whether it is here or not."""
        if by_digest:
            return f"{self.host}/{RELEASES}@{self.shelf.images[RELEASES, version].digest}"
        return f"{self.host}/{RELEASES}:{version}"

    def version(self, image: str) -> str | None:
        """The release that an image of this registry is, called by tag or digest."""
        found = self.shelf.images.get((RELEASES, _reference(image)))
        return next((tag for tag in self.versions if self.shelf.images[RELEASES, tag] is found), None)

    def operator(self, tag: str) -> str:
        """Serve an operator's image with this tag, and say what it is called."""
        self.shelf.put((OPERATOR, tag), releases.operator(tag))
        return f"{self.host}/{OPERATOR}:{tag}"

    def pull_secret(self) -> str:
        """A .dockerconfigjson with the credentials for this registry, which it only asks for when told to."""
        pair = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return json.dumps({"auths": {self.host: {"auth": pair}}})

    # -- faults -----------------------------------------------------------------------------------------------------

    def faults(self) -> dict[str, Callable[..., None]]:
        return {
            "missing": self._hide,
            "no-release": self._empty,
            "incomplete": self._add_incomplete,
            "down": self.stop,
            "unauthorized": self._close_to_strangers,
        }

    def heal(self) -> None:
        self._missing.clear()
        self._private = False
        for tagged, image in self._replaced.items():
            if image is None:
                self.shelf.drop(tagged)
            else:
                self.shelf.put(tagged, image)
        self._replaced.clear()
        self.start()

    def _hide(self, version: str) -> None:
        """The release is not in the registry any more."""
        tagged = (RELEASES, version)
        if tagged in self.shelf.images:
            self._missing |= {tagged, (RELEASES, self.shelf.images[tagged].digest)}

    def _empty(self, version: str) -> None:
        """What is tagged with this version is an image, but not one of a release."""
        tagged = (RELEASES, version)
        self._replaced.setdefault(tagged, self.shelf.images.get(tagged))
        self.shelf.put(tagged, releases.image(tagged))

    def _add_incomplete(self, version: str, lacks: str) -> None:
        """A release in which components (with commas between them) are missing."""
        self._replaced.setdefault((RELEASES, version), self.shelf.images.get((RELEASES, version)))
        self.add(version, lacks.split(","))

    def _close_to_strangers(self) -> None:
        """Nothing is served without the right credentials in the pull secret."""
        self._private = True

    # -- what the server asks ---------------------------------------------------------------------------------------

    def manifest(self, repository: str, name: str) -> Image | None:
        tagged = (repository, name)
        return None if tagged in self._missing else self.shelf.images.get(tagged)

    def allows(self, authorization: str) -> bool:
        return not self._private or authorization.removeprefix("Bearer ") in self._tokens

    @property
    def private(self) -> bool:
        return self._private

    def token(self, authorization: str) -> str | None:
        """A token for these credentials; a useless one for a stranger; None when they are wrong."""
        token = secrets.token_urlsafe(24)
        if authorization:
            right = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            if not secrets.compare_digest(authorization, f"Basic {right}"):
                return None
            self._tokens.add(token)
        return token


def _reference(image: str) -> str:
    """The tag or digest in an image's name."""
    _rest, at, digest = image.partition("@")
    return digest if at else image.rsplit("/", 1)[-1].partition(":")[2]


def _handler(registry: Registry) -> type[Handler]:
    class Answers(Handler):
        server_version = "lab"

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path == TOKEN_PATH:
                self._give_token()
            elif not registry.allows(self.headers.get("Authorization", "")):
                self._ask_who()
            elif path in ("/v2/", "/v2"):
                self._say(200, b"{}", JSON)
            elif found := MANIFEST_PATH.fullmatch(path):
                self._send_manifest(found["repository"], found["name"])
            elif found := BLOB_PATH.fullmatch(path):
                self._send_blob(found["digest"])
            else:
                self._refuse("NAME_UNKNOWN")

        do_HEAD = do_GET

        def do_PUT(self) -> None:
            self.close_connection = True
            self._refuse("UNSUPPORTED")

        do_POST = do_PATCH = do_DELETE = do_PUT

        def _send_manifest(self, repository: str, name: str) -> None:
            image = registry.manifest(repository, name)
            if image is None:
                registry.log.info("nobody has put %s:%s here", repository, name)
                self._refuse("MANIFEST_UNKNOWN", {"Tag": name})
                return
            self._say(200, image.manifest, MANIFEST, Docker_Content_Digest=image.digest)

        def _send_blob(self, digest: str) -> None:
            if digest not in registry.shelf.blobs:
                self._refuse("BLOB_UNKNOWN", {"digest": digest})
                return
            blob, media = registry.shelf.blobs[digest]
            self._say(200, blob, media, Docker_Content_Digest=digest)

        def _give_token(self) -> None:
            token = registry.token(self.headers.get("Authorization", ""))
            if token is None:
                self._refuse("UNAUTHORIZED", message=WRONG_CREDENTIALS)
                return
            body = json.dumps({"token": token, "expires_in": 300}).encode()
            self._say(200, body, JSON)

        def _ask_who(self) -> None:
            service = registry.host
            challenge = f'Bearer realm="https://{service}{TOKEN_PATH}",service="{service}"'
            if found := MANIFEST_PATH.match(urlsplit(self.path).path):
                challenge += f',scope="repository:{found["repository"]}:pull"'
            self._refuse("UNAUTHORIZED", challenge=challenge)

        def _refuse(self, code: str, detail: object = None, *, message: str = "", challenge: str = "") -> None:
            status, usual = ERRORS[code]
            error = {"code": code, "message": message or usual, "detail": detail or {}}
            headers = {"WWW_Authenticate": challenge} if challenge else {}
            self._say(status, json.dumps({"errors": [error]}).encode(), JSON, **headers)

        def _say(self, status: int, body: bytes, content: str, **headers: str) -> None:
            self.answer(status, body, content, Docker_Distribution_Api_Version="registry/2.0", **headers)

    return Answers
