"""``plan --at``: as if it were another time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rescheduler.adapters.files.recording.reading import read_recording
from tests.paths import EXAMPLES
from tests.unit.cli.desk import Desk

SMALL = str(EXAMPLES / "small.json")
NIGHTS = """\
disruption:
  budgets:
  - name: nights
    windows: [{type: Allow, schedule: "0 22 * * *", duration: 7h, timeZone: Europe/Berlin}]
"""


def planned(desk: Desk, *arguments: str) -> Any:
    """A plan for the small example under a policy that moves at night."""
    answer = desk.shell("plan", "-f", SMALL, "--policy", str(desk.folder / "policy.yaml"), "-o", "json", *arguments)
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


@pytest.mark.parametrize(
    ("time", "moves"),
    [("2027-01-15T12:00:00Z", 0), ("2027-01-15T21:30:00Z", 2), ("2027-01-15T22:30:00+01:00", 2)],
)
def test_windows_are_open_or_closed_as_they_are_then(desk: Desk, time: str, moves: int) -> None:
    """Whatever the zone in which the time is written."""
    desk.policy(NIGHTS)
    assert len(planned(desk, "--at", time)["moves"]) == moves


def test_a_span_counts_from_when_the_cluster_was_read(desk: Desk) -> None:
    """The example is of 11:57 UTC; the plan says what it was made for, and when the cluster was read in truth."""
    desk.policy(NIGHTS)
    taken = planned(desk)["snapshot"]["takenAt"]
    assert taken == "2026-01-15T11:57:44Z"
    assert planned(desk, "--at", "+9h")["moves"] == []
    plan = planned(desk, "--at", "+9h3m")
    assert len(plan["moves"]) == 2
    assert plan["snapshot"]["takenAt"] == taken
    assert plan["warnings"][0] == f"planned as if it were 2026-01-15T21:00:44Z; the cluster is that of {taken}"


def test_pods_are_as_old_as_they_are_then(desk: Desk) -> None:
    """An age that is wanted is reached by waiting."""
    desk.policy("scope: {minimumAge: 43800h}")
    assert planned(desk)["moves"] == []
    assert len(planned(desk, "--at", "2040-01-15T12:00:00Z")["moves"]) == 2


def test_measured_load_stands_still(desk: Desk) -> None:
    """It is not too old for having been measured now: what is spread then is spread by what is known now."""
    cluster = read_recording((SMALL,), None)
    metrics = {
        node.name: {
            "metrics": [{"type": "CPU", "operator": "Average", "rollup": "15m", "value": 90.0 if number else 5.0}]
        }
        for number, node in enumerate(cluster.nodes)
    }
    end = int(cluster.taken_at)
    window = {"duration": "15m", "start": end - 900, "end": end}
    load = desk.file("load.json", json.dumps({"timestamp": end, "window": window, "data": {"NodeMetricsMap": metrics}}))
    desk.policy("objectives: [{name: SpreadLoad, args: {target: {cpu: 60%}}}]")
    now, then = (planned(desk, "--usage", load, *at) for at in ((), ("--at", "+8h")))
    assert now["objectives"][0]["value"] == then["objectives"][0]["value"]
    assert now["objectives"][0]["status"] != "UNKNOWN"
    assert "the measured load stays as it was when the cluster was read" in then["warnings"]


@pytest.mark.parametrize("time", ["yesterday", "2027-01-15", "2027-01-15T12:00:00", "+", "+0s", "+2", "-2h", ""])
def test_what_is_no_time_is_wrong_use(desk: Desk, time: str) -> None:
    """A time without a zone is nobody's."""
    answer = desk.shell("plan", "-f", SMALL, f"--at={time}")
    assert (answer.code, answer.out) == (2, "")
    assert "--at" in answer.err


def test_a_recording_without_any_time_has_nothing_to_count_from(desk: Desk) -> None:
    """The message says what to give instead."""
    desk.record({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    recording = str(desk.folder / "cluster.json")
    assert json.loads(desk.shell("plan", "-f", recording, "-o", "json").out)["snapshot"]["takenAt"] is None
    answer = desk.shell("plan", "-f", recording, "--at", "+2h")
    assert (answer.code, answer.out) == (1, "")
    assert "give one in RFC 3339" in answer.err
