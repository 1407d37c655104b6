"""ObjectiveDrift: an objective's value has become worse."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Annotated

from pydantic import Field

from rescheduler.daemon.triggers.setting import Setting, listed
from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.policy.fields.objectives import ObjectiveName
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import Margin, PositiveDurationSeconds


class ObjectiveDriftArgs(PolicyModel):
    """When an objective's value has become worse."""

    by: Annotated[Margin, Field(gt=0)] = 0.1
    """By more than this share of the best value since the last round that moved anything; below 1, of 1."""
    of: Annotated[tuple[ObjectiveName, ...], Field(min_length=1, max_length=7)] | None = None
    """Which of the policy's objectives are looked at; left out: all."""
    every: PositiveDurationSeconds = 60.0
    """How often, at most: on a large cluster this takes time."""


class ObjectiveDrift(Trigger):
    """Asks when a value is worse than the best since a round moved anything; then only when it is worse still."""

    name = "ObjectiveDrift"
    arguments = ObjectiveDriftArgs

    def __init__(self, args: ObjectiveDriftArgs, setting: Setting) -> None:
        names = tuple(objective.name for objective in setting.policy.objectives)
        self._names = tuple(name for name in names if args.of is None or name in args.of)
        self._args = args
        self._best: dict[str, float] = {}
        self._asked_at: float | None = None

    @classmethod
    def sentence(cls, args: ObjectiveDriftArgs) -> str:
        """Whose value, and by how much."""
        names = "an objective's value" if args.of is None else " or ".join(args.of)
        return f"when {names} has become worse by more than {100 * args.by:g}%"

    @classmethod
    def warnings(cls, args: ObjectiveDriftArgs, policy: Policy) -> Iterator[str]:
        """Objectives that the policy does not have."""
        for name in sorted(set(args.of or ()) - {objective.name for objective in policy.objectives}):
            yield f"ObjectiveDrift cannot look at {name}, which is none of the policy's objectives"

    def watched(self) -> tuple[str, ...]:
        """The policy's objectives, or those of them that the arguments name."""
        return self._names

    def look(self, sight: Sight) -> Occasion | None:
        """Whether values have become worse; they are asked for at most once in ``every``."""
        now = sight.cluster.taken_at
        if self._asked_at is not None and self._asked_at <= now < self._asked_at + self._args.every:
            return None
        self._asked_at = now
        values = sight.values()
        worse = [text for name in self._names if name in values and (text := self._drift(name, values[name]))]
        return Occasion(self.name, listed(worse), now) if worse else None

    def wake_at(self, now: float) -> float | None:
        """When it is time to ask for values again."""
        if not self._names:
            return None
        return now if self._asked_at is None or now < self._asked_at else self._asked_at + self._args.every

    def answered(self, report: RoundReport) -> None:
        """After a round that moved anything the values are what they are."""
        if report.result is not None:
            self._best.clear()

    def _drift(self, name: str, value: float) -> str:
        """How much worse it is, in words; "" if it is not."""
        if not isfinite(value):
            return ""
        best = self._best.setdefault(name, value)
        if value - best > self._args.by * max(1.0, abs(best)):
            self._best[name] = value
            return f"{name} has become worse, from {best:g} to {value:g}"
        self._best[name] = min(best, value)
        return ""
