# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated MAAS alone, or a lab: hosted clusters beside it, with real Kubernetes, Cluster API and HyperShift."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from metalshift_lab import labs
from metalshift_lab import simulator_command as simulator
from metalshift_lab.kube.provider.versions import HOSTED
from metalshift_lab.kube.speed import Speed
from metalshift_lab.labs import LabError, Place
from metalshift_lab.lxd import command as lxd
from metalshift_lab.lxd import places
from metalshift_lab.lxd.obstacles import obstacles
from metalshift_lab.output import say, typed, unread

if TYPE_CHECKING:
    from metalshift_lab.kube.handle import Lab
    from metalshift_lab.lxd.server import RealLxd
    from metalshift_lab.programs import Programs

# What only some commands need is imported by these: a lab can be ended by a Python without cryptography and PyYAML.

DONE, FAILED, NOT_THERE, NO_PROGRAMS, INTERRUPTED = 0, 1, 3, 4, 130
ROOM_NEEDED = 500 << 20
KEY_FILE = "maas-api-key"
GUIDE = "https://github.com/metalshift/ansible-collection-maas/blob/main/docs/docsite/rst/lab_guide.rst"
EXIT_STATUS = """\
exit status: 0 done; 1 it did not work, and a sentence says why; 2 wrong arguments; 3 no such lab runs;
4 the real programs cannot be built here; 77 LXD cannot run here; 130 interrupted
"""
STAND_INS = (
    "Stand-ins: MAAS and its machines, the Cluster API provider for MAAS and the operator's MAAS platform, pods,\n"
    f"releases, ignition, version reports. What is real, and what therefore is not proven:\n{GUIDE}"
)


class Refused(Exception):
    """Ends the command with this sentence and exit status."""

    def __init__(self, sentence: str, status: int = FAILED) -> None:
        super().__init__(sentence)
        self.status = status


# -- commands -----------------------------------------------------------------------------------------------------


def start(given: argparse.Namespace) -> int:
    from metalshift_lab.kube.handle import Lab

    place = _place(given)
    with place.starting(lambda: say(f"Another command starts the lab {place.name}; waiting for it.")):
        if place.state() == "running":
            running = Lab.find(place.folder)
            say(f"The lab {place.name} runs already and is not changed{_otherwise(running, given)}.\n")
            _tell(place, running)
            return DONE
        if place.state() == "dead":
            say(_dead(place))
            ended = [*place.end(), *lxd.end(place.name)]
            say(f"What was left of it is removed{f'; ended: {_counted(ended)}' if ended else ''}.")
        _require_room(place.folder)
        if given.lxd == "yes":
            _require_lxd()
        _programs()
        say(f"Starting the lab {place.name} in {place.folder}")
        with ExitStack() as undo:
            lab = Lab.start(
                place.folder,
                speed=given.speed.factor,
                machines=given.machines,
                operator=given.operator == "yes",
                lxd=_start_lxd(place, undo) if given.lxd == "yes" else None,
                outlives=True,
                say=lambda line: say(f"  {line}"),
            )
            undo.pop_all()
        say("")
        _tell(place, lab)
    return DONE


def status(given: argparse.Namespace) -> int:
    place = _place(given)
    lab = _running(place)
    found = lab.status()
    machines = ", ".join(f"{count} {state}" for state, count in sorted(found["machines"].items()))
    say(f"The lab {place.name} has been running for {_duration(found['seconds'])}, at speed {found['speed']:g}.")
    say("\nprograms")
    width = max(map(len, found["processes"]), default=0)
    for name, process in sorted(found["processes"].items()):
        say(f"  {name:<{width}}  {process['pid']:>7}  {process['state']}")
    for title, lines in (("machines", [machines or "none"]), ("faults", found["faults"]), ("deaths", found["deaths"])):
        if lines:
            say("\n".join([f"\n{title}", *(f"  {line}" for line in lines)]))
    say(f"\nlogs\n  {place.folder}/supervisor.log\n  {place.folder}/logs\n")
    _tell(place, lab)
    return DONE


