"""What one plan says of one snapshot, as a row: the work of a task without replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from rescheduler.adapters.files.archive.archive_reading import archived_load
from rescheduler.adapters.files.archive.snapshot_names import ArchivedName, written_time
from rescheduler.adapters.files.load_recording import load_report
from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.adapters.files.recording.sources import name_of
from rescheduler.batch.backtest.counted_clock import CountedClock
from rescheduler.batch.backtest.row_cost import cost_row, standing_cost
from rescheduler.batch.backtest.task import BacktestRow, Planned, Task
from rescheduler.checker.recounts.overload import overload_left
from rescheduler.composition.load.recorded_load import PolicyLoad, RecordedLoad
from rescheduler.composition.scheduler_sources import predictions_by
from rescheduler.costs.fleet import NO_OWNER, payer_of
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.leaving_taint import without_leaving_taints
from rescheduler.model.plan.plan import ObjectiveResult, Plan
from rescheduler.model.printable import in_one_line
from rescheduler.model.usage.load_report import LoadReport
from rescheduler.policy.fields.objectives import SpreadLoadArgs
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.objective_arguments import arguments_of
from rescheduler.scheduling.schedulers import MeasuredLoad, Schedulers
from rescheduler.usage.observed_use import observed_use
from rescheduler.usage.targets import targets_as_numbers


def plan_task(text: bytes) -> bytes:
    """Plan for the one time of a task; a snapshot or policy that cannot be used is its answer too."""
    task = msgspec.json.decode(text, type=Task)
    time = task.times[0]
    try:
        answer = _planned(task, time)
    except (ReschedulerError, ValueError) as error:
        answer = Planned(time, failure=in_one_line(error))
    return msgspec.json.encode(answer)


def _planned(task: Task, time: int) -> Planned:
    policy = task.policy_in_force()
    cluster, report = read_snapshot(task.archive, time)
    schedulers = schedulers_of(policy, cluster, load_of(policy, report))
    options = CycleOptions(CountedClock(cluster.taken_at), schedulers, task.selection(), seed=task.seed)
    plan = make_plan(cluster, policy, options)
    return planned_of(cluster, plan, policy, schedulers, time, has_load=report is not None)


def planned_of(
    cluster: Cluster, plan: Plan, policy: Policy, schedulers: Schedulers, time: int, *, has_load: bool
) -> Planned:
    """A plan as a row."""
    nodes = final_nodes(cluster, plan)
    pending = plan.snapshot.pending_pods
    row = BacktestRow(
        time=written_time(time),
        policy="",
        setting={},
        objectives=[objective_row(one) for one in plan.objectives],
        evictions=len(plan.moves),
        moves=[move_row(move.pod, move.from_node, move.to_node) for move in plan.moves],
        nodes_in_use=(after := in_use(cluster, nodes)),
        nodes_emptied=in_use(cluster, standing_nodes(cluster)) - after,
        pending_before=pending,
        pending_after=pending - len(plan.placements),
        pending_minutes=None,
        refusals=dict(sorted(Counter(refusal.rule for refusal in plan.refusals).items())),
        churn=None,
        overload=overload(cluster, plan, policy, schedulers) if has_load else None,
        cost=cost_row(plan.cost, plan.cost),
    )
    unmoved = standing_cost(cluster, policy)
    if unmoved is None:
        return Planned(time, row, payers(cluster, plan))
    return Planned(time, row, payers(cluster, plan), unmoved.after, len(unmoved.unpriced))


def read_snapshot(archive: str, time: int) -> tuple[Cluster, LoadReport | None]:
    """A snapshot and its load. Raises SnapshotError."""
    name = f"{archive}@{written_time(time)}"
    cluster, load = read_recording([name]), archived_load(ArchivedName(archive, time))
    return cluster, None if load is None else load_report(load, name_of(name))


def load_of(policy: Policy, report: LoadReport | None) -> MeasuredLoad:
    """The load that was recorded; providers are never asked, since they tell of now."""
    return PolicyLoad(policy) if report is None else RecordedLoad(policy, report, "the archive")


def schedulers_of(policy: Policy, cluster: Cluster, load: MeasuredLoad) -> Schedulers:
    """The schedulers that a policy names. Raises PolicyError, ConfigurationError, SnapshotError."""
    return predictions_by(load, policy).schedulers(cluster)


def standing_nodes(cluster: Cluster) -> dict[str, str | None]:
    """Where pods that hold room stand, by ``NAMESPACE/NAME``."""
    return {pod.key: pod.node_name for pod in cluster.pods if not pod.is_finished}


def final_nodes(cluster: Cluster, plan: Plan) -> dict[str, str | None]:
    """Where they stand once a plan is done."""
    nodes = standing_nodes(cluster)
    nodes |= {move.pod.key: move.to_node for move in plan.moves}
    return nodes | {item.pod.key: item.node for item in plan.placements}


def in_use(cluster: Cluster, nodes: Mapping[str, str | None]) -> int:
    """Nodes with more than pods of DaemonSets and mirror pods on them."""
    own = {pod.key for pod in cluster.pods if pod.belongs_to_its_node}
    return len(
        {node for key, node in nodes.items() if node is not None and key not in own}.intersection(cluster.node_by_name)
    )


def overload(cluster: Cluster, plan: Plan, policy: Policy, schedulers: Schedulers) -> float | None:
    """Use above the targets of the policy's SpreadLoad, or else of its defaults, once a plan is done."""
    found = (arguments_of(objective) for objective in policy.objectives)
    args = next((one for one in found if isinstance(one, SpreadLoadArgs)), SpreadLoadArgs())
    seen = schedulers.configured(without_leaving_taints(cluster))
    columns = columns_of(seen)
    observed = observed_use(columns, schedulers.load.windows(seen), args.statistic, tuple(args.target))
    return round(overload_left(seen, plan, observed, targets_as_numbers(args.target, columns, observed)), 6)


def objective_row(one: ObjectiveResult) -> dict[str, Any]:
    """What a row tells of an objective."""
    found = msgspec.to_builtins(one)
    return {name: found.get(name) for name in ("name", "status", "value", "bound", "helped", "wanted")}


def move_row(pod: Any, from_node: str, to_node: str | None) -> dict[str, Any]:
    """What a row tells of a move."""
    return {"pod": msgspec.to_builtins(pod), "fromNode": from_node, "toNode": to_node}


def payers(cluster: Cluster, plan: Plan) -> dict[str, int]:
    """How many pods of which workload are moved."""
    found: Counter[str] = Counter()
    for move in plan.moves:
        found[workload_key(cluster, move.pod.key)] += 1
    return dict(found)


def workload_key(cluster: Cluster, pod_key: str) -> str:
    """The workload of a pod, in words; one that nothing recreates, or that is not there, stands for itself."""
    pod = cluster.pod_by_key.get(pod_key)
    return f"{NO_OWNER} {pod_key}" if pod is None else payer_of(pod, cluster)
