"""How each provider does, for people and for /readyz."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rescheduler.usage.collecting.answers import ProviderAnswer


@dataclass(frozen=True)
class ProviderHealth:
    """One provider. Times are seconds since the epoch.

    ``error``: why it did not answer last time, "" if it did; ``since``: since when it has been (or not been) so;
    ``is_used``: its samples are those that count now; ``distrust``: why its newest answer is not believed;
    ``dropped``: samples dropped so far because they cannot be; ``history_error``: why it told no earlier samples.
    """

    name: str
    error: str = ""
    since: float | None = None
    answered_at: float | None = None
    is_used: bool = False
    distrust: str = ""
    warnings: tuple[str, ...] = ()
    dropped: int = 0
    history_error: str = ""

    @property
    def is_answering(self) -> bool:
        """Whether it answered when it was last asked."""
        return self.answered_at is not None and not self.error


def updated(
    healths: Sequence[ProviderHealth], answers: Sequence[ProviderAnswer], used: ProviderAnswer | None, now: float
) -> tuple[ProviderHealth, ...]:
    """After a tick in which all of them were asked, in the same order."""
    return tuple(_updated(health, answer, answer is used, now) for health, answer in zip(healths, answers, strict=True))


def _updated(health: ProviderHealth, answer: ProviderAnswer, is_used: bool, now: float) -> ProviderHealth:
    is_change = health.since is None or bool(health.error) != bool(answer.error)
    return replace(
        health,
        error=answer.error,
        since=now if is_change else health.since,
        answered_at=health.answered_at if answer.error else now,
        is_used=is_used,
        distrust=answer.distrust,
        warnings=answer.sample.warnings if answer.sample is not None else (),
        dropped=health.dropped + (answer.sifted.dropped if answer.sifted is not None else 0),
    )
