# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/1.0/storage-pools, and the volumes in them"""

from __future__ import annotations

import re
from typing import Any

from metalshift_lab.simulator.lxd import sizes
from metalshift_lab.simulator.lxd.api.asked import (
    BAD_REQUEST,
    BROKEN,
    CONFLICT,
    NOT_FOUND,
    Answer,
    Asked,
    Refused,
    address,
    changed,
)
from metalshift_lab.simulator.lxd.api.operations import Operation
from metalshift_lab.simulator.lxd.api.projects import require
from metalshift_lab.simulator.lxd.api.routing import resource
from metalshift_lab.simulator.lxd.api.users import of_pool, of_volume
from metalshift_lab.simulator.lxd.instance import ROOT_SIZE, Volume
from metalshift_lab.simulator.lxd.server import StoragePool

KEYS = {
    "dir": r"rsync\.\w+",
    "btrfs": r"size|btrfs\.mount_options",
    "lvm": r"size|lvm\.[\w.]+|rsync\.\w+",
    "zfs": r"size|zfs\.[\w.]+",
}
ALWAYS = r"source|volatile\.[\w.]+|volume\..+|user\..+"
# What the drivers say that this server does not have.
MISSING = {
    "lvm": 'Required tool "lvm" is missing',
    "zfs": 'Error loading "zfs" module: Failed to run: modprobe -b zfs: exit status 1',
    "btrfs": 'Required tool "btrfs" is missing',
}
LOOP_SIZE = 30 * 1024**3
CONTENT_TYPES = ("filesystem", "block", "iso")


@resource("storage-pools")
class Pools:
    def get(self, asked: Asked) -> Answer:
        found = {pool.name: _document(asked, pool) for pool in asked.server.pools}
        return asked.listed({address("storage-pools", name): told for name, told in found.items()})

    def post(self, asked: Asked) -> Answer | Operation:
        asked.require_unrestricted()
        name, driver = asked.name_wished(), asked.wish.get("driver")
        if not driver:
            raise Refused(BAD_REQUEST, "No driver provided")
        if any(pool.name == name for pool in asked.server.pools):
            raise Refused(CONFLICT, "The storage pool already exists: The record already exists")
        if not asked.server.knows.makes_pools_in_the_background:
            self._make(asked, name, driver)
            return Answer.created(address("storage-pools", name))
        return asked.operations.run("Creating storage pool", lambda: self._make(asked, name, driver))

    def _make(self, asked: Asked, name: str, driver: str) -> None:
        config = changed({}, asked.wish.get("config"), replace=True)
        if driver not in asked.server.pool_drivers:
            raise Refused(BROKEN, MISSING.get(driver, "Unknown driver"))
        _check(driver, config, BROKEN)
        if driver == "dir" and not config.get("source", "").startswith(("", "/var", "/srv")):
            raise Refused(BROKEN, f"Source path '{config['source']}' doesn't exist")
        if driver != "dir" and not config.get("source"):
            config.setdefault("size", str(LOOP_SIZE))
        room = sizes.parse(config["size"]) if "size" in config else StoragePool.total
        description = asked.wish.get("description") or ""
        asked.server.pools.append(StoragePool(name, driver, room, 0, config, description))


@resource("storage-pools/{name}")
class OnePool:
    def get(self, asked: Asked, name: str) -> Answer:
        return Answer(_document(asked, _pool(asked, name)))

    def put(self, asked: Asked, name: str) -> Answer | Operation:
        return self._changed(asked, name, replace=True)

    def patch(self, asked: Asked, name: str) -> Answer | Operation:
        """A trap of 5.0: the description that is not given is taken away."""
        return self._changed(asked, name, replace=False)

    def delete(self, asked: Asked, name: str) -> Answer | Operation:
        asked.require_unrestricted()
        pool = _pool(asked, name)
        if of_pool(asked.server, name):
            raise Refused(BAD_REQUEST, "The storage pool is currently in use")
        if asked.server.knows.makes_pools_in_the_background:
            return asked.operations.run("Deleting storage pool", lambda: asked.server.pools.remove(pool))
        asked.server.pools.remove(pool)
        return Answer()

    def _changed(self, asked: Asked, name: str, *, replace: bool) -> Answer | Operation:
        asked.require_unrestricted()
        pool = _pool(asked, name)
        if asked.server.knows.makes_pools_in_the_background:
            return asked.operations.run("Updating storage pool", lambda: self._change(asked, pool, replace))
        self._change(asked, pool, replace)
        return Answer()

    def _change(self, asked: Asked, pool: StoragePool, replace: bool) -> None:
        config = changed(pool.config, asked.wish.get("config"), replace=replace)
        if config.get("source") != pool.config.get("source"):
            raise Refused(BROKEN, "Pool source cannot be changed when not in pending state")
        _check(pool.driver, config, BAD_REQUEST)
        pool.config = config
        pool.description = asked.wish.get("description") or ""
        if "size" in config:
            pool.total = sizes.parse(config["size"])


@resource("storage-pools/{name}/resources")
class PoolResources:
    def get(self, asked: Asked, name: str) -> Answer:
        pool = next((each for each in asked.server.pools if each.name == name), None)
        if pool is None:
            raise Refused(BROKEN, "Storage pool not found")
        space = {"used": pool.total - asked.server.free(pool), "total": pool.total}
        return Answer({"space": space, "inodes": {"used": 0, "total": 0}})


