"""``api`` and ``approval`` of a policy: how people reach a daemon, and how long a plan waits for one of them."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, TypeAlias

from pydantic import Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.policy.fields.metrics_access import FileName
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.usage import ListenAddress
from rescheduler.policy.fields.values import PositiveDurationSeconds

# ``telemetry`` and ``audit`` of a policy: where a daemon answers for itself, and what it writes down.


class TelemetryPolicy(PolicyModel):
    """Health, readiness and metrics of ``run``, open to whoever reaches the address."""

    address: ListenAddress = "127.0.0.1:8080"
    """HOST:PORT that ``/livez``, ``/readyz`` and ``/metrics`` are answered on; in a cluster "0.0.0.0:8080"."""


class AuditPolicy(PolicyModel):
    """The audit log of ``run``."""

    file: FileName | None = None
    """One JSON line for each eviction, approval, pause, change of leadership and change of policy is added to this
    file; a relative one is relative to the policy's own folder. Left out: none is written. With
    ``api``, the last rounds are kept in FILE.rounds beside it, for the daemon's page."""


HostName: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[a-zA-Z0-9]([-.a-zA-Z0-9]*[a-zA-Z0-9])?$", max_length=253)
]
"""A host's name, without a port."""
Audience: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[!-~]+$", min_length=1, max_length=253)]
"""Plain characters without spaces."""


class ServerTls(PolicyModel):
    """The server's certificate; TLS 1.2 or newer is spoken."""

    cert_file: FileName
    """The server's certificate and those between it and its authority, PEM."""
    key_file: FileName
    """Its key, PEM, without a password."""
    ca_file: FileName | None = None
    """Clients must show a certificate of one of these authorities, besides their token. Left out: a token is enough."""


class ApiPolicy(PolicyModel):
    """The REST API of ``run``: state, plans, refusals; trigger, pause, approve. docs/rest-api.md."""

    address: ListenAddress = "127.0.0.1:2021"
    """HOST:PORT to listen on; any but a loopback address needs ``tls``."""
    tls: ServerTls | None = None
    """Left out: plain HTTP, on this machine only."""
    audience: Audience = "rescheduler"
    """Tokens must be made for this audience."""
    hosts: Annotated[tuple[HostName, ...], Field(max_length=32)] = ()
    """Names by which clients may call the API, besides localhost, addresses, and the names of Services (``*.svc``)."""

    @model_validator(mode="after")
    def _protected(self) -> ApiPolicy:
        if self.tls is None and not _is_loopback(self.address):
            text = (
                "address {found} can be reached from elsewhere, and tokens would travel in clear text; write tls with "
                "certFile and keyFile, or listen on 127.0.0.1"
            )
            raise PydanticCustomError("unprotected", text, {"found": repr(self.address)})
        return self


class ApprovalPolicy(PolicyModel):
    """Under ``mode: Approve``: plans that wait for a person."""

    expires: PositiveDurationSeconds = 3600.0
    """How long a plan waits; after that it has to be made anew."""


def _is_loopback(address: str) -> bool:
    host = address.rpartition(":")[0].removeprefix("[").removesuffix("]")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
