# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a kubelet would tell a container: its arguments and environment with all references resolved, its files."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metalshift_lab.authority import write
from metalshift_lab.kube.api import CONFIG_MAPS, SECRETS, Api, Object, Resource
from metalshift_lab.ports import LOOPBACK

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")
NODE = "lab"


class NotYet(Exception):
    """What the pod needs is not there; it starts when it is."""


@dataclass(frozen=True)
class Pod:
    """One run of a workload's main container, ready to be made a process."""

    kind: str
    namespace: str
    workload: str
    name: str
    revision: str
    container: str
    image: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    #: Where the container expects files → where they are.
    mounts: Mapping[str, Path]
    service_account: str

    @property
    def arguments(self) -> tuple[str, ...]:
        """What follows the program's name, with paths as they are here."""
        return tuple(self.local(part) for part in self.command[1:])

    def local(self, text: str) -> str:
        """The text with the container's paths replaced by ours."""
        if not self.mounts:
            return text
        longest_first = sorted(self.mounts, key=len, reverse=True)
        path = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, longest_first))})(?![\w.-])")
        return path.sub(lambda found: str(self.mounts[found.group(1)]), text)

    def file(self, path: str) -> Path:
        """A file of the container, by the container's path."""
        return Path(self.local(path))


def main_container(template: Object) -> Object:
    container: Object = template["spec"]["containers"][0]
    return container


def revision_of(template: Object) -> str:
    return hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()[:10]


def prepared(api: Api, body: Object, pod_name: str, folder: Path) -> Pod:
    """The pod of this workload, its volumes written under `folder`; NotYet when a Secret or ConfigMap is missing."""
    template = body["spec"]["template"]
    namespace = body["metadata"]["namespace"]
    container = main_container(template)
    fields = {
        "metadata.name": pod_name,
        "metadata.namespace": namespace,
        "spec.serviceAccountName": template["spec"].get("serviceAccountName", "default"),
        "spec.nodeName": NODE,
        "status.podIP": LOOPBACK,
        "status.podIPs": LOOPBACK,
        "status.hostIP": LOOPBACK,
    }
    env = _environment(api, namespace, container, fields)
    mounts = dict(_mounts(api, namespace, template["spec"], container, folder))
    # A container without a command runs its image's; the name stands for it.
    command = [*(container.get("command") or [container["name"]]), *container.get("args", [])]
    return Pod(
        kind=body["kind"],
        namespace=namespace,
        workload=body["metadata"]["name"],
        name=pod_name,
        revision=revision_of(template),
        container=container["name"],
        image=container["image"],
        command=tuple(expanded(part, env) for part in command),
        env=env,
        mounts=mounts,
        service_account=fields["spec.serviceAccountName"],
    )


def expanded(text: str, env: Mapping[str, str]) -> str:
    """`$(NAME)` becomes the variable's value; an unknown name stays as it is, and `$$` is `$`, as Kubernetes has it."""
    return _REFERENCE.sub(lambda found: env.get(found[1], found[0]) if found[1] else "$", text)


def _environment(api: Api, namespace: str, container: Object, fields: Mapping[str, str]) -> dict[str, str]:
    env: dict[str, str] = {}
    for source in container.get("envFrom", []):
        for reference, resource in (("secretRef", SECRETS), ("configMapRef", CONFIG_MAPS)):
            if reference in source:
                data = _data(api, resource, namespace, source[reference])
                env.update({source.get("prefix", "") + key: value.decode() for key, value in data.items()})
    for entry in container.get("env", []):
        value = _value(api, namespace, entry, fields)
        if value is not None:
            env[entry["name"]] = expanded(value, env)
    return env


def _value(api: Api, namespace: str, entry: Object, fields: Mapping[str, str]) -> str | None:
    source = entry.get("valueFrom")
    if not source:
        return str(entry.get("value", ""))
    if "fieldRef" in source:
        return fields.get(source["fieldRef"]["fieldPath"], "")
    for reference, resource in (("secretKeyRef", SECRETS), ("configMapKeyRef", CONFIG_MAPS)):
        if reference in source:
            wanted = source[reference]
            data = _data(api, resource, namespace, wanted)
            if wanted["key"] in data:
                return data[wanted["key"]].decode()
            if not wanted.get("optional"):
                raise NotYet(f"couldn't find key {wanted['key']} in {resource.plural} {namespace}/{wanted['name']}")
    return None


def _mounts(api: Api, namespace: str, spec: Object, container: Object, folder: Path) -> Iterable[tuple[str, Path]]:
    volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
    for mount in container.get("volumeMounts", []):
        volume = volumes.get(mount["name"], {"persistentVolumeClaim": {}})
        where = folder / "volumes" / mount["name"]
        where.mkdir(parents=True, exist_ok=True)
        for name, data in _files(api, namespace, volume).items():
            write(where / name, data)
        yield mount["mountPath"].rstrip("/"), where / mount.get("subPath", "")


def _files(api: Api, namespace: str, volume: Object) -> dict[str, bytes]:
    """The files of a volume; one that is empty, or kept on a disk, has none."""
    if "projected" in volume:
        return {
            name: data for each in volume["projected"]["sources"] for name, data in _files(api, namespace, each).items()
        }
    for kind, resource, key in (("secret", SECRETS, "secretName"), ("configMap", CONFIG_MAPS, "name")):
        if kind in volume:
            source = volume[kind]
            data = _data(api, resource, namespace, {**source, "name": source.get(key) or source.get("name")})
            return _chosen(data, source, kind)
    return {}


def _chosen(data: dict[str, bytes], source: Object, kind: str) -> dict[str, bytes]:
    """The keys that the volume names, under the paths that it names; all where it names none."""
    items = source.get("items")
    if not items:
        return data
    missing = [item["key"] for item in items if item["key"] not in data]
    if missing and not source.get("optional"):
        raise NotYet(f"references non-existent {kind} key: {missing[0]}")
    return {item["path"]: data[item["key"]] for item in items if item["key"] in data}


def _data(api: Api, resource: Resource, namespace: str, reference: Mapping[str, Any]) -> dict[str, bytes]:
    found = api.get(resource, reference["name"], namespace)
    if found is None:
        if reference.get("optional"):
            return {}
        raise NotYet(f'{resource.plural.removesuffix("s")} "{reference["name"]}" not found')
    if resource is SECRETS:
        return {key: base64.b64decode(value) for key, value in (found.get("data") or {}).items()}
    binary = {key: base64.b64decode(value) for key, value in (found.get("binaryData") or {}).items()}
    return {**binary, **{key: value.encode() for key, value in (found.get("data") or {}).items()}}


def forget(folder: Path) -> None:
    """Remove what was written for a pod: there are keys in it."""
    shutil.rmtree(folder, ignore_errors=True)


def with_flags(arguments: Iterable[str], **flags: str | None) -> list[str]:
    """The arguments with these flags set, whichever way they were given; None takes a flag out.

    >>> with_flags(["run", "--addr", ":8080", "--v=2"], addr="127.0.0.1:1", v=None)
    ['run', '--addr=127.0.0.1:1']
    """
    wanted = {f"--{name.replace('_', '-')}": value for name, value in flags.items()}
    result: list[str] = []
    expects_value = False
    for part in arguments:
        name, given, _value = part.partition("=")
        if name in wanted:
            expects_value = not given
        elif expects_value and not part.startswith("-"):
            expects_value = False
        else:
            # A switch has no value: what follows it is a flag of its own.
            expects_value = False
            result.append(part)
    return [*result, *(f"{name}={value}" for name, value in wanted.items() if value is not None)]
