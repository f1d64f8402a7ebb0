# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom images in MAAS: uploaded by their content, continued where an upload ended, removed when nobody uses them.

This module util is private to the collection: it may change at any time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.metalshift.maas.plugins.module_utils._core.contract import Outcome
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import listed
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.plan import Plan, Step
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Task
from ansible_collections.metalshift.maas.plugins.module_utils._maas.images.content import Content, Upload
from ansible_collections.metalshift.maas.plugins.module_utils._maas.images.pure.spec import (
    SHOWN,
    ImageSpec,
    ImageState,
)
from ansible_collections.metalshift.maas.plugins.module_utils._maas.machines.pure.statuses import Status

RESOURCES = "boot-resources/"
# What MAAS says of content that is not what was declared
OTHER_CONTENT = "does not match given SHA256"
# A machine in one of these has the image, or is about to get it.
IN_USE = (Status.DEPLOYED, Status.DEPLOYING, Status.FAILED_DEPLOYMENT)


class ImageEngine:
    """The custom image that a task names; without an id while MAAS does not have it."""

    def __init__(self, task: Task) -> None:
        self.task, self.maas = task, task.maas
        self.spec = ImageSpec.from_params(task.params)
        self.content = Content.of(task.params["path"]) if self.spec.present else None

    def read(self) -> ImageState:
        image = self._find()
        if not self.spec.present and image.id is not None:
            self._refuse_while_used()
        return image

    def plan(self, current: ImageState) -> Plan:
        label = self.spec.label
        before = {name: getattr(current, name) for name in SHOWN}
        if self.content is None:
            return Plan([Step("delete", label, before=before)] if current.id is not None else ())
        after = {name: value for name, value in self._form(self.content).items() if value}
        if current.id is None:
            return Plan([Step("create", label, after=after)])
        if current.sha256 != self.content.sha256:
            return Plan([Step("update", label, "its content differs", before, after)])
        if not current.complete:
            return Plan([Step("update", label, "its upload was not finished", {"complete": False}, {"complete": True})])
        return Plan()

    def predict(self, current: ImageState, plan: Plan) -> ImageState:
        if self.content is None:
            return ImageState()
        return replace(
            current,
            name=self.spec.name,
            architecture=self.spec.architecture,
            title=self.spec.title,
            base_image=current.base_image or self.spec.base_image or None,
            size=self.content.size,
            sha256=self.content.sha256,
            complete=True,
            predicted=True,
        )

    def apply(self, current: ImageState, plan: Plan) -> ImageState:
        if not plan:
            return current
        if self.content is None:
            self._delete(current)
            return ImageState()
        if current.sha256 != self.content.sha256:
            current = self._declare(self.content)
        return self._upload(self.content, current)

    def result(self, current: ImageState) -> Outcome:
        return Outcome({"image": current.as_result() if current.name else {}}, self._warnings(current))

    # -- reading ----------------------------------------------------------------------------------------------------

    def _find(self) -> ImageState:
        """The image, with its newest content."""
        wanted = (self.spec.name, self.spec.architecture)
        for resource in self.maas.get(RESOURCES, {"type": "uploaded"}):
            if (resource["name"], resource["architecture"]) == wanted:
                return ImageState.from_resource(self.maas.get(f"{RESOURCES}{resource['id']}/"))
        return ImageState()

    def _refuse_while_used(self) -> None:
        status = [status.filter for status in IN_USE]
        users = sorted(
            machine["hostname"]
            for machine in self.maas.get("machines/", {"status": status})
            if (machine["osystem"], machine["distro_series"]) == ("custom", self.spec.name)
        )
        if users:
            raise Failure(
                "conflict",
                f"The {self.spec.label} cannot be removed: {listed(users)} {'has' if len(users) == 1 else 'have'} it.",
                object=self.spec.label,
                reason="machines use it",
                hint="Release them first, or leave the image.",
            )

    def _warnings(self, current: ImageState) -> list[str]:
        """What only an upload sets."""
        asked = {"title": self.spec.title, "base_image": self.spec.base_image}
        return [
            f"The {name} of {self.spec.label} is {getattr(current, name)!r}; MAAS changes it with an upload only."
            for name, value in asked.items()
            if value and self.content is not None and not current.predicted and getattr(current, name) != value
        ]

    # -- writing ----------------------------------------------------------------------------------------------------

    def _form(self, content: Content) -> dict[str, Any]:
        spec = self.spec
        return {
            "name": spec.name,
            "architecture": spec.architecture,
            "filetype": spec.filetype,
            "title": spec.title,
            "base_image": spec.base_image,
            "size": content.size,
            "sha256": content.sha256,
        }

    def _declare(self, content: Content) -> ImageState:
        """Tell MAAS what will come. What an image had before goes by that; machines keep what was installed."""
        form = {name: value for name, value in self._form(content).items() if value}

        def settled() -> ImageState | None:
            image = self._find()
            return image if image.sha256 == content.sha256 else None

        answer = self.maas.post(RESOURCES, form, settled=settled)
        return answer if isinstance(answer, ImageState) else ImageState.from_resource(answer)

    def _upload(self, content: Content, image: ImageState) -> ImageState:
        upload = Upload(self.maas, content, self._find, self.task.say, self.task.clock)
        try:
            return upload.send(image)
        except Failure as failure:
            if OTHER_CONTENT not in failure.message:
                raise
            # MAAS begins anew after that. What an earlier run had sent may have been something else.
            if image.received:
                return self._upload(content, self._find())
            raise Failure(
                "conflict",
                f"MAAS did not take the {self.spec.label}: {content.path} was changed while it was uploaded.",
                object=self.spec.label,
                reason="the content does not have the hash that was declared",
                hint="Run the task again when nobody writes the file.",
            ) from failure

    def _delete(self, current: ImageState) -> None:
        path = f"{RESOURCES}{current.id}/"
        try:
            self.maas.delete(path)
        except Failure:
            # MAAS answers 500 for an image that is gone already.
            if self._find().id is not None:
                raise
