"""How a metrics provider is reached: credentials from files or Secrets, never inline, and TLS."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Annotated, Final, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds


def _file_name(text: str) -> str:
    if any(ord(character) < 32 for character in text):
        found = {"found": repr(printable(text, 250))}
        raise PydanticCustomError("file", "found {found}; wanted the name of a file, without control characters", found)
    return text


FileName: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=4096), AfterValidator(_file_name)]
"""A file, read anew at each use; a relative one is relative to the policy's own folder."""
SecretKey: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][-a-z0-9]{0,62}/[a-z0-9][-a-z0-9.]{0,252}/[-._a-zA-Z0-9]{1,253}$")
]
"""NAMESPACE/NAME/KEY of a Secret's entry."""


def _http_address(text: str) -> str:
    """The address without a slash in the end; what was found is told only where no credential can stand in it."""
    if "@" in text.rpartition("://")[2].partition("/")[0]:
        raise PydanticCustomError("address", "credentials in an address are refused; use basicAuth or a token file")
    if "?" in text or "#" in text:
        raise PydanticCustomError("address", "a query in an address is refused; write scheme, host, port and path only")
    if not _is_http_address(text):
        raise PydanticCustomError(
            "address",
            "found {found}; wanted an http:// or https:// address, such as http://127.0.0.1:9090",
            {"found": repr(printable(text, 250))},
        )
    if _is_link_local(urlsplit(text).hostname or ""):
        raise PydanticCustomError(
            "address",
            "found {found}; a link-local address, where clouds serve their machines' credentials, is never asked",
            {"found": repr(printable(text, 250))},
        )
    return text.rstrip("/")


def _is_link_local(host: str) -> bool:
    """Whether the host is written as such an address; what a name leads to is seen when it is asked."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_link_local


def _is_http_address(text: str) -> bool:
    if not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, a broken IPv6 address
        return False


HttpAddress: TypeAlias = Annotated[str, StringConstraints(max_length=2048), AfterValidator(_http_address)]
"""Scheme, host, port and path prefix."""


_HEADER_NAME: Final = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]{1,100}")
_CREDENTIALS: Final = frozenset(
    {"authorization", "cookie", "proxy-authorization", "x-sf-token", "dd-api-key", "dd-application-key", "x-api-key",
     "api-key", "x-auth-token"}
)  # fmt: skip
_OF_THE_CONNECTION: Final = frozenset(
    {"connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding", "upgrade"}
)


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
    """The client certificate, PEM."""
    key_file: FileName | None = None
    """The key of the client certificate, PEM."""
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
        return self

    @field_validator("headers")
    @classmethod
    def _harmless(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            shown = {"name": printable(name, 80)}
            if _HEADER_NAME.fullmatch(name) is None:
                text = "'{name}' is no name of a header; wanted letters, digits and dashes, such as X-Scope-OrgID"
                raise PydanticCustomError("headers", text, shown)
            if name.lower() in _CREDENTIALS:
                text = "headers must not carry {name}; use bearerToken, basicAuth or the provider's own fields"
                raise PydanticCustomError("headers", text, shown)
            if name.lower() in _OF_THE_CONNECTION:
                raise PydanticCustomError("headers", "{name} is set by the connection itself; leave it out", shown)
            if not value.isascii() or not value.isprintable() or value != value.strip() or len(value) > 4096:
                text = "the value of {name} cannot be sent; wanted at most 4096 plain characters in one line"
                raise PydanticCustomError("headers", text, shown)
        return headers
