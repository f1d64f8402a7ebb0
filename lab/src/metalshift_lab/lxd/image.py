# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of a node: a Debian with systemd and sshd that passes for a machine, and on which LXD runs.

It is built once for this user, from Debian's packages and the files in the folder `node`, and again when these change.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from metalshift_lab.labs import LabError, cache
from metalshift_lab.locks import held
from metalshift_lab.lxd import packages, shims

if TYPE_CHECKING:
    from metalshift_lab.lxd.server import RealLxd

BOOKWORM = "bookworm"
SUITES = (BOOKWORM, "trixie")
WORKSHOP = Path("/var/tmp")
CONTENT = (
    # a tree that is merged already needs no perl to become so
    "usr-is-merged",
    "systemd-sysv",
    "dbus",
    "udev",
    "openssh-server",
    "python3-minimal",
    "python3-apt",
    "sudo",
    "iproute2",
    "iputils-ping",
    "ca-certificates",
    "procps",
    "kmod",
    "netbase",
    "mount",
    "passwd",
    "login",
    "netplan.io",
)
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*")
MMDEBSTRAP = (
    "mmdebstrap",
    "--quiet",
    "--variant=apt",
    "--format=directory",
    "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
    # a tree that can be made again needs no fsync
    "--dpkgopt=force-unsafe-io",
    *(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT),
    '--aptopt=Acquire::Languages "none"',
    '--aptopt=APT::Install-Recommends "false"',
    f"--include={','.join(CONTENT)}",
)
# Where an instance's own values go.
TEMPLATES = {
    "/etc/hostname": "{{ instance.name }}\n",
    "/etc/hosts": "127.0.0.1 localhost\n127.0.1.1 {{ instance.name }}\n",
    "/etc/resolv.conf": 'nameserver {{ config_get("user.nameserver", "") }}\n',
    "/root/.ssh/authorized_keys": '{{ config_get("user.authorized_key", "") }}\n',
}
FILES = Path(__file__).with_name("node")
# Where the node shows the lab's QEMU from.
QEMU = "usr/local/lib/lab/qemu-system-x86_64"
MODPROBE = "usr/local/sbin/modprobe"
# They must lie inside the range of the container itself.
IDS = "root:1000000:1000000\n_lxd:1000000:1000000\n"
ENABLED = ("systemd-networkd", "ssh", "lab-cgroups")
MASKED = (
    "systemd-binfmt.service",
    "proc-sys-fs-binfmt_misc.automount",
    "systemd-networkd-wait-online.service",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
)
KEPT_UNUSED = 30 * 24 * 3600
SECRET, PROGRAM = 0o600, 0o755


@dataclass(frozen=True)
class Image:
    """The two files of an image, and the recipe they were made after."""

    suite: str
    recipe: str

    @property
    def alias(self) -> str:
        return f"node-{self.suite}"

    @property
    def metadata(self) -> Path:
        return _home() / f"{self.alias}-{self.recipe}.tar.gz"

    @property
    def tree(self) -> Path:
        return _home() / f"{self.alias}-{self.recipe}.squashfs"


def image(suite: str = BOOKWORM, say: Callable[[str], None] = lambda line: None) -> Image:
    """The image of nodes with this Debian, built if it has not been yet."""
    wanted = Image(suite, _recipe(suite))
    _home().mkdir(parents=True, exist_ok=True)
    with held(_home() / f".{wanted.alias}.lock", lambda: say("Another run builds the image of nodes; waiting for it")):
        if not wanted.tree.exists():
            packages.install(packages.NODES, say)
            say(f"Building the image of nodes with Debian {suite}, once")
            _build(wanted)
        wanted.tree.touch()
        _forget_unused()
    return wanted


def have(lxd: RealLxd, wanted: Image) -> None:
    """Import the image into an LXD that does not have it yet."""
    there = lxd.local.get("/1.0/images?recursion=1")
    if not any(each["properties"].get("recipe") == wanted.recipe for each in there):
        _run(["lxc", "image", "import", wanted.metadata, wanted.tree, "--alias", wanted.alias], lxd.environment)


def _home() -> Path:
    return cache() / "lxd-images"