def stop(given: argparse.Namespace) -> int:
    names = {*(each.name for each in labs.known()), *places.known()} if given.all else {_place(given).name}
    for place in (Place(name) for name in sorted(names)):
        if place.state() == "absent" and place.name not in places.known():
            say(f"{_no_lab(place)} There is nothing to stop.")
            continue
        ended = [*place.end(), *lxd.end(place.name)]
        say(f"The lab {place.name} has ended: {_counted(ended)}. Nothing is left of it.")
    return DONE


def fault(given: argparse.Namespace) -> int:
    name, parameters = _fault(given.fault)
    if not name:
        return faults(given)
    say(_running(_place(given)).fault(name, **parameters))
    return DONE


def heal(given: argparse.Namespace) -> int:
    name, parameters = _fault(given.fault)
    say(_running(_place(given)).heal(name, **parameters))
    return DONE


def faults(given: argparse.Namespace) -> int:
    from metalshift_lab.kube.faults import FAULTS

    if given.json:
        table = {name: {"meaning": each.meaning, "parameters": dict(each.parameters)} for name, each in FAULTS.items()}
        say(json.dumps(table, indent=1))
        return DONE
    say("Faults, with their parameters (those without a value must be given):\n")
    for name, each in sorted(FAULTS.items()):
        parameters = " ".join(key if value is None else f"[{key}={value}]" for key, value in each.parameters.items())
        say(f"  {name} {parameters}".rstrip())
        say(f"      {each.meaning}")
    say(f"\nTo begin a fault: {typed('fault', 'pause', 'name=etcd')}\nTo end all faults: {typed('heal')}")
    return DONE


def build(_given: argparse.Namespace) -> int:
    found = asdict(_programs())
    for name, path in found.items():
        say(f"{name.replace('_', '-'):<24} {path}")
    say(f"{len(found)} programs")
    return DONE


def example(given: argparse.Namespace) -> int:
    """With the key of this lab's MAAS in it: for kubectl, not for eyes."""
    import yaml

    from metalshift_lab.kube import examples
    from metalshift_lab.kube.journey import PROVIDER

    facts, release = (lab := _running(_place(given))).facts, lab.release()
    cluster = examples.hosted_cluster(
        given.cluster,
        release,
        maas_endpoint=facts["maas_url"],
        maas_api_key=facts["maas_api_key"],
        provider_image=PROVIDER.format(version=given.provider),
    )
    pool = examples.node_pool(given.cluster, given.cluster, release, image=examples.image_for(given.provider))
    say(yaml.safe_dump_all([*cluster, pool], sort_keys=False))
    return DONE


def kubectl(given: argparse.Namespace) -> int:
    lab = _running(_place(given))
    command = labs.kubectl(lab.facts["kubectl"], lab.folder, lab.kubeconfig)
    os.execv(command[0], [*command, *given.arguments])


# -- what they say ------------------------------------------------------------------------------------------------


def _tell(place: Place, lab: Lab) -> None:
    """How it is reached. The key is in a file: what is printed may end in the log of a CI job."""
    key = lab.folder / KEY_FILE
    descriptor = os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{lab.facts['maas_api_key']}\n")
    say(f"  export KUBECONFIG={shlex.quote(str(lab.kubeconfig))}")
    say(f"  export MAAS_ENDPOINT={lab.facts['maas_url']}")
    say(f'  export MAAS_API_KEY="$(cat {shlex.quote(str(key))})"')
    for name, value in lab.facts["lxd"].items():
        say(f"  export {name}={shlex.quote(value)}")
    say("")
    say("Releases for hosted clusters:")
    for image in lab.facts["releases"].values():
        say(f"  {image}")
    say(f"If you have no kubectl, use {lab.facts['kubectl']}")
    if not lab.facts["operator"]:
        say(f"To install the operator: {lab.facts['hypershift']}, with the image {lab.facts['operator_image']}")
    say(f"{STAND_INS}\n")
    for meaning, command in (("Look into it", "status"), ("Break it", "fault"), ("End it", "stop")):
        say(f"{meaning + ':':<13} {typed(command, **_named(place))}")


