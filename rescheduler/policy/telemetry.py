"""``telemetry`` and ``audit`` of a policy: where a daemon answers for itself, and what it writes down."""

from __future__ import annotations

from rescheduler.policy.metrics_access import FileName
from rescheduler.policy.policy_model import PolicyModel
from rescheduler.policy.usage import ListenAddress


class TelemetryPolicy(PolicyModel):
    """Health, readiness and metrics of ``run``, open to whoever reaches the address."""

    address: ListenAddress = "127.0.0.1:8080"
    """HOST:PORT that ``/livez``, ``/readyz`` and ``/metrics`` are answered on; in a cluster "0.0.0.0:8080"."""


class AuditPolicy(PolicyModel):
    """The audit log of ``run``."""

    file: FileName | None = None
    """One JSON line for each eviction, approval, pause, change of leadership and change of policy is added to this
    file; a relative one is relative to the policy's own folder. Left out: none is written."""
