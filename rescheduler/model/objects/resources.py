"""Resource amounts as integers, and the Kubernetes quantities they are read from.

CPU counts in millicores, everything else in its own unit (bytes, pieces); a finer quantity is rounded up for
requests, as kube-scheduler does, and down for capacity, so that neither ever promises room that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

# Sums of this many units over a thousand pods stay inside a signed 64-bit integer; ``model/columns`` sees to more.
LARGEST_AMOUNT: Final = 2**52
# A pod without requests for these counts with them in scores, never in filters (kube-scheduler's non-zero defaults).
DEFAULT_MILLICORES: Final = 100
DEFAULT_MEMORY_BYTES: Final = 200 * 1024 * 1024

Resources: TypeAlias = tuple[tuple[str, int], ...]
"""Amounts by resource name, sorted by name, without zeros: hashable, so that equal pods share one value."""

_QUANTITY = re.compile(r"([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([eE])([+-]?\d{1,9})|([numkMGTPE]|[KMGTPE]i)?)", re.ASCII)
_POWERS: Final = {
    "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 10**3), "": Fraction(1),
    "k": Fraction(10**3), "M": Fraction(10**6), "G": Fraction(10**9), "T": Fraction(10**12),
    "P": Fraction(10**15), "E": Fraction(10**18),
    "Ki": Fraction(2**10), "Mi": Fraction(2**20), "Gi": Fraction(2**30), "Ti": Fraction(2**40),
    "Pi": Fraction(2**50), "Ei": Fraction(2**60),
}  # fmt: skip
_LONGEST_QUANTITY: Final = 64
_MOST_DIGITS: Final = 40
"""A number of more digits before its point is out of range whatever its unit, and not worth the arithmetic."""


class QuantityError(ValueError):
    """A text that is no Kubernetes quantity, or one outside the range that is accepted."""


class QuantityRangeError(QuantityError):
    """A quantity as Kubernetes has them, but more than is counted here."""


@lru_cache(maxsize=65536)
def parse_quantity(text: str) -> Fraction:
    """Read a Kubernetes quantity such as ``250m``, ``1.5Gi`` or ``1e3`` exactly.

    Raises QuantityError for anything else, for a negative value and for one above LARGEST_AMOUNT.
    """
    match = _QUANTITY.fullmatch(text)
    magnitude = 0 if match is None else _magnitude(match[2], int(match[4] or 0))
    if match is None or (len(text) > _LONGEST_QUANTITY and magnitude <= _MOST_DIGITS):
        raise QuantityError(f"{text[:40]!r} is not a quantity; write it like 250m, 2, 1.5Gi or 1e3")
    sign, digits, exponential, exponent, suffix = match.groups()
    if not digits.strip("0."):
        return Fraction(0)
    if sign == "-":
        raise QuantityError(f"{text[:40]!r} is negative; a quantity here is 0 or more")
    if magnitude > _MOST_DIGITS:
        raise _out_of_range(text)
    if magnitude < -_MOST_DIGITS:
        return Fraction(1, 10**_MOST_DIGITS)
    value = Fraction(digits) * (Fraction(10) ** int(exponent) if exponential else _POWERS[suffix or ""])
    if value > LARGEST_AMOUNT:
        raise _out_of_range(text)
    return value


def _magnitude(digits: str, exponent: int) -> int:
    """How many digits stand before the point, negative for zeros after it; 0 for zero itself."""
    whole, _, part = digits.partition(".")
    significant = len((whole + part).lstrip("0"))
    return significant - len(part) + exponent if significant else 0


def _out_of_range(quantity: str) -> QuantityRangeError:
    shown = f"{quantity[:40]!r}"
    return QuantityRangeError(f"{shown} is out of range; the largest amount accepted is {LARGEST_AMOUNT}")


@lru_cache(maxsize=65536)
def requested_amount(resource: str, quantity: str) -> int:
    """Amount of a request in millicores (cpu) or units, rounded up. Raises QuantityError."""
    value = parse_quantity(quantity) * (1000 if resource == CPU else 1)
    return _in_range(-(-value.numerator // value.denominator), quantity)


@lru_cache(maxsize=65536)
def offered_amount(resource: str, quantity: str) -> int:
    """Amount of a capacity in millicores (cpu) or units, rounded down. Raises QuantityError."""
    value = parse_quantity(quantity) * (1000 if resource == CPU else 1)
    return _in_range(value.numerator // value.denominator, quantity)


def _in_range(amount: int, quantity: str) -> int:
    if amount > LARGEST_AMOUNT:
        raise _out_of_range(quantity)
    return amount


def resources(amounts: Iterable[tuple[str, int]]) -> Resources:
    """Sort amounts by name and drop zeros."""
    return tuple(sorted((name, amount) for name, amount in amounts if amount))


def format_amount(resource: str, amount: int) -> str:
    """Write an amount for people: ``2.5`` cores, ``1.5Gi`` of memory, plain numbers otherwise."""
    if resource == CPU:
        return f"{amount}m" if amount % 100 else f"{amount / 1000:g}"
    if resource in (MEMORY, EPHEMERAL_STORAGE) or resource.startswith("hugepages-"):
        for suffix, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
            if amount >= size:
                return f"{amount / size:.1f}".removesuffix(".0") + suffix
    return str(amount)


def exact_amount(resource: str, amount: int) -> str:
    """Write an amount so that it is read back as the same: ``2.5`` cores, ``15Gi`` or ``4086Mi`` of memory."""
    if resource == CPU:
        return format_amount(resource, amount)
    if resource in (MEMORY, EPHEMERAL_STORAGE) or resource.startswith("hugepages-"):
        for suffix, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
            if amount and amount % size == 0:
                return f"{amount // size}{suffix}"
    return str(amount)


def is_ignored(resource: str, names: Collection[str], groups: Collection[str]) -> bool:
    """Whether a scheduler that ignores these extended resources, and these groups (before the slash), ignores one."""
    group, slash, _ = resource.partition("/")
    return bool(slash) and (resource in names or group in groups)
