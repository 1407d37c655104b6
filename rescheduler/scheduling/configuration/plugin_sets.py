"""Which plugins a profile of kube-scheduler runs at which extension point: defaults, changes and multiPoint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from rescheduler.policy.reading.document import Path
from rescheduler.scheduling.configuration.known_plugins import POINTS, points_of, score_class

MULTI_POINT: Final = "multiPoint"
EVERY: Final = "*"
_LARGEST_TOTAL = 2**63 - 1


class Enabled(NamedTuple):
    """One entry of ``enabled``; ``path`` is None for a default."""

    name: str
    weight: int = 0
    path: Path | None = None


class PluginSet(NamedTuple):
    """What is switched on and off at one extension point."""

    enabled: tuple[Enabled, ...] = ()
    disabled: frozenset[str] = frozenset()


_ORDER = (
    "SchedulingGates", "PrioritySort", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
    "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
    "InterPodAffinity", "DynamicResources", "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality",
    "DefaultBinder",
)  # fmt: skip
_SCORES_V1BETA2 = {
    "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1, "InterPodAffinity": 1, "NodeResourcesFit": 1,
    "NodeAffinity": 1, "PodTopologySpread": 2, "TaintToleration": 1,
}  # fmt: skip
_SCORES_V1BETA1 = {
    "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1, "InterPodAffinity": 1,
    "NodeResourcesLeastAllocated": 1, "NodeAffinity": 1, "NodePreferAvoidPods": 10000, "PodTopologySpread": 2,
    "TaintToleration": 1,
}  # fmt: skip


def default_sets(version: str) -> dict[str, PluginSet]:
    """kube-scheduler's plugin sets by extension point, as a version of its configuration (``v1``) has them.

    v1 and v1beta3 name all plugins under multiPoint; earlier versions point by point and with other weights.
    """
    if version in ("v1", "v1beta3"):
        return {MULTI_POINT: PluginSet(tuple(Enabled(name, _weight(name)) for name in _ORDER))}
    scores = _SCORES_V1BETA2 if version == "v1beta2" else _SCORES_V1BETA1
    found = {}
    for point in POINTS:
        names = [name for name in _ORDER if _stands_at(name, point) and name != "SchedulingGates"]
        found[point] = PluginSet(_entries(scores if point == "score" else dict.fromkeys(names, 0)))
    found["preEnqueue"] = PluginSet(_entries({"SchedulingGates": 0}))
    return found


def _weight(name: str) -> int:
    score = score_class(name)
    return 2 if name == "DynamicResources" else score.default_weight if score is not None else 0


def _entries(weights: Mapping[str, int]) -> tuple[Enabled, ...]:
    return tuple(Enabled(name, weight) for name, weight in weights.items())


def merged(default: PluginSet, written: PluginSet) -> PluginSet:
    """Defaults with an operator's changes: a default that is written again keeps its place, others follow."""
    again = {entry.name: entry for entry in written.enabled}
    kept: list[Enabled] = []
    if EVERY not in written.disabled:
        kept = [again.get(entry.name, entry) for entry in default.enabled if entry.name not in written.disabled]
    replaced = {id(entry) for entry in kept}
    added = [entry for entry in written.enabled if id(entry) not in replaced]
    return PluginSet((*kept, *added), written.disabled)


class Expansion(NamedTuple):
    """Plugins by extension point, in the order in which they run, and the weights of the scores.

    ``doubled``: entries that stand twice at one point. ``unknown_at``: points of plugins that are not known, by name;
    one that is enabled for all points counts as standing at every point.
    """

    at: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, int]
    doubled: tuple[Enabled, ...]
    unknown_at: Mapping[str, frozenset[str]]


def expanded(sets: Mapping[str, PluginSet]) -> Expansion:
    """Spread multiPoint over the extension points that each plugin can stand at.

    At one point, plugins named there that multiPoint names too come first, then the rest of multiPoint, then the rest
    named there.
    """
    everywhere = sets.get(MULTI_POINT, PluginSet()).enabled
    at: dict[str, tuple[str, ...]] = {}
    doubled = list(_doubled(everywhere))
    for point in POINTS:
        own = sets.get(point, PluginSet())
        doubled += _doubled(own.enabled)
        named = [entry.name for entry in own.enabled]
        spread: list[str] = []
        if EVERY not in own.disabled:
            spread = [e.name for e in everywhere if _stands_at(e.name, point) and e.name not in own.disabled]
        first = [name for name in named if name in spread]
        then = [name for name in spread if name not in named]
        at[point] = tuple(dict.fromkeys((*first, *then, *(name for name in named if name not in first))))
    unknown = {name for names in at.values() for name in names if points_of(name) is None}
    unknown_at = {name: frozenset(point for point in POINTS if name in at[point]) for name in sorted(unknown)}
    return Expansion(at, _weights(sets, at), tuple(doubled), unknown_at)


def _stands_at(name: str, point: str) -> bool:
    points = points_of(name)
    return points is None or point in points


def _doubled(entries: Iterable[Enabled]) -> Iterable[Enabled]:
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            yield entry
        seen.add(entry.name)


def weights_overflow(sets: Mapping[str, PluginSet]) -> bool:
    """Whether kube-scheduler would refuse the weights, as it adds them up in 64 bits.

    It adds those of the score point first, then multiPoint's, even of plugins that are switched off for scoring. A sum
    below zero makes its own test overflow, so that most negative weights are refused, but not all.
    """
    total = 0
    seen: set[str] = set()
    for entry in (*sets.get("score", PluginSet()).enabled, *sets.get(MULTI_POINT, PluginSet()).enabled):
        if entry.name in seen or not _stands_at(entry.name, "score"):
            continue
        seen.add(entry.name)
        points = (entry.weight or 1) * 100
        if points > _wrapped(_LARGEST_TOTAL - total):
            return True
        total += points
    return False


def _wrapped(value: int) -> int:
    """A number as 64 bits hold it."""
    return (value + 2**63) % 2**64 - 2**63


def _weights(sets: Mapping[str, PluginSet], at: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """The weight at the score point goes before that of multiPoint; 0 counts as 1."""
    found: dict[str, int] = {}
    for point in ("score", MULTI_POINT):
        for entry in sets.get(point, PluginSet()).enabled:
            if entry.name in at["score"]:
                found.setdefault(entry.name, entry.weight or 1)
    return found
