"""A daemon with a past for its page in a browser: a plan that waits, moves of the last hour, budgets, load, faults."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from rescheduler.daemon.api.daemon_running import daemon_listener
from rescheduler.daemon.page.outlook import PageBasis
from rescheduler.daemon.rounds.vigilance import HealthFreeze
from rescheduler.daemon.steering.explaining import Basis, Explaining
from rescheduler.disruption.gate.health import Finding
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.daemon.notices import PolicyHeld, RoundEnded
from rescheduler.model.plan.plan import ObjectiveResult, PlannedPlacement, PodReference, Status
from rescheduler.model.usage.trust import NodeTrust, Trust, TrustState
from rescheduler.policy.fields.daemon.api import ApiPolicy
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod
from tests.unit.daemon.api.daemon_bench import REFUSALS, DaemonBench, bench
from tests.unit.daemon.page.looks import entry, ledger
from tests.unit.daemon.plans import plan, reference, report, result

PLAN = replace(
    plan("a-1", refusals=REFUSALS),
    objectives=(ObjectiveResult("MakeRoom", Status.OPTIMAL, 1, 1, 0.0, "evictions", 0.2, helped=1, wanted=1),),
    placements=(PlannedPlacement(reference("big"), "n1", 1),),
)


def busy() -> DaemonBench:
    """Three rounds ran, plan ``b7a91c02de`` waits, the cluster is not calm, one budget is used up."""
    found = bench()
    done = plan("a-2")
    found.tell(RoundEnded(NOW, report(3, plan_id="5c0ffee123", plan=done, result=result(done), approved_by="joe")))
    found.tell(RoundEnded(NOW, report(4, plan_id="b7a91c02de", plan=PLAN, reason="the policy's mode is Approve")))
    found.controls.propose("b7a91c02de", PLAN, NOW)
    entries = (entry(1, "a-2", 1200), entry(2, "web-7", 600), entry(3, "web-9", 90, state=EntryState.OPEN))
    trust = {f"n{at}": Trust(TrustState.TRUSTED) for at in range(1, 9)} | {"n9": Trust(TrustState.STALE, "400s old")}
    found.basis = PageBasis(
        Policy(),
        ledger=ledger(*entries),
        trust=NodeTrust(trust),
        load_age=12.0,
        freeze=HealthFreeze(NOW - 5400, (Finding("notReady", "5 of 20 nodes are not ready"),)),
    )
    return found


def crowded() -> DaemonBench:
    """The worst night: everything has much to say, and under the longest names that Kubernetes takes."""
    found = busy()
    names = [f"{letter * 58}-{number}" for number, letter in enumerate("abcdef")]
    space = "n" * 63
    waiting = [pod(name, namespace=space, unscheduled="Unschedulable") for name in names]
    found.controls.publish(cluster(node("n1"), node("n2"), *waiting))
    entries = [
        replace(
            entry(number, "x", state=EntryState.FAILED), pod=PodReference(space, name, name),
            from_node=f"{name}.example", workload_key=f"Deployment {space}/{name}",
        )
        for number, name in enumerate(names * 3, 1)
    ]  # fmt: skip
    reasons = tuple(Finding("notReady", f"{number} of 5000 nodes are not ready: {names[0]}") for number in range(3))
    found.basis = found.basis._replace(
        ledger=ledger(*entries), freeze=HealthFreeze(NOW - 5400, reasons), silent=6000.0,
        trust=NodeTrust({"n1": Trust(TrustState.STALE, "old")}, freeze="the load of most nodes is disputed " * 9),
    )  # fmt: skip
    found.tell(PolicyHeld(NOW - 50, "p1", "f" * 64, ("+412 pods in 3 namespaces " * 9,)))
    return found


@contextmanager
def served(found: DaemonBench) -> Iterator[str]:
    """The address of its API."""
    explaining = Explaining(found.controls.state, lambda: Basis(Policy()))
    listener = daemon_listener(
        ApiPolicy(address="127.0.0.1:0"), found.controls.people, explaining, found.reviewer, found.clock,
        basis=lambda: found.basis,
    )  # fmt: skip
    listener.start()
    try:
        yield listener.url
    finally:
        listener.stop()


@contextmanager
def opened(url: str, folder: Path, *arguments: str, token: str = "token-jane") -> Iterator[str]:
    """The address that ``rescheduler ui`` prints for this daemon."""
    file = folder / "token"
    file.write_text(token)
    command = [sys.executable, "-m", "rescheduler", "ui", "--server", url, "--token-file", str(file), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
