"""GET /watcher: query forms, fall-backs, and what is answered where there is nothing to tell."""

from __future__ import annotations

import pytest

from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.collecting.collected import Collected
from tests.clocks import FakeClock
from tests.unit.daemon.api.asking import asked
from tests.unit.daemon.api.records import NOW, SetSource, collected, pods_using, record

TEXT = "text/plain; charset=utf-8"


def names(source: SetSource, target: str) -> list[str]:
    """Nodes in the answer."""
    answer = asked(source, target)
    assert (answer.status, answer.type) == (200, "application/json"), answer.text
    return list(answer.json["data"]["NodeMetricsMap"])


def test_all_nodes() -> None:
    """The plain form, and with parameters that mean nothing here."""
    source = SetSource(collected())
    for target in ("/watcher", "/watcher?", "/watcher?host=", "/watcher?other=1&x"):
        assert names(source, target) == ["n1", "n2"], target


def test_one_node_in_both_forms() -> None:
    """The original's query and the design's path give the same bytes; of two hosts the first counts, as in Go."""
    source = SetSource(collected({"n1": {"average": 1.0}, "node.with-dots": {"average": 2.0}}))
    for name in ("n1", "node.with-dots"):
        by_query, by_path = asked(source, f"/watcher?host={name}"), asked(source, f"/watcher/{name}")
        assert by_query == by_path
        assert list(by_query.json["data"]["NodeMetricsMap"]) == [name]
    assert names(source, "/watcher?host=n1&host=node.with-dots") == ["n1"]


@pytest.mark.parametrize("target", ["/watcher?host=n3", "/watcher/n3", "/watcher?host=N1", "/watcher?host=n1%20"])
def test_an_unknown_host_is_404_in_plain_text(target: str) -> None:
    """Names are compared whole, and repeated safely."""
    answer = asked(SetSource(collected()), target)
    assert (answer.status, answer.type) == (404, TEXT)
    assert answer.text.startswith("there is no node ")


def test_an_unbelieved_host_is_404_with_its_state() -> None:
    """A stock client would believe whatever it reads, so it reads nothing; people see why."""
    source = SetSource(collected(trust={"n1": Trust(TrustState.STALE, "newest sample 400s old")}))
    assert names(source, "/watcher") == ["n2"]
    for target in ("/watcher?host=n1", "/watcher/n1"):
        answer = asked(source, target)
        assert (answer.status, answer.type) == (404, TEXT)
        assert answer.text == "no metrics of n1 are believed: Stale: newest sample 400s old\n"


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (Collected(NOW), "no metrics are present: none were collected yet\n"),
        (collected(at=NOW - 301), "no metrics are present: the newest are 301s old\n"),
        (collected({}), "no metrics are present: no node's load is believed; see /trust\n"),
        (collected(windows=[]), "no metrics are present: no node's load is believed; see /trust\n"),
        (collected(trust={name: Trust(TrustState.MISSING) for name in ("n1", "n2")}),
         "no metrics are present: no node's load is believed; see /trust\n"),
    ],
)  # fmt: skip
def test_where_no_metrics_are_present_it_is_404(known: Collected, text: str) -> None:
    """With the reason in plain text; a stock client takes any status but 200 for an error."""
    answer = asked(SetSource(known), "/watcher")
    assert (answer.status, answer.type, answer.text) == (404, TEXT, text)


def test_a_record_is_told_until_five_minutes_have_passed() -> None:
    """When the collector stops, its last word does not stay for ever."""
    source, clock = SetSource(collected()), FakeClock()
    for age, status in ((0, 200), (300, 200), (301, 404)):
        clock.time = NOW + age
        assert asked(source, "/watcher", clock=clock).status == status


@pytest.mark.parametrize(
    ("query", "duration"),
    [("", "15m"), ("?window=15m", "15m"), ("?window=900s", "15m"), ("?window=10m", "5m"), ("?window=5m", "5m")],
)
def test_a_window_may_be_chosen(query: str, duration: str) -> None:
    """One that is not filled falls to the next shorter."""
    source = SetSource(collected(windows=[300.0, 900.0]))
    assert asked(source, f"/watcher{query}").json["window"]["duration"] == duration


def test_a_window_that_nobody_keeps_is_404_with_those_that_are() -> None:
    """An hour is not the same as a quarter of it."""
    answer = asked(SetSource(collected(windows=[300.0, 900.0])), "/watcher?window=1h")
    assert answer.status == 404
    assert answer.text == "no metrics are present over 1h; filled windows: 5m, 15m; see /trust\n"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("window=5", "window: found '5', wanted a duration such as 300s, 5m or 1h"),
        ("window=", "window: found '', wanted a duration"),
        ("window=0s", "window: found '0s', wanted a duration"),
        ("window=-5m", "window: found '-5m', wanted a duration"),
        ("window=5m%0a", "window: found '5m"),
        ("window=%1b[31m", "window: found '"),
        ("pods=", "pods: found '', wanted true or false"),
        ("pods=yes", "pods: found 'yes', wanted true or false"),
        ("statistics=ALL", "statistics: found 'ALL', wanted all"),
    ],
)
def test_a_parameter_of_ours_that_is_written_wrongly_is_400(query: str, text: str) -> None:
    """What was found, what was wanted; nothing of it can act on a terminal."""
    answer = asked(SetSource(collected()), f"/watcher?{query}")
    assert (answer.status, answer.type) == (400, TEXT)
    assert answer.text.startswith(text)


def test_extensions_are_given_only_on_request() -> None:
    """Pods, and statistics that the original does not know."""
    row = {"average": 1.0, "deviation": 2.0, "maximum": 9.0}
    source = SetSource(collected({"n1": row}, **pods_using(("a", "n1", 3.0, 4.0))))
    plain = asked(source, "/watcher").json["data"]
    assert list(plain) == ["NodeMetricsMap"]
    assert {one["operator"] for one in plain["NodeMetricsMap"]["n1"]["metrics"]} == {"AVG", "STD"}
    full = asked(source, "/watcher?pods=true&statistics=all").json["data"]
    assert list(full["PodMetricsMap"]) == ["default/a"]
    assert {one["operator"] for one in full["NodeMetricsMap"]["n1"]["metrics"]} == {"AVG", "STD", "MAX"}
    assert asked(source, "/watcher?pods=false").json["data"] == plain


def test_each_record_is_encoded_once_and_a_new_one_shows_at_once() -> None:
    """The answer is the same object for the same record, so that no request waits for the encoding."""
    from rescheduler.daemon.load_watcher.answers import Form, LoadAnswers

    answers, first = LoadAnswers(), record()
    answers.prepare(None)
    answers.prepare(first)
    assert answers.of_all(first, Form()) is answers.of_all(first, Form())
    assert answers.of_all(first, Form(300.0)) != answers.of_all(first, Form())
    changed = answers.of_all(record({"n9": {"average": 1.0}}), Form())
    assert changed is not None
    assert b"n9" in changed
