# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m metalshift_lab.programs`: build what is missing, and say where the programs are."""

from __future__ import annotations

import signal
import sys
from dataclasses import asdict
from types import FrameType

from ..output import say, unread
from .build import programs
from .errors import NoPrograms


def main() -> int:
    signal.signal(signal.SIGTERM, _end)
    try:
        for name, path in asdict(programs(say)).items():
            say(f"{name.replace('_', '-'):<24} {path}")
    except NoPrograms as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; what is compiled is kept, and the next build goes on from there.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return unread()
    return 0


def _end(number: int, frame: FrameType | None) -> None:
    """As Ctrl-C: what was started is ended first."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
