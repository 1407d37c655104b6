"""Requests of every wrong form, by the numbers of the safety map (R5 to R10, R17, R19, R22)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rescheduler.daemon.api import request_bodies
from rescheduler.model.daemon.notices import Paused
from tests.unit.daemon.api.daemon_bench import DaemonBench, bench, refused

JSON = {"Content-Type": "application/json"}


def send(found: DaemonBench, *parts: bytes, target: str = "/v1/pause", **headers: str) -> Any:
    """A POST of raw bytes."""
    given = {**JSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return found.ask(target, "POST", headers=given, parts=parts)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", "(byte 0)"),
        (b"{", "(byte 1)"),
        (b'{"reason": "x",}', "(byte 15)"),
        (b'{"seconds": NaN}', "(byte 12)"),
        (b'{"seconds": Infinity}', "(byte 12)"),
        (b'{"reason": "x", "reason": "y"}', "the member 'reason' stands there twice (byte 16)"),
        (b'{"reason": "x", "re\\u0061son": "y"}', "the member 'reason' stands there twice (byte 16)"),
        (b"[" * 10_000, "nested deeper than 32 levels (byte 32)"),
        (b'{"a":' * 10_000, "nested deeper than 32 levels"),
        (b'{"reason": "\xff"}', "not JSON"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b'{"reason": "x"} {}', "not JSON"),
        (b'{"seconds": 1e999, "reason": nope}', "not JSON"),
        (b'{"seconds": 1e999, "reason": NaN}', "NaN is no number of JSON"),
        (b'{"reason": "a\nb"}', "not JSON"),
    ],
)
def test_r5_what_is_not_json_is_400_with_the_byte(body: bytes, text: str) -> None:
    """Nothing is done."""
    found = bench()
    refused(send(found, body), 400, text)
    assert found.told == []


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "application/jsonx"],
)
def test_r6_another_content_type_is_415(kind: str) -> None:
    """Which pages of other sites could send without asking."""
    refused(bench().ask("/v1/trigger", "POST", headers={"Content-Type": kind} if kind else {}, parts=[b"{}"]), 415)


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'])
def test_json_may_name_its_charset(kind: str) -> None:
    """UTF-8, the only one."""
    assert bench().ask("/v1/trigger", "POST", headers={"Content-Type": kind}, parts=[b"{}"]).status == 202


def test_r6_a_packed_body_or_two_types_are_415() -> None:
    """What is unpacked may be a thousand times larger."""
    refused(send(bench(), b"x", Content_Encoding="gzip"), 415)
    two = [("Content-Type", "application/json"), ("Content-Type", "application/json")]
    refused(bench().ask("/v1/trigger", "POST", headers=two, parts=[b"{}"]), 415)


def test_r7_a_body_beyond_a_mebibyte_is_413_and_ends_the_connection() -> None:
    """By its announced length, or once it has grown so large."""
    for answer in (
        send(bench(), b"{}", Content_Length="1048577"),
        send(bench(), b"{}", Content_Length="99999999999999999999"),
        send(bench(), b"{}", Content_Length="-1"),
        send(bench(), *[b" " * 100_000] * 11),
    ):
        assert refused(answer, 413).headers["connection"] == "close"
    assert send(bench(), *[b" " * 100_000] * 10, b'{"reason": "x"}').status == 200


def test_r18_a_body_that_does_not_come_is_408(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection ends; elsewhere life goes on."""
    import asyncio

    monkeypatch.setattr(request_bodies, "READ_SECONDS", 0.05)
    found = bench()
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(30)
        return {}

    async def keep(message: Any) -> None:
        sent.append(message)

    headers = [
        (b"host", b"localhost"),
        (b"authorization", b"Bearer token-jane"),
        (b"content-type", b"application/json"),
    ]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": "/v1/trigger", "raw_path": b"/v1/trigger", "query_string": b"", "root_path": "", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2021),
    }  # fmt: skip
    asyncio.run(found.app(scope, receive, keep))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


@pytest.mark.parametrize(
    ("target", "body", "path", "text"),
    [
        ("/v1/pause", {"reason": "x", "second": 5}, "", "unknown field"),
        ("/v1/pause", {}, "", "missing required field `reason`"),
        ("/v1/pause", {"reason": ""}, "reason", "length >= 1"),
        ("/v1/pause", {"reason": "x" * 501}, "reason", "length <= 500"),
        ("/v1/pause", {"reason": 5}, "reason", "Expected `str`"),
        ("/v1/pause", {"reason": "x", "seconds": -1}, "seconds", "> 0"),
        ("/v1/pause", {"reason": "x", "seconds": 0}, "seconds", "> 0"),
        ("/v1/pause", {"reason": "x", "seconds": 1e300}, "seconds", "<= 2592000"),
        ("/v1/pause", {"reason": "x", "seconds": "60"}, "seconds", "Expected `float | null`"),
        ("/v1/pause", {"reason": "x", "seconds": True}, "seconds", "Expected `float | null`"),
        ("/v1/pause", [], "", "Expected `object`"),
        ("/v1/pause", None, "", "missing required field"),
        ("/v1/resume", {"reason": "x"}, "", "unknown field"),
        ("/v1/trigger", {"pod": "default/a"}, "", "unknown field"),
        ("/v1/plans/second/approve", {"force": True}, "", "unknown field"),
        ("/v1/policy/acknowledge", {}, "", "missing required field `heldId`"),
        ("/v1/policy/acknowledge", {"heldId": "x" * 65}, "heldId", "length <= 64"),
    ],
)
def test_r8_a_wrong_field_is_422_with_its_path(target: str, body: Any, path: str, text: str) -> None:
    """Nothing is done."""
    found = bench()
    answer = refused(found.post(target, body), 422, text)
    assert answer.json["details"].get("path", "") == path
    assert found.told == []
    assert found.controls.take_requests() == ()


