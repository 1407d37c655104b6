"""The form of a rule of eligibility: a name, and a question that answers with a reason against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.objects.pod import Pod


class Rule(NamedTuple):
    """``objection`` tells why the pod is left alone, as the rest of a sentence that begins with the pod; else None."""

    name: str
    objection: Callable[[Pod, EligibilityContext], str | None]


class Stage(NamedTuple):
    """Rules asked in order; ``per`` says of what their answers depend: once for each kind of pod, node, or pod.

    "debt": only pods of open debts are asked about. "budget": the policy's budgets know which pods they answer alike.
    """

    per: Literal["kind", "node", "pod", "debt", "budget"]
    rules: tuple[Rule, ...]
