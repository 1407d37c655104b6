"""Connections share one TLS context, which is made anew where certificates were replaced."""

from __future__ import annotations

import ssl
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from rescheduler.adapters.kubernetes.client.tls import SharedContext
from tests.unit.daemon.api.certificates import authority


def asking(**told: Any) -> Any:
    """What urllib3 knows of a connection before it is made."""
    nothing = dict.fromkeys(("ca_certs", "ca_cert_dir", "ca_cert_data", "cert_file", "key_file", "key_password"))
    return SimpleNamespace(**{**nothing, "cert_reqs": ssl.CERT_REQUIRED, "ssl_context": None, **told})


def test_all_connections_share_one_context(tmp_path: Path) -> None:
    """Nothing is left for urllib3 to read again; who trusts others, or does not ask, has another."""
    issuer = authority(tmp_path)
    cert, key = issuer.issue("client")
    shared = SharedContext()
    one, two = (asking(ca_certs=issuer.file, cert_file=cert, key_file=key) for _ in range(2))
    shared.lend(one)
    shared.lend(two)
    assert one.ssl_context is two.ssl_context
    assert (two.ca_certs, two.cert_file, two.key_file) == (None, None, None)
    assert one.ssl_context.verify_mode == ssl.CERT_REQUIRED
    assert len(one.ssl_context.get_ca_certs()) == 1
    careless = asking(cert_reqs=ssl.CERT_NONE)
    shared.lend(careless)
    assert careless.ssl_context.verify_mode == ssl.CERT_NONE


def test_replaced_certificates_are_read(tmp_path: Path) -> None:
    """By the next connection, and by one that is made again after it broke."""
    issuer = authority(tmp_path)
    shared, one = SharedContext(), asking(ca_certs=issuer.file)
    shared.lend(one)
    first = one.ssl_context
    other = authority(tmp_path, "other").file
    Path(other).replace(issuer.file)
    shared.lend(one)
    assert one.ssl_context is not first
    assert one.ssl_context.get_ca_certs() != first.get_ca_certs()


def test_who_has_a_context_keeps_it(tmp_path: Path) -> None:
    """And who speaks no TLS needs none."""
    own = ssl.create_default_context()
    one, plain = asking(ssl_context=own, ca_certs="x"), SimpleNamespace()
    SharedContext().lend(one)
    SharedContext().lend(plain)
    assert (one.ssl_context, one.ca_certs) == (own, "x")
    assert vars(plain) == {}


def test_certificates_that_cannot_be_used_are_an_error(tmp_path: Path) -> None:
    """One that is gone, one that is none, and a key that asks for a password, which nobody is there to type."""
    issuer = authority(tmp_path)
    cert, key = issuer.issue("client")
    locked = tmp_path / "locked"
    plain = load_pem_private_key(Path(key).read_bytes(), None)
    secret = BestAvailableEncryption(b"secret")
    locked.write_bytes(plain.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret))
    for told in ({"ca_certs": "/nowhere"}, {"ca_certs": key}, {"cert_file": cert, "key_file": str(locked)}):
        with pytest.raises(OSError):  # noqa: PT011 - what OpenSSL says differs
            SharedContext().lend(asking(**told))
