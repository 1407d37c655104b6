"""What is done to the calls of a process under test: kinds of faults, where each can strike, and when it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Final, NamedTuple

READS: Final = ("read", "get pod", "list pods", "look", "can hold", "can gate", "can taint", "leftovers", "ledger read")
WRITES: Final = (
    "evict", "hold", "renew", "release", "nominate", "gate", "ungate", "taint", "untaint", "event", "ledger write",
)  # fmt: skip
SERVER: Final = (*READS, "dry run", *WRITES)
LIKE: Final[Mapping[str, str]] = {"detach": "ungate", "give back": "ungate", "withdraw nomination": "nominate"}
"""Patches of pods that are seldom, struck by whatever strikes the other one, and no pairs of their own."""
AUDIT: Final = "audit"
"""The local file, written and read without a server."""
SITES: Final = (*SERVER, AUDIT)

DEADLY: Final = ("kill before", "kill in", "kill after")

APPLIES: Final[Mapping[str, tuple[str, ...]]] = {
    "429 of a budget": ("dry run", "evict"),  # F1
    "429 of overload": SERVER,  # F2
    "5xx before": SERVER,  # F3
    "5xx after": WRITES,
    "timeout before": SERVER,  # F4
    "timeout after": WRITES,
    "timeout, effect later": WRITES,
    "refused": SERVER,  # F5: 400 401 403 404 409 410 413 422
    "reset before": SERVER,  # F6
    "reset after": WRITES,
    "slow": SERVER,  # F7
    "garbled": SERVER,
    "half done": ("hold", "release", "taint", "untaint"),
    "webhook": ("evict", "dry run", "hold", "ledger write"),  # F8
    "unreachable": SERVER,  # F9, F10
    "mixed": ("read",),  # F12: lost and duplicated events
    "expired list": ("read",),  # F14
    "one after the other": ("read",),  # a slow reading: each kind as it was when its own list was asked for
    "stale": ("read", "get pod"),  # F13, F15
    "kill before": SITES,  # F16
    "kill in": SITES,
    "kill after": SITES,
    "pause": SITES,  # F17
    "conflict": ("ledger write",),  # F18: somebody else was faster
    "disk": (AUDIT,),  # F20
}
PAIRS: Final = tuple((site, fault) for site in SITES for fault, sites in APPLIES.items() if site in sites)
"""The whole table: each of these at least once in a campaign."""
COMMON: Final = frozenset({"read", "ledger read", "get pod", "list pods", "look", AUDIT})
"""Sites that every run comes by often; forced faults strike there at any time, elsewhere at once."""

EPISODES: Final[Mapping[str, tuple[str, tuple[str, ...], float, float]]] = {
    "API down": ("unreachable", SERVER, 1, 7200),  # F10
    "overload": ("429 of overload", SERVER, 20, 90),  # F2
    "slow API": ("slow", SERVER, 30, 300),
    "slow pages": ("one after the other", ("read",), 60, 900),
    "stale replica": ("stale", ("read",), 60, 600),
    "writes forbidden": ("refused", WRITES, 60, 3600),  # F38
    "webhook broken": ("webhook", ("evict", "dry run", "hold"), 60, 1800),
    "budgets refuse": ("429 of a budget", ("dry run", "evict"), 60, 1800),  # F1, for ever
    "disk full": ("disk", (AUDIT,), 60, 1800),
}
"""Times in which one fault strikes nearly every call: fault, sites, shortest and longest seconds."""


class Fault(NamedTuple):
    """``kind`` from APPLIES; ``seconds``: how slow, how late, how stale, how long the pause."""

    kind: str
    seconds: float = 0.0
    status: int = 0


class Faults:
    """Decides, call by call, what goes wrong. ``rate``: share of calls that are struck.

    ``deadly``: how likely a kill is, beside any other fault.
    ``forced``: pairs of site and fault that strike once each, at the first call that they can strike.
    """

    def __init__(
        self, random: Random, now: Callable[[], float], rate: float, episodes_per_hour: float,
        forced: Iterable[tuple[str, str]] = (), deadly: float = 0.1,
    ) -> None:  # fmt: skip
        self.struck: Counter[tuple[str, str]] = Counter()
        self.episodes: Counter[str] = Counter()
        self.is_on = True
        self._random = random
        self._now = now
        self._rate = rate
        self._deadly = deadly
        self._forced = list(forced)
        self._per_hour = episodes_per_hour
        self._running: list[tuple[float, str, tuple[str, ...]]] = []
        self._next_episode = self._draw_next()

    @property
    def last_ends_at(self) -> float:
        """When the last episode so far ends."""
        return max((end for end, _, _ in self._running), default=0.0)

    def draw(self, site: str, where: str = "") -> Fault | None:
        """What strikes this call, which concerns the namespace ``where``."""
        if not self.is_on:
            return None
        kind = self._kind(site)
        if kind is None:
            return None
        self.struck[site, kind] += 1
        return Fault(kind, self._seconds(kind), self._random.choice((400, 401, 403, 404, 409, 410, 413, 422)))

    def _kind(self, site: str) -> str | None:
        for pair in self._forced:
            if pair[0] == site:
                if site not in COMMON or self._random.random() < 0.1:
                    self._forced.remove(pair)
                    return pair[1]
                break
        self._begin_episodes()
        for end, fault, sites in self._running:
            if LIKE.get(site, site) in sites and self._now() < end and self._random.random() < 0.9:
                return fault
        if self._rate and self._random.random() < self._rate:
            return self._any(site)
        return None

    def _any(self, site: str) -> str | None:
        kinds = KINDS_AT[LIKE.get(site, site)]
        weights = [self._deadly if kind in DEADLY else 1.0 for kind in kinds]
        return self._random.choices(kinds, weights)[0]

    def _seconds(self, kind: str) -> float:
        longest = {"slow": 120.0, "timeout, effect later": 60.0, "stale": 600.0, "mixed": 120.0, "pause": 600.0}
        top = longest.get(kind, 0.0)
        return self._random.choice((0.02, 0.1, 0.3, 1.0)) * top * self._random.random()

    def _begin_episodes(self) -> None:
        now = self._now()
        self._running = [episode for episode in self._running if episode[0] > now]
        if now >= self._next_episode:
            name = self._random.choice(tuple(EPISODES))
            fault, sites, low, high = EPISODES[name]
            self.episodes[name] += 1
            length = min(high, low + self._random.expovariate(4.0 / (high - low)))
            self._running.append((now + length, fault, sites))
            self._next_episode = self._draw_next()

    def _draw_next(self) -> float:
        if not self._per_hour:
            return float("inf")
        return self._now() + self._random.expovariate(self._per_hour / 3600.0)


def no_faults(now: Callable[[], float]) -> Faults:
    """Everything works."""
    return Faults(Random(0), now, 0.0, 0.0)


def _kinds_at() -> dict[str, Sequence[str]]:
    return {site: tuple(kind for kind, sites in APPLIES.items() if site in sites) for site in SITES}


KINDS_AT: Final = _kinds_at()
