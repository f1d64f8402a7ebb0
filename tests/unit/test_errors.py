# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what came back to a sentence that helps and holds no secret."""

from __future__ import annotations

import json

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import KINDS, Failure, several
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.names import few, listed, nearest
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import segment
from ansible_collections.metalshift.maas.plugins.module_utils._core.task import Result, Task, carry_out
from ansible_collections.metalshift.maas.plugins.module_utils._kube import connection as kube
from ansible_collections.metalshift.maas.plugins.module_utils._maas import errors
from unit.scripted_maas import Call, html

SIGNATURE_BODY = (
    "Authorization Error: 'Invalid signature. Expected signature base string: POST&http%3A%2F%2F&token-k%26secret-k'"
)


@pytest.mark.parametrize(
    ("call", "kind", "reason"),
    [
        (Call("GET x/", 400, json={"name": ["Enter a valid value."]}), "rejected", "name: Enter a valid value."),
        (Call("GET x/", 400, json={"__all__": ["No.", "Never."]}), "rejected", "No. Never."),
        (Call("GET x/", 400, json={"a": "text"}), "rejected", "a: text"),
        (Call("GET x/", 400, text="No provided name!"), "rejected", "No provided name!"),
        (Call("GET x/", 400, text="{}"), "rejected", "it does not say why (status 400)"),
        (Call("GET x/", 400, text='{"broken": '), "rejected", '{"broken":'),
        (Call("GET x/", 403, text="This method is reserved for admin users."), "forbidden", "This method is reserved"),
        (Call("GET x/", 403, text=""), "forbidden", "it does not say why (status 403)"),
        (Call("GET x/", 404, text="No Zone matches the given query."), "not_found", "No Zone matches"),
        (Call("GET x/", 404, text="IP address is already in use."), "not_found", "IP address is already in use."),
        (
            Call("GET x/", 404, text="", headers={"X-MAAS-API-Hash": "bd3008"}),
            "not_found",
            "it does not say why (status 404)",
        ),
        (Call("GET x/", 404, text="Unknown API endpoint: /MAAS/api/2.0/x/."), "unsupported", "Unknown API endpoint"),
        (html("GET x/", 405, ""), "unsupported", "it has no such request"),
        (Call("GET x/", 409, text="No machine available."), "conflict", "No machine available."),
        (Call("GET x/", 410, text="API 1.0 is gone"), "unsupported", "API 1.0 is gone"),
        (Call("GET x/", 413, text="too large"), "rejected", "too large"),
        (Call("GET x/", 500, text="line one\n\tline two"), "unavailable", "line one line two"),
        (Call("GET x/", 599, text=""), "unavailable", "it does not say why (status 599)"),
    ],
    ids=lambda value: value.text or str(value.status) if isinstance(value, Call) else None,
)
def test_an_answer_becomes_a_typed_failure(play, client, call, kind, reason):
    with pytest.raises(Failure) as caught:
        client(play(call)).get("x/")
    failure = caught.value
    assert (failure.kind, failure.status, failure.object) == (kind, call.status, "x/")
    assert failure.reason.startswith(reason)
    verb = "failed" if kind == "unavailable" else "refused"
    assert failure.message.startswith(f"MAAS {verb} to answer to x/: {reason}")
    assert json.dumps(failure.to_dict())


@pytest.mark.parametrize(
    ("method", "path", "op", "words"),
    [
        ("GET", "zones/", "", "show its zones"),
        ("POST", "zones/", "", "create a zone"),
        ("POST", "ipaddresses/", "reserve", "reserve an IP address"),
        ("PUT", "resourcepool/7/", "", "change the resource pool 7"),
        ("DELETE", "nodes/abc/interfaces/5/", "", "delete the interface 5"),
        ("POST", "machines/abc/", "set_workload_annotations", "annotate the machine abc"),
        ("POST", "machines/abc/", "deploy", "deploy the machine abc"),
        ("GET", "elsewhere/", "", "answer to elsewhere/"),
    ],
)
def test_what_a_request_was_to_do_is_said_in_words(method, path, op, words):
    assert errors.intent(method, path, op) == words


