"""Objectives of other packages: named by a policy, described, planned for, and named when they are at fault."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.plugins import PLUGINS, parse_policy, policy_sentences
from rescheduler.extension_points.plugin_list import PluginError
from rescheduler.model.plan.plan import Plan, Status
from rescheduler.planning.objectives import OBJECTIVES
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlannedMove, PlanRequest
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.policy.reading.overrides import overridden
from tests.builders import cluster, node, pod
from tests.plugins import installed

HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"
ALLOWED = "guidance: Hold\ndisruption: {ownerless: Allow, singleReplicas: Allow}\n"


class GoEastArgs(PolicyModel):
    """Take one pod to the last node."""

    value: float = 0.0
    """What it claims."""


class GoEast(PlanningObjective):
    """The first pod that may move goes to the last node."""

    name = "GoEast"
    arguments = GoEastArgs
    is_kept_by_places = True

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """One move."""
        last = len(request.prediction.columns.cluster.nodes) - 1
        moves = tuple(PlannedMove(each, last, 1, True, "goes east") for each in request.eligibility.movable[:1])
        return ObjectivePlan(Status.FEASIBLE, self.args.value, None, "pods", "one pod goes east", moves)


class Raising(GoEast):
    """Raises."""

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """Never answers."""
        raise ZeroDivisionError("no east")


class Wordy(GoEast):
    """Answers a text."""

    def plan(self, request: PlanRequest) -> Any:
        """Not a plan."""
        return "east"


class Unbounded(GoEast):
    """Claims a value that is no number."""

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """NaN."""
        return replace(super().plan(request), value=float("nan"))


class Elsewhere(GoEast):
    """Names a node that there is not."""

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """Node 99."""
        answer = super().plan(request)
        return replace(answer, moves=tuple(replace(move, to_node=99) for move in answer.moves))


class Twice(GoEast):
    """Moves one pod twice."""

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """The same move again."""
        answer = super().plan(request)
        return replace(answer, moves=2 * answer.moves)


class Staying(GoEast):
    """Moves a pod to where it is."""

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """To the first node."""
        answer = super().plan(request)
        return replace(answer, moves=tuple(replace(move, to_node=0) for move in answer.moves))


class Impostor:
    """Has all names and is no objective."""

    name, arguments, is_better_higher, is_kept_by_places = "GoEast", GoEastArgs, False, False
    explanation = plan = state = print


def planned(monkeypatch: pytest.MonkeyPatch, kind: str, objectives: str = "[{name: GoEast}]") -> Plan:
    """The plan of a policy whose objective is this class."""
    installed(monkeypatch, "rescheduler.objectives", ("GoEast", f"{__name__}:{kind}"))
    found = cluster(node("a-west"), node("b-east"), pod("web-1", node="a-west"))
    policy = parse_policy(f"{HEAD}{ALLOWED}objectives: {objectives}\n")
    return make_plan(found, policy, CycleOptions(SimulatedClock()))


def test_a_policy_names_it_check_explains_it_and_its_moves_are_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside ours too; the plan says that its value is not recounted."""
    plan = planned(monkeypatch, "GoEast", "[{name: GoEast, args: {value: 3}}, {name: EmptyNodes}]")
    assert [(move.pod.name, move.to_node, move.objective) for move in plan.moves][:1] == [("web-1", "b-east", "GoEast")]
    assert (plan.objectives[0].name, plan.objectives[0].value) == ("GoEast", 3.0)
    assert any("GoEast is of another package: its value is not recounted" in text for text in plan.warnings)
    sentences = list(policy_sentences(parse_policy(f"{HEAD}objectives: [{{name: GoEast}}]\n")))
    assert sentences[0] == "take one pod to the last node (GoEast)"
    assert overridden(parse_policy(HEAD), PLUGINS.objectives, objectives=["GoEast"]).objectives[0].name == "GoEast"


@pytest.mark.parametrize(
    ("objectives", "text"),
    [
        ("[{name: GoEast, args: {valu: 3}}]", "did you mean value"),
        ("[{name: GoEst}]", "SchedulerScore, GoEast; did you mean GoEast"),
    ],
)
def test_wrong_names_and_arguments_are_told(monkeypatch: pytest.MonkeyPatch, objectives: str, text: str) -> None:
    """With what to write instead."""
    with pytest.raises(PolicyError, match=text):
        planned(monkeypatch, "GoEast", objectives)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("Raising", 'objective "GoEast": plan raised ZeroDivisionError: no east'),
        ("Wordy", "objective \"GoEast\": plan answered 'east'; wanted an ObjectivePlan"),
        ("Unbounded", 'objective "GoEast": plan answered value nan and bound None; wanted finite numbers'),
        ("Elsewhere", 'objective "GoEast": plan answered PlannedMove'),
        ("Twice", 'objective "GoEast": plan answered more than one move of a pod'),
        ("Staying", 'objective "GoEast": plan answered PlannedMove'),
        ("Impostor", 'objective "GoEast": Impostor is no PlanningObjective'),
    ],
)
def test_whatever_is_wrong_with_it_is_named(monkeypatch: pytest.MonkeyPatch, kind: str, text: str) -> None:
    """No plan comes of it."""
    with pytest.raises(PluginError, match=text):
        planned(monkeypatch, kind)


def test_without_a_state_it_cannot_be_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy that weighs it against another says which one lacks what."""
    with pytest.raises(PluginError, match=r'objective "GoEast": state raised NotImplementedError'):
        planned(monkeypatch, "GoEast", "[{name: GoEast, weight: 1}, {name: EmptyNodes, weight: 1}]")
    assert "GoEast" not in OBJECTIVES.own
