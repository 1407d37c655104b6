"""Which pods could be moved by surge if a rule of the policy named them, and are left alone as it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rescheduler.disruption.eligibility import explain_pod
from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.objects.annotations import REQUEST_EVICT_ONLY
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.move_by import MoveRule, Otherwise
from rescheduler.policy.fields.policy import Guidance, Policy


def with_surge_for_the_rest(policy: Policy) -> Policy | None:
    """The policy with one rule more, by which all pods move by surge that can and that no rule names.

    None for one that could have no such rule.
    """
    if policy.guidance is Guidance.PREDICT:
        return None
    rule = MoveRule(method=MoveMethod.SURGE, otherwise=Otherwise.EVICT)
    disruption = policy.disruption.model_copy(update={"move_by": (*policy.disruption.move_by, rule)})
    return policy.model_copy(update={"disruption": disruption})


def could_surge(context: EligibilityContext, pods: Iterable[Pod]) -> list[Pod]:
    """Those of some refused pods that nothing would refuse if a rule named them."""
    policy = with_surge_for_the_rest(context.policy)
    asked = [pod for pod in pods if pod.node_name is not None and not pod.is_finished]
    asked = [pod for pod in asked if REQUEST_EVICT_ONLY not in pod.annotations and _is_unnamed(context, pod)]
    if policy is None or not asked:
        return []
    then = replace(context, policy=policy)
    return [pod for pod in asked if not then.methods.is_evicted(pod) and not explain_pod(then, pod)]


def _is_unnamed(context: EligibilityContext, pod: Pod) -> bool:
    return context.methods.rule_of(pod) is None
