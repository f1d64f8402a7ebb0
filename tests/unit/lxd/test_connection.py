# SPDX-FileCopyrightText: 2026 The metalshift.maas authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an LXD is, who we are there, and how its certificate is judged."""

from __future__ import annotations

import hashlib
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.failure import Failure
from ansible_collections.metalshift.maas.plugins.module_utils._core.pure.urls import Proxy
from ansible_collections.metalshift.maas.plugins.module_utils._lxd import connection as connection_module
from ansible_collections.metalshift.maas.plugins.module_utils._lxd import pem
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.client import Lxd
from ansible_collections.metalshift.maas.plugins.module_utils._lxd.connection import (
    LxdConnection,
    endpoint,
    fingerprint,
)
from unit.lxd.conftest import Papers, Play, hello
from unit.scripted_maas import FakeClock


@pytest.mark.parametrize(
    ("given", "understood"),
    [
        ("https://lxd:8443", "https://lxd:8443"),
        ("https://lxd:8443/", "https://lxd:8443"),
        ("https://lxd:8443/1.0", "https://lxd:8443"),
        ("https://lxd", "https://lxd:8443"),
        ("https://lxd:443", "https://lxd:443"),
        ("  https://10.0.0.1:8443 \n", "https://10.0.0.1:8443"),
        ("https://[2001:db8::1]", "https://[2001:db8::1]:8443"),
        ("HTTPS://Lxd.Example.com", "https://Lxd.Example.com:8443"),
        ("/var/lib/lxd/unix.socket", "/var/lib/lxd/unix.socket"),
        ("unix:/var/lib/lxd/unix.socket", "/var/lib/lxd/unix.socket"),
        ("unix:///var/lib/lxd/unix.socket", "/var/lib/lxd/unix.socket"),
        ("/var/lib/lxd/../lxd/unix.socket", "/var/lib/lxd/unix.socket"),
    ],
)
def test_the_endpoint_is_understood_however_much_of_it_is_given(given: str, understood: str) -> None:
    assert endpoint(given) == understood


@pytest.mark.parametrize(
    "given",
    [
        "",
        "lxd",
        "lxd:8443",
        "http://lxd:8443",
        "https://",
        "https://lxd:port",
        "https://lxd:0",
        "https://lxd:99999",
        "https://[::1",
        "https://lx d",
        "https://lxd\\",
        "https://lxd/2.0",
        "https://lxd?project=x",
        "https://lxd#x",
        "https://user:hunter2@lxd",
        "https://user:hunt/er2@lxd:port",
        "var/lib/lxd/unix.socket",
    ],
)
def test_a_wrong_endpoint_is_said_in_a_sentence_without_its_password(given: str) -> None:
    with pytest.raises(Failure) as caught:
        endpoint(given)
    assert caught.value.kind == "invalid"
    assert "lxd_endpoint" in str(caught.value)
    assert "hunt" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "digits"),
    [
        ("ab" * 32, "ab" * 32),
        (":".join(["AB"] * 32), "ab" * 32),
        ("sha256:" + "ab" * 32, "ab" * 32),
        ("SHA256=" + ":".join(["ab"] * 32), "ab" * 32),
        (" " + "ab" * 32 + "\n", "ab" * 32),
        ("ab" * 31, ""),
        ("ab" * 33, ""),
        ("zz" * 32, ""),
        ("/etc/ssl/lxd.crt", ""),
    ],
)
def test_a_fingerprint_is_known_however_it_is_written(given: str, digits: str) -> None:
    assert fingerprint(given) == digits


def test_the_socket_needs_no_certificates() -> None:
    found = LxdConnection.from_params({"lxd_endpoint": "~/lxd.socket", "lxd_timeout": 5}, {})
    assert found.is_local
    assert found.endpoint == str(Path.home() / "lxd.socket")
    assert found.identity is None


@pytest.mark.parametrize("given", ["unix:", "unix://", " unix:// "])
@pytest.mark.parametrize("there", [["snap"], ["package"], ["snap", "package"]], ids=" and ".join)
def test_the_socket_of_this_machine_is_found(tmp_path: Path, given: str, there: list[str]) -> None:
    """That of the snap first: where it is, Debian's LXD has been moved into it."""
    sockets = [str(tmp_path / name) for name in ("snap", "package")]
    for name in there:
        (tmp_path / name).touch()
    assert endpoint(given, sockets) == str(tmp_path / there[0])


