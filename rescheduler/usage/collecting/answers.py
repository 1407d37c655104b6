"""Asking providers: whatever goes wrong becomes words, and the first answer to go by is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rescheduler.extension_points import MetricsError, MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.usage.samples import MetricsSample, NodeSamples
from rescheduler.usage.checks.evidence import JUDGED
from rescheduler.usage.checks.plausibility import LARGEST_DROPPED_SHARE, Sifted, sift, sift_sample
from rescheduler.usage.checks.shapes import wrong_history, wrong_sample


class ProviderAnswer(NamedTuple):
    """One provider's answer, or the reason why there is none: then ``sifted`` and ``sample`` are None.

    ``distrust``: why the answer as a whole is not believed, "" if it is.
    """

    provider: MetricsProvider
    error: str = ""
    sample: MetricsSample | None = None
    sifted: Sifted | None = None

    @property
    def distrust(self) -> str:
        """Too much had to be dropped."""
        if self.sifted is None or self.sifted.is_believable:
            return ""
        example = next(iter(sorted(self.sifted.reasons.items())), ("", ""))
        return (
            f"{self.provider.name} gave values that cannot be for {self.sifted.dropped} of {self.sifted.given} nodes, "
            f"more than {100 * LARGEST_DROPPED_SHARE:.0f} % ({example[0]}: {example[1]})"
        )

    @property
    def known_share(self) -> float:
        """Share of the nodes asked for that it has a plausible value of."""
        if self.sifted is None:
            return 0.0
        values = [self.sifted.samples.values[metric] for metric in JUDGED if metric in self.sifted.samples.values]
        has = np.any([np.isfinite(found).any(axis=0) for found in values], axis=0) if values else np.zeros(1)
        return float(np.mean(has)) if np.size(has) else 0.0


def ask(
    provider: MetricsProvider, nodes: Sequence[Node], now: float, *, with_pods: bool, clock_skew: float
) -> ProviderAnswer:
    """One provider's newest sample. Never raises: an answer in part, or about no node at all, is an error too."""
    names = tuple(node.name for node in nodes)
    try:
        sample = provider.sample(nodes, now=now, with_pods=with_pods)
    except MetricsError as error:
        return ProviderAnswer(provider, str(error))
    except Exception as error:  # noqa: BLE001 - a fault in one provider must not end the watch over the others
        return ProviderAnswer(provider, f"{provider.name} failed unexpectedly: {type(error).__name__}: {error}")
    if wrong := wrong_sample(sample):
        return ProviderAnswer(provider, f"{provider.name} answered {wrong}")
    if sample.nodes.nodes != names or len(sample.nodes.times) != 1:
        return ProviderAnswer(provider, f"{provider.name} answered about other nodes than it was asked for")
    if sample.is_partial:
        return ProviderAnswer(
            provider, f"{provider.name} answered in part only: {'; '.join(sample.warnings) or 'no reason'}"
        )
    answer = ProviderAnswer(provider, "", sample, sift_sample(sample, clock_skew))
    if nodes and answer.sifted is not None and not answer.sifted.given:
        return ProviderAnswer(provider, f"{provider.name} answered, but has no sample of any of {len(names)} nodes")
    return answer


def ask_history(
    provider: MetricsProvider, nodes: Sequence[Node], start: float, end: float, step_seconds: float, clock_skew: float
) -> tuple[NodeSamples | None, str]:
    """Earlier samples without what cannot be, and the reason where there are none ("" if the source keeps none)."""
    try:
        found = provider.history(nodes, start=start, end=end, step_seconds=step_seconds)
    except MetricsError as error:
        return None, str(error)
    except Exception as error:  # noqa: BLE001 - as in ``ask``
        return None, f"{provider.name} failed unexpectedly: {type(error).__name__}: {error}"
    if found is None:
        return None, ""
    if wrong := wrong_history(found):
        return None, f"{provider.name} answered with a history of {wrong}"
    if found.nodes != tuple(node.name for node in nodes):
        return None, f"{provider.name} told the history of other nodes than it was asked for"
    sifted = sift(found, {}, clock_skew)
    if not sifted.is_believable:
        return None, f"{provider.name}: {sifted.dropped} of {sifted.given} earlier samples cannot be"
    return sifted.samples, ""


def chosen(answers: Sequence[ProviderAnswer], coverage: float) -> ProviderAnswer | None:
    """The first answer that is believed and knows enough nodes; else the first that knows any; else None."""
    given = [answer for answer in answers if answer.sifted is not None]
    good = (answer for answer in given if not answer.distrust and answer.known_share >= coverage)
    return next(good, next(iter(given), None))
