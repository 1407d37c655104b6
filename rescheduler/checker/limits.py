"""Checks that a plan keeps within the disruption limits of each wave, and within the limits of the whole."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from rescheduler.checker.violation import Violation
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.plan import Plan

# Checks that waves whose pods leave before they arrive are allowed at all, and marked as such throughout.

RULE = "EvictFirst"


def evict_first_waves(plan: Plan) -> frozenset[int]:
    """Waves of which some move says that its pod leaves before any arrives."""
    return frozenset(move.wave for move in plan.moves if move.evict_first)


def check_evict_first(plan: Plan, eligibility: Eligibility) -> Iterator[Violation]:
    """Such waves need replacements that can be held back; all moves of one are marked, and so is the wave itself."""
    marks: dict[int, set[bool]] = defaultdict(set)
    for move in plan.moves:
        marks[move.wave].add(bool(move.evict_first))
        if move.evict_first and not move.needs_guidance:
            yield Violation(RULE, f"{move.pod.key} leaves before it arrives, and yet is said to need no guidance")
    listed = {item.wave for item in plan.waves or () if item.evict_first}
    for wave, marked in sorted(marks.items()):
        if len(marked) > 1:
            yield Violation(RULE, f"only some pods of wave {wave} are to leave before they arrive")
        if any(marked) and not eligibility.may_evict_first:
            yield Violation(RULE, f"the pods of wave {wave} leave before they arrive, which guidance: Guide alone does")
    if listed != evict_first_waves(plan):
        told = ", ".join(map(str, sorted(listed ^ evict_first_waves(plan))))
        yield Violation(RULE, f"moves and list of waves disagree about who leaves first: wave {told}")


def check_groups(cluster: Cluster, plan: Plan, eligibility: Eligibility) -> Iterator[Violation]:
    """At most ``allowed_per_wave`` pods of each group move in one wave, and ``allowed_in_plan`` in the whole plan."""
    wave_of = {move.pod.key: move.wave for move in plan.moves}
    named = set(cluster.indices_of(wave_of).values())
    for group in eligibility.groups:
        moved = named.intersection(group.pods)
        if not moved:
            continue
        if group.allowed_in_plan is not None and len(moved) > group.allowed_in_plan:
            text = f"the plan moves {len(moved)} pods of {group.name}, which leaves {group.allowed_in_plan}"
            yield Violation(group.rule, f"{text} ({group.detail})" if group.detail else text)
        waves = Counter(wave_of[cluster.pods[index].key] for index in moved)
        for wave, number in sorted(waves.items()):
            if number > group.allowed_per_wave:
                yield Violation(
                    group.rule,
                    f"wave {wave} moves {number} pods of {group.name}, which allows {group.allowed_per_wave} in a wave",
                )


def check_limits(plan: Plan, eligibility: Eligibility) -> Iterator[Violation]:
    """Evictions of the whole plan, from each node, and from each namespace."""
    counts: Mapping[str, Counter[str]] = defaultdict(Counter)
    for move in plan.moves:
        counts["the plan"][""] += 1
        counts["node"][move.from_node] += 1
        counts["namespace"][move.pod.namespace] += 1
    limits = eligibility.limits
    caps = (
        ("the plan", limits.max_evictions),
        ("node", limits.max_evictions_per_node),
        ("namespace", limits.max_evictions_per_namespace),
    )
    for kind, cap in caps:
        for name, number in sorted(counts[kind].items()):
            if cap is not None and number > cap:
                yield Violation("Limits", f"{number} evictions of {kind} {name}".strip() + f"; at most {cap}")
