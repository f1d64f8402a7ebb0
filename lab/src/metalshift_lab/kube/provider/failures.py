# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends of a pass that are not the end of the matter."""

from __future__ import annotations

from metalshift_lab.kube.provider.maas import MaasError


class Broken(MaasError):
    """MAAS offered a machine that is broken; the next try comes in two minutes."""


class Composing(MaasError):
    """The VM was composed and is being commissioned."""


class Missing(Exception):
    """Kubernetes lacks an object, or what should be in it."""


class Crashed(Exception):
    """The Go program would have crashed here; it catches that and tries again, and no condition says so."""


class Detaching(Exception):
    """DNS and the machine do not agree yet."""
