# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a request is answered while a log is kept and faults are about."""

from __future__ import annotations

import time
from collections.abc import Callable

from metalshift_lab.simulator.faults import Fault, Faults, wait
from metalshift_lab.simulator.http import Request, Response
from metalshift_lab.simulator.log import Entry, RequestLog


def answered(
    request: Request,
    log: RequestLog,
    faults: Faults,
    carry_out: Callable[[Fault | None], Response],
    *,
    op: str | None,
    params: Callable[[Request], dict[str, list[str]]],
    user: Callable[[], str | None],
) -> Response | None:
    """The answer; None when the connection is to be dropped. `carry_out` is told the fault that is its own affair."""
    number, concurrent = log.arrive()
    begin = time.monotonic()
    response: Response | None = None
    fault, delay = faults.strike(request, op)
    try:
        wait(delay)
        if fault is None or fault.inside:
            response = carry_out(fault)
        else:
            if fault.when == "after":
                carry_out(None)
            response = None if fault.does == "drop" else fault.response()
        return response
    finally:
        log.answered(
            Entry(
                number=number,
                time=time.time(),
                method=request.method,
                path=request.path,
                op=op or None,
                params=params(request),
                status=response.status if response else 0,
                bytes=len(response.content) if response else 0,
                user=user(),
                user_agent=request.headers.get("User-Agent", ""),
                concurrent=concurrent,
                seconds=round(time.monotonic() - begin, 4),
                fault=f"{fault.does} {fault.when}" if fault else None,
            )
        )