def _otherwise(lab: Lab, given: argparse.Namespace) -> str:
    """Where the lab that runs is not what is asked for."""
    has = {"speed": f"{lab.facts['speed']:g}", "machines": str(lab.facts["machines"])}
    has |= {name: "yes" if lab.facts[name] else "no" for name in ("operator", "lxd")}
    asked = {"speed": f"{given.speed.factor:g}", "machines": str(given.machines)}
    asked |= {"operator": given.operator, "lxd": given.lxd}
    others = [f"{name} {has[name]}, not {asked[name]}" for name in has if has[name] != asked[name]]
    return f" ({'; '.join(others)})" if others else ""


def _named(place: Place) -> dict[str, str]:
    """The option of a command that is about this lab."""
    return {} if place.name == labs.STANDARD else {"name": place.name}


def _no_lab(place: Place) -> str:
    others = [each.name for each in labs.known() if each.name != place.name and each.state() == "running"]
    return f"No lab called {place.name} runs{f' (but {_listed(others)})' if others else ''}."


def _dead(place: Place) -> str:
    left = [each.part for each in place.processes()]
    runs = f"Still running: {_counted(left)}" if left else "None of its programs is running"
    return f"The supervisor of the lab {place.name} was killed. {runs}. Its files are in {place.folder}."


def _counted(names: Sequence[str]) -> str:
    """`3 programs (etcd, kube-apiserver, supervisor)`"""
    what = f"{len(names)} program{'' if len(names) == 1 else 's'}"
    return f"{what} ({', '.join(names)})" if names else "no program was running"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


# -- what they need -----------------------------------------------------------------------------------------------


def _place(given: argparse.Namespace) -> Place:
    return Place(given.name)


def _running(place: Place) -> Lab:
    from metalshift_lab.kube.handle import Lab

    state = place.state()
    if state == "absent":
        raise Refused(f"{_no_lab(place)} To start it: {typed('start', **_named(place))}", NOT_THERE)
    if state == "dead":
        raise Refused(f"{_dead(place)} To remove what is left: {typed('stop', **_named(place))}", NOT_THERE)
    if state == "starting":
        raise Refused(f"The lab {place.name} is being started. Try again when its start has ended.", NOT_THERE)
    return Lab.find(place.folder)


def _programs() -> Programs:
    from metalshift_lab.programs import NoPrograms, programs

    try:
        return programs(say)
    except NoPrograms as problem:
        raise Refused(str(problem), NO_PROGRAMS) from None


def _require_room(folder: Path) -> None:
    """etcd and the logs of twenty programs need it; a full disk shows in ways that nobody understands."""
    standing = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(standing).free
    if free < ROOM_NEEDED:
        raise Refused(
            f"{standing} has {free >> 20} MB free, and a lab needs {ROOM_NEEDED >> 20} MB. Make room, or set"
            " XDG_CACHE_HOME to a roomier folder."
        )


def _require_proc() -> None:
    if not Path("/proc/self/environ").exists():
        raise Refused(
            "The lab runs on Linux only: its processes are found again through /proc."
            f" The MAAS simulator runs everywhere: {typed('simulator')}"
        )


def _require_lxd() -> None:
    reasons = obstacles()
    if reasons:
        raise Refused(f"LXD cannot run here. {' '.join(reasons)} A lab without LXD can be started.", lxd.CANNOT_RUN)


def _start_lxd(place: Place, undo: ExitStack) -> RealLxd:
    from metalshift_lab.lxd.server import RealLxd

    undo.callback(lxd.end, place.name)
    started = RealLxd.start(places.named(place.name), lambda line: say(f"  {line}"))
    said = "" if "qemu" in started.drivers else "; without virtual machines, since there is no /dev/kvm"
    say(f"  LXD serves{said}")
    return started