@resource("storage-pools/{name}/volumes")
class Volumes:
    def get(self, asked: Asked, name: str) -> Answer:
        """Root disks too."""
        _pool(asked, name)
        require(asked, asked.project)
        here = [volume for volume in asked.server.volumes(asked.project).values() if volume.pool == name]
        found = {_address(asked, name, "custom", each.name): _volume_document(asked, each) for each in here}
        for instance in asked.server.projects[asked.project].values():
            disks = asked.server.disks(asked.project, instance)
            if any(disk.device == "root" and disk.pool.name == name for disk in disks):
                told = _volume_document(asked, Volume(name, instance.name))
                users = [address("instances", instance.name, project=asked.project)]
                where = _address(asked, name, instance.kind, instance.name)
                found[where] = {**told, "type": instance.kind, "used_by": users}
        return asked.listed(found)

    def post(self, asked: Asked, name: str) -> Answer:
        _pool(asked, name)
        _require_project(asked)
        volumes, wished = asked.server.volumes(asked.project), asked.name_wished()
        content_type = asked.wish.get("content_type") or "filesystem"
        if content_type not in CONTENT_TYPES:
            raise Refused(BAD_REQUEST, "Invalid volume content type name")
        if (name, wished) in volumes:
            raise Refused(CONFLICT, "Volume by that name already exists")
        config = changed({}, asked.wish.get("config"), replace=True)
        size = _size(config, ROOT_SIZE if content_type == "block" else 0)
        description = asked.wish.get("description") or ""
        volumes[(name, wished)] = Volume(name, wished, size, content_type, config, description)
        return Answer()


@resource("storage-pools/{name}/volumes/custom")
class CustomVolumes(Volumes):
    """The same, but for root disks."""

    def get(self, asked: Asked, name: str) -> Answer:
        found = super().get(asked, name).value
        part = f"/1.0/storage-pools/{name}/volumes/custom/"
        return Answer([each for each in found if (each["type"] == "custom" if asked.recursive else part in each)])


@resource("storage-pools/{name}/volumes/custom/{volume}")
class OneVolume:
    def get(self, asked: Asked, name: str, volume: str) -> Answer:
        return asked.tagged(_volume_document(asked, _volume(asked, name, volume)))

    def put(self, asked: Asked, name: str, volume: str) -> Answer:
        return self._change(asked, name, volume, replace=True)

    def patch(self, asked: Asked, name: str, volume: str) -> Answer:
        return self._change(asked, name, volume, replace=False)

    def delete(self, asked: Asked, name: str, volume: str) -> Answer:
        found = _volume(asked, name, volume)
        if of_volume(asked.server, asked.project, name, volume):
            raise Refused(BAD_REQUEST, "The storage volume is still in use")
        del asked.server.volumes(asked.project)[(name, found.name)]
        return Answer()

    def _change(self, asked: Asked, name: str, volume: str, *, replace: bool) -> Answer:
        found = _volume(asked, name, volume)
        found.config = changed(found.config, asked.wish.get("config"), replace=replace)
        found.size = _size(found.config, found.size)
        found.description = asked.wish.get("description") or ""
        return Answer()


def _pool(asked: Asked, name: str) -> StoragePool:
    found = next((pool for pool in asked.server.pools if pool.name == name), None)
    if found is None:
        raise Refused(NOT_FOUND, "Storage pool not found")
    return found


def _volume(asked: Asked, pool: str, name: str) -> Volume:
    _pool(asked, pool)
    _require_project(asked)
    found = asked.server.volumes(asked.project).get((pool, name))
    if found is None:
        raise Refused(NOT_FOUND, "Storage pool volume not found")
    return found


def _require_project(asked: Asked) -> None:
    require(asked, asked.project, f'Failed to load project "{asked.project}": Project not found')


def _check(driver: str, config: dict[str, str], status: int) -> None:
    for key in config:
        if not re.fullmatch(rf"{KEYS.get(driver, '.*')}|{ALWAYS}", key):
            raise Refused(status, f'Invalid option "{key}"')
    try:
        sizes.parse(config.get("size", "0"))
    except ValueError as error:
        raise Refused(status, f'Invalid value for option "size": {error}') from None


def _size(config: dict[str, str], otherwise: int) -> int:
    try:
        return sizes.parse(config["size"]) if "size" in config else otherwise
    except ValueError as error:
        raise Refused(BAD_REQUEST, f'Invalid value for option "size": {error}') from None


def _address(asked: Asked, pool: str, kind: str, name: str) -> str:
    return address("storage-pools", pool, "volumes", kind, name, project=asked.project)


def _document(asked: Asked, pool: StoragePool) -> dict[str, Any]:
    return {
        "config": None if asked.client.restricted else dict(pool.config),
        "description": pool.description,
        "name": pool.name,
        "driver": pool.driver,
        # A trap: nobody is null here.
        "used_by": of_pool(asked.server, pool.name) or None,
        "status": "Created",
        "locations": ["none"],
    }


def _volume_document(asked: Asked, volume: Volume) -> dict[str, Any]:
    return {
        "config": dict(volume.config),
        "description": volume.description,
        "name": volume.name,
        "type": "custom",
        "used_by": of_volume(asked.server, asked.project, volume.pool, volume.name),
        "location": "none",
        "content_type": volume.content_type,
        "project": asked.project,
        "created_at": "0001-01-01T00:00:00Z",
    }
