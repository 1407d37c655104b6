"""Why what a person asks of the daemon is not done."""

from __future__ import annotations

from rescheduler.extension_points import ReschedulerError


class NotLeadingError(ReschedulerError):
    """Somebody else leads. ``holder``: who, "" where nobody is known to."""

    def __init__(self, holder: str) -> None:
        leads = f"{holder} leads; ask there" if holder else "nobody is known to lead; ask again later"
        super().__init__(f"this rescheduler does not lead: {leads}")
        self.holder = holder


class UnknownPlanError(ReschedulerError):
    """No plan has this number."""


class UnknownHeldPolicyError(ReschedulerError):
    """No policy of this number waits to be acknowledged."""


class ApprovalRefusedError(ReschedulerError):
    """A plan cannot be approved (any more). ``newer``: the plan that waits in its place, "" where there is none."""

    def __init__(self, message: str, newer: str = "") -> None:
        super().__init__(message)
        self.newer = newer


class ObjectionError(ReschedulerError):
    """Nothing may be carried out now. ``until``: when that may end, seconds since the epoch; None: not known."""

    def __init__(self, message: str, until: float | None = None) -> None:
        super().__init__(message)
        self.until = until


class KeyReusedError(ReschedulerError):
    """An idempotency key came with another request before."""


class BusyError(ReschedulerError):
    """The loop has not come to a request in time; nothing was done, and nothing will be."""

    def __init__(self) -> None:
        super().__init__("the daemon is busy, and nothing was done; ask again")


class ChangedError(ReschedulerError):
    """What was asked about is not as the one who asks has seen it."""
