# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one area against a server and records its exchanges."""

import contextlib
import json
import pathlib
import re
import subprocess
import tempfile
import threading
import time

import requests
from normalise import Normaliser
from requests_oauthlib import OAuth1

MARK = re.compile("⟦([^⟧]+)⟧")
SEED_IPS = {"10.99.0.1", "10.99.0.2", "10.99.0.0", "127.0.0.1", "127.0.0.0", "0.0.0.0"}
# What a "state" step keeps of a machine: everything clients usually wait for.
STATE = (
    "hostname",
    "status",
    "status_name",
    "status_message",
    "status_action",
    "power_state",
    "power_type",
    "owner",
    "owner_data",
    "netboot",
    "osystem",
    "distro_series",
    "hwe_kernel",
    "ip_addresses",
    "locked",
    "ephemeral_deploy",
    "enable_hw_sync",
    "error_description",
    "tag_names",
    "architecture",
    "cpu_count",
    "memory",
    "storage",
    "commissioning_status_name",
    "testing_status_name",
)


class Unreachable(Exception):
    """An earlier step did not give the id this step needs."""


class Ref:
    """An id of the server under test, known in the script by a label."""

    def __init__(self, label):
        self.label = label

    def __str__(self):
        return f"⟦{self.label}⟧"


class Answer:
    def __init__(self, session, status=None, body=None):
        self.session, self.status, self.body = session, status, body

    def pick(self, key):
        """``key`` is a function of the body or a dotted path ("links.0.id"); None if absent."""
        if self.status is None or self.status >= 400:
            return None
        try:
            if callable(key):
                return key(self.body)
            v = self.body
            for part in key.split("."):
                v = v[int(part)] if isinstance(v, list) else v[part]
            return v
        except (KeyError, IndexError, TypeError, ValueError, StopIteration, AttributeError):
            return None

    def ref(self, label, key="id"):
        return self.session.ref(label, self.pick(key))


