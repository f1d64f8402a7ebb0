# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where MAAS is, who we are there, and how its certificate is judged."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import Proxy
from ansible_collections.metalshift.maas.plugins.module_utils._maas.connection import ApiKey, MaasConnection, endpoint
from unit.scripted_maas import Call, html

PARAMS = {
    "maas_endpoint": "http://maas.example.com:5240/MAAS",
    "maas_api_key": "consumer:token:secret",
    "maas_ca_cert": None,
    "maas_validate_certs": True,
    "maas_timeout": 60.0,
}


def connection(environment=(), **params):
    return MaasConnection.from_params({**PARAMS, **params}, dict(environment))


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("http://maas:5240/MAAS", "http://maas:5240/MAAS"),
        ("http://maas:5240/MAAS/", "http://maas:5240/MAAS"),
        ("http://maas:5240", "http://maas:5240/MAAS"),
        ("http://maas:5240/", "http://maas:5240/MAAS"),
        ("http://maas:5240/MAAS/api/2.0", "http://maas:5240/MAAS"),
        ("http://maas:5240/MAAS/api/2.0/", "http://maas:5240/MAAS"),
        ("http://maas:5240/MAAS/api", "http://maas:5240/MAAS"),
        ("http://maas:5240/api/2.0/", "http://maas:5240/MAAS"),
        ("http://maas:5240//MAAS//api//2.0//", "http://maas:5240/MAAS"),
        ("http://maas:5240/MAAS/r/machines", "http://maas:5240/MAAS"),
        ("http://maas:5240/MAAS/r/", "http://maas:5240/MAAS"),
        ("https://maas.example.com/behind/a/proxy/MAAS", "https://maas.example.com/behind/a/proxy/MAAS"),
        ("HTTPS://Maas.Example.com", "https://Maas.Example.com/MAAS"),
        ("http://[2001:db8::1]:5240/MAAS", "http://[2001:db8::1]:5240/MAAS"),
        ("  http://10.0.0.1:5240/MAAS \n", "http://10.0.0.1:5240/MAAS"),
    ],
)
def test_the_endpoint_is_understood_however_much_of_it_is_given(given, base):
    assert endpoint(given) == base


@pytest.mark.parametrize(
    "given",
    [
        "maas.example.com",
        "maas.example.com:5240/MAAS",
        "ftp://maas/MAAS",
        "http://",
        "http:///MAAS",
        "http://maas:port/MAAS",
        "http://maas:0/MAAS",
        "http://maas:99999/MAAS",
        "http://[::1/MAAS",
        "http://ma as/MAAS",
        "http://maas/MA\r\nHost: evil/AS",
        "http://maas\\MAAS",
        "http://maas/MAAS?op=x",
        "http://maas/MAAS#/machines",
        "http://user:hunter2@maas/MAAS",
        "http://user:hunt/er2@maas:port/MAAS",
        "",
    ],
)
def test_a_wrong_endpoint_is_said_in_a_sentence_without_its_password(given):
    with pytest.raises(Failure) as caught:
        endpoint(given)
    assert caught.value.kind == "invalid"
    assert "maas_endpoint" in str(caught.value)
    assert "hunt" not in str(caught.value)


@pytest.mark.parametrize("text", ["a:b:c", " a:b:c\n"])
def test_a_key_is_three_parts_in_one_piece(text):
    assert ApiKey.parse(text) == ApiKey("a", "b", "c")


@pytest.mark.parametrize("text", ["sesame", "ses:ame", "ses::ame", ":a:b", "a:b:c:d", "ses ame:b:c", "a:b\n:c"])
def test_a_wrong_key_is_not_repeated_in_the_message(text):
    with pytest.raises(Failure) as caught:
        ApiKey.parse(text)
    assert caught.value.kind == "invalid"
    assert text not in str(caught.value)
    assert "ses" not in str(caught.value)


def test_a_connection_does_not_show_its_key():
    shown = repr(connection({"http_proxy": "http://user:pass@proxy"}, maas_api_key="consumer:t0ken:s3cret"))
    assert "t0ken" not in shown
    assert "s3cret" not in shown
    assert "pass" not in shown


