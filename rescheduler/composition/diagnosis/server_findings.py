"""Findings about the API server: its version, what this account may do, guidance, and where load could be measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import server_told_version
from rescheduler.adapters.kubernetes.client.failures import NotServedError
from rescheduler.adapters.kubernetes.guidance.guidance_support import FIRST_MINOR, why_no_gates
from rescheduler.adapters.kubernetes.rights.daemon_needs import daemon_needs
from rescheduler.adapters.kubernetes.rights.rights import NeededRight, may
from rescheduler.composition.live.standing_rights import GRANTS
from rescheduler.extension_points import ClusterError
from rescheduler.policy.fields.policy import Guidance, Mode, Policy
from rescheduler.report.diagnosis import Diagnosed

PROVEN_MINOR: Final = 36
"""The Kubernetes against which everything is tested; others are said, never assumed."""
LACKING: Final = (
    (30, "no ValidatingAdmissionPolicy, so that the guards of deploy/guards.yaml cannot be installed"),
    (32, "no streaming lists, so that run reads in pages"),
    (36, "no MutatingAdmissionPolicy, so that guidance: Guide goes on as Hold"),
)
"""What servers before a minor version do not have, and what follows; docs/kubernetes-versions.md."""
_METRICS: Final = "/apis/metrics.k8s.io/v1beta1"
_BY_LOAD: Final = frozenset({"SpreadLoad", "HotNode"})
"""Objectives and triggers that go by measured load."""


def server_findings(connection: Connection, policy: Policy) -> Iterator[Diagnosed]:
    """Raises ClusterError where the server cannot be asked at all."""
    yield from version_findings(connection, policy)
    yield from _rights(connection, policy)
    if policy.guidance is Guidance.GUIDE:
        yield from _gates(connection, policy)
    yield from _metrics(connection, policy)


def version_findings(connection: Connection, policy: Policy) -> Iterator[Diagnosed]:
    """What a server of this version does not have, or is not known to have. Raises ClusterError."""
    told = server_told_version(connection)
    name, found = str(told.git_version), re.match(r"[0-9]{1,9}", told.minor)
    if told.major != "1" or found is None:
        yield Diagnosed("ServerVersion", name, "the server does not tell a version of Kubernetes",
                        "see whether this address is an API server's: kubectl version")  # fmt: skip
        return
    minor = int(found.group())
    if minor < FIRST_MINOR and policy.guidance is not Guidance.PREDICT:
        yield Diagnosed(
            "ServerVersion",
            name,
            f"it has no scheduling gates, which placeholders need, so guidance: {policy.guidance.value} does not work",
            f"use Kubernetes 1.{FIRST_MINOR} or newer, or write guidance: Predict",
            policy.mode is not Mode.DRY_RUN,
        )
    elif minor != PROVEN_MINOR:
        yield Diagnosed(
            "ServerVersion",
            name,
            "; ".join([f"everything is tested on Kubernetes 1.{PROVEN_MINOR}, and not on this one", *_lacks(minor)]),
            "let run look for some days under mode: DryRun before anything is moved",
        )


def _lacks(minor: int) -> list[str]:
    return [f"it has {what}" for first, what in LACKING if minor < first]


def _rights(connection: Connection, policy: Policy) -> Iterator[Diagnosed]:
    """What the mode of the policy needs, and beyond that what acting would need."""
    now = daemon_needs(policy)
    yield from _lacking(connection, now, f"mode: {policy.mode.value}", can_block=True)
    if policy.mode is Mode.DRY_RUN:
        acting = daemon_needs(policy.model_copy(update={"mode": Mode.EXECUTE}))
        more = [need for need in acting if need not in now]
        yield from _lacking(connection, more, "apply and mode: Execute", can_block=False)


def _lacking(connection: Connection, needs: Iterable[NeededRight], who: str, *, can_block: bool) -> Iterator[Diagnosed]:
    """One finding for each purpose, with all that is missing for it."""
    lacking = [need for need in needs if not may(connection, need.right, need.namespace)]
    for purpose, group in groupby(lacking, key=lambda need: need.purpose):
        missing = list(group)
        rights = ", ".join(dict.fromkeys(_told(need) for need in missing))
        yield Diagnosed(
            "Rights",
            purpose,
            f"this account may not {rights}, which {who} needs to {purpose}",
            GRANTS,
            can_block and any(need.is_vital for need in missing),
        )


def _told(need: NeededRight) -> str:
    return need.right.text + (f" in {need.namespace}" if need.namespace else "")


def _gates(connection: Connection, policy: Policy) -> Iterator[Diagnosed]:
    try:
        reason = why_no_gates(connection, policy.hold.namespace)
    except ClusterError as error:
        reason = str(error)
    if reason is not None:
        yield Diagnosed(
            "Guidance",
            "Guide",
            f"guidance: Guide cannot lead replacements to their nodes: {reason}",
            "install deploy/guide.yaml (docs/guided-moves.md), or write guidance: Hold",
            policy.mode is not Mode.DRY_RUN,
        )


def _metrics(connection: Connection, policy: Policy) -> Iterator[Diagnosed]:
    if policy.usage.providers:
        return
    named = [*(item.name for item in policy.objectives), *(item.name for item in policy.triggers)]
    by_load = [name for name in named if name in _BY_LOAD]
    try:
        connection.get(_METRICS)
    except NotServedError:
        message = "no load is measured here: metrics.k8s.io is not served"
        fix = "install metrics-server, or name another source under usage.providers (docs/load-watcher.md)"
    except ClusterError as error:
        message, fix = f"metrics.k8s.io does not answer: {error}", "see kubectl get apiservice v1beta1.metrics.k8s.io"
    else:
        if not by_load:
            return
        message = "the policy names no source of load, though metrics-server is here"
        fix = "write usage: {providers: [{name: MetricsServer}]}"
    stands = f"; {' and '.join(by_load)} would go by requests" if by_load else ""
    yield Diagnosed("MetricsSource", "usage.providers", message + stands, fix)
