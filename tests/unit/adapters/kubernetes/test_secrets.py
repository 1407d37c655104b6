"""Entries of Secrets: their text, or why there is none, never with anything of what stands there."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.connection import connect
from rescheduler.adapters.kubernetes.secrets import read_secret
from rescheduler.extension_points import ClusterError
from tests.unit.adapters.fake_api_server import Answer, Request, answer, serving, status


def read(found: Any, folder: Path, name: str = "monitoring/prom/token") -> str:
    """The entry, over a server that has this Secret (None: none)."""

    def handle(request: Request) -> Answer:
        assert request.path == "/api/v1/namespaces/monitoring/secrets/prom"
        return status(404, "not found") if found is None else answer(found)

    with serving(handle) as server:
        return read_secret(connect(str(server.kubeconfig(folder)), read_only=True), name)


def test_an_entry_is_decoded(tmp_path: Path) -> None:
    """Whatever characters it holds."""
    assert read({"data": {"token": base64.b64encode("gehéim\n".encode()).decode()}}, tmp_path) == "gehéim\n"


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (None, "Secret monitoring/prom does not exist"),
        ({}, "has no entry token; it has none"),
        ({"data": {"other": "c2VjcmV0"}}, "has no entry token; it has other"),
        ({"data": {"token": "not base64!"}}, "the entry token is no text"),
        ({"data": {"token": base64.b64encode(b"\xff\xfe").decode()}}, "the entry token is no text"),
        ({"data": {"token": 5}}, "it is not of a Secret's form"),
    ],
)
def test_what_is_wrong_is_told_without_the_secret(found: Any, text: str, tmp_path: Path) -> None:
    """With server and name."""
    with pytest.raises(ClusterError) as caught:
        read(found, tmp_path)
    assert text in str(caught.value)
    assert "not base64" not in str(caught.value)
