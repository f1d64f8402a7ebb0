# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""MaasMachines: from the wish for a machine to a node, and back."""

from __future__ import annotations

import time
from copy import deepcopy

from lab.kube.api import MAAS_CLUSTERS, MAAS_MACHINES, SECRETS, Api, ApiError, Object, Unreachable, of_name
from lab.kube.controller import Controller
from lab.kube.provider import capi, dns, states
from lab.kube.provider.conditions import V1BETA2, false, true
from lab.kube.provider.draft import Draft
from lab.kube.provider.events import Recorder
from lab.kube.provider.hosted import Hosted, Offline
from lab.kube.provider.maas import Maas, MaasError, Machine, wrapped
from lab.kube.provider.settings import Settings
from lab.kube.provider.texts import go_format, quoted

FINALIZER = "maasmachine.infrastructure.cluster.x-k8s.io"

#: Real seconds.
AFTER_BROKEN = 120
AFTER_COMPOSING = 30
AFTER_POWER_ON = 60
WAIT_FOR_DNS = 10
WAIT_FOR_API = 300
WAIT_FOR_NODE = 30
WAIT_FOR_STATIC_IP = 30
#: A MaasMachine without a machine stays this long after its deletion, and is looked at that often.
GRACE = 120
GRACE_STEP = 30

#: Maintenance tags that are taken off a machine that was just deployed, and the beginnings of further ones.
STALE_TAGS = ("maas-lxd-host-maintenance", "maas-lxd-host-noschedule", "maas-lxd-wlc-cp")
STALE_PREFIXES = ("maas-lxd-hcp-op-", "maas-lxd-wlc-", "maas-lxd-ready-op-")


class Broken(MaasError):
    """MAAS offered a machine that is broken; the next try comes in two minutes."""


class Composing(MaasError):
    """The VM was composed and is being commissioned."""


class Missing(Exception):
    """Kubernetes lacks an object, or what should be in it."""


class Crashed(Exception):
    """The Go program would have crashed here; it catches that and tries again, and no condition says so."""


class Detaching(Exception):
    """DNS and the machine do not agree yet."""


class Machines(Controller):
    expected = (ApiError, Unreachable, MaasError, Missing, Crashed)

    def __init__(self, api: Api, settings: Settings, hosted: Hosted, version: str) -> None:
        super().__init__(api, "provider.machines")
        self.workers = settings.concurrency
        speed = settings.speed
        self.backoff = (speed.seconds(0.005), speed.seconds(min(1000, settings.sync_period)))
        self.settings, self.hosted = settings, hosted
        self.recorder = Recorder(api, "maasmachine-controller")
        self._machines, self._clusters = capi.machines(version), capi.clusters(version)
        namespace = (settings.namespace if settings.behaviour.confined else "") or None
        self.watch(MAAS_MACHINES, namespace=namespace)
        self.watch(self._machines, namespace=namespace, key=_of_machine)
        self.watch(MAAS_CLUSTERS, namespace=namespace, key=self._of_maas_cluster)
        self.watch(self._clusters, namespace=namespace, key=self._of_cluster)

    def _of_maas_cluster(self, body: Object) -> list[str]:
        cluster = capi.owner(body, "Cluster")
        machines = capi.of_cluster(self.mirror(self._machines), body["metadata"]["namespace"], cluster or "")
        return [key for machine in machines for key in _of_machine(machine)]

    def _of_cluster(self, body: Object) -> list[str]:
        namespace = body["metadata"]["namespace"]
        found = capi.of_cluster(self.mirror(MAAS_MACHINES), namespace, of_name(body))
        return [f"{namespace}/{of_name(each)}" for each in found]

    def reconcile(self, key: str) -> float | None:
        namespace, _, name = key.partition("/")
        found = self.api.get(MAAS_MACHINES, name, namespace)
        if found is None:
            return None
        owner = capi.owner(found, "Machine")
        if owner is None:
            self.log.debug("%s waits for the Machine to become its owner", name)
            return None
        machine = self.mirror(self._machines).get(owner, namespace)
        if machine is None:
            raise Missing(f"Machine.cluster.x-k8s.io {quoted(owner)} not found")
        cluster = self.mirror(self._clusters).get(capi.label(machine, capi.CLUSTER_NAME) or "", namespace)
        if cluster is None or capi.paused(cluster, found):
            return None
        maas_cluster = self.mirror(MAAS_CLUSTERS).get(capi.infrastructure(cluster, "MaasCluster") or "", namespace)
        if maas_cluster is None:
            self.log.info("%s: its MaasCluster is not there yet", name)
            return None
        return self._passed(found, machine, cluster, maas_cluster)

    def _passed(self, found: Object, machine: Object, cluster: Object, maas_cluster: Object) -> float:
        behaviour = self.settings.behaviour
        control_plane = capi.label(machine, capi.CONTROL_PLANE) is not None
        kinds = (states.DEPLOYED, states.DNS_ATTACHED) if control_plane else (states.DEPLOYED,)
        draft = Draft(self.api, MAAS_MACHINES, found, behaviour.contract, kinds)
        endpoint = Draft(self.api, MAAS_CLUSTERS, deepcopy(maas_cluster), behaviour.contract, ())
        look = Pass(self, draft, machine, cluster, endpoint, control_plane)
        try:
            again = look.delete() if draft.deleting else look.keep()
        finally:
            look.close()
            draft.save()
        sync = self.settings.sync_period
        return self.settings.speed.seconds(sync if again is None else min(again, sync))


