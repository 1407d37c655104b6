"""`python -m benchmarks.replayed_days --nodes 100 --hours 48 --every 2 --seconds 60 --seeds 1,2,3 --draws 3 -o FOLDER`.

Each history is played on two real control planes at the same time, a step of some hours in so many seconds: on one it
is recorded with nothing moved, on the other `rescheduler run` is asked for a round in each step. The recording is
replayed under the same policy, whose durations are of compressed steps, with several draws of what chance decides. The
exit code is 1 where the sums of the histories are too far from the forecasts' means.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.machine import describe_machine
from benchmarks.replayed_days.comparison import Sums, apart, broken, foretold_sums, mean_of, played_sums, together
from benchmarks.replayed_days.history import ClusterHistory, random_history
from benchmarks.replayed_days.playing import Pace, PlayedHistory, PlayedStep, asking, play, prepare, recording
from tests.cluster.cluster import Cluster
from tests.cluster.daemon_process import SHORT_LEASE, daemon
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.tool import Tool

# Ages and waits end in the middle of a step, so that none hangs on how fast this machine is.
POLICY: Final = """\
mode: Execute
objectives: [{{name: MakeRoom}}, {{name: EmptyNodes}}]
triggers: [{{name: OnDemand}}]
telemetry: {{address: '127.0.0.1:0'}}
scope: {{minimumAge: {most_of_a_step}s}}
limits: {{deadline: 3s, maxEvictions: 12}}
disruption:
  workloads: {{maxUnavailable: 25%}}
  quiet: {most_of_a_step}s
  backOff: {{first: {steps_1}s, longest: {steps_6}s, rest: {steps_2}s, perDay: 0}}
  rates: {{perHour: 400, perDay: unlimited, perWorkloadPerHour: unlimited}}
  rampUp: {{start: 12, window: {steps_4}s, doubleEvery: {steps_6}s}}
  budgets: [{{rate: {{maxEvictions: 40, window: {steps_4}s}}}}]
health: {{settle: 0s, headRoom: 0%, calm: 0s, pendingRising: 0s, apiLatency: 0s}}
{lease}
"""

NONE: Final = "none"
POLICY_NAME: Final = "policy"


def main(arguments: list[str] | None = None) -> int:
    """Play, replay, compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replayed_days", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--hours", type=int, default=48)
    parser.add_argument("--every", type=int, default=2, help="hours of a step")
    parser.add_argument("--seconds", type=float, default=60.0, help="of a step, at least")
    parser.add_argument("--seeds", default="1", help="of histories, which are played one after the other")
    parser.add_argument("--draws", type=int, default=3, help="replays of each, with the seeds from 0 on")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/replayed-days"), help="a new folder")
    given = parser.parse_args(arguments)
    given.output.mkdir(parents=True)
    found: dict[str, list[tuple[Sums, Sums]]] = {NONE: [], POLICY_NAME: []}
    for seed in map(int, given.seeds.split(",")):
        for name, pair in _compared(seed, given).items():
            found[name].append(pair)
    told = []
    for name, pairs in found.items():
        foretold, played = (together([pair[side] for pair in pairs]) for side in (0, 1))
        _say(
            history=name, of="all", foretold=foretold._asdict(), played=played._asdict(), apart=apart(foretold, played)
        )
        told += [f"{name}: {text}" for text in broken(foretold, played)]
    print("\n".join(told or ["promises kept"]))
    return 1 if told else 0


def _compared(seed: int, given: argparse.Namespace) -> dict[str, tuple[Sums, Sums]]:
    """What is foretold of one history, in the mean of the draws, and how it was played, with and without the policy."""
    folder = given.output / f"seed-{seed}"
    folder.mkdir()
    archive = str(folder / "archive")
    unmoved, moved, policy = _played(
        random_history(seed, given.nodes, given.hours, given.every), given, folder, archive
    )
    documents = [_replayed(archive, policy, draw, folder / f"replay-{draw}.json") for draw in range(given.draws)]
    found = {}
    for name, key, played in ((NONE, NONE, unmoved), (POLICY_NAME, policy, moved)):
        draws = [foretold_sums([row for row in one["rows"] if row["policy"] == key]) for one in documents]
        found[name] = foretold, sums = mean_of(draws), played_sums(played)
        waits = played.waits
        _say(history=name, of=f"seed {seed}", foretold=foretold._asdict(), draws=draws, played=sums._asdict(),
             apart=apart(foretold, sums), latency=round(waits.latency_seconds, 2), waitedMinutes=round(waits.in_all, 1),
             waitsEnded=waits.ended)  # fmt: skip
    _say(machine=describe_machine(), longestStep=round(moved.longest, 1))
    return found


def _say(**document: Any) -> None:
    print(json.dumps(document), flush=True)


def policy_text(seconds: float) -> str:
    """The policy whose steps are so long."""
    spans = {f"steps_{count}": round(seconds * (count + 0.5)) for count in (1, 2, 4, 6)}
    return POLICY.format(most_of_a_step=round(seconds * 0.7), lease=SHORT_LEASE, **spans)


def _played(
    history: ClusterHistory, given: argparse.Namespace, folder: Path, archive: str
) -> tuple[PlayedHistory, PlayedHistory, str]:
    """With nothing moved, and with the daemon; and where its policy is."""
    with ControlPlane() as still, ControlPlane() as acting:
        clusters = Cluster(still), Cluster(acting)
        for cluster in clusters:
            prepare(cluster, history)
        tool = Tool(clusters[1], folder)
        policy = tool.policy(policy_text(given.seconds))
        with daemon(tool, "--policy", policy) as process, ThreadPoolExecutor(2) as pool:
            process.wait_for("leading")
            tool.writes()
            rounds = recording(clusters[0], archive), asking(tool, process)
            pace = Pace(len(clusters), given.seconds)
            tells = _tell(folder / "none.jsonl"), _tell(folder / "policy.jsonl")
            both = [
                pool.submit(play, cluster, history, pace, act, tell)
                for cluster, act, tell in zip(clusters, rounds, tells, strict=True)
            ]
            wait(both, return_when=FIRST_EXCEPTION)
            if any(one.done() and one.exception() for one in both):
                pace.give_up()
            (folder / "daemon.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in process.lines))
            unmoved, moved = (one.result() for one in both)
            process.stop()
    return unmoved, moved, policy


def _tell(file: Path) -> Callable[[int, PlayedStep], None]:
    return partial(_written, file)


def _written(file: Path, number: int, step: PlayedStep) -> None:
    with file.open("a") as lines:
        lines.write(json.dumps({"step": number, **step._asdict()}) + "\n")


def _replayed(archive: str, policy: str, draw: int, file: Path) -> dict[str, Any]:
    """What a replay says, kept in a file too."""
    command = [sys.executable, "-m", "rescheduler", "backtest", "--archive", archive, "--policy", policy, "--replay"]
    answer = subprocess.run([*command, "--seed", str(draw), "-o", "json"], capture_output=True, check=True).stdout
    file.write_bytes(answer)
    document: dict[str, Any] = json.loads(answer)
    return document


if __name__ == "__main__":
    sys.exit(main())
