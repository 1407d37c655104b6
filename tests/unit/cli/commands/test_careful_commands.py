"""A person's commands are bound by the rates and ages that a policy writes, and by no others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.paths import EXAMPLES
from tests.unit.cli.desk import Desk

SMALL = str(EXAMPLES / "small.json")
"""Two evictions make room for its pending pod."""
CAREFUL = "scope: {minimumAge: %s}\ndisruption: {rates: {perHour: %s}}\n"


def planned(desk: Desk, command: str, body: str) -> Any:
    """The document that a command prints under a policy."""
    desk.policy(body)
    answer = desk.shell(command, "-f", SMALL, "--policy", str(desk.folder / "policy.yaml"), "-o", "json")
    assert answer.code in (0, 1), answer.err
    return json.loads(answer.out)


@pytest.mark.parametrize("command", ["plan", "simulate"])
@pytest.mark.parametrize(
    ("body", "moves"),
    [
        ("", 2),
        (CAREFUL % ("", ""), 2),
        (CAREFUL % ('""', "null"), 2),
        ("scope: {}\ndisruption: {rates: {}, rampUp: }\n", 2),
        ("disruption: {rates: {perHour: 2}}", 2),
        ("disruption: {rates: {perHour: 1}}", 0),
        ("disruption: {rates: {perDay: 1}}", 0),
        ("scope: {minimumAge: 43800h}", 0),
        ("scope: {minimumAge: 0s}", 2),
        ("disruption: {rates: {perHour: unlimited}}", 2),
    ],
)
def test_what_a_policy_writes_binds(desk: Desk, command: str, body: str, moves: int) -> None:
    """An empty value is not written: it binds ``run`` alone."""
    assert len(planned(desk, command, body)["moves"]) == moves