class Session:
    """The object the area functions receive as ``t``."""

    def __init__(self, area, number, url, control, apikey, lxd_address, lxd_password, verbose=False):
        self.area, self.number, self.verbose = area, number, verbose
        self.root = url.rstrip("/")
        self.control_url = control.rstrip("/")
        self.keys = {"admin": apikey}
        self.lxd_address, self.lxd_password = lxd_address, lxd_password
        self.http = requests.Session()
        self.steps, self.names, self.refs, self.odd_keys = [], {}, {}, set()
        self._mac = self._bmc = 0

    # -- deterministic inputs ----------------------------------------------
    def mac(self):
        self._mac += 1
        return f"52:54:00:{self.number:02x}:{self._mac >> 8:02x}:{self._mac & 255:02x}"

    def macs(self, n):
        return [self.mac() for index in range(n)]

    def bmc(self):
        self._bmc += 1
        return f"10.99.0.{199 + self._bmc}"

    def ipmi(self):
        return {
            "power_type": "ipmi",
            "power_parameters_power_address": self.bmc(),
            "power_parameters_power_user": "u",
            "power_parameters_power_pass": "p",
        }

    # -- references ---------------------------------------------------------
    def ref(self, label, value):
        while label in self.refs:
            label += "'"
        self.refs[label] = value
        return Ref(label)

    def resolve(self, v):
        if isinstance(v, Ref):
            v = str(v)
        if isinstance(v, str):

            def sub(m):
                value = self.refs.get(m.group(1))
                if value is None:
                    raise Unreachable(m.group(1))
                return str(value)

            return MARK.sub(sub, v)
        if isinstance(v, dict):
            return {k: self.resolve(x) for k, x in v.items()}
        if isinstance(v, (list, tuple)):
            return [self.resolve(x) for x in v]
        return v

    @staticmethod
    def show(v):
        """The recorded form of an input: references as {label}."""
        if isinstance(v, (Ref, str)):
            return MARK.sub(lambda m: f"{{{m.group(1)}}}", str(v))
        if isinstance(v, dict):
            return {k: Session.show(x) for k, x in v.items()}
        if isinstance(v, (list, tuple)):
            return [Session.show(x) for x in v]
        return v

    @staticmethod
    def project(body, keep):
        """Only the wanted keys of an object, or of each object of a list."""
        if isinstance(body, list):
            return [Session.project(x, keep) for x in body]
        return {k: body[k] for k in keep if k in body} if isinstance(body, dict) else body

    # -- requests -------------------------------------------------------------
    def auth(self, who):
        key = self.keys.get(who, who)
        if who not in self.keys:
            self.odd_keys.add(who)
        if key is None:
            raise Unreachable(who)
        consumer, token, secret = key.split(":")
        return OAuth1(
            consumer,
            client_secret="",
            resource_owner_key=token,
            resource_owner_secret=secret,
            signature_method="PLAINTEXT",
            signature_type="auth_header",
        )

    @staticmethod
    def pairs(d):
        out = []
        for k, v in d.items() if isinstance(d, dict) else (d or []):
            for x in v if isinstance(v, (list, tuple)) else [v]:
                out.append((k, x))
        return out

    def name(self, method, path, query, form, note):
        q = "&".join(f"{k}={v}" for k, v in query)
        name = f"{method} {path}" + (f"?{q}" if q else "")
        if note:
            name += f" -- {note}"
        elif form:
            text = " ".join(f"{k}={v}" for k, v in form)
            name += f" [{text[:90]}]"
        name = " ".join(name.split())
        self.names[name] = n = self.names.get(name, 0) + 1
        return name if n == 1 else f"{name} ~{n}"

    def call(
        self,
        method,
        path,
        form=None,
        op=None,
        note="",
        query=None,
        auth="admin",
        files=None,
        json_body=None,
        raw=None,
        headers=None,
        keep=None,
        record=True,
    ):
        query = ([("op", op)] if op else []) + self.pairs(query)
        form = self.pairs(form) if form is not None else None
        shown_form, shown_query = self.show(form or []), self.show(query)
        step = {
            "step": "",
            "note": note,
            "method": method,
            "path": self.show(path),
            "query": shown_query,
            "form": shown_form,
        }
        if json_body is not None:
            step["json"] = self.show(json_body)
        if files:
            step["files"] = sorted(files)
        if auth != "admin":
            step["auth"] = auth if auth in self.keys else ("none" if auth is None else "other")
        if keep:
            step["keep"] = list(keep)
        if record:
            step["step"] = self.name(method, step["path"], shown_query, shown_form, note)
        try:
            answer, ctype = self.send(method, path, form, query, auth, files, json_body, raw, headers)
        except Unreachable as e:
            step.update(status=None, unreachable=str(e))
            answer = Answer(self)
        else:
            body = answer.body
            if keep and answer.status < 400:
                body = self.project(body, keep)
            step.update(status=answer.status, content_type=ctype, body=body)
        if record:
            self.steps.append(step)
            if self.verbose:
                print(f"  {step['status']} {step['step']}", flush=True)
        return answer

    def send(self, method, path, form, query, auth, files, json_body, raw, headers):
        path = self.resolve(path)
        url = self.root + (path if path.startswith("/") else "/api/2.0/" + path)
        kw = {"params": self.resolve(query), "headers": headers, "timeout": 300, "allow_redirects": False}
        if json_body is not None:
            kw["json"] = self.resolve(json_body)
        elif raw is not None:
            kw["data"] = raw
        elif form is not None:
            kw["data"] = self.resolve(form)
        if files:
            kw["files"] = files
        session = self.http if threading.current_thread() is threading.main_thread() else requests
        try:
            r = session.request(method, url, auth=self.auth(auth) if auth else None, **kw)
        except requests.RequestException as e:  # a dead connection is an answer, too
            return Answer(self, 599, type(e).__name__), ""
        ctype = r.headers.get("content-type", "").split(";")[0].strip()
        if ctype in ("application/bson", "application/octet-stream") or ctype.startswith("image/"):
            return Answer(self, r.status_code, "<binary>" if r.content else ""), ctype
        body = r.text
        if ctype == "application/json" or body[:1] in "{[":
            with contextlib.suppress(ValueError):
                body = r.json()
        return Answer(self, r.status_code, body), ctype

    def get(self, path, op=None, note="", **kw):
        return self.call("GET", path, op=op, note=note, **kw)

    def post(self, path, form=None, op=None, note="", **kw):
        return self.call(
            "POST", path, {} if form is None and not {"json_body", "raw"} & set(kw) else form, op, note, **kw
        )

    def put(self, path, form=None, note="", **kw):
        return self.call("PUT", path, {} if form is None and "json_body" not in kw else form, None, note, **kw)

    def delete(self, path, note="", **kw):
        return self.call("DELETE", path, note=note, **kw)

    # -- things beyond one request ----------------------------------------------
    def peek(self, path, **kw):
        """An unrecorded GET (to look up ids)."""
        return self.call("GET", path, record=False, **kw)

    def wait(self, path, ready, seconds=40, **kw):
        """Poll unrecorded until ``ready(body)``; asynchronous work of the server is not measured."""
        end = time.monotonic() + seconds
        while True:
            a = self.peek(path, **kw)
            if a.pick(ready) or a.status is None or time.monotonic() > end:
                return a
            time.sleep(0.5)

    def state(self, machine, note=""):
        return self.call("GET", f"machines/{machine}/", note=note or "state", keep=STATE)

    def control(self, action, **params):
        """The side channel of the server under test; only success or failure is compared."""
        shown = self.show(self.pairs(params))
        step = {
            "step": self.name("CONTROL", action, shown, [], ""),
            "note": "",
            "method": "CONTROL",
            "path": action,
            "query": shown,
            "form": [],
        }
        try:
            r = requests.post(f"{self.control_url}/{action}", params=self.resolve(self.pairs(params)), timeout=300)
            step.update(status=200 if r.ok else 500, content_type="", body="")
        except Unreachable as e:
            step.update(status=None, unreachable=str(e))
        except requests.RequestException:
            step.update(status=500, content_type="", body="")
        self.steps.append(step)
        if self.verbose:
            print(f"  {step['status']} {step['step']}", flush=True)

    def login(self, username):
        """An API key of another user, from the side channel (not recorded)."""
        try:
            r = requests.post(f"{self.control_url}/apikey", params={"username": username}, timeout=300)
            self.keys[username] = r.json()["apikey"]
        except (requests.RequestException, ValueError, KeyError):
            self.keys[username] = None
        return username

    def certificate(self):
        """References to a fresh client certificate and its key (needs the openssl command)."""
        try:
            with tempfile.TemporaryDirectory() as d:
                subprocess.run(
                    [
                        "openssl",
                        "req",
                        "-x509",
                        "-newkey",
                        "rsa:2048",
                        "-nodes",
                        "-keyout",
                        f"{d}/key",
                        "-out",
                        f"{d}/crt",
                        "-days",
                        "30",
                        "-subj",
                        "/CN=conformance-client",
                        "-batch",
                    ],
                    check=True,
                    capture_output=True,
                )
                pems = [pathlib.Path(d, n).read_text(encoding="ascii") for n in ("crt", "key")]
        except (OSError, subprocess.CalledProcessError):
            pems = [None, None]
        return self.ref("certificate", pems[0]), self.ref("key", pems[1])

    def parallel(self, note, requests_):
        """Simultaneous requests [(method, path, form, op)]: only the multiset of statuses is recorded."""
        statuses = []

        def one(method, path, form, op):
            try:
                a, *_rest = self.send(
                    method, path, self.pairs(form), [("op", op)] if op else [], "admin", None, None, None, None
                )
                statuses.append(a.status)
            except Unreachable:
                statuses.append(0)

        threads = [threading.Thread(target=one, args=r) for r in requests_]
        for th in threads:
            th.start()
        for th in threads:
            th.join()
        self.steps.append(
            {
                "step": self.name("PARALLEL", note, [], [], ""),
                "note": note,
                "method": "PARALLEL",
                "path": "",
                "query": [],
                "form": [],
                "status": 200,
                "content_type": "",
                "body": {"statuses": sorted(statuses)},
            }
        )

    def enlist(self, hostname, label=None, note="", macs=1, **form):
        """POST machines/ with a manual power type; returns a reference to its system_id."""
        data = {"hostname": hostname, "architecture": "amd64/generic", "mac_addresses": self.macs(macs)}
        data.update(form if "power_type" in form else {"power_type": "manual", **form})
        return self.post("machines/", data, note=note or f"enlist {hostname}").ref(label or hostname, "system_id")

    def ready(self, hostname, macs=1, **hw):
        """A machine brought to Ready by the side channel."""
        m = self.enlist(hostname, macs=macs)
        self.control("advance", system_id=m, **hw)
        return m

    def op(self, machine, op, form=None, note="", **kw):
        return self.post(f"machines/{machine}/", form, op=op, note=note, **kw)

    def allocate(self, form=None, note="", **kw):
        return self.post("machines/", form, op="allocate", note=note, **kw)

    # -- result -------------------------------------------------------------------
    def result(self):
        host = self.root.split("//", 1)[1].split("/", 1)[0]
        replace = [
            (self.lxd_address, "<lxd-address>"),
            (self.lxd_password, "<lxd-password>"),
            (self.root, "<base>"),
            (host, "<host>"),
        ]
        for key in [*self.keys.values(), *sorted(self.odd_keys)]:
            if key:
                replace += [
                    (x, f"<{n}>") for x, n in zip(key.split(":"), ("consumer", "token", "secret"), strict=False)
                ]
        n = Normaliser(replace, SEED_IPS)
        for s in self.steps:
            n.learn_sent([s["form"], s["query"], s.get("json"), s["path"]])
        for label, v in self.refs.items():
            n.learn_ref(label, v)
        for s in self.steps:
            n.learn_body(s.get("body"), s["path"])
        out = []
        for s in self.steps:
            e = dict(s)
            for k in ("form", "query"):
                e[k] = [[a, n.text(b, a) if isinstance(b, str) else b] for a, b in s[k]]
            if "json" in e:
                e["json"] = n.value(s["json"])
            if e.get("status") is not None:
                e["body"] = n.body(s["body"])
            e["step"], e["path"] = n.text(s["step"]), n.text(s["path"])
            out.append(e)
        return {"area": self.area, "exchanges": out}


def dump(result, path):
    """One exchange per line, keys of bodies sorted: compact, and readable in diffs."""
    for e in result["exchanges"]:
        if "body" in e:
            e["body"] = json.loads(json.dumps(e["body"], sort_keys=True))
    with open(path, "w", encoding="utf-8") as f:
        f.write('{{"area": {}, "exchanges": [\n'.format(json.dumps(result["area"])))
        f.write(",\n".join(json.dumps(e, ensure_ascii=False, sort_keys=False) for e in result["exchanges"]))
        f.write("\n]}\n")
