"""A process that carries a plan out whose moves are surges, as ``apply`` does with a policy that allows them.

Run as ``python -m tests.cluster.surges.surge_process KUBECONFIG PLAN READY_WITHIN SETTLE GUIDANCE``; prints the result.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from secrets import token_hex
from typing import Any

import msgspec

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
from rescheduler.adapters.kubernetes.reading.reader import LiveReader
from rescheduler.composition.live.carrying_out import plan_id_of
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.live.guarding import freed_of_earlier_runs, guarded
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.execution.surge.surge_core import SurgeRules
from rescheduler.extension_points import ExecutionInterruptedError
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.policy.fields.policy import Guidance, Policy
from tests.unit.execution.worlds import AllowAll

HOLDS = "rescheduler-holds"
DEADLINE_SECONDS = 20.0


def carry_out(kubeconfig: Path, plan: Plan, rules: SurgeRules, guidance: str, gate: Any = None) -> PlanResult:
    """Under a guardian; the gate lets everything pass: surges themselves see to it that nobody is missing."""
    connection = connect(str(kubeconfig), read_only=False)
    clock, run_id = SystemClock(), plan_id_of(plan) + token_hex(2)
    policy = Policy(guidance=Guidance(guidance))
    options = ClusterOptions(kubeconfig=str(kubeconfig))
    warnings = freed_of_earlier_runs(connection, LiveReader(connection).read(), policy)
    with guarded(options, policy, run_id, connection, plan) as guard:
        target = KubernetesTarget(
            connection, LiveReader(connection), clock=clock, hold_namespace=HOLDS, guard=guard.start
        )
        executor = Executor(
            target, gate or AllowAll(), clock, hold=HoldSettings(DEADLINE_SECONDS, HOLDS), guidance=guidance,
            timeout_seconds=120.0, proof=lambda _cluster, _plan: (), run_id=run_id, surge=rules,
        )  # fmt: skip
        result = executor.carry_out(plan)
    return msgspec.structs.replace(result, warnings=(*warnings, *result.warnings))


def _stop(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def main(kubeconfig: str, plan: str, within: str, settle: str, guidance: str) -> int:
    """Exit code 0 where all was done, 1 where not, 130 where somebody stopped it."""
    signal.signal(signal.SIGTERM, _stop)
    decoded = msgspec.json.decode(Path(plan).read_bytes(), type=Plan)
    try:
        result = carry_out(Path(kubeconfig), decoded, SurgeRules(float(within), float(settle)), guidance)
    except ExecutionInterruptedError as interrupted:
        print(msgspec.json.encode(interrupted.result).decode())
        return 130
    print(msgspec.json.encode(result).decode())
    return 1 if result.message else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
