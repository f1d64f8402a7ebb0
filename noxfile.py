# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is run on the collection. `nox -l` lists it; `make` calls it with a nox of its own.

`test` is what every change passes, `verify` is all the rest. Sessions share environments, which
are made once for each lock file in tests/locks, by uv where it is installed, by venv and pip elsewhere.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests" / "tools"))

import accounts  # noqa: E402
import lint as linters  # noqa: E402
import sanity  # noqa: E402
import trees  # noqa: E402
from trees import CACHE, LOCKS, NAME  # noqa: E402

nox.needs_version = ">=2026.10"
# ansible-core, and the Pythons that its controller side runs on
CORES = {"2.16": (10, 12), "2.17": (10, 12), "2.18": (11, 13), "2.19": (11, 13), "2.20": (12, 14), "2.21": (12, 14)}
ROOM_NEEDED = 900
# With these the lab says why it cannot be here; the tests that need it are skipped, and counted at the end.
CANNOT_BE_BUILT, CANNOT_RUN = 4, 77
MINORS = (14, 13, 12, 11, 10)


@cache
def pythons() -> list[int]:
    """The minor versions that run here, newest first. A version manager's stand-in may be there and not run."""
    names = {minor: shutil.which(f"python3.{minor}") for minor in MINORS}
    return [
        minor
        for minor, path in names.items()
        if path and not subprocess.call([path, "-c", ""], stderr=subprocess.DEVNULL)
    ]


def newest_core(minor: int) -> str:
    """As tests/locks/main.in has it."""
    return "2.21" if minor >= 12 else "2.19" if minor == 11 else "2.17"


NEWEST = max(pythons(), default=sys.version_info.minor)
MAIN = newest_core(NEWEST)
OTHERS = [core for core in CORES if core != MAIN]
OLDEST = next(iter(CORES))
CHOOSE = {"newest": max, "oldest": min}
PYTHON = os.environ.get("METALSHIFT_PYTHON", "")
if PYTHON not in ("", *CHOOSE):
    sys.exit(f"METALSHIFT_PYTHON is {PYTHON!r}, and can be newest or oldest.")

nox.options.sessions = ["test"]
nox.options.reuse_venv = "yes"
nox.options.default_venv_backend = "uv|venv"
nox.options.download_python = "never"
nox.options.allow_parallel = True
# One folder for each set of pins and Pythons: a change of either makes the environments anew, a change back finds them.
_KEY = hashlib.sha256(b"".join(lock.read_bytes() for lock in sorted(LOCKS.glob("*.txt"))))
_KEY.update(f"{pythons()}{PYTHON}".encode())
nox.options.envdir = str(CACHE / "environments" / _KEY.hexdigest()[:12])

Session = Callable[[nox.Session], None]
SPHINX = {
    "project": "metalshift.maas",
    "copyright": "The metalshift.maas authors",
    "extensions": "sphinx_antsibull_ext",
    "html_theme": "sphinx_ansible_theme",
    "highlight_language": "YAML+Jinja",
    "default_role": "any",
    "html_show_sphinx": "0",
    "html_copy_source": "0",
}


def python_for(core: str) -> int | None:
    """The newest for the main core, for another the oldest that runs it, unless METALSHIFT_PYTHON says which."""
    lowest, highest = CORES[core]
    fitting = [minor for minor in pythons() if lowest <= minor <= highest]
    return CHOOSE[PYTHON or ("newest" if core == MAIN else "oldest")](fitting, default=None)


def environment_of(core: str) -> trees.Environment:
    return trees.Environment(Path(str(nox.options.envdir)) / f"environment-{core.replace('.', '-')}")


def _install(session: nox.Session, lock: str) -> None:
    free = shutil.disk_usage(CACHE).free >> 20
    if free < ROOM_NEEDED:
        session.error(f"{CACHE} has {free} MB free and needs {ROOM_NEEDED}. Make room, or set XDG_CACHE_HOME.")
    with trees.only_one(Path(session.virtualenv.location).with_suffix(".lock")):
        complete = Path(session.virtualenv.location) / ".complete"
        if not complete.exists():
            session.install("--require-hashes", "-r", str(LOCKS / f"{lock}.txt"))
        complete.touch()


