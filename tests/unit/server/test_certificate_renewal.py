"""A renewed certificate is shown without a restart."""

from __future__ import annotations

import shutil
import socket
import ssl
from pathlib import Path

import pytest
from cryptography import x509

from rescheduler.policy.api import ServerTls
from rescheduler.server.certificate_renewal import RenewingServer
from rescheduler.server.listening import Door, Listener
from tests.unit.server.certificates import authority


async def app(scope: object, receive: object, send: object) -> None:
    """Nothing is asked of it."""


def shown(listener: Listener) -> str:
    """The common name of the certificate that a new connection sees."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, _, port = listener.url.removeprefix("https://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=20) as plain, context.wrap_socket(plain) as stream:
        found = x509.load_der_x509_certificate(stream.getpeercert(binary_form=True) or b"")
    return found.subject.rfc4514_string()


@pytest.mark.parametrize("is_linked", [False, True])
def test_what_is_renewed_is_shown_and_what_is_broken_is_passed_over(tmp_path: Path, is_linked: bool) -> None:
    """As files are replaced, and as mounted Secrets turn a symbolic link."""
    made = authority(tmp_path)
    first, second = made.issue("first"), made.issue("second")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"

    def put(source: tuple[str, str]) -> None:
        for file, target in zip(source, (certificate, key), strict=True):
            target.unlink(missing_ok=True)
            target.symlink_to(file) if is_linked else shutil.copyfile(file, target)

    put(first)
    listener = Listener(
        app, "127.0.0.1:0", Door("test", "api", ServerTls(cert_file=str(certificate), key_file=str(key)))
    )
    server = listener._server
    assert isinstance(server, RenewingServer)
    listener.start()
    try:
        assert shown(listener) == "CN=first"
        put((second[0], first[1]))  # half-way: the key of the other
        server.look()
        assert shown(listener) == "CN=first"
        certificate.unlink()
        server.look()
        assert shown(listener) == "CN=first"
        put(second)
        server.look()
        assert shown(listener) == "CN=second"
    finally:
        listener.stop()
