"""Resource lists of API objects as integers, with errors that name the resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from rescheduler.adapters.kubernetes.objects.decode import ObjectError, joined
from rescheduler.model.objects.resources import LARGEST_AMOUNT, QuantityError, parse_quantity

Amount: TypeAlias = Callable[[str, str], int]
"""``requested_amount`` or ``offered_amount``: resource name and quantity to millicores or units."""


def amounts(quantities: Mapping[str, Any] | None, amount: Amount, path: str) -> dict[str, int]:
    """Each quantity as an integer, zeros too. Raises ObjectError naming ``path`` and the resource."""
    found = {}
    for name, value in (quantities or {}).items():
        try:
            found[name] = amount(name, quantity_text(value))
        except QuantityError as error:
            raise ObjectError(joined(path, name), str(error)) from error
    return found


def quantity_text(value: Any) -> str:
    """A quantity as text; the API accepts plain numbers too. Raises QuantityError for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(value)
    raise QuantityError(f"{str(value)[:40]!r} is not a quantity; write it like 250m, 2, 1.5Gi or 1e3")


def bytes_of(value: Any, path: str) -> int:
    """A size of storage in bytes, rounded up; sizes beyond what is counted here count as that much.

    Drivers without a limit report sizes such as ``8Ei``. Raises ObjectError.
    """
    if value is None:
        return 0
    try:
        text = quantity_text(value)
        if text.endswith(("Ei", "E", "Pi", "P")) or (text.isdigit() and len(text) >= len(str(LARGEST_AMOUNT))):
            return _large(text)
        exact = parse_quantity(text)
    except QuantityError as error:
        raise ObjectError(path, str(error)) from error
    return -(-exact.numerator // exact.denominator)


def _large(text: str) -> int:
    try:
        return int(parse_quantity(text))
    except QuantityError:
        digits = text.removesuffix("i").rstrip("EP")
        if digits.isdigit() and len(digits) <= 19:
            return LARGEST_AMOUNT
        raise