def _register_environment(core: str) -> None:
    lock = "main" if core == MAIN else f"core-{core}"

    def environment(session: nox.Session) -> None:
        _install(session, lock)

    environment.__doc__ = f"the programs of tests/locks/{lock}.txt"
    nox.session(name=f"environment-{core}", python=f"3.{python_for(core)}", default=False)(environment)


for _core in CORES:
    if python_for(_core):
        _register_environment(_core)


def part(*tags: str, core: str = MAIN, name: str = "", needs: tuple[str, ...] = ()) -> Callable[[Session], Session]:
    """A session of `test` or `verify` in the environment of an ansible-core; without a Python for it, it says so."""
    here = python_for(core) is not None

    def register(work: Session) -> Session:
        def run(session: nox.Session) -> None:
            if not here:
                lowest, highest = CORES[core]
                session.skip(f"ansible-core {core} needs Python 3.{lowest} to 3.{highest}; found 3.{NEWEST}")
            work(session)

        run.__doc__ = work.__doc__
        requires = [f"environment-{core}", *needs] if here else []
        session = nox.session(
            name=name or work.__name__, venv_backend="none", requires=requires, tags=list(tags), default=False
        )
        session(run)
        return work

    return register


def run(
    session: nox.Session,
    core: str,
    program: str,
    *arguments: str | Path,
    base: Path | None = None,
    fine: tuple[int, ...] = (0,),
    **more: str | Path,
) -> None:
    """A program of the environment, in the clone, with the collection and kubernetes.core where Ansible looks."""
    env = environment_of(core)
    base = base or trees.linked(env)
    path = f"{base}:{ROOT / 'tests'}:{trees.LAB}"
    session.run(
        *env.command(program, *arguments),
        env=env.variables(ANSIBLE_COLLECTIONS_PATH=base, PYTHONPATH=path, **more),
        include_outer_env=False,
        external=True,
        success_codes=fine,
        # What tests start, they end themselves.
        interrupt_timeout=None,
        terminate_timeout=None,
    )


# -- what is run ----------------------------------------------------------------------------------------------------


@part("test", "programs")
def programs(session: nox.Session) -> None:
    """build what the lab runs, once: Kubernetes, HyperShift, Cluster API; LXD's packages and an image"""
    run(session, MAIN, "python", "-m", "metalshift_lab", "build", fine=(0, CANNOT_BE_BUILT))
    run(session, MAIN, "python", "-m", "metalshift_lab", "lxd", "prepare", fine=(0, CANNOT_RUN))


def _register_sanity(core: str) -> None:
    @part("sanity", "test" if core == MAIN else "verify", core=core, name=f"sanity-{core}")
    def _(session: nox.Session) -> None:
        """what users get, read by ansible-test"""
        sanity.run(session, environment_of(core), core, *session.posargs)


for _core in CORES:
    _register_sanity(_core)


@dataclass(frozen=True)
class Suite:
    """What a session gives to pytest."""

    folders: str
    means: str
    marks: str = "not thorough"
    core: str = MAIN
    shuffled: bool = False
    # Other ansible-cores whose playbooks its tests start
    others: tuple[str, ...] = ()

    @property
    def is_in_lab(self) -> bool:
        return self.folders == "lab/tests" or self.folders.startswith(("tests/hosted", "tests/lxd"))


# ansible-core runs tasks in processes of their own from 2.19 on, and in others before: what dies with what differs.
FAMILIES = tuple(core for core in (OLDEST, "2.19") if core in OTHERS and python_for(core))
BOTH = "tests/unit tests/integration"
TEST = {
    "integration": Suite("tests/integration", "the modules, roles and playbooks against the simulated MAAS"),
    "unit": Suite("tests/unit", "the parts that decide, and the HTTP clients"),
    "crash": Suite("tests/chaos", "runs that are killed and run again, a sample"),
    "simulation": Suite("lab/tests/simulation lab/tests/package", "the simulated MAAS, and the lab as pip installs it"),
    "conformance": Suite("tests/conformance", "the simulated MAAS beside recorded answers of a real one"),
    f"smoke-{OLDEST}": Suite(BOTH, "a few tests of everything on the oldest ansible-core", "smoke", OLDEST),
    "journeys": Suite("tests/hosted tests/lxd", "one hosted cluster there and back, VMs on one real LXD", "journey"),
}
VERIFY = {
    "labs": Suite("lab/tests", "the lab itself, its LXD, and the programs that it is made of", ""),
    "lxd": Suite("tests/lxd", "modules and roles for LXD on a real one; needs root", ""),
    "hosted": Suite(
        "tests/hosted", "what is for hosted clusters, with molecule scenarios of the roles", "not exhaustive"
    ),
    "kills": Suite("tests/hosted/test_killed.py", "playbooks killed at every request that writes", "exhaustive"),
    "long": Suite(
        f"{BOTH} tests/chaos", "what is `thorough` in unit, integration and crash tests", "thorough", others=FAMILIES
    ),
    "shuffled": Suite(
        BOTH, "in random order; the seed is printed, `-- -n 2 --randomly-seed=N` repeats it", shuffled=True
    ),
}
ON_CORES = {f"tests-{core}": Suite(BOTH, "unit and integration tests, playbooks too", core=core) for core in OTHERS}


