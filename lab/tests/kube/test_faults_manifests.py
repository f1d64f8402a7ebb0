# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the operator says to manifests that cannot work: all are applied at once, then each is looked at."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

import pytest

from metalshift_lab.kube.api import HOSTED_CLUSTERS, HOSTED_CONTROL_PLANES, NODE_POOLS, Object
from metalshift_lab.kube.examples import credentials, node_pool
from metalshift_lab.kube.handle import Lab
from metalshift_lab.kube.sights import Sight, condition, conditions, seen
from metalshift_lab.kube.spoilt import LOAD_BALANCER, PASSED, Case, Manifests, applied, failed, release

NAMESPACE = "bad"
IMAGE = "failed to get controlPlaneOperatorImage: failed to extract release metadata: "


def _text(value: str) -> dict[str, str]:
    return {"wrong": base64.b64encode(value.encode()).decode()}


def _untouched(_lab: Lab, cluster: Object) -> bool:
    """The operator has neither taken hold of it nor given it a name."""
    return not cluster["metadata"].get("finalizers") and "infraID" not in cluster["spec"]


def _without_control_plane(lab: Lab, cluster: Object) -> bool:
    name = cluster["metadata"]["name"]
    return lab.api.get(HOSTED_CONTROL_PLANES, name, f"{NAMESPACE}-{name}") is None


def _invalid(message: str) -> tuple[Sight, ...]:
    """What the configuration is blamed for shows in three places."""
    return (
        Sight("ValidConfiguration", "False", "InvalidConfiguration", message),
        failed(f"configuration is invalid: {message}"),
        Sight("Progressing", "False", "Blocked", f"ValidConfiguration condition is false: {message}"),
    )


def _unsupported(message: str) -> tuple[Sight, ...]:
    return (
        Sight("ValidReleaseImage", "False", "InvalidImage", message),
        Sight("Progressing", "False", "Blocked", f"ValidReleaseImage condition is false: {message}"),
        Sight("Available", "False", "WaitingForAvailable", f"ValidReleaseImage condition is false: {message}"),
        PASSED,
    )


def _no_credentials(message: str) -> tuple[Sight, ...]:
    return (
        Sight("PlatformCredentialsFound", "False", "PlatformCredentialsNotFound", message),
        failed(f"failed to reconcile platform credentials: {message}"),
    )


SAME_HOST = {"type": "LoadBalancer", "loadBalancer": {"hostname": "api.bad.lab.example"}}
#: The release of a case, which no other may have read before: what is read is remembered.
OF_A_CASE = {
    "annotated": "4.20.98",
    "no-release": "4.20.97",
    "pull-secret-json": "4.20.96",
    "unknown-tag": "4.20.99",
}
ANNOTATION = "hypershift.openshift.io/control-plane-operator-image"


def _annotate(the: Manifests) -> None:
    release(OF_A_CASE["annotated"])(the)
    image = f"{the.lab.facts['registry']}/ocp/hypershift:4.20.8"
    the.cluster["metadata"].setdefault("annotations", {})[ANNOTATION] = image


def _spoil_pull_secret(version: str) -> Callable[[Manifests], object]:
    def spoil(the: Manifests) -> None:
        release(version)(the)
        the.secret("-pull-secret").update(data={".dockerconfigjson": "ew=="})

    return spoil


def _share_a_host(the: Manifests) -> None:
    the.publish("APIServer", SAME_HOST)
    the.publish("OAuthServer", SAME_HOST)


