"""The inner loops of draining: pods of one node and of a few others are taken off and seated anew, again and again.

Written so that numba can compile them; without it they run as they stand, slower and with the same result.
"""

from __future__ import annotations

from rescheduler.planning.objectives.empty_nodes.draining.seats import AWAY, NOTED, RANDOM, DrainSeats, Ints

_MOST_LOOKED_AT = 12
_HOME_FIRST = 1e6
_GAPS = (301, 132, 57, 23, 10, 4, 1)  # Ciura's


def draw(seats: DrainSeats, below: int) -> int:
    """The next random number from 0 to ``below`` - 1; the same with and without compilation."""
    seats.state[RANDOM] = (1103515245 * seats.state[RANDOM] + 12345) & 0x7FFFFFFF
    return int((seats.state[RANDOM] >> 8) % below)


def take_off(seats: DrainSeats, pod: int) -> None:
    """Take a pod off its node, if it is on one."""
    node = seats.node_of[pod]
    if node < 0:
        return
    first = node * seats.places
    seats.count[node] -= 1
    last = seats.pods_at[first + seats.count[node]]
    seats.pods_at[first + seats.place[pod]] = last
    seats.place[last] = seats.place[pod]
    asked, offered = seats.kind[pod] * seats.width, node * seats.width
    for row in range(seats.width):
        seats.free[offered + row] += seats.request[asked + row]
    if node != seats.home[pod]:
        seats.state[AWAY] -= 1
    seats.node_of[pod] = -1


def put_on(seats: DrainSeats, pod: int, node: int) -> None:
    """Seat a pod that is on no node."""
    seats.pods_at[node * seats.places + seats.count[node]] = pod
    seats.place[pod] = seats.count[node]
    seats.count[node] += 1
    asked, offered = seats.kind[pod] * seats.width, node * seats.width
    for row in range(seats.width):
        seats.free[offered + row] -= seats.request[asked + row]
    if node != seats.home[pod]:
        seats.state[AWAY] += 1
    seats.node_of[pod] = node


def may_join(seats: DrainSeats, pod: int, node: int) -> bool:
    """Whether a pod that is on no node may be seated there."""
    kind = seats.kind[pod]
    if not seats.open_to[seats.class_of[kind] * seats.nodes + node] or seats.count[node] >= seats.places:
        return False
    asked, offered = kind * seats.width, node * seats.width
    for row in range(seats.width):
        if seats.free[offered + row] < seats.request[asked + row] > 0:
            return False
    if seats.apart[pod] >= 0:
        first = node * seats.places
        for position in range(first, first + seats.count[node]):
            if seats.apart[seats.pods_at[position]] == seats.apart[pod]:
                return False
    return True


def undo(seats: DrainSeats, keep: int) -> None:
    """Take back what was noted after the first ``keep`` entries of the journal."""
    for entry in range(keep, seats.state[NOTED]):
        take_off(seats, seats.noted_pods[entry])
    for entry in range(keep, seats.state[NOTED]):  # a pod noted more than once was first where it was noted first
        if seats.node_of[seats.noted_pods[entry]] < 0:
            put_on(seats, seats.noted_pods[entry], seats.noted_nodes[entry])
    seats.state[NOTED] = keep


def _tightest(seats: DrainSeats, pod: int, number: int) -> int:
    """Of the first ``number`` chosen nodes the one on which the least room remains, -1 for none."""
    best, least = -1, 1e300
    asked = seats.kind[pod] * seats.width
    for position in range(number):
        node = seats.chosen[position]
        if may_join(seats, pod, node):
            rest = 0.0
            for row in range(seats.width):
                left = (seats.free[node * seats.width + row] - seats.request[asked + row]) * seats.weight[row]
                rest += left * left
            if rest < least:
                best, least = node, rest
    return best


def _sort(seats: DrainSeats, length: int) -> None:
    """The bag by its keys, highest first, by Shell's method."""
    bag, key = seats.bag, seats.key
    for gap in _GAPS:
        for position in range(gap, length):
            pod, value, at = bag[position], key[position], position
            while at >= gap and key[at - gap] < value:
                bag[at], key[at] = bag[at - gap], key[at - gap]
                at -= gap
            bag[at], key[at] = pod, value


def _choose_receivers(seats: DrainSeats, target: int, receivers: Ints) -> int:
    """Note one to three random nodes, each open to some pod of the target or of one noted before; how many were found.

    Through a node in between pods make room for pods of the target on nodes that these may not use themselves.
    """
    number, most = 0, 1 + draw(seats, 3)
    offset = _class_of_some_pod(seats, target)
    for _attempt in range(_MOST_LOOKED_AT):
        node = receivers[draw(seats, len(receivers))]
        is_new = node != target and not seats.is_closed[node] and seats.open_to[offset + node]
        for position in range(number):
            is_new = is_new and seats.chosen[position] != node
        if is_new:
            seats.chosen[number] = node
            number += 1
            if number == most:
                break
            source = draw(seats, number + 1)
            offset = _class_of_some_pod(seats, target if source == number else seats.chosen[source])
    return number


