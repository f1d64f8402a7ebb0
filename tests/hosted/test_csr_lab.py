# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of nodes that join a hosted cluster which the real operators made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._kube.provider_id import system_id_of
from ansible_collections.metalshift.maas.plugins.module_utils._maas.client import Client
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, Connection
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines import Machines
from hosted.play import run
from integration.harness import Outcome
from lab.kube.api import MAAS_MACHINES
from lab.kube.handle import Lab
from lab.kube.journey import Journey, condition

NAME = "signed"


@pytest.fixture(scope="module")
def signed(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """A cluster of two machines, of which one says another address than MAAS knows."""
    journey = Journey(lab, NAME, tmp_path_factory.mktemp("kubeconfigs"))
    journey.create(replicas=2)
    journey.until_available()
    yield journey
    lab.heal("other-address")
    journey.delete()
    journey.until_gone()


def look(lab: Lab, **options: Any) -> Outcome:
    outcome = run(lab, "node_csr", {"name": NAME, **options})
    assert not outcome.failed, outcome.msg
    return outcome


def hostnames(journey: Journey) -> list[str]:
    """What MAAS calls the machines that the cluster names."""
    facts = journey.lab.facts
    maas = Client(Connection(base=str(facts["maas_url"]), key=ApiKey.parse(str(facts["maas_api_key"]))))
    bodies = journey.lab.api.list(MAAS_MACHINES, journey.namespace)
    ids = [one for body in bodies if (one := system_id_of(body))]
    return sorted(machine["hostname"] for machine in Machines(maas).read(ids).values())


def ready(journey: Journey) -> list[str]:
    nodes = journey.nodes()
    return sorted(node["metadata"]["name"] for node in nodes if condition(node, "Ready").get("status") == "True")


def test_before_there_is_a_kubeconfig_that_is_said(lab: Lab) -> None:
    outcome = run(lab, "node_csr", {"name": "never-made"})
    assert outcome["failure"]["kind"] == "not_found"
    assert "There is no hosted cluster clusters/never-made." in outcome.msg


def test_nodes_join_and_a_lie_about_an_address_is_found_out(signed: Journey, lab: Lab) -> None:
    taken = lab.until("both machines are taken", lambda: len(found := hostnames(signed)) == 2 and found, 120)
    liar, honest = taken
    lab.fault("other-address", hostname=f"^{liar}$", address="10.99.250.250")
    approved: list[dict[str, Any]] = []

    def found_out() -> list[dict[str, Any]]:
        outcome = look(lab)
        approved.extend(one for one in outcome["certificate_requests"] if one["approved"])
        return [one for one in outcome["certificate_requests"] if one["reason"] == "address"]

    refused = lab.until("the lie is found out", found_out, 180)
    assert [one["node"].partition(".")[0] for one in refused] == [liar]
    assert "10.99.250.250: not among the addresses in MAAS" in refused[0]["message"]
    assert not refused[0]["passing"]

    def joined() -> bool:
        approved.extend(one for one in look(lab)["certificate_requests"] if one["approved"])
        return {(one["kind"], one["node"].partition(".")[0]) for one in approved} >= {
            ("client", liar),
            ("client", honest),
            ("serving", honest),
        }

    lab.until("the others are approved", joined, 120)
    assert len(ready(signed)) == 2

    lab.heal("other-address")

    def healed() -> bool:
        approved.extend(one for one in look(lab)["certificate_requests"] if one["approved"])
        return ("serving", liar) in {(one["kind"], one["node"].partition(".")[0]) for one in approved}

    lab.until("the healed one is approved", healed, 120)
    signed.until_nodes(2)
