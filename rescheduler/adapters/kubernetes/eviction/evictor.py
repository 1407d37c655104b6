"""Asks the Eviction API for one eviction and tells its answers apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection, Response
from rescheduler.adapters.kubernetes.client.decoded_answers import is_object
from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError, WriteRefusedError, server_message
from rescheduler.adapters.kubernetes.client.paths import pod_path
from rescheduler.extension_points import ClusterError, EvictionAnswer
from rescheduler.model.plan.plan import PodReference

# The server itself retries conflicts on a budget twenty times, half a second apart.
TIMEOUT_SECONDS: Final = (5.0, 30.0)
DISRUPTION_BUDGET: Final = "DisruptionBudget"
TWO_BUDGETS: Final = "more than one PodDisruptionBudget"
WEBHOOK: Final = 'admission webhook "'
"""How the API server begins to tell what a webhook of others has said."""
OWNER_MOVES: Final = ("eviction triggered evacuation", "evacuation in progress")
"""Words of a webhook (KubeVirt's) behind which whoever owns the pod moves it himself, from now on or already."""


class _Cause(msgspec.Struct, gc=False):
    reason: str | None = None
    message: str | None = None


class _Details(msgspec.Struct, gc=False):
    causes: list[_Cause] | None = None


class _Status(msgspec.Struct, gc=False):
    message: str | None = None
    details: _Details | None = None


def evict(
    connection: Connection, pod: PodReference, resource_version: str, *, dry_run: bool, grace_seconds: int | None = None
) -> EvictionAnswer:
    """Send one eviction of exactly this pod as it was read; its own grace holds unless ``grace_seconds`` is given.

    A wrong uid or resourceVersion is refused by the server (Conflict); an answer that got lost is Failed.
    """
    try:
        response = connection.send(
            "POST",
            pod_path(pod.namespace, pod.name, "eviction"),
            eviction(pod, resource_version, grace_seconds),
            params={"dryRun": "All"} if dry_run else None,
            timeout=TIMEOUT_SECONDS,
        )
    except OutcomeUnknownError as error:
        return EvictionAnswer("Failed", str(error))
    except WriteRefusedError:
        raise
    except ClusterError as error:  # it was never sent, so it can be sent later
        return EvictionAnswer("TooManyRequests", str(error))
    return classify(response)


def eviction(pod: PodReference, resource_version: str, grace_seconds: int | None = None) -> dict[str, Any]:
    """The Eviction object: preconditions, and a grace period only where one is given."""
    grace = {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
    return {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": {**grace, "preconditions": {"uid": pod.uid, "resourceVersion": resource_version}},
    }


def classify(response: Response) -> EvictionAnswer:
    """What an answer means.

    A 429 of a PodDisruptionBudget carries a cause and, only while the budget is younger than its own status, a
    Retry-After; that of an overloaded server carries no such cause, nor does that of a webhook, which is known by its
    words. Every other 4xx is a definite refusal. A page that something in between has written under a good status says
    nothing of the pod.
    """
    status, text = response.status, _words(response)
    if 200 <= status < 300 and is_object(response.body):
        return EvictionAnswer("Accepted")
    if status < 300:
        return EvictionAnswer("Failed", f"status {status} with something that is not JSON")
    if status == 429:
        return _too_many(response, text)
    if status == 500 and TWO_BUDGETS in text:
        return EvictionAnswer("TwoBudgets", text)
    kinds = {404: "Gone", 409: "Conflict"}
    if status >= 500 or status == 408:
        return EvictionAnswer("Failed", text or f"status {status}", retry_after(response.headers))
    return EvictionAnswer(kinds.get(status, "Forbidden"), text or f"status {status}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks us to wait, if it says so in seconds."""
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return seconds if 0.0 <= seconds < 3600.0 else None


def _too_many(response: Response, text: str) -> EvictionAnswer:
    wait = retry_after(response.headers)
    causes = _causes(response.body)
    budgets = [cause for cause in causes if cause.reason == DISRUPTION_BUDGET]
    if not budgets:
        return EvictionAnswer(_of_webhook(text) or "TooManyRequests", text, wait)
    told = " ".join(cause.message for cause in budgets if cause.message)
    kind = "BudgetExhausted" if wait is None else "BudgetNotObserved"
    return EvictionAnswer(kind, f"{text} {told}".strip(), wait)


def _of_webhook(text: str) -> str | None:
    """What a webhook means by its 429; None where none has spoken."""
    if not text.startswith(WEBHOOK):
        return None
    return "OwnerMoves" if any(words in text.lower() for words in OWNER_MOVES) else "WebhookDenied"


def _causes(body: bytes) -> list[_Cause]:
    try:
        details = msgspec.json.decode(body, type=_Status).details
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []
    return details.causes or [] if details else []


def _words(response: Response) -> str:
    return server_message(response.body).removeprefix(": ")
