# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Only one provider at a time: the Lease that the real one holds.

It is not given back at the end. So the next one waits until it has seen no renewal for as long as a lease lasts.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from datetime import datetime, timezone

from metalshift_lab.kube.api import LEASES, Api, ApiError, Object, Unreachable
from metalshift_lab.kube.speed import Speed

LEASE = "controller-leader-election-capmaas"
#: Real seconds; and the lab renews at most twice a second.
RETRY = 2
RETRY_AT_LEAST = 0.5
#: How many renewals are missed before another may take the lease.
RENEWALS_FREE = 7.5
#: Seconds without a renewal after which the lease is lost. However fast the lab is, its API server takes its time to
#: start again.
LOST_AFTER = 10


class Leader:
    def __init__(self, api: Api, namespace: str, speed: Speed) -> None:
        self._api, self._namespace = api, namespace
        self._retry = max(speed.seconds(RETRY), RETRY_AT_LEAST)
        self._me = f"{socket.gethostname()}-{os.getpid()}_{secrets.token_hex(8)}"
        self._log = logging.getLogger("lab.provider.leader")

    def win(self, ended: threading.Event) -> bool:
        """Wait until the lease is ours; False if the program is to end before."""
        seen, since = "", time.monotonic()
        while not ended.is_set():
            try:
                lease = self._api.get(LEASES, LEASE, self._namespace)
                renewed = "" if lease is None else str(lease["spec"].get("renewTime"))
                if renewed != seen:
                    seen, since = renewed, time.monotonic()
                if lease is None or time.monotonic() - since >= RENEWALS_FREE * self._retry:
                    self._write(lease)
                    self._log.info("leading")
                    return True
            except (ApiError, Unreachable) as error:
                self._log.info("the lease was not won: %s", error)
            ended.wait(self._retry)
        return False

    def keep(self, lost: Callable[[], None]) -> None:
        """Renew the lease in a thread till the program ends; call `lost` when that is not possible for too long."""
        threading.Thread(target=self._renew, args=(lost,), name="lease", daemon=True).start()

    def _renew(self, lost: Callable[[], None]) -> None:
        renewed = time.monotonic()
        while time.monotonic() - renewed < LOST_AFTER:
            time.sleep(self._retry)
            try:
                lease = self._api.get(LEASES, LEASE, self._namespace)
                if lease is not None and lease["spec"].get("holderIdentity") != self._me:
                    break
                self._write(lease)
                renewed = time.monotonic()
            except (ApiError, Unreachable) as error:
                self._log.info("the lease was not renewed: %s", error)
        lost()

    def _write(self, lease: Object | None) -> None:
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        if lease is None:
            body = {
                "apiVersion": LEASES.api,
                "kind": "Lease",
                "metadata": {"name": LEASE, "namespace": self._namespace},
                "spec": self._spec(now, now, 0),
            }
            self._api.create(LEASES, body)
            return
        spec = lease["spec"]
        mine = spec.get("holderIdentity") == self._me
        acquired = spec.get("acquireTime", now) if mine else now
        changes = spec.get("leaseTransitions", 0) + (0 if mine else 1)
        # With the version that was read, so that of two only one wins.
        self._api.replace(LEASES, {**lease, "spec": self._spec(now, acquired, changes)})

    def _spec(self, now: str, acquired: str, changes: int) -> Object:
        return {
            "holderIdentity": self._me,
            "leaseDurationSeconds": max(1, round(RENEWALS_FREE * self._retry)),
            "acquireTime": acquired,
            "renewTime": now,
            "leaseTransitions": changes,
        }
