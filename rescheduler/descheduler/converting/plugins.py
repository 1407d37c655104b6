"""What becomes of descheduler's plugins: objectives of our own policy, where they are about placement."""

from __future__ import annotations

from typing import Any, Final

from rescheduler.descheduler.arguments import DeschedulerArguments
from rescheduler.descheduler.converting.draft import PolicyDraft
from rescheduler.descheduler.plugins.node_rules import NodeAffinityArguments, NodeTaintsArguments
from rescheduler.descheduler.plugins.node_utilization import HighNodeUtilizationArguments, LowNodeUtilizationArguments
from rescheduler.descheduler.plugins.topology_spread import TopologySpreadArguments

NOT_PLACEMENT: Final = (
    "is not about placement: its victims need no better node, they need to go. Keep it in the DeschedulerPolicy, which "
    "plan, apply and run take as it is"
)
MOST_TARGETS: Final = 16
_OVER: Final = {True: ", by useDeviationThresholds above the mean of the nodes", False: ""}
REPAIRED: Final = {
    "RemovePodsViolatingInterPodAntiAffinity": "pairs that required anti-affinity keeps apart; preferred terms are "
    "left to SchedulerScore",
    "RemovePodsViolatingNodeAffinity": "pods on nodes that their nodeSelector or required affinity does not admit",
    "RemovePodsViolatingNodeTaints": "pods on nodes whose NoSchedule taint they do not tolerate",
    "RemovePodsViolatingTopologySpreadConstraint": "DoNotSchedule constraints beyond their maxSkew, all matching pods "
    "counted",
}
"""What of each plugin FaultDomains repairs."""


def convert_plugin(draft: PolicyDraft, path: str, name: str, arguments: DeschedulerArguments) -> None:
    """One plugin that runs. ``path``: the profile and the plugin."""
    if isinstance(arguments, LowNodeUtilizationArguments):
        _convert_low(draft, path, arguments)
    elif isinstance(arguments, HighNodeUtilizationArguments):
        _convert_high(draft, path, arguments)
    elif name in REPAIRED:
        draft.objective("FaultDomains", {}, f"{path}: {REPAIRED[name]}")
        _rest_of_repaired(draft, path, arguments)
    elif name == "RemoveDuplicates":
        text = (
            "no rule of the pods themselves asks for it. Write a topologySpreadConstraint over kubernetes.io/hostname "
            "into the workloads, and FaultDomains repairs it; or keep the plugin in the DeschedulerPolicy"
        )
        draft.nothing(path, text)
    else:
        draft.nothing(path, NOT_PLACEMENT)


def _convert_low(draft: PolicyDraft, path: str, arguments: LowNodeUtilizationArguments) -> None:
    over_mean = arguments.use_deviation_thresholds
    target: dict[str, Any] = {
        resource: _target(percent, is_over_mean=over_mean) for resource, percent in arguments.target_thresholds.items()
    }
    measured = arguments.metrics_utilization is not None
    if any(resource == "MetricResource" for resource in target):
        target = {"cpu": target["MetricResource"]}
        draft.nothing(f"{path}.args.metricsUtilization.prometheus.query", "SpreadLoad goes by cpu as it is measured")
    kept = dict([item for item in target.items() if item[0]][:MOST_TARGETS])
    if len(kept) < len(target):
        draft.nothing(
            f"{path}.args.targetThresholds", "resources without a name, or beyond the sixteenth, are left out"
        )
    if not kept:
        return
    draft.objective("SpreadLoad", {"target": kept}, f"{path}: targetThresholds are the target{_OVER[over_mean]}")
    draft.nothing(
        f"{path}.args.thresholds", "pods may go to any node that stays below the target, not to underused ones alone"
    )
    if measured:
        draft.nothing(f"{path}.args.metricsUtilization", "usage.providers and the objective's statistic take its place")
    else:
        draft.nothing(f"{path}.args", "no usage is measured, so requests stand in for it, as they do there")
    if arguments.number_of_nodes:
        draft.nothing(f"{path}.args.numberOfNodes", "a node above its target is relieved however many are underused")
    _convert_both(draft, path, arguments)


def _target(percent: float, *, is_over_mean: bool) -> Any:
    if is_over_mean:
        return {"overMean": f"{percent:g}%"}
    return f"{max(percent, 1.0):g}%"


def _convert_high(draft: PolicyDraft, path: str, arguments: HighNodeUtilizationArguments) -> None:
    draft.objective("EmptyNodes", {}, f"{path}: nodes are emptied whole, or left alone")
    text = (
        "not only nodes below them: every node is emptied whose pods fit elsewhere, the most nodes by the fewest moves"
    )
    draft.nothing(f"{path}.args.thresholds", text)
    if arguments.number_of_nodes:
        draft.nothing(f"{path}.args.numberOfNodes", "write maxNodes into the objective to bound how many are emptied")
    if arguments.eviction_modes:
        draft.nothing(f"{path}.args.evictionModes", "a node is emptied of all its pods, or not at all")
    _convert_both(draft, path, arguments)


def _convert_both(
    draft: PolicyDraft, path: str, arguments: LowNodeUtilizationArguments | HighNodeUtilizationArguments
) -> None:
    limits = getattr(arguments, "eviction_limits", None)
    if limits is not None and limits.node is not None:
        draft.put_least(
            "limits", "maxEvictionsPerNode", limits.node, f"{path}.args.evictionLimits.node, here for the whole plan"
        )


def _rest_of_repaired(draft: PolicyDraft, path: str, arguments: DeschedulerArguments) -> None:
    if isinstance(arguments, NodeAffinityArguments):
        if any(kind.startswith("preferred") for kind in arguments.node_affinity_type):
            text = "preferred affinity is the objective SchedulerScore: pods move where their scheduler scores higher"
            draft.objective("SchedulerScore", {}, f"{path}.args.nodeAffinityType: {text}")
    elif isinstance(arguments, NodeTaintsArguments):
        if arguments.include_prefer_no_schedule:
            draft.objective("SchedulerScore", {}, f"{path}.args.includePreferNoSchedule: the scheduler's own score")
        if arguments.excluded_taints or arguments.included_taints:
            draft.nothing(
                f"{path}.args, taints by name", "every NoSchedule taint counts; tolerate those that should not"
            )
    elif isinstance(arguments, TopologySpreadArguments):
        if "ScheduleAnyway" in arguments.constraints:
            draft.objective(
                "SchedulerScore", {}, f"{path}.args.constraints: ScheduleAnyway is the scheduler's own score"
            )
        if "topology_balance_node_fit" in arguments.model_fields_set:
            draft.nothing(f"{path}.args.topologyBalanceNodeFit", "always on")
