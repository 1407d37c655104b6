"""Evictions that were sent, and since when each is a debt no more, by the truth (the terms of the specification).

A debt opens when an eviction is sent. It closes with a definite refusal; with a read, 90 seconds or more after the
request ended, that shows the pod unharmed; or when the workload is whole again with the help of a pod that came after.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rescheduler.model.objects.pod import Pod
from tests.soak.trace import Request

REFUSALS = frozenset(
    {"BudgetExhausted", "BudgetNotObserved", "TooManyRequests", "Gone", "Conflict", "Forbidden", "TwoBudgets"}
)
"""Answers that say for sure that nothing was evicted; whatever else we hear, or do not hear, says nothing."""
DOUBT_SECONDS = 90.0
"""An eviction whose answer was lost may take effect for so long after its request ended."""


@dataclass(eq=False)
class Send:
    """One eviction in earnest. ``pod``: as it truly stood when it was sent, None where it was not there any more.

    ``ready``, ``desired``: of its workload before the effect. ``is_owner_known``: whether the owner is an object of its
    own. ``to_node``: where the plan expected it ("" unknown). ``landed``: the replacement that closed the debt, where
    that is beyond doubt. ``came``: pods of its workload that came while it was open, by uid, those that went again too.
    """

    request: Request
    pod: Pod | None
    workload: str
    node: str
    zone: str
    to_node: str
    ready: int
    desired: int
    is_owner_known: bool = True
    effect_at: float | None = None
    closed_at: float | None = None
    closed_by: str = ""
    landed: Pod | None = None
    came: set[str] = field(default_factory=set)

    @property
    def t(self) -> float:
        """When it was sent."""
        return self.request.t

    @property
    def is_debt(self) -> bool:
        """Whether it is open."""
        return self.closed_at is None

    @property
    def took_effect(self) -> bool:
        """Whether the pod was evicted indeed."""
        return self.effect_at is not None

    @property
    def is_refused(self) -> bool:
        """Whether we were told for sure that nothing was evicted, and nothing was."""
        return not self.took_effect and self.request.answer in REFUSALS

    @property
    def in_gap(self) -> bool:
        """Whether the process stood still between its last decision and this send: what no client can prevent."""
        return self.request.pause > 0.0

    @property
    def key(self) -> str:
        """``NAMESPACE/NAME`` of the pod."""
        return f"{self.request.namespace}/{self.request.name}"

    def close(self, t: float, reason: str) -> None:
        """It is a debt no more."""
        if self.closed_at is None:
            self.closed_at, self.closed_by = t, reason

    def is_unharmed_in(self, pod: Pod | None) -> bool:
        """Whether a read shows the pod as if nothing had happened."""
        return pod is not None and pod.uid == self.request.uid and not pod.is_terminating and not pod.is_finished

    def is_past_doubt(self, as_of: float) -> bool:
        """Whether a read of this time proves something."""
        ended = self.t if self.request.answered_at is None else self.request.answered_at
        return as_of >= ended + DOUBT_SECONDS
