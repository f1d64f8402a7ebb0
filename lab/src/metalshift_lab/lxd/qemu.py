# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""qemu-system-x86_64 for the lab's LXD: the same on every machine, whether it has KVM and vhost-vsock or not.

Virtual machines are emulated in software, and have no vsock device. Unless a VM's `raw.qemu` says
`-fw_cfg name=opt/lab/firmware,string=ovmf`, its firmware sleeps, which takes no processor time at all, and switches
the VM off when its power button is pressed. So `lxc stop` works without --force on a VM that has nothing to boot.

It stands alone: it is copied to where LXD looks for QEMU, also on other machines.
"""

from __future__ import annotations

import os
import re
import sys

REAL = "/usr/bin/qemu-system-x86_64"
OVMF_WANTED = "opt/lab/firmware,string=ovmf"
# Real-mode code is at the end of the 64 KiB that end at 4 GiB; the processor begins at the last 16 bytes.
SIZE, AT, RESET = 0x10000, 0xFF00, 0xFFF0


def word(number: int) -> bytes:
    return (number & 0xFFFF).to_bytes(2, "little")


def sleeping_firmware() -> bytes:
    code = bytes.fromhex
    table = code("0000000000000000 ffff00000093cf00")
    pointer = word(len(table) - 1) + (0xF0000 + AT).to_bytes(4, "little")
    # PM1_CNT: soft off
    on_button = code("ba0406b80020eff4ebfd")
    data = table + pointer + on_button
    main = b"".join(
        (
            # a stack, a flat data segment, and access to all memory
            code("fa31c08ed0bc0070 2e0f0116"),
            word(AT + len(table)),
            code("0f20c00c010f22c0bb08008edb24fe0f22c0"),
            # the local APIC, which hands on what the old interrupt controller says
            code("6766c705f000e0feff010000 6766c7055003e0fe00070000"),
            # interrupt 9 is for the button
            code("31c08ed8c706c401"),
            word(AT + len(table + pointer)),
            code("c706c60100f0"),
            code("b011e620e6a0b008e621b070e6a1b004e621b002e6a1b001e621e6a1b0fbe621b0fde6a1"),
            # ACPI's registers at port 0x600, and ACPI on, with interrupt 9
            code("66b840f80080baf80c66ef66b801060000bafc0c66ef"),
            code("66b844f80080baf80c66efb080bafc0cee"),
            # the button is heard; sleep
            code("ba0006b8ffffefba0206b80001ef fbf4ebfc"),
        )
    )
    memory = bytearray(b"\xff" * SIZE)
    memory[AT : AT + len(data + main)] = data + main
    memory[RESET : RESET + 3] = b"\xe9" + word(AT + len(data) - RESET - 3)
    return bytes(memory)


def emulated(configuration: str) -> str:
    """LXD's configuration for QEMU, without what needs KVM or vhost-vsock."""
    without_kvm = configuration.replace('accel = "kvm"', 'accel = "tcg"')
    vsock = r'(?:^# Vsock\n)?^\[device "qemu_vsock"\]\n(?:^[^\[\n].*\n)*\n?'
    return re.sub(vsock, "", without_kvm, flags=re.M)


def with_firmware(configuration: str, file: str) -> str:
    return re.sub(r'(?<=^\[drive\]\nfile = ")[^"]*OVMF_CODE[^"]*', file, configuration, flags=re.M)


def main(arguments: list[str]) -> None:
    if "-readconfig" in arguments:
        path = arguments[arguments.index("-readconfig") + 1]
        with open(path, encoding="utf-8") as file:
            configuration = emulated(file.read())
        if not any(OVMF_WANTED in argument for argument in arguments):
            firmware = os.path.join(os.path.dirname(path), "sleeping.fd")
            with open(firmware, "wb") as rom:
                rom.write(sleeping_firmware())
            configuration = with_firmware(configuration, firmware)
        with open(path, "w", encoding="utf-8") as file:
            file.write(configuration)
        if "-cpu" in arguments:
            arguments[arguments.index("-cpu") + 1] = "max"
    os.execv(REAL, [REAL, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