CASES = (
    Case("well", lambda the: the, (PASSED, Sight("ValidReleaseImage", "True", "AsExpected"))),
    Case(
        "pull-secret-missing",
        lambda the: the.without("-pull-secret"),
        (failed('failed to get pull secret: Secret "pull-secret-missing-pull-secret" not found'),),
        ("Available", "ValidConfiguration"),
        _untouched,
    ),
    Case(
        "pull-secret-key",
        lambda the: the.secret("-pull-secret").update(data=_text("{}")),
        (failed("expected .dockerconfigjson key in pull secret"),),
        ("Available",),
        _untouched,
    ),
    Case(
        "pull-secret-json",
        _spoil_pull_secret(OF_A_CASE["pull-secret-json"]),
        (failed(IMAGE + r"failed to get repo setup: .*failed to parse docker credentials: .*"),),
        ("Available",),
        _untouched,
    ),
    # What is known of a release needs no credentials; then it is Kubernetes that reads the copy.
    Case(
        "pull-secret-json-later",
        _spoil_pull_secret("4.20.8"),
        (failed(r'failed to reconcile pull secret: Secret "pull-secret" is invalid: data\[.dockerconfigjson\]: .*'),),
    ),
    Case(
        "unknown-tag",
        release(OF_A_CASE["unknown-tag"]),
        (failed(IMAGE + r"failed to obtain root manifest for \S+:4.20.99: .*manifest unknown.*"),),
        ("Available",),
        _untouched,
    ),
    Case(
        "no-release",
        release(OF_A_CASE["no-release"]),
        (
            failed(
                "failed to get controlPlaneOperatorImage: couldn't read image stream data as a serialized "
                "ImageStream: unexpected end of JSON input\nraw data:\n.*"
            ),
        ),
        ("Available",),
        _untouched,
    ),
    Case(
        "annotated",
        _annotate,
        (
            Sight(
                "ValidReleaseImage",
                "False",
                "PayloadArchNotFound",
                "failed to determine if release image multi-arch: .*manifest unknown.*",
            ),
        ),
    ),
    Case(
        "too-new",
        release("4.25.0"),
        _unsupported('the latest version supported is: "4.21.0". Attempting to use: "4.25.0"'),
    ),
    Case(
        "too-old",
        release("4.13.9"),
        _unsupported('the minimum version supported for platform MAAS is: "4.14.0". Attempting to use: "4.13.9"'),
    ),
    Case(
        "credentials-missing",
        lambda the: the.without(credentials("")),
        _no_credentials(
            'failed to get MAAS credentials secret: Secret "credentials-missing-maas-credentials" not found'
        ),
        beyond=_without_control_plane,
    ),
    Case(
        "credentials-endpoint",
        lambda the: the.secret(credentials(""))["data"].pop("MAAS_ENDPOINT"),
        _no_credentials("MAAS credentials secret is missing required key: MAAS_ENDPOINT"),
    ),
    Case(
        "credentials-key",
        lambda the: the.secret(credentials(""))["data"].pop("MAAS_API_KEY"),
        _no_credentials("MAAS credentials secret is missing required key: MAAS_API_KEY"),
    ),
    Case(
        "platform-empty",
        lambda the: the.spec["platform"].pop("maas"),
        _no_credentials("failed to reconcile MAAS credentials, empty MAAS platform spec"),
    ),
    Case(
        "route",
        lambda the: the.publish("OAuthServer", {"type": "Route"}),
        _invalid('cluster does not support Routes, but service "OAuthServer" is exposed via a Route'),
    ),
    Case(
        "same-host",
        _share_a_host,
        _invalid("service type .* can't be published with the same hostname api.bad.lab.example as service type .*"),
    ),
    Case(
        "overlap",
        lambda the: the.network(machineNetwork="10.132.0.0/16"),
        _invalid(
            'spec.networking.MachineNetwork: Invalid value: "10.132.0.0/16": spec.networking.MachineNetwork and '
            "spec.networking.ClusterNetwork overlap: 10.132.0.0/16 and 10.132.0.0/14"
        ),
    ),
    Case(
        "advertise",
        lambda the: the.network(machineNetwork="172.20.0.0/16"),
        _invalid(
            'spec.networking.MachineNetwork: Invalid value: "172.20.0.0/16": '
            "the field spec.networking.MachineNetwork with content 172.20.0.0/16 overlaps with the defined "
            "AdvertiseAddress 172.20.0.1 prefix: <nil>"
        ),
    ),
    Case(
        "node-port-address",
        lambda the: the.publish("APIServer", {"type": "NodePort", "nodePort": {"address": "172.31.0.9"}}),
        _invalid(
            'spec.networking.ServiceNetwork: Invalid value: "172.31.0.0/16": Nodeport IP is within the service network '
            "range: 172.31.0.9 is within 172.31.0.0/16"
        ),
    ),
    Case(
        "mixed-stacks",
        lambda the: the.network(clusterNetwork="10.132.0.0/14", serviceNetwork="fd02::/112"),
        _invalid(
            "spec.networking: Forbidden: declare multiple network stacks as primary network in the cluster definition "
            "is not allowed, ipv4: .*, ipv6: .*"
        ),
    ),
    Case(
        "trust-bundle-missing",
        lambda the: the.spec.update(additionalTrustBundle={"name": "nobodys"}),
        _invalid("failed to get configMap nobodys: .*"),
    ),
    Case(
        "trust-bundle-key",
        lambda the: the.spec.update(additionalTrustBundle={"name": "without-bundle"}),
        _invalid("configMap without-bundle must have a ca-bundle.crt key"),
    ),
    Case(
        "ssh-key-missing",
        lambda the: the.without("-ssh-key"),
        (failed("failed to get hostedcluster SSHKey secret ssh-key-missing-ssh-key: .*not found"),),
    ),
    Case(
        "ssh-key-key",
        lambda the: the.secret("-ssh-key").update(data=_text("ssh-ed25519 AAAA")),
        (
            failed(
                'failed to reconcile controlplane SSHKey secret: hostedcluster SSHKey secret "ssh-key-key-ssh-key" '
                "must have a id_rsa.pub key"
            ),
        ),
    ),
    Case(
        "encryption-missing",
        lambda the: the.without("-etcd-encryption-key"),
        (failed("failed to get active aescbc secret encryption-missing-etcd-encryption-key: .*not found"),),
    ),
    # Nothing says that it waits for a key: all is well, and the control plane never comes.
    Case(
        "encryption-key",
        lambda the: the.secret("-etcd-encryption-key").update(data=_text("0" * 32)),
        (PASSED, Sight("PlatformCredentialsFound", "True", "AsExpected")),
        beyond=_without_control_plane,
    ),
    Case(
        "ignition-by-load-balancer",
        lambda the: the.publish("Ignition", LOAD_BALANCER),
        (PASSED, Sight("Available", "False", "WaitingForAvailable", "Waiting for hosted control plane to be healthy")),
        ("ReconciliationActive", "ValidReleaseImage", "Progressing", "IgnitionEndpointAvailable"),
        _untouched,
    ),
    Case(
        "paused",
        lambda the: the.spec.update(pausedUntil="true"),
        (
            Sight("ReconciliationActive", "False", "ReconciliationPaused", "Reconciliation paused until field removed"),
            PASSED,
        ),
    ),
)


