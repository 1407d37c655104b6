"""What holds for every path: methods, unknown paths, and a description that needs nothing from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.daemon.load_watcher.app import create_app
from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.collecting.collected import Collected
from rescheduler.usage.collecting.provider_health import ProviderHealth
from tests.clocks import FakeClock
from tests.unit.daemon.api.asking import ask, asked
from tests.unit.daemon.api.records import NAN, NOW, SetSource, collected

SOURCE = SetSource(collected())
PATHS = ["/watcher", "/watcher/n1", "/watcher/health", "/trust", "/healthz", "/readyz", "/metrics", "/openapi.json"]


@pytest.mark.parametrize("path", PATHS)
def test_head_is_get_without_a_body(path: str) -> None:
    """Status and headers alike, the length included."""
    get, head = asked(SOURCE, path), asked(SOURCE, path, method="HEAD")
    assert head.body == b""
    assert (head.status, head.type) == (get.status, get.type)
    assert get.status == 200
    if path != "/metrics":  # its own counts change
        assert head.headers == get.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"])
@pytest.mark.parametrize("path", ["/watcher", "/watcher/n1", "/healthz"])
def test_other_methods_are_refused(method: str, path: str) -> None:
    """Nothing can be changed here; the methods that there are stand in the answer."""
    answer = asked(SOURCE, path, method=method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.type == "text/plain; charset=utf-8"


@pytest.mark.parametrize("path", ["/", "/watcher/", "/watcher/a/b", "/docs", "/redoc", "/Watcher", "/trust/n1", ""])
def test_other_paths_are_404(path: str) -> None:
    """Without redirects, which would follow the Host header of whoever asks."""
    answer = asked(SOURCE, path)
    assert (answer.status, answer.type) == (404, "text/plain; charset=utf-8")
    assert "location" not in answer.headers


def test_the_description_names_every_path_and_form() -> None:
    """OpenAPI with the fields that the original has, in its spelling."""
    found = asked(SOURCE, "/openapi.json").json
    assert set(found["paths"]) == {path for path in PATHS if path not in ("/watcher/n1", "/openapi.json")} | {
        "/watcher/{hostname}"
    }
    forms = found["components"]["schemas"]
    assert set(forms["LoadData"]["properties"]) == {"NodeMetricsMap", "PodMetricsMap"}
    assert set(forms["NodeRegion"]["properties"]) == {"dataCenter"}
    assert [parameter["name"] for parameter in found["paths"]["/watcher"]["get"]["parameters"]] == [
        "host", "window", "pods", "statistics",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Content-Length": "0"}, 200),
        ({"Content-Length": "16384"}, 200),
        ({"Content-Length": "16385"}, 413),
        ({"Content-Length": "-1"}, 413),
        ({"Content-Length": "1e9"}, 413),
        ({"Transfer-Encoding": "chunked"}, 413),
    ],
)
def test_large_bodies_are_refused_before_they_are_read(headers: dict[str, str], status: int) -> None:
    """Nobody needs one here."""
    assert asked(SOURCE, "/watcher", headers=headers).status == status


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


KNOWN = collected(
    trust={"n2": Trust(TrustState.FROZEN, "60.5% of cpu in 3 samples")},
    assessment={"freeze": "only 50% of nodes are trusted", "falls_back": False},
    measured_at=np.array([NOW - 12.5, NAN]),
    providers=(ProviderHealth("Prometheus", warnings=("partial",)), ProviderHealth("Datadog", error="time-out")),
)


def test_every_node_has_its_state_reason_and_age() -> None:
    """The ones that are not told to others too; an age counts up to the moment of asking."""
    answer = asked(SetSource(KNOWN), "/trust", clock=FakeClock(NOW + 1))
    assert (answer.status, answer.type) == (200, "application/json")
    assert answer.json == {
        "timestamp": NOW,
        "source": "Prometheus",
        "freeze": "only 50% of nodes are trusted",
        "fallsBack": False,
        "states": {"Frozen": 1, "Trusted": 1},
        "warnings": ["Prometheus: partial", "time-out"],
        "nodes": {
            "n1": {"state": "Trusted", "reason": "", "ageSeconds": 13.5},
            "n2": {"state": "Frozen", "reason": "60.5% of cpu in 3 samples", "ageSeconds": None},
        },
    }


def test_one_node() -> None:
    """With the whole cluster's counts."""
    found = asked(SetSource(KNOWN), "/trust?host=n2").json
    assert (list(found["nodes"]), found["states"]) == (["n2"], {"Frozen": 1, "Trusted": 1})


def test_nothing_known_is_404() -> None:
    """Before the first tick, and for a node that does not exist."""
    assert asked(SetSource(), "/trust").status == 404
    answer = asked(SetSource(KNOWN), "/trust?host=n3")
    assert (answer.status, answer.text) == (404, "there is no node 'n3'\n")


def test_an_old_record_is_still_explained() -> None:
    """What /watcher no longer tells, people may look at."""
    assert asked(SetSource(KNOWN), "/trust", clock=FakeClock(NOW + 9000)).status == 200
