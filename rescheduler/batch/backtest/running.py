"""One back-test from archive to document: which snapshots, which tasks, and what came of them, in the rows' order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from rescheduler import __version__
from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.archive.archive_reading import ArchiveListing, list_archive
from rescheduler.adapters.files.archive.archive_source import archive_source
from rescheduler.adapters.files.archive.snapshot_names import written_time
from rescheduler.batch.backtest.carried_prices import unpacked_prices
from rescheduler.batch.backtest.policy_variants import NONE, PolicyVariant, PolicyVariants, tasks_of
from rescheduler.batch.backtest.results_file import results_file, task_key
from rescheduler.batch.backtest.summary import summary_of
from rescheduler.batch.backtest.task import Planned, Task
from rescheduler.batch.engine.tasks import Done, Engine, Work
from rescheduler.extension_points import Clock, Progress, SnapshotError, no_progress
from rescheduler.model.plan.plan import API_VERSION


@dataclass(frozen=True)
class BacktestSpan:
    """Which snapshots are used, in seconds: ``every``: the first of each stretch, counted from the first one used."""

    first: float | None = None
    last: float | None = None
    every: float | None = None

    def chosen(self, times: Sequence[int]) -> list[int]:
        """Those of the times that are used."""
        inside = [
            time
            for time in sorted(times)
            if (self.first is None or time >= self.first) and (self.last is None or time <= self.last)
        ]
        if self.every is None or not inside:
            return inside
        seen: dict[int, int] = {}
        for time in inside:
            seen.setdefault(int((time - inside[0]) // self.every), time)
        return list(seen.values())


@dataclass(frozen=True)
class BacktestRequest:
    """What is asked. ``like``: what every task shares; its archive is one's place as it was given."""

    like: Task
    span: BacktestSpan
    resume: str | None = None


@dataclass(frozen=True)
class Backtest:
    """The answer as a document, and what failed, in words for people."""

    document: dict[str, Any]
    failures: tuple[str, ...]


class _Answer(NamedTuple):
    """What was planned at the times of one task; nothing, and why, where nobody could do it."""

    planned: Sequence[Planned]
    failure: str = ""

    def at(self, times: Sequence[int]) -> Sequence[Planned]:
        """The same, with a row for each time where the whole task failed."""
        return self.planned or [Planned(time, failure=self.failure) for time in times]


def run_backtest(
    request: BacktestRequest,
    cases: PolicyVariants,
    engine: Engine,
    *,
    progress: Progress = no_progress,
    clock: Clock | None = None,
) -> Backtest:
    """Ask everything of an archive. Raises SnapshotError where it holds nothing, EngineError, ReschedulerError."""
    source = archive_source(request.like.archive)
    progress("looking through the archive")
    listing = list_archive(source, (clock or SystemClock()).now())
    times = request.span.chosen([one.time for one in listing.snapshots])
    if not times:
        raise SnapshotError(_nothing(request, listing))
    like = msgspec.structs.replace(request.like, archive=source.location)
    if like.replay:
        cases = cases._replace(cases=(*cases.cases, PolicyVariant(NONE, {}, "", cases.cases[0].prices)))
    tasks = [(number, task, msgspec.json.encode(task)) for number, task in tasks_of(cases.cases, times, like)]
    answers = _all_done(request, like, cases, [text for _, _, text in tasks], engine, progress)
    failed = [*_unusable(listing, request.span), *_left_out(cases)]
    planned: list[list[Planned]] = [[] for _ in cases.cases]
    for number, task, text in tasks:
        for one in answers[task_key(text)].at(task.times):
            case = cases.cases[number]
            if one.row is None:
                failed.append(_failure(one.time, case.policy, case.setting, one.failure))
            else:
                row = msgspec.structs.replace(one.row, policy=case.policy, setting=case.setting)
                planned[number].append(msgspec.structs.replace(one, row=row))
    if like.replay:
        planned = [_beside(one, planned[-1]) if cases.cases[-1].prices == case.prices else one
                   for case, one in zip(cases.cases, planned, strict=True)]  # fmt: skip
    return Backtest(_document(request, cases.cases, times, planned, failed), tuple(map(_told, failed)))


