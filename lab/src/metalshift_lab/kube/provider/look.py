# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at one MaasMachine: from the wish for a machine to a node, and back."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from metalshift_lab.kube.api import SECRETS, Api, ApiError, Object, Unreachable, of_name
from metalshift_lab.kube.provider import capi, dns, states, vms
from metalshift_lab.kube.provider.conditions import V1BETA2, false, true
from metalshift_lab.kube.provider.draft import Draft
from metalshift_lab.kube.provider.events import Recorder
from metalshift_lab.kube.provider.failures import Broken, Composing, Crashed, Detaching, Missing
from metalshift_lab.kube.provider.hosted import Hosted, Offline
from metalshift_lab.kube.provider.maas import Maas, MaasError, Machine, wrapped
from metalshift_lab.kube.provider.settings import Settings
from metalshift_lab.kube.provider.texts import go_format, quoted
from metalshift_lab.kube.provider.virtual import VirtualMachine

FINALIZER = "maasmachine.infrastructure.cluster.x-k8s.io"

#: Real seconds.
AFTER_BROKEN = 120
AFTER_COMPOSING = 30
AFTER_POWER_ON = 60
WAIT_FOR_DNS = 10
WAIT_FOR_API = 300
WAIT_FOR_NODE = 30
#: A MaasMachine without a machine stays this long after its deletion, and is looked at that often.
GRACE = 120
GRACE_STEP = 30

#: Maintenance tags that are taken off a machine that was just deployed, and the beginnings of further ones.
STALE_TAGS = ("maas-lxd-host-maintenance", "maas-lxd-host-noschedule", "maas-lxd-wlc-cp")
STALE_PREFIXES = ("maas-lxd-hcp-op-", "maas-lxd-wlc-", "maas-lxd-ready-op-")


@dataclass(frozen=True)
class Around:
    """What every look needs."""

    settings: Settings
    api: Api
    hosted: Hosted
    recorder: Recorder
    log: logging.Logger


