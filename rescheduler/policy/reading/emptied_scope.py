"""An ``include`` that ``systemNamespaces: Deny`` empties, once it is known where the rescheduler itself is."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.policy.fields.policy import SYSTEM_NAMESPACES, Permission, Policy
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem


def refuse_emptied_scope(policy: Policy, own_namespace: str, files: Sequence[str]) -> None:
    """Raise PolicyError where the policy includes nothing but what it leaves alone, so that nothing would ever move.

    The namespaces that every cluster has are refused wherever a policy is read; ours has another name in each.
    """
    scope = policy.scope
    named = scope.namespaces.include
    left_alone = {*SYSTEM_NAMESPACES, own_namespace}
    if named is None or scope.system_namespaces is Permission.ALLOW or not left_alone.issuperset(named):
        return
    text = (
        f"names only {', '.join(named)}, which scope.systemNamespaces: Deny leaves alone ({own_namespace} is the "
        "rescheduler's own namespace), so nothing would ever be moved; name others, or write systemNamespaces: Allow"
    )
    raise PolicyError([ReadingProblem(", ".join(map(str, files)), 0, 0, "scope.namespaces.include", text)])
