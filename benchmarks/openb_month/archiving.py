"""The month as an archive: tasks come and go as in the trace, and our predicted scheduler puts them on the fleet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.openb_month.objects import Object, node_object, owner_object, pod_object, written_time
from benchmarks.openb_month.trace import OpenNode, OpenTask
from rescheduler.adapters.files.archive.archive_writing import ArchiveWriter
from rescheduler.adapters.files.archive.recorded_content import read_content
from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.adapters.kubernetes.kinds import KINDS
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.queue import schedule_pending
from rescheduler.scheduling.schedulers import DEFAULTS

START: Final = 1_709_251_200  # 2024-03-01T00:00:00Z, which the month of the trace begins at
_BEFORE: Final = 86400
_NOTHING_ELSE: Final = [{"apiVersion": kind.api_version, "kind": f"{kind.name}List", "items": []} for kind in KINDS]


class Month(NamedTuple):
    """What is archived: a fleet, tasks, and from when to when of the trace."""

    nodes: Sequence[OpenNode]
    tasks: Sequence[OpenTask]
    begin: int
    end: int

    def at(self, seconds: int) -> int:
        """A time of the trace as one of the archive, in seconds since the epoch."""
        return START + seconds - self.begin


class _Standing(NamedTuple):
    node: str
    since: int


def write_archive(month: Month, folder: Path, every: int) -> int:
    """A snapshot each ``every`` seconds; how many."""
    writer = ArchiveWriter(str(folder))
    nodes = [node_object(node, START - _BEFORE) for node in month.nodes]
    standing: dict[str, _Standing] = {}
    scratch = folder.parent / f"{folder.name}.json"
    times = range(month.begin, month.end, every)
    for time in times:
        here = sorted((task for task in month.tasks if task.came <= time < task.went), key=lambda task: task.came)
        standing = {task.name: standing[task.name] for task in here if task.name in standing}
        if len(standing) < len(here):
            _write(scratch, month, nodes, here, standing, time)
            standing |= {name: _Standing(node, month.at(time)) for name, node in _placed(scratch).items()}
        _write(scratch, month, nodes, here, standing, time)
        writer.add(read_content(str(scratch)), month.at(time))
    scratch.unlink(missing_ok=True)
    return len(times)


def _placed(recording: Path) -> dict[str, str]:
    """Where those that wait are put, by task, in the order of the scheduler's queue."""
    cluster = read_recording([str(recording)])
    prediction = DEFAULTS.model(DEFAULTS.configured(cluster))
    found = schedule_pending(prediction, Placement(prediction.columns))
    known = prediction.columns.cluster
    return {known.pods[one.pod].labels["task"]: known.nodes[one.node].name for one in found if one.node != NOWHERE}


def _write(
    file: Path, month: Month, nodes: list[Object], here: Sequence[OpenTask], standing: dict[str, _Standing], time: int
) -> None:
    items: list[Any] = [*nodes, *_NOTHING_ELSE]
    for task in here:
        created, stay = month.at(task.came), standing.get(task.name)
        items.append(owner_object(task, created))
        items.append(pod_object(task, created, *((stay.node, stay.since) if stay is not None else (None, 0))))
    marks = {"rescheduler.dev/takenAt": written_time(month.at(time))}
    document = {"apiVersion": "v1", "kind": "List", "metadata": {"annotations": marks}, "items": items}
    file.write_text(json.dumps(document, separators=(",", ":")))
