"""What a contender reached on one cluster, in numbers, beside the least that anybody would have needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

import numpy as np

from benchmarks.side_by_side.contenders import OURS
from benchmarks.side_by_side.cycles import Outcome
from benchmarks.side_by_side.least import fewest_to_admit, fewest_to_empty, fewest_to_relieve
from benchmarks.side_by_side.scenarios import MARK

RELIEVED = 1e-6
"""Overload below this is none: a rounding of quantities."""

_SAME: Final = ("contender", "program", "scheduler", "clusters")
_WORST: Final = ("longest_cycle_seconds", "longest_planning_seconds", "peak_megabytes")


@dataclass(frozen=True)
class Row:
    """Numbers of one cluster, or sums over several; seconds and megabytes are the worst of them."""

    contender: str
    program: str
    scheduler: str
    """``stock``, or ``packing`` where it was told to fill nodes up."""
    clusters: str
    """The seed, or how many clusters were summed."""
    cycles: int
    failed_cycles: int
    sent: int
    evicted: int
    refused_by_budget: int
    returned: int
    pending_before: int
    pending: int
    emptied: int
    least_to_empty: int | None
    """Evictions without which nobody empties as many nodes."""
    overload_before: float
    overload: float
    least_to_relieve: int | None
    """Evictions without which nobody relieves every node."""
    least_to_admit: int | None
    """Evictions without which nobody helps as many pending pods."""
    longest_cycle_seconds: float
    longest_planning_seconds: float | None
    cpu_seconds: float
    peak_megabytes: float

    @property
    def is_ours(self) -> bool:
        """Whether the rescheduler did it."""
        return self.program == OURS

    @property
    def helped(self) -> int:
        """Pending pods that found a place, less those that lost theirs."""
        return self.pending_before - self.pending

    @property
    def relieved(self) -> float:
        """Overload taken away."""
        return self.overload_before - self.overload

    @property
    def evicted_per_node(self) -> float:
        """Evictions for each node emptied; infinite where pods were evicted for none."""
        return _ratio(self.evicted, self.emptied)

    @property
    def evicted_per_helped(self) -> float:
        """Evictions for each pending pod that found a place."""
        return _ratio(self.evicted, self.helped)

    @property
    def evicted_per_overload(self) -> float:
        """Evictions for each whole node's worth of overload relieved."""
        return _ratio(self.evicted, self.relieved)

    def as_data(self) -> dict[str, object]:
        """For a result file."""
        return asdict(self)


def row(outcome: Outcome) -> Row:
    """The numbers of one cluster."""
    before, after, cycles = outcome.before, outcome.after, outcome.cycles
    emptied = len(after.empty_nodes() - before.empty_nodes())
    overload = [0.0 if found < RELIEVED else found for found in (before.overload(MARK), after.overload(MARK))]
    planning = [cycle.planning_seconds for cycle in cycles if cycle.planning_seconds is not None]
    return Row(
        contender=outcome.contender.name,
        program=outcome.contender.program,
        scheduler=outcome.contender.scheduler_name,
        clusters=f"seed {outcome.seed}",
        cycles=len(cycles),
        failed_cycles=sum(cycle.footprint.code != 0 for cycle in cycles),
        sent=sum(cycle.sent for cycle in cycles),
        evicted=sum(cycle.accepted for cycle in cycles),
        refused_by_budget=sum(cycle.refused for cycle in cycles),
        returned=sum(cycle.returned for cycle in cycles),
        pending_before=len(before.pending),
        pending=len(after.pending),
        emptied=emptied,
        least_to_empty=fewest_to_empty(before, emptied),
        overload_before=overload[0],
        overload=overload[1],
        least_to_relieve=_least_to_relieve(outcome),
        least_to_admit=_least_to_admit(outcome),
        longest_cycle_seconds=max(cycle.footprint.wall_seconds for cycle in cycles),
        longest_planning_seconds=max(planning, default=None),
        cpu_seconds=sum(cycle.footprint.cpu_seconds for cycle in cycles),
        peak_megabytes=max(cycle.footprint.peak_megabytes for cycle in cycles),
    )


def summed(rows: Sequence[Row]) -> Row:
    """Several clusters of one contender taken together; what is unknown of one is unknown of all."""
    names = [field.name for field in fields(Row) if field.name not in _SAME]
    together = {name: _together(name, [getattr(one, name) for one in rows]) for name in names}
    return replace(rows[0], clusters=f"all {len(rows)}", **together)


def _together(name: str, values: list[Any]) -> Any:
    """The worst of what a machine must offer, the sum of what was done."""
    if None in values:
        return None
    return max(values) if name in _WORST else sum(values)


def _least_to_relieve(outcome: Outcome) -> int | None:
    """None where what cannot be moved alone is too much for its node."""
    try:
        return fewest_to_relieve(outcome.before, MARK)
    except ValueError:
        return None


def _least_to_admit(outcome: Outcome) -> int | None:
    """For as many as were helped, each taken as small as the smallest that waited, in each resource."""
    waiting = outcome.before.pending
    helped = len(waiting) - len(outcome.after.pending)
    if helped <= 0:
        return 0
    return fewest_to_admit(
        outcome.before, np.min([pod.amounts for pod in waiting], axis=0), helped, outcome.scene.old_nodes
    )


def _ratio(evicted: float, gained: float) -> float:
    if gained > 0:
        return evicted / gained
    return 0.0 if evicted == 0 else float("inf")
