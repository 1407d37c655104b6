"""How many evictions a plan needs at the least that empties so many nodes."""

from __future__ import annotations

import numpy as np

from rescheduler.planning.deadline import Deadline
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.solvers.fewest_to_empty import fewest_to_empty


class LeastEvictions:
    """Proven least numbers, each worked out once."""

    def __init__(self, situation: Situation) -> None:
        """Know nothing yet."""
        self._situation = situation
        self._known: dict[int, int] = {}

    def for_value(self, value: float, deadline: Deadline) -> int:
        """Least evictions of a plan of this value; 0 where nodes differ in price, or nothing is proven."""
        situation = self._situation
        price = situation.price[situation.candidates]
        if not len(price) or price.min() < price.max():
            return 0
        number = round(value / float(price[0]))
        if number not in self._known:
            room = np.maximum(0, situation.problem.free)
            self._known[number] = fewest_to_empty(
                situation.pods_on,
                situation.load,
                room,
                situation.could_be_emptied,
                situation.is_empty,
                number,
                deadline,
            )
        return self._known[number]
