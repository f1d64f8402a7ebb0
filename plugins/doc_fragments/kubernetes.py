# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a Kubernetes API is reached."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of every module that talks to a Kubernetes API. They are those of kubernetes.core."""

    DOCUMENTATION = r"""
options:
  kubeconfig:
    description:
      - The path of a kubeconfig, or its content, as a dictionary or as text.
      - If neither this nor O(host) is set, the service account of the pod is used, then the file that the environment
        variable E(KUBECONFIG) names, then C(~/.kube/config).
      - If not set, the environment variable E(K8S_AUTH_KUBECONFIG) is used.
    type: raw
  context:
    description:
      - The context of the kubeconfig. If not set, its current one.
      - If not set, the environment variable E(K8S_AUTH_CONTEXT) is used.
    type: str
  host:
    description:
      - The URL of the API, such as V(https://api.example.com:6443).
      - If not set, the environment variable E(K8S_AUTH_HOST) is used.
    type: str
  api_key:
    description:
      - A bearer token.
      - If not set, the environment variable E(K8S_AUTH_API_KEY) is used.
    type: str
  username:
    description:
      - The user of an API that takes passwords.
      - If not set, the environment variable E(K8S_AUTH_USERNAME) is used.
    type: str
  password:
    description:
      - The password of O(username).
      - If not set, the environment variable E(K8S_AUTH_PASSWORD) is used.
    type: str
  validate_certs:
    description:
      - Whether the API's certificate is verified. It is, if neither this nor the kubeconfig says otherwise.
      - If not set, the environment variable E(K8S_AUTH_VERIFY_SSL) is used.
    type: bool
    aliases: [verify_ssl]
  ca_cert:
    description:
      - A file with the certificates of the authorities to trust.
      - If not set, the environment variable E(K8S_AUTH_SSL_CA_CERT) is used.
    type: path
    aliases: [ssl_ca_cert]
  client_cert:
    description:
      - A file with a client certificate.
      - If not set, the environment variable E(K8S_AUTH_CERT_FILE) is used.
    type: path
    aliases: [cert_file]
  client_key:
    description:
      - A file with the key of O(client_cert).
      - If not set, the environment variable E(K8S_AUTH_KEY_FILE) is used.
    type: path
    aliases: [key_file]
  proxy:
    description:
      - The URL of a proxy to the API.
      - If not set, the environment variable E(K8S_AUTH_PROXY) is used.
    type: str
  no_proxy:
    description:
      - Hosts that are reached without O(proxy), separated by commas.
      - If not set, the environment variable E(K8S_AUTH_NO_PROXY) is used.
    type: str
  proxy_headers:
    description: What the proxy is told.
    type: dict
    suboptions:
      proxy_basic_auth:
        description: User and password for the proxy, separated by a colon.
        type: str
      basic_auth:
        description: User and password for what is behind the proxy, separated by a colon.
        type: str
      user_agent:
        description: The name under which the proxy is asked.
        type: str
  persist_config:
    description:
      - Whether tokens that were renewed are written back into the kubeconfig.
      - If not set, the environment variable E(K8S_AUTH_PERSIST_CONFIG) is used.
    type: bool
  impersonate_user:
    description:
      - The user to act as.
      - If not set, the environment variable E(K8S_AUTH_IMPERSONATE_USER) is used.
    type: str
  impersonate_groups:
    description:
      - The groups to act as.
      - If not set, the environment variable E(K8S_AUTH_IMPERSONATE_GROUPS) is used, with commas between them.
    type: list
    elements: str
requirements:
  - kubernetes
notes:
  - An empty text for a name, path or choice is refused. For an option to reach the API it counts as not set, as in an
    environment variable, so an empty O(kubeconfig) is the one that would be used without it.
"""
