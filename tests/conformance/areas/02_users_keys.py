# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users, API tokens and SSH keys."""

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea test@example.com"


def run(t):
    alice = {"username": "alice", "email": "alice@example.com", "password": "pw", "is_superuser": "0"}
    bob = {"username": "bob", "email": "bob@example.com", "password": "pw"}
    t.get("users/")
    t.post("users/", alice)
    t.post("users/", alice, note="duplicate user")
    t.post("users/", bob, note="is_superuser missing")
    t.post("users/", {**bob, "is_superuser": "true"}, note="is_superuser=true (not 0/1)")
    t.post("users/", {"username": "bob"}, note="missing fields")
    t.get("users/alice/")
    t.get("users/nobody/")
    t.get("users/", note="after adding")
    t.get("account/", op="list_authorisation_tokens")
    token = t.post("account/", {"name": "test token"}, op="create_authorisation_token").ref("token", "token_key")
    t.post("account/", {"token_key": token, "name": "renamed"}, op="update_token_name")
    t.post("account/", {"token_key": token}, op="delete_authorisation_token")
    t.post("account/", {"token_key": "nope"}, op="delete_authorisation_token", note="unknown token")
    t.post("account/", op="delete_authorisation_token", note="token missing")
    key = t.post("account/prefs/sshkeys/", {"key": KEY}).ref("sshkey")
    t.post("account/prefs/sshkeys/", {"key": KEY}, note="duplicate key")
    t.post("account/prefs/sshkeys/", {"key": "not a key"}, note="invalid key")
    t.post("account/prefs/sshkeys/", note="missing key")
    t.get("account/prefs/sshkeys/")
    t.get(f"account/prefs/sshkeys/{key}/")
    t.get("account/prefs/sshkeys/99999/")
    t.delete(f"account/prefs/sshkeys/{key}/")
    t.delete(f"account/prefs/sshkeys/{key}/", note="second DELETE")
    t.delete("users/admin/", note="deleting oneself")
    t.post("users/", {"username": "tmp", "email": "tmp@example.com", "password": "pw", "is_superuser": "1"})
    t.delete("users/tmp/")
    t.delete("users/tmp/", note="second DELETE")
    t.post("account/prefs/sshkeys/", {"protocol": "bogus", "auth_id": "nosuch"}, op="import", note="unknown protocol")
    t.delete("users/alice/", query={"transfer_resources_to": "admin"})
