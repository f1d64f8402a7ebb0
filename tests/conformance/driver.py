# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Differential conformance suite for MAAS API implementations. See README.md."""

import argparse
import importlib.util
import json
import pathlib
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import compare as cmp  # noqa: E402


def areas_in(directory):
    return {f.stem: f for f in sorted(pathlib.Path(directory).glob("[0-9]*.py"))}


def load_area(path):
    spec = importlib.util.spec_from_file_location(f"area_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reset(control):
    import requests

    r = requests.post(f"{control.rstrip('/')}/reset", timeout=300)
    r.raise_for_status()


def shift_ids(t):
    """Consume some ids of every kind (diagnostic: goldens must not depend on them)."""
    import requests

    for n in range(3):
        t.call("POST", "zones/", {"name": f"shift{n}"}, record=False)
        t.call("DELETE", f"zones/shift{n}/", record=False)
        for path, form, item in (
            ("resourcepools/", {"name": f"shift{n}"}, "resourcepool"),
            ("fabrics/", {"name": f"shift{n}"}, "fabrics"),
            ("spaces/", {"name": f"shift{n}"}, "spaces"),
            ("domains/", {"name": f"shift{n}.example"}, "domains"),
            ("subnets/", {"cidr": f"172.30.{n}.0/24"}, "subnets"),
        ):
            a = t.call("POST", path, form, record=False)
            t.call("DELETE", f"{item}/{a.pick('id')}/", record=False)
    a = t.call(
        "POST",
        "machines/",
        {
            "hostname": "shift",
            "power_type": "manual",
            "architecture": "amd64/generic",
            "mac_addresses": ["52:54:00:fe:00:01", "52:54:00:fe:00:02"],
        },
        record=False,
    )
    sid = a.pick("system_id")
    requests.post(f"{t.control_url}/advance", params={"system_id": sid, "disk": "10,20,30"}, timeout=300)
    t.call("DELETE", f"machines/{sid}/", record=False)


def run(args):
    from session import Session, dump  # only here: comparing needs no HTTP library

    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    apikey = pathlib.Path(args.api_key_file).read_text(encoding="utf-8").strip()
    available = areas_in(args.areas)
    wanted = args.area or list(available)
    unknown = [a for a in wanted if not any(k.startswith(a) for k in available)]
    if unknown:
        sys.exit(f"unknown areas {unknown}; there are {list(available)}")
    failed = 0
    for name, path in available.items():
        if not any(name.startswith(a) for a in wanted):
            continue
        begin = time.monotonic()
        reset(args.control)
        t = Session(
            name, int(name[:2]), args.url, args.control, apikey, args.lxd_address, args.lxd_password, args.verbose
        )
        if args.shift:
            shift_ids(t)
        error = ""
        try:
            load_area(path).run(t)
        except Exception:  # a script must not depend on answers: report, keep what was recorded
            failed += 1
            error = traceback.format_exc()
        dump(t.result(), out / f"{name}.json")
        lost = sum(1 for s in t.steps if s.get("unreachable"))
        print(f"{name}: {len(t.steps)} steps, {lost} unreachable, {time.monotonic() - begin:.0f} s", flush=True)
        if error:
            print(error, file=sys.stderr, flush=True)
    return 1 if failed else 0


def load_ignore(golden, files):
    """The rules beside the goldens (ignore.json) plus any given."""
    rules = {}
    beside = pathlib.Path(golden).resolve().parent / "ignore.json"
    for f in ([beside] if beside.exists() else []) + [pathlib.Path(x) for x in files]:
        for area, steps in json.loads(f.read_text(encoding="utf-8")).items():
            for step, paths in steps.items():
                rules.setdefault(area, {}).setdefault(step, []).extend(paths)
    return cmp.Ignore(rules)


def compare(args):
    golden = cmp.load(args.golden)
    if args.area:
        golden = {a: e for a, e in golden.items() if any(a.startswith(x) for x in args.area)}
    areas, hot = cmp.compare(golden, cmp.load(args.run_dir), load_ignore(args.golden, args.ignore))
    print(cmp.report(areas, hot, args.show))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(areas, indent=1, ensure_ascii=False), encoding="utf-8")
    steps, full = sum(a["steps"] for a in areas), sum(a["full"] for a in areas)
    return 0 if steps and 100 * full / steps >= args.fail_under else 1


def selfcheck(args):
    ok = True
    for name, (detected, tried, missed) in cmp.selfcheck(
        cmp.load(args.golden), load_ignore(args.golden, args.ignore)
    ).items():
        print(f"{name:26} {detected}/{tried} detected")
        ok = ok and detected >= 0.95 * tried > 0  # the rest are ignored paths
        for m in missed[: args.show]:
            print(f"    not detected: {m}")
    return 0 if ok else 1


def main():
    p = argparse.ArgumentParser(description=__doc__)
    sub = p.add_subparsers(required=True)
    r = sub.add_parser("run", help="run areas against a server and record the exchanges")
    r.add_argument("--url", required=True, help="e.g. http://127.0.0.1:5240/MAAS")
    r.add_argument("--control", required=True, help="control API of the server under test")
    r.add_argument("--api-key-file", required=True, help="file with consumer:token:secret of an admin")
    r.add_argument("--out", required=True)
    r.add_argument("--areas", default=HERE / "areas", help="folder of area scripts")
    r.add_argument("--lxd-address", default="127.0.0.1:8449")
    r.add_argument("--lxd-password", default="sekret")
    r.add_argument(
        "--shift", action="store_true", help="first use up some ids (checks that goldens do not depend on them)"
    )
    r.add_argument("-v", "--verbose", action="store_true")
    r.add_argument("area", nargs="*", help="areas (or prefixes) to run; default all")
    r.set_defaults(func=run)
    c = sub.add_parser("compare", help="compare a recorded run with goldens")
    c.add_argument("golden")
    c.add_argument("run_dir")
    c.add_argument("--show", type=int, default=0, metavar="N", help="list up to N disagreements per area")
    c.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="FILE",
        help="more volatile paths (besides ignore.json beside the goldens)",
    )
    c.add_argument("--area", action="append", default=[], help="only these areas")
    c.add_argument("--json", metavar="FILE", help="also write the result as JSON")
    c.add_argument("--fail-under", type=float, default=100.0, metavar="PCT", help="exit 1 below this full agreement")
    c.set_defaults(func=compare)
    s = sub.add_parser("selfcheck", help="mutate goldens and check that the comparison notices")
    s.add_argument("golden")
    s.add_argument("--ignore", action="append", default=[])
    s.add_argument("--show", type=int, default=3)
    s.set_defaults(func=selfcheck)
    args = p.parse_args()
    sys.exit(args.func(args))


if __name__ == "__main__":
    main()
