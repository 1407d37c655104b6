"""Whose token it is and what he may do, as a scripted API server says it."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.kubernetes.access_reviews import ACCESS_PATH, IDENTITY_PATH, AccessReviews
from rescheduler.adapters.kubernetes.connection import Response
from rescheduler.adapters.kubernetes.failures import OutcomeUnknownError
from rescheduler.extension_points import ClusterError
from rescheduler.model.account import Account, Right
from rescheduler.simulation.clock import SimulatedClock
from tests.unit.adapters.kubernetes_target.fake_server import FakeServer

JANE = {"username": "jane", "uid": "1", "groups": ["a", "b"], "extra": {"k": ["v"]}}
ACCOUNT = Account("jane", "1", ("a", "b"), (("k", ("v",)),))
APPROVE = Right("create", "plans", "approve", name="abc")
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
