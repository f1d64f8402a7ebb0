#!/bin/sh
# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs nox, in an environment of its own that it makes once:  sh tests/tools/nox.sh -s lint
# It is all that runs before there is a Python, so it needs nothing but a POSIX shell. A nox of yours does the same.
set -eu

tools=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
lock=$tools/../locks/nox.txt
home=${HOME:-/root}

# Version managers put a stand-in ("shim") on PATH that fails unless its version is activated: what they installed goes first.
for folder in "${PYENV_ROOT:-$home/.pyenv}"/versions/3.1[0-3].*/bin "$home"/.local/share/uv/python/cpython-3.1[0-3].*/bin \
    "$home"/.asdf/installs/python/3.1[0-3].*/bin; do
    [ -d "$folder" ] && PATH=$folder:$PATH
done
export PATH

# Prints the newest Python from 3.10 on that can make virtual environments.
usable() {
    for name in python3.13 python3.12 python3.11 python3.10 python3; do
        path=$(command -v "$name") || continue
        "$path" -I -c 'import ensurepip, ssl, sys, venv, zlib; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' \
            2>/dev/null && echo "$path" && return
    done
    return 1
}

if ! python=$(usable); then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "No Python with its venv module was found: installing the system packages python3 and python3-venv." >&2
        { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends python3-venv; } >&2
        hash -r
    fi
    python=$(usable) || {
        echo "No Python from 3.10 to 3.13 with its venv module was found. On Debian and Ubuntu:  sudo apt install python3-venv" >&2
        exit 1
    }
fi

cache=${XDG_CACHE_HOME:-$home/.cache}/metalshift-maas
nox=$cache/nox-$({ cat "$lock"; echo "$python"; } | cksum | tr ' ' -)
if [ ! -e "$nox" ]; then
    echo "Installing nox, once, in $nox" >&2
    "$python" -m venv "$nox.$$"
    if ! "$nox.$$/bin/python" -m pip install -q --disable-pip-version-check --no-input --require-hashes -r "$lock" >&2; then
        rm -rf "$nox.$$"
        echo "pip could not install nox; it says why above. Is a package index reached (pip config list), and is there room?" >&2
        exit 1
    fi
    # Two runs at once both make it; the first to be ready is kept.
    mv -T "$nox.$$" "$nox" 2>/dev/null || rm -rf "$nox.$$"
fi
exec "$nox/bin/python" -B -m nox -f "$tools/../../noxfile.py" "$@"