@pytest.mark.parametrize("number", ["1e999", "9" * 400, "-" + "9" * 5000])
def test_r8_a_number_beyond_all_bounds_is_422_too(number: str) -> None:
    """Though no computer can hold it."""
    answer = refused(send(bench(), b'{"reason": "x", "seconds": ' + number.encode() + b"}"), 422)
    assert answer.json["details"]["path"] == "seconds"


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        ("POST", "/v1/state", "GET, HEAD"),
        ("DELETE", "/v1/plans/second", "GET, HEAD"),
        ("PUT", "/v1/pause", "POST"),
        ("GET", "/v1/trigger", "POST"),
        ("HEAD", "/v1/trigger", "POST"),
        ("GET", "/v1/plans/second/approve", "POST"),
        ("OPTIONS", "/v1/state", "GET, HEAD"),
        ("BREW", "/v1/state", "GET, HEAD"),
    ],
)
def test_r9_another_method_is_405_with_those_that_are_answered(method: str, target: str, allowed: str) -> None:
    """In the header Allow."""
    answer = bench().ask(target, method)
    assert (answer.status, answer.headers["allow"]) == (405, allowed)


@pytest.mark.parametrize(
    "target",
    [
        "/v1/plans/none", "/v1/plans/..%2fstate", "/v1/plans/%00", "/v1/plans/" + "a" * 10_240, "/v1/plans/%1b%5b2J",
        "/v1/plans/second/", "/v1/rounds/0", "/v1/rounds/-1", "/v1/rounds/x", "/v1/rounds/%C2%B2",
        "/v1/rounds/" + "9" * 4000, "/v1/explain/nodes/none", "/v1/explain/nodes/%00", "/v1/explain/pods/default/none",
        "/v1/explain/pods/none/a-1", "/v1/explain/pods/..%2f/x", "/v1/explain/pods/default", "/v2/state",
        "/v1/state/", "//v1/state", "/v1/plans//approve", "/docs", "/redoc",
    ],
)  # fmt: skip
def test_r10_what_is_not_there_is_404_and_not_repeated(target: str) -> None:
    """Whatever the name holds."""
    answer = refused(bench().ask(target), 404)
    for part in (b"\\x00", b"\\u0000", b"aaaa", b"9999", b"none", b"[2J", b"a-1"):
        assert part not in answer.body


def test_r10_an_address_beyond_all_reason_is_414() -> None:
    """And the connection ends."""
    assert refused(bench().ask("/v1/plans/" + "a" * 20_000), 414).headers["connection"] == "close"


def test_headers_beyond_all_reason_are_431() -> None:
    """The token aside, which has a bound of its own."""
    refused(bench().ask("/v1/state", headers={"X": "a" * 20_000}), 431)


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200), ("*/*", 200), ("application/*;q=0.5", 200), ("text/html, */*;q=0.1", 200),
        ("text/html", 406), ("application/json;q=0", 406), ("application/yaml, text/*", 406), ("", 200),
    ],
)  # fmt: skip
def test_who_wants_no_json_gets_406(accept: str, status: int) -> None:
    """Nothing else is spoken."""
    assert bench().ask("/v1/state", headers={"Accept": accept}).status == status


@pytest.mark.parametrize("path", ["/v1/rounds", "/v1/plans", "/v1/refusals"])
@pytest.mark.parametrize(
    "query",
    [
        "limit=-1", "limit=0", "limit=1000000000", "limit=501", "limit=ten", "limit=1.5", "limit=%C2%B2", "limit=",
        "continue=%21", "continue=bm9uc2Vuc2U=", "continue=NS4", "continue=NS5ub25l", "limit=1&limit=2", "offset=1",
        "continue=LTEu", "continue=%F0%9F%92%A9",
    ],
)  # fmt: skip
def test_r19_a_page_that_cannot_be_is_400(path: str, query: str) -> None:
    """With the range, or what was wanted."""
    refused(bench().ask(f"{path}?{query}"), 400)


def test_r19_the_range_is_told() -> None:
    """And the parameters that there are."""
    found = bench()
    refused(found.ask("/v1/rounds?limit=-1"), 400, "limit: wanted a whole number from 1 to 500")
    refused(found.ask("/v1/rounds?offset=1"), 400, "unknown parameter 'offset'; there are continue, limit")
    refused(found.ask("/v1/state?x=1"), 400, "none is taken here")


def test_r22_control_characters_are_data_and_are_escaped_wherever_they_come_out() -> None:
    """In answers and in the words for the loop; a notice carries them as they are."""
    found = bench()
    text = "a\x1b[2J\u202eb\x00\n"
    answer = found.post("/v1/pause", {"reason": text})
    assert answer.status == 200
    assert answer.json["reason"] == text
    assert answer.body.isascii()
    assert b"\x1b" not in answer.body
    assert found.told == [Paused(found.clock.time, "jane", text, None)]
    words = found.controls.paused()
    assert words is not None
    assert words.isprintable()
    assert json.loads(found.ask("/v1/state").body)["switch"]["reason"] == text