def test_a_failure_is_told_of_its_object(play, client):
    server = play(Call("POST machines/abc/", 409, text="No."), Call("POST machines/abc/", breaks=True))
    for kind, message in (
        ("conflict", "n1 cannot be deployed: MAAS refuses (No)."),
        (
            "uncertain",
            "The answer of MAAS was lost, and n1 may have been deployed, or not (the connection broke).",
        ),
    ):
        with pytest.raises(Failure) as caught:
            client(server).post("machines/abc/", op="deploy")
        told = errors.about(caught.value, "n1", "deployed")
        assert (told.kind, told.message, told.object) == (kind, message, "n1")


def test_a_connection_that_breaks_is_told_of_the_machine(play, client):
    server = play(*[Call("POST machines/abc/", breaks=True)] * 5)
    with pytest.raises(Failure) as caught:
        client(server).post("machines/abc/", op="deploy", repeatable=True)
    told = errors.about(caught.value, "n1", "deployed")
    assert told.message == f"n1 cannot be deployed: MAAS at {server.url} does not answer: the connection broke."


def test_a_path_that_maas_does_not_have_leads_to_the_endpoint(play, client):
    server = play(Call("GET x/", 404, text="Unknown API endpoint: /MAAS/nope/api/2.0/x/."))
    with pytest.raises(Failure) as failed:
        client(server).get("x/")
    assert failed.value.hint.startswith("Check the path of maas_endpoint")


def test_field_errors_are_kept_by_field(play, client):
    server = play(Call("POST x/", 400, json={"name": ["a", "b"], "zone": "c"}))
    with pytest.raises(Failure) as caught:
        client(server).post("x/")
    assert caught.value.to_dict()["fields"] == {"name": ["a", "b"], "zone": ["c"]}


def test_a_long_answer_is_cut(play, client):
    with pytest.raises(Failure) as caught:
        client(play(Call("GET x/", 500, text="x" * 100_000))).get("x/")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("call", "how"),
    [
        (html("GET x/", 200), "does not answer in JSON"),
        (Call("GET x/", text="{broken", content_type="application/json"), "does not answer in JSON"),
        (Call("GET x/", text="[1, 2", content_type="text/plain"), "does not answer in JSON"),
        (html("GET x/", 404), "answers 404 with a web page"),
        (html("GET x/", 403), "answers 403 with a web page"),
        (Call("GET x/", 404, json={"detail": "Not Found"}), "in words that are not MAAS's"),
        (Call("GET x/", 404, text="404 page not found\n"), "in words that are not MAAS's"),
        (Call("GET x/", 301, text="", headers={"Location": "https://m/MAAS/api/2.0/x/?t=s3cret"}), "https://m/MAAS"),
        (Call("GET x/", 302, text="", headers={"Location": "/login"}), "redirects to /login"),
    ],
    ids=["page", "broken JSON", "broken list", "404", "403", "other API", "Go", "moved", "login"],
)
def test_what_is_not_maas_is_said_to_be_something_else(play, client, call, how):
    strange = call.status == 404 and "html" not in call.type
    # Nor does who answers so know a user of MAAS.
    server = play(call, *([Call("GET users/", 404, text="404 page not found")] if strange else []))
    with pytest.raises(Failure, match="does not look like MAAS") as caught:
        client(server).get("x/")
    assert caught.value.kind == "unreachable"
    assert how in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert "maas_endpoint" in caught.value.hint


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (Call("POST x/", 404, text="10.0.0.5 is within the reserved range from 10.0.0.1 to 10.0.0.9"), "conflict"),
        (Call("POST x/", 404, text="This interface has a reserved ip but no link to that subnet"), "conflict"),
        (Call("GET x/", 404, text="Nothing of that kind"), "not_found"),
        (Call("DELETE x/", 404, text="Nothing of that kind"), "not_found"),
    ],
    ids=["reserved range", "no link", "read", "removal"],
)
def test_a_404_in_any_words_is_of_maas_if_maas_knows_the_user(play, client, call, kind):
    server = play(call, Call("GET users/", json={"username": "admin"}, query=[("op", "whoami")]))
    method = call.request.partition(" ")[0]
    maas = client(server)
    if method == "DELETE":
        assert maas.delete("x/") is False
        return
    with pytest.raises(Failure) as caught:
        getattr(maas, method.lower())("x/")
    assert (caught.value.kind, caught.value.reason, caught.value.status) == (kind, call.text, 404)


