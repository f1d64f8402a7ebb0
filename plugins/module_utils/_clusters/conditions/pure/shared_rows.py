# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the table of conditions that several conditions share: what is wrong with an image, and what MAAS answers.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from ansible_collections.metalshift.maas.plugins.module_utils._clusters.conditions.pure.meanings import Row

REGISTRY_HINT = "The operator tries again by itself; look whether the management cluster reaches the registry."

#: Of release images, which the operators read from their registry. The status is that of the condition.
IMAGE = (
    Row(
        "False",
        "the pull secret is no valid JSON",
        "stop",
        words=(
            "failed to parse docker credentials",
            'Secret "pull-secret" is invalid',
        ),
        hint="Put the JSON of a pull secret into key .dockerconfigjson of the Secret that spec.pullSecret names.",
    ),
    Row(
        "False",
        "the registry does not accept the pull secret for {image}",
        "grace",
        words=(
            "root manifest for {image}: …unauthorized",
            "root manifest for {image}: …authentication required",
            "root manifest for {image}: …denied",
            "root manifest for {image}: …no basic auth credentials",
        ),
        hint="Give a pull secret with credentials for this registry.",
    ),
    Row(
        "False",
        "{image} is not in its registry",
        "grace",
        words=(
            "root manifest for {image}: …manifest unknown",
            "root manifest for {image}: …name unknown",
            "root manifest for {image}: …not found",
            "multi-arch: …root manifest for {image}: …unknown",
        ),
        hint="Name a release image that exists: oc adm release info IMAGE shows it.",
    ),
    Row(
        "False",
        "the certificate of the registry is not trusted",
        "grace",
        words=("x509: {why}",),
        hint="Make the operator trust the registry's certificate authority ({why}).",
    ),
    Row(
        "False",
        "the registry {registry} cannot be reached",
        words=("create repository client for {registry}: ",),
        hint=REGISTRY_HINT,
    ),
    Row(
        "False",
        "{image} cannot be read from its registry now",
        words=("failed to obtain root manifest for {image}: …",),
        hint=REGISTRY_HINT,
    ),
    Row(
        "False",
        "the release image is no OpenShift release",
        "stop",
        words=(
            "couldn't read image stream data as a serialized ImageStream",
            "release image references file not found in release image",
        ),
        hint="Set release.image to the image of a release, as oc adm release info shows it.",
    ),
)

#: Of the release itself, which the operator compares with what it can run.
RELEASE = (
    Row(
        "False",
        "{wanted} is too new: the newest possible is {newest}",
        "stop",
        words=('the latest version supported is: "{newest}". Attempting to use: "{wanted}"',),
        hint="Choose an older release, or upgrade the HyperShift operator first.",
    ),
    Row(
        "False",
        "{wanted} is too old: platform {platform} needs {oldest} or newer",
        "stop",
        words=('supported for platform {platform} is: "{oldest}". Attempting to use: "{wanted}"',),
        hint="Choose a newer release.",
    ),
    Row(
        "False",
        "{wanted} is older than {present}, which it has already",
        "stop",
        words=('downgrade from "{present}" to "{wanted}" is not supported',),
        hint="Go back to a release of the same minor version or newer.",
    ),
)

#: What keeps any object of Kubernetes from being written.
REFUSED = (
    Row(
        "False",
        "a policy of the management cluster refuses it: {why}",
        "grace",
        words=("denied request: {why}",),
        hint="Change the policy (ValidatingAdmissionPolicy or webhook), or what it objects to.",
    ),
    Row(
        "False",
        "quota {quota} of the control plane's namespace does not allow more",
        "grace",
        words=("exceeded quota: {quota}, ",),
        hint="Raise or remove this ResourceQuota.",
    ),
    Row(
        "False",
        "{user} may not {verb} {resource}",
        "grace",
        words=('User "{user}" cannot {verb} resource "{resource}"',),
        hint="Give the operator its rights back: install it again as it was installed.",
    ),
)

MAAS_ADMINISTRATOR = (
    "Give the provider the API key of an administrator of MAAS, with provider_maas_api_key of the hosted cluster."
)
MAAS_KEY = "Correct the API key in the credentials Secret; the provider reads it only when it starts."

#: What MAAS answers to the provider.
MAAS = (
    Row(
        "False",
        "MAAS does not accept the provider's API key",
        "grace",
        words=("status: 401",),
        hint=MAAS_KEY,
    ),
    Row(
        "False",
        "the provider's user is not an administrator of MAAS, which each deployment needs",
        "grace",
        words=("Unable to disable swap: status: 403",),
        hint=MAAS_ADMINISTRATOR,
        loops=True,
    ),
    Row(
        "False",
        "the provider's user may not do this in MAAS",
        "grace",
        words=("status: 403",),
        hint=MAAS_ADMINISTRATOR,
    ),
    Row(
        "False",
        "machine {system_id} is not in MAAS any more",
        "grace",
        words=("unable to find machine {system_id}: status: 404",),
        hint="Delete the Machine of this name: another one takes its place.",
    ),
    Row(
        "False",
        "MAAS has no machine that fits",
        words=(
            "Unable to allocate machine: status: 409",
            "no eligible LXD host found",
            "no LXD hosts available",
        ),
        hint="Free or add machines that match zone, resource pool, tag, CPU and memory of the node pool; the provider "
        "looks again by itself, after up to 17 minutes.",
    ),
    Row(
        "False",
        "MAAS refuses what the node pool asks for: {why}",
        "grace",
        words=("Unable to allocate machine: status: 400, message: {why}",),
        hint="Correct zone, resourcePool or tags of the node pool.",
    ),
    Row(
        "False",
        "MAAS does not know the image: {why}",
        "stop",
        words=("Unable to deploy machine: status: 400…distro_series{why}",),
        hint="Upload the image to MAAS, or set image of the node pool to one that MAAS has.",
        loops=True,
    ),
    Row(
        "False",
        "MAAS refuses the deployment: {why}",
        "grace",
        words=("Unable to deploy machine: status: 400, message: {why}",),
        hint="Correct what MAAS objects to; each further try takes another machine.",
        loops=True,
    ),
    Row(
        "False",
        "the deployment failed in MAAS ({state}), another try follows",
        words=("Unable to deploy machine: status: 409…that is in the '{state}' state",),
        hint="Look at the machine's events in MAAS. A machine that fails each time must be marked broken there.",
        loops=True,
    ),
    Row(
        "False",
        "MAAS is not ready to deploy it, another try follows",
        words=("Unable to deploy machine: status: 409",),
        loops=True,
    ),
    Row(
        "False",
        "MAAS answers with an error ({status})",
        words=("status: {status}, message: ",),
        hint="Look at MAAS; the provider tries again by itself.",
    ),
    Row(
        "False",
        "the address of MAAS is wrong: {why}",
        "grace",
        words=("dial tcp: {why}: no such host", "unsupported protocol scheme {why}", "invalid URL {why}"),
        hint="Correct MAAS_ENDPOINT in the credentials Secret; the provider reads it only when it starts.",
    ),
    Row(
        "False",
        "MAAS does not answer the provider",
        words=(
            "/machines/…: EOF",
            "connection refused",
            "connection reset",
            "i/o timeout",
            "no route to host",
            "Client.Timeout",
            "TLS handshake",
        ),
        hint="Look whether MAAS is up and the management cluster reaches it; the provider tries again by itself.",
    ),
)
