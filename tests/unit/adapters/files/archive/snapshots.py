"""Recordings to be added to archives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rescheduler.adapters.files.archive.recorded_content import RecordedContent, read_content
from tests.unit.adapters.api_objects import complete, node_object, pod_object

START = 1_772_323_200  # 2026-03-01T00:00:00Z
LATER = START + 1e7


def recording(folder: Path, time: str, *objects: dict[str, Any], name: str = "cluster.json") -> str:
    """A file with these objects (by default two nodes and a pod) that says when it was taken."""
    document = complete(*(objects or (node_object("a"), node_object("b"), pod_object("web-1", "a"))))
    document["metadata"] = {"annotations": {"rescheduler.dev/takenAt": time}}
    (folder / name).write_text(json.dumps(document))
    return str(folder / name)


def content(folder: Path, time: str, *objects: dict[str, Any]) -> RecordedContent:
    """The same as what an archive keeps of it."""
    return read_content(recording(folder, time, *objects))