@pytest.mark.parametrize("answer", [[], "3.6.5", {"releases": []}, None])
def test_a_version_that_is_none_is_not_maas(play, client, answer):
    with pytest.raises(Failure, match="does not look like MAAS"):
        assert client(play(Call("GET version/", json=answer))).capabilities


def everything_in(failure: Failure) -> str:
    cause, seen = failure, ""
    while cause is not None:
        seen += f"{cause} {cause!r} {getattr(cause, 'args', '')} {vars(cause)}"
        cause = cause.__cause__ or cause.__context__
    return seen + json.dumps(failure.to_dict())


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "text/plain", "application/json"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_the_body_of_a_401_is_nowhere(play, client, method, content_type):
    server = play(Call(f"{method} x/", 401, text=SIGNATURE_BODY, content_type=content_type))
    maas = client(server)
    with pytest.raises(Failure) as caught:
        getattr(maas, method.lower())("x/")
    shown = everything_in(caught.value) + repr(maas.exchanges) + "".join(map(str, maas.exchanges))
    assert caught.value.kind == "credentials"
    assert "signature" not in shown
    assert "secret-k" not in shown
    assert "token-k" not in shown


def test_a_401_is_not_in_the_trace_of_a_task_either(play):
    server = play(Call("GET x/", 401, text=SIGNATURE_BODY))
    lines: list[str] = []
    params = {"maas_endpoint": server.url, "maas_api_key": "a:token-k:secret-k", "maas_validate_certs": True}
    task = Task({**params, "maas_timeout": 5.0}, trace=lines.append, environment={})

    def converge(task: Task) -> Result:
        return Result(changed=False, values={"x": task.maas.get("x/")})

    said = carry_out(converge, task, "zone")
    assert said["failed"]
    assert said["failure"]["kind"] == "credentials"
    assert any("401" in line for line in lines)
    assert "signature" not in json.dumps(said) + "".join(lines)


def test_a_clock_that_is_behind_is_said(play, client):
    server = play(Call("GET x/", 401, text="Authorization Error: 'Expired timestamp: given 1 and now 400'"))
    with pytest.raises(Failure, match="clock is more than five minutes behind"):
        client(server).get("x/")


def test_a_missing_library_is_said_with_where_and_how(monkeypatch):
    monkeypatch.setattr(kube, "MISSING", ImportError("No module named 'kubernetes.client'", name="kubernetes.client"))
    with pytest.raises(Failure, match=r"library kubernetes is missing on .* for .*python.*pip install") as caught:
        kube.Access.from_params({}, {})
    assert caught.value.kind == "missing_library"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("az1", "az1"),
        ("a b", "a%20b"),
        ("zöne", "z%C3%B6ne"),
        ("a%2Fb", "a%252Fb"),
        ("a?b#c", "a%3Fb%23c"),
        ("a.b", "a.b"),
    ],
)
def test_a_name_is_one_part_of_a_path(name, path):
    assert segment(name, "name of a zone") == path


