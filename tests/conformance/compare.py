# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare recorded runs with goldens, step by step."""

import copy
import fnmatch
import json
import pathlib
from collections import Counter

# Lists whose order is part of the answer; all others are compared as sorted by identity.
ORDERED = {"dns_servers", "events", "statuses", "history"}
IDENTITY = (
    "name",
    "hostname",
    "cidr",
    "username",
    "mac_address",
    "start_ip",
    "start",
    "ip",
    "fqdn",
    "filename",
    "url",
    "key",
    "mode",
    "type",
)


def load(directory):
    runs = {}
    for f in sorted(pathlib.Path(directory).glob("*.json")):
        data = json.loads(f.read_text(encoding="utf-8"))
        if isinstance(data, dict) and "exchanges" in data:
            runs[data["area"]] = data["exchanges"]
    return runs


class Ignore:
    """{"area pattern": {"step pattern": ["path pattern", ...]}}: paths whose values may differ.

    A path is written like ``interface_set.#.links.#.ip_address`` ("$" is the whole
    body, "#" any list element). A leading "!" also lets the shape below it differ.
    """

    def __init__(self, rules=None):
        self.rules = rules or {}

    def paths(self, area, step):
        out = []
        for a, steps in self.rules.items():
            if fnmatch.fnmatchcase(area, a):
                for s, paths in steps.items():
                    if s == "*" or s == step or fnmatch.fnmatchcase(step, s.replace("[", "[[]")):
                        out += paths
        return out


def kind(v):
    if isinstance(v, bool):
        return "boolean"
    return {dict: "object", list: "list", str: "string", int: "number", float: "number", type(None): "null"}[type(v)]


def canonical(v):
    return json.dumps(v, sort_keys=True, ensure_ascii=False)


def identity(v):
    if isinstance(v, dict):
        return canonical([v.get(k) for k in IDENTITY if not isinstance(v.get(k), (dict, list))]), canonical(v)
    return canonical(v), ""


def matches(path, patterns):
    return any(fnmatch.fnmatchcase(path, p) for p in patterns)


def differences(golden, run, paths=()):
    """[(kind, path, text)] where kind is "shape" or "value"."""
    values = [p for p in paths if not p.startswith("!")]
    trees = [p[1:] for p in paths if p.startswith("!")]
    out = []

    def walk(g, r, path, key=""):
        if matches(path or "$", trees):
            return
        kg, kr = kind(g), kind(r)
        if kg != kr:
            severity = "shape" if "null" not in (kg, kr) or {kg, kr} & {"object", "list"} else "value"
            if severity == "shape" or not matches(path or "$", values):
                out.append((severity, path or "$", f"{kg} {short(g)} -> {kr} {short(r)}"))
        elif kg == "object":
            for k in sorted(set(g) | set(r)):
                p = f"{path}.{k}" if path else k
                if k in g and k in r:
                    walk(g[k], r[k], p, k)
                elif not matches(p, trees):
                    out.append(("shape", p, "missing" if k in g else "unexpected"))
        elif kg == "list":
            if len(g) != len(r) and not matches(path or "$", values):
                out.append(("value", path or "$", f"{len(g)} elements -> {len(r)}"))
            if key not in ORDERED:
                g, r = sorted(g, key=identity), sorted(r, key=identity)
                if len(g) != len(r):
                    g, r = pair(g, r)
            for a, b in zip(g, r, strict=False):
                walk(a, b, f"{path}.#" if path else "#", key)
        elif g != r and not matches(path or "$", values):
            out.append(("value", path or "$", f"{short(g)} -> {short(r)}"))

    walk(golden, run, "")
    return out


def pair(g, r):
    """Of lists of different length, the elements with equal identity."""
    rest, a, b = list(r), [], []
    for x in g:
        y = next((y for y in rest if identity(y)[0] == identity(x)[0]), None)
        if y is not None:
            rest.remove(y)
            a.append(x)
            b.append(y)
    return a, b


def short(v, n=70):
    s = canonical(v)
    return s if len(s) <= n else s[: n - 1] + "…"


def compare_step(golden, run, paths=()):
    """(status agrees, shape agrees, all agrees, [texts], [paths])."""
    if run is None:
        return False, False, False, ["step missing in the run"], []
    if golden.get("unreachable") or run.get("unreachable"):
        same = bool(golden.get("unreachable")) == bool(run.get("unreachable"))
        why = [] if same else [f"unreachable: no {run.get('unreachable') or golden.get('unreachable')}"]
        return same, same, same, why, []
    texts = []
    status = golden["status"] == run["status"]
    if not status:
        texts.append(f"status {golden['status']} -> {run['status']}: {short(run['body'], 100)}")
    ctype = golden["content_type"] == run["content_type"]
    if not ctype:
        texts.append(f"content type {golden['content_type']!r} -> {run['content_type']!r}")
    found = differences(golden["body"], run["body"], paths) if status else []
    texts += [f"{k}: {p}: {d}" for k, p, d in found]
    shape = status and ctype and not any(kind == "shape" for kind, *_rest in found)
    return status, shape, shape and not found, texts, [path for kind, path, text in found]


