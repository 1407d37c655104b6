"""What may be believed of each node, from all checks in order of severity; pure, its memory is passed in and out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.usage.samples import NodeSamples
from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import FRESH_SECONDS
from rescheduler.usage.checks import OF_THE_DATA, OF_THE_NODE_FIRST, OF_THE_NODE_LAST
from rescheduler.usage.checks.all_equal import all_equal
from rescheduler.usage.checks.contradicted import disputed
from rescheduler.usage.checks.coverage import coverage_freeze, has_failed
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.frozen_series import frozen_series
from rescheduler.usage.checks.pod_sums import pod_sums
from rescheduler.usage.checks.sudden_drop import sudden_drop
from rescheduler.usage.checks.verdicts import Freeze, Verdicts

TRUSTED: Final = Trust(TrustState.TRUSTED)
_LYING: Final = (pod_sums, frozen_series, disputed)
"""Checks that find values which looked possible: they stay in the window's averages, so the verdict stays as long."""


class NodeKey(NamedTuple):
    """A node's object: one made anew under an old name is another."""

    name: str
    uid: str


class HeldObjection(NamedTuple):
    """An objection that outlasts its cause by one window."""

    at: float
    trust: Trust


@dataclass(frozen=True)
class Memory:
    """What one pass hands on to the next. ``checked_until``: times up to this one were searched for freezes."""

    freezes: tuple[Freeze, ...] = ()
    held: Mapping[NodeKey, HeldObjection] = field(default_factory=dict)
    checked_until: float = -inf


def remember(evidence: Evidence, memory: Memory, longest_window: float, distrust: str = "") -> Memory:
    """Note what this pass finds that outlasts it; forget what is older than the longest window (seconds).

    ``distrust``: why the newest answer as a whole is not believed, "" if it is.
    """
    since = evidence.now - longest_window
    memory = _not_later(memory, evidence.now)
    held = {key: found for key, found in memory.held.items() if found.at > since}
    for check in reversed(_LYING):
        for index, trust in check(evidence, longest_window).items():
            node = evidence.nodes[index]
            held[NodeKey(node.name, node.uid)] = HeldObjection(evidence.now, trust)
    found = [freeze for freeze in _new_freezes(evidence, memory.checked_until) if freeze.at > since]
    if distrust:
        found.append(Freeze(evidence.now, distrust))
    freezes = {*(freeze for freeze in memory.freezes if freeze.at > since), *found}
    checked_until = max([memory.checked_until, *evidence.samples.times[-1:].tolist()])
    return Memory(tuple(sorted(freezes)), MappingProxyType(held), checked_until)


def _not_later(memory: Memory, now: float) -> Memory:
    """After a clock was set back what was found counts as found now: it must neither be lost nor hold for ever."""
    times = [
        memory.checked_until,
        *(freeze.at for freeze in memory.freezes),
        *(held.at for held in memory.held.values()),
    ]
    if max(times) <= now:
        return memory
    return Memory(
        tuple(freeze._replace(at=min(freeze.at, now)) for freeze in memory.freezes),
        {key: held._replace(at=min(held.at, now)) for key, held in memory.held.items()},
        min(memory.checked_until, now),
    )


def assess(evidence: Evidence, window_seconds: float, memory: Memory) -> Assessment:
    """Trust in each node over one window: the first objection in order of severity counts.

    ``memory``: as ``remember`` returned it for this pass. Freezes and objections to values that looked possible hold
    for one window from when they were last found, and thaw by themselves.
    """
    of_data = [check(evidence, window_seconds) for check in OF_THE_DATA]
    first = [check(evidence, window_seconds) for check in OF_THE_NODE_FIRST]
    last = [check(evidence, window_seconds) for check in OF_THE_NODE_LAST]
    held = _still_held(evidence, window_seconds, memory)
    found: dict[int, Trust] = {}
    for objections in (of_data[0], *first, *of_data[1:], held, *last):
        found = {**objections, **found}
    trusts = tuple(found.get(index, TRUSTED) for index in range(len(evidence.nodes)))
    is_valid = _valid(trusts, [*of_data, held])
    return Assessment(trusts, _freeze(evidence, window_seconds, memory, is_valid, trusts), _fails(evidence, is_valid))


def _new_freezes(evidence: Evidence, checked_until: float) -> chain[Freeze]:
    """Causes at times that no earlier pass has seen; earlier samples are needed to compare with."""
    samples = evidence.samples
    rows = samples.times > checked_until - FRESH_SECONDS
    seen = NodeSamples(
        samples.nodes,
        samples.times[rows],
        {metric: values[rows] for metric, values in samples.values.items()},
        samples.measured_at[rows],
    )
    drop = evidence.trust.largest_drop
    return chain(
        all_equal(seen, checked_until), sudden_drop(seen, evidence.capacities, drop, evidence.cadence, checked_until)
    )


def _still_held(evidence: Evidence, window_seconds: float, memory: Memory) -> Verdicts:
    if not memory.held:
        return {}
    verdicts = {}
    for index, node in enumerate(evidence.nodes):
        held = memory.held.get(NodeKey(node.name, node.uid))
        if held is not None and evidence.now - held.at < window_seconds:
            ago = f"{max(evidence.now - held.at, 0.0):.0f}s ago; not believed for {window_seconds:.0f}s"
            verdicts[index] = Trust(held.trust.state, f"{held.trust.reason} ({ago})")
    return verdicts


def _valid(trusts: Sequence[Trust], objections: Sequence[Verdicts]) -> BoolArray:
    """Nodes with valid samples, bool[N], or whose use can be predicted; young and settling ones may be among them."""
    is_valid = np.ones(len(trusts), dtype=np.bool_)
    for found in objections:
        is_valid[list(found)] = False
    is_valid |= np.fromiter((trust.is_usable for trust in trusts), np.bool_, count=len(trusts))
    return is_valid


def _freeze(
    evidence: Evidence, window_seconds: float, memory: Memory, is_valid: BoolArray, trusts: Sequence[Trust]
) -> str:
    reasons = []
    causes = [freeze for freeze in memory.freezes if evidence.now - freeze.at < window_seconds]
    if causes:
        newest = max(causes)
        ago = max(evidence.now - newest.at, 0.0)
        reasons.append(f"{newest.reason} ({ago:.0f}s ago; frozen for {window_seconds:.0f}s)")
    uncovered = coverage_freeze(evidence.nodes, is_valid, evidence.trust.coverage)
    if uncovered:
        reasons.append(uncovered + _most_often(trusts))
    return "; ".join(reasons)


def _most_often(trusts: Sequence[Trust]) -> str:
    states = Counter(trust.state for trust in trusts if not trust.is_usable)
    if not states:
        return ""
    state, number = min(states.items(), key=lambda item: (-item[1], item[0]))
    example = min(trust.reason for trust in trusts if trust.state == state)
    return f" ({number} {state}: {example})"


def _fails(evidence: Evidence, is_valid: BoolArray) -> bool:
    return bool(evidence.nodes) and has_failed(evidence.nodes, is_valid)
