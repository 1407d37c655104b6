"""How much planning time is left, on an injected clock."""

from __future__ import annotations

from rescheduler.extension_points import Clock


class Deadline:
    """A point in time that planning must not pass.

    ``seconds`` is its nominal length: it does not depend on how fast the machine is, so choices may be based on it
    without making plans unrepeatable.
    """

    def __init__(self, clock: Clock, seconds: float, nominal_seconds: float | None = None) -> None:
        """``seconds`` from now."""
        self._clock = clock
        self._end = clock.monotonic() + seconds
        self.seconds = seconds if nominal_seconds is None else nominal_seconds

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - self._clock.monotonic())

    def wall_seconds(self) -> float | None:
        """What is left as time of the machine, for whoever stops by that; None: the clock counts work.

        Whoever is not stopped by the machine's time ends by work of his own, and says what he has done (``work``).
        """
        return None if self.counts_work else self.remaining()

    @property
    def counts_work(self) -> bool:
        """Whether it ends by counted work, the same on every machine, however busy that is."""
        return self._clock.counts_work

    def work(self, seconds: float) -> None:
        """So much work was done without a look at the clock; where work is counted, less is left now."""
        self._clock.work(max(0.0, seconds))

    def is_over(self) -> bool:
        """True once no time is left."""
        return self.remaining() <= 0.0

    def part(self, share: float) -> Deadline:
        """A deadline that ends once ``share`` (0 to 1) of what remains has passed."""
        return Deadline(self._clock, self.remaining() * share, self.seconds * share)
