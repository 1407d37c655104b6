"""Ends of a DeschedulerPolicy for our planner, and descheduler's own figures beside what was planned: start here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from msgspec import UNSET, structs

from rescheduler.checker.recounts.recounts import Recount
from rescheduler.descheduler.cycle import Chosen, Cycle, DeschedulerProfile, EnabledPlugin, PluginRun, turns_of
from rescheduler.descheduler.foretelling import LandedWalk, by_state, limits_of, profiles_of, providers_of
from rescheduler.descheduler.improving.ends import RelievedEnd, VacatedEnd, end_of
from rescheduler.descheduler.improving.recounting import recount_of
from rescheduler.descheduler.improving.scopes import PluginScope, scope_of
from rescheduler.descheduler.own_rules import PluginOfProfile
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy
from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Landing, ObjectiveResult, Plan, Status, Upstream
from rescheduler.planning.lexicographic.document import rounded
from rescheduler.planning.objectives.spread_load.state import TOLERANCE
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.problem import Problem
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import Schedulers

_NOBODY = Eligibility((), {}, (), {})


class Ends:
    """The ends of a policy's plugins, with how descheduler's own walk of the same cluster comes out."""

    def __init__(self, walk: LandedWalk, written: DeschedulerPolicy, *, unready_stay: bool = False) -> None:
        """``walk``: of this policy. ``unready_stay``: pods that are not, but those that were chosen for their state."""
        self._walk = walk
        self._written = written
        self._victims: dict[tuple[str, str], list[Chosen]] = defaultdict(list)
        for chosen in walk.cycle.chosen:
            if chosen.refusal is None:
                self._victims[chosen.plugin, chosen.profile].append(chosen)
        self._by_state = by_state(written)
        self._unready_stay = unready_stay
        self._made: list[PlanningObjective] = []
        self._cluster = walk.cluster

    def asked(self, columns: Columns) -> list[PlanningObjective]:
        """One objective for each plugin, in running order."""
        cluster, written = columns.cluster, self._written
        self._cluster = cluster
        cycle = Cycle(cluster, written.node_selector, limits_of(written), providers_of(written))
        turns = turns_of(profiles_of(written, cluster)) if len(cycle.nodes) > 1 else ()
        self._made = [end_of(self._scope(cycle, profile, plugin, columns), columns) for profile, plugin in turns]
        return self._made

    def _scope(self, cycle: Cycle, profile: DeschedulerProfile, plugin: EnabledPlugin, columns: Columns) -> PluginScope:
        victims = {chosen.pod.key for chosen in self._victims[plugin.name, profile.name] if not chosen.pod.is_finished}
        is_by_state = (profile.name, plugin.name) in self._by_state

        def may_be_unready(pod: Pod) -> bool:
            return not self._unready_stay or (is_by_state and pod.key in victims)

        return scope_of(cycle, profile, plugin, columns, victims, may_be_unready)

    def recounts(self) -> Mapping[str, Recount]:
        """By name; a plugin that stands in two profiles is left out, since both go by one name."""
        names = [end.name for end in self._made]
        found = {end.name: recount_of(end, self._cluster) for end in self._made if names.count(end.name) == 1}
        return {name: recount for name, recount in found.items() if recount is not None}

    def beside(self, plan: Plan, schedulers: Schedulers, left: Mapping[PluginOfProfile, int]) -> Plan:
        """The plan with descheduler's figures beside ours. ``left``: finished pods that stay against a plugin's end."""
        figures = self._figures(schedulers.model(self._cluster))
        pairs = zip(plan.objectives, figures, strict=True)
        objectives = tuple(
            structs.replace(_with_left(result, left.get(plugin, 0)), upstream=upstream)
            for result, (plugin, upstream) in pairs
        )
        runs = tuple(self._walk.cycle.runs)
        warnings = [f"{run.plugin}: {run.message}" for run in runs if "error" in run.message]
        return structs.replace(
            plan,
            objectives=objectives or tuple(map(_idle, runs)),
            warnings=(*plan.warnings, *map(str, self._written.findings), *warnings),
        )

    def _figures(self, prediction: SchedulerPrediction) -> Iterator[tuple[PluginOfProfile, Upstream]]:
        before = Placement(prediction.columns)
        after = self._after(before)
        # Objectives of one name stand together in a plan, in the order in which they were asked.
        order = {end.name: number for number, end in enumerate(self._made)}
        for end in sorted(self._made, key=lambda end: order[end.name]):
            scope: PluginScope = end.scope  # type: ignore[attr-defined]
            victims = self._victims[scope.turn.plugin, scope.turn.profile]
            landings = Counter(self._walk.landed[chosen.pod.key].landing for chosen in victims)
            figures = Upstream(
                evictions=len(victims),
                goal=rounded(_worth(end, prediction, before, after)),
                came_back=landings[Landing.SAME_NODE],
                waiting=landings[Landing.PENDING],
                pushed_above=_pushed_above(end, prediction, before, after) or UNSET,
            )
            yield (scope.turn.profile, scope.turn.plugin), figures

    def _after(self, before: Placement) -> Placement:
        """Where pods are once descheduler's victims have landed.

        A pod whose replacement waits counts where it was: that it is away is no end that anybody wants.
        """
        after, index = before.copy(), before.columns.pod_index
        numbers = {node.name: number for number, node in enumerate(before.columns.cluster.nodes)}
        for key, landed in self._walk.landed.items():
            pod = index[key]
            if after.node_of[pod] == NOWHERE or landed.landing is Landing.PENDING:
                continue
            after.forget(pod)
            if landed.node is not None:
                after.assume(pod, numbers[landed.node])
        return after


def within_limits(policy: Policy, written: DeschedulerPolicy) -> Policy:
    """The policy with the limits of the file where those are lower."""
    limits = limits_of(written)
    pairs = (
        ("max_evictions", limits.total),
        ("max_evictions_per_node", limits.per_node),
        ("max_evictions_per_namespace", limits.per_namespace),
    )
    lower = {name: most for name, most in pairs if most is not None and _is_lower(most, getattr(policy.limits, name))}
    return policy.model_copy(update={"limits": policy.limits.model_copy(update=lower)}) if lower else policy


def _with_left(result: ObjectiveResult, left: int) -> ObjectiveResult:
    """Pods that may not go count in what is reached and in what can be."""
    if not left or result.value is None:
        return result
    bound = None if result.bound is None else result.bound + left
    return structs.replace(result, value=result.value + left, bound=bound)


def _is_lower(most: int, present: int | None) -> bool:
    return present is None or most < present


def _worth(end: PlanningObjective, prediction: SchedulerPrediction, before: Placement, after: Placement) -> float:
    """What the objective's value would be after descheduler's cycle."""
    if isinstance(end, RelievedEnd | VacatedEnd) and end.judged.message:
        return 0.0
    cost = end.state(Problem(prediction, after, _NOBODY)).cost
    return end.state(Problem(prediction, before, _NOBODY)).cost - cost if isinstance(end, VacatedEnd) else cost


def _pushed_above(end: PlanningObjective, prediction: SchedulerPrediction, before: Placement, after: Placement) -> int:
    """Nodes that descheduler's cycle leaves farther above their target than it found them."""
    if not isinstance(end, RelievedEnd) or end.judged.message:
        return 0
    start, landed = (end.state(Problem(prediction, where, _NOBODY)).over() for where in (before, after))
    return int((landed > start + TOLERANCE).any(axis=0).sum())


def _idle(run: PluginRun) -> ObjectiveResult:
    """Of a cycle with too few nodes."""
    return ObjectiveResult(run.plugin, Status.OPTIMAL, 0, 0, 0, "evictions", 0.0, run.message)