def _recipe(suite: str) -> str:
    """What the image is made after, in a few letters."""
    files = [Path(__file__), *sorted(path for path in FILES.rglob("*") if path.is_file())]
    texts = [shims.qemu(), shims.MODPROBE, _mirrors(suite)]
    words = [*(file.read_bytes() for file in files), *(text.encode() for text in texts)]
    return hashlib.sha256(b"\0".join(words)).hexdigest()[:12]


# -- building -----------------------------------------------------------------------------------------------------


def _build(wanted: Image) -> None:
    work = WORKSHOP / f"metalshift-{wanted.alias}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o755)
    try:
        root = work / "root"
        _run([*MMDEBSTRAP, wanted.suite, root, "-"], said=_mirrors(wanted.suite))
        _furnish(root, wanted.suite)
        _write_metadata(wanted)
        _run(["mksquashfs", root, work / "tree", "-comp", "zstd", "-Xcompression-level", "1", "-noappend", "-quiet"])
        # It comes last: an image without it is none.
        shutil.copyfile(work / "tree", wanted.tree.with_suffix(".new"))
        wanted.tree.with_suffix(".new").rename(wanted.tree)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _mirrors(suite: str) -> str:
    """Where this machine gets its Debian from, but for another suite."""
    form = "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    which = ["Created-By: Packages", "Origin: Debian", "Component: main"]
    lines = _run(["apt-get", "indextargets", "--format", form, *which]).splitlines()
    here = min((line.split()[2] for line in lines), key=len, default=suite)
    return "".join(f"{line}\n" for line in sorted({line.replace(here, suite) for line in lines}))


def _furnish(root: Path, suite: str) -> None:
    for key in (root / "etc" / "ssh").glob("ssh_host_*"):
        key.unlink()
    shutil.copytree(FILES, root, dirs_exist_ok=True)
    (root / "etc/netplan/50-cloud-init.yaml").chmod(SECRET)
    (root / "root/.ssh").mkdir(mode=0o700, exist_ok=True)
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    for name in ("etc/subuid", "etc/subgid"):
        (root / name).write_text(IDS)
    (root / "etc/machine-id").write_text("")
    _program(root / QEMU, shims.qemu())
    if suite == BOOKWORM:
        _program(root / MODPROBE, shims.MODPROBE)
    # Ansible's apt takes a young but empty directory for lists that have just been fetched.
    _run(["touch", "--date=@0", root / "var/lib/apt/lists"])
    _run(["chroot", root, "systemctl", "enable", "--quiet", *ENABLED])
    _run(["chroot", root, "systemctl", "mask", "--quiet", *MASKED])


def _program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(PROGRAM)


def _write_metadata(wanted: Image) -> None:
    names = {path: f"{path.strip('/').replace('/', '-')}.tpl" for path in TEMPLATES}
    told = {
        "architecture": "x86_64",
        "creation_date": 1,
        "properties": {"description": "a node of the lab", "release": wanted.suite, "recipe": wanted.recipe},
        "templates": {path: {"when": ["create", "copy"], "template": name} for path, name in names.items()},
    }
    # YAML, as LXD wants it, is also what is written as JSON.
    files = {"metadata.yaml": json.dumps(told), **{f"templates/{names[path]}": TEMPLATES[path] for path in TEMPLATES}}
    with tarfile.open(wanted.metadata, "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))


def _forget_unused() -> None:
    """Another clone of the repository may have another recipe, and use it now and then."""
    for tree in _home().glob("node-*.squashfs"):
        if time.time() - tree.stat().st_mtime > KEPT_UNUSED:
            tree.with_suffix(".tar.gz").unlink(missing_ok=True)
            tree.unlink()


def _run(command: Sequence[str | Path], variables: dict[str, str] | None = None, said: str | None = None) -> str:
    own = {**packages.plain(), **(variables or {})}
    done = subprocess.run(
        [str(word) for word in command], env=own, input=said or "", capture_output=True, text=True, check=False
    )
    if done.returncode:
        words = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        raise LabError(f"{command[0]} failed; its last words:\n{words}")
    return done.stdout