def _register_suite(name: str, suite: Suite, *tags: str) -> None:
    needs = (*(f"environment-{core}" for core in suite.others), *(("programs",) if suite.is_in_lab else ()))

    def tests(session: nox.Session) -> None:
        pytest(session, suite)

    tests.__doc__ = suite.means
    part(*tags, core=suite.core, name=name, needs=needs)(tests)


def pytest(session: nox.Session, suite: Suite) -> None:
    """Two at a time, unless somebody asks for something else: `-- -k claim -x`, or `-- tests/unit/test_wait.py`."""
    named = any((ROOT / each.partition("::")[0]).exists() for each in session.posargs)
    # What is in a file of theirs shares a lab and hosted clusters that take a while to make. Other tests go, one after
    # the other, to whoever is free. Not xdist_group: pytest-xdist 3.8 does not write it into the names of pytest 9.2.
    shared = ("-n", "2", "--dist", "loadfile" if suite.is_in_lab else "loadgroup", "--no-loadscope-reorder")
    reported = ("-q", f"--junitxml={accounts.report_of(session)}", "-o", "junit_duration_report=total")
    others = os.pathsep.join(str(environment_of(core).bin / "python") for core in suite.others)
    # pytest-randomly says its own seed only to those who do not ask for quiet.
    seed = f"--randomly-seed={random.randrange(1 << 32)}"
    order = ("-p", "randomly", seed) if suite.shuffled else ("-p", "no:randomly")
    chosen = (
        *order,
        *(() if named else suite.folders.split()),
        "-m",
        suite.marks,
        *(session.posargs or (*shared, *reported)),
    )
    run(session, suite.core, "python", "-m", "pytest", *chosen, METALSHIFT_CORES=others)


for _suites, _tags in ((TEST, ["test"]), (VERIFY, ["verify"]), (ON_CORES, ["cores", "verify"])):
    for _name, _suite in _suites.items():
        _register_suite(_name, _suite, *_tags)


@part("test")
def lint(session: nox.Session) -> None:
    """read the code, the documentation and the package without running them"""
    linters.run(session, environment_of(MAIN), session.posargs)


@part("test", needs=("programs",))
def demo(session: nox.Session) -> None:
    """machines, VMs and a hosted cluster come and go, by the collection as it is packaged"""
    base = trees.installed(environment_of(MAIN), session.name)
    run(session, MAIN, "python", ROOT / "tests/demo/run.py", base=base)


@part("verify", needs=("programs",))
def bench(session: nox.Session) -> None:
    """how fast it is; prints numbers"""
    env = environment_of(MAIN)
    base = trees.installed(env, session.name)
    general = trees.bundled(env, "community.general")
    run(session, MAIN, "python", ROOT / "tests/bench/run.py", base=base, METALSHIFT_COMMUNITY_GENERAL=general)


# -- the sums -------------------------------------------------------------------------------------------------------


def parts(*tags: str) -> list[str]:
    return [name for name, session in nox.registry.get().items() if {*tags} & {*session.tags}]


@nox.session(venv_backend="none")
def test(session: nox.Session) -> None:
    """what every change passes: 15 minutes, 45 the first time"""
    accounts.add_up(session, ["-t", "test"], 3, parts("verify"))


