"""The daemon beside a cluster that changes all the time; minutes here, half an hour by ``make soak-daemon``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.daemon.daemon_soak.promises import broken_promises
from tests.cluster.daemon.daemon_soak.soak import soak

MINUTES = float(os.environ.get("SOAK_MINUTES", "3"))


@pytest.mark.timeout(int(60 * MINUTES) + 600)
def test_every_trigger_fires_and_every_eviction_is_accounted_for(cluster: Cluster, tmp_path: Path) -> None:
    """Memory stays flat, nothing is evicted twice, and the audit log has no eviction that was not told of."""
    report = soak(cluster, tmp_path, seconds=60 * MINUTES, seed=0)
    assert broken_promises(report) == [], json.dumps(report, indent=2)
