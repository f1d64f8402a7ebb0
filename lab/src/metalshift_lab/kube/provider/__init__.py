# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for cluster-api-provider-maas, as a process: python -m metalshift_lab.kube.provider --namespace=NS

It does to Kubernetes and to MAAS what the real provider does, with its texts, its order of writes, its intervals and
its known faults, because users of the collection have to live with those. It was written from the provider's source;
the real one never ran here. What its versions are told apart by is in `versions`.

Known faults that it has: only the last tag is asked for; a permanent failure is retried without a pause; a machine
that could not be deployed is released and still named until the next pass; any state but Deployed and Deploying is
deployed again; texts of errors are taken for formats; a MAAS that does not answer holds a worker for ever; a failed
release shows nowhere but in the log; the MaasMachine goes before MAAS has the machine back; DNS resources and tags
stay; a VM stays when the Secret to delete it with is missing; the wait of two minutes after a broken machine is cut
short by its own write.

Not in it: clusters whose machines become LXD hosts (lxdConfig) with their maintenance, static addresses of control
planes, the correction of a VM's interfaces after commissioning, webhooks, metrics and health checks. Unlike the real
one it reads its own object anew for each pass instead of from a cache, opens one connection to MAAS for each pass and
closes it, and v0.9.0 makes do with Cluster API's v1beta1 where the newer version is not served.
"""