def compare(golden_runs, runs, ignore):
    areas, hot = [], Counter()
    for area, golden in golden_runs.items():
        by_name = {e["step"]: e for e in runs.get(area, [])}
        row = {
            "area": area,
            "steps": 0,
            "status": 0,
            "shape": 0,
            "full": 0,
            "unreachable": 0,
            "control": 0,
            "disagreements": [],
        }
        for g in golden:
            r = by_name.pop(g["step"], None)
            status, shape, full, texts, paths = compare_step(g, r, ignore.paths(area, g["step"]))
            if g["method"] == "CONTROL":  # compared, but no part of the percentages
                row["control"] += not full
            else:
                row["steps"] += 1
                row["status"] += status
                row["shape"] += shape
                row["full"] += full
                row["unreachable"] += bool(r and r.get("unreachable"))
            hot.update(set(paths))
            if not full:
                row["disagreements"].append({"step": g["step"], "what": texts})
        row["extra"] = sorted(by_name)
        areas.append(row)
    return areas, hot


def report(areas, hot, show):
    def pct(n, of):
        return f"{100 * n / of:6.1f}" if of else "     -"

    lines = [f"{'area':44} {'steps':>6} {'status%':>8} {'shape%':>8} {'full%':>8}  unreachable/control failures"]
    total = Counter()

    def line(name, a):
        shares = " ".join(f"{pct(a[k], a['steps']):>8}" for k in ("status", "shape", "full"))
        return f"{name:44} {a['steps']:6} {shares}  {a['unreachable']}/{a['control']}"

    for a in areas:
        total.update({k: a[k] for k in ("steps", "status", "shape", "full", "unreachable", "control")})
        lines.append(line(a["area"], a))
    lines.append(line("TOTAL", total))
    if show:
        for a in areas:
            if a["disagreements"]:
                lines.append(f"\n{a['area']}: {len(a['disagreements'])} disagreements")
            for d in a["disagreements"][:show]:
                lines.append(f"  {d['step']}")
                lines += [f"      {t}" for t in d["what"][:6]]
                if len(d["what"]) > 6:
                    lines.append(f"      … {len(d['what']) - 6} more")
            if len(a["disagreements"]) > show:
                lines.append(f"  … {len(a['disagreements']) - show} more steps")
            if a["extra"]:
                lines.append(f"  steps not in the golden (not counted): {len(a['extra'])}")
        if hot:
            lines.append("\nMost frequent differing paths (steps affected):")
            lines += [f"  {n:5} {p}" for p, n in hot.most_common(25)]
    return "\n".join(lines)


# -- self check ---------------------------------------------------------------
def _scalar(v, want, skip=(), path=""):
    """The first (container, key) below v holding a value that satisfies ``want``, outside of the ignored paths."""
    items = v.items() if isinstance(v, dict) else ((n, x) for n, x in enumerate(v)) if isinstance(v, list) else ()
    for k, x in items:
        p = f"{path}.{'#' if isinstance(k, int) else k}".lstrip(".")
        if matches(p, [s.lstrip("!") for s in skip]):
            continue
        if want(x):
            return v, k
        found = _scalar(x, want, skip, p)
        if found:
            return found
    return None


def _change(e, want, new, skip):
    found = _scalar(e["body"], want, skip)
    if not found:
        return False
    box, k = found
    box[k] = new(box[k])
    return True


def _status(e, skip):
    e["status"] = 418
    return True


def _ctype(e, skip):
    e["content_type"] = "application/x-other"
    return True


def _drop_key(e, skip):
    if not (isinstance(e["body"], dict) and e["body"]):
        return False
    e["body"].pop(sorted(e["body"])[0])
    return True


def _add_key(e, skip):
    if not isinstance(e["body"], dict):
        return False
    e["body"]["unexpected"] = 1
    return True


def _nested_key(e, skip):
    found = _scalar(e["body"], lambda x: isinstance(x, dict) and x)
    if not found:
        return False
    box, k = found
    box[k] = {"other": 1}
    return True


def _drop_element(e, skip):
    found = _scalar({"": e["body"]}, lambda x: isinstance(x, list) and x)
    if not found:
        return False
    box, k = found
    if k == "":
        e["body"] = e["body"][:-1]
    else:
        box[k] = box[k][:-1]
    return True


def _text(e, skip):
    if not (isinstance(e["body"], str) and len(e["body"]) > 3):
        return False
    e["body"] = e["body"].replace(e["body"][2], "#", 1)
    return True


def _missing(e, skip):
    e["step"] += " (renamed)"
    return True


MUTATIONS = {
    "status": _status,
    "content type": _ctype,
    "key removed": _drop_key,
    "key added": _add_key,
    "nested object replaced": _nested_key,
    "list element removed": _drop_element,
    "text changed": _text,
    "string value changed": lambda e, skip: _change(
        e, lambda x: isinstance(x, str) and x != "", lambda x: x + "!", skip
    ),
    "number changed": lambda e, skip: _change(
        e, lambda x: isinstance(x, (int, float)) and not isinstance(x, bool), lambda x: x + 1, skip
    ),
    "boolean flipped": lambda e, skip: _change(e, lambda x: isinstance(x, bool), lambda x: not x, skip),
    "number became text": lambda e, skip: _change(
        e, lambda x: isinstance(x, int) and not isinstance(x, bool), str, skip
    ),
    "step missing": _missing,
}


def selfcheck(golden_runs, ignore):
    """Mutate every step in every applicable way; returns {mutation: (detected, tried, [missed])}."""
    out = {}
    for name, mutate in MUTATIONS.items():
        tried = detected = 0
        missed = []
        for area, steps in golden_runs.items():
            for e in steps:
                if e.get("unreachable"):
                    continue
                m = copy.deepcopy(e)
                skip = ignore.paths(area, e["step"])
                if not mutate(m, skip):
                    continue
                tried += 1
                run = m if m["step"] == e["step"] else None
                if compare_step(e, run, skip)[2]:
                    missed.append(f"{area}: {e['step']}")
                else:
                    detected += 1
        out[name] = (detected, tried, missed)
    return out
