# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a Kubernetes API is and how it is entered, from a task's options and its environment.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.library import missing_library
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.spec import is_content
from ansible_collections.metalshift.maas.plugins.module_utils._kube.kubeconfig import Published

MISSING: ImportError | None = None
try:
    import urllib3
    import yaml
    from kubernetes.client import Configuration
    from kubernetes.client.rest import RESTClientObject
    from kubernetes.config import ConfigException, load_incluster_config, load_kube_config, load_kube_config_from_dict
except ImportError as missing:
    MISSING = missing

# Options that are enough to enter without a kubeconfig, together with `host`.
ENOUGH = (("api_key",), ("username", "password"), ("client_cert", "client_key"))


@dataclass(frozen=True)
class Access:
    """One API server, and what is sent along to be let in."""

    server: str
    pool: Any = field(repr=False)
    _credentials: Callable[[], Iterable[tuple[str, str]]] = field(repr=False)

    def headers(self) -> list[tuple[str, str]]:
        """What lets a request in; asked each time, because tokens of exec plugins and cloud logins expire."""
        return list(self._credentials())

    @classmethod
    def from_params(cls, params: Mapping[str, Any], environment: Mapping[str, str]) -> Access:
        """The API that a task's Kubernetes options name; without any, that of the pod or of the usual kubeconfig."""
        if MISSING:
            raise missing_library(MISSING, "kubernetes")
        for option in ("ca_cert", "client_cert", "client_key"):
            _must_be_readable(option, params.get(option))
        configuration = Configuration()
        if not (params.get("host") and any(all(params.get(name) for name in names) for names in ENOUGH)):
            _load(configuration, params, environment)
        for attribute, option in (
            ("host", "host"),
            ("ssl_ca_cert", "ca_cert"),
            ("cert_file", "client_cert"),
            ("key_file", "client_key"),
            ("verify_ssl", "validate_certs"),
            ("proxy", "proxy"),
            ("no_proxy", "no_proxy"),
        ):
            if params.get(option) is not None:
                setattr(configuration, attribute, params[option])
        if params.get("api_key"):
            configuration.api_key = {"authorization": f"Bearer {params['api_key']}"}
            configuration.api_key_prefix = {}
            configuration.refresh_api_key_hook = None
        if params.get("proxy_headers"):
            given = {name: value for name, value in params["proxy_headers"].items() if value}
            configuration.proxy_headers = urllib3.make_headers(**given)
        return cls._of(configuration, [*_by_password(params), *_as_somebody(params)])

    @classmethod
    def from_published(cls, published: Published) -> Access:
        """The API that a kubeconfig from a cluster names."""
        if MISSING:
            raise missing_library(MISSING, "kubernetes")
        configuration = Configuration()
        _from_dict(configuration, published.whole(), None, persist=False)
        return cls._of(configuration, [])

    @classmethod
    def _of(cls, configuration: Any, extra: Sequence[tuple[str, str]]) -> Access:
        configuration.retries = False
        configuration.host = configuration.host.rstrip("/")
        if not configuration.host.startswith(("http://", "https://")):
            raise invalid(
                f"host is not a URL: {configuration.host!r}. Give something like https://api.example.com:6443."
            )
        if not configuration.verify_ssl:
            # It was the user's word; a warning for every request would bury the rest.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

        def credentials() -> Iterable[tuple[str, str]]:
            found = [setting for setting in configuration.auth_settings().values() if setting.get("in") == "header"]
            return [*((setting["key"], setting["value"]) for setting in found if setting.get("value")), *extra]

        try:
            pool = RESTClientObject(configuration).pool_manager
        except (OSError, ValueError) as error:
            raise invalid(f"The certificates or the proxy for {configuration.host} cannot be used: {error}.") from None
        return cls(configuration.host, pool, credentials)


def _load(configuration: Any, params: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    given, context, persist = params.get("kubeconfig"), params.get("context"), bool(params.get("persist_config"))
    if isinstance(given, Mapping):
        _from_dict(configuration, given, context, persist)
        return
    if isinstance(given, str) and is_content(given):
        _from_dict(configuration, _parsed(given), context, persist)
        return
    if not given and not context and _in_a_pod(configuration):
        return
    _from_files(configuration, str(given or environment.get("KUBECONFIG") or "~/.kube/config"), context, persist)


def _in_a_pod(configuration: Any) -> bool:
    try:
        load_incluster_config(client_configuration=configuration)
    except ConfigException:
        return False
    return True


def _from_files(configuration: Any, names: str, context: str | None, persist: bool) -> None:
    paths = [os.path.expanduser(name) for name in names.split(os.pathsep) if name]
    there = [path for path in paths if os.path.isfile(path)]
    if not there:
        raise invalid(
            f"There is no kubeconfig at {names}.",
            "Give the option kubeconfig, or host and api_key, or set the environment variable K8S_AUTH_KUBECONFIG.",
        )
    for path in there:
        _must_be_readable("kubeconfig", path)
        _parsed(Path(path).read_bytes(), path)
    _loaded(
        lambda: load_kube_config(
            os.pathsep.join(there), context=context, client_configuration=configuration, persist_config=persist
        ),
        " and ".join(there),
    )


def _from_dict(configuration: Any, content: Mapping[str, Any], context: str | None, persist: bool) -> None:
    _loaded(
        lambda: load_kube_config_from_dict(
            dict(content), context=context, client_configuration=configuration, persist_config=persist
        ),
        "the one given",
    )


def _loaded(load: Callable[[], None], where: str) -> None:
    try:
        load()
    except ConfigException as error:
        raise invalid(f"The kubeconfig ({where}) cannot be used: {str(error).rstrip('.')}.") from None
    # What a kubeconfig lacks or has in a wrong form comes as whatever its reader stumbled over.
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise invalid(f"The kubeconfig ({where}) cannot be used: {type(error).__name__} while reading it.") from None


def _parsed(content: str | bytes, where: str = "the one given") -> Mapping[str, Any]:
    try:
        parsed = yaml.safe_load(content)
    except (yaml.YAMLError, UnicodeDecodeError):
        parsed = None
    if not isinstance(parsed, Mapping) or "clusters" not in parsed:
        # Its text is not shown: it may hold keys.
        raise invalid(f"The kubeconfig ({where}) is not a kubeconfig: it is no YAML, or it names no clusters.")
    return parsed


def _must_be_readable(option: str, path: str | None) -> None:
    if path and is_content(path):
        # It is not shown: it may be a key.
        raise invalid(f"{option} holds the content of a file.", "Give the path of the file.")
    if path and not os.access(os.path.expanduser(path), os.R_OK):
        raise invalid(f"{option} names a file that does not exist or cannot be read: {path}.")


def _by_password(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    if not (params.get("username") and params.get("password")):
        return []
    return list(urllib3.make_headers(basic_auth=f"{params['username']}:{params['password']}").items())


def _as_somebody(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    user = params.get("impersonate_user")
    groups = params.get("impersonate_groups") or []
    return [("Impersonate-User", str(user))] * bool(user) + [("Impersonate-Group", str(group)) for group in groups]
