# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control-plane-operator says, and what both operators say to what fails around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from metalshift_lab.kube.api import HOSTED_CLUSTERS, SERVICES
from metalshift_lab.kube.examples import hosted_cluster
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.sights import Sight, seen
from metalshift_lab.kube.spoilt import LOAD_BALANCER, PASSED, Case, Manifests, applied, failed, release, secret

PLANES, AROUND = "planes", "around"
REACHED, NOBODY = "api-by-load-balancer", "127.0.0.9"
OF_AN_API = "control-plane-operator|featuregate-generator|etcd|kube-apiserver"


@dataclass(frozen=True)
class Around:
    """A fault of what surrounds the operator, and what it says; with a release that it has not read before or not."""

    fault: str
    words: dict[str, str]
    message: str
    version: str = "4.20.8"

    @property
    def name(self) -> str:
        return f"{self.fault}-{self.words.get('kind', '').lower()}".rstrip("-")


MANIFEST = "failed to get controlPlaneOperatorImage: failed to extract release metadata: "
AROUNDS = (
    Around(
        "registry-down",
        {},
        MANIFEST + r"failed to get repo setup: failed to create repository client for (https://\S+): "
        r'Get "\1/v2/": dial tcp \S+: connect: connection refused',
        "4.20.31",
    ),
    Around(
        "registry-private",
        {},
        MANIFEST + r"failed to obtain root manifest for \S+:4.20.32: .*unauthorized.*",
        "4.20.32",
    ),
    Around(
        "release-gone",
        {"version": "4.20.33"},
        MANIFEST + r"failed to obtain root manifest for \S+:4.20.33: .*manifest unknown.*",
        "4.20.33",
    ),
    Around(
        "forbid",
        {"kind": "HostedControlPlane", "verbs": "create"},
        r"failed to reconcile hostedcontrolplane: .* is forbidden: "
        r'User "system:serviceaccount:hypershift:operator" cannot create resource "hostedcontrolplanes" .*',
    ),
    Around(
        "deny",
        {"kind": "HostedControlPlane", "message": "Not on a Friday."},
        r"failed to reconcile hostedcontrolplane: .* denied request: Not on a Friday\.",
    ),
    Around(
        "quota",
        {"namespace": f"{AROUND}-quota"},
        r'.* secrets "\S+" is forbidden: exceeded quota: .*, requested: secrets=1, used: secrets=0, limited: secrets=0',
    ),
)


@pytest.fixture
def around(lab: Lab) -> Iterator[Lab]:
    lab.fault("hold", namespace=f"{AROUND}-.*", name=".*")
    for case in AROUNDS:
        if case.version != lab.release().rpartition(":")[2]:
            lab.fault("release-incomplete", version=case.version, lacks="tools")
    yield from applied(lab, (), AROUND)


def test_the_operator_says_what_fails_around_it_and_goes_on_when_it_is_healed(around: Lab) -> None:
    for case in AROUNDS:
        if case.fault == "quota":
            around.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{AROUND}-quota"}}])
        around.fault(case.fault, **case.words)
        around.apply(hosted_cluster(case.name, around.release(case.version), namespace=AROUND))
        seen(around, HOSTED_CLUSTERS, case.name, AROUND, failed(case.message))
        around.heal(case.fault)
    for case in AROUNDS:
        seen(around, HOSTED_CLUSTERS, case.name, AROUND, PASSED)


#: Nobody is there.
IDENTITY = {
    "name": "nowhere",
    "type": "OpenID",
    "mappingMethod": "claim",
    "openID": {
        "clientID": "lab",
        "clientSecret": {"name": "openid"},
        "issuer": "https://127.0.0.1:1",
        "claims": {"email": ["email"]},
    },
}
INCOMPLETE = "4.20.30"


def _unpublished(service: str) -> Callable[[Manifests], object]:
    def spoil(the: Manifests) -> None:
        the.spec["services"] = [each for each in the.spec["services"] if each["service"] != service]

    return spoil


def _not_ready(reason: str, message: str, status: str = "False") -> tuple[Sight, ...]:
    shown = Sight("InfrastructureReady", status, reason, message)
    return (shown, PASSED) if status == "Unknown" else (shown, Sight("Available", "False", reason, message), PASSED)


CONTROL_PLANES = (
    Case(
        "no-api",
        _unpublished("APIServer"),
        _not_ready("InfraStatusFailure", "APIServer service strategy not specified", "Unknown"),
    ),
    Case(
        "no-konnectivity",
        _unpublished("Konnectivity"),
        _not_ready("InfraStatusFailure", "konnectivity service strategy not specified", "Unknown"),
    ),
    Case(
        "no-oauth",
        _unpublished("OAuthServer"),
        _not_ready("InfraStatusFailure", "OAuth strategy not specified", "Unknown"),
    ),
    Case(
        "oauth-by-load-balancer",
        lambda the: the.publish("OAuthServer", LOAD_BALANCER),
        _not_ready("WaitingOnInfrastructureReady", "Cluster infrastructure is still provisioning"),
    ),
    Case(
        REACHED,
        lambda the: the.publish("APIServer", LOAD_BALANCER),
        _not_ready(
            "WaitingOnInfrastructureReady",
            r"kube-apiserver load balancer is not provisioned; \d+s since creation\.",
        ),
    ),
    Case(
        "incomplete-release",
        release(INCOMPLETE),
        (Sight("ValidReleaseInfo", "False", "MissingReleaseImages", "oauth-server"),),
    ),
    Case(
        "identity",
        lambda the: the.configure(oauth={"identityProviders": [IDENTITY]}),
        (
            Sight(
                "ValidIDPConfiguration",
                "False",
                "IDPConfigurationError",
                "failed to initialize identity providers: failed to apply IDP nowhere config: .*",
            ),
        ),
    ),
)


@pytest.fixture(scope="module")
def planes(lab: Lab) -> Iterator[Lab]:
    """Hosted clusters of which only the control-plane-operator runs; one may have its API as well."""
    lab.fault("hold", namespace=f"{PLANES}-(?!{REACHED}).*", name="(?!control-plane-operator).*")
    lab.fault("hold", namespace=f"{PLANES}-{REACHED}", name=f"(?!{OF_AN_API}).*")
    lab.fault("release-incomplete", version=INCOMPLETE, lacks="oauth-server")
    yield from applied(lab, CONTROL_PLANES, PLANES, secret("openid", PLANES, {"clientSecret": "lab"}))


@pytest.mark.parametrize("case", CONTROL_PLANES, ids=lambda case: case.name)
def test_the_control_plane_operator_says_what_is_wrong(planes: Lab, case: Case) -> None:
    seen(planes, HOSTED_CLUSTERS, case.name, PLANES, *case.sights)


def test_an_address_of_the_load_balancer_at_which_nobody_answers_is_said(planes: Lab) -> None:
    """The API itself serves: it is asked there before the cluster is called available."""
    namespace = f"{PLANES}-{REACHED}"
    planes.until("it is published", lambda: planes.api.get(SERVICES, "kube-apiserver", namespace))
    given = {"status": {"loadBalancer": {"ingress": [{"ip": NOBODY}]}}}
    planes.api.patch(SERVICES, "kube-apiserver", namespace, given, subresource="status")
    seen(
        planes,
        HOSTED_CLUSTERS,
        REACHED,
        PLANES,
        Sight("InfrastructureReady", "True", "AsExpected"),
        Sight("KubeAPIServerAvailable", "True", "AsExpected"),
        Sight("Available", "False", "KASLoadBalancerNotReachable", f".*dial tcp {NOBODY}:6443: connect: .*refused"),
        limit=180,
    )
