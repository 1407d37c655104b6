"""Probing: which way is taken, how long it is kept, when all are tried again."""

from __future__ import annotations

from rescheduler.adapters.metrics.prometheus.probing import NOTHING_SECONDS, PROBE_SECONDS, Choice, Probing


class Source:
    """Ways with the share that each covers; remembers what was asked."""

    def __init__(self, **shares: float) -> None:
        self.shares = shares
        self.asked: list[str] = []
        self._probing: Probing[str, None] = Probing({"cpu": tuple(shares)})

    def ask(self, now: float = 0.0) -> str:
        """The way taken."""
        return self._probing.ask("cpu", self._run, now).way

    def _run(self, way: str) -> Choice[str, None]:
        self.asked.append(way)
        return Choice(way, None, self.shares[way])


def test_the_first_that_covers_enough_is_taken() -> None:
    """Even if a later one covers more; nothing after it is asked."""
    source = Source(few=0.5, enough=0.95, all=1.0)
    assert source.ask() == "enough"
    assert source.asked == ["few", "enough"]


def test_where_none_covers_enough_the_best_is_taken() -> None:
    """Of equals the first."""
    assert Source(few=0.2, more=0.6, same=0.6).ask() == "more"
    assert Source(none=0.0, nothing=0.0).ask() == "none"


def test_what_was_chosen_is_kept() -> None:
    """One question a tick."""
    source = Source(few=0.5, enough=0.95)
    source.ask()
    source.asked.clear()
    assert source.ask(15.0) == "enough"
    assert source.asked == ["enough"]


def test_others_are_tried_again_now_and_then() -> None:
    """When the chosen way covers too little, but not at each tick; clocks that jump back do not stop it for ever."""
    source = Source(rule=1.0, raw=0.0)
    source.ask(0.0)
    source.shares.update(rule=0.3, raw=1.0)
    assert source.ask(PROBE_SECONDS - 1) == "rule"
    assert source.ask(PROBE_SECONDS) == "raw"
    source.shares.update(rule=1.0, raw=0.0)
    assert source.ask(-PROBE_SECONDS) == "rule"


def test_a_source_that_has_just_started_is_not_given_up_for_long() -> None:
    """Where nothing was found all ways are tried again soon."""
    source = Source(rule=0.0, raw=0.0)
    source.ask(0.0)
    source.shares.update(raw=1.0)
    assert source.ask(NOTHING_SECONDS - 1) == "rule"
    assert source.ask(NOTHING_SECONDS) == "raw"


def test_the_kept_way_is_asked_once_when_others_are_tried() -> None:
    """And stays where none is better."""
    source = Source(rule=0.5, raw=0.2)
    source.ask(0.0)
    source.asked.clear()
    assert source.ask(PROBE_SECONDS) == "rule"
    assert sorted(source.asked) == ["raw", "rule"]