NEWER = "4.21.3"
#: Of a cluster that is well so far: the release of the pool, and what it says.
POOLS = {
    "unknown-release": ("4.20.95", r"Failed to get release image: .*manifest unknown.*"),
    "newer-release": (
        NEWER,
        f'Failed to get release image: the latest version supported is: "4.20.8". Attempting to use: "{NEWER}"',
    ),
}


@pytest.fixture(scope="module")
def spoilt(lab: Lab) -> Iterator[Lab]:
    """The operator's own passes are enough, so nothing of a control plane runs."""
    lab.fault("hold", namespace=f"{NAMESPACE}-.*", name=".*")
    for version in ("4.25.0", "4.13.9", NEWER):
        lab.fault("release-incomplete", version=version, lacks="tools")
    lab.fault("release-empty", version=OF_A_CASE["no-release"])
    bundle = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "without-bundle", "namespace": NAMESPACE},
        "data": {"wrong": ""},
    }
    pools = [
        node_pool(name, "well", lab.release(version), namespace=NAMESPACE)
        for name, (version, _message) in POOLS.items()
    ]
    yield from applied(lab, CASES, NAMESPACE, bundle, *pools)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_operator_says_what_is_wrong(spoilt: Lab, case: Case) -> None:
    cluster = seen(spoilt, HOSTED_CLUSTERS, case.name, NAMESPACE, *case.sights)
    there = sorted(set(case.never) & set(conditions(cluster)))
    assert not there, f"{case.name} has conditions that it should never get: {there}"
    assert case.beyond(spoilt, cluster), condition(cluster, "Available")


@pytest.mark.parametrize("name", POOLS)
def test_a_pool_says_what_is_wrong_with_its_release(spoilt: Lab, name: str) -> None:
    seen(spoilt, NODE_POOLS, name, NAMESPACE, Sight("ValidReleaseImage", "False", "ValidationFailed", POOLS[name][1]))
