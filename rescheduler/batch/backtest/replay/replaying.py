"""The work of a task with replay: one history, time by time, as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf

import msgspec

from rescheduler.adapters.files.archive.snapshot_names import written_time
from rescheduler.batch.backtest.planned_row import (
    in_use,
    load_of,
    move_row,
    objective_row,
    overload,
    read_snapshot,
    schedulers_of,
    standing_nodes,
    workload_key,
)
from rescheduler.batch.backtest.replay.carried_load import carried
from rescheduler.batch.backtest.replay.history import History, Stay, owners_recounted, placed, standing, waiting
from rescheduler.batch.backtest.replay.round import Outcome, Rounds
from rescheduler.batch.backtest.row_cost import NO_PLAN, cost_row, standing_cost
from rescheduler.batch.backtest.task import BacktestRow, Planned, Task
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PodReference
from rescheduler.model.printable import in_one_line
from rescheduler.model.usage.load_report import LoadReport
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.queue import schedule_pending
from rescheduler.scheduling.schedulers import Schedulers


def replay_task(text: bytes) -> bytes:
    """Carry one history on over all times of a task."""
    task = msgspec.json.decode(text, type=Task)
    try:
        return msgspec.json.encode(_Replay(task).rows())
    except (ReschedulerError, ValueError) as error:
        why = in_one_line(error)
        return msgspec.json.encode([Planned(time, failure=why) for time in task.times])


class _Replay:
    def __init__(self, task: Task) -> None:
        self._task = task
        self._policy = task.policy_in_force()
        self._rounds = Rounds(self._policy if task.policy else None, task.selection(), task.seed)
        self._history = History()

    def rows(self) -> Sequence[Planned]:
        """One for each time; a snapshot that cannot be read is passed over."""
        found = []
        times = self._task.times
        for time, following in zip(times, (*times[1:], inf), strict=True):
            try:
                found.append(self._step(time, following))
            except ReschedulerError as error:
                found.append(Planned(time, failure=in_one_line(error)))
        return _with_minutes(found)

    def _step(self, time: int, following: float) -> Planned:
        recorded, report = read_snapshot(self._task.archive, time)
        policy = self._policy
        is_first = not self._history.is_begun
        cluster = self._history.at(recorded)
        schedulers = _schedulers(policy, recorded, cluster, report)
        if not is_first:
            cluster = owners_recounted(_scheduled(cluster, schedulers))
            schedulers = _schedulers(policy, recorded, cluster, report)
        outcome = self._rounds.run(cluster, schedulers, recounts=not is_first, until=following)
        after = _as_archived(cluster, outcome)
        again = self._history.settle(recorded, _kept(cluster, outcome, self._history), outcome.evicted)
        row = self._row(time, cluster, after, outcome, again)
        if report is not None:
            over = overload(after, NO_PLAN, policy, _schedulers(policy, recorded, after, report))
            row = msgspec.structs.replace(row, overload=over)
        by_uid = {pod.uid: pod for pod in cluster.pods}
        payers = Counter(workload_key(cluster, by_uid[uid].key) for uid in outcome.evicted if uid in by_uid)
        cost = standing_cost(cluster, policy)
        row = msgspec.structs.replace(row, cost=cost_row(cost, standing_cost(after, policy)))
        return Planned(time, row, dict(payers), unpriced=0 if cost is None else len(cost.unpriced))

    def _row(self, time: int, before: Cluster, after: Cluster, outcome: Outcome, again: int) -> BacktestRow:
        plan = outcome.plan or NO_PLAN
        by_uid = {pod.uid: pod for pod in before.pods}
        order = {move.pod.uid: number for number, move in enumerate(plan.moves)}
        gone = sorted((uid for uid in outcome.evicted if uid in by_uid), key=lambda uid: order.get(uid, len(order)))
        used = in_use(after, standing_nodes(after))
        return BacktestRow(
            time=written_time(time),
            policy="",
            setting={},
            objectives=[objective_row(one) for one in plan.objectives],
            evictions=len(gone),
            moves=[_move(by_uid[uid].namespace, by_uid[uid].name, uid, by_uid[uid].node_name, outcome) for uid in gone],
            nodes_in_use=used,
            nodes_emptied=in_use(before, standing_nodes(before)) - used,
            pending_before=len(before.pending_pods),
            pending_after=len(after.pending_pods),
            pending_minutes=0.0,
            refusals=dict(sorted(Counter(refusal.rule for refusal in plan.refusals).items())),
            churn=again,
            overload=None,
            cost=None,
        )


def _move(namespace: str, name: str, uid: str, origin: str | None, outcome: Outcome) -> dict[str, object]:
    stay = outcome.stays.get(uid)
    return move_row(PodReference(namespace, name, uid), origin or "", None if stay is None else stay.node)


def _schedulers(policy: Policy, recorded: Cluster, cluster: Cluster, report: LoadReport | None) -> Schedulers:
    """The policy's schedulers, with the load as it is where the history's pods stand."""
    load = load_of(policy, None if report is None else carried(report, recorded, cluster))
    return schedulers_of(policy, recorded, load)


def _scheduled(cluster: Cluster, schedulers: Schedulers) -> Cluster:
    """The predicted scheduler has placed what is pending, in the order of its queue."""
    if not cluster.pending_pods:
        return cluster
    model = schedulers.model(schedulers.configured(cluster))
    known = model.columns.cluster
    found = schedule_pending(model, Placement(model.columns))
    return placed(
        cluster, {known.pods[one.pod].key: known.nodes[one.node].name for one in found if one.node != NOWHERE}
    )


def _as_archived(cluster: Cluster, outcome: Outcome) -> Cluster:
    """The cluster after a round, its pods under the names and uids that the archive has for them."""
    pods = []
    for pod in cluster.pods:
        stay = outcome.stays.get(pod.uid)
        if stay is None or pod.is_finished:
            continue
        is_moved = not stay.as_recorded or stay.node != pod.node_name
        pods.append(pod if not is_moved else waiting(pod) if stay.node is None else standing(pod, stay))
    return replace(cluster, pods=tuple(pods))


def _kept(cluster: Cluster, outcome: Outcome, history: History) -> dict[str, Stay]:
    """Where each pod stands; one that this round has left alone keeps uid and times that the history gave it."""
    pods = {pod.uid: pod for pod in cluster.pods}
    found = {}
    for uid, stay in outcome.stays.items():
        earlier = history.stays.get(uid)
        pod = pods[uid]
        if stay.as_recorded and stay.node is not None and not (earlier is None and not history.is_begun):
            is_own = earlier is None or not earlier.as_recorded
            stay = Stay(stay.node, not is_own, pod.created_at, pod.started_at, pod.scheduled_at, pod.ready_at)  # noqa: PLW2901
        found[uid] = stay._replace(uid=earlier.uid) if stay.uid is None and earlier is not None else stay
    return found


def _with_minutes(found: Sequence[Planned]) -> list[Planned]:
    """Pending pods wait until the next row, in the last for no time."""
    times = [one.time for one in found if one.row is not None]
    until = dict(pairwise(times))
    return [
        one
        if one.row is None
        else msgspec.structs.replace(
            one,
            row=msgspec.structs.replace(
                one.row,
                pending_minutes=round(one.row.pending_after * (until.get(one.time, one.time) - one.time) / 60, 6),
            ),
        )
        for one in found
    ]
