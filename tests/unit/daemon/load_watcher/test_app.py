"""What holds for every path: methods, unknown paths, and a description that needs nothing from elsewhere."""

from __future__ import annotations

import pytest

from tests.unit.daemon.api.asking import asked
from tests.unit.daemon.api.records import SetSource, collected

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
