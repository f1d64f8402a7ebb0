# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Secrets that a hosted cluster needs: what is in them, and what may be shown of them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import base64
import json
import re
from binascii import Error as NotBase64
from collections.abc import Mapping
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.pure.facts import MADE_FOR_CLUSTER
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.objects import MANAGED_BY, MANAGER

PULL_SECRET = ".dockerconfigjson"
SSH_KEY = "id_rsa.pub"
ENCRYPTION_KEY = "key"
ENCRYPTION_BYTES = 32
ENDPOINT, API_KEY = "MAAS_ENDPOINT", "MAAS_API_KEY"
TRUST_BUNDLE = "ca-bundle.crt"

HIDDEN = "(hidden)"
HIDDEN_BEFORE, HIDDEN_AFTER = "(hidden, as it is)", "(hidden, as it will be)"

_SSH = re.compile(r"(ssh|ecdsa|sk)-[\w@.-]+ [A-Za-z0-9+/]+=*( .*)?")


def labels(cluster: str) -> dict[str, str]:
    """What everything that we make for a hosted cluster carries."""
    return {MANAGED_BY: MANAGER, MADE_FOR_CLUSTER: cluster}


def is_made_for(cluster: str, body: Object) -> bool:
    """Whether we made it, for this hosted cluster."""
    carried = (body.get("metadata") or {}).get("labels") or {}
    return labels(cluster).items() <= carried.items()


def secret(name: str, namespace: str, cluster: str, data: Mapping[str, bytes], kind: str = "Opaque") -> Object:
    """A Secret as it is applied."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace, "labels": labels(cluster)},
        "type": kind,
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }


def config_map(name: str, namespace: str, cluster: str, data: Mapping[str, str]) -> Object:
    """A ConfigMap as it is applied."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": labels(cluster)},
        "data": dict(data),
    }


def pull_secret(name: str, namespace: str, cluster: str, text: str) -> Object:
    """The Secret with the logins for registries."""
    return secret(name, namespace, cluster, {PULL_SECRET: _logins(text).encode()})


def _logins(text: str) -> str:
    try:
        found = json.loads(text)
    except ValueError:
        raise invalid("pull_secret is not JSON.", "Give what a registry's login file holds: {auths: ...}.") from None
    if not isinstance(found, dict) or not isinstance(found.get("auths"), dict) or not found["auths"]:
        raise invalid("pull_secret has no auths.", "Give what a registry's login file holds: {auths: ...}.")
    # One text for what means the same: a dictionary in a playbook has no order, and files end with a newline.
    return json.dumps(found, sort_keys=True)


def ssh_key(name: str, namespace: str, cluster: str, text: str) -> Object:
    """The Secret with the public key that is let in on every node."""
    key = text.strip()
    if "PRIVATE KEY" in key:
        raise invalid("ssh_key holds a private key.", "Give the public one, the content of the file that ends in .pub.")
    if not all(_SSH.fullmatch(line.strip()) for line in key.splitlines()) or not key:
        raise invalid("ssh_key is not a public key of SSH.", "Give the content of a file such as id_ed25519.pub.")
    return secret(name, namespace, cluster, {SSH_KEY: key.encode()})


def trust_bundle(name: str, namespace: str, cluster: str, text: str) -> Object:
    """The ConfigMap with the authorities that the cluster trusts as well."""
    if "-----BEGIN CERTIFICATE-----" not in text:
        raise invalid("trust_bundle holds no certificate.", "Give certificates in PEM form.")
    return config_map(name, namespace, cluster, {TRUST_BUNDLE: text.strip() + "\n"})


def encryption_key(name: str, namespace: str, cluster: str, key: bytes) -> Object:
    """The Secret with the key of what etcd holds: to be created, and never to be written again."""
    return secret(name, namespace, cluster, {ENCRYPTION_KEY: key})


def credentials(name: str, namespace: str, cluster: str, endpoint: str, api_key: str) -> Object:
    """The Secret with which the provider reaches MAAS."""
    return secret(name, namespace, cluster, {ENDPOINT: endpoint.encode(), API_KEY: api_key.strip().encode()})


def value_of(body: Object | None, key: str) -> bytes | None:
    """What a Secret holds under a key; None when it has no such key."""
    text = ((body or {}).get("data") or {}).get(key)
    if text is None:
        return None
    try:
        return base64.b64decode(text)
    except (NotBase64, ValueError):
        return None


def same_content(live: Object, wanted: Object) -> bool:
    """Whether every value that is wanted is there; logins that mean the same are the same."""
    found, asked = live.get("data") or {}, wanted.get("data") or {}
    return all(found.get(key) == value or _same_json(found.get(key), value) for key, value in asked.items())


def _same_json(one: Any, other: Any) -> bool:
    try:
        return bool(json.loads(base64.b64decode(one)) == json.loads(base64.b64decode(other)))
    except (NotBase64, TypeError, ValueError):
        return False


def lacks(body: Object | None, keys: tuple[str, ...]) -> list[str]:
    """The keys without which the Secret is of no use."""
    return [key for key in keys if not ((body or {}).get("data") or {}).get(key)]


def shown(body: Object, how: str = HIDDEN) -> dict[str, Any]:
    """An object as it may be shown: what a Secret holds is not."""
    if body.get("kind") != "Secret":
        return body
    return {**body, "data": dict.fromkeys(body.get("data") or {}, how)}
