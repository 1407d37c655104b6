"""The lists of a policy whose entries have a name and arguments of their own: objectives and triggers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rescheduler.policy import objectives, triggers
from rescheduler.policy.models import Objective
from rescheduler.policy.policy_model import PolicyModel
from rescheduler.policy.triggers import TriggerEntry


@dataclass(frozen=True)
class ArgumentForm:
    """One such list. ``entry``: the form of its entries; ``models``: of the arguments, by the entry's name.

    ``default``: the name of an entry that has none; None: every entry needs one.
    """

    entry: type[PolicyModel]
    models: Mapping[str, type[PolicyModel]]
    default: str | None


ARGUMENT_FORMS: Final[Mapping[str, ArgumentForm]] = {
    "objectives": ArgumentForm(Objective, objectives.ARGUMENTS, "MakeRoom"),
    "triggers": ArgumentForm(TriggerEntry, triggers.ARGUMENTS, None),
}
"""By the policy's field."""
