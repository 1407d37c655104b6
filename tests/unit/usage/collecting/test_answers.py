"""Tests of asking providers, and of whose answer counts."""

from __future__ import annotations

import pytest

from rescheduler.extension_points import MetricsError
from rescheduler.model.usage.samples import MetricsSample
from rescheduler.usage.collecting.answers import ProviderAnswer, ask, ask_history, chosen
from tests.builders import NOW
from tests.unit.usage.cases import FakeProvider, answer, failing, nan, nodes, steady


def asked(script: object, name: str = "A", count: int = 5) -> ProviderAnswer:
    """One provider's answer."""
    return ask(FakeProvider(script, name), nodes(count), NOW, with_pods=False, clock_skew=30.0)


def breaking(now: float) -> MetricsSample:
    """A fault in the provider's own code."""
    raise ZeroDivisionError("division by zero")


def silent(now: float) -> None:
    """No answer at all."""


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (failing, "Prometheus at http://127.0.0.1:9090: connection refused"),
        (breaking, "A failed unexpectedly: ZeroDivisionError: division by zero"),
        (silent, "A answered None; wanted a MetricsSample"),
        (lambda now: steady(now, 4), "A answered about other nodes than it was asked for"),
        (lambda now: answer([0.4] * 5, now, is_partial=True, warnings=("one store is down",)),
         "A answered in part only: one store is down"),
        (lambda now: answer([nan] * 5, now), "A answered, but has no sample of any of 5 nodes"),
    ],
)  # fmt: skip
def test_whatever_goes_wrong_becomes_words(script: object, words: str) -> None:
    """No error escapes, and there is no answer to go by."""
    found = asked(script)
    assert (found.error, found.sifted, found.distrust, found.known_share) == (words, None, "", 0.0)


def test_an_answer_with_some_unusable_nodes_is_an_answer() -> None:
    """NaN everywhere with a reason is a source that lies, not one that is silent."""
    found = asked(lambda now: answer([nan] * 2, now, unusable={"n0": "NaN", "n1": "NaN"}), count=2)
    assert found.error == ""
    assert found.distrust == (
        "A gave values that cannot be for 2 of 2 nodes, more than 5 % (n0: NaN)"
    )  # fmt: skip
    assert found.known_share == 0.0


def test_the_first_good_answer_counts() -> None:
    """In the order of the policy."""
    one, two = asked(steady, "A"), asked(steady, "B")
    assert chosen([one, two], 0.9) is one
    assert chosen([asked(failing), two], 0.9) is two
    assert chosen([asked(failing), asked(failing)], 0.9) is None
    assert chosen([], 0.9) is None


def test_an_answer_that_knows_too_little_or_lies_gives_way() -> None:
    """But only to a better one."""
    little = asked(lambda now: answer([0.4, 0.5, nan, nan, nan], now), "A")
    lying = asked(lambda now: answer([0.4, 0.5, 0.6, 0.7, -1.0], now), "B")
    good = asked(steady, "C")
    assert chosen([little, lying, good], 0.9) is good
    assert chosen([little, lying], 0.9) is little
    assert chosen([lying, little], 0.9) is lying


def test_an_answer_that_knows_enough_but_lies_gives_way() -> None:
    """18 of 20 nodes are enough, but two values that cannot be are too many."""
    lying = asked(lambda now: answer([0.4] * 18 + [-1.0, -1.0], now), "A", count=20)
    good = asked(lambda now: steady(now, 20), "B", count=20)
    assert lying.known_share == 0.9
    assert chosen([lying, good], 0.9) is good


def test_history_is_sifted_and_its_errors_are_words() -> None:
    """None without a reason means that the source keeps none."""

    def history(kept: object) -> tuple[object, str]:
        return ask_history(FakeProvider(steady, "A", kept), nodes(), NOW - 60, NOW, 15.0, 30.0)

    found, error = ask_history(FakeProvider(steady, "A", steady), nodes(), NOW - 60, NOW, 15.0, 30.0)
    assert found is not None
    assert (len(found.times), error) == (4, "")
    assert history(None) == (None, "")
    assert history(failing) == (None, "Prometheus at http://127.0.0.1:9090: connection refused")
    assert history(breaking)[1].startswith("A failed unexpectedly: ZeroDivisionError")
    assert history(lambda now: steady(now, 3))[1] == "A told the history of other nodes than it was asked for"
    assert history(lambda now: answer([-1.0] * 5, now)) == (None, "A: 20 of 20 earlier samples cannot be")


def test_only_metrics_errors_of_people_are_told_as_they_are() -> None:
    """A MetricsError already names provider and address."""

    def script(now: float) -> MetricsSample:
        raise MetricsError("InfluxDB at http://db: answered 401")

    assert asked(script).error == "InfluxDB at http://db: answered 401"
