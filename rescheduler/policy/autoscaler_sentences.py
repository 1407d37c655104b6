"""What a policy does beside an autoscaler, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.policy.autoscaler import AutoscalerPolicy, ScaleDown, ScaleUp
from rescheduler.policy.values import format_duration


def autoscaler_sentences(rules: AutoscalerPolicy) -> Iterator[str]:
    """One for each thing that is written; what is left to the autoscaler needs none."""
    if rules.scale_up is not ScaleUp.LEAVE:
        yield (
            f"asks the autoscaler for room by {rules.scale_up} where no rearrangement helps a pending pod, "
            f"and waits {format_duration(rules.wait)} for it"
        )
    if rules.scale_down is not ScaleDown.LEAVE:
        how = "an annotation" if rules.scale_down is ScaleDown.ANNOTATE else "a taint"
        yield f"marks nodes that it has emptied by {how} of our own, for {format_duration(rules.offer)} at most"
