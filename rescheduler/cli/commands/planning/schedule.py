"""``schedule``: where each pending pod would go, in queue order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rescheduler.cli.failures import DONE
from rescheduler.cli.options import PlanFlags, with_options
from rescheduler.cli.plan_output import print_report
from rescheduler.cli.preparation import policy_from, read_world, selection_from
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import warn

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.model.objects.pod import Pod
    from rescheduler.model.plan.disruption import Selection
    from rescheduler.scheduling.reports import ScheduleReport


@with_options
def schedule(options: PlanFlags) -> int:
    """Show where the predicted scheduler would put each pending pod, in the order of its queue.

    Each pod that finds a place counts for those after it. With -n or -l only the chosen pods are shown.
    """
    from rescheduler.scheduling.reports import schedule_of

    policy = policy_from(options)
    with shown_progress() as progress:
        cluster, schedulers = read_world(options, policy, progress)
        progress("scheduling")
        seen = schedulers.configured(cluster)
        predicted = schedule_of(seen, schedulers.model(seen, counts_nominated=True))
        found = _chosen(predicted, cluster, selection_from(options))
    warn((*cluster.warnings, *schedulers.warnings(cluster)))
    print_report(found, options.output, lambda wide: _report(found, wide=wide), "Schedule of pending pods")
    return DONE


def _chosen(found: ScheduleReport, cluster: Cluster, selection: Selection) -> ScheduleReport:
    from msgspec.structs import replace

    pods = cluster.pod_by_key
    return replace(found, pods=tuple(one for one in found.pods if _is_selected(pods[one.pod.key], selection)))


def _is_selected(pod: Pod, selection: Selection) -> bool:
    from rescheduler.model.columns.selectors import holds

    if selection.namespaces and pod.namespace not in selection.namespaces:
        return False
    rules = selection.selector.requirements if selection.selector is not None else ()
    return all(holds(rule, pod.labels.get(rule.key)) for rule in rules)


def _report(found: ScheduleReport, *, wide: bool) -> Iterator[RenderableType]:
    from rescheduler.report.cells import cell, table

    if not found.pods:
        yield cell("no pod is pending")
        return
    headings = ["POD", "NODE", *(["BEST NODES", "SCHEDULER"] if wide else []), "WHY NOT"]
    rows = []
    for one in found.pods:
        reasons = ", ".join([*(f"{count} {reason}" for reason, count in one.reasons.items()), *one.warnings])
        more = [", ".join(one.best_nodes), one.scheduler_name] if wide else []
        rows.append([one.pod.key, one.node or "-", *more, reasons])
    yield table(headings, rows)