@pytest.mark.parametrize("missing", ["maas_endpoint", "maas_api_key"])
def test_what_is_missing_is_named_with_its_environment_variable(missing):
    with pytest.raises(Failure, match=f"{missing} is missing.*{missing.upper()}"):
        connection(**{missing: None})


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e12])
def test_a_time_out_that_is_none_is_refused(seconds):
    with pytest.raises(Failure, match="maas_timeout must be more than 0"):
        connection(maas_timeout=seconds)


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"http_proxy": "http://p:3128"}, "http://p:3128"),
        ({"HTTP_PROXY": "http://p:3128"}, "http://p:3128"),
        ({"HTTP_PROXY": "http://big:1", "http_proxy": "http://small:1"}, "http://small:1"),
        ({"http_proxy": "http://small:1", "HTTP_PROXY": "http://big:1"}, "http://small:1"),
        ({"https_proxy": "http://p:3128"}, None),
        ({"all_proxy": "http://p:3128"}, "http://p:3128"),
        ({"http_proxy": ""}, None),
        ({"http_proxy": "http://p", "no_proxy": "*"}, None),
        ({"http_proxy": "http://p", "no_proxy": "example.com"}, None),
        ({"http_proxy": "http://p", "no_proxy": ".example.com"}, None),
        ({"http_proxy": "http://p", "no_proxy": "*.example.com"}, None),
        ({"http_proxy": "http://p", "NO_PROXY": "other.org, MAAS.example.com"}, None),
        ({"http_proxy": "http://p", "no_proxy": "maas.example.com:5240"}, None),
        ({"http_proxy": "http://p", "no_proxy": "maas.example.com:80"}, "http://p"),
        ({"http_proxy": "http://p", "no_proxy": "ample.com,maas,example.com.org"}, "http://p"),
    ],
)
def test_the_proxy_is_the_one_of_the_environment(environment, proxy):
    found = connection(environment).proxy
    assert (found.url if found else None) == proxy


@pytest.mark.parametrize(
    ("url", "no_proxy"),
    [
        ("http://10.1.2.3:5240", "10.0.0.0/8"),
        ("http://10.1.2.3:5240", "localhost,10.1.2.3"),
        ("http://10.1.2.3:5240", "10.1.2.3:5240"),
        ("http://[2001:db8::1]:5240", "2001:db8::1"),
        ("http://[2001:db8::1]:5240", "2001:db8::/32"),
        ("http://[2001:db8::1]:5240", "[2001:db8::1]:5240"),
        ("http://127.0.0.1", "127.0.0.1:80"),
    ],
)
def test_no_proxy_knows_addresses_and_networks(url, no_proxy):
    assert connection({"http_proxy": "http://p", "no_proxy": no_proxy}, maas_endpoint=url).proxy is None


def test_requests_go_through_the_proxy(play, client):
    proxy = play(Call("GET version/", json={"version": "3.6.5"}))
    maas = client("http://maas.invalid/MAAS", proxy=Proxy(proxy.url.removesuffix("/MAAS"), "http_proxy"))
    assert maas.capabilities.text == "3.6.5"
    assert proxy.seen[0].target == "http://maas.invalid/MAAS/api/2.0/version/"


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "://", "nonsense://x", "http://[::1", "http://a b:c"])
def test_a_broken_proxy_setting_is_one_sentence_and_nothing_was_written(client, proxy):
    maas = client("http://maas.invalid/MAAS", proxy=Proxy(proxy, "http_proxy"))
    with pytest.raises(Failure) as caught:
        maas.post("zones/", {"name": "az1"})
    assert caught.value.kind == "unreachable"
    assert "of the environment variable http_proxy" in caught.value.message
    assert "http_proxy" in caught.value.hint
    assert not maas.wrote


def test_a_proxy_is_named_without_its_password():
    found = connection({"HTTP_PROXY": "http://jo:s3cret@proxy:3128/"}).proxy
    assert str(found) == "the proxy proxy:3128 of the environment variable HTTP_PROXY"
    assert "s3cret" not in repr(found)


