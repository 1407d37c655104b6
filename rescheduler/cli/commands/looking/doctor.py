"""``doctor``: what on the live cluster would keep the rescheduler from working."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from rescheduler.cli.failures import DONE, FAILED
from rescheduler.cli.options import LiveOptions, form, policies, with_options
from rescheduler.cli.parameters import OutputFormat
from rescheduler.cli.plan_output import print_report
from rescheduler.cli.preparation import refuse_formats
from rescheduler.cli.progress import shown_progress


@dataclass(frozen=True)
class DoctorFlags(LiveOptions):
    """Which cluster, under which policy, and in which form."""

    policy: Annotated[
        list[str] | None,
        policies(
            "The policy that is to work there, or the name of a shipped one; repeatable "
            "[default: the defaults, a dry run]"
        ),
    ] = None
    output: Annotated[
        OutputFormat,
        form("table, json or yaml"),
    ] = OutputFormat.TABLE


@with_options
def doctor(options: DoctorFlags) -> int:
    """Look at a live cluster and say what would keep the rescheduler from working there, each with its fix.

    Rights, the server's version, guidance, load, schedulers, PodDisruptionBudgets, pods that nothing may move, others
    that evict. Nothing is written. Exit 1 only if a finding blocks.
    """
    from rescheduler.composition.diagnosis.diagnosing import diagnose
    from rescheduler.composition.live.cluster_source import ClusterOptions
    from rescheduler.daemon.plugins import load_policy
    from rescheduler.report.diagnosis import diagnosis_report

    refuse_formats(options.output, "doctor", OutputFormat.WIDE, OutputFormat.HTML)
    policy = load_policy(options.policy or [])
    where = ClusterOptions(kubeconfig=options.kubeconfig, context=options.context)
    with shown_progress() as progress:
        found = diagnose(where, policy, progress)
    print_report(found, options.output, lambda _: diagnosis_report(found))
    return FAILED if found.is_blocked else DONE
