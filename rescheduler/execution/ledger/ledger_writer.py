"""One process's hand on the ledger: reads, and writes by compare-and-swap until a change stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from rescheduler.execution.stopping import NoRoomError, PlanStoppedError
from rescheduler.extension_points import (
    Clock,
    ClusterError,
    LedgerDeniedError,
    LedgerFullError,
    LedgerStore,
    NotSentError,
)
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.daemon.ledger_changes import bounded, revised, trimmed

PAUSES_SECONDS: Final = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Before each try; others who write take turns with us."""
KNOWN_SECONDS: Final = 0.5
"""What was asked for no longer ago is built on without another reading: a write stands only where nobody has written
since, and a mark on the namespace, which no version tells of, is seen soon enough."""

Change = Callable[[Ledger], Ledger | None]
"""What is to become of the ledger as it stands; None: nothing after all."""


class LedgerWriter:
    """The ledger as it was read last, with what we know besides and have not written yet.

    ``version`` of that reading, ``stop`` its mark. ``keep_seconds`` and ``label_keys``: see ``trimmed`` and
    ``bounded``.
    """

    def __init__(
        self, store: LedgerStore, clock: Clock, *, keep_seconds: float, label_keys: Iterable[str] = ()
    ) -> None:
        self.ledger = EMPTY_LEDGER
        self.version = ""
        self.stop: str | None = None
        self.doubt: ClusterError | None = None
        """The answer to a write of the last update was lost: it may stand though an error was raised."""
        self._store = store
        self._clock = clock
        self._keep_seconds = keep_seconds
        self._label_keys = label_keys
        self._late: dict[tuple[str, float], dict[str, Any]] = {}
        self._asked_at = float("-inf")

    @property
    def has_news(self) -> bool:
        """Whether something is known that has not been written."""
        return bool(self._late)

    def read(self) -> Ledger:
        """Read it anew. Raises ClusterError."""
        began, self._asked_at = self._clock.monotonic(), float("-inf")
        reading = self._store.read()
        self.ledger, self.version, self.stop = revised(reading.ledger, self._late), reading.version, reading.stop
        self._asked_at = began
        return self.ledger

    def know(self) -> Ledger:
        """As it was read half a second ago at most, with what we have written since. Raises ClusterError."""
        return self.ledger if self._clock.monotonic() - self._asked_at <= KNOWN_SECONDS else self.read()

    def note(self, uid: str, at: float, **fields: Any) -> None:
        """Fields of one entry, by its pod and time, that go with the next write."""
        self._late.setdefault((uid, at), {}).update(fields)
        self.ledger = revised(self.ledger, {(uid, at): fields})

    def update(self, change: Change, is_done: Callable[[Ledger], bool], now: float) -> bool:
        """Change what is known and write it; read, change and write until it stands. False: nothing was to be changed.

        ``is_done`` tells from the ledger whether a write took effect whose answer was lost. Raises ClusterError, and
        PlanStoppedError where others were faster every time, NoRoomError where the ledger is full.
        """
        self.doubt = None
        for pause in PAUSES_SECONDS:
            if pause:
                self._clock.sleep(pause)
            self.know()
            if self.doubt is None or not is_done(self.ledger):
                changed = change(self.ledger)
                if changed is None:
                    return False
                changed = bounded(trimmed(changed, now, self._keep_seconds), self._label_keys)
                asked_at, self._asked_at = self._asked_at, float("-inf")  # of no use after a write that does not stand
                try:
                    version = self._store.write(changed, self.version)
                except LedgerFullError as error:
                    raise NoRoomError(f"{error}; nothing more is evicted until then") from error
                except (LedgerDeniedError, NotSentError):
                    raise
                except ClusterError as error:
                    self.doubt = error
                    continue
                if version is None:
                    continue
                self.ledger, self.version, self._asked_at = changed, version, asked_at
            self._late.clear()
            return True
        raise self.doubt or PlanStoppedError(
            "others write to the ledger at the same time, and were faster every time; let them end, then apply again"
        )
