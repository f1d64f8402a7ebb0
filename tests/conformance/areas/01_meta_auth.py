# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Routing, operations, content types and OAuth."""

import time
import uuid

WHOAMI = dict(op="whoami")


def header(t, nonce=None, age=0, signature=None, method="PLAINTEXT"):
    consumer, token, secret = t.keys["admin"].split(":")
    values = dict(oauth_version="1.0", oauth_signature_method=method, oauth_consumer_key=consumer, oauth_token=token,
                  oauth_signature=signature or f"%26{secret}", oauth_timestamp=int(time.time()) - age, oauth_nonce=nonce or uuid.uuid4().hex)
    return {"Authorization": "OAuth " + ", ".join(f'{k}="{v}"' for k, v in values.items())}


def run(t):
    c, k, s = t.keys["admin"].split(":")
    t.get("version/", auth=None, note="anonymous")
    t.get("/api/2.0/version", auth=None, note="no trailing slash")
    t.get("/api/1.0/version/", auth=None, note="API 1.0")
    t.get("machines/", auth=None, note="no credentials, resource with an anonymous twin")
    t.get("users/", **WHOAMI, auth=None, note="no credentials")
    t.get("users/", **WHOAMI)
    t.get("users/", **WHOAMI, auth=f"bad{c[3:]}:{k}:{s}", note="unknown consumer")
    t.get("users/", **WHOAMI, auth=f"{c}:bad{k[3:]}:{s}", note="unknown token")
    t.get("users/", **WHOAMI, auth=f"{c}:{k}:wrongsecret", note="wrong secret")
    t.post("zones/", {"name": "nope"}, auth=f"{c}:{k}:wrongsecret", note="wrong secret on POST")
    nonce = uuid.uuid4().hex

    def signed(note, **kw):
        t.get("users/", **WHOAMI, auth=None, headers=header(t, **kw), note=note)

    signed("hand-made header", nonce=nonce)
    signed("same nonce again", nonce=nonce)
    signed("timestamp 290 s old", age=290)
    signed("timestamp 400 s old", age=400)
    signed("timestamp one day in the future", age=-86400)
    signed("signature not percent-encoded", signature="&" + s)
    signed("nonce longer than 255", nonce="x" * 300)
    signed("unsupported signature method", method="RSA-SHA1")
    signed("empty signature", signature="%26")
    t.get("users/", **WHOAMI, auth=None, headers={"Authorization": f'OAuth oauth_consumer_key="{c}", oauth_token="{k}"'}, note="incomplete OAuth header")
    t.get("users/", **WHOAMI, auth=None, headers={"Authorization": "Basic YWRtaW46YWRtaW4="}, note="Basic auth")
    t.get("users/", **WHOAMI, auth=None, headers={"Authorization": f"Bearer {s}"}, note="Bearer auth")
    t.get("zones/", auth=None, note="no credentials, no anonymous twin")
    t.post("zones/", {"name": "x"}, auth=None, note="no credentials on POST")
    t.get("users/", op="nosuchop", note="unknown op")
    t.post("machines/", {"a": "b"}, op="nosuchop", note="unknown op POST")
    t.get("machines/", op="allocate", note="op with the wrong verb")
    t.post("users/", op="whoami", note="idempotent op with POST")
    t.get("nosuchthing/", note="unknown URL")
    t.get("machines", note="no trailing slash, GET")
    t.post("zones", {"name": "noslash"}, note="no trailing slash, POST")
    t.call("PATCH", "zones/default/", {"name": "x"}, note="PATCH")
    t.call("HEAD", "machines/", note="HEAD")
    t.call("OPTIONS", "machines/", note="OPTIONS")
    t.delete("machines/", note="DELETE on a collection")
    t.put("zones/", {"name": "x"}, note="PUT on a collection")
    t.post("zones/default/", {"name": "x"}, note="POST without op on an object")
    t.post("zones/", json_body={"name": "json-zone", "description": "sent as JSON"}, note="JSON body")
    t.put("zones/json-zone/", json_body={"description": "JSON PUT"}, note="JSON body on PUT")
    t.post("zones/", raw=b"{bad json", headers={"Content-Type": "application/json"}, note="broken JSON body")
    t.post("zones/", raw=b"name=x", headers={"Content-Type": "text/plain"}, note="unknown content type")
    t.post("zones/", {}, files={"name": (None, "multi-zone"), "description": (None, "multipart")}, note="multipart/form-data")
    t.delete("zones/json-zone/")
    t.delete("zones/multi-zone/")
    t.get("zones/", query={"format": "xml"}, note="?format=xml")
    t.get("zones/", headers={"Accept": "application/xml"}, note="Accept: application/xml")
    t.get("zones/", headers={"If-None-Match": "*"}, note="conditional GET")
    t.get("zones/", headers={"Accept-Encoding": "gzip"}, note="Accept-Encoding gzip")
    t.get("zones/", query={"callback": "f"}, note="JSONP callback parameter")
    t.get("/api/2.0//zones/", note="double slash")
    t.get("zones/", query=[("op", "")], note="empty op")
    t.post("zones/", {"op": "nosuch", "name": "zz"}, note="op in the form body")
    t.get("zones/", query={"nosuch": "1"}, note="unknown query parameter")
