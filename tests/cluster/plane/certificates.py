"""The cluster's keys and certificates: two authorities, serving and client certificates, the service-account key."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

SERVICE_ADDRESS = "10.0.0.1"
LIFETIME = datetime.timedelta(days=30)


@dataclass(frozen=True)
class Identity:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority that signs serving and client certificates into one folder."""

    def __init__(self, name: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _certificate(self._name, self._name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        usage = _key_usage(is_authority=True)
        signed = builder.add_extension(usage, critical=True).sign(self._key, hashes.SHA256())
        self.certificate = folder / f"{name}.crt"
        self.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def serving(self, name: str) -> Identity:
        """Sign a serving certificate for loopback and for the API's own service address."""
        addresses = [x509.IPAddress(ipaddress.ip_address(text)) for text in ("127.0.0.1", SERVICE_ADDRESS)]
        names = x509.SubjectAlternativeName([x509.DNSName("localhost"), *addresses])
        return self._issue(name, _subject(name, ()), ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, user: str, groups: tuple[str, ...] = ()) -> Identity:
        """Sign a client certificate for a user (the common name) in groups (the organisations)."""
        file_name = user.replace(":", "-").replace("/", "-")
        return self._issue(file_name, _subject(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _issue(
        self, name: str, subject: x509.Name, use: x509.ObjectIdentifier, names: x509.SubjectAlternativeName | None
    ) -> Identity:
        """Make a key, sign its certificate, and write both."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _certificate(subject, self._name, key.public_key())
        builder = builder.add_extension(_key_usage(is_authority=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([use]), critical=False)
        if names:
            builder = builder.add_extension(names, critical=False)
        signed = builder.sign(self._key, hashes.SHA256())
        identity = Identity(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        identity.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        _write_key(key, identity.key)
        return identity


@dataclass(frozen=True)
class Certificates:
    """Everything the control plane is started with."""

    authority: Authority
    front_proxy: Authority
    api_server: Identity
    proxy_client: Identity
    service_account_key: Path

    @classmethod
    def create(cls, folder: Path) -> Certificates:
        """Make the whole set; the front proxy has its own authority, so that no ordinary client passes for a proxy."""
        authority = Authority("cluster-ca", folder)
        front_proxy = Authority("front-proxy-ca", folder)
        key = folder / "service-account.key"
        _write_key(rsa.generate_private_key(public_exponent=65537, key_size=2048), key)
        return cls(authority, front_proxy, authority.serving("server"), front_proxy.client("front-proxy-client"), key)


def _subject(user: str, groups: tuple[str, ...]) -> x509.Name:
    """Return the name that Kubernetes reads a user and its groups from."""
    organisations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organisations, x509.NameAttribute(NameOID.COMMON_NAME, user)])


def _certificate(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    """Return an unsigned certificate, valid from an hour ago to be safe from clocks that differ."""
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(now + LIFETIME)


def _key_usage(*, is_authority: bool) -> x509.KeyUsage:
    """Return what a key may sign."""
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        key_encipherment=False,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _write_key(key: Key, path: Path) -> None:
    """Write a private key that only its owner can read."""
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
