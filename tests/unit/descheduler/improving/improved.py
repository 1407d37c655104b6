"""Plans for the ends of a DeschedulerPolicy of one plugin, on clusters that a test builds."""

from __future__ import annotations

import json
from typing import Any

from rescheduler.composition.foretelling import improve
from rescheduler.descheduler.foretelling import walked
from rescheduler.descheduler.plugins import PLUGINS
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, read_descheduler_policy
from rescheduler.extension_points import NOTHING_EARLIER
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.foretold_plan import Landing
from rescheduler.model.plan.plan import ObjectiveResult, Plan
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.unit.policy.policies import policy

PERMISSIVE = """\
limits: {maxEvictions: 1000, deadline: 30s}
disruption: {singleReplicas: Allow, localStorage: Allow, notReady: Allow, workloads: {maxUnavailable: 20}}
"""


def written(plugin: str, arguments: dict[str, Any] | None = None, **top: Any) -> DeschedulerPolicy:
    """A policy of one profile with one plugin; ``top``: fields beside the profiles, and ``evictor``."""
    evictor = top.pop("evictor", {})
    configs = [{"name": plugin, "args": arguments or {}}, {"name": "DefaultEvictor", "args": evictor}]
    profile = {"name": "p", "pluginConfig": configs, "plugins": {PLUGINS[plugin].point: {"enabled": [plugin]}}}
    file = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **top}
    return read_descheduler_policy(json.dumps(file), "d.yaml")


def improved(world: Cluster, policy_file: DeschedulerPolicy, own: str = PERMISSIVE) -> Plan:
    """Our plan for its ends; ``own``: the body of a ReschedulerPolicy beside it."""
    return improve(world, policy_file, policy(own), selection=Selection(), schedulers=DEFAULTS, earlier=NOTHING_EARLIER)


def only(plan: Plan) -> ObjectiveResult:
    """The one objective of a plan."""
    (found,) = plan.objectives
    return found


def landed(world: Cluster, policy_file: DeschedulerPolicy) -> list[Landing]:
    """What becomes of descheduler's own victims."""
    return [found.landing for found in walked(world, policy_file, DEFAULTS).landed.values()]
