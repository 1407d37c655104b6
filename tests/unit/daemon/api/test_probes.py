"""What kubelets and Prometheus are answered: open, short, and true even where the API server is down."""

from __future__ import annotations

import urllib.error
import urllib.request
from math import inf

import pytest
from starlette.types import ASGIApp

from rescheduler.adapters.telemetry.metrics.metrics import CONTENT_TYPE, Metrics
from rescheduler.daemon.api.probes import DOOR, Heartbeat, Readiness, create_probes
from rescheduler.daemon.serving.listening import ApplicationServer
from tests.builders import NOW
from tests.clocks import FakeClock
from tests.unit.daemon.api.asking import ask


def probes(heartbeat: Heartbeat | None = None, *, is_ready: bool = True) -> ASGIApp:
    """The application of a daemon that is well unless said otherwise."""
    beating = heartbeat or Heartbeat(FakeClock())
    return create_probes(beating, lambda: is_ready, Metrics(FakeClock()).text, CONTENT_TYPE)


@pytest.mark.parametrize("path", ["/livez", "/healthz", "/readyz"])
def test_a_daemon_that_is_well_says_ok(path: str) -> None:
    """And no word more."""
    answer = ask(probes(), path)
    assert (answer.status, answer.text) == (200, "ok\n")


def test_it_lives_as_long_as_its_loop_beats() -> None:
    """A beat is enough, whatever else is wrong: a restart does not bring the API server back."""
    clock = FakeClock(NOW)
    heartbeat = Heartbeat(clock, longest_silence=60.0)
    app = probes(heartbeat, is_ready=False)
    clock.time += 60
    assert ask(app, "/livez").status == 200
    clock.time += 1
    dead = ask(app, "/livez")
    assert (dead.status, dead.text) == (503, "no\n")
    assert heartbeat.age_seconds == 61
    heartbeat.beat()
    assert ask(app, "/healthz").status == 200
    assert ask(app, "/readyz").status == 503


def test_long_work_that_goes_on_is_a_sign_of_life() -> None:
    """Waiting for replacements may take ten minutes."""
    clock = FakeClock(NOW)
    heartbeat = Heartbeat(clock, longest_silence=60.0)
    for _ in range(10):
        clock.time += 50
        heartbeat.progress("waiting for moved pods", 1, 3)
    assert heartbeat.is_alive


def test_ready_is_who_has_read_all_and_has_fresh_load() -> None:
    """Load counts only where a provider is set; leading does not count at all."""
    assert Readiness(lambda: True)()
    assert not Readiness(lambda: False)()
    assert Readiness(lambda: True, lambda: None, inf)()
    assert not Readiness(lambda: True, lambda: None, 300.0)()
    assert not Readiness(lambda: True, lambda: 301.0, 300.0)()
    assert Readiness(lambda: True, lambda: 300.0, 300.0)()


def test_what_cannot_be_found_out_is_a_no() -> None:
    """Without a word of what went wrong."""

    def fails() -> bool:
        raise RuntimeError("secret")

    app = create_probes(Heartbeat(FakeClock()), fails, lambda: b"", CONTENT_TYPE)
    answer = ask(app, "/readyz")
    assert (answer.status, answer.text) == (503, "no\n")


def test_metrics_are_told_as_prometheus_reads_them() -> None:
    """To whoever asks."""
    answer = ask(probes(), "/metrics")
    assert answer.status == 200
    assert answer.type.startswith("text/plain; version=")
    assert "rescheduler_build_info{" in answer.text


def test_nothing_else_is_answered() -> None:
    """Other pages, methods and bodies are refused; HEAD is GET without a body."""
    app = probes()
    assert ask(app, "/").status == 404
    assert ask(app, "/livez/x").status == 404
    assert ask(app, "/openapi.json").status == 404
    posted = ask(app, "/livez", "POST")
    assert (posted.status, posted.headers["allow"]) == (405, "GET, HEAD")
    assert ask(app, "/metrics", headers={"Content-Length": "99999"}).status == 413
    head = ask(app, "/metrics", "HEAD")
    assert (head.status, head.body) == (200, b"")


def test_it_listens_on_any_address_without_protection() -> None:
    """As Prometheus and kubelets expect in a cluster; over real sockets."""
    listener = ApplicationServer(probes(is_ready=False), "0.0.0.0:0", DOOR)
    try:
        listener.start()
        url = listener.url.replace("0.0.0.0", "127.0.0.1")
        with urllib.request.urlopen(f"{url}/livez", timeout=20) as found:
            assert found.read() == b"ok\n"
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{url}/readyz", timeout=20)
        assert refused.value.code == 503
        refused.value.close()
    finally:
        listener.stop()
