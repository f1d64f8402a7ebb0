# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from pathlib import Path

import yaml

from metalshift_lab.kube.api import Api
from metalshift_lab.kube.provider import capi, settings
from metalshift_lab.kube.provider.clusters import Clusters
from metalshift_lab.kube.provider.conditions import V1BETA2
from metalshift_lab.kube.provider.hosted import Hosted
from metalshift_lab.kube.provider.leader import Leader
from metalshift_lab.kube.provider.machines import Machines
from metalshift_lab.kube.provider.settings import Settings

_TRACE_FROM = 4


def run(told: Settings) -> int:
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: ended.set())
    log = logging.getLogger("lab.provider")
    log.info("standing in for %s, speed %g", told.behaviour.version, told.speed.factor)
    api = Api(yaml.safe_load(Path(told.kubeconfig).read_text()))
    if told.namespace and not told.behaviour.confined:
        log.info("told of the namespace %s, but looking at all", told.namespace)
    if told.leader_elect:
        leader = Leader(api, told.namespace or told.environment.get("NAMESPACE", "default"), told.speed)
        if not leader.win(ended):
            return 0
        leader.keep(lost=_lost)
    version = capi.served(api, "v1beta2" if told.behaviour.contract is V1BETA2 else "v1beta1")
    hosted = Hosted(api, told.proxy)
    controllers = (Clusters(api, told, hosted, version), Machines(api, told, hosted, version))
    for controller in controllers:
        controller.start()
    ended.wait()
    for controller in controllers:
        controller.stop()
    return 0


def _lost() -> None:
    print("leader election lost", file=sys.stderr, flush=True)
    os._exit(1)


def main() -> int:
    try:
        told = settings.parse(sys.argv[1:], os.environ)
    except (LookupError, ValueError) as error:
        print(error.args[0], file=sys.stderr)
        return 1
    level = logging.DEBUG if told.verbosity >= _TRACE_FROM else logging.INFO
    logging.basicConfig(stream=sys.stderr, level=level, format="%(asctime)s %(name)s %(message)s")
    return run(told)


sys.exit(main())