def _fault(given: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Its name, empty without one, and its parameters; also when all came in one argument, as from the Makefile."""
    try:
        words = [word for argument in given for word in shlex.split(argument)]
    except ValueError as error:
        raise Refused(f"{' '.join(given)!r} cannot be read: {error}.", status=2) from None
    name, *parameters = words or [""]
    wrong = [each for each in parameters if "=" not in each]
    if wrong:
        raise Refused(f"{wrong[0]!r} is not a parameter of a fault. Write parameters like name=etcd.", status=2)
    return name, dict(each.split("=", 1) for each in parameters)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """Once: what was started is then ended in peace."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


# -- arguments ----------------------------------------------------------------------------------------------------

COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], int], str]] = {
    "simulator": (simulator.run, "run a simulated MAAS in the foreground, without Kubernetes"),
    "start": (start, "start a lab, and print how to reach it; a lab that runs already is not changed"),
    "status": (status, "show its programs, machines, faults and programs that died"),
    "stop": (stop, "end a lab, and remove everything that belongs to it"),
    "fault": (fault, "begin a fault, as in: fault pause name=etcd"),
    "heal": (heal, "end a fault, or all faults"),
    "faults": (faults, "list all faults that can be set"),
    "build": (build, "build the real programs, and print where they are"),
    "example": (example, "print manifests of a hosted cluster with two nodes, for kubectl apply --server-side -f -"),
    "kubectl": (kubectl, "run kubectl as the administrator, as in: kubectl -- get nodes"),
    "lxd": (lxd.run, "manage a real LXD without the rest of a lab"),
}
NAMELESS = ("simulator", "faults", "build", "lxd")


def _speed(text: str) -> Speed:
    try:
        return Speed(float(text))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a speed: 1 is real time, 60 turns minutes into seconds"
        ) from None


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="metalshift-lab", description=__doc__, epilog=EXIT_STATUS)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    made = {name: commands.add_parser(name, help=meaning) for name, (_run, meaning) in COMMANDS.items()}
    for name, command in made.items():
        if name not in NAMELESS:
            command.add_argument("--name", default=labs.STANDARD, help="which lab (default %(default)s)")
    made["start"].add_argument(
        "--speed",
        type=_speed,
        default="60",
        help="by how much waiting times of real systems are divided; 1 is real time (default %(default)s)",
    )
    made["start"].add_argument(
        "--machines", type=simulator.count, default=12, help="how many Ready machines MAAS has (default %(default)s)"
    )
    made["start"].add_argument(
        "--operator",
        choices=("yes", "no"),
        default="yes",
        help="whether the HyperShift operator is installed (default %(default)s)",
    )
    made["start"].add_argument(
        "--lxd",
        choices=("yes", "no"),
        default="no",
        help="whether a real LXD runs beside it, on which its MAAS makes VMs",
    )
    made["stop"].add_argument("--all", action="store_true", help="all labs of this user")
    for name in ("fault", "faults"):
        made[name].add_argument("--json", action="store_true", help="print the list of faults as JSON")
    made["fault"].add_argument("fault", nargs="*", help="its name and parameters; without them, all faults are listed")
    made["heal"].add_argument("fault", nargs="*", help="its name and parameters; without them, all faults end")
    made["example"].add_argument("cluster", nargs="?", default="demo", help="its name (default %(default)s)")
    made["example"].add_argument(
        "--provider",
        choices=HOSTED,
        default=HOSTED[0],
        help="which version of the provider for MAAS the stand-in behaves like (default %(default)s)",
    )
    made["kubectl"].add_argument("arguments", nargs="*", help="the arguments of kubectl, after --")
    simulator.describe(made["simulator"])
    lxd.describe(made["lxd"])
    return parser.parse_args(arguments)


# What an interrupted command leaves behind.
LEFT = {
    "build": "Stopped. What is compiled is kept, and the next build continues from there.",
    "start": "Interrupted. What was started has been removed.",
    "stop": "Interrupted. Run stop again to end what is left of the lab.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    given = parse(arguments)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        if given.command != "simulator":
            _require_proc()
        return COMMANDS[given.command][0](given)
    except KeyboardInterrupt:
        print(LEFT.get(given.command, "Interrupted."), file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return unread()
    except (Refused, LabError, OSError) as error:
        print(error, file=sys.stderr)
        return error.status if isinstance(error, Refused) else FAILED


if __name__ == "__main__":
    sys.exit(main())