def test_no_lxd_on_this_machine_is_one_sentence(tmp_path: Path) -> None:
    sockets = [str(tmp_path / name) for name in ("snap", "package")]
    with pytest.raises(Failure, match=f"There is no LXD on .*: neither {sockets[0]} nor {sockets[1]} exists") as caught:
        endpoint("unix://", sockets)
    assert caught.value.kind == "unreachable"


def params(papers: Papers, **given: Any) -> dict[str, Any]:
    return {**papers.params, "lxd_endpoint": "https://lxd.example.com:8443", **given}


@pytest.mark.parametrize("missing", ["lxd_endpoint", "lxd_client_cert", "lxd_client_key"])
def test_what_is_missing_is_named_with_its_environment_variable(papers: Papers, missing: str) -> None:
    with pytest.raises(Failure, match=f"{missing} is missing.*{missing.upper()}"):
        LxdConnection.from_params(params(papers, **{missing: None}), {})


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e12])
def test_a_time_out_that_is_none_is_refused(papers: Papers, seconds: float) -> None:
    with pytest.raises(Failure, match="lxd_timeout must be more than 0"):
        LxdConnection.from_params(params(papers, lxd_timeout=seconds), {})


def test_a_connection_does_not_show_its_key(papers: Papers) -> None:
    shown = repr(LxdConnection.from_params(params(papers), {"https_proxy": "http://user:hunter2@proxy"}))
    assert papers.client_key.read_text().splitlines()[1] not in shown
    assert "hunter2" not in shown


def test_requests_go_through_the_proxy_of_the_environment(papers: Papers) -> None:
    through = LxdConnection.from_params(params(papers), {"https_proxy": "http://proxy:3128"})
    direct = LxdConnection.from_params(params(papers), {"https_proxy": "http://proxy:3128", "no_proxy": "example.com"})
    assert (through.proxy, direct.proxy) == (Proxy("http://proxy:3128", "https_proxy"), None)


def openssl(*arguments: str) -> str:
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True, text=True).stdout


WRONG_PAPERS: list[tuple[str, Callable[[Papers], dict[str, str]]]] = [
    (
        "lxd_client_key is not the key of lxd_client_cert.",
        lambda papers: {"lxd_client_key": openssl("genrsa", "2048")},
    ),
    (
        "lxd_client_key is protected by a passphrase",
        lambda papers: {"lxd_client_key": openssl("genrsa", "-aes128", "-passout", "pass:secret", "2048")},
    ),
    ("lxd_client_key holds no private key", lambda papers: {"lxd_client_key": papers.client_cert.read_text()}),
    ("lxd_client_cert holds no certificate", lambda papers: {"lxd_client_cert": papers.client_key.read_text()}),
    (
        "lxd_client_key holds a private key that cannot be read.",
        lambda papers: {"lxd_client_key": papers.client_key.read_text().replace("M", "N")},
    ),
    (
        "lxd_client_cert is too long",
        lambda papers: {"lxd_client_cert": papers.client_cert.read_text() * 40},
    ),
    ("lxd_server_cert holds no certificate", lambda papers: {"lxd_server_cert": papers.client_key.read_text()}),
    ("lxd_server_cert names a file that does not exist", lambda papers: {"lxd_server_cert": "00:11"}),
    ("lxd_client_key names a file that is not in PEM form", lambda papers: {"lxd_client_key": "/etc/hosts"}),
    ("lxd_client_key names a file that is too long", lambda papers: {"lxd_client_key": "/bin/sh"}),
    ("lxd_client_key names a file that does not exist", lambda papers: {"lxd_client_key": str(papers.folder)}),
]


@pytest.mark.parametrize(("says", "wrong"), WRONG_PAPERS, ids=[says for says, _wrong in WRONG_PAPERS])
def test_papers_that_will_not_do_are_said_in_a_sentence(papers: Papers, says: str, wrong: Any) -> None:
    given = wrong(papers)
    with pytest.raises(Failure) as caught:
        LxdConnection.from_params(params(papers, **given), {})
    assert str(caught.value).startswith(says)
    assert caught.value.kind == "invalid"
    assert not any(line in str(caught.value) for line in str(given).splitlines() if len(line) > 40)


def test_a_text_that_is_no_pem_is_not_repeated(papers: Papers) -> None:
    headless = "\n".join(papers.client_key.read_text().splitlines()[1:])
    with pytest.raises(Failure) as caught:
        LxdConnection.from_params(params(papers, lxd_client_key=headless), {})
    assert headless[:20] not in str(caught.value)


