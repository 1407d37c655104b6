"""Code that nothing uses, as vulture finds it: ``python -m tests.unused_code``; exceptions come with their reasons.

Tests do not count as users, benchmarks and what writes the documentation do.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from vulture import Vulture

from tests.paths import ROOT

PLACES = ("rescheduler", "benchmarks", "docs")
PLUGIN = re.compile(r':([A-Z]\w+)"')
"""How the face of a folder of plugins names a class: ``module:Class``."""
LISTING = "*/extension_points/__init__.py"
"""Brings what its modules hold to those who import it, which is no use of it."""
REGISTERED = ("@field_validator", "@model_validator", "@*.get", "@*.post", "@*.callback", "@*.command")
"""What such a decorator marks is called by pydantic, FastAPI or Typer."""

EXCEPTIONS = {
    "called or read by a library, or by a template, that is given the object": (
        "ConnectionCls _validate_conn __annotations__ __call__ __instancecheck__ __signature__ adapter "
        "adapters bars_of_a_row bottom catch_sigint_signal close_connection connection_pool_maxsize "
        "disable_nagle_algorithm do_GET format_help format_options handleError is_goal linearization_level "
        "log_message matched max_deterministic_time max_redirects max_time_in_seconds may_pause may_resume "
        "model_config mount nearness num_workers ok on_broken_pipe plan_tag pool_classes_by_scheme "
        "protocol_version random_seed should_exit switch_tag tone trust_env unnamed was_pending y"
    ),
    "fields of documents and objects that others read or write": (
        "MIGRATE capacity_type data_center etag eviction_failure_event_notification expression finalizers "
        "grace_period_seconds last_round leader newer_plan node_pods ownerReferences p50 p90 p99 param_kind param_ref "
        "patch_type preevictionfilter presort "
        "reporting_component resourceVersion role store_error_since"
    ),
    "commands, loaded by name when they are called": "backtest costs demo doctor ui watcher",
    "how the simulation and tests give an embedded cluster its troubles": (
        "budget_changed delete_pod infeasible remove_budget remove_workload several_pending"
    ),
    "tables that tests compare documents, dashboards and the log with": "LEVELS OUTCOMES metrics_table",
    "arithmetic of other schedulers that recorded vectors are checked by": (
        "LegacyRatioArguments ScoringStrategy active_thresholds mean_of_points retained"
    ),
}


def unused() -> Iterator[str]:
    """A line for each finding that is no exception."""
    excepted = {name for names in EXCEPTIONS.values() for name in names.split()}
    faces = (file.read_text() for file in ROOT.glob("rescheduler/**/__init__.py"))
    plugins = {name for face in faces for name in PLUGIN.findall(face)}
    search = Vulture(ignore_decorators=list(REGISTERED))
    search.scavenge([str(ROOT / place) for place in PLACES], exclude=[LISTING])
    for item in search.get_unused_code():
        if item.name not in excepted | plugins:
            yield f"{item.filename.relative_to(ROOT)}:{item.first_lineno}: unused {item.typ} {item.name}"


if __name__ == "__main__":
    found = list(unused())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
