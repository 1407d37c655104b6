"""The list of objectives: each is one class that says what policies call it, what it takes and what it is for."""

from __future__ import annotations

import subprocess
import sys

from rescheduler.model.columns.columns import columns_of
from rescheduler.planning.objectives import OBJECTIVES, objectives_of
from rescheduler.planning.problem.objective import ObjectiveSetting
from rescheduler.policy.fields.objectives import ARGUMENTS
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node


def test_each_class_answers_to_its_name_and_takes_the_policys_arguments() -> None:
    """Names, and their order, are the policy's; each explains itself in one sentence."""
    assert tuple(OBJECTIVES.own) == tuple(ARGUMENTS)
    for name, form in ARGUMENTS.items():
        found = OBJECTIVES.get(name)
        assert (found.name, found.arguments) == (name, form)
        assert found.explanation().endswith(".")
        assert "\n" not in found.explanation()


def test_a_policy_makes_its_objectives_in_order_and_the_margin_raises_what_moves_cost() -> None:
    """Arguments are read, weights kept."""
    policy = Policy.model_validate(
        {
            "objectives": (
                {"name": "SchedulerScore", "args": {"minimumGain": 7}, "move_cost": 2.0},
                {"name": "FaultDomains", "weight": 3.0},
            ),
            "limits": {"margin": 0.5},
        }
    )
    score, domains = objectives_of(policy, ObjectiveSetting(columns_of(cluster(node("a")))))
    assert (score.name, score.args.minimum_gain, score.move_cost) == ("SchedulerScore", 7, 3.0)
    assert (domains.name, domains.weight, domains.move_cost) == ("FaultDomains", 3.0, 0.0)


def test_objectives_that_nobody_names_are_not_loaded() -> None:
    """Their names load no planner; a policy of one objective loads that one alone."""
    program = (
        "import sys; from rescheduler.planning.objectives import OBJECTIVES; OBJECTIVES.names();"
        "print('rescheduler.planning.problem.problem' in sys.modules); OBJECTIVES.get('FaultDomains');"
        "print([name for name in sys.modules if name.endswith(('.defragment.objective', '.empty_nodes.objective'))])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False", "[]"]
