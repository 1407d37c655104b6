"""How a metrics provider is reached: credentials from files or Secrets, never inline, and TLS."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.policy.policy_model import PolicyModel
from rescheduler.policy.values import PositiveDurationSeconds

FileName: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
"""A file, read anew at each use; a relative one is relative to the policy's own folder."""
SecretKey: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][-a-z0-9]{0,62}/[a-z0-9][-a-z0-9.]{0,252}/[-._a-zA-Z0-9]{1,253}$")
]
"""NAMESPACE/NAME/KEY of a Secret's entry."""


def _http_address(text: str) -> str:
    scheme, separator, rest = text.partition("://")
    if not separator or scheme not in ("http", "https") or not rest.strip("/") or any(c.isspace() for c in text):
        raise PydanticCustomError("address", "wanted an http:// or https:// address, such as http://127.0.0.1:9090")
    if "@" in rest.partition("/")[0]:
        raise PydanticCustomError("address", "credentials in an address are refused; use basicAuth or a token file")
    return text.rstrip("/")


HttpAddress: TypeAlias = Annotated[str, StringConstraints(max_length=2048), AfterValidator(_http_address)]
"""Scheme, host, port and path prefix."""


class Credential(PolicyModel):
    """A secret text: where it stands, never what it is."""

    file: FileName | None = None
    """A file that holds it."""
    secret: SecretKey | None = None
    """NAMESPACE/NAME/KEY of a Secret that holds it."""

    @model_validator(mode="before")
    @classmethod
    def _not_inline(cls, value: object) -> object:
        if isinstance(value, str):
            text = "the secret itself is refused; write file: PATH or secret: NAMESPACE/NAME/KEY"
            raise PydanticCustomError("inline_credential", text)
        return value

    @model_validator(mode="after")
    def _one_place(self) -> Credential:
        if (self.file is None) == (self.secret is None):
            raise PydanticCustomError("credential", "write either file or secret (NAMESPACE/NAME/KEY)")
        return self


class BasicAuth(PolicyModel):
    """HTTP basic authentication."""

    username: Annotated[str, Field(min_length=1, max_length=256)]
    """The user's name."""
    password: Credential
    """Where the password stands."""


class Tls(PolicyModel):
    """TLS of an https address."""

    ca_file: FileName | None = None
    """Certificate authorities to trust, PEM. Default: the system's."""
    cert_file: FileName | None = None
    """Our client certificate, PEM."""
    key_file: FileName | None = None
    """The key of our client certificate, PEM."""
    insecure_skip_verify: bool = False
    """Trust any certificate. Loudly warned of: anybody on the way can then steer evictions by false load."""

    @model_validator(mode="after")
    def _both_halves(self) -> Tls:
        if (self.cert_file is None) != (self.key_file is None):
            raise PydanticCustomError("tls", "certFile and keyFile belong together; write both or neither")
        return self


class HttpAccess(PolicyModel):
    """What every provider over HTTP can be given."""

    basic_auth: BasicAuth | None = None
    """User name and password."""
    bearer_token: Credential | None = None
    """A token for the Authorization header."""
    tls: Tls = Tls()
    """TLS."""
    timeout: PositiveDurationSeconds = 10.0
    """The longest wait for one answer."""
    headers: Annotated[dict[str, str], Field(max_length=20)] = Field(default_factory=dict)
    """More headers, such as X-Scope-OrgID; no credentials."""

    @model_validator(mode="after")
    def _one_authentication(self) -> HttpAccess:
        if self.basic_auth is not None and self.bearer_token is not None:
            raise PydanticCustomError("auth", "both basicAuth and bearerToken are given; keep one")
        for name in self.headers:
            if name.lower() in (
                "authorization",
                "cookie",
                "proxy-authorization",
                "x-sf-token",
                "dd-api-key",
                "dd-application-key",
            ):
                text = "headers must not carry {name}; use bearerToken, basicAuth or the provider's own fields"
                raise PydanticCustomError("headers", text, {"name": name})
        return self
