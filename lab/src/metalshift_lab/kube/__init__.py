# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's Kubernetes half: real programs as processes, and stand-ins for what cannot run here."""