def _all_done(
    request: BacktestRequest,
    like: Task,
    cases: PolicyVariants,
    texts: Sequence[bytes],
    engine: Engine,
    progress: Progress,
) -> Mapping[str, _Answer]:
    """Every task's answer by its key, those from the file of results among them."""
    span = request.span
    question = {
        "version": __version__,
        "like": msgspec.to_builtins(like),
        "span": [span.first, span.last, span.every],
        "cases": [[case.policy, case.setting, case.text, task_key(case.prices)] for case in cases.cases],
    }
    wanted = {task_key(text): text for text in texts}
    with results_file(request.resume, question) as file:
        known = {} if file is None else file.known
        kept = {key: _kept(known[key], replay=like.replay) for key in wanted if key in known}
        found = {key: answer for key, answer in kept.items() if answer is not None}
        left = {key: text for key, text in wanted.items() if key not in found}
        step = "planning" if not like.replay else "replaying"
        progress(step, len(found), len(wanted))
        for one in engine.run(_work(like), left):
            if file is not None:
                file.add(one)
            found[one.key] = _answer(one, replay=like.replay)
            progress(step, len(found), len(wanted))
    return found


def _work(like: Task) -> Work:
    """What is done with each task."""
    if like.replay:
        from rescheduler.batch.backtest.replay.replaying import replay_task

        return replay_task
    from rescheduler.batch.backtest.planned_row import plan_task

    return plan_task


def _answer(done: Done, *, replay: bool) -> _Answer:
    """What came of a task. Raises msgspec.DecodeError, UnicodeDecodeError."""
    if done.result is None:
        return _Answer((), done.failure)
    if replay:
        return _Answer(msgspec.json.decode(done.result, type=list[Planned]))
    return _Answer([msgspec.json.decode(done.result, type=Planned)])


def _kept(done: Done, *, replay: bool) -> _Answer | None:
    """What a file says of a task; None where that is no answer: one that was damaged is asked for again."""
    try:
        answer = _answer(done, replay=replay)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return answer if answer.planned or done.result is None else None


def _beside(planned: Sequence[Planned], none: Sequence[Planned]) -> list[Planned]:
    """A history beside the one in which nothing is moved: what the nodes cost there, at the same time."""
    costs = {one.time: one.row.cost["after"] for one in none if one.row is not None and one.row.cost is not None}
    return [msgspec.structs.replace(one, unmoved=costs.get(one.time)) for one in planned]


def _document(
    request: BacktestRequest,
    cases: Sequence[PolicyVariant],
    times: Sequence[int],
    planned: Sequence[Sequence[Planned]],
    failed: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    seed = request.like.seed
    summary = [
        {"policy": case.policy, "setting": case.setting,
         **summary_of(planned[number], planned[0] if number else None, seed,
                      unpacked_prices(case.prices).hours_per_month)}
        for number, case in enumerate(cases)
    ]  # fmt: skip
    return {
        "apiVersion": API_VERSION,
        "kind": "Backtest",
        "replay": request.like.replay,
        "seed": seed,
        "archive": {"from": written_time(times[0]), "to": written_time(times[-1]), "snapshots": len(times)},
        "rows": [msgspec.to_builtins(one.row) for several in planned for one in several],
        "summary": summary,
        "failed": list(failed),
    }


def _nothing(request: BacktestRequest, listing: ArchiveListing) -> str:
    held = len(listing.snapshots)
    why = "; ".join(problem.reason for problem in listing.problems[:3])
    if held:
        return f"{request.like.archive}: none of its {held} snapshots is within --from and --to"
    return f"{request.like.archive}: holds no snapshot that can be read" + (f": {why}" if why else "")


def _unusable(listing: ArchiveListing, span: BacktestSpan) -> list[dict[str, Any]]:
    inside = BacktestSpan(span.first, span.last)
    return [
        _failure(problem.time, None, {}, problem.reason)
        for problem in listing.problems
        if problem.time is None or inside.chosen([problem.time])
    ]


def _left_out(cases: PolicyVariants) -> list[dict[str, Any]]:
    return [_failure(None, policy, {}, reason) for policy, reason in cases.failed]


def _failure(time: int | None, policy: str | None, setting: dict[str, Any], reason: str) -> dict[str, Any]:
    return {
        "time": None if time is None else written_time(time),
        "policy": policy,
        "setting": setting,
        "reason": reason,
    }


def _told(failed: dict[str, Any]) -> str:
    where = [
        failed["time"] or "",
        failed["policy"] or "",
        *(f"{key}={value}" for key, value in failed["setting"].items()),
    ]
    reason = failed["reason"].removeprefix(f"{failed['time']}: ")  # that of a snapshot begins with it, too
    return ": ".join([" ".join(part for part in where if part), reason]).removeprefix(": ")
