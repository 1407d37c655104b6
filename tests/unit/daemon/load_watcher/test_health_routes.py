"""Whether the watcher lives, is ready and reaches its provider, as kubelets and the original's clients ask it."""

from __future__ import annotations

import pytest

from rescheduler.daemon.load_watcher.app import create_app
from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.collecting.collected import Collected
from rescheduler.usage.collecting.provider_health import ProviderHealth
from tests.clocks import FakeClock
from tests.unit.daemon.api.asking import ask, asked
from tests.unit.daemon.api.records import NOW, SetSource, collected

ANSWERING = ProviderHealth("Prometheus", answered_at=NOW, is_used=True)


@pytest.mark.parametrize(
    ("providers", "status"),
    [
        ((ANSWERING,), 200),
        ((ProviderHealth("Prometheus"),), 503),
        ((ProviderHealth("Prometheus", error="time-out", answered_at=NOW - 60),), 503),
        ((ProviderHealth("Prometheus", error="time-out"), ANSWERING), 200),
        ((ProviderHealth("Prometheus", answered_at=NOW),), 503),
    ],
)
def test_the_original_s_health_has_no_body(providers: tuple[ProviderHealth, ...], status: int) -> None:
    """200, or 503 where no provider's samples counted the last time; why is none of the client's business."""
    answer = asked(SetSource(collected(providers=providers)), "/watcher/health")
    assert (answer.status, answer.body, answer.type) == (status, b"", "")


def test_a_node_called_health_is_reached_by_the_query() -> None:
    """The path is taken."""
    source = SetSource(collected({"health": {"average": 1.0}}))
    assert asked(source, "/watcher/health").body == b""
    assert list(asked(source, "/watcher?host=health").json["data"]["NodeMetricsMap"]) == ["health"]


@pytest.mark.parametrize(
    ("ticks", "later", "status"), [(1, 0, 200), (1, 105, 200), (1, 106, 503), (0, 105, 200), (0, 106, 503)]
)
def test_alive_means_that_ticks_end(ticks: int, later: float, status: int) -> None:
    """With or without samples: a provider that fails is no reason to start us anew. The first tick has as long."""
    clock = FakeClock()
    app = create_app(SetSource(Collected(NOW if ticks else 0.0, ticks=ticks)), clock, interval=15.0)
    clock.time = NOW + later
    assert ask(app, "/healthz").status == status


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (collected(), "ok\n"),
        (Collected(NOW), "no metrics are present: none were collected yet\n"),
        (collected(at=NOW - 400), "no metrics are present: the newest are 400s old\n"),
        (collected(windows=[]), "no node's load is believed; see /trust\n"),
        (collected({"n": {"average": 1.0}}, trust={"n": Trust(TrustState.NEW)}),
         "no node's load is believed; see /trust\n"),
    ],
)  # fmt: skip
def test_ready_means_that_there_is_load_to_tell(known: Collected, text: str) -> None:
    """Else the reason."""
    answer = asked(SetSource(known), "/readyz")
    assert (answer.status, answer.text) == (200 if text == "ok\n" else 503, text)