# -- certificates ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A self-signed certificate with its key, in one file."""
    path = tmp_path_factory.mktemp("tls") / "maas.pem"
    key = path.with_suffix(".key")
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(path)),
        ],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + key.read_text())
    return path


VERSION = Call("GET version/", json={"version": "3.6.5"})


def test_an_unknown_certificate_is_refused_in_words_and_nothing_is_sent(play, client, clock, certificate):
    server = play(certificate=str(certificate))
    maas = client(server)
    with pytest.raises(Failure, match=r"certificate of MAAS at https.* cannot be verified: self.signed") as caught:
        maas.post("zones/", {"name": "az1"})
    assert caught.value.kind == "tls"
    assert "maas_ca_cert" in caught.value.hint
    assert not maas.wrote
    assert clock.slept == []


def test_a_certificate_for_another_name_needs_that_name_and_no_other_authority(play, client, certificate):
    server = play(certificate=str(certificate))
    with pytest.raises(Failure, match="ostname mismatch") as caught:
        client(f"https://localhost:{server.port}/MAAS", verify=str(certificate)).get("version/")
    assert caught.value.hint == "Its certificate is for other names: give one of them in maas_endpoint."


def test_a_certificate_is_accepted_when_its_authority_is_given(play, client, certificate):
    server = play(VERSION, certificate=str(certificate))
    assert client(server, verify=str(certificate)).capabilities.version == (3, 6)


def test_a_certificate_is_not_looked_at_when_the_user_says_so(play, client, certificate, recwarn):
    server = play(VERSION, certificate=str(certificate))
    assert client(server, verify=False).capabilities.version == (3, 6)
    assert not recwarn.list


def test_a_certificate_for_another_name_is_refused(play, client, certificate):
    server = play(certificate=str(certificate))
    with pytest.raises(Failure, match="ostname mismatch") as caught:
        client(server.url.replace("127.0.0.1", "localhost"), verify=str(certificate)).get("version/")
    assert caught.value.kind == "tls"


def test_https_to_a_port_that_speaks_http_is_said(play, client):
    server = play()
    with pytest.raises(Failure, match="handshake failed") as caught:
        client(server.url.replace("http://", "https://")).get("version/")
    assert caught.value.kind == "tls"
    assert "speaks HTTPS" in caught.value.hint


def test_http_to_a_port_that_speaks_https_is_said(play, client):
    page = "<html><body>The plain HTTP request was sent to HTTPS port</body></html>"
    with pytest.raises(Failure, match="the port speaks HTTPS and the URL does not"):
        client(play(html("GET version/", 400, page))).get("version/")


@pytest.mark.parametrize(
    ("params", "environment", "verify"),
    [
        ({}, {}, True),
        ({"maas_validate_certs": False}, {"REQUESTS_CA_BUNDLE": "{good}"}, False),
        ({"maas_ca_cert": "{good}"}, {"REQUESTS_CA_BUNDLE": "/nowhere"}, "{good}"),
        ({}, {"REQUESTS_CA_BUNDLE": "{good}", "CURL_CA_BUNDLE": "/nowhere"}, "{good}"),
        ({}, {"CURL_CA_BUNDLE": "{good}"}, "{good}"),
        ({"maas_ca_cert": "{folder}"}, {}, "{folder}"),
    ],
)
def test_what_certificates_are_trusted(certificate, params, environment, verify):
    def fill(value):
        return value.format(good=certificate, folder=certificate.parent) if isinstance(value, str) else value

    given = connection(
        {name: fill(value) for name, value in environment.items()},
        **{name: fill(value) for name, value in params.items()},
    )
    assert given.verify == fill(verify)


@pytest.mark.parametrize(
    ("source", "path"),
    [("maas_ca_cert", "/nowhere/ca.pem"), ("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem"), ("maas_ca_cert", __file__)],
)
def test_a_ca_file_that_is_none_is_named_with_where_it_came_from(source, path):
    params = {source: path} if source.islower() else {}
    environment = {} if source.islower() else {source: path}
    with pytest.raises(Failure, match=f"^{source} names a file .*{Path(path).name}") as caught:
        connection(environment, **params)
    assert caught.value.kind == "invalid"
