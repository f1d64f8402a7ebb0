# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a look at a MaasMachine that is about a VM which MAAS composes."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from metalshift_lab.kube.api import SECRETS
from metalshift_lab.kube.provider import states, vms
from metalshift_lab.kube.provider.failures import Composing
from metalshift_lab.kube.provider.maas import Maas, MaasError, Machine, wrapped

if TYPE_CHECKING:
    from metalshift_lab.kube.provider.look import Look

#: Of the Secret, in the cluster's own namespace, by which a VM is deleted; and what is tried without it.
CREDENTIALS = "capmaas-manager-bootstrap-credentials"
NOWHERE = ("http://localhost:5240/MAAS", "dummy-token")


class VirtualMachine:
    def __init__(self, look: Look) -> None:
        self._look, self._draft, self._maas = look, look.draft, look.maas

    def deployed(self, user_data: str) -> Machine:
        """Compose it, or deploy what was composed before, also while it is still commissioning: MAAS refuses then."""
        if not self._look.system_id:
            try:
                self._compose()
            except MaasError as error:
                raise wrapped("compose failed prior to deploy", error) from None
            self._draft.mark(states.COMPOSED)
            self._draft.save()
            raise Composing("vm composing/commissioning")
        machine = self._maas.machine(self._look.system_id)
        try:
            machine.get()
        except MaasError as error:
            raise wrapped("failed to get existing VM by system-id", error) from None
        try:
            machine.update(hostname=vms.later_name(self._look.machine))
        except MaasError as error:
            self._look.log.info("the VM %s keeps its name: %s", machine.system_id, error)
        try:
            machine.deploy(**self._look.deployment(user_data, virtual=True))
        except MaasError as error:
            raise wrapped("failed to deploy existing VM", error) from None
        self._tag(machine.system_id)
        self._name(machine.system_id, machine.zone or self._look.zone)
        return machine

    def _compose(self) -> None:
        spec = self._draft.spec
        wish = vms.Wish.of(spec, self._look.zone)
        name = self._draft.metadata.get("annotations", {}).get(vms.NAME)
        if not name:
            name = vms.first_name(self._look.machine)
            self._draft.body["metadata"].setdefault("annotations", {})[vms.NAME] = name
            self._draft.save()
        host = self._host(wish)
        network = (spec["lxd"].get("vmConfig") or {}).get("network") or ""
        subnets = vms.interfaces(network) if self._look.behaviour.vm_interfaces else ""
        try:
            system_id = self._maas.compose(host["id"], vms.composition(name, wish, host, subnets))
        except MaasError as error:
            raise wrapped("failed to compose VM on LXD host", error) from None
        self._name(system_id, wish.zone)
        self._tag(system_id)

    def _tag(self, system_id: str) -> None:
        """Those of a control plane are told apart: when they are made, and once more when they are deployed."""
        for tag in (vms.CONTROL_PLANE_TAG, self._cluster_tag()) if self._look.control_plane else ():
            self._maas.ensure_tag(tag)
            self._maas.tag(tag, "add", system_id)

    def _host(self, wish: vms.Wish) -> vms.Host:
        try:
            hosts = self._maas.vm_hosts()
        except MaasError as error:
            raise wrapped("failed to list LXD VM hosts", error) from None
        crowd = vms.crowd(self._maas.list_machines(), self._cluster_tag()) if self._look.control_plane else {}
        fitting = [host for host in hosts if vms.fits(host, wish) and self._runs(host)]
        found = vms.best(fitting, wish, crowd)
        if found is None:
            raise MaasError(f"failed to select LXD VM host: {wish.unmet() if hosts else vms.NO_HOSTS}")
        if not vms.pool_of(found)[1]:
            raise MaasError(vms.NO_POOL)
        return found

    def _runs(self, host: vms.Host) -> bool:
        try:
            return vms.open_for_more(self._maas.json("GET", f"/machines/{host['host']['system_id']}/"))
        except MaasError as error:
            self._look.log.info("the machine under the VM host %s is not known: %s", host["name"], error)
            return False

    def _cluster_tag(self) -> str:
        return f"{vms.CLUSTER_TAG}{vms.cluster_id(self._draft.namespace)}"

    def _name(self, system_id: str, zone: str) -> None:
        spec = self._draft.spec
        spec["systemID"], spec["providerID"] = system_id, states.provider_id(zone, system_id)
        if zone:
            spec["failureDomain"] = zone
        self._draft.save()

    def delete(self, system_id: str) -> None:
        """Delete it with other credentials than it was made with. Without those it stays in MAAS, Ready."""
        maas = Maas(*self._credentials())
        try:
            machine = maas.machine(system_id).get()
            if machine.power_type == "lxd":
                machine.delete()
            else:
                self._look.log.error("machine %s is not an LXD VM (power_type: %s)", system_id, machine.power_type)
        except MaasError as error:
            self._look.log.error("failed to delete LXD VM after release: %s", error)
        finally:
            maas.close()

    def _credentials(self) -> tuple[str, str]:
        secret = self._look.api.get(SECRETS, CREDENTIALS, self._draft.namespace)
        data = (secret or {}).get("data", {})
        found = [base64.b64decode(data.get(name, "")).decode() for name in ("MAAS_ENDPOINT", "MAAS_API_KEY")]
        if all(found):
            return found[0], found[1]
        environment = self._look.settings.environment
        for names in self._look.behaviour.vm_credentials:
            if all(environment.get(name) for name in names):
                return environment[names[0]], environment[names[1]]
        return NOWHERE
