"""Objectives of other packages: whatever is wrong with an answer of theirs is named, and nothing is moved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from math import isfinite
from typing import TypeVar

from rescheduler.extension_points.plugin_list import PluginError, PluginList
from rescheduler.model.plan.plan import Status
from rescheduler.model.printable import shortened
from rescheduler.planning.problem.objective import ObjectiveSetting, PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlannedMove, PlannedPlace, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.policy.fields.policy import Objective
from rescheduler.policy.plugins import arguments_in, asked

Answer = TypeVar("Answer")


def foreign_objective(
    objectives: PluginList[PlanningObjective], entry: Objective, setting: ObjectiveSetting, move_cost: float
) -> PlanningObjective:
    """The objective that a policy's entry names, each answer of which is looked at before it counts.

    Raises PluginError, as do the methods of what it returns.
    """
    plugin = objectives.get(entry.name)
    if not issubclass(plugin, PlanningObjective):
        raise _fault(objectives, entry.name, f"{plugin.__qualname__} is no PlanningObjective")

    class Checked(plugin):  # type: ignore[misc,valid-type]
        """The plugin's class, with its answers checked."""

        name = entry.name

        def plan(self, request: PlanRequest) -> ObjectivePlan:
            answer: Callable[[], ObjectivePlan] = lambda: super(Checked, self).plan(request)  # noqa: E731
            return _checked(objectives, entry.name, "plan", answer, _of(request))

        def state(self, problem: Problem) -> ObjectiveState:
            answer: Callable[[], ObjectiveState] = lambda: super(Checked, self).state(problem)  # noqa: E731
            return _checked(objectives, entry.name, "state", answer, _in_state)

    args = arguments_in(objectives, entry.name, entry.args)
    return asked(objectives, entry.name, "made", lambda: Checked(args, setting, entry.weight, move_cost))


def _checked(
    objectives: PluginList[PlanningObjective],
    name: str,
    what: str,
    question: Callable[[], Answer],
    faults: Callable[[Answer], Iterator[str]],
) -> Answer:
    answer = asked(objectives, name, what, question)
    for fault in asked(objectives, name, what, lambda: list(faults(answer))):
        raise _fault(objectives, name, f"{what} answered {fault}")
    return answer


def _fault(objectives: PluginList[PlanningObjective], name: str, text: str) -> PluginError:
    return PluginError(f'{objectives.kind} "{name}": {text}')


def _in_state(state: ObjectiveState) -> Iterator[str]:
    if not all(hasattr(state, wanted) for wanted in ("cost", "change", "promising", "move")):
        yield f"{shortened(repr(state))}; wanted an ObjectiveState"
    elif not isfinite(state.cost):
        yield f"a cost of {state.cost}; wanted a finite number"


def _of(request: PlanRequest) -> Callable[[ObjectivePlan], Iterator[str]]:
    """What is wrong with an answer to this request."""
    nodes, pods = range(len(request.prediction.columns.cluster.nodes)), request.eligibility

    def faults(answer: ObjectivePlan) -> Iterator[str]:
        if not isinstance(answer, ObjectivePlan) or not isinstance(answer.status, Status):
            yield f"{shortened(repr(answer))}; wanted an ObjectivePlan"
            return
        if not isfinite(answer.value) or (answer.bound is not None and not isfinite(answer.bound)):
            yield f"value {answer.value} and bound {answer.bound}; wanted finite numbers"
        yield from _moves(answer, {pod: int(request.placement.node_of[pod]) for pod in pods.movable}, nodes)
        yield from _places(answer, set(pods.helpable), nodes)
        if any(node not in nodes for node in answer.closes):
            yield "a node to close that there is not"

    return faults


def _moves(answer: ObjectivePlan, origins: Mapping[int, int], nodes: range) -> Iterator[str]:
    for move in answer.moves:
        if not (
            isinstance(move, PlannedMove)
            and move.to_node in nodes
            and move.wave >= 1
            and origins.get(move.pod, move.to_node) != move.to_node
        ):
            yield f"{shortened(repr(move))}; wanted a move of a pod that may move, to another node, in a wave from 1"
            return
    if len({move.pod for move in answer.moves}) < len(answer.moves):
        yield "more than one move of a pod"


def _places(answer: ObjectivePlan, helpable: Collection[int], nodes: range) -> Iterator[str]:
    for place in answer.placements:
        if not isinstance(place, PlannedPlace) or place.pod not in helpable or place.node not in nodes:
            yield f"{shortened(repr(place))}; wanted a place for a pending pod that may be helped, on a node"
