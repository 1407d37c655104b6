"""A machine that could be bought, as the table of prices tells of it."""

from __future__ import annotations

from msgspec import Struct

from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.resources import Resources
from rescheduler.model.prices import Place


class Machine(Struct, frozen=True):
    """``place``: type, capacity type, zone and pool; ``price``: a month; ``resources``: what it offers to pods.

    ``labels`` and ``taints``: of its node, the name of the host left out. ``sample``: a node of the cluster that it is
    taken to be like but for that; pods that belong to that node come with this one too.
    """

    place: Place
    price: float
    resources: Resources
    labels: dict[str, str]
    taints: tuple[Taint, ...] = ()
    sample: str = ""

    @property
    def told(self) -> str:
        """The type, and in brackets what else is known."""
        instance_type, *others = self.place
        known = ", ".join(value for value in others if value is not None)
        return f"{instance_type} ({known})" if known else str(instance_type)
