"""Where this process runs, by what the kubelet puts into every pod."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from rescheduler.adapters.kubernetes.identity import own_identity
from rescheduler.model.plan.disruption import OwnIdentity


def test_a_pod_knows_its_namespace_and_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is called as the pod is, with or without a domain."""
    monkeypatch.setattr(socket, "gethostname", lambda: "rescheduler-0.svc")
    (tmp_path / "namespace").write_text("tools\n")
    assert own_identity(tmp_path / "namespace") == OwnIdentity("tools", "rescheduler-0")


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff"])
def test_elsewhere_the_usual_namespace_stands_in(tmp_path: Path, content: bytes | None) -> None:
    """Where nothing, or nothing that can be read, is there."""
    if content is not None:
        (tmp_path / "namespace").write_bytes(content)
    assert own_identity(tmp_path / "namespace") == OwnIdentity("rescheduler-system", "")
