"""Four policies over a month of openb's arrivals, on a fleet of which 70 % of the GPUs are asked for in the mean.

``python -m benchmarks.openb_month --data FOLDER -o FOLDER [--every 4h]``: archive, prices, answers, pictures.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.openb_month.archiving import Month, write_archive
from benchmarks.openb_month.objects import instance_type, price_an_hour
from benchmarks.openb_month.trace import WHOLE_GPU, cut_fleet, last_days, mean_gpu_milli, read_nodes, read_tasks
from rescheduler.batch.backtest.policy_variants import read_variants
from rescheduler.batch.backtest.running import BacktestRequest, BacktestSpan, run_backtest
from rescheduler.batch.backtest.task import Task
from rescheduler.batch.engine.local_processes import LocalProcesses
from rescheduler.policy.fields.values import parse_positive_duration
from rescheduler.report.backtest.page import backtest_page
from rescheduler.report.documents import to_json
from tests.browser.browser import browser_program, running_browser

POLICIES: Final = Path(__file__).parent / "policies"
NAMES: Final = ("make-room", "empty-gently", "empty", "whole-gpus")
SHARE_ASKED: Final = 0.7
HOUR: Final = 3600
WIDTH, HEIGHT = 1000, 1600  # what policies cost and gain, without the lines over time below it
_SHOWN: Final = (
    "policy", "plans", "evictions", "nodesEmptied", "objectives", "pendingMinutes", "cost", "churn", "difference",
)  # fmt: skip


def main() -> int:
    """Make what is not there yet, ask, and print the summary."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.openb_month", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the trace's CSV files, as published, as xz")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for archive, answers and pictures")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--every", type=parse_positive_duration, default=4.0 * HOUR, help="step of the back-tests")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    try:
        month = _month(given.data, given.days)
    except OSError as error:
        parser.error(f"--data {given.data}: {error}")
    given.output.mkdir(parents=True, exist_ok=True)
    print(json.dumps(_described(month)))
    archive = given.output / "archive"
    if not archive.exists():
        began = _cpu_seconds()
        count = write_archive(month, archive, HOUR)
        size = sum(path.stat().st_size for path in archive.iterdir())
        print(json.dumps({"snapshots": count, "megabytes": round(size / 1e6, 2), "cpuSeconds": _cpu_seconds() - began}))
    prices = given.output / "prices.csv"
    rows = sorted({(instance_type(node), price_an_hour(node)) for node in month.nodes})
    prices.write_text("instanceType,price\n" + "".join(f"{name},{price}\n" for name, price in rows))
    for name, is_replay in (("plans", False), ("replay", True)):
        _asked(given, archive, prices, name, is_replay=is_replay)
    return 0


def _month(data: Path, days: int) -> Month:
    tasks = read_tasks(data)
    begin, end = last_days(tasks, days)
    nodes = cut_fleet(read_nodes(data), mean_gpu_milli(tasks, begin, end) / SHARE_ASKED)
    return Month(nodes, [task for task in tasks if task.seconds_within(begin, end)], begin, end)


def _described(month: Month) -> dict[str, Any]:
    gpus = sum(node.gpu_milli for node in month.nodes) / WHOLE_GPU
    asked = mean_gpu_milli(month.tasks, month.begin, month.end) / WHOLE_GPU
    return {"nodes": len(month.nodes), "gpus": gpus, "tasks": len(month.tasks), "gpusAskedFor": round(asked, 2),
            "dollarsAnHour": round(sum(map(price_an_hour, month.nodes)), 2)}  # fmt: skip


def _asked(given: argparse.Namespace, archive: Path, prices: Path, name: str, *, is_replay: bool) -> None:
    """One back-test: its document, its page, and the page's picture where there is a browser."""
    began, started = _cpu_seconds(), time.monotonic()
    cases = read_variants([str(POLICIES / f"{policy}.yaml") for policy in NAMES], [], str(prices))
    cases = cases._replace(cases=tuple(one._replace(policy=Path(one.policy).stem) for one in cases.cases))
    request = BacktestRequest(
        Task(str(archive), (), "", replay=is_replay),
        BacktestSpan(every=given.every),
        str(given.output / f"{name}.part"),
    )
    found = run_backtest(request, cases, LocalProcesses(given.processes, None))
    for text in found.failures:
        print(f"error: {text}", file=sys.stderr)
    (given.output / f"{name}.json").write_text(to_json(found.document))
    page = given.output / f"{name}.html"
    page.write_text(backtest_page(found.document), encoding="utf-8")
    program = browser_program()
    if program is not None:
        with TemporaryDirectory() as profile, running_browser(program, Path(profile)) as browser:
            browser.open(page, width=WIDTH, height=HEIGHT)
            page.with_suffix(".png").write_bytes(browser.picture())
    for one in found.document["summary"]:
        print(json.dumps({"backtest": name, **{key: one[key] for key in _SHOWN}}))
    seconds = {"cpuSeconds": _cpu_seconds() - began, "seconds": round(time.monotonic() - started, 1)}
    print(json.dumps({"backtest": name, "rows": len(found.document["rows"]), **seconds}))


def _cpu_seconds() -> float:
    """Of this process and of all that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return round(sum(one.ru_utime + one.ru_stime for one in used), 1)


if __name__ == "__main__":
    raise SystemExit(main())
