"""Filters and scores of other packages: whatever is wrong with an answer of theirs is named, and nothing is moved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rescheduler.extension_points import Filter, Rejection, Score
from rescheduler.extension_points.plugin_list import PluginError
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.printable import shortened
from rescheduler.policy.plugins import asked
from rescheduler.scheduling.filters import FILTERS
from rescheduler.scheduling.scores import SCORES
from rescheduler.scheduling.scoring.normalization import MAX_SCORE


@dataclass(frozen=True)
class ForeignScore(Score):
    """A score of another package; each answer is looked at before it counts. Its methods raise PluginError."""

    name: str
    plugin: Score

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """What the plugin scores: one whole number of 0 to 100 for each feasible node."""
        found: Any = asked(SCORES, self.name, "score", lambda: self.plugin.score(pod, placement, feasible))
        _refuse_shape(f'score "{self.name}": score', found, placement.columns.node_count, "iu", "whole number")
        if feasible.any() and not 0 <= found[feasible].min() <= found[feasible].max() <= MAX_SCORE:
            wrong = next(int(value) for value in found[feasible] if not 0 <= value <= MAX_SCORE)
            raise PluginError(f'score "{self.name}": score gave {wrong}; wanted 0 to {MAX_SCORE}')
        scores: IntArray = found.astype(np.int64, copy=False)
        return scores

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """What the plugin says: one text for each node."""
        found: Any = asked(SCORES, self.name, "explain", lambda: self.plugin.explain(pod, nodes, placement, feasible))
        texts = list(found) if isinstance(found, Iterable) and not isinstance(found, str) else [found]
        if len(texts) != len(nodes) or not all(isinstance(text, str) for text in texts):
            told = f"explain gave {shortened(repr(found))}; wanted a text for each of {len(nodes)} nodes"
            raise PluginError(f'score "{self.name}": {told}')
        return texts


@dataclass(frozen=True)
class ForeignFilter(Filter):
    """A filter of another package; each answer is looked at before it counts. ``reject`` raises PluginError."""

    name: str
    plugin: Filter
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """What the plugin rejects: a mask of nodes for each reason."""
        found: Any = asked(FILTERS, self.name, "reject", lambda: tuple(self.plugin.reject(pod, placement)))
        for rejection in found:
            if not isinstance(rejection, Rejection):
                told = shortened(repr(rejection))
                raise PluginError(f'filter "{self.name}": reject gave {told}; wanted Rejections')
            whose = f'filter "{self.name}": reject'
            _refuse_shape(whose, rejection.nodes, placement.columns.node_count, "b", "truth value")
        rejections: tuple[Rejection, ...] = found
        return rejections


def _refuse_shape(whose: str, found: Any, width: int, kinds: str, wanted: str) -> None:
    """Raise PluginError for what is no array of ``width`` values of one of numpy's ``kinds``."""
    if not isinstance(found, np.ndarray):
        raise PluginError(f"{whose} gave {shortened(repr(found))}; wanted an array with a {wanted} for each node")
    if found.shape != (width,):
        raise PluginError(f"{whose} gave an array of shape {found.shape}; wanted ({width},), a {wanted} for each node")
    if found.dtype.kind == "f" and np.isnan(found).any():
        raise PluginError(f"{whose} gave NaN; wanted a {wanted} for each node")
    if found.dtype.kind not in kinds:
        raise PluginError(f"{whose} gave {found.dtype} values; wanted a {wanted} for each node")
