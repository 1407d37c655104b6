"""One plan for each of many clusters, and all of them as one document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path
from typing import Any, Final

import msgspec

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.archive.archive_reading import FUTURE_SECONDS
from rescheduler.adapters.files.archive.archive_source import archive_source
from rescheduler.adapters.files.archive.snapshot_names import snapshot_file, written_time
from rescheduler.adapters.kubernetes.identity import context_names
from rescheduler.batch.backtest.counted_clock import CountedClock
from rescheduler.batch.backtest.planned_row import plan_task, planned_of
from rescheduler.batch.backtest.policy_variants import PolicyVariant
from rescheduler.batch.backtest.task import Planned, Task
from rescheduler.batch.engine.tasks import Done, Engine
from rescheduler.composition.live.cluster_source import ClusterOptions, read_cluster
from rescheduler.composition.scheduler_sources import predictions
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.extension_points import Clock, ClusterError, Progress, ReschedulerError, SnapshotError, no_progress
from rescheduler.model.plan.plan import API_VERSION
from rescheduler.model.printable import in_one_line

_NOTHING: Final[Mapping[str, Any]] = {
    "time": None, "objectives": [], "evictions": None, "nodesEmptied": None, "cost": None, "whatStandsInTheWay": [],
}  # fmt: skip


class LiveTask(msgspec.Struct, frozen=True):
    """A cluster of a kubeconfig, and the policy."""

    context: str
    kubeconfig: str | None
    policy: str
    name: str
    prices: bytes = b""


@dataclass(frozen=True)
class FleetMember:
    """One cluster: what is to be done for it, or why nothing can be."""

    name: str
    task: bytes | None
    error: str = ""


def members_of_archives(pattern: str, policy: PolicyVariant, clock: Clock | None = None) -> list[FleetMember]:
    """The newest snapshot of each archive that a pattern names. Raises SnapshotError where there is none."""
    now = (clock or SystemClock()).now()
    found = _urls(pattern) if "://" in pattern else sorted(path for path in glob(pattern) if Path(path).is_dir())  # noqa: PTH207
    if not found:
        raise SnapshotError(f"--archives {pattern}: names no folder")
    return [_member(location, policy, now) for location in found]


def _urls(pattern: str) -> list[str]:
    import fsspec

    files, path = fsspec.core.url_to_fs(pattern)
    return sorted(files.unstrip_protocol(one) for one in files.glob(path))


def _member(location: str, policy: PolicyVariant, now: float) -> FleetMember:
    name = location.rstrip("/").rpartition("/")[2]
    try:
        source = archive_source(location)
        times = [file.time for file in map(snapshot_file, source.names()) if file is not None]
    except SnapshotError as error:
        return FleetMember(name, None, str(error))
    newest = max(times, default=None)
    if newest is None:
        return FleetMember(name, None, f"{location}: holds no snapshot")
    if newest > now + FUTURE_SECONDS:
        text = f"{location}: its newest snapshot is of a time to come, {written_time(newest)}"
        return FleetMember(name, None, text)
    task = Task(source.location, (newest,), policy.text, policy.policy, prices=policy.prices)
    return FleetMember(name, msgspec.json.encode(task))


def members_of_contexts(pattern: str, kubeconfig: str | None, policy: PolicyVariant) -> list[FleetMember]:
    """Each context of the kubeconfig that a pattern names. Raises ClusterError where there is none."""
    known = context_names(kubeconfig)
    found = [context for context in known if fnmatchcase(context, pattern)]
    if not found:
        raise ClusterError(f"--contexts {pattern}: names no context; there are {', '.join(known) or 'none'}")
    tasks = (LiveTask(one, kubeconfig, policy.text, policy.policy, policy.prices) for one in found)
    return [FleetMember(task.context, msgspec.json.encode(task)) for task in tasks]


def live_task(text: bytes) -> bytes:
    """Read one live cluster and plan for it; writes nothing."""
    task = msgspec.json.decode(text, type=LiveTask)
    try:
        answer = _planned_live(task)
    except (ReschedulerError, ValueError) as error:
        answer = Planned(0, failure=in_one_line(error))
    return msgspec.json.encode(answer)


def _planned_live(task: LiveTask) -> Planned:
    policy = Task("", (), task.policy, task.name, prices=task.prices).policy_in_force()
    where = ClusterOptions(kubeconfig=task.kubeconfig, context=task.context)
    found = predictions(policy, (task.name,), None, no_progress, where)
    cluster = read_cluster(
        ClusterOptions(kubeconfig=task.kubeconfig, context=task.context, config_maps=found.config_maps)
    )
    schedulers = found.schedulers(cluster)
    plan = make_plan(cluster, policy, CycleOptions(CountedClock(cluster.taken_at), schedulers))
    is_measured = schedulers.load.windows(cluster) is not None
    return planned_of(cluster, plan, policy, schedulers, int(cluster.taken_at), has_load=is_measured)


def plan_fleet(
    members: Sequence[FleetMember], engine: Engine, *, is_live: bool, progress: Progress = no_progress
) -> dict[str, Any]:
    """Plan for all of them. Raises EngineError."""
    tasks = {f"{number} {one.name}": one.task for number, one in enumerate(members) if one.task is not None}
    done: dict[str, Done] = {}
    progress("planning", 0, len(tasks))
    for one in engine.run(live_task if is_live else plan_task, tasks):
        done[one.key] = one
        progress("planning", len(done), len(tasks))
    clusters = [_cluster(one, done.get(f"{number} {one.name}")) for number, one in enumerate(members)]
    clusters.sort(key=lambda one: str(one["name"]))
    return {"apiVersion": API_VERSION, "kind": "FleetPlan", "clusters": clusters}


def _cluster(member: FleetMember, done: Done | None) -> dict[str, Any]:
    planned = None if done is None or done.result is None else msgspec.json.decode(done.result, type=Planned)
    row = None if planned is None else planned.row
    if row is None:
        error = member.error or (planned.failure if planned is not None else done.failure if done else "not done")
        return {"name": member.name, **_NOTHING, "error": error}
    refused = sorted(row.refusals.items(), key=lambda item: (-item[1], item[0]))
    return {
        "name": member.name,
        "time": row.time,
        "objectives": row.objectives,
        "evictions": row.evictions,
        "nodesEmptied": row.nodes_emptied,
        "cost": row.cost,
        "whatStandsInTheWay": [{"rule": rule, "count": count} for rule, count in refused],
        "error": None,
    }
