# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out what was decided about a VM host.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial

from ansible_collections.metalshift.maas.plugins.module_utils._core.clock import in_words
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import PASSING, Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._core.wait import Patience
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.listing import Machines
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts import cordon, keys, lookup
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.hosts import Host, VMHostDetails, VMHosts
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.keys import Pair
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.lookup import VMHostIdentity
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure import token as vm_hosts_token
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.capacity import (
    has_capacity,
    is_discovered,
    missing,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.fields import fields_of, tag_changes
from ansible_collections.metalshift.maas.plugins.module_utils._maas.vm_hosts.pure.guests import Guest, guests
from ansible_collections.metalshift.maas.plugins.module_utils._vms.hosts.plan import (
    VMHostPlan,
    VMHostSpec,
    VMHostState,
    decide_on,
    is_another,
)

# LXD that has just been started, or restarted for its new address, answers within this time.
WHILE_LXD_STARTS = 30.0
# What LXD or MAAS may answer while one of them starts, or when an answer was lost.
MAY_PASS = PASSING | {"uncertain"}
# How often MAAS is made to ask LXD again while the capacity does not come.
BETWEEN_REFRESHES = 15.0


def sight_of(task: Task, hosts: VMHosts, identity: VMHostIdentity, known: VMHostDetails) -> VMHostState:
    """What there is of a VM host that is there."""
    return VMHostState(identity, known, hosts.node(known.system_id), guests_of(task, hosts, known.host))


def guests_of(task: Task, hosts: VMHosts, host: Host) -> list[Guest]:
    # MAAS filters by the name, which another host may have too.
    return guests(host, Machines(task.maas).listed(pod=host["name"]), hosts.notes())


class Undone(Exception):
    """A registration that came to nothing, and was taken back."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


class Work:
    """Carries out a decision."""

    def __init__(self, task: Task, hosts: VMHosts, wish: VMHostSpec, patience: Patience) -> None:
        self._task = task
        self._hosts = hosts
        self._wish = wish
        self._patience = patience

    def carry_out(self, sight: VMHostState, decision: VMHostPlan) -> VMHostState:
        """What there is then."""
        pair = self._pair(sight.known)
        if sight.known is None:
            known = self._register(pair or keys.make(), decision, sight.identity)
        else:
            known = self._change(sight.known, decision, pair)
        # Nothing is composed before MAAS knows the cores: a host that is to be closed is so from its beginning.
        self._close_or_open(known)
        known = self._default_storage_pool(known, decision)
        if self._waits and not has_capacity(known.host):
            known = self._await_capacity(known)
        return sight_of(self._task, self._hosts, sight.identity, self._hosts.known(self._hosts.read(known.host)))

    @property
    def _secret(self) -> str | None:
        """What MAAS shows to an LXD that does not trust the certificate yet."""
        token = self._wish.token
        return vm_hosts_token.checked(token, datetime.now(timezone.utc)) if token else self._wish.password

    @property
    def _waits(self) -> bool:
        return bool(self._task.params["wait"])

    def _pair(self, known: VMHostDetails | None) -> Pair | None:
        """The certificate that the task gives. Where files are to keep one, they get the one that MAAS has already."""
        files = self._wish.given.files
        if files is None:
            return self._wish.given.pair
        return keys.kept(files, known.pair if known else None)

    def _close_or_open(self, known: VMHostDetails) -> None:
        wished = self._wish.schedulable
        if wished is None:
            return
        node = self._hosts.node(known.system_id)
        if node is None:
            raise cordon.unknown_machine(known.label)
        if not cordon.is_as_wished(node, wished):
            if wished:
                cordon.refuse_in_session(known.label, node)
            cordon.set_open(self._task.maas, str(node["system_id"]), wished)

    # -- a new one --------------------------------------------------------------------------------------

    def _register(self, pair: Pair, decision: VMHostPlan, identity: VMHostIdentity) -> VMHostDetails:
        fields = decision.fields
        here = replace(identity, endpoint=fields.endpoint, project=fields.project)
        form = {**fields.registration(), **pair.form, "password": self._secret}
        settled = partial(lookup.registered, self._hosts, here, pair.fingerprint)
        try:
            host = self._hosts.register(form, settled)
        except Failure as failure:
            # With the same certificate another run, or another host of the play, has come first.
            found = settled() if "already exist" in failure.reason else None
            if found is None:
                raise _refused(failure, pair) from failure
            known = self._hosts.known(found)
            return self._change(known, decide_on(known, self._wish), pair)
        parameters = {"power_address": fields.power_address, "project": fields.project, **pair.form}
        return self._discover_or_remove(VMHostDetails(host, parameters))

    def _discover_or_remove(self, known: VMHostDetails) -> VMHostDetails:
        """MAAS registers what it cannot talk to as well: such a host is taken away again."""
        if is_discovered(known.host):
            return known
        try:
            return replace(known, host=self._refreshed(known))
        except Failure as failure:
            try:
                self._hosts.remove(known.host)
            except Failure as second:
                raise replace(
                    failure,
                    hint=f"{failure.hint} The empty {known.label} was left: {second.message} state: absent removes it.",
                ) from second
            raise Undone(replace(failure, message=f"{failure.message} It was not registered.")) from failure

    def _refreshed(self, known: VMHostDetails) -> Host:
        """The host after MAAS has spoken with LXD, which may just be starting."""

        def look() -> Host | Failure:
            try:
                return self._hosts.refresh(known)
            except Failure as failure:
                return failure

        def settled(answer: Host | Failure) -> bool:
            late = self._patience.waited >= WHILE_LXD_STARTS or not self._waits
            return not isinstance(answer, Failure) or answer.kind not in MAY_PASS or late

        def tell(answer: Host | Failure) -> str:
            return f"{known.label}: {answer.reason}" if isinstance(answer, Failure) else ""

        answer = self._patience.until(look, settled, tell) or look()
        if isinstance(answer, Failure):
            raise answer
        return answer

    # -- one that is there -------------------------------------------------------------------------------

    def _change(self, known: VMHostDetails, decision: VMHostPlan, pair: Pair | None) -> VMHostDetails:
        form = dict(decision.differing)
        # Which storage pools there are may show only after a refresh.
        form.pop("default_storage_pool", None)
        if form.pop("tags", None) is not None:
            self._hosts.tag(known.host, *tag_changes(known.host.get("tags") or (), decision.fields))
        access = {name: form.pop(name) for name in ("power_address",) if name in form}
        if pair is not None and is_another(pair, known):
            access |= pair.form
        if form:
            known = replace(known, host=self._hosts.change(known.host, form))
        if access or not is_discovered(known.host):
            known = self._reach(known, access)
        return replace(known, host=self._refreshed(known)) if decision.refreshes else known

    def _reach(self, known: VMHostDetails, access: Mapping[str, str]) -> VMHostDetails:
        """Another address or certificate, if MAAS reaches LXD with it: it would keep one with which it does not."""
        secret = {"password": self._secret} if self._secret else {}
        if not access and not secret:
            return known
        host = self._hosts.change(known.host, {**access, **secret})
        then = VMHostDetails(host, {**known.parameters, **access})
        try:
            return replace(then, host=self._refreshed(then))
        except Failure as failure:
            if not access or not is_discovered(known.host):
                raise
            self._hosts.change(known.host, {name: known.parameters.get(name) for name in access})
            raise replace(failure, message=f"{failure.message} MAAS uses what it had before.") from failure

    def _default_storage_pool(self, known: VMHostDetails, decision: VMHostPlan) -> VMHostDetails:
        wished = decision.fields.default_storage_pool
        if wished in (None, fields_of(known.host, {})["default_storage_pool"]):
            return known
        pools = [str(pool["name"]) for pool in known.host.get("storage_pools") or ()]
        if wished not in pools:
            raise Failure(
                "not_found",
                f"{known.label} has no storage pool {wished}; it has {', '.join(pools) or 'none'}.",
                object=known.label,
                hint="Make it with metalshift.maas.lxd_storage_pool; the next run finds it.",
            )
        return replace(known, host=self._hosts.change(known.host, {"default_storage_pool": wished}))

    # -- waiting ------------------------------------------------------------------------------------------

    def _await_capacity(self, known: VMHostDetails) -> VMHostDetails:
        """Look until VMs can be composed there; MAAS learns the cores only after it has answered."""
        refreshed = self._patience.waited

        def look() -> Host:
            nonlocal refreshed
            host = self._hosts.read(known.host)
            if has_capacity(host) or self._patience.waited - refreshed < BETWEEN_REFRESHES:
                return host
            refreshed = self._patience.waited
            try:
                return self._hosts.refresh(known)
            except Failure as failure:
                if failure.kind not in MAY_PASS:
                    raise
                return host

        def tell(host: Host) -> str:
            return f"{known.label}: {'; '.join(missing(host)) or 'has capacity'}"

        host = self._patience.until(look, has_capacity, tell)
        if host is not None:
            return replace(known, host=host)
        lacks = "; ".join(missing(self._hosts.read(known.host))) or "it came too late"
        waited = in_words(self._patience.waited)
        raise Failure(
            "timeout",
            f"{known.label} is registered, but after {waited} no VM can be composed there: {lacks}.",
            object=known.label,
            reason=lacks,
            hint="metalshift.maas.lxd_info shows what LXD itself has; the next run makes MAAS ask it again.",
        )


def _refused(failure: Failure, pair: Pair) -> Failure:
    """A 500 is how MAAS says that it cannot use a certificate."""
    if failure.status != 500 or ("PEM" not in failure.reason and keys.is_rsa(pair)):
        return failure
    return replace(
        failure,
        kind="rejected",
        message=f"MAAS cannot use the certificate and key: {failure.reason.rstrip('.')}.",
        hint="Newer versions of MAAS take RSA keys only; without certificate and key a pair of that kind is made.",
    )
