# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab's QEMU makes of LXD's configuration."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from metalshift_lab.lxd import qemu

CONFIGURATION = """\
# Machine
[machine]
graphics = "off"
accel = "kvm"
usb = "off"

[drive]
file = "/usr/share/OVMF/OVMF_CODE.fd"
if = "pflash"

# Vsock
[device "qemu_vsock"]
driver = "vhost-vsock-pci"
guest-cid = "10"

# Console
[chardev "console"]
"""


@pytest.fixture
def run(tmp_path: Path) -> tuple[Path, Path]:
    """LXD's configuration, and a QEMU that prints its arguments."""
    given, real = tmp_path / "qemu.conf", tmp_path / "qemu"
    given.write_text(CONFIGURATION)
    real.write_text(f"#!{sys.executable}\nimport sys\nprint(*sys.argv[1:])\n")
    real.chmod(0o755)
    return given, real


def result(run: tuple[Path, Path], *more: str) -> tuple[str, str]:

    given, real = run
    code = f"from metalshift_lab.lxd import qemu; import sys; qemu.REAL = {str(real)!r}; qemu.main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "-cpu", "host,migratable=no", "-readconfig", str(given), *more]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return printed, given.read_text()


def test_a_vm_is_emulated_and_sleeps(run: tuple[Path, Path]) -> None:
    printed, configuration = result(run)
    assert printed.startswith("-cpu max -readconfig")
    firmware = run[0].with_name("sleeping.fd")
    assert configuration == (
        CONFIGURATION.replace("kvm", "tcg")
        .replace("/usr/share/OVMF/OVMF_CODE.fd", str(firmware))
        .replace('# Vsock\n[device "qemu_vsock"]\ndriver = "vhost-vsock-pci"\nguest-cid = "10"\n\n', "")
    )
    assert firmware.read_bytes() == qemu.sleeping_firmware()


def test_a_vm_that_is_to_boot_has_real_firmware(run: tuple[Path, Path]) -> None:
    _printed, configuration = result(run, "-fw_cfg", "name=opt/lab/firmware,string=ovmf")
    assert "OVMF_CODE.fd" in configuration
    assert not run[0].with_name("sleeping.fd").exists()


def test_arguments_without_a_configuration_are_handed_on(run: tuple[Path, Path]) -> None:

    code = f"from metalshift_lab.lxd import qemu; qemu.REAL = {str(run[1])!r}; qemu.main(['--version'])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout
        == "--version\n"
    )
