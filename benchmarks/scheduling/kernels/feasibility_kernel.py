"""Strikes out nodes that a pod does not fit on, as loops that numba compiles."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.scheduling.kernels.compiling import compiled
from rescheduler.scheduling.kernels.kind import REFUSED

_ANY = -(1 << 62)  # a request that every node has room for


@compiled
def _check(checks: IntArray, number: int) -> tuple[np.int64, np.int64]:
    if number < len(checks):
        return checks[number, 0], checks[number, 1]
    return np.int64(0), np.int64(_ANY)


@compiled
def refuse(
    total: IntArray, start: int, stop: int, used: IntArray, allocatable: IntArray, base: IntArray, checks: IntArray
) -> None:
    """Strike out the nodes that are not feasible; three resources in one pass, which is what most pods ask for."""
    for first in range(0, max(len(checks), 1), 3):
        row_a, request_a = _check(checks, first)
        row_b, request_b = _check(checks, first + 1)
        row_c, request_c = _check(checks, first + 2)
        used_a, used_b, used_c = used[row_a][start:stop], used[row_b][start:stop], used[row_c][start:stop]
        offered_a, offered_b = allocatable[row_a][start:stop], allocatable[row_b][start:stop]
        offered_c = allocatable[row_c][start:stop]
        for node in range(len(total)):
            fits = (
                (base[node] != REFUSED)
                & (offered_a[node] - used_a[node] >= request_a)
                & (offered_b[node] - used_b[node] >= request_b)
                & (offered_c[node] - used_c[node] >= request_c)
            )
            total[node] = total[node] if fits else REFUSED


@compiled
def refuse_some(
    total: IntArray, changed: IntArray, used: IntArray, allocatable: IntArray, base: IntArray, checks: IntArray
) -> None:
    """As ``refuse``, for the nodes of these numbers only."""
    for number in range(len(checks)):
        row, request = checks[number, 0], checks[number, 1]
        for place in range(len(changed)):
            if allocatable[row, changed[place]] - used[row, changed[place]] < request:
                total[changed[place]] = REFUSED
    for place in range(len(changed)):
        if base[changed[place]] == REFUSED:
            total[changed[place]] = REFUSED
