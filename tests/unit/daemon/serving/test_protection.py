"""Nobody but this machine is let in without a token or a certificate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rescheduler.daemon.load_watcher.app import create_app
from rescheduler.daemon.serving.protection import OPEN_PATHS, require_protection, require_tls_files
from rescheduler.extension_points import MetricsError
from rescheduler.policy.fields.metrics_access import Credential, Tls
from rescheduler.policy.fields.usage import WatcherApi
from rescheduler.policy.reading.errors import PolicyError
from tests.clocks import FakeClock
from tests.unit.daemon.api.asking import Answer, ask
from tests.unit.daemon.api.certificates import authority
from tests.unit.daemon.api.records import SetSource, collected

TOKEN = WatcherApi(bearer_token=Credential(file="/token"))
MUTUAL = WatcherApi(tls=Tls(cert_file="/c", key_file="/k", ca_file="/a"))
SERVER_ONLY = WatcherApi(tls=Tls(cert_file="/c", key_file="/k"))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1"])
def test_this_machine_needs_no_token(host: str) -> None:
    """Loopback is the default."""
    require_protection(WatcherApi(), "x:2020", host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "10.0.0.1", "192.168.1.1", "fe80::1", "::ffff:10.0.0.1", "128.0.0.1"]
)
@pytest.mark.parametrize("api", [WatcherApi(), SERVER_ONLY])
def test_any_other_address_does(host: str, api: WatcherApi) -> None:
    """TLS that asks for no certificate protects nobody from readers."""
    with pytest.raises(PolicyError) as caught:
        require_protection(api, f"{host}:2020", host)
    assert str(caught.value).startswith(f"usage.api: {host}:2020 can be reached from elsewhere")
    assert "bearerToken.file" in str(caught.value)


@pytest.mark.parametrize("api", [TOKEN, MUTUAL])
def test_a_token_or_client_certificates_protect(api: WatcherApi) -> None:
    """Either of them."""
    require_protection(api, "0.0.0.0:2020", "0.0.0.0")


def test_tls_needs_files_that_can_be_used(tmp_path: Path) -> None:
    """Found out before anything else is started, with the file's name."""
    made = authority(tmp_path)
    certificate, key = made.issue("server")
    require_tls_files(None)
    require_tls_files(Tls(cert_file=certificate, key_file=key, ca_file=made.file))
    for tls, text in (
        (Tls(ca_file=made.file), "missing; write certFile and keyFile"),
        (Tls(cert_file="/none", key_file=key), "certFile /none"),
        (Tls(cert_file=certificate, key_file=made.file), "cannot be used"),
        (Tls(cert_file=certificate, key_file=key, ca_file="/none"), "caFile /none: cannot be used: No such file"),
        (Tls(cert_file=certificate, key_file=key, ca_file=key), f"caFile {key}: cannot be used"),
    ):
        with pytest.raises(PolicyError) as caught:
            require_tls_files(tls)
        assert text in str(caught.value), tls


def guarded(read_token: Callable[[], str]) -> Callable[..., Answer]:
    """Asks an application that wants this token."""
    app = create_app(SetSource(collected()), FakeClock(), interval=15.0, read_token=read_token)

    def asking(target: str = "/watcher", authorization: str | None = None) -> Answer:
        return ask(app, target, headers={} if authorization is None else {"Authorization": authorization})

    return asking


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (None, 401), ("", 401), ("Bearer", 401), ("Bearer ", 401), ("Bearer wrong", 401), ("Bearer secret1", 401),
        ("Bearer secre", 401), ("Basic secret", 401), ("secret", 401), ("Bearer SECRET", 401), ("Bearer sécret", 401),
        ("Bearer secret", 200), ("bearer secret", 200), ("Bearer  secret ", 200),
    ],
)  # fmt: skip
def test_the_token_must_be_sent_whole(authorization: str | None, status: int) -> None:
    """And the refusal says what is wanted, not what it is."""
    answer = guarded(lambda: "secret")("/watcher", authorization)
    assert answer.status == status
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "secret" not in answer.text


@pytest.mark.parametrize(
    "path", ["/watcher", "/watcher/n1", "/trust", "/metrics", "/openapi.json", "/nothing", "/healthz/"]
)
def test_every_page_but_health_wants_it(path: str) -> None:
    """Who has no token learns nothing, not even which pages there are."""
    assert guarded(lambda: "secret")(path).status == 401


@pytest.mark.parametrize("path", sorted(OPEN_PATHS))
def test_health_is_open(path: str) -> None:
    """A kubelet sends no token."""
    assert guarded(lambda: "secret")(path).status == 200


def test_the_token_is_read_anew_each_time() -> None:
    """It may be exchanged under a running server."""
    tokens = iter(["old", "new"])
    asking = guarded(lambda: next(tokens))
    assert [asking(authorization="Bearer old").status for _ in range(2)] == [200, 401]


def test_a_token_that_cannot_be_read_lets_nobody_in() -> None:
    """Neither does an empty one."""

    def broken() -> str:
        raise MetricsError("the file is gone")

    answer = guarded(broken)(authorization="Bearer ")
    assert (answer.status, "gone" in answer.text) == (503, False)
    assert guarded(lambda: "")(authorization="Bearer ").status == 401
