#!/bin/sh
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Finds the Pythons from 3.10 to 3.13 of this machine and runs this folder with the newest:
#     sh tests/tools/python.sh COMMAND [ARGUMENT...]
# It is all that runs before there is a Python, so it needs nothing but a POSIX shell.
set -u

tools=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || exit 1
pyenv=${PYENV_ROOT:-${HOME:-/root}/.pyenv}
uv=${UV_PYTHON_INSTALL_DIR:-${XDG_DATA_HOME:-${HOME:-/root}/.local/share}/uv/python}

# Where a Python 3.$1 may be, one path a line. Version managers put a stand-in ("shim") on PATH that fails unless its
# version is activated, so what they installed is looked up before the stand-ins are tried.
places() {
    printf '%s' "${PATH:-/usr/local/bin:/usr/bin:/bin}:" | tr ':' '\n' | while IFS= read -r folder; do
        case $folder in
            '' | */shims) ;;
            *) printf '%s\n' "$folder/python3.$1" ;;
        esac
    done
    for path in "$pyenv"/versions/3."$1".*/bin/python3."$1" "$uv"/cpython-3."$1".*/bin/python3."$1" \
        "${HOME:-/root}"/.asdf/installs/python/3."$1".*/bin/python3."$1"; do
        printf '%s\n' "$path"
    done
    command -v "python3.$1"
    command -v python3
}

# Prints "3.X venv PATH" or "3.X bare PATH" for a Python that runs and is a 3.$2; PATH leads out of a virtual environment.
probe() {
    "$1" -I -c '
import os, sys
minor = sys.version_info[1]
if sys.version_info[0] != 3 or minor != int(sys.argv[1]) or sys.implementation.name != "cpython":
    sys.exit(1)
import ssl, zlib
try:
    import ensurepip, venv
    kind = "venv"
except ImportError:
    kind = "bare"
real = os.path.join(sys.base_exec_prefix, "bin", "python3.%d" % minor)
print("3.%d" % minor, kind, real if os.access(real, os.X_OK) else sys.executable)
' "$2" 2>/dev/null </dev/null
}

# One line for each minor version, newest first; one that can make virtual environments is preferred to one that cannot.
find_pythons() {
    for minor in 13 12 11 10; do
        bare=
        places "$minor" | {
            while IFS= read -r path; do
                [ -x "$path" ] || continue
                found=$(probe "$path" "$minor") || continue
                case $found in
                    *' venv '*) printf '%s\n' "$found"; exit ;;
                    *) bare=${bare:-$found} ;;
                esac
            done
            [ -z "$bare" ] || printf '%s\n' "$bare"
        }
    done
}

pythons=$(find_pythons)
usable=$(printf '%s\n' "$pythons" | grep ' venv ')

if [ -z "$usable" ] && [ -n "$pythons" ]; then
    version=$(printf '%s\n' "$pythons" | sed -n '1s/ .*//p')
    package=python$version-venv
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Python $version is here without its venv module: installing the system package $package." >&2
        { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$package"; } >&2 </dev/null ||
            { echo "$package could not be installed; see above." >&2; exit 1; }
        pythons=$(find_pythons)
        usable=$(printf '%s\n' "$pythons" | grep ' venv ')
    fi
    if [ -z "$usable" ]; then
        echo "Python $version is here, but not its venv module. On Debian and Ubuntu, type:  sudo apt install $package" >&2
        exit 1
    fi
fi
if [ -z "$usable" ]; then
    echo "No Python from 3.10 to 3.13 was found: neither on PATH nor among those that pyenv, uv or asdf installed." >&2
    echo "On Debian and Ubuntu, type:  sudo apt install python3 python3-venv" >&2
    exit 1
fi

METALSHIFT_PYTHONS=$(printf '%s\n' "$usable" | sed 's/ venv / /')
export METALSHIFT_PYTHONS
newest=$(printf '%s\n' "$METALSHIFT_PYTHONS" | sed -n '1s/^[^ ]* //p')
exec "$newest" -B "$tools" "$@"