class Pass:
    """One look at one MaasMachine."""

    def __init__(
        self,
        controller: Machines,
        draft: Draft,
        machine: Object,
        cluster: Object,
        endpoint: Draft,
        control_plane: bool,
    ) -> None:
        self._settings, self._hosted = controller.settings, controller.hosted
        self._api, self._log, self._recorder = controller.api, controller.log, controller.recorder
        self._behaviour = controller.settings.behaviour
        self._draft, self._machine, self._cluster = draft, machine, cluster
        self._endpoint, self._control_plane = endpoint, control_plane
        self._client: Maas | None = None

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    @property
    def _maas(self) -> Maas:
        if self._client is None:
            self._client = self._settings.maas()
        return self._client

    @property
    def _system_id(self) -> str:
        return states.system_id_of(self._draft.spec.get("providerID") or "")

    def _find(self) -> Machine | None:
        """The machine that the MaasMachine names; None without a name and for one that MAAS does not know."""
        if not self._system_id:
            return None
        try:
            return self._maas.machine(self._system_id).get()
        except MaasError as error:
            if error.status == 404 or "no machine matches" in str(error).lower():
                return None
            raise wrapped("Unable to find machine", error) from None

    # -- wanted -----------------------------------------------------------------------------------------------------

    def keep(self) -> float | None:
        draft = self._draft
        if not draft.holds(FINALIZER):
            draft.hold(FINALIZER)
            return None
        if not capi.infrastructure_ready(self._cluster):
            draft.mark(states.WAITING_FOR_CLUSTER)
            return None
        if capi.bootstrap_secret(self._machine) is None:
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
        if self._draft.reason(states.DEPLOYED) != states.FAILED:
            self._draft.mark(states.STARTED)
            self._draft.save()
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
        if self._behaviour.lxd:
            self._clean(machine.system_id)
        return machine

    def _user_data(self) -> str:
        namespace, name = self._draft.namespace, capi.bootstrap_secret(self._machine) or ""
        try:
            secret = self._api.get(SECRETS, name, namespace)
            if secret is None:
                raise Missing(
                    f"failed to retrieve bootstrap data secret for MaasMachine {namespace}/{of_name(self._machine)}: "
                    f"Secret {quoted(name)} not found"
                )
            if "value" not in secret.get("data", {}):
                raise Missing("error retrieving bootstrap data: secret value key is missing")
        except (Missing, ApiError) as error:
            self._recorder.warn(self._draft.body, "FailedGetBootstrapData", go_format(str(error)))
            raise
        # MAAS wants base64, which is how Kubernetes gives it.
        return str(secret["data"]["value"])

    def _deploy(self, user_data: str) -> Machine:
        machine = self._taken()
        try:
            try:
                machine.update(swap_size="0")
            except MaasError as error:
                raise wrapped("Unable to disable swap", error) from None
            try:
                return machine.deploy(**self._deployment(user_data))
            except MaasError as error:
                raise wrapped("Unable to deploy machine", error) from None
        except MaasError:
            self._give_up(machine)
            raise

    def _deployment(self, user_data: str) -> dict[str, str]:
        spec = self._draft.spec
        system, series = states.split_image(spec["image"], splits=self._behaviour.splits_images)
        form = {"user_data": user_data, "osystem": system, "distro_series": series}
        if self._behaviour.says_ephemeral:
            form["ephemeral_deploy"] = "true" if spec.get("deployInMemory") else "false"
        return form

    def _taken(self) -> Machine:
        """The machine that is named, or one that MAAS allocates: its name is saved before all else."""
        if self._draft.spec.get("providerID"):
            try:
                return self._maas.machine(self._system_id).get()
            except MaasError as error:
                raise wrapped(f"unable to find machine {self._system_id}", error) from None
        try:
            machine = self._maas.allocate(self._wish())
        except MaasError as error:
            if "Invalid transition: Broken" in str(error):
                self._release_broken(str(error))
                raise Broken("broken machine encountered") from None
            raise wrapped("Unable to allocate machine", error) from None
        if machine.zone is None:
            raise Crashed("panic: runtime error: invalid memory address or nil pointer dereference [recovered]")
        self._draft.spec["providerID"] = states.provider_id(machine.zone, machine.system_id)
        try:
            self._draft.save()
        except (ApiError, Unreachable) as error:
            raise wrapped("unable to pathc machine with provider id", error) from None
        return machine

    def _wish(self) -> dict[str, str]:
        spec = self._draft.spec
        form = {"cpu_count": str(spec["minCPU"]), "mem": str(spec["minMemory"])}
        zone = spec.get("failureDomain") or self._machine["spec"].get("failureDomain")
        for name, value in (("zone", zone), ("pool", spec.get("resourcePool"))):
            if value:
                form[name] = str(value)
        if spec.get("tags"):
            # Each tag replaces the one before in the Go client's form.
            form["tags"] = str(spec["tags"][-1])
        return form

    def _release_broken(self, text: str) -> None:
        named = states.machine_in(text)
        if named:
            try:
                self._maas.machine(named).release(force="true")
            except MaasError as error:
                self._log.info("the broken machine %s was not released: %s", named, error)

    def _give_up(self, machine: Machine) -> None:
        """Release what was not deployed. That its name is cleared as well is what the provider believes: see Draft."""
        try:
            machine.release()
        except MaasError as error:
            self._log.error("Unable to release properly: %s", error)
        self._draft.spec.pop("providerID", None)
        self._draft.spec.pop("systemID", None)
        try:
            self._draft.save()
        except (ApiError, Unreachable) as error:
            self._log.info("%s: its machine's ID was not cleared: %s", self._draft.name, error)

    def _clean(self, system_id: str) -> None:
        try:
            tags = self._maas.machine(system_id).get().tags
            for tag in (*STALE_TAGS, *(tag for tag in tags if tag.startswith(STALE_PREFIXES))):
                self._maas.tag(tag, "remove", system_id)
        except MaasError as error:
            self._log.info("failed to cleanup stale tags after deployment: %s", error)

    # -- there ------------------------------------------------------------------------------------------------------

    def _followed(self, machine: Machine) -> float | None:
        """Write down what the machine is, and go on as its state says."""
        draft, spec, status = self._draft, self._draft.spec, self._draft.status
        spec["providerID"] = states.provider_id(machine.zone or "", machine.system_id)
        spec["failureDomain"], spec["systemID"] = machine.zone or "", machine.system_id
        status["hostname"], status["machineState"] = machine.hostname, machine.state
        status["machinePowered"] = machine.powered
        outcome = states.outcome(machine.state, machine.powered)
        if outcome.power_on:
            try:
                self._maas.machine(machine.system_id).power_on()
            except MaasError as error:
                raise wrapped("unable to power on deployed machine", error) from None
            return AFTER_POWER_ON
        self._write(outcome)
        if machine.state in states.KNOWN:
            internal = self._behaviour.internal_addresses
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
            self._log.info("%s: Unable to set Node hostname: %s", draft.name, error)
            text = "Unable to set the node provider update"
            self._recorder.warn(draft.body, "NodeProviderUpdateFailed", text)
            return WAIT_FOR_NODE
        return None

    def _write(self, outcome: states.Outcome) -> None:
        draft, status = self._draft, self._draft.status
        if outcome.condition is not None:
            draft.mark(outcome.condition)
        if outcome.ready is not None:
            status["ready"] = outcome.ready
            if self._behaviour.contract is V1BETA2:
                # What was provisioned once stays so.
                before = status.get("initialization", {}).get("provisioned", False)
                status["initialization"] = {"provisioned": outcome.ready or before}
        if outcome.event is not None:
            self._recorder.warn(draft.body, *outcome.event)
        if outcome.failure:
            status["failureReason"], status["failureMessage"] = "UpdateError", outcome.failure

    def _attach(self, machine: Machine) -> None:
        """Wait until DNS has a running machine of the control plane, or has it no more."""
        if not self._control_plane or dns.custom(self._endpoint, self._behaviour):
            return
        fqdn = dns.name(self._endpoint, self._cluster, self._behaviour)
        wanted = not self._draft.deleting and machine.state in states.RUNNING
        try:
            known = dns.Records(self._maas, fqdn).addresses()
        except MaasError as error:
            what = f"{'normal ' if wanted else ''}machine {quoted(machine.system_id)}"
            raise wrapped(f"{what} - error determining registration status", error) from None
        attached = not known.isdisjoint(machine.ips) or machine.fqdn in known
        self._draft.status["dnsAttached"] = attached
        if attached != wanted:
            reason = "DNSAttachPending" if wanted else "DNSDetachPending"
            self._draft.mark(false(states.DNS_ATTACHED, reason, "Warning"))
            raise Detaching
        if wanted:
            self._draft.mark(true(states.DNS_ATTACHED))

    # -- unwanted ---------------------------------------------------------------------------------------------------

    def delete(self) -> float | None:
        """Release the machine; the MaasMachine goes at once then, whatever MAAS does on. A failure changes nothing."""
        draft = self._draft
        machine = self._find()
        if machine is None:
            if draft.age_of_deletion(time.time()) < self._settings.speed.seconds(GRACE):
                return GRACE_STEP
            self._recorder.warn(draft.body, "NoMachineFound", "Unable to find matching MaaS machine")
            draft.let_go(FINALIZER)
            return None
        try:
            self._attach(machine)
        except Detaching:
            return None
        try:
            self._maas.machine(machine.system_id).release()
        except MaasError as error:
            self._log.error("%s: failed to release machine: %s", draft.name, error)
            raise wrapped("Unable to release machine", error) from None
        draft.mark(states.DELETED)
        text = f"Released instance {quoted(machine.system_id)}"
        self._recorder.note(draft.body, "SuccessfulRelease", text)
        draft.let_go(FINALIZER)
        return None


def _of_machine(body: Object) -> list[str]:
    name = capi.infrastructure(body, "MaasMachine")
    return [f"{body['metadata']['namespace']}/{name}"] if name else []
