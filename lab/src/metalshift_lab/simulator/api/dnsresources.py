# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""dnsresources/: names with addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from metalshift_lab.simulator import names, network
from metalshift_lab.simulator.api import domains
from metalshift_lab.simulator.errors import NotFound, ServerError
from metalshift_lab.simulator.forms import Field, Form, among, assign, string_bool
from metalshift_lab.simulator.http import NO_CONTENT, Request
from metalshift_lab.simulator.model import AllocType, DNSResource, Domain, StaticIP
from metalshift_lab.simulator.render import URI, Render
from metalshift_lab.simulator.routing import delete, get, post, put, resource
from metalshift_lab.simulator.state import State

NOT_UNIQUE = "Labels must be unique within their zone."


def named_domain(state: State, value: str) -> Domain:
    """A domain by id or name, as the DNS calls take it."""
    found = state.domains.find(value) if value.isdigit() else state.domains.first(name=value)
    if found is None:
        raise NotFound.of("Domain")
    return found


def place(request: Request, *, query: bool = False, rrtype: str = "A") -> tuple[str | None, Domain | None]:
    """The name and domain a request speaks of; `fqdn` counts only without the two others."""
    data = request.query if query else request.data
    name, domain, fqdn = data.get("name"), data.get("domain"), data.get("fqdn")
    if name is None and domain is None and fqdn is not None:
        known = {d.name for d in request.state.domains}
        name, domain = names.separate(fqdn, known, rrtype)
    return name, named_domain(request.state, domain) if domain is not None else None


def fields(state: State, name: str | None, domain: Domain | None) -> list[Field]:
    return [
        Field("name", required=name is None, empty=name),
        Field("domain", among(state.domains.find), required=domain is None, empty=domain),
        Field("address_ttl", domains.TTL, empty=None),
    ]


def resource_form(request: Request, found: DNSResource | None = None) -> Form:
    state = request.state
    name, domain = place(request)
    # What `place` found is in the form as if it had been sent.
    data = request.data.without("name", "domain") if found is None else request.data.without("domain")
    form = Form(data, fields(state, name or None, domain), partial=found is not None)
    if found is not None:
        form.cleaned |= {key: value for key, value in (("name", name), ("domain", domain)) if value}
    if form.unbound:
        form.finish()
    if name is not None and len(name) > 191:
        form.fail("name", f"Ensure this value has at most 191 characters (it has {len(name)}).")
    label = form.get("name", found.name if found else None)
    if request.data.get("ip_addresses") is not None:
        if label is None:
            raise ServerError("'name'")
        if not names.is_label(label) and label not in names.SPECIAL:
            form.fail("__all__", f"Invalid dnsresource name: {label}.")
    if found is None and not form.errors and state.dns_resources.first(name=label, domain=form.get("domain")):
        form.fail("__all__", NOT_UNIQUE)
    form.finish()
    return form


def read_addresses(request: Request) -> list[StaticIP | str] | None:
    """Addresses known already, by id or IP, and those to be made; None when the request does not speak of them."""
    state = request.state
    value = request.data.get("ip_addresses")
    if value is None:
        return None
    out: list[StaticIP | str] = []
    for text in value.split():
        known = state.addresses.find(text) if text.isdigit() else state.addresses.first(ip=text)
        if known is None and network.parse_ip(text) is None:
            raise ServerError(f"failed to detect a valid IP address from {text!r}")
        out.append(known or text)
    return out


def set_addresses(request: Request, found: DNSResource, wanted: list[StaticIP | str]) -> None:
    state = request.state
    found.addresses = [
        w
        if isinstance(w, StaticIP)
        else state.add_address(
            alloc_type=AllocType.USER_RESERVED, ip=w, subnet=network.best_subnet(state, w), user=request.user
        )
        for w in wanted
    ]


def remove(state: State, found: DNSResource) -> None:
    network.drop(state.dns_data, state.dns_data.where(resource=found))
    state.dns_resources.discard(found)


def sort_key(found: DNSResource) -> tuple[int, str]:
    return found.domain.id, found.name


