# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""dnsresourcerecords/: records other than addresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from metalshift_lab.simulator import names
from metalshift_lab.simulator.api import dnsresources, domains
from metalshift_lab.simulator.errors import BadRequest, ServerError
from metalshift_lab.simulator.forms import Field, Form, Wrong, assign, pattern
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import DNSData, DNSResource
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource

KINDS = ("CNAME", "MX", "NS", "SRV", "SSHFP", "TXT")
ALIAS_LABEL = r"[_a-zA-Z0-9]([-_a-zA-Z0-9]{0,62}[_a-zA-Z0-9])?"
ALIAS = re.compile(rf"({ALIAS_LABEL}\.)*{ALIAS_LABEL}\.?")
BAD_CNAME = "Invalid CNAME: Should be '<server>'."
BAD_MX = "Invalid MX: Should be '<preference> <server>'. Range for preference is 0-65535."
BAD_SRV = (
    "Invalid SRV: Should be '<priority> <weight> <port> <server>'. Range for priority, weight, and port are 0-65536."
)
BAD_SSHFP = "Invalid SSHFP: Should be '<algorithm> <fptype> <fingerprint>'."
NOT_ALONE = "CNAME records for a name cannot coexist with non-CNAME records."
ONE_CNAME = "Only one CNAME can be associated with a name."


def kind(value: str) -> str:
    name = value.upper()
    wrong = [] if name in KINDS else [f"{name} is not one of {' '.join(KINDS)}."]
    if len(value) > 8:
        wrong.insert(0, f"Ensure this value has at most 8 characters (it has {len(value)}).")
    if wrong:
        raise Wrong(*wrong)
    return name


FIELDS = (
    Field("rrtype", kind, required=True),
    Field("rrdata", pattern(r"(?s).*"), required=True),
    Field("ttl", domains.TTL, empty=None),
)


def _cname(data: str) -> None:
    if not ALIAS.fullmatch(data):
        raise Wrong(BAD_CNAME)


def _mx(data: str) -> None:
    match = re.fullmatch(r"(\d+)\s+(.+)", data)
    if not match or int(match[1]) > 65535:
        raise Wrong(BAD_MX)
    names.zone_name(match[2])


def _srv(data: str) -> None:
    match = re.match(r"(\d+)\s+(\d+)\s+(\d+)\s+(.*)", data)
    if not match:
        raise ServerError("'NoneType' object has no attribute 'groupdict'")
    if any(int(match[n]) > 65535 for n in (1, 2, 3)):
        raise Wrong(BAD_SRV)
    if match[4] != ".":
        names.zone_name(match[4])


def _sshfp(data: str) -> None:
    if not re.fullmatch(r"\d+\s+\d+\s+.*", data):
        raise Wrong(BAD_SSHFP)


CHECKS: dict[str, Callable[[str], Any]] = {
    "CNAME": _cname,
    "MX": _mx,
    "NS": names.zone_name,
    "SRV": _srv,
    "SSHFP": _sshfp,
    "TXT": str,
}


def record_form(request: Request, holder: DNSResource | None, found: DNSData | None = None) -> Form:
    form = Form(request.data, FIELDS, partial=found is not None)
    if form.unbound:
        form.finish()
    rrtype, rrdata = (form.get(name, getattr(found, name, None)) for name in ("rrtype", "rrdata"))
    if rrtype and rrdata:
        try:
            CHECKS[rrtype](rrdata)
        except Wrong as wrong:
            form.fail("__all__", *wrong.messages)
    if found is None and holder is not None and rrtype and "__all__" not in form.errors:
        _check_alias(request, form, holder, rrtype)
    form.finish()
    return form


def _check_alias(request: Request, form: Form, holder: DNSResource, rrtype: str) -> None:
    present = [d.rrtype for d in request.state.dns_data.where(resource=holder)]
    if rrtype != "CNAME":
        if "CNAME" in present:
            form.fail("__all__", NOT_ALONE)
    elif holder.addresses or any(p != "CNAME" for p in present):
        form.fail("__all__", NOT_ALONE)
    elif present:
        form.fail("__all__", ONE_CNAME)


@resource("dnsresourcerecords/")
class DNSResourceRecords:
    @get()
    def list(self, request: Request) -> Any:
        rrtype = request.query.get("rrtype")
        name, domain = dnsresources.place(request, query=True, rrtype=rrtype or "")
        render = Render(request.state)
        return [
            render.dns_data(d)
            for d in sorted(request.state.dns_data, key=lambda d: dnsresources.sort_key(d.resource))
            if name in (None, d.resource.name) and domain in (None, d.resource.domain) and rrtype in (None, d.rrtype)
        ]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        for required in ("rrtype", "rrdata"):
            if request.data.get(required) is None:
                raise BadRequest(f"{required} must be provided.")
        name, domain = dnsresources.place(request, rrtype=request.data.get("rrtype"))
        if domain is None or name is None:
            raise BadRequest("Either name and domain (or fqdn) must be specified")
        holder = request.state.dns_resources.first(name=name, domain=domain)
        if holder is None:
            dnsresources.resource_form(request)
        form = record_form(request, holder)
        if holder is None:
            holder = request.state.dns_resources.make(DNSResource, name=name, domain=domain)
        return Render(request.state).dns_data(request.state.dns_data.make(DNSData, resource=holder, **form.cleaned))


@resource("dnsresourcerecords/{id}/")
class DNSResourceRecordItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).dns_data(request.state.dns_data.get(id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        found = request.state.dns_data.get(id)
        request.require_admin("")
        form = record_form(request, found.resource, found)
        assign(found, form, ("rrtype", "rrdata", "ttl"))
        return Render(request.state).dns_data(found)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        """With its last record a name goes, too."""
        state = request.state
        found = state.dns_data.get(id)
        request.require_admin("")
        state.dns_data.discard(found)
        if not found.resource.addresses and state.dns_data.first(resource=found.resource) is None:
            dnsresources.remove(state, found.resource)
        return NO_CONTENT
