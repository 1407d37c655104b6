"""Whose token it is and what he may do, as a scripted API server says it."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import Response
from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError
from rescheduler.adapters.kubernetes.rights.access_reviews import (
    ACCESS_PATH,
    IDENTITY_PATH,
    MOST_KEPT,
    NO_SECONDS,
    YES_SECONDS,
    AccessReviews,
    ReviewCache,
)
from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.account import Account, ApiRight
from tests.unit.adapters.kubernetes.eviction.fake_server import FakeServer

# Answers of the cluster about tokens and rights, kept for a short time.


class Asked:
    """Counts how often the cluster was asked."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.times = 0

    def __call__(self) -> object:
        """One question."""
        self.times += 1
        return self.answer


@pytest.mark.parametrize(("answer", "seconds"), [("jane", YES_SECONDS), (True, YES_SECONDS), (None, NO_SECONDS)])
def test_an_answer_is_kept_and_then_asked_for_anew(answer: object, seconds: float) -> None:
    """A yes for a minute at most, a no for ten seconds."""
    clock, asked = SimulatedClock(), Asked(answer)
    cache: ReviewCache[object] = ReviewCache(clock)
    assert (YES_SECONDS, NO_SECONDS) == (60.0, 10.0)
    assert cache.get("k", asked) == answer
    clock.sleep(seconds - 0.1)
    assert (cache.get("k", asked), asked.times) == (answer, 1)
    clock.sleep(0.1)
    assert (cache.get("k", asked), asked.times) == (answer, 2)


def test_the_time_runs_from_the_question_not_from_the_answer() -> None:
    """A slow answer is not kept for longer."""
    clock, asked = SimulatedClock(), Asked("jane")
    cache: ReviewCache[object] = ReviewCache(clock)

    def slow() -> object:
        clock.sleep(59)
        return "jane"

    cache.get("k", slow)
    clock.sleep(1)
    cache.get("k", asked)
    assert asked.times == 1


def test_a_failure_is_not_kept() -> None:
    """The next request asks again."""
    cache: ReviewCache[object] = ReviewCache(SimulatedClock())

    def fail() -> object:
        raise ClusterError("away")

    with pytest.raises(ClusterError):
        cache.get("k", fail)
    assert cache.get("k", Asked("jane")) == "jane"


def test_keys_are_kept_apart_and_not_without_end() -> None:
    """The oldest are forgotten: strangers cannot fill our memory."""
    cache: ReviewCache[object] = ReviewCache(SimulatedClock())
    for number in range(MOST_KEPT + 1):
        cache.get(number, lambda number=number: number or "zero")  # type: ignore[misc]
    newest, oldest = Asked("other"), Asked("other")
    assert cache.get(MOST_KEPT, newest) == MOST_KEPT
    cache.get(0, oldest)
    assert (newest.times, oldest.times) == (0, 1)


JANE = {"username": "jane", "uid": "1", "groups": ["a", "b"], "extra": {"k": ["v"]}}
ACCOUNT = Account("jane", "1", ("a", "b"), (("k", ("v",)),))
APPROVE = ApiRight("create", "plans", "approve", name="abc")
TOKEN = "canary-token"


def reviews(**answers: Any) -> tuple[AccessReviews, FakeServer, SimulatedClock]:
    """Reviews by a server with these answers: ``token`` and ``access``."""
    server, clock = FakeServer(), SimulatedClock()
    if "token" in answers:
        server.answer("POST", IDENTITY_PATH, answers["token"])
    if "access" in answers:
        server.answer("POST", ACCESS_PATH, answers["access"])
    return AccessReviews(server, "rescheduler", clock), server, clock  # type: ignore[arg-type]


def token_answer(**status: Any) -> dict[str, Any]:
    """A TokenReview."""
    return {"status": {"authenticated": True, "user": JANE, "audiences": ["rescheduler"], **status}}


