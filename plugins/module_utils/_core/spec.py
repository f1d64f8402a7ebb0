# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that modules share, and what an argument spec is to us.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from ansible.module_utils.basic import env_fallback
from ansible.module_utils.errors import UnsupportedError

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import invalid
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.unknown import as_unknown

Options = dict[str, dict[str, Any]]

MAAS_OPTIONS: Options = {
    "maas_endpoint": {"type": "str", "fallback": (env_fallback, ["MAAS_ENDPOINT", "MAAS_API_URL"])},
    "maas_api_key": {"type": "str", "no_log": True, "fallback": (env_fallback, ["MAAS_API_KEY"])},
    "maas_ca_cert": {"type": "path", "fallback": (env_fallback, ["MAAS_CA_CERT"])},
    "maas_validate_certs": {"type": "bool", "default": True},
    "maas_timeout": {"type": "float", "default": 60.0},
    "maas_max_requests": {"type": "int", "default": 4},
}

LXD_OPTIONS: Options = {
    "lxd_endpoint": {"type": "str", "fallback": (env_fallback, ["LXD_ENDPOINT"])},
    "lxd_client_cert": {"type": "str", "fallback": (env_fallback, ["LXD_CLIENT_CERT"])},
    "lxd_client_key": {"type": "str", "no_log": True, "fallback": (env_fallback, ["LXD_CLIENT_KEY"])},
    "lxd_server_cert": {"type": "str", "fallback": (env_fallback, ["LXD_SERVER_CERT"])},
    "lxd_project": {"type": "str", "default": "default", "fallback": (env_fallback, ["LXD_PROJECT"])},
    "lxd_timeout": {"type": "float", "default": 60.0},
}

# As kubernetes.core names and types them, so that one `module_defaults` and one environment serve both.
KUBE_OPTIONS: Options = {
    "kubeconfig": {"type": "raw", "fallback": (env_fallback, ["K8S_AUTH_KUBECONFIG"])},
    "context": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_CONTEXT"])},
    "host": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_HOST"])},
    "api_key": {"type": "str", "no_log": True, "fallback": (env_fallback, ["K8S_AUTH_API_KEY"])},
    "username": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_USERNAME"])},
    "password": {"type": "str", "no_log": True, "fallback": (env_fallback, ["K8S_AUTH_PASSWORD"])},
    "validate_certs": {
        "type": "bool",
        "aliases": ["verify_ssl"],
        "fallback": (env_fallback, ["K8S_AUTH_VERIFY_SSL", "K8S_AUTH_VALIDATE_CERTS"]),
    },
    "ca_cert": {
        "type": "path",
        "aliases": ["ssl_ca_cert"],
        "fallback": (env_fallback, ["K8S_AUTH_SSL_CA_CERT", "K8S_AUTH_CA_CERT"]),
    },
    "client_cert": {
        "type": "path",
        "aliases": ["cert_file"],
        "fallback": (env_fallback, ["K8S_AUTH_CERT_FILE", "K8S_AUTH_CLIENT_CERT"]),
    },
    "client_key": {
        "type": "path",
        "no_log": False,
        "aliases": ["key_file"],
        "fallback": (env_fallback, ["K8S_AUTH_KEY_FILE", "K8S_AUTH_CLIENT_KEY"]),
    },
    "proxy": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_PROXY"])},
    "no_proxy": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_NO_PROXY"])},
    "proxy_headers": {
        "type": "dict",
        "options": {
            "proxy_basic_auth": {"type": "str", "no_log": True},
            "basic_auth": {"type": "str", "no_log": True},
            "user_agent": {"type": "str"},
        },
    },
    "persist_config": {"type": "bool", "fallback": (env_fallback, ["K8S_AUTH_PERSIST_CONFIG"])},
    "impersonate_user": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_IMPERSONATE_USER"])},
    "impersonate_groups": {
        "type": "list",
        "elements": "str",
        "fallback": (env_fallback, ["K8S_AUTH_IMPERSONATE_GROUPS"]),
    },
}

# Of every module that writes: it only says what it would change, and fails if that is something.
FAIL_ON_CHANGE = "fail_on_change"
WRITING_OPTIONS: Options = {
    FAIL_ON_CHANGE: {
        "type": "bool",
        "default": False,
        "fallback": (env_fallback, ["METALSHIFT_FAIL_ON_CHANGE"]),
    }
}

# Sub-keys of a secret dict whose values are secrets; the others (an address, a user name) may be shown.
SECRET_KEY = re.compile(r"pass|secret|token|(^|_)key$|key-data|certificate|credential", re.IGNORECASE)

# A private key in the place of its file, or anywhere else.
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
# They hold the text of a key, or the path of its file, which is no secret.
KEYS_OR_FILES = frozenset({"lxd_client_key"})

