"""``--improve`` on the recorded clusters, beside what comes of descheduler's own victims."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from benchmarks.descheduler_policy.judging import read_case
from benchmarks.descheduler_policy.recording import RecordedCase
from rescheduler.composition.foretelling import improve
from rescheduler.daemon.plugins import parse_policy
from rescheduler.extension_points import NOTHING_EARLIER
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import ObjectiveResult, Plan, Upstream
from rescheduler.scheduling.schedulers import DEFAULTS

BESIDE: Final = """\
apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
limits: {maxEvictions: 1000, deadline: 5s}
disruption: {singleReplicas: Allow, localStorage: Allow, notReady: Allow, workloads: {maxUnavailable: 20}}
"""
"""Our own rules, as permissive as descheduler's, so that both may take the same pods."""
_EMPTIED: Final = "HighNodeUtilization"
_SAME: Final = 1e-6
_ENDS: Final = ("nearer", "same", "farther")
_HEADINGS: Final = (
    "plugin", "cases", "their evictions", "planned", "theirs came back", "theirs wait",
    "planned ones that come back or wait", "planned end nearer", "as near", "farther", "as near by more evictions",
)  # fmt: skip


def improvement_table(cases: Iterable[RecordedCase]) -> str:
    """By plugin: evictions, who came back or waited, and whose end is nearer."""
    policy = parse_policy(BESIDE, "beside.yaml")
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        cluster, written = read_case(case)
        plan = improve(cluster, written, policy, selection=Selection(), schedulers=DEFAULTS, earlier=NOTHING_EARLIER)
        for result in plan.objectives:
            if isinstance(result.upstream, Upstream):
                found[result.name] += _counted(plan, result, result.upstream)
    lines = [f"| {' | '.join(_HEADINGS)} |", f"|{'---|' * len(_HEADINGS)}"]
    for plugin, counts in sorted(found.items()):
        row = [counts[name] for name in ("cases", "theirs", "ours", "back", "waiting", "stuck", *_ENDS, "more")]
        lines.append(f"| {plugin} | {' | '.join(map(str, row))} |")
    return "\n".join(lines)


def _counted(plan: Plan, result: ObjectiveResult, upstream: Upstream) -> Counter[str]:
    ours = len(plan.moves)
    sign = -1 if result.name == _EMPTIED else 1
    distance = sign * ((result.value or 0) - upstream.goal)
    end = "same" if abs(distance) <= _SAME else "nearer" if distance < 0 else "farther"
    return Counter(
        {
            "cases": 1,
            "theirs": upstream.evictions,
            "ours": ours,
            "back": upstream.came_back,
            "waiting": upstream.waiting,
            "stuck": sum(move.destination == move.from_node for move in plan.moves),
            end: 1,
            "more": int(end == "same" and ours > upstream.evictions - upstream.waiting),
        }
    )
