"""Values that the shell offers for options and arguments whose choices are no enumeration: plugins, shipped files."""

from __future__ import annotations


def objective_names(incomplete: str) -> list[str]:
    """Objectives, by what was typed so far; those of other packages too."""
    from rescheduler.planning.objectives import OBJECTIVES

    return [name for name in OBJECTIVES.names() if name.startswith(incomplete)]


def policy_names(incomplete: str) -> list[str]:
    """Policies that are shipped; files are offered by the shell itself."""
    from rescheduler.policy.shipped import shipped_policies

    return [name for name in shipped_policies() if name.startswith(incomplete)]
