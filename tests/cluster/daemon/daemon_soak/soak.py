"""Runs the daemon beside the changes, and reports what it did."""

from __future__ import annotations

import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from tests.cluster.autoscaler.fake_autoscaler import FakeAutoscaler, NodeGroup
from tests.cluster.cluster import Cluster
from tests.cluster.daemon.daemon_soak.changes import NODE_CPU, Changes
from tests.cluster.daemon.daemon_soak.figures import Memory, state_of
from tests.cluster.daemon.daemon_soak.still_possible import StillPossible
from tests.cluster.daemon_process import SHORT_LEASE, DaemonProcess, daemon
from tests.cluster.load.metrics_server import metrics_server
from tests.cluster.tool import Tool

TRIGGERS: Final = (
    "Schedule", "PendingPods", "NodesAdded", "HotNode", "AutoscalerEvents", "OnDemand", "AntagonistReport",
    "ObjectiveDrift",
)  # fmt: skip
POLICY: Final = """\
mode: Execute
metadata: {name: soak}
triggers:
- {name: Schedule, args: {every: 60s}}
- {name: PendingPods, args: {olderThan: 3s, debounce: 1s, backOff: {first: 10s, longest: 60s}}}
- {name: NodesAdded, args: {settle: 5s}}
- {name: HotNode, args: {above: {cpu: 40%}, for: 5s, backOff: {first: 5s, longest: 20s}}}
- {name: AutoscalerEvents, args: {debounce: 1s}}
- {name: OnDemand}
- {name: AntagonistReport, args: {debounce: 0s, backOff: {first: 5s, longest: 10s}}}
- {name: ObjectiveDrift, args: {by: 1%, every: 3s}}
objectives:
- {name: MakeRoom}
- {name: SeparateAntagonists}
- {name: EmptyNodes}
limits: {maxEvictions: 3, deadline: 2s}
scope: {minimumAge: 0s}
disruption:
  rates: {perHour: unlimited, perDay: unlimited, perWorkloadPerHour: unlimited}
  rampUp: unlimited
  workloads: {maxUnavailable: 25%}
  singleReplicas: Allow
  quiet: 5s
  breaker: {failures: 0, repayWithin: 30s}
  backOff: {first: 30s, longest: 60s, rest: 5s, perDay: 0}
usage:
  providers: [{name: MetricsServer}]
  interval: 10s
  windows: [1m]
  trust: {minimumSamples: 2, minimumNodeAge: 5s, maximumAge: 2m, coverage: 0.2, frozenSamples: 100, largestDrop: 1}
health: {settle: 0s, headRoom: 0%, calm: 0s, pendingRising: 0s, unreadyNodes: 0%, unreadyInZone: 0%, replacedWithin: 0s}
telemetry: {address: "127.0.0.1:0"}
autoscaler: {afterScaleUp: 5s, afterScaleDown: 5s}
"""
BEAT_SECONDS: Final = 2.0
MORE_SECONDS: Final = 300.0
ELSEWHERE: Final = ("surroundings",)
"""Faults of others that the daemon tells of: metrics-server has no samples at first, say."""
ASK_EVERY: Final = 40
"""Changes between two signals USR1."""


def soak(cluster: Cluster, folder: Path, *, seconds: float, seed: int) -> dict[str, Any]:
    """Run for so long; the report."""
    tool = Tool(cluster, folder)
    changes = Changes(cluster, seed)
    changes.begin()
    group = NodeGroup("soak", cpu=NODE_CPU, most=2)
    policy = tool.policy(f"{POLICY}{SHORT_LEASE}")
    still_possible = StillPossible(tool, policy)
    with metrics_server(cluster.control_plane), daemon(tool, "--policy", policy) as process:
        process.wait_for("leading")
        before, memory = state_of(cluster), Memory(process.process.pid)
        with FakeAutoscaler(cluster.api, group, unneeded_seconds=20, node_takes_seconds=6):
            _run(process, changes, memory, seconds, still_possible)
        after = state_of(cluster)
        code = process.stop(timeout_seconds=60)
    return {
        "seconds": seconds,
        "seed": seed,
        "changes": dict(changes.counts),
        "before": before._asdict(),
        "after": after._asdict(),
        "memoryMegabytes": {"first": memory.samples[0], "last": memory.samples[-1], "peak": max(memory.samples)},
        "memoryGrowth": memory.growth,
        "exitCode": code,
        "roundsWithMoves": still_possible.with_moves,
        "roundsThatLeftSomething": still_possible.left,
        "roundsThatLeftWhatRunMayNotMove": still_possible.beyond,
        "roundsNotPlannedAgain": still_possible.untold,
        **rounds_of(process),
        **evictions_of(process, tool),
    }


def _run(
    process: DaemonProcess, changes: Changes, memory: Memory, seconds: float, still_possible: StillPossible
) -> None:
    """For so long, and for up to five minutes more while a trigger has had no cause: which ones come is chance."""
    end, number = time.monotonic() + seconds, 0
    while (now := time.monotonic()) < end or (now < end + MORE_SECONDS and _silent(process)):
        assert process.process.poll() is None, process.told()
        memory.sample()
        still_possible.look(process)
        changes.step()
        number += 1
        if number % ASK_EVERY == 0:
            process.process.send_signal(signal.SIGUSR1)
        time.sleep(BEAT_SECONDS)


def _silent(process: DaemonProcess) -> set[str]:
    """Triggers that have not fired yet."""
    return set(TRIGGERS) - {line["trigger"] for line in process.events("trigger fired")}


def rounds_of(process: DaemonProcess) -> dict[str, Any]:
    """What fired, and what became of the rounds."""
    rounds = process.events("round ended")
    fired = Counter(line["trigger"] for line in process.events("trigger fired"))
    handled = Counter(trigger for line in rounds for trigger in line["triggers"])
    return {
        "rounds": len(rounds),
        "outcomes": dict(Counter(line["outcome"] for line in rounds)),
        "fired": {name: fired[name] for name in TRIGGERS},
        "handled": {name: handled[name] for name in TRIGGERS},
        "planned": sum(line["planned"] for line in rounds),
        "helped": sum(line["helped"] for line in rounds),
        "faults": [line for line in process.events("fault") if line["where"] not in ELSEWHERE],
        "roundSeconds": sorted(line["seconds"] for line in rounds),
        "reasons": dict(Counter(str(line.get("reason", ""))[:80] for line in rounds).most_common(12)),
    }


def evictions_of(process: DaemonProcess, tool: Tool) -> dict[str, Any]:
    """Evictions by the API server's audit log beside those that the daemon tells of."""
    writes = [write for write in tool.writes() if write.subresource == "eviction" and not write.is_dry_run]
    granted = Counter(write.name for write in writes if write.code < 300)
    told = Counter(line["pod"].partition("/")[2] for line in process.events("eviction sent"))
    doubt = Counter(line["pod"].partition("/")[2] for line in process.events("eviction in doubt"))
    ends = Counter(line["event"] for line in process.lines if str(line.get("event", "")).startswith("eviction "))
    return {
        "evictions": sum(granted.values()),
        "evictedTwice": sorted(name for name, count in granted.items() if count > 1),
        "notTold": sorted(granted - told - doubt),
        "notGranted": sorted(told - granted),
        "evictionEnds": dict(ends),
    }
