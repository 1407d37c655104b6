"""The ledger: every eviction as it was announced before it was sent, and what became of it; kept in the cluster itself.

An entry is written before its eviction is sent. Until it is closed it is a debt: a pod that we took away and that
nobody has proven to be replaced. Windows, the circuit breaker and back-offs are counted from the entries alone, so
that they survive restarts, other processes and changes of the policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import PodReference


class EntryState(StrEnum):
    """What is known of one announced eviction; the first two are debts."""

    INTENDED = "Intended"
    """Written before the request; whether it was sent, or what was answered, is not known yet."""
    OPEN = "Open"
    """Accepted, or the answer was lost: the pod counts as missing."""
    REFUSED = "Refused"
    """A definite refusal: nothing was evicted."""
    NOT_EVICTED = "NotEvicted"
    """The answer was lost, and later the same pod stood there unharmed."""
    REPAID = "Repaid"
    """The workload is complete again, by a pod that works."""
    FAILED = "Failed"
    """Its replacement did not come, did not work, or came back to where the pod was taken from."""

    SURGING = "Surging"
    """The pod was taken out of its ReplicaSet, or is about to be, and serves on until its replacement is Ready."""


DEBTS = frozenset({EntryState.INTENDED, EntryState.OPEN})
SENT = frozenset({EntryState.INTENDED, EntryState.OPEN, EntryState.REPAID, EntryState.FAILED, EntryState.SURGING})
"""States that count in windows: an eviction was sent, or may have been, or is to come by a surge."""


class LedgerEntry(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One eviction. Times are seconds since the epoch; ``plan`` is the number of the plan that it belongs to.

    ``workload``: uid of the pod's workload ("" without one), ``workload_key`` for people. ``desired`` and ``ready``:
    its replicas when the eviction was announced. ``labels``: of the pod's own those of ``label_keys``, to find the
    budgets that it counts in; of other keys nothing is known, unless ``label_keys`` is None: then they are all there.
    ``grace_seconds``: how long the pod may take to go. ``ended_at``: when the request was answered, or given up;
    ``is_in_doubt``: the answer was lost. ``failure``: what was wrong with its replacement; such an entry stays a debt
    until a working one is proven, and is remembered as a failure even then. ``method``: how the pod is moved.
    ``attempt``: 2 or 3 where the plan is what was left of others of the same run, planned again: those with the
    numbers before.
    """

    number: int
    plan: int
    pod: PodReference
    from_node: str
    to_node: str
    at: float
    state: EntryState = EntryState.INTENDED
    workload: str = ""
    workload_key: str = ""
    desired: int = 0
    ready: int = 0
    zone: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    grace_seconds: int = 30
    objective: str = ""
    reason: str = ""
    landed_on: str | None = None
    closed_at: float | None = None
    message: str = ""
    ended_at: float | None = None
    is_in_doubt: bool = False
    failure: str = ""
    label_keys: tuple[str, ...] | None = None
    method: MoveMethod = MoveMethod.EVICT
    attempt: int = 1

    @property
    def is_debt(self) -> bool:
        """Whether the pod counts as missing on our account."""
        return self.state in DEBTS

    @property
    def may_stand(self) -> bool:
        """Whether the pod may not have been evicted after all, as far as is known."""
        return self.state is EntryState.INTENDED or (self.is_debt and self.is_in_doubt)


class Nomination(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A pending pod that is led to a node before there is room for it (``autoscaler.firstTry``), until ``expires_at``.

    Written before the pod is nominated: whoever outlives the run that was to make the room finds the pod by it.
    ``run``: the id of that run. Times are seconds since the epoch.
    """

    pod: PodReference
    node: str
    at: float
    expires_at: float
    run: str = ""


class Breaker(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The circuit breaker as it stands. ``opened_at`` None: closed. ``openings``: since an operator last closed it.

    ``since``: entries that were sent before are not looked at any more. ``trial``: number of the one entry that was
    let through while it was open.
    """

    opened_at: float | None = None
    openings: int = 0
    since: float = 0.0
    reason: str = ""
    trial: int | None = None


class Ledger(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Everything that is kept. ``plan``: highest number given to a plan; an older plan sends nothing any more.

    ``entries`` by rising number; old ones that count in no window are dropped. ``next_entry``: number of the next one.
    ``clean_since``: since when nothing went wrong, for the ramp-up; kept because older entries are dropped.
    ``accepted_at``: when somebody accepted that older records are lost, 0 if nobody had to. ``nominations``: pods that
    we lead to room which is being made.
    """

    plan: int = 0
    holder: str = ""
    next_entry: int = 1
    entries: tuple[LedgerEntry, ...] = ()
    breaker: Breaker = Breaker()
    clean_since: float | None = None
    accepted_at: float = 0.0
    nominations: tuple[Nomination, ...] = ()

    @property
    def debts(self) -> tuple[LedgerEntry, ...]:
        """Entries that are still open."""
        return tuple(entry for entry in self.entries if entry.is_debt)


EMPTY_LEDGER = Ledger()