class Look:
    """`draft` is the MaasMachine, `endpoint` the MaasCluster, only to be read; the rest is Cluster API's."""

    def __init__(self, around: Around, draft: Draft, machine: Object, cluster: Object, endpoint: Draft) -> None:
        self.settings, self.behaviour = around.settings, around.settings.behaviour
        self.api, self.log = around.api, around.log
        self._hosted, self._recorder = around.hosted, around.recorder
        self.draft, self.machine, self._cluster, self._endpoint = draft, machine, cluster, endpoint
        self.control_plane = capi.of_control_plane(machine)
        self._client: Maas | None = None

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    @property
    def maas(self) -> Maas:
        if self._client is None:
            self._client = self.settings.maas()
        return self._client

    @property
    def system_id(self) -> str:
        return states.system_id_of(self.draft.spec.get("providerID") or "")

    def _find(self) -> Machine | None:
        """The machine that the MaasMachine names; None without a name and for one that MAAS does not know."""
        if not self.system_id:
            return None
        try:
            return self.maas.machine(self.system_id).get()
        except MaasError as error:
            if error.status == 404 or "no machine matches" in str(error).lower():
                return None
            raise wrapped("Unable to find machine", error) from None

    # -- wanted -----------------------------------------------------------------------------------------------------

    def keep(self) -> float | None:
        draft = self.draft
        if not draft.holds(FINALIZER):
            draft.hold(FINALIZER)
            return None
        if not capi.infrastructure_ready(self._cluster):
            draft.mark(states.WAITING_FOR_CLUSTER)
            return None
        if capi.bootstrap_secret(self.machine) is None:
            draft.mark(states.WAITING_FOR_BOOTSTRAP)
            return None
        try:
            machine = self._find()
        except MaasError as error:
            draft.mark(states.not_found(str(error)))
            raise
        if machine is None or machine.state not in states.ADOPTED:
            try:
                machine = self._deployed()
            except Broken:
                draft.mark(states.RETRYING)
                return AFTER_BROKEN
            except Composing:
                return AFTER_COMPOSING
            except (MaasError, ApiError) as error:
                draft.mark(states.failed(str(error)))
                raise
        return self._followed(machine)

    def _deployed(self) -> Machine:
        """Allocate a machine unless one is named, deploy it, and take old maintenance tags off."""
        # Between two failures the condition goes on to say so.
        if self.draft.reason(states.DEPLOYED) != states.FAILED:
            self.draft.mark(states.STARTED)
            self.draft.save()
        try:
            user_data = self._user_data()
        except (Missing, ApiError) as error:
            raise MaasError(f"failed to resolve userdata: {error}") from None
        try:
            machine = self._deploy(user_data)
        except (Broken, Composing):
            raise
        except (MaasError, ApiError, Unreachable) as error:
            raise wrapped("failed to deploy MaasMachine instance", error) from None
        if self.behaviour.lxd:
            self._clean(machine.system_id)
        return machine

    def _user_data(self) -> str:
        namespace, name = self.draft.namespace, capi.bootstrap_secret(self.machine) or ""
        try:
            secret = self.api.get(SECRETS, name, namespace)
            if secret is None:
                raise Missing(
                    f"failed to retrieve bootstrap data secret for MaasMachine {namespace}/{of_name(self.machine)}: "
                    f"Secret {quoted(name)} not found"
                )
            if "value" not in secret.get("data", {}):
                raise Missing("error retrieving bootstrap data: secret value key is missing")
        except (Missing, ApiError) as error:
            self._recorder.warn(self.draft.body, "FailedGetBootstrapData", go_format(str(error)))
            raise
        # MAAS wants base64, which is how Kubernetes gives it.
        return str(secret["data"]["value"])

    def _deploy(self, user_data: str) -> Machine:
        if self.behaviour.lxd and vms.wanted(self.draft.spec):
            return VirtualMachine(self).deployed(user_data)
        machine = self._taken()
        try:
            try:
                machine.update(swap_size="0")
            except MaasError as error:
                raise wrapped("Unable to disable swap", error) from None
            try:
                return machine.deploy(**self.deployment(user_data))
            except MaasError as error:
                raise wrapped("Unable to deploy machine", error) from None
        except MaasError:
            self._give_up(machine)
            raise

    def deployment(self, user_data: str, *, virtual: bool = False) -> dict[str, str]:
        spec = self.draft.spec
        system, series = states.split_image(spec["image"], splits=self.behaviour.splits_images)
        form = {"user_data": user_data, "osystem": system, "distro_series": series}
        if self.behaviour.says_ephemeral and not virtual:
            form["ephemeral_deploy"] = "true" if spec.get("deployInMemory") else "false"
        return form

    def _taken(self) -> Machine:
        """The machine that is named, or one that MAAS allocates: its name is saved before all else."""
        if self.draft.spec.get("providerID"):
            try:
                return self.maas.machine(self.system_id).get()
            except MaasError as error:
                raise wrapped(f"unable to find machine {self.system_id}", error) from None
        try:
            machine = self.maas.allocate(self._wish())
        except MaasError as error:
            if "Invalid transition: Broken" in str(error):
                self._release_broken(str(error))
                raise Broken("broken machine encountered") from None
            raise wrapped("Unable to allocate machine", error) from None
        if machine.zone is None:
            raise Crashed("panic: runtime error: invalid memory address or nil pointer dereference [recovered]")
        self.draft.spec["providerID"] = states.provider_id(machine.zone, machine.system_id)
        try:
            self.draft.save()
        except (ApiError, Unreachable) as error:
            raise wrapped("unable to pathc machine with provider id", error) from None
        return machine

    def _wish(self) -> dict[str, str]:
        spec = self.draft.spec
        form = {"cpu_count": str(spec["minCPU"]), "mem": str(spec["minMemory"])}
        for name, value in (("zone", self.zone), ("pool", spec.get("resourcePool"))):
            if value:
                form[name] = str(value)
        if spec.get("tags"):
            # Each tag replaces the one before in the Go client's form.
            form["tags"] = str(spec["tags"][-1])
        return form

    @property
    def zone(self) -> str:
        """Where the machine shall be; empty if it does not matter."""
        return str(self.draft.spec.get("failureDomain") or self.machine["spec"].get("failureDomain") or "")

    def _release_broken(self, text: str) -> None:
        named = states.machine_in(text)
        if named:
            try:
                self.maas.machine(named).release(force="true")
            except MaasError as error:
                self.log.info("the broken machine %s was not released: %s", named, error)

    def _give_up(self, machine: Machine) -> None:
        """Release what was not deployed. That its name is cleared as well is what the provider believes: see Draft."""
        try:
            machine.release()
        except MaasError as error:
            self.log.error("Unable to release properly: %s", error)
        self.draft.spec.pop("providerID", None)
        self.draft.spec.pop("systemID", None)
        try:
            self.draft.save()
        except (ApiError, Unreachable) as error:
            self.log.info("%s: its machine's ID was not cleared: %s", self.draft.name, error)

    def _clean(self, system_id: str) -> None:
        try:
            tags = self.maas.machine(system_id).get().tags
            for tag in (*STALE_TAGS, *(tag for tag in tags if tag.startswith(STALE_PREFIXES))):
                self.maas.tag(tag, "remove", system_id)
        except MaasError as error:
            self.log.info("failed to cleanup stale tags after deployment: %s", error)

    # -- there ------------------------------------------------------------------------------------------------------

    def _followed(self, machine: Machine) -> float | None:
        """Write down what the machine is, and go on as its state says."""
        draft, spec, status = self.draft, self.draft.spec, self.draft.status
        spec["providerID"] = states.provider_id(machine.zone or "", machine.system_id)
        spec["failureDomain"], spec["systemID"] = machine.zone or "", machine.system_id
        status["hostname"], status["machineState"] = machine.hostname, machine.state
        status["machinePowered"] = machine.powered
        outcome = states.outcome(machine.state, machine.powered)
        if outcome.power_on:
            try:
                self.maas.machine(machine.system_id).power_on()
            except MaasError as error:
                raise wrapped("unable to power on deployed machine", error) from None
            return AFTER_POWER_ON
        self._write(outcome)
        if machine.state in states.KNOWN:
            internal = self.behaviour.internal_addresses
            status["addresses"] = states.addresses(machine.fqdn, machine.ips, internal=internal)
            try:
                self._attach(machine)
            except Detaching:
                return WAIT_FOR_DNS
        if not self._hosted.online(self._cluster) or machine.state not in states.OPERATIONAL:
            return WAIT_FOR_API
        try:
            self._hosted.name_node(self._cluster, machine.hostname, spec["providerID"])
        except (ApiError, Unreachable, Offline) as error:
            self.log.debug("%s: Unable to set Node hostname: %s", draft.name, error)
            text = "Unable to set the node provider update"
            self._recorder.warn(draft.body, "NodeProviderUpdateFailed", text)
            return WAIT_FOR_NODE
        return None

    def _write(self, outcome: states.Outcome) -> None:
        draft, status = self.draft, self.draft.status
        if outcome.condition is not None:
            draft.mark(outcome.condition)
        if outcome.ready is not None:
            status["ready"] = outcome.ready
            if self.behaviour.contract is V1BETA2:
                # What was provisioned once stays so.
                before = status.get("initialization", {}).get("provisioned", False)
                status["initialization"] = {"provisioned": outcome.ready or before}
        if outcome.event is not None:
            self._recorder.warn(draft.body, *outcome.event)
        if outcome.failure:
            status["failureReason"], status["failureMessage"] = "UpdateError", outcome.failure

    def _attach(self, machine: Machine) -> None:
        """Wait until DNS has a running machine of the control plane, or has it no more."""
        if not self.control_plane or dns.custom(self._endpoint, self.behaviour):
            return
        fqdn = dns.name(self._endpoint, self._cluster, self.behaviour)
        wanted = not self.draft.deleting and machine.state in states.RUNNING
        try:
            known = dns.Records(self.maas, fqdn).addresses()
        except MaasError as error:
            what = f"{'normal ' if wanted else ''}machine {quoted(machine.system_id)}"
            raise wrapped(f"{what} - error determining registration status", error) from None
        attached = not known.isdisjoint(machine.ips) or machine.fqdn in known
        self.draft.status["dnsAttached"] = attached
        if attached != wanted:
            reason = "DNSAttachPending" if wanted else "DNSDetachPending"
            self.draft.mark(false(states.DNS_ATTACHED, reason, "Warning"))
            raise Detaching
        if wanted:
            self.draft.mark(true(states.DNS_ATTACHED))

    def _release_again(self, system_id: str) -> None:
        """The real one reads MaasMachines from a cache, which at times has not seen that it is through with one."""
        time.sleep(self.settings.between_releases)
        try:
            self.maas.machine(system_id).release()
        except MaasError as error:
            self.log.error("%s: failed to release machine: %s", self.draft.name, error)
        name = f"{self.draft.namespace}/{self.draft.name}"
        self.log.error("failed to patch MaasMachine %s: not found", name)

    # -- unwanted ---------------------------------------------------------------------------------------------------

    def delete(self) -> float | None:
        """Release the machine; the MaasMachine goes at once then, whatever MAAS does on. A failure changes nothing."""
        draft = self.draft
        machine = self._find()
        if machine is None:
            if draft.age_of_deletion(time.time()) < self.settings.speed.seconds(GRACE):
                return GRACE_STEP
            self._recorder.warn(draft.body, "NoMachineFound", "Unable to find matching MaaS machine")
            draft.let_go(FINALIZER)
            return None
        try:
            self._attach(machine)
        except Detaching:
            return None
        try:
            self.maas.machine(machine.system_id).release()
        except MaasError as error:
            self.log.error("%s: failed to release machine: %s", draft.name, error)
            raise wrapped("Unable to release machine", error) from None
        if self.settings.releases_twice:
            self._release_again(machine.system_id)
        if self.behaviour.lxd and vms.wanted(draft.spec):
            VirtualMachine(self).delete(machine.system_id)
        draft.mark(states.DELETED)
        text = f"Released instance {quoted(machine.system_id)}"
        self._recorder.note(draft.body, "SuccessfulRelease", text)
        draft.let_go(FINALIZER)
        return None