@resource("dnsresources/")
class DNSResources:
    @get()
    def list(self, request: Request) -> Any:
        state, query = request.state, request.query
        rrtype = query.get("rrtype")
        rrtype = rrtype.upper() if rrtype is not None else None
        everything = string_bool(query, "all")
        name, domain = place(request, query=True, rrtype=rrtype or "A")
        render = Render(state)
        records = [
            r
            for r in sorted(state.dns_resources, key=sort_key)
            if name in (None, r.name)
            and domain in (None, r.domain)
            and (rrtype is None or any(d.rrtype == rrtype for d in state.dns_data.where(resource=r)))
        ]
        answer = [render.dns_resource(r) for r in records]
        if everything:
            for each in state.domains if domain is None else [domain]:
                answer += _synthetic(request, each, name, rrtype)
        return answer

    @post(admin=True)
    def create(self, request: Request) -> Any:
        form = resource_form(request)
        wanted = read_addresses(request)
        found = request.state.dns_resources.make(DNSResource, **form.cleaned)
        set_addresses(request, found, wanted or [])
        return Render(request.state).dns_resource(found)


def _synthetic(request: Request, domain: Domain, name: str | None, rrtype: str | None) -> list[dict[str, Any]]:
    """Address records as they are in the zone, those of nodes included; no objects of their own."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for label, record in _records(request.state, domain):
        mine = request.is_admin or record["user_id"] in (None, request.me.id)
        if mine and name in (None, label.split(".")[0]) and rrtype in (None, record["rrtype"]):
            by_name.setdefault(label, []).append(record)
    return [
        {
            "address_ttl": None,
            "ip_addresses": None,
            "resource_records": records,
            "id": -1,
            "fqdn": f"{label.split('.')[0]}.{domain.name}",
            "resource_uri": f"{URI}dnsresources/-1/",
        }
        for label, records in by_name.items()
    ]


def _records(state: State, domain: Domain) -> Iterator[tuple[str, dict[str, Any]]]:
    for found in state.dns_resources.where(domain=domain):
        for address in found.addresses:
            if address.ip:
                owner = address.user.id if address.user else None
                yield found.name, {**_record(address.ip, found.address_ttl, owner), "dnsresource_id": found.id}
    for node in state.nodes:
        if node.domain is not domain:
            continue
        label = node.hostname
        for interface in node.interfaces:
            for link in interface.links:
                if link.ip:
                    # The first address is the node's own name, the others are called like their interfaces.
                    owner = node.owner.id if node.owner and label != node.hostname else None
                    record = _record(link.ip, node.address_ttl, owner)
                    yield label, {**record, "system_id": node.system_id, "node_type": int(node.node_type)}
                    label = f"{interface.name}.{node.hostname}"


def _record(ip: str, ttl: int | None, user_id: int | None) -> dict[str, Any]:
    return {
        "system_id": None,
        "node_type": None,
        "user_id": user_id,
        "dnsresource_id": None,
        "ttl": ttl,
        "rrtype": "AAAA" if ":" in ip else "A",
        "rrdata": ip,
        "dnsdata_id": None,
    }


@resource("dnsresources/{id}/")
class DNSResourceItem:
    @get()
    def read(self, request: Request, id: str) -> Any:
        return Render(request.state).dns_resource(request.state.dns_resources.get(id))

    @put()
    def update(self, request: Request, id: str) -> Any:
        found = request.state.dns_resources.get(id)
        request.require_admin("")
        form = resource_form(request, found)
        wanted = read_addresses(request)
        form.cleaned = {k: v for k, v in form.cleaned.items() if v is not None or k == "address_ttl"}
        assign(found, form, ("name", "domain", "address_ttl"))
        if wanted is not None:
            set_addresses(request, found, wanted)
        return Render(request.state).dns_resource(found)

    @delete()
    def delete(self, request: Request, id: str) -> Any:
        found = request.state.dns_resources.get(id)
        request.require_admin("")
        remove(request.state, found)
        return NO_CONTENT
