"""The page over the API: who gets it, with which headers, and what its buttons send."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from rescheduler.model.daemon.account import ApiRight
from tests.unit.daemon.api.daemon_bench import bench, refused
from tests.unit.daemon.page.looks import shown
from tests.unit.daemon.plans import plan

STATE = ApiRight("get", "state")


def test_whoever_may_get_the_state_gets_the_page_without_a_redirect() -> None:
    """As HTML, kept by nobody, with a policy that lets in its own style and script and nothing else."""
    answer = bench().ask("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert (answer.status, answer.type) == (200, "text/html; charset=utf-8")
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers
    policy, page = answer.headers["content-security-policy"], answer.text
    for tag in ("style", "script"):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert f"{tag}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"""\b(src|href|on\w+|style)=["'](?!data:,)""", page)


def test_nobody_else_gets_it() -> None:
    """401 without a token, 403 without the right, and the right is named."""
    found = bench()
    refused(found.ask("/", who=None), 401)
    found.reviewer.denied.add(STATE)
    refused(found.ask("/"), 403, "may not get state")
    found.reviewer.rights_down = True
    refused(found.ask("/"), 503, "authorization unavailable")


def test_it_is_html_and_only_that() -> None:
    """Whoever takes no HTML is told so; no parameter is known; HEAD is GET without a body."""
    found = bench()
    refused(found.ask("/", headers={"Accept": "application/json"}), 406, "only text/html is answered here")
    refused(found.ask("/v1/state", headers={"Accept": "text/html"}), 406, "only application/json is answered here")
    refused(found.ask("/?x=1"), 400, "unknown parameter")
    head = found.ask("/", "HEAD")
    assert (head.status, head.body) == (200, b"")
    refused(found.post("/"), 405)


@pytest.mark.parametrize(
    ("right", "missing", "there"),
    [
        (ApiRight("update", "switch"), ">Pause</button>", ">Approve</button>"),
        (ApiRight("create", "plans", "approve"), ">Approve</button>", ">Pause</button>"),
        (ApiRight("list", "plans"), "default/a-2</td>", "carried out; approved by joe"),
        (ApiRight("list", "rounds"), "carried out; approved by joe", "default/a-2</td>"),
        (ApiRight("list", "refusals"), "PodDisruptionBudget</td>", "default/a-2</td>"),
    ],
)
def test_each_part_has_the_right_of_its_route(right: ApiRight, missing: str, there: str) -> None:
    """Without it the page comes all the same, and says what is missing."""
    found = bench()
    assert missing in found.ask("/").text
    found.reviewer.denied.add(right)
    found.clock.time += 2
    page = found.ask("/")
    assert page.status == 200
    assert missing not in page.text
    assert there in page.text
    assert f"Your account may not {right}." in shown(page.text)


def test_what_a_button_sends_is_what_the_api_takes() -> None:
    """The address and If-Match of a form; a plan that was replaced meanwhile is 409 and named."""
    found = bench()
    page = found.ask("/").text
    target, tag = re.findall(r'data-post="(/v1/plans/[^"]*)" data-match="([^"]*)"', page)[0]
    found.controls.propose("third", plan("a-1", "a-2"), found.clock.now())
    late = refused(found.post(target, headers={"If-Match": f'"{tag}"'}), 409)
    assert late.json["details"]["newerPlan"] == "third"
    found.clock.time += 2
    target, tag = re.findall(r'data-post="(/v1/plans/[^"]*)" data-match="([^"]*)"', found.ask("/").text)[0]
    assert target == "/v1/plans/third/approve"
    assert found.post(target, headers={"If-Match": f'"{tag}"'}).status == 200
    assert "jane" in shown(found.ask("/").text)


def test_a_hundred_polls_a_second_are_bounded() -> None:
    """Twenty are answered, the others are 429; the next second is as any other."""
    found = bench()
    statuses = [found.ask("/").status for _ in range(100)]
    assert (statuses.count(200), statuses.count(429)) == (20, 80)
    found.clock.time += 1
    assert found.ask("/").status == 200
    assert found.faults == []