@pytest.mark.parametrize(
    "name", ["", " ", ".", "..", "...", "a/b", "../tags", "a\\b", "a\nb", "a\x00", " a", "a ", "\ud800"]
)
def test_a_name_that_would_reach_something_else_is_refused(name):
    with pytest.raises(Failure, match="cannot be the name of a zone") as caught:
        segment(name, "name of a zone")
    assert caught.value.kind == "invalid"
    str(caught.value).encode()


# -- failures --------------------------------------------------------------------------------------


def test_the_list_of_kinds_is_closed():
    with pytest.raises(ValueError, match="closed list"):
        assert Failure("strange", "message")
    assert all(meaning.endswith(".") for meaning in KINDS.values())


def test_a_hint_is_said_once():
    assert str(Failure("invalid", "No.", hint="Say yes.")) == "No. Say yes."
    assert str(Failure("invalid", "No. Say yes.", hint="Say yes.")) == "No. Say yes."


def told(total=None, **texts):
    failures = {name.replace("_", "-"): Failure("conflict", text) for name, text in texts.items()}
    return str(several("machines", failures, total or len(failures)))


def test_many_failures_of_one_reason_say_it_once():
    failures = {f"node-{n}": Failure("conflict", f"node-{n} is busy. Wait for node-{n}.") for n in range(100)}
    whole = several("machines", failures, total=120)
    assert whole.kind == "conflict"
    assert str(whole) == "100 of 120 machines failed (node-0, node-1 and 98 more): each is busy. Wait for it."
    assert len(json.dumps(whole.to_dict())) < 400


def test_many_failures_of_many_reasons_are_cut():
    failures = {f"node-{n}": Failure("conflict", f"node-{n} is in fault {n}.") for n in range(100)}
    whole = str(several("machines", failures, total=120))
    assert whole.startswith("100 of 120 machines failed: node-0 is in fault 0. node-1 is in fault 1.")
    assert whole.endswith("… and 95 more reasons.")


def test_each_reason_names_who_has_it():
    said = told(a="a is locked.", b="b is busy.", c="c is locked.", d="MAAS is away.", e="MAAS is away.")
    assert said == (
        "5 of 5 machines failed: 2 machines (a and c): each is locked. b is busy. 2 machines (d and e): MAAS is away."
    )


def test_how_long_it_lasted_is_no_other_reason():
    said = told(a="a has been Deploying for 1m02s.", b="b has been Deploying for 59s.", c="c waits for 1h02m.", total=4)
    assert said == (
        "3 of 4 machines failed: 2 machines (a and b): each has been Deploying for 1m02s. c waits for 1h02m."
    )


def test_a_name_within_another_is_left_alone():
    assert told(n1="n1 is not n1-a.", n2="n2 is not n1-a.").endswith("(n1 and n2): each is not n1-a.")


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, ""), (1, "n0"), (2, "n0 and n1"), (3, "n0, n1 and n2"), (4, "n0, n1 and 2 more"), (9, "n0, n1 and 7 more")],
)
def test_some_of_many_are_named(number, said):
    assert few([f"n{place}" for place in range(number)]) == said


def test_what_there_is_ends_after_ten():
    assert listed([f"z{place:02}" for place in range(200)]).endswith("z08, z09 and 190 more")
    assert (listed(["b", "a"]), listed([])) == ("a, b", "none")


@pytest.mark.parametrize(
    ("asked", "meant"), [("nobel", "ubuntu/noble"), ("ubuntu/nobel", "ubuntu/noble"), ("whatever", "")]
)
def test_the_nearest_name_is_found(asked, meant):
    assert nearest(asked, ["ubuntu/jammy", "ubuntu/noble"]) == meant


def test_failures_of_several_kinds_are_several():
    failures = {"a": Failure("conflict", "A."), "b": Failure("capacity", "B.")}
    assert several("machines", failures, total=2).kind == "several"


def test_one_failure_of_one_is_itself():
    failure = Failure("conflict", "A.")
    assert several("machines", {"a": failure}, total=1) is failure
