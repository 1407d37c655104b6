"""Several providers watch each other: a node on which two disagree is not believed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.usage.samples import NodeSamples
from rescheduler.model.usage.usage import FloatArray
from rescheduler.usage.checks.evidence import JUDGED


def disputes(
    answers: Sequence[tuple[str, NodeSamples]], bound: float, largest_age: float, now: float
) -> Mapping[str, str]:
    """By node name, what two providers contradict each other in.

    ``answers``: each provider's name and its newest sample (T = 1) of the same nodes in the same order, sifted.
    ``bound``: fraction of capacity by which two may differ. Samples older than ``largest_age`` seconds, by their own
    time, contradict nobody: the node has changed since.
    """
    found: dict[str, str] = {}
    for (one, here), (other, there) in combinations(answers, 2):
        both = _is_fresh(here, largest_age, now) & _is_fresh(there, largest_age, now)
        for metric in JUDGED:
            if metric in here.values and metric in there.values:
                mine, theirs = here.values[metric][-1], there.values[metric][-1]
                for index in _differing(mine, theirs, both, bound):
                    told = f"{metric} is {_percent(mine, index)} to {one} but {_percent(theirs, index)} to {other}"
                    found.setdefault(here.nodes[index], f"{told}, further apart than {100 * bound:.0f} %")
    return found


def _is_fresh(samples: NodeSamples, largest_age: float, now: float) -> BoolArray:
    with np.errstate(invalid="ignore"):
        found: BoolArray = np.abs(now - samples.measured_at[-1]) <= largest_age
    return found


def _differing(mine: FloatArray, theirs: FloatArray, both: BoolArray, bound: float) -> Iterator[int]:
    with np.errstate(invalid="ignore"):
        yield from np.flatnonzero(both & (np.abs(mine - theirs) > bound)).tolist()


def _percent(values: FloatArray, index: int) -> str:
    return f"{100 * values[index]:.1f} %"
