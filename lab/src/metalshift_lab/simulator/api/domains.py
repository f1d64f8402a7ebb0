# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""domains/"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator import names, network
from metalshift_lab.simulator.errors import BadRequest, Invalid, ServerError
from metalshift_lab.simulator.forms import Field, Form, assign, form_bool, integer
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import Domain
from metalshift_lab.simulator.render import Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

MAX_TTL = (1 << 31) - 1
MAX_SERIAL = (1 << 32) - 1
TTL = integer(0, MAX_TTL)
FORWARDED = "A domain cannot be both authoritative and have forward DNS servers"
FIELDS = (
    Field("name", names.domain, required=True),
    Field("authoritative", form_bool, empty=True),
    Field("ttl", TTL, empty=None),
)
WRITTEN = ("name", "authoritative", "ttl")


def domain_form(request: Request, domain: Domain | None = None) -> Form:
    form = Form(request.data, FIELDS, partial=domain is not None)
    if form.unbound:
        form.finish()
    form.unique("name", "Domain", {d.name for d in request.state.domains if d is not domain})
    authoritative = form.get("authoritative", domain.authoritative if domain else True)
    if authoritative and request.data.get("forward_dns_servers"):
        form.fail("__all__", FORWARDED)
    form.finish()
    return form


def find(state: State, specifier: str) -> Domain:
    return network.known(network.find_domain(state, specifier), "Domain")


def adopt(state: State, domain: Domain) -> None:
    """A name of the parent domain that is the new domain's own becomes its top, "@"."""
    label, _ignored, parent = domain.name.partition(".")
    for record in list(state.dns_resources):
        if record.name == label and record.domain.name == parent:
            record.name, record.domain = "@", domain


@resource("domains/")
class Domains:
    @get()
    def list(self, request: Request) -> Any:
        render = Render(request.state)
        return [render.domain(d) for d in request.state.domains]

    @post(admin=True)
    def create(self, request: Request) -> Any:
        domain = request.state.domains.make(Domain, **domain_form(request).cleaned)
        adopt(request.state, domain)
        return Render(request.state).domain(domain)

    @post("set_serial", admin=True)
    def set_serial(self, request: Request) -> Any:
        value = request.data.get("serial")
        if value is None:
            raise Invalid({"serial": ["Missing parameter"]})
        try:
            serial = int(value)
        except ValueError:
            raise Invalid({"serial": ["Expected a serial number"]}) from None
        if serial == 0 or serial > MAX_SERIAL:
            raise Invalid({"serial": [f"Expected a serial number between 1 and {MAX_SERIAL}"]})
        request.state.extra["dns_serial"] = serial


@resource("domains/{id}/")
class DomainItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).domain(find(request.state, id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        domain = find(request.state, id)
        request.require_admin("")
        form = domain_form(request, domain)
        form.cleaned = {k: v for k, v in form.cleaned.items() if v is not None}
        assign(domain, form, WRITTEN)
        return Render(request.state).domain(domain)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        domain = find(request.state, id)
        request.require_admin("")
        remove(request.state, domain)
        return NO_CONTENT

    @post("set_default")
    def set_default(self, request: Request, id: str) -> Any:
        domain = find(request.state, id)
        request.require_admin("")
        old = request.state.default_domain
        request.state.default_domain = domain
        # Machines of the default domain follow it.
        for node in request.state.nodes:
            if node.domain is old:
                node.domain = domain
        return Render(request.state).domain(domain)


def remove(state: State, domain: Domain) -> None:
    if domain is state.default_domain:
        raise BadRequest("This domain is the default domain, it cannot be deleted.")
    holders = {
        "'DNSResource.domain'": [f"<DNSResource: name={r.name}>" for r in state.dns_resources.where(domain=domain)],
        "'Node.domain'": [f"<{type(n).__name__}: {n.system_id} ({n.fqdn})>" for n in state.nodes if n.domain is domain],
    }
    fields = ", ".join(name for name, found in holders.items() if found)
    if fields:
        found = ", ".join(text for texts in holders.values() for text in texts)
        raise ServerError(
            "(\"Cannot delete some instances of model 'Domain' because they are referenced through protected foreign "
            f'keys: {fields}.", {{{found}}})'
        )
    state.domains.discard(domain)
