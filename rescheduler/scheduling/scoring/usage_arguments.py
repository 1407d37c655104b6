"""Values that the arguments of usage-based plugins are made of."""

from __future__ import annotations

import re
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from rescheduler.model.objects.resources import CPU, MEMORY, QuantityError, requested_amount
from rescheduler.model.usage.predicted_use import UsePredictor
from rescheduler.policy.fields.policy_model import PolicyModel

_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,18})?")


def _decimal(value: Any) -> Any:
    if isinstance(value, str):
        if _DECIMAL.fullmatch(value) is None:
            raise PydanticCustomError("factor", "{found} is no factor; write it like 1.5", {"found": repr(value[:40])})
        return float(value)
    return value


def _cpu(text: str) -> str:
    return _checked(CPU, text)


def _memory(text: str) -> str:
    return _checked(MEMORY, text)


def _checked(resource: str, text: str) -> str:
    try:
        requested_amount(resource, text)
    except QuantityError as error:
        raise PydanticCustomError("quantity", "{reason}", {"reason": str(error)}) from None
    return text


Factor: TypeAlias = Annotated[float, BeforeValidator(_decimal), Field(gt=0, le=1000)]
"""A number above 0, or a text that writes one (as kube-scheduler's configuration does)."""
CpuQuantity: TypeAlias = Annotated[str, AfterValidator(_cpu)]
"""Cpu as Kubernetes writes it."""
MemoryQuantity: TypeAlias = Annotated[str, AfterValidator(_memory)]
"""Memory as Kubernetes writes it."""
TargetPercent: TypeAlias = Annotated[float, Field(ge=1, le=100)]
"""A level of load to aim at."""
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
"""A fraction."""
Weight: TypeAlias = Annotated[float, Field(ge=0, le=1e6)]
"""What something counts beside others."""


class DefaultRequests(PolicyModel):
    """What a container that asks for nothing is taken to use."""

    cpu: CpuQuantity = "1000m"
    """Cpu, as a quantity."""


class PredictionArguments(PolicyModel):
    """How the use of pods is predicted that no measurement shows yet."""

    default_requests: DefaultRequests = DefaultRequests()
    """For each container without requests and limits; ``cpu: 1m`` is the value of the original design."""
    default_requests_multiplier: Factor = 1.5
    """A request times this is the predicted use."""
    use_limits: bool = True
    """A container's limit, where there is one, goes before its request."""
    upstream_compatible: bool = False
    """As the scheduler's own plugin: metrics of any age count, a missing node scores 0, no pod is ever taken off."""

    @property
    def predictor(self) -> UsePredictor:
        """The rule that follows from these arguments."""
        cpu = requested_amount(CPU, self.default_requests.cpu)
        return UsePredictor(self.default_requests_multiplier, cpu, self.use_limits)
