"""Commands with the real planner, scheduler, checker and simulator behind them, on a pretended cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from rescheduler.adapters.simulated.scenarios import fragmented
from rescheduler.composition.live import cluster_source, ledgers
from rescheduler.extension_points import NOTHING_EARLIER
from rescheduler.model.objects.cluster import Cluster
from rescheduler.report.documents import plan_schema
from tests.unit.cli.conftest import Answer

Shell = Callable[..., Answer]


@pytest.fixture
def fragments(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """A fragmented cluster stands where ``-f`` points."""
    found = fragmented(3)
    monkeypatch.setattr(cluster_source, "read_cluster", lambda _options, _progress: found)
    monkeypatch.setattr(ledgers, "earlier_evictions", lambda *_: NOTHING_EARLIER, raising=False)
    return found


def document(answer: Answer) -> Any:
    """The JSON on standard output of a command that went well."""
    assert (answer.code, answer.err) == (0, "")
    return json.loads(answer.out)


def test_a_plan_satisfies_its_schema_and_the_same_seed_gives_the_same_bytes(fragments: Cluster, shell: Shell) -> None:
    """Byte-equal but for the seconds."""
    first, second = (shell("plan", "-o", "json", "--seed", "5", "--deadline", "10m") for _ in range(2))
    plan = document(first)
    jsonschema.Draft202012Validator(plan_schema()).validate(plan)
    assert plan["objectives"][0]["status"] == "OPTIMAL"
    assert plan["moves"]
    without_seconds = [re.sub(r'"seconds": [0-9.e-]+', "", answer.out) for answer in (first, second)]
    assert without_seconds[0] == without_seconds[1]


def test_simulate_lands_what_plan_proposes(fragments: Cluster, shell: Shell) -> None:
    """The result has the plan's moves, each landed, and satisfies the schema."""
    plan, result = document(shell("plan", "-o", "json")), document(shell("simulate", "-o", "json"))
    jsonschema.Draft202012Validator(plan_schema()).validate(result)
    assert [move["pod"] for move in result["moves"]] == [move["pod"] for move in plan["moves"]]
    assert {move["outcome"] for move in result["moves"] + result["placements"]} == {"Landed"}


def test_explain_agrees_with_the_plan(fragments: Cluster, shell: Shell) -> None:
    """Every pod that the plan moves Moves, every refused one is Refused by the same rule, the pending one is helped."""
    plan = document(shell("plan", "-o", "json"))
    moved = plan["moves"][0]
    answer = document(shell("explain", "pod", f"{moved['pod']['namespace']}/{moved['pod']['name']}", "-o", "json"))
    assert (answer["kind"], answer["verdict"], answer["moves"][0]["toNode"]) == (
        "Explanation",
        "Moves",
        moved["toNode"],
    )
    refused = plan["refusals"][0]
    answer = document(shell("explain", "pod", f"{refused['pod']['namespace']}/{refused['pod']['name']}", "-o", "json"))
    assert answer["verdict"] == "Refused"
    assert refused["rule"] in [refusal["rule"] for refusal in answer["refusals"]]
    helped = plan["placements"][0]
    answer = document(shell("explain", "pod", f"{helped['pod']['namespace']}/{helped['pod']['name']}", "-o", "json"))
    assert (answer["verdict"], answer["placements"]) == ("GetsAPlace", [helped])
    answer = document(shell("explain", "node", moved["fromNode"], "-o", "json"))
    assert moved in answer["moves"]
    assert "FITS NOW" in shell("explain", "pod", f"{moved['pod']['namespace']}/{moved['pod']['name']}").out


def test_explain_of_what_is_not_there_fails_with_what_is_near(fragments: Cluster, shell: Shell) -> None:
    """An unknown name is a failure, a name of another form wrong use."""
    near = fragments.pods[0].key
    answer = shell("explain", "pod", near[:-1])
    assert (answer.code, answer.out) == (1, "")
    assert f"did you mean {near}" in answer.err
    assert shell("explain", "node", "nowhere").code == 1
    assert shell("explain", "pod", "web-1").code == 2


