# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What LXD's refusals are turned into. The words are those of LXD 5.0 and 6.2, with their statuses."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pem import certificates
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure import capabilities, errors
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.capabilities import ABILITIES, LxdCapabilities
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.pure.wire import LxdAnswer, opened
from metalshift_lab import authority

LXD = "https://lxd:8443"

# The same with four statuses, depending on the kind of object.
DUPLICATES = [
    (409, 'Failed creating project "p1": Failed adding database record: This "projects" entry already exists'),
    (409, "The storage pool already exists: The record already exists"),
    (409, "Certificate already in trust store"),
    (400, "The network already exists"),
    (400, "Client is already trusted"),
    (500, 'Error inserting "node" into database: The profile already exists'),
    (200, 'Failed creating instance record: This "instances" entry already exists'),
]


def failure(status: int, error: str) -> Failure:
    return errors.from_answer("create the thing x", LxdAnswer(status=status, body={"error": error}), LXD)


@pytest.mark.parametrize(("status", "error"), DUPLICATES)
def test_that_something_exists_is_known_however_it_is_said(status: int, error: str) -> None:
    said = errors.of_operation("create the thing x", {"err": error}, LXD) if status == 200 else failure(status, error)
    assert said.kind == "conflict"
    assert errors.exists_already(said)


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (400, 'Invalid project configuration key "foo"', "rejected"),
        (400, "The storage pool is currently in use", "conflict"),
        (400, 'Project feature "features.images" cannot be disabled on non-empty projects', "conflict"),
        (500, "Only empty projects can be removed", "conflict"),
        (500, "Source path '/nope' doesn't exist", "rejected"),
        (500, 'Required tool "lvm" is missing', "unsupported"),
        (500, 'Error loading "zfs" module: Failed to run: modprobe -b zfs: exit status 1', "unsupported"),
        (400, "Unknown driver", "unsupported"),
        (501, "Password authentication is no longer supported, please update your client", "unsupported"),
        (500, "Failed to run: mkfs.btrfs: No space left", "rejected"),
        (500, "write /var/lib/lxd/disks/x.img: no space left on device", "capacity"),
        (500, "database is locked", "unavailable"),
        (503, "LXD is shutting down", "unavailable"),
        (403, "not authorized", "forbidden"),
        (403, "Certificate is restricted", "forbidden"),
        (404, "Network not found", "not_found"),
        (412, "ETag doesn't match: abc vs def", "conflict"),
        (500, "", "rejected"),
    ],
)
def test_a_refusal_is_of_a_kind(status: int, error: str, kind: str) -> None:
    said = failure(status, error)
    assert said.kind == kind
    assert said.status == status
    assert said.object == "thing x"
    verb = "failed" if kind == "unavailable" else "refused"
    assert said.message.startswith(f"LXD at {LXD} {verb} to create the thing x: ")
    assert said.message.endswith(".")


def test_a_reason_is_one_line_and_not_endless() -> None:
    said = failure(400, "first\n  second " + "x" * 5000)
    assert "first second x" in said.message
    assert len(said.message) < 800


def test_a_value_of_an_unknown_key_is_not_repeated() -> None:
    said = failure(400, "cannot set 'core.trust_pasword' to 'hunter2\n' or 'so': unknown key")
    assert said.reason == "cannot set 'core.trust_pasword' to '***': unknown key"


@pytest.mark.parametrize("text", ["", "no", "[]", "{}", '{"type": "other"}', '{"hello": 1}'])
def test_what_is_not_in_lxds_envelope_is_not_lxds(text: str) -> None:
    assert opened(text) is None


# -- what an LXD can do ----------------------------------------------------------------------------


@pytest.mark.parametrize("ability", ABILITIES)
def test_what_an_lxd_lacks_is_said_with_the_version_that_has_it(ability: str) -> None:
    needed = ABILITIES[ability]
    LxdCapabilities(LXD, frozenset({needed.extension})).require(ability, "The thing x")
    with pytest.raises(Failure) as caught:
        LxdCapabilities(LXD, frozenset(other.extension for other in ABILITIES.values() if other != needed)).require(
            ability, "The thing x"
        )
    assert caught.value.kind == "unsupported"
    assert f"The thing x needs {ability}: that needs LXD ≥ {needed.since}, and the one at" in caught.value.message


def test_no_ability_is_known_by_a_version() -> None:
    extensions = [ability.extension for ability in ABILITIES.values()]
    assert len(set(extensions)) == len(extensions)
    assert not hasattr(capabilities.LxdCapabilities, "version")


@pytest.mark.parametrize(("valid", "says"), [(timedelta(seconds=-60), True), (timedelta(days=1), False)])
def test_a_certificate_that_expired_is_called_so(monkeypatch: pytest.MonkeyPatch, valid: timedelta, says: bool) -> None:
    monkeypatch.setattr(authority, "VALID", valid)
    (own,) = certificates("lxd_client_cert", authority.self_signed("maas").certificate.decode())
    failure = errors.untrusted(LXD, own.fingerprint, own.expired)
    assert (f"it expired on {own.expires:%Y-%m-%d}." in failure.message, "lxc config trust add" in failure.hint) == (
        says,
        not says,
    )
