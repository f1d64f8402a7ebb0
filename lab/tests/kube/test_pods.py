# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a container is told: the rules are those of a kubelet."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, cast

import pytest

from metalshift_lab.kube.api import CONFIG_MAPS, SECRETS, Api, Object, Resource
from metalshift_lab.kube.pods import NODE, NotYet, Pod, expanded, forget, prepared, revision_of, with_flags

NAMESPACE = "place"


def encoded(**values: str) -> dict[str, str]:
    return {key.replace("_", "."): base64.b64encode(value.encode()).decode() for key, value in values.items()}


def plain(**values: str) -> dict[str, str]:
    return {key.replace("_", "."): value for key, value in values.items()}


STORED: dict[tuple[Resource, str], Object] = {
    (SECRETS, "keys"): {"data": encoded(user="alice", tls_crt="CERTIFICATE", tls_key="KEY")},
    (CONFIG_MAPS, "settings"): {"data": plain(level="debug", ca_crt="AUTHORITY"), "binaryData": encoded(blob="\0\1")},
    (SECRETS, "hollow"): {},
}


class Stored:
    """An API that has these Secrets and ConfigMaps in one namespace."""

    def get(self, resource: Resource, name: str, namespace: str) -> Object | None:
        return STORED.get((resource, name)) if namespace == NAMESPACE else None


def workload(container: Object, **spec: Any) -> Object:
    whole = {"name": "main", "image": "registry.example/image:1", **container}
    return {
        "kind": "Deployment",
        "metadata": {"name": "thing", "namespace": NAMESPACE},
        "spec": {"template": {"spec": {"containers": [whole, {"name": "side", "image": "other"}], **spec}}},
    }


def pod_of(folder: Path, container: Object, **spec: Any) -> Pod:
    return prepared(cast(Api, Stored()), workload(container, **spec), "thing-1", folder)


def reference(kind: str, name: str, key: str, **more: Any) -> Object:
    return {"name": "VALUE", "valueFrom": {kind: {"name": name, "key": key, **more}}}