# Texts that are no names: an empty one takes back what there is, or says that there is none.
MAY_BE_EMPTY = frozenset({"comment", "content", "definition", "description", "kernel_opts", "min_hwe_kernel", "value"})

PASSWORD_IN_URL = re.compile(r"//[^/\s:@]*:([^\s]+)@")

# A value with its name, in YAML or in JSON.
NAMED_VALUE = re.compile(
    r"""(?<![\w.-])["']?([\w.-]+)["']?[ \t]*:[ \t]*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"',{}\[\]|>][^\s,{}\[\]]*))"""
)

# More names than so many tell nobody more.
MOST_LISTED = 10


def without_nulls(args: Mapping[str, Any]) -> dict[str, Any]:
    """What was given: a null, as an empty answer in a survey becomes, asks for nothing. Ansible would count it."""
    return {name: value for name, value in args.items() if value is not None}


def what_is_wrong(errors: Iterable[Exception]) -> str:
    """What Ansible's validator found, in one line: of an unknown option the nearest that there is, not all."""
    return "; ".join(_unknown(error) if isinstance(error, UnsupportedError) else _text(error) for error in errors)


def _text(error: Exception) -> str:
    return str(getattr(error, "msg", error)).rstrip(".")


def _unknown(error: Exception) -> str:
    given, found, listed = _text(error).partition(". Supported parameters include: ")
    known = [name for name in re.split(r"[^\w.]+", listed) if name]
    close = [near for name in given.split(", ") for near in get_close_matches(name, known, n=1)]
    if not found or not known:
        return f"unknown option {given}"
    if close:
        return f"unknown option {given}, where {' or '.join(dict.fromkeys(close))} may be meant"
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    return f"unknown option {given}; there are {', '.join(known[:MOST_LISTED])}{more}"


HIDDEN = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"


def must_not_be_empty(names: Sequence[str]) -> tuple[str, str]:
    """What is wrong with such options, and what to do."""
    return f"{' and '.join(names)} must not be empty.", "Leave out what is not to be set."


def is_content(value: str) -> bool:
    """Whether a text that may be a path is what such a file holds: a kubeconfig, or a certificate with its key."""
    text = value.strip()
    return "\n" in text or text.startswith(("{", "apiVersion:", "-----BEGIN"))


@dataclass(frozen=True)
class Spec:
    """What a module accepts: its own options, and those to reach MAAS, a Kubernetes API or an LXD, or several."""

    options: Options
    kube: bool = False
    maas: bool = True
    lxd: bool = False
    # Whether the module may change something; one that only reads has no plan.
    writes: bool = True
    required_if: Sequence[Sequence[Any]] = ()
    mutually_exclusive: Sequence[Sequence[str]] = ()
    required_together: Sequence[Sequence[str]] = ()
    required_one_of: Sequence[Sequence[str]] = ()
    required_by: Mapping[str, Any] = field(default_factory=dict)
    # Suboptions of lists whose elements may also be plain names: Ansible's validators know no such thing.
    elements: Mapping[str, Options] = field(default_factory=dict)
    # Options that may name what an earlier task makes: in check mode, a null is not missing but not known yet.
    predictable: frozenset[str] = frozenset()
    # Options with settings of which some are secrets, and what the names of these look like.
    secret_settings: Mapping[str, re.Pattern[str]] = field(default_factory=dict)

    @property
    def argument_spec(self) -> Options:
        reached = ((self.maas, MAAS_OPTIONS), (self.kube, KUBE_OPTIONS), (self.lxd, LXD_OPTIONS))
        shared = {name: option for used, options in reached if used for name, option in options.items()}
        return {**shared, **(WRITING_OPTIONS if self.writes else {}), **self.options}

    def rules(self) -> dict[str, Any]:
        """The rules between options, as Ansible's validators name them."""
        return {
            "required_if": [list(rule) for rule in self.required_if],
            "mutually_exclusive": [list(rule) for rule in self.mutually_exclusive],
            "required_together": [list(rule) for rule in self.required_together],
            "required_one_of": [list(rule) for rule in self.required_one_of],
            "required_by": dict(self.required_by),
        }

    def given(self, args: Mapping[str, Any], *, check: bool) -> dict[str, Any]:
        """What a task was given: without nulls, but for those that stand for what is not known yet."""
        asked = dict(args)
        for name in self.predictable.intersection(asked) if check else ():
            # A list that is null was not given; one of nulls holds things that are not known yet.
            if asked[name] is not None or self.options[name].get("type") != "list":
                asked[name] = as_unknown(asked[name])
        return without_nulls(asked)

    def require_texts(self, params: Mapping[str, Any]) -> None:
        """Refuse an empty text for a name, path or choice: it would stand for all, or for the working directory.

        Options to reach an API are not looked at: an empty one is as one that is not given, as in their variables.
        """
        empty = tuple(empty_names({name: self._deep[name] for name in self.options}, params))
        if empty:
            raise invalid(*must_not_be_empty(empty))

    def secrets(self, params: Mapping[str, Any]) -> set[str]:
        """The values in `params` that must never be shown."""
        others = {name: value for name, value in params.items() if name not in self.secret_settings}
        return {*self._settings_that_are_secret(params), *_secrets(self._deep, others)}

    def masked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """`params` as they may be shown."""
        masked = _masked(self._deep, params)
        for option, secret in self.secret_settings.items():
            given = params.get(option)
            if isinstance(given, Mapping):
                masked[option] = {name: HIDDEN if secret.search(str(name)) else value for name, value in given.items()}
        return masked

    def _settings_that_are_secret(self, params: Mapping[str, Any]) -> Iterator[str]:
        for option, secret in self.secret_settings.items():
            given = params.get(option)
            for name, value in given.items() if isinstance(given, Mapping) else ():
                if secret.search(str(name)) and value not in (None, "", True, False):
                    yield str(value)

    @property
    def _deep(self) -> Options:
        deep = {name: {"options": options} for name, options in self.elements.items()}
        return {name: {**option, **deep.get(name, {})} for name, option in self.argument_spec.items()}


