"""Waits after failures: they grow, spread, end, and begin anew."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError, ServerBusyError
from rescheduler.adapters.kubernetes.watch.backoff import Backoff
from rescheduler.adapters.kubernetes.watch.reflector import Recovery
from rescheduler.adapters.kubernetes.watch.versions import is_older
from rescheduler.adapters.kubernetes.watch.watch_lines import WatchBrokenError, WatchExpiredError
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.resource_version import number_of


@given(st.integers(), st.integers(1, 40))
def test_waits_double_up_to_a_limit(seed: int, tries: int) -> None:
    """Each is between half and one and a half of its share, and none is beyond the limit."""
    backoff = Backoff(Random(seed), first=1.0, longest=30.0)
    for number in range(tries):
        share = min(2.0**number, 30.0)
        assert 0.5 * share <= backoff.seconds() <= 1.5 * share
    backoff.reset()
    assert backoff.seconds() <= 1.5


def test_a_list_alone_does_not_shorten_waits() -> None:
    """A server that sends lists and then fails at once must not be asked for the list again and again."""
    recovery = Recovery(Random(0))
    waits = []
    for _ in range(8):
        recovery.read()
        waits.append(recovery.after(WatchExpiredError("410"), has_synced=True).seconds)
    assert waits[-1] > 14.0
    recovery.progressed()
    assert recovery.after(WatchExpiredError("410"), has_synced=True).seconds < 1.3


def test_what_the_watch_tells_between_two_faults_counts() -> None:
    """One broken line now and then never costs a list; two with nothing between them do."""
    recovery = Recovery(Random(0))
    broken = WatchBrokenError("broken")
    for _ in range(5):
        assert not recovery.after(broken, has_synced=True).reads_anew
        recovery.progressed()
    recovery.after(broken, has_synced=True)
    assert recovery.after(broken, has_synced=True).reads_anew


def test_an_outage_costs_no_list() -> None:
    """Neither refused nor broken connections, nor a busy server, say anything about the version we hold."""
    recovery = Recovery(Random(0))
    for error in (ClusterError("refused"), OutcomeUnknownError("reset"), ServerBusyError("busy", 1.0)) * 5:
        remedy = recovery.after(error, has_synced=True)
        assert not remedy.reads_anew
        assert remedy.seconds > 0.0


def test_versions_that_are_no_numbers_are_not_compared() -> None:
    """They are opaque where they are not written as etcd writes them."""
    assert [number_of(text) for text in ("12", "", "-1", "1e3", "٣", "0x1")] == [12, None, None, None, None, None]
    assert number_of("9" * 19) == 10**19 - 1
    assert [number_of("9" * length) for length in (20, 5000)] == [None, None]
    assert is_older("9", "10")
    assert not is_older("10", "10")
    assert not is_older("abc", "10")
    assert not is_older("9", "")
