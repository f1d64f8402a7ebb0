# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a worker does when the process that forked it has died, and that nothing else does the same."""

from __future__ import annotations

import subprocess
import sys

import pytest

UTILS = "ansible_collections.metalshift.maas.plugins.module_utils"
BEGIN = f"""
import multiprocessing, os, signal, subprocess, sys, time
from {UTILS}._core.clock import WALL_CLOCK
from {UTILS}._kube.client import Kube
from {UTILS}._kube.connection import Access
from {UTILS}._lxd.client import Lxd
from {UTILS}._lxd.connection import LxdConnection
from {UTILS}._maas.client import Client
from {UTILS}._maas.connection import MaasConnection
from {UTILS}._core.parent import end_if_orphaned, end_with_parent
from {UTILS}._core.wait import Patience

def works(then):
    end_with_parent()
    print("works", flush=True)
    then()
    print("and goes on", flush=True)

def deaf(then):
    "Works on, as on a system that does not tell, and does something when the parent has gone."
    def orphaned():
        parent = os.getppid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("deaf", flush=True)
        while os.getppid() == parent:
            time.sleep(0.001)
        try:
            then()
        except Exception as failure:
            print(failure, flush=True)
    works(orphaned)
"""
# Nothing listens there: what is sent fails, and says so.
REQUESTS = {
    "maas": "Client(MaasConnection.from_params({'maas_endpoint': 'http://127.0.0.1:9/MAAS', 'maas_api_key': 'a:b:c', "
    "'maas_timeout': 1, 'maas_validate_certs': True, 'maas_ca_cert': None}, {}))"
    ".post('machines/', op='allocate')",
    "kube": "Kube(Access.from_params({'host': 'http://127.0.0.1:9', 'api_key': 'a'}, {})).create("
    "{'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {'name': 'a', 'namespace': 'b'}})",
    "lxd": "Lxd(LxdConnection.from_params({'lxd_endpoint': '/nowhere', 'lxd_timeout': 1}, {}))"
    ".delete('instances/a', what='do it')",
    "wait": "Patience(WALL_CLOCK, print, 0.1, 0.1).until(int, bool, str)",
}
WORKER = "multiprocessing.get_context('fork').Process(target=lambda: {what}).start()"
# As ansible-core's wrapper of modules that run under async.
OTHER = "subprocess.Popen([sys.executable, '-c', BEGIN + {what!r}])"


def after_its_parent(child: str, what: str, lines: int) -> str:
    """What a process says after its parent, which is killed when it has said that many lines."""
    script = f"BEGIN = {BEGIN!r}\nexec(BEGIN)\n{child.format(what=what)}\ntime.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        for _line in range(lines):
            assert parent.stdout.readline()
        parent.kill()
        return parent.stdout.read()


def test_a_worker_ends_with_its_parent_whatever_it_waits_for() -> None:
    assert after_its_parent(WORKER, "works(lambda: time.sleep(60))", 1) == ""


@pytest.mark.parametrize("sends", REQUESTS.values(), ids=REQUESTS)
def test_a_worker_that_is_not_told_ends_before_its_next_request(sends: str) -> None:
    assert after_its_parent(WORKER, f"deaf(lambda: {sends})", 2) == ""


def test_what_ansible_has_not_forked_goes_on_without_its_parent() -> None:
    assert after_its_parent(OTHER, "deaf(end_if_orphaned)", 2) == "and goes on\n"