def empty_names(options: Options, params: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """The options for a name, path or choice that are an empty text, unless that is what they usually are."""
    for name, option in options.items():
        value = params.get(name)
        is_name = option.get("type", "str") in ("str", "path") and name not in MAY_BE_EMPTY
        if is_name and option.get("default") != "" and isinstance(value, str) and not value.strip():
            yield f"{within}{name}"
        if "options" in option:
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, Mapping):
                    yield from empty_names(option["options"], one, f"{within}{name}: ")


def _by_any_name(options: Options) -> Options:
    return {name: option for main, option in options.items() for name in (main, *option.get("aliases", ()))}


def _secrets(options: Options, params: Mapping[str, Any]) -> Iterator[str]:
    named = _by_any_name(options)
    for name, value in params.items():
        option = named.get(name, {})
        if isinstance(value, str) and PRIVATE_KEY.search(value):
            yield from _of_key(value)
        elif name in KEYS_OR_FILES:
            continue
        elif option.get("no_log"):
            yield from _leaves(value, all_of_them=not isinstance(value, Mapping))
        elif "options" in option:
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, Mapping):
                    yield from _secrets(option["options"], one)
        elif isinstance(value, Mapping) and option.get("type") == "raw":
            # A kubeconfig, given whole in the place of its path.
            yield from _leaves(value, all_of_them=False)
        elif isinstance(value, str) and option.get("type") in ("raw", "path") and is_content(value):
            yield from _in_text(value)
        elif isinstance(value, str):
            yield from PASSWORD_IN_URL.findall(value)


def _in_text(text: str) -> Iterator[str]:
    """A text that was given whole in the place of its path, and the secrets in it, whether it can be read or not."""
    yield text
    for name, *ways in NAMED_VALUE.findall(text):
        if SECRET_KEY.search(name):
            yield from filter(None, ways)


def _of_key(text: str) -> Iterator[str]:
    """A key, and its lines: where it is quoted, its line breaks are others."""
    yield text
    yield from (line for line in text.splitlines() if line and not line.startswith("-----"))


def _leaves(value: Any, all_of_them: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, (Mapping, list)) or all_of_them or SECRET_KEY.search(str(key)):
                yield from _leaves(inner, all_of_them or bool(SECRET_KEY.search(str(key))))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, all_of_them)
    elif all_of_them and value not in (None, "", True, False):
        yield str(value)


def _masked(options: Options, params: Mapping[str, Any]) -> dict[str, Any]:
    named = _by_any_name(options)
    return {name: _masked_value(named.get(name), value) for name, value in params.items()}


def _masked_value(option: dict[str, Any] | None, value: Any) -> Any:
    # An option that does not exist is often a misspelt one, perhaps that of a secret.
    if option is None or option.get("no_log"):
        return value if value is None else HIDDEN
    if option.get("type") == "raw" and isinstance(value, Mapping):
        return HIDDEN
    if "options" in option and isinstance(value, list):
        return [_masked_value(option, one) for one in value]
    if "options" in option and isinstance(value, Mapping):
        return _masked(option["options"], value)
    # Suboptions may be given as text, in JSON or as key=value, whole or cut at its commas; a name is only a name.
    if "options" in option and isinstance(value, str) and not re.fullmatch(r"[\w.:-]*", value):
        return HIDDEN
    if isinstance(value, str) and PRIVATE_KEY.search(value):
        return HIDDEN
    if isinstance(value, str) and option.get("type") in ("raw", "path") and is_content(value):
        return HIDDEN
    # Options that were meant to be a dict and came as its text, in the place of a name: who knows what is in it.
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return HIDDEN
    return value