# -- variables ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"name": "VALUE", "value": "as it is"}, "as it is"),
        ({"name": "VALUE"}, ""),
        (reference("secretKeyRef", "keys", "user"), "alice"),
        (reference("configMapKeyRef", "settings", "level"), "debug"),
        (reference("secretKeyRef", "keys", "nothing", optional=True), None),
        (reference("secretKeyRef", "nothing", "user", optional=True), None),
        ({"name": "VALUE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, "thing-1"),
        ({"name": "VALUE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}, NAMESPACE),
        ({"name": "VALUE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}, NODE),
        ({"name": "VALUE", "valueFrom": {"fieldRef": {"fieldPath": "spec.serviceAccountName"}}}, "robot"),
        ({"name": "VALUE", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}, "127.0.0.1"),
    ],
)
def test_a_variable_has_the_value_that_it_names(tmp_path: Path, entry: Object, value: str | None) -> None:
    assert pod_of(tmp_path, {"env": [entry]}, serviceAccountName="robot").env.get("VALUE") == value


@pytest.mark.parametrize(
    ("container", "sentence"),
    [
        ({"env": [reference("secretKeyRef", "nothing", "user")]}, 'secret "nothing" not found'),
        ({"env": [reference("configMapKeyRef", "nothing", "user")]}, 'configmap "nothing" not found'),
        ({"env": [reference("secretKeyRef", "keys", "none")]}, "couldn't find key none in secrets place/keys"),
        ({"env": [reference("secretKeyRef", "hollow", "none")]}, "couldn't find key none in secrets place/hollow"),
        ({"envFrom": [{"secretRef": {"name": "nothing"}}]}, 'secret "nothing" not found'),
    ],
)
def test_what_is_missing_is_said_and_waited_for(tmp_path: Path, container: Object, sentence: str) -> None:
    with pytest.raises(NotYet, match=sentence):
        pod_of(tmp_path, container)


def test_all_keys_become_variables_and_those_named_one_by_one_win(tmp_path: Path) -> None:
    sources = [
        {"secretRef": {"name": "keys"}, "prefix": "S_"},
        {"configMapRef": {"name": "settings"}},
        {"secretRef": {"name": "nothing", "optional": True}},
    ]
    pod = pod_of(tmp_path, {"envFrom": sources, "env": [{"name": "level", "value": "$(S_user) says $(level)"}]})
    assert pod.env["S_user"] == "alice"
    assert pod.env["level"] == "alice says debug"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("--name=$(NAME)", "--name=one"),
        ("$(NAME)$(NAME)", "oneone"),
        ("$(UNKNOWN) stays", "$(UNKNOWN) stays"),
        ("$$(NAME)", "$(NAME)"),
        ("$$$(NAME)", "$one"),
        ("$NAME ${NAME} $", "$NAME ${NAME} $"),
        ("$(SECOND)", "$(NAME)"),
    ],
)
def test_references_are_replaced_once(text: str, result: str) -> None:
    assert expanded(text, {"NAME": "one", "SECOND": "$(NAME)"}) == result


def test_a_variable_sees_those_before_it_only(tmp_path: Path) -> None:
    pairs = {"EARLY": "$(LATE)", "LATE": "1", "LAST": "$(LATE)"}
    pod = pod_of(tmp_path, {"env": [{"name": name, "value": value} for name, value in pairs.items()]})
    assert dict(pod.env) == {"EARLY": "$(LATE)", "LATE": "1", "LAST": "1"}


# -- the command ----------------------------------------------------------------------------------------------------


def test_arguments_follow_the_command_with_variables_in_place(tmp_path: Path) -> None:
    container = {"command": ["/bin/program", "run"], "args": ["--v=$(V)"], "env": [{"name": "V", "value": "4"}]}
    pod = pod_of(tmp_path, container)
    assert pod.command == ("/bin/program", "run", "--v=4")
    assert pod.arguments == ("run", "--v=4")
    assert (pod.container, pod.image, pod.service_account) == ("main", "registry.example/image:1", "default")


def test_arguments_alone_are_for_the_program_of_the_image(tmp_path: Path) -> None:
    assert pod_of(tmp_path, {"args": ["--v=4"]}).arguments == ("--v=4",)


FLAGS = ("run", "--addr", ":8080", "--switch", "--v=2", "-x", "end")


@pytest.mark.parametrize(
    ("flags", "result"),
    [
        ({"addr": "127.0.0.1:1"}, "run --switch --v=2 -x end --addr=127.0.0.1:1"),
        ({"v": "4"}, "run --addr :8080 --switch -x end --v=4"),
        ({"v": None, "addr": None}, "run --switch -x end"),
        ({"switch": "false"}, "run --addr :8080 --v=2 -x end --switch=false"),
        ({"new_flag": "1"}, "run --addr :8080 --switch --v=2 -x end --new-flag=1"),
        ({"ad": "1"}, "run --addr :8080 --switch --v=2 -x end --ad=1"),
    ],
)
def test_flags_are_set_in_whichever_way_they_were_given(flags: dict[str, str | None], result: str) -> None:
    assert " ".join(with_flags(FLAGS, **flags)) == result


def test_every_mention_of_a_flag_is_replaced() -> None:
    assert with_flags(["--v=1", "--v", "2", "--v"], v="3") == ["--v=3"]


# -- files ----------------------------------------------------------------------------------------------------------


def mounted(path: str, name: str = "one", **more: str) -> Object:
    return {"name": name, "mountPath": path, **more}


@pytest.mark.parametrize(
    ("volume", "files"),
    [
        ({"secret": {"secretName": "keys"}}, {"user": b"alice", "tls.crt": b"CERTIFICATE", "tls.key": b"KEY"}),
        ({"secret": {"secretName": "keys", "items": [{"key": "user", "path": "a/b"}]}}, {"a/b": b"alice"}),
        ({"configMap": {"name": "settings"}}, {"level": b"debug", "ca.crt": b"AUTHORITY", "blob": b"\0\1"}),
        ({"configMap": {"name": "nothing", "optional": True}}, {}),
        ({"secret": {"secretName": "keys", "optional": True, "items": [{"key": "no", "path": "no"}]}}, {}),
        (
            {
                "projected": {
                    "sources": [
                        {"secret": {"name": "keys", "items": [{"key": "tls.key", "path": "key"}]}},
                        {"configMap": {"name": "settings", "items": [{"key": "ca.crt", "path": "ca"}]}},
                        {"configMap": {"name": "nothing", "optional": True}},
                        {"serviceAccountToken": {"path": "token"}},
                    ]
                }
            },
            {"key": b"KEY", "ca": b"AUTHORITY"},
        ),
        ({"emptyDir": {}}, {}),
    ],
)
def test_volumes_are_written_for_the_owner_alone(tmp_path: Path, volume: Object, files: dict[str, bytes]) -> None:
    pod = pod_of(tmp_path, {"volumeMounts": [mounted("/files/")]}, volumes=[{"name": "one", **volume}])
    folder = pod.file("/files")
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert {name: path.read_bytes() for name, path in found.items()} == files
    assert all(path.stat().st_mode & 0o077 == 0 for path in found.values())
    forget(tmp_path)
    assert not tmp_path.exists()


@pytest.mark.parametrize(
    ("volume", "sentence"),
    [
        ({"secret": {"secretName": "nothing"}}, 'secret "nothing" not found'),
        ({"projected": {"sources": [{"configMap": {"name": "nothing"}}]}}, 'configmap "nothing" not found'),
        (
            {"secret": {"secretName": "keys", "items": [{"key": "no", "path": "no"}]}},
            "references non-existent secret key: no",
        ),
    ],
)
def test_a_pod_waits_for_its_files(tmp_path: Path, volume: Object, sentence: str) -> None:
    with pytest.raises(NotYet, match=sentence):
        pod_of(tmp_path, {"volumeMounts": [mounted("/files")]}, volumes=[{"name": "one", **volume}])


def test_volumes_that_the_container_does_not_mount_are_not_looked_at(tmp_path: Path) -> None:
    assert not pod_of(tmp_path, {}, volumes=[{"name": "one", "secret": {"secretName": "nothing"}}]).mounts


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("/tmp", "{outer}"),
        ("/tmp/file", "{outer}/file"),
        ("/tmp/x/file", "{inner}/file"),
        ("--dir=/tmp/x", "--dir={inner}"),
        ("--pair=/tmp/a,/tmp/x/b", "--pair={outer}/a,{inner}/b"),
        ("/tmp/x:/tmp", "{inner}:{outer}"),
        ('{{"path": "/tmp"}}', '{{"path": "{outer}"}}'),
        ("/tmp/xylophone", "{outer}/xylophone"),
        ("/tmpfile", "/tmpfile"),
        ("/tmp.d/file /tmp-1", "/tmp.d/file /tmp-1"),
        ("/var/tmp/file", "/var/tmp/file"),
        ("https://host/tmp", "https://host/tmp"),
    ],
)
def test_paths_of_the_container_become_ours(tmp_path: Path, text: str, local: str) -> None:
    mounts = [mounted("/tmp", "outer"), mounted("/tmp/x", "inner")]
    pod = pod_of(tmp_path, {"volumeMounts": mounts}, volumes=[{"name": "outer", "emptyDir": {}}])
    folders = {name: tmp_path / "volumes" / name for name in ("outer", "inner")}
    assert pod.local(text.format()) == local.format(**folders)


def test_one_file_of_a_volume_may_be_mounted_alone(tmp_path: Path) -> None:
    mount = mounted("/etc/ca.crt", subPath="ca.crt")
    pod = pod_of(tmp_path, {"volumeMounts": [mount]}, volumes=[{"name": "one", "configMap": {"name": "settings"}}])
    assert pod.file("/etc/ca.crt").read_bytes() == b"AUTHORITY"


def test_a_revision_is_of_the_whole_template() -> None:
    before = workload({})["spec"]["template"]
    after = {**before, "metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}
    assert revision_of(before) == revision_of(dict(reversed(list(before.items()))))
    assert revision_of(before) != revision_of(after)
