"""Answers of the Eviction API are told apart by their cause, and requests carry both preconditions."""

from __future__ import annotations

import pytest

from rescheduler.adapters.kubernetes.client.connection import Response
from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError, WriteRefusedError
from rescheduler.adapters.kubernetes.eviction.evictor import classify, evict, eviction
from rescheduler.extension_points import ClusterError
from rescheduler.model.plan.plan import PodReference
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer, status

POD = PodReference("shop", "web-0", "uid-1")
WEBHOOK = 'admission webhook "evictions.kubevirt.io" denied the request:'
PATH = "/api/v1/namespaces/shop/pods/web-0/eviction"


@pytest.mark.parametrize(
    ("answer", "kind", "retry_after"),
    [
        (status(201, ""), "Accepted", None),
        (status(429, "Cannot evict", cause="DisruptionBudget"), "BudgetExhausted", None),
        (
            status(429, "Cannot evict", cause="DisruptionBudget", headers={"retry-after": "10"}),
            "BudgetNotObserved",
            10.0,
        ),
        (
            Response(429, {"retry-after": "1"}, b"Too many requests, please try again later."),
            "TooManyRequests",
            1.0,
        ),
        (Response(429, {"retry-after": "soon"}, b"<html>"), "TooManyRequests", None),
        (status(429, "overload"), "TooManyRequests", None),
        (status(429, f"{WEBHOOK} Eviction triggered evacuation of VMI shop/vm"), "OwnerMoves", None),
        (status(429, f"{WEBHOOK} Evacuation in progress: VMI shop/vm"), "OwnerMoves", None),
        (status(429, f"{WEBHOOK} not on a Friday"), "WebhookDenied", None),
        (status(429, "Evacuation in progress"), "TooManyRequests", None),
        (status(403, f"{WEBHOOK} Eviction triggered evacuation"), "Forbidden", None),
        (status(404, "pods not found"), "Gone", None),
        (status(409, "Precondition failed: UID"), "Conflict", None),
        (status(403, "forbidden"), "Forbidden", None),
        (status(401, "Unauthorized"), "Forbidden", None),
        (status(422, "invalid"), "Forbidden", None),
        (
            status(
                500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
            ),
            "TwoBudgets",
            None,
        ),
        (status(500, "etcdserver: request timed out"), "Failed", None),
        (status(502, ""), "Failed", None),
        (status(504, "timeout", headers={"retry-after": "10"}), "Failed", 10.0),
        (Response(200, {}, b"not json at all"), "Failed", None),
        (Response(201, {}, b""), "Failed", None),
        (Response(201, {}, b'{"kind":"Status","sta'), "Failed", None),
        (Response(500, {}, b"\xff\xfe"), "Failed", None),
    ],
)
def test_each_answer_has_one_meaning(answer: Response, kind: str, retry_after: float | None) -> None:
    """By status, cause and Retry-After; text that is no JSON is lived with, but no proof."""
    found = classify(answer)
    assert (found.kind, found.retry_after_seconds) == (kind, retry_after)


def test_the_budgets_own_words_are_kept() -> None:
    """The cause's message names the budget and its numbers."""
    assert "because of DisruptionBudget" in classify(status(429, "no", cause="DisruptionBudget")).message


def test_an_eviction_carries_both_preconditions_and_never_shortens_the_grace() -> None:
    """uid and resourceVersion stand in the body; gracePeriodSeconds nowhere."""
    assert eviction(POD, "42")["deleteOptions"] == {"preconditions": {"uid": "uid-1", "resourceVersion": "42"}}


def test_a_dry_run_says_so_in_the_query_only() -> None:
    """Differing values in query and body are refused by the server, so only one place is used."""
    server = FakeServer()
    server.answer("POST", PATH, status(201))
    evict(server, POD, "42", dry_run=True)  # type: ignore[arg-type]
    evict(server, POD, "42", dry_run=False)  # type: ignore[arg-type]
    dry, real = server.requests
    assert dry.params == {"dryRun": "All"}
    assert real.params == {}
    assert dry.body == real.body
    assert "dryRun" not in dry.body["deleteOptions"]


def test_a_lost_answer_is_a_failure_and_an_unsent_request_is_not() -> None:
    """What was never sent can safely be sent later; what may have arrived must not be."""
    server = FakeServer()
    server.answer("POST", PATH, OutcomeUnknownError("connection reset"), ClusterError("connection refused"))
    assert evict(server, POD, "1", dry_run=False).kind == "Failed"  # type: ignore[arg-type]
    assert evict(server, POD, "1", dry_run=False).kind == "TooManyRequests"  # type: ignore[arg-type]


def test_a_read_only_connection_is_not_mistaken_for_an_overloaded_server() -> None:
    """A refusal of our own transport is a fault of ours and is raised."""
    server = FakeServer()
    server.answer("POST", PATH, WriteRefusedError("read-only"))
    with pytest.raises(WriteRefusedError):
        evict(server, POD, "1", dry_run=False)  # type: ignore[arg-type]


def test_a_grace_period_is_asked_for_only_where_one_is_given() -> None:
    """Else the pod's own holds."""
    assert "gracePeriodSeconds" not in eviction(POD, "7")["deleteOptions"]
    given = eviction(POD, "7", 0)["deleteOptions"]
    assert given == {"gracePeriodSeconds": 0, "preconditions": {"uid": "uid-1", "resourceVersion": "7"}}
