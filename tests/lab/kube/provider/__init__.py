# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for cluster-api-provider-maas, as a process of its own: python -m lab.kube.provider --namespace=NS

It does to Kubernetes and to MAAS what the real provider does, with its texts, its order of writes, its intervals and
its known faults, because users of the collection have to live with those. What it is told apart by is in `versions`.
"""
