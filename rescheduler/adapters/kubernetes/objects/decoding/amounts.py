"""Resource lists of API objects as integers, with errors that name the resource."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from rescheduler.adapters.kubernetes.objects.decoding.decode import AmountError, ObjectError, joined
from rescheduler.model.objects.resources import (
    LARGEST_AMOUNT,
    QuantityError,
    QuantityRangeError,
    requested_amount,
)

Amount: TypeAlias = Callable[[str, str], int]
"""``requested_amount`` or ``offered_amount``: resource name and quantity to millicores or units."""


def amounts(quantities: Mapping[str, Any] | None, amount: Amount, path: str) -> dict[str, int]:
    """Each quantity as an integer, zeros too.

    Raises ObjectError naming ``path`` and the resource, AmountError where it is only too large.
    """
    found = {}
    for name, value in (quantities or {}).items():
        try:
            found[name] = amount(name, quantity_text(value))
        except QuantityRangeError as error:
            raise AmountError(joined(path, name), str(error)) from error
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


def at_most(amount: Amount) -> Amount:
    """The same amounts, where more than is counted here counts as the largest that is: what is offered, or allowed."""

    def capped(name: str, quantity: str) -> int:
        try:
            return amount(name, quantity)
        except QuantityRangeError:
            return LARGEST_AMOUNT

    return capped


BEYOND: Final = LARGEST_AMOUNT + 1
"""Stands for every size of storage that is more than is counted here."""


def bytes_of(value: Any, path: str) -> int:
    """A size of storage in bytes, rounded up; BEYOND for more than is counted here.

    Drivers without a limit report sizes such as ``8Ei``. Raises ObjectError.
    """
    if value is None:
        return 0
    try:
        return requested_amount("storage", quantity_text(value))
    except QuantityRangeError:
        return BEYOND
    except QuantityError as error:
        raise ObjectError(path, str(error)) from error