@nox.session(venv_backend="none", default=False)
def verify(session: nox.Session) -> None:
    """all the rest, for hours; `-- hosted lxd` runs these parts alone"""
    known = parts("test", "verify")
    if unknown := [name for name in session.posargs if name not in known]:
        session.error(f"No part is called {', '.join(unknown)}. There are {', '.join(known)}")
    chosen = ["-s", *session.posargs] if session.posargs else ["-t", "verify"]
    accounts.add_up(session, chosen, 1, parts("verify"))


# -- tools ----------------------------------------------------------------------------------------------------------


@part(needs=("programs",))
def molecule(session: nox.Session) -> None:
    """the roles' scenarios, each on a lab of its own: `-- -s hypershift_operator`"""
    env = environment_of(MAIN)
    session.chdir(trees.linked(env) / NAME)
    run(session, MAIN, "molecule", "test", *(session.posargs or ("--all",)))


@part()
def docs(session: nox.Session) -> None:
    """the documentation as HTML, in docs/build"""
    env = environment_of(MAIN)
    base = trees.staged("docs", env)
    sources = trees.STATE / "docs"
    shutil.rmtree(sources, ignore_errors=True)
    # antsibull-docs refuses a folder that others may write to
    sources.mkdir(mode=0o755)
    page = ("--use-current", "--squash-hierarchy", "--fail-on-error", "--dest-dir", sources, "metalshift.maas")
    run(session, MAIN, "antsibull-docs", "collection", *page, base=base)
    settings = [argument for name, value in SPHINX.items() for argument in ("-D", f"{name}={value}")]
    run(session, MAIN, "sphinx-build", "-b", "html", "-C", "-q", *settings, sources, ROOT / "docs" / "build")
    session.log("docs/build/index.html")


@part()
def build(session: nox.Session) -> None:
    """the tarball that ansible-galaxy installs"""
    session.log(f"built {shutil.copy2(trees.tarball(environment_of(MAIN)), ROOT)}")


@part()
def generate(session: nox.Session) -> None:
    """write what is made from the code: action groups, action plugins, guides that are tables of the code"""
    run(session, MAIN, "python", ROOT / "tests/tools/generated.py", *session.posargs)


def _lab(session: nox.Session, *arguments: str) -> None:
    run(session, MAIN, "python", "-m", "metalshift_lab", *arguments, fine=tuple(range(256)), METALSHIFT_LAB_BY_MAKE="1")


@part()
def lab(session: nox.Session) -> None:
    """a lab to try playbooks on: `-- start --name lab`; `make lab` is shorter"""
    _lab(session, *session.posargs)


@part()
def simulator(session: nox.Session) -> None:
    """a simulated MAAS in the foreground"""
    _lab(session, "simulator", *session.posargs)


@nox.session(venv_backend="none", default=False)
def clean(session: nox.Session) -> None:
    """remove what was made from this clone"""
    names = ("docs/build", "tests/output", "tests/.pytest_cache", ".cache", ".hypothesis", ".mypy_cache", ".ruff_cache")
    for path in (trees.STATE, *(ROOT / name for name in names), *ROOT.glob("*.tar.gz")):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@nox.session(venv_backend="none", default=False, requires=["clean"])
def purge(session: nox.Session) -> None:
    """end all labs, and remove environments, programs and downloads too"""
    session.run(sys.executable, "-B", "-m", "metalshift_lab", "stop", "--all", env={"PYTHONPATH": str(trees.LAB)})
    shutil.rmtree(CACHE, ignore_errors=True)
    session.log("Left: what your Go fetched and compiled for the lab's programs. go clean -cache -modcache frees that.")


@nox.session(venv_backend="none", default=False)
def locks(session: nox.Session) -> None:
    """pin the newest versions of all programs; needs uv"""
    oldest = {f"core-{core}": CORES[core][0] for core in CORES}
    for source in sorted(LOCKS.glob("*.in")):
        options = ["--universal", "--generate-hashes", "--no-emit-find-links", "--upgrade"]
        options += [f"--python-version=3.{oldest.get(source.stem, 10)}"]
        options += ["--no-deps"] if source.stem == "collections" else []
        command = ["uv", "pip", "compile", "--quiet", "--custom-compile-command", "nox -s locks", *options]
        session.run(*command, str(source), "-o", str(source.with_suffix(".txt")), external=True)
