"""Who may ask the daemon: tokens, rights, names, rates; by the numbers of the safety map (R1 to R4, R15 to R17)."""

from __future__ import annotations

import pytest

from rescheduler.daemon.api.request_guard import MOST_CLIENTS, RateLimit
from rescheduler.daemon.serving.call_names import CallNames
from rescheduler.model.daemon.account import ApiRight
from tests.clocks import FakeClock
from tests.unit.daemon.api.daemon_bench import HOST, bench, refused

EVERYTHING = [
    ("GET", "/v1/state", ApiRight("get", "state")),
    ("GET", "/v1/rounds", ApiRight("list", "rounds")),
    ("GET", "/v1/rounds/1", ApiRight("get", "rounds")),
    ("GET", "/v1/plans", ApiRight("list", "plans")),
    ("GET", "/v1/plans/second", ApiRight("get", "plans", name="second")),
    ("GET", "/v1/refusals", ApiRight("list", "refusals")),
    ("GET", "/v1/refusals?namespace=other", ApiRight("list", "refusals", namespace="other")),
    ("GET", "/v1/explain/pods/default/a-1", ApiRight("get", "explanations", namespace="default", name="a-1")),
    ("GET", "/v1/explain/nodes/n1", ApiRight("get", "explanations", name="n1")),
    ("POST", "/v1/trigger", ApiRight("create", "rounds")),
    ("POST", "/v1/pause", ApiRight("update", "switch")),
    ("POST", "/v1/resume", ApiRight("update", "switch")),
    ("POST", "/v1/plans/second/approve", ApiRight("create", "plans", "approve", name="second")),
    ("POST", "/v1/policy/acknowledge", ApiRight("create", "policy", "acknowledge")),
]


@pytest.mark.parametrize(("method", "target", "right"), EVERYTHING)
def test_r2_each_operation_asks_for_its_own_right(method: str, target: str, right: ApiRight) -> None:
    """Without it 403 names verb and resource, and nothing is done."""
    found = bench()
    found.reviewer.denied.add(right)
    answer = refused(found.ask(target, method, body={} if method == "POST" else None), 403, str(right))
    assert right.verb in answer.json["message"]
    assert right.resource in answer.json["message"]
    assert found.told == []
    assert found.controls.take_requests() == ()


@pytest.mark.parametrize(("method", "target"), [(method, target) for method, target, _ in EVERYTHING])
def test_r1_r3_without_a_token_or_somebody_to_ask_nobody_gets_in(method: str, target: str) -> None:
    """401 without details; 503 while the cluster cannot say, which is never a yes."""
    found = bench()
    body = {} if method == "POST" else None
    answer = refused(found.ask(target, method, who=None, body=body), 401)
    assert answer.headers["www-authenticate"] == "Bearer"
    assert found.reviewer.asked == []
    found.reviewer.is_down = True
    answer = refused(found.ask(target, method, body=body), 503, "authentication unavailable")
    assert int(answer.headers["retry-after"]) > 0
    found.reviewer.is_down, found.reviewer.rights_down = False, True
    answer = refused(found.ask(target, method, body=body), 503, "authorization unavailable")
    assert int(answer.headers["retry-after"]) > 0
    assert found.told == []


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/nothing", "/openapi.json", "/docs", "/metrics"])
def test_r1_whoever_shows_no_token_does_not_learn_which_pages_there_are(path: str) -> None:
    """They are all alike."""
    assert refused(bench().ask(path, who=None), 401).body == refused(bench().ask("/v1/state", who=None), 401).body


@pytest.mark.parametrize(
    "headers",
    [
        [("Authorization", "Bearer wrong")],
        [("Authorization", "Bearer " + "a" * 65536)],
        [("Authorization", "Bearer token-jane"), ("Authorization", "Bearer token-jane")],
        [("Authorization", "Basic amFuZTpqYW5l")],
        [("Authorization", "token-jane")],
        [("Authorization", "Bearer ")],
        [("Authorization", "Bearer token-jane token-joe")],
        [("Authorization", "Bearer token-j\xe4ne")],
    ],
)
def test_r4_what_is_no_token_of_ours_is_401(headers: list[tuple[str, str]]) -> None:
    """Wrong, too long, twice, of another kind: the answer does not say which."""
    answer = refused(bench().ask("/v1/state", who=None, headers=headers), 401)
    assert answer.json["message"] == "wanted the header Authorization: Bearer TOKEN"