def test_every_shared_command_has_every_form(fragments: Cluster, shell: Shell) -> None:
    """Pages of HTML too, for commands whose answer is no plan: they hold what the wide form shows."""
    pod, node = fragments.pending_pods[0].key, fragments.nodes[0].name
    named = ["score", pod], ["explain", "pod", pod], ["explain", "node", node]
    for command in (*named, ["schedule"], ["plan"]):
        for form in ("table", "wide", "json", "yaml", "html"):
            answer = shell(*command, "-o", form)
            assert (answer.code, bool(answer.out)) == (0, True)
        assert answer.out.startswith("<!DOCTYPE html>")
        assert (node if node in command else pod.partition("/")[2]) in answer.out


def test_score_and_schedule_have_the_fields_of_the_contract(fragments: Cluster, shell: Shell) -> None:
    """Verdict and total for each node; node and reasons for each pending pod."""
    pending = fragments.pending_pods[0].key
    scores = document(shell("score", pending, "-o", "json"))
    assert (scores["kind"], len(scores["nodes"])) == ("Scores", len(fragments.nodes))
    assert all({"node", "feasible", "reasons", "scores", "total"} <= node.keys() for node in scores["nodes"])
    assert not any(node["feasible"] for node in scores["nodes"])
    assert "Insufficient cpu" in shell("score", pending).out
    schedule = document(shell("schedule", "-o", "json"))
    (found,) = schedule["pods"]
    assert (schedule["kind"], found["node"], found["bestNodes"]) == ("Schedule", None, [])
    assert sum(found["reasons"].values()) >= len(fragments.nodes)


def test_schedule_shows_the_chosen_pods_only(fragments: Cluster, shell: Shell) -> None:
    """-n and -l narrow what is shown."""
    namespace = fragments.pending_pods[0].namespace
    assert len(document(shell("schedule", "-o", "json", "-n", namespace))["pods"]) == 1
    assert document(shell("schedule", "-o", "json", "-l", "no=such"))["pods"] == []
    assert "no pod is pending" in shell("schedule", "-l", "no=such").out


def test_limits_bind_the_plan(fragments: Cluster, shell: Shell) -> None:
    """Without evictions nothing can be helped: an answer, not a failure."""
    answer = shell("plan", "-o", "json", "--max-evictions", "0")
    plan = document(answer)
    assert (plan["moves"], plan["objectives"][0]["status"]) == ([], "INFEASIBLE")
    assert plan["objectives"][0]["message"]
    assert shell("plan", "--max-evictions", "0", "--exit-code").code == 0


@pytest.mark.parametrize("seed", ["0", "1", "7"])
def test_demo_ends_with_every_pod_placed(shell: Shell, seed: str) -> None:
    """Four chapters: cluster, plan, afterwards, check; nothing pending at the end."""
    answer = shell("demo", "--seed", seed)
    assert (answer.code, answer.err) == (0, "")
    assert [line[0] for line in answer.out.splitlines() if re.match(r"[1-4]\. ", line)] == ["1", "2", "3", "4"]
    assert "0 pending pods left" in answer.out
    assert shell("demo", "--seed", seed).out.split("\n2. ")[0] == answer.out.split("\n2. ")[0]


def test_the_demo_says_what_a_tie_is_where_a_pod_lands_elsewhere(shell: Shell) -> None:
    """With both nodes, and what counts; a pod that lands as planned needs no words."""
    told = " ".join(shell("demo", "--seed", "11").out.split("\n4. ")[1].split())
    foretold, landed = re.findall(r"the plan foretold (\S+)\. The scheduler scored \1 and (\S+)", told)[0]
    assert foretold != landed
    assert f"on {landed}: as " in told
    assert "alike, a tie, and draws one of them by lot; what counts is the room on node-2, and that was made" in told
    assert told.count("foretold") == told.count("LandedElsewhere") == 1
