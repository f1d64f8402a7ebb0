# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""maas/: the configuration"""

from __future__ import annotations

from typing import Any

from metalshift_lab.simulator.errors import BadRequest, Invalid
from metalshift_lab.simulator.forms import Form
from metalshift_lab.simulator.http import Params, Request, text
from metalshift_lab.simulator.routing import get, post, resource
from metalshift_lab.simulator.settings import SETTINGS, Setting, value_of


@resource("maas/")
class Configuration:
    @get("get_config")
    def get_config(self, request: Request) -> Any:
        return value_of(request.state, _setting(_name(request.query)).name)

    @post("set_config", admin=True)
    def set_config(self, request: Request) -> Any:
        name = _name(request.data)
        value = request.data.get("value")
        if value is None:
            raise BadRequest("No provided value!")
        setting = _setting(name)
        form = Form(Params([(name, str(value))]), [setting.field(request.state)])
        form.finish()
        request.state.config[name] = form.cleaned[name]
        return text("OK")


def _name(values: Params) -> str:
    name = values.get("name")
    if name is None:
        raise BadRequest("No provided name!")
    if name == "":
        raise BadRequest("Invalid name: Please enter a value")
    return str(name)


def _setting(name: str) -> Setting:
    if name not in SETTINGS:
        raise Invalid({name: [f"{name} is not a valid config setting (valid settings are: {', '.join(SETTINGS)})."]})
    return SETTINGS[name]