def _class_of_some_pod(seats: DrainSeats, node: int) -> int:
    """Where the nodes open to a random pod of a node begin in ``open_to``; those of any pod if none is there."""
    pod = 0
    if seats.count[node] > 0:
        pod = seats.pods_at[node * seats.places + draw(seats, seats.count[node])]
    return int(seats.class_of[seats.kind[pod]] * seats.nodes)


def _fill_bag(seats: DrainSeats, length: int, node: int, percent: int) -> int:
    """Add so many percent of a node's pods to the bag; its new length."""
    first = node * seats.places
    for position in range(first, first + seats.count[node]):
        if length < len(seats.bag) and (percent >= 100 or draw(seats, 100) < percent):
            seats.bag[length] = seats.pods_at[position]
            length += 1
    return length


def _take_off_bag(seats: DrainSeats, length: int, noise: float) -> None:
    """Note the pods of the bag and take them off; their keys are their sizes with noise."""
    for position in range(length):
        pod = seats.bag[position]
        entry = seats.state[NOTED]
        seats.noted_pods[entry], seats.noted_nodes[entry] = pod, seats.node_of[pod]
        seats.state[NOTED] += 1
        seats.key[position] = seats.size[seats.kind[pod]] * (1.0 + noise * draw(seats, 1000) / 1000.0)
        take_off(seats, pod)


def drain(seats: DrainSeats, target: int, receivers: Ints, tries: int, noise: float) -> bool:
    """Shift the pods of ``target`` to ``receivers`` until none is left; False if some are after so many tries.

    Each try takes off the target's pods and some of one to three receivers', and seats them again by size; what finds
    no seat there goes back. It stands if the target is not fuller than before. The journal keeps what was changed.
    """
    for _ in range(tries):
        if seats.count[target] == 0:
            return True
        number = _choose_receivers(seats, target, receivers)
        length = _fill_bag(seats, 0, target, 100)
        load = 0.0
        for position in range(length):
            load += seats.size[seats.kind[seats.bag[position]]]
        percent = 30 + draw(seats, 71)
        for position in range(number):
            length = _fill_bag(seats, length, seats.chosen[position], percent)
        keep = seats.state[NOTED]
        if number == 0 or keep + length > len(seats.noted_pods):
            continue
        _take_off_bag(seats, length, noise)
        _sort(seats, length)
        if not _seat_bag(seats, length, number, target, load):
            undo(seats, keep)
    return bool(seats.count[target] == 0)


def _seat_bag(seats: DrainSeats, length: int, number: int, target: int, most: float) -> bool:
    """Seat the bag on the chosen nodes, the rest on the target; False where that is more than ``most`` in all."""
    load = 0.0
    for position in range(length):
        pod = seats.bag[position]
        node = _tightest(seats, pod, number)
        if node < 0:
            load += seats.size[seats.kind[pod]]
            if load > most or not may_join(seats, pod, target):
                return False
            node = target
        put_on(seats, pod, node)
    return True


def go_home(seats: DrainSeats, pod: int, noise: float) -> bool:
    """Seat the pods of a pod's home, of its node and of up to three linked ones anew, each at home if it can be.

    It stands if all find seats and no more are away from home than before; then the journal begins anew.
    """
    home = seats.home[pod]
    if seats.node_of[pod] == home or seats.is_closed[home]:
        return False
    seats.state[NOTED] = 0
    number = _choose_linked(seats, pod)
    length, away = 0, seats.state[AWAY]
    for position in range(number):
        length = _fill_bag(seats, length, seats.chosen[position], 100)
    _take_off_bag(seats, length, noise)
    for position in range(length):
        for which in range(number):
            if seats.home[seats.bag[position]] == seats.chosen[which]:
                seats.key[position] += _HOME_FIRST
                break
    _sort(seats, length)
    if not _seat_natives_first(seats, length, number) or seats.state[AWAY] > away:
        undo(seats, 0)
    return bool(seats.node_of[pod] == home)


def _choose_linked(seats: DrainSeats, pod: int) -> int:
    """Note a pod's home, its node, and homes of up to three pods there; how many nodes these are."""
    seats.chosen[0], seats.chosen[1] = seats.home[pod], seats.node_of[pod]
    number = 2
    for _ in range(draw(seats, 4)):
        node = seats.chosen[draw(seats, 2)]
        if seats.count[node] == 0:
            continue
        linked = seats.home[seats.pods_at[node * seats.places + draw(seats, seats.count[node])]]
        is_new = not seats.is_closed[linked]
        for position in range(number):
            is_new = is_new and seats.chosen[position] != linked
        if is_new:
            seats.chosen[number] = linked
            number += 1
    return number


def _seat_natives_first(seats: DrainSeats, length: int, number: int) -> bool:
    """Seat the bag on the chosen nodes, pods at home there where they can be; False where one finds no seat."""
    for position in range(length):
        pod = seats.bag[position]
        node = seats.home[pod]
        if seats.key[position] < _HOME_FIRST or not may_join(seats, pod, node):
            node = _tightest(seats, pod, number)
        if node < 0:
            return False
        put_on(seats, pod, node)
    return True
