"""Keeps what is needed to look into a case that does not agree."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.fidelity.measuring import Miss
from benchmarks.fidelity.oracle import Oracle
from rescheduler.adapters.files.recording.writing import record
from rescheduler.adapters.kubernetes.client.connection import connect
from tests.cluster.plane.control_plane import ControlPlane


def dump_miss(folder: Path, miss: Miss, oracle: Oracle, plane: ControlPlane) -> Path:
    """Write the case with scores of all nodes, and a recording of the cluster right after it; the first one's path."""
    name = f"miss-{miss.world}-{miss.pod}"
    folder.mkdir(parents=True, exist_ok=True)
    recording = folder / f"{name}.cluster.json.xz"
    record(connect(str(plane.kubeconfig), read_only=True), str(recording))
    path = folder / f"{name}.json"
    case = {
        "world": miss.world,
        "pod": miss.pod,
        "profile": miss.case.profile,
        "foretold": miss.case.foretold._asdict(),
        "seen": miss.case.seen._asdict(),
        "nodes": oracle.table(miss.pod),
        "recording": recording.name,
    }
    path.write_text(json.dumps(case, indent=1) + "\n")
    return path
