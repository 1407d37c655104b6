"""Random small problems, and what is the best for them by trying everything."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import strategies as st

from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage, drainage_of


@st.composite
def drainages(draw: st.DrawFn, most_nodes: int = 4, most_pods: int = 6) -> Drainage:
    """Pods that fit where they are, with room left in each resource."""
    nodes = draw(st.integers(2, most_nodes))
    pods = draw(st.integers(1, most_pods))
    request = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)), min_size=pods, max_size=pods))
    home = np.array(draw(st.lists(st.integers(0, nodes - 1), min_size=pods, max_size=pods)), dtype=np.int64)
    capacity = np.array([[draw(st.integers(0, 6)), draw(st.integers(0, 6))] for _ in range(nodes)], dtype=np.int64)
    np.add.at(capacity, home, np.array(request, dtype=np.int64))
    return drainage_of(capacity, np.array(request, dtype=np.int64), home)


def fits(drainage: Drainage, node_of: np.ndarray) -> bool:
    """Whether all pods have room where they end."""
    free = drainage.capacity.copy()
    np.subtract.at(free, node_of, drainage.request)
    return bool((free >= 0).all())


def fewest_moves_by_trying(drainage: Drainage, count: int) -> int | None:
    """Fewest pods that end elsewhere in any placement with ``count`` empty nodes (and as many more as there are)."""
    best = None
    for emptied in combinations(range(drainage.node_count), count):
        kept = [node for node in range(drainage.node_count) if node not in emptied]
        for seats in product(kept, repeat=len(drainage.home)):
            node_of = np.array(seats, dtype=np.int64)
            moves = int((node_of != drainage.home).sum())
            if (best is None or moves < best) and fits(drainage, node_of):
                best = moves
    return best