def test_the_word_bearer_may_be_written_in_any_case() -> None:
    """As HTTP has it."""
    assert bench().ask("/v1/state", who=None, headers={"Authorization": "bearer token-jane"}).status == 200


def test_r15_too_many_requests_of_one_account_are_429_and_others_are_served() -> None:
    """Twenty in a second; a second later again."""
    found = bench()
    statuses = [found.ask("/v1/state").status for _ in range(25)]
    assert statuses == [200] * 20 + [429] * 5
    assert int(found.ask("/v1/state").headers["retry-after"]) > 0
    assert found.ask("/v1/state", who="joe").status == 200
    found.clock.time += 1.0
    assert found.ask("/v1/state").status == 200


def test_r15_guessing_tokens_is_slowed_down_before_the_cluster_is_asked() -> None:
    """The cluster's own server is not to be loaded by strangers."""
    found = bench()
    wrong = {"Authorization": "Bearer guess"}
    statuses = [found.ask("/v1/state", who=None, headers=wrong).status for _ in range(30)]
    assert statuses == [401] * 20 + [429] * 10
    assert len(found.reviewer.asked) == 20


def test_clients_of_a_limit_are_forgotten_in_the_end() -> None:
    """Memory does not grow with names."""
    limit = RateLimit(FakeClock(), per_second=1.0)
    assert limit.take("first")
    assert not limit.take("first")
    for number in range(MOST_CLIENTS):
        limit.take(f"client-{number}")
    assert limit.take("first")


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        (HOST, True), ("localhost:2021", True), ("LOCALHOST", True), ("[::1]:2021", True), ("127.0.0.2", True),
        ("evil.example", False), ("evil.example:2021", False), ("10.0.0.5:2021", False), ("localhost.evil", False),
        ("rescheduler.rescheduler-system.svc:2021", False), ("127.0.0.1.evil.example", False), ("", False),
    ],
)  # fmt: skip
def test_r16_on_this_machine_only_its_own_names_are_answered(host: str, is_ours: bool) -> None:
    """A page that makes its own name lead to 127.0.0.1 calls us by that name."""
    assert bench().ask("/v1/state", headers={"Host": host}).status == (200 if is_ours else 403)


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [
        ("rescheduler.rescheduler-system.svc:2021", True), ("rescheduler.x.svc.cluster.local", True),
        ("10.0.0.5:2021", True), ("[fd00::1]:2021", True), ("rescheduler.example.org", True),
        ("evil.example", False), ("svc", False), ("evil.svc.example", False),
    ],
)  # fmt: skip
def test_r16_in_a_cluster_services_addresses_and_the_policys_names_are_answered(host: str, is_ours: bool) -> None:
    """Names that nobody outside can own, and those that the operator has written."""
    names = CallNames(frozenset({"rescheduler.example.org"}), is_loopback=False)
    assert bench(names=names).ask("/v1/state", headers={"Host": host}).status == (200 if is_ours else 403)


def test_r16_pages_of_other_sites_are_refused() -> None:
    """By their origin, and when they ask whether they may; our own origin is fine."""
    found = bench()
    for origin in ("https://evil.example", "null", f"https://{HOST}", "http://127.0.0.1"):
        refused(found.ask("/v1/state", headers={"Origin": origin}), 403, "pages of other sites")
    assert found.ask("/v1/state", headers={"Origin": f"http://{HOST}"}).status == 200
    preflight = {"Access-Control-Request-Method": "POST"}
    answer = refused(found.ask("/v1/trigger", "OPTIONS", who=None, headers=preflight), 403)
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert found.reviewer.asked == ["token-jane"]


@pytest.mark.parametrize(
    "query",
    ["token=x", "access_token=x", "a=1&Bearer=x", "q=eyJhbGciOiJSUzI1NiJ9.eyJ", "id_token", "%74oken=x"],
)
def test_r17_a_token_in_the_address_is_refused(query: str) -> None:
    """Before anything else is looked at; it is not repeated."""
    answer = refused(bench().ask(f"/v1/state?{query}"), 400, "a token stands in the address")
    assert b"eyJ" not in answer.body
    assert b"=x" not in answer.body


def test_a_fault_of_ours_is_told_and_answered_without_its_words() -> None:
    """The server lives on."""
    found = bench()
    found.app.router.routes.clear()
    found.app.add_api_route("/v1/fail", lambda: 1 / 0)
    answer = refused(found.ask("/v1/fail"), 500, "a fault of rescheduler's own (ZeroDivisionError)")
    assert b"division" not in answer.body
    assert found.faults == ["GET /v1/fail: ZeroDivisionError: division by zero"]
