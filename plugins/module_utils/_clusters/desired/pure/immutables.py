# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields that cannot be changed once they are set, and those that only seem so harmless.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.differences import alike
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.kinds import Object
from ansible_collections.metalshift.maas.plugins.module_utils._kube.pure.merge import Path, at

Allows = Callable[[Any, Any], bool]


def never(_now: Any, _wanted: Any) -> bool:
    """No other value will do."""
    return False


def unless_locked(now: Any, _wanted: Any) -> bool:
    """A set of features may be chosen, but there is no way back from those that forbid upgrades."""
    return now not in {"CustomNoUpgrade", "TechPreviewNoUpgrade", "DevPreviewNoUpgrade"}


def keeps_the_old_key(now: Any, wanted: Any) -> bool:
    """The encryption key may be replaced while the old one stays to read with."""
    return alike(at(wanted, ("backupKey",)), at(now, ("activeKey",))) or alike(
        at(wanted, ("activeKey",)), at(now, ("activeKey",))
    )


@dataclass(frozen=True)
class Immutable:
    """A field that cannot be changed once it is set."""

    field: str
    hint: str = ""
    allows: Allows = never

    @property
    def path(self) -> Path:
        return ("spec", *self.field.split("."))


_CLUSTER = "It is fixed when the hosted cluster is made: leave it as it is, or make another cluster."
_POOL = "It is fixed when the node pool is made: make another pool, move what runs here, and remove this one."
_KEY = "etcd could not be read any more. To rotate the key, name the present one as backupKey in spec_overrides."

HOSTED_CLUSTER: Sequence[Immutable] = (
    Immutable("platform.type", _CLUSTER),
    Immutable("services", _CLUSTER),
    Immutable("infraID", _CLUSTER),
    Immutable("clusterID", _CLUSTER),
    Immutable("dns.baseDomain", _CLUSTER),
    Immutable("dns.baseDomainPrefix", _CLUSTER),
    Immutable("dns.privateZoneID", _CLUSTER),
    Immutable("dns.publicZoneID", _CLUSTER),
    Immutable("networking.clusterNetwork", _CLUSTER),
    Immutable("networking.serviceNetwork", _CLUSTER),
    Immutable("networking.machineNetwork", _CLUSTER),
    Immutable("networking.apiServer.advertiseAddress", _CLUSTER),
    Immutable("networking.apiServer.port", _CLUSTER),
    Immutable("fips", _CLUSTER),
    Immutable("controllerAvailabilityPolicy", _CLUSTER),
    Immutable("etcd.managementType", _CLUSTER),
    Immutable("etcd.managed.storage.persistentVolume.size", _CLUSTER),
    Immutable("etcd.managed.storage.persistentVolume.storageClassName", _CLUSTER),
    Immutable("capabilities", _CLUSTER),
    Immutable("olmCatalogPlacement", _CLUSTER),
    Immutable("issuerURL", _CLUSTER),
    Immutable("operatorConfiguration.clusterNetworkOperator.disableMultiNetwork", _CLUSTER),
    Immutable("configuration.featureGate.featureSet", _CLUSTER, unless_locked),
    Immutable("secretEncryption.type", _KEY),
    Immutable("secretEncryption.aescbc", _KEY, keeps_the_old_key),
)

NODE_POOL: Sequence[Immutable] = (
    Immutable("clusterName", _POOL),
    Immutable("platform.type", _POOL),
    Immutable("arch", _POOL),
    Immutable("management.upgradeType", _POOL),
)

# The API server compares these also with what it holds by default, so that even a first wish comes too late.
_COMPARED_WHOLE = {"capabilities"}


def changed(
    table: Sequence[Immutable], live: Object, wanted: Object, ours: Object
) -> Iterator[tuple[Immutable, Any, Any]]:
    """Each immutable field that would change, with what it is and what it would be.

    `wanted` is what will be applied, `ours` what we applied before: what is in neither stays as it is, and what we gave
    and do not give any more goes.
    """
    for immutable in table:
        now, asked, given = (at(tree, immutable.path) for tree in (live, wanted, ours))
        if asked is None and given is None:
            continue
        if now in (None, "") and (asked is None or immutable.field not in _COMPARED_WHOLE):
            continue
        after = _after(now, asked, given)
        if not alike(now, after) and not immutable.allows(now, after):
            yield immutable, now, after


def _after(now: Any, asked: Any, given: Any) -> Any:
    if not isinstance(now, Mapping) or not isinstance(asked, Mapping):
        return asked
    before = given if isinstance(given, Mapping) else {}
    others = {name: value for name, value in now.items() if name not in before}
    return {**others, **{name: _after(now.get(name), value, before.get(name)) for name, value in asked.items()}}


def refuse_changes(table: Sequence[Immutable], label: str, live: Object, wanted: Object, ours: Object) -> None:
    """Raise the failure that names every immutable field that would change, with both values."""
    found = list(changed(table, live, wanted, ours))
    if not found:
        return
    texts = [
        f"spec.{immutable.field} cannot be changed: it is {shown(now)}, and {shown(asked)} is asked for"
        for immutable, now, asked in found
    ]
    raise Failure(
        "conflict",
        f"{label} was left as it is: {'; '.join(texts)}.",
        object=label,
        reason="immutable",
        hint=" ".join(dict.fromkeys(immutable.hint for immutable, _now, _asked in found)),
        fields={f"spec.{immutable.field}": [shown(now), shown(asked)] for immutable, now, asked in found},
    )


def shown(value: Any) -> str:
    """A value in a sentence, as short as it can be told."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        inner = ", ".join(f"{name}: {shown(value[name])}" for name in sorted(value))
        return inner if inner else "empty"
    if isinstance(value, (list, tuple)):
        return "[" + "; ".join(shown(item) for item in value) + "]"
    return "not set" if value in (None, "") else str(value)