@pytest.mark.parametrize("asked", ["public_key", "is_authority", "expires"])
def test_a_missing_library_is_said_with_where_and_how(
    papers: Papers, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """As where nothing is installed: none of its names is there."""
    (first,) = pem.certificates("lxd_client_cert", papers.client_cert.read_text())
    monkeypatch.setattr(pem, "MISSING", ImportError("No module named 'cryptography'", name="cryptography"))
    for name in ("x509", "UnsupportedAlgorithm"):
        monkeypatch.delattr(pem, name)
    with pytest.raises(Failure, match=r"library cryptography is missing on .*: .*pip install cryptography") as caught:
        getattr(first, asked)
    assert caught.value.kind == "missing_library"


# -- how the server is judged ----------------------------------------------------------------------


def test_a_server_is_known_by_its_authority(lxd: Callable[..., Lxd], papers: Papers) -> None:
    assert lxd().trusted


def test_names_count_where_an_authority_vouches(play: Play, papers: Papers, clock: FakeClock) -> None:
    server = play(certificate=str(papers.elsewhere))
    where = {"lxd_endpoint": f"https://127.0.0.1:{server.port}"}
    with pytest.raises(Failure, match="cannot be verified: IP address mismatch") as caught:
        Lxd(LxdConnection.from_params({**papers.params, **where}, {}), clock=clock).get("projects")
    assert caught.value.kind == "tls"
    assert server.seen == []


def test_names_do_not_count_where_the_certificate_is_pinned(lxd: Callable[..., Lxd], papers: Papers) -> None:
    assert lxd(certificate=str(papers.elsewhere), lxd_server_cert=str(papers.elsewhere)).trusted


def digits(path: Path) -> str:
    certificate = path.read_text().partition("-----END CERTIFICATE-----")
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert("".join(certificate[:2]))).hexdigest()


def test_another_certificate_than_the_pinned_one_is_refused_before_anything_is_sent(
    play: Play, papers: Papers, clock: FakeClock
) -> None:
    server = play(certificate=str(papers.server))
    where = {"lxd_endpoint": f"https://127.0.0.1:{server.port}", "lxd_server_cert": digits(papers.elsewhere)}
    client = Lxd(LxdConnection.from_params({**papers.params, **where}, {}), clock=clock)
    with pytest.raises(Failure) as caught:
        client.post("projects", {"name": "x"}, what="create the project x")
    assert caught.value.kind == "tls"
    assert f"its fingerprint is {digits(papers.server)}." in caught.value.message
    assert "this is not your LXD" in caught.value.hint
    assert not client.wrote
    assert clock.slept == []
    assert server.seen == []


def test_an_authority_of_others_does_not_vouch(play: Play, papers: Papers, clock: FakeClock, tmp_path: Path) -> None:
    others = Papers(tmp_path)
    server = play(certificate=str(papers.server))
    where = {"lxd_endpoint": f"https://127.0.0.1:{server.port}", "lxd_server_cert": str(others.authority.file)}
    with pytest.raises(Failure, match="cannot be verified") as caught:
        Lxd(LxdConnection.from_params({**papers.params, **where}, {}), clock=clock).get("projects")
    assert caught.value.kind == "tls"
    assert server.seen == []


def test_without_a_word_the_systems_authorities_judge(
    play: Play, papers: Papers, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = play(hello(), certificate=str(papers.server))
    where = {"lxd_endpoint": f"https://127.0.0.1:{server.port}", "lxd_server_cert": ""}
    # What OpenSSL itself takes for the system's.
    monkeypatch.setenv("SSL_CERT_FILE", str(papers.authority.file))
    assert Lxd(LxdConnection.from_params({**papers.params, **where}, {}), clock=clock).trusted


def test_a_port_that_does_not_speak_tls_is_said(play: Play, papers: Papers, clock: FakeClock) -> None:
    server = play()
    where = {"lxd_endpoint": f"https://127.0.0.1:{server.port}"}
    with pytest.raises(Failure, match=r"No TLS connection with LXD at .*: the handshake failed") as caught:
        Lxd(LxdConnection.from_params({**papers.params, **where}, {}), clock=clock).get("projects")
    assert caught.value.kind == "tls"


def test_the_longest_pem_fits_into_a_pipe() -> None:
    """Nobody reads while it is written."""
    assert connection_module.LONGEST_PEM <= 16384