def test_a_token_for_us_has_an_account() -> None:
    """It is asked for by our audience; the answer is kept."""
    found, server, clock = reviews(token=token_answer())
    assert found.account_of(TOKEN) == ACCOUNT
    (request,) = server.requests
    assert request.body["spec"] == {"token": TOKEN, "audiences": ["rescheduler"]}
    assert found.account_of(TOKEN) == ACCOUNT
    assert len(server.requests) == 1
    clock.sleep(60)
    found.account_of(TOKEN)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [
        {"status": {"authenticated": False, "error": "expired"}},
        {"status": {}},
        token_answer(authenticated=False),
        token_answer(audiences=["https://kubernetes.default.svc"]),
        token_answer(audiences=[]),
        token_answer(audiences=None),
        token_answer(user={}),
        token_answer(user={"username": ""}),
    ],
)
def test_any_other_token_has_none(answer: dict[str, Any]) -> None:
    """Not accepted, made for somebody else, or by one who knows no audiences; kept for ten seconds."""
    found, server, clock = reviews(token=answer)
    assert found.account_of(TOKEN) is None
    found.account_of(TOKEN)
    assert len(server.requests) == 1
    clock.sleep(10)
    found.account_of(TOKEN)
    assert len(server.requests) == 2


def test_tokens_are_not_kept_but_by_their_hash() -> None:
    """Nobody finds them in memory that is written out."""
    found, _, _ = reviews(token=token_answer())
    found.account_of(TOKEN)
    assert TOKEN not in repr(vars(found._accounts))


def test_a_right_is_asked_for_with_all_that_is_known() -> None:
    """In our API group; empty parts are left out."""
    found, server, _ = reviews(access={"status": {"allowed": True}})
    assert found.allows(ACCOUNT, APPROVE)
    (request,) = server.requests
    assert request.body["spec"] == {
        "user": "jane", "uid": "1", "groups": ["a", "b"], "extra": {"k": ["v"]},
        "resourceAttributes": {
            "group": "rescheduler.dev", "verb": "create", "resource": "plans", "subresource": "approve", "name": "abc",
        },
    }  # fmt: skip
    assert found.allows(ACCOUNT, APPROVE)
    assert len(server.requests) == 1


def test_rights_of_two_accounts_or_two_names_are_not_mixed_up() -> None:
    """One answer each, also where only a group differs."""
    found, server, _ = reviews(access={"status": {"allowed": True}})
    found.allows(ACCOUNT, APPROVE)
    found.allows(ACCOUNT, APPROVE._replace(name="def"))
    found.allows(ACCOUNT._replace(groups=("a",)), APPROVE)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "status",
    [{"allowed": False}, {"allowed": False, "evaluationError": "x"}, {"allowed": True, "denied": True}],
)
def test_anything_but_a_plain_yes_is_a_no(status: dict[str, Any]) -> None:
    """A contradiction too."""
    found, _, _ = reviews(access={"status": status})
    assert not found.allows(ACCOUNT, APPROVE)


FAILURES = [
    Response(403, {}, b'{"message": "no canary-token here"}'),
    Response(401, {}, b""),
    Response(404, {}, b""),
    Response(429, {}, b""),
    Response(500, {}, b"canary-token"),
    Response(201, {}, b"not json"),
    Response(201, {}, b"{}"),
    Response(201, {}, b'{"status": {"authenticated": "yes", "allowed": "yes"}}'),
    Response(201, {}, b"[" * 100_000),
    Response(302, {}, b""),
    ClusterError("https://test cannot be reached"),
    OutcomeUnknownError("https://test did not answer with canary-token"),
]


@pytest.mark.parametrize("failure", FAILURES)
def test_where_nobody_can_say_it_is_neither_yes_nor_no(failure: Any) -> None:
    """An error that holds no token, and nothing is kept: the next request asks again."""
    found, server, _ = reviews(token=failure, access=failure)
    with pytest.raises(ClusterError) as caught:
        found.account_of(TOKEN)
    assert TOKEN not in str(caught.value)
    with pytest.raises(ClusterError):
        found.allows(ACCOUNT, APPROVE)
    server.answer("POST", IDENTITY_PATH, token_answer())
    server.answer("POST", ACCESS_PATH, {"status": {"allowed": True}})
    assert found.account_of(TOKEN) == ACCOUNT
    assert found.allows(ACCOUNT, APPROVE)
