# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The refusals of MAAS: raise one anywhere below a handler."""

from __future__ import annotations

from collections.abc import Mapping


class Refusal(Exception):
    """An answer other than success. What the request changed before is undone by nobody: check first, then change."""

    status = 500

    def __init__(self, text: str = "", *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.headers = dict(headers or {})


class BadRequest(Refusal):
    status = 400


class Forbidden(Refusal):
    status = 403


class NotFound(Refusal):
    """`NotFound.of("Zone")` is Django's sentence for a missing object."""

    status = 404

    @classmethod
    def of(cls, noun: str) -> NotFound:
        return cls(f"No {noun} matches the given query.")


class Conflict(Refusal):
    status = 409


class Gone(Refusal):
    status = 410


class ServerError(Refusal):
    status = 500


class Unavailable(Refusal):
    status = 503


class Unauthorized(Refusal):
    """`html` for what OAuth itself refuses, text for missing credentials."""

    status = 401

    def __init__(self, text: str = "Forbidden", *, html: bool = False) -> None:
        super().__init__(text)
        self.html = html


class Invalid(Refusal):
    """Form errors: {"field": ["message", ...]}."""

    status = 400

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        super().__init__("; ".join(f"{k}: {' '.join(v)}" for k, v in errors.items()))
        self.errors = dict(errors)


ADMIN_ONLY = "This method is reserved for admin users."
SERIALISATION_CONFLICT = """\
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" \
"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en">
  <head>
    <title>Error: Conflict Error</title>
  </head>
  <body>
    <h2 class="p-heading--four">
      Conflict error. Try your request again, as it will most likely succeed.
    </h2>
  </body>
</html>
"""
