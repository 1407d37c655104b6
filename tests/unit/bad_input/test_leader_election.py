"""Bad values of ``leaderElection`` and ``metadata.acknowledged``, as a user of ``check`` meets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.bad_input.test_policies import refused
from tests.unit.policy.policies import HEAD

BODIES = [
    ("leaderElection: {renewDeadline: 20s}", "renewDeadline 20s must be shorter than leaseDuration 15s"),
    ("leaderElection: {retryPeriod: 10s}", "retryPeriod 10s, a fifth longer, must be shorter than renewDeadline 10s"),
    ("leaderElection: {leaseDuration: 1000h}", "leaseDuration 1000h is out of range; write 2s to 1h"),
    ("leaderElection: {leaseDuration: 0s}", "leaseDuration: '0s' leaves no time at all"),
    ("leaderElection: {leaseDuration: .inf}", "leaderElection.leaseDuration"),
    ("leaderElection: {enabled: 'false'}", "leaderElection.enabled: found 'false'; wanted true or false"),
    ("leaderElection: {name: ''}", "leaderElection.name"),
    ("leaderElection: {name: ../../secrets/x}", "leaderElection.name"),
    ("leaderElection: {namespace: [a]}", "leaderElection.namespace"),
    ("leaderElection: {leaseduration: 15s}", "did you mean leaseDuration?"),
    ("leaderElection: [15s]", "leaderElection"),
    ("leaseDuration: 15s", "leaseDuration: unknown field; did you mean leaderElection?"),
    ("metadata: {acknowledged: 123456789012}", "metadata.acknowledged: found 123456789012; wanted a text: put it in"),
    ("metadata: {acknowledged: all}", "metadata.acknowledged"),
]


@pytest.mark.parametrize(("body", "text"), BODIES, ids=[body for body, _ in BODIES])
def test_it_is_refused_with_its_place(shell: Any, tmp_path: Path, body: str, text: str) -> None:
    """Exit 2, the field, and what to write instead."""
    assert text in refused(shell, tmp_path, f"{HEAD}{body}\n".encode())
