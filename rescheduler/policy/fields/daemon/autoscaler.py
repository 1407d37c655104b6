"""How ``run`` lives beside an autoscaler: what it asks it for, what it offers it, and how long it waits for it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import LARGEST_COUNT, DurationSeconds, PositiveDurationSeconds


class ScaleUp(StrEnum):
    """What is done for pending pods that no rearrangement helps."""

    LEAVE = "Leave"
    PROVISIONING_REQUEST = "ProvisioningRequest"
    CAPACITY_BUFFER = "CapacityBuffer"
    PLACEHOLDERS = "Placeholders"


class ScaleDown(StrEnum):
    """What is done with nodes that a plan has emptied."""

    LEAVE = "Leave"
    ANNOTATE = "Annotate"
    TAINT = "Taint"
    HOLD = "Hold"


class Consolidation(StrEnum):
    """Who takes nodes away that pods are on, where a NodePool says that Karpenter does."""

    KARPENTERS = "Karpenters"
    OURS = "Ours"


class BuyingTaints(StrEnum):
    """Whether nodes may be closed by taints where Karpenter has NodePools."""

    DENY = "Deny"
    ALLOW = "Allow"


class FirstTry(StrEnum):
    """Whether a small rearrangement comes before a purchase."""

    OFF = "Off"
    ON = "On"


def _unquoted(value: Any) -> Any:
    """YAML reads On and Off as booleans."""
    return {True: FirstTry.ON, False: FirstTry.OFF}[value] if isinstance(value, bool) else value


class AutoscalerPolicy(PolicyModel):
    """With cluster-autoscaler or Karpenter, not against it; without either nothing here matters."""

    scale_up: ScaleUp = ScaleUp.LEAVE
    """For pending pods that no rearrangement helps: Leave them to the autoscaler, which sees them itself; or ask it for
    room by a ProvisioningRequest, a CapacityBuffer, or Placeholders (pending pods of low priority in
    ``hold.namespace``), where it does not act by itself. Takes deploy/autoscaler.yaml."""
    scale_down: ScaleDown = ScaleDown.LEAVE
    """For nodes that a plan has emptied: Leave them to the autoscaler; or tell it by an annotation
    (``rescheduler.dev/emptied``), or by a taint of that name, which keeps them empty (both take
    deploy/autoscaler.yaml); or Hold them by placeholders until the autoscaler takes them, which Karpenter heeds."""
    consolidation: Consolidation = Consolidation.KARPENTERS
    """Of NodePools that Karpenter consolidates itself (``WhenEmptyOrUnderutilized`` or ``Balanced``, with a budget for
    ``Underutilized``): ``Karpenters``, and ``run`` empties none of their nodes and moves nobody to them to empty
    others; or ``Ours``, and ``EmptyNodes`` goes on beside it."""
    taints: BuyingTaints = BuyingTaints.DENY
    """Whether ``guidance: Taint`` and ``scaleDown: Taint`` may close nodes where Karpenter has NodePools: it buys one
    for each pod that a taint turns away."""
    first_try: Annotated[FirstTry, BeforeValidator(_unquoted)] = FirstTry.OFF
    """On, and ``run`` looks at a pod in the moment it becomes unschedulable: if a few evictions make room for it, the
    pod is nominated to its node at once, which Karpenter buys nothing for, and then its room is made. Takes ``mode:
    Execute``."""
    first_try_evictions: Annotated[int, Field(ge=1, le=LARGEST_COUNT)] = 2
    """The most evictions of one such try, however many pods it helps."""
    wait: PositiveDurationSeconds = 600.0
    """How long pods are left to an autoscaler that makes room for them, or was asked to; then they are helped again."""
    after_scale_up: DurationSeconds = 600.0
    """No node is emptied for this long after an autoscaler has added one; 0: at once."""
    after_scale_down: DurationSeconds = 600.0
    """Pods that came since an autoscaler took a node away are left to scheduler and autoscaler for this long; 0: they
    are helped at once."""
    offer: PositiveDurationSeconds = 3600.0
    """How long a node stays marked as emptied, by annotation, taint or placeholders."""


def _writes_nothing_under_predict(found: AutoscalerPolicy, info: ValidationInfo) -> AutoscalerPolicy:
    """Raise where something is to be written, and the policy's guidance lets nothing be."""
    choices: tuple[tuple[str, StrEnum, StrEnum], ...] = (
        ("scaleUp", found.scale_up, ScaleUp.LEAVE),
        ("scaleDown", found.scale_down, ScaleDown.LEAVE),
        ("firstTry", found.first_try, FirstTry.OFF),
    )
    for field, choice, harmless in choices:
        if choice is not harmless and info.data.get("guidance") == "Predict":
            problem = "{field}: {choice} writes to the cluster, and guidance: Predict writes nothing but evictions"
            context = {"field": field, "choice": choice.value}
            raise PydanticCustomError("writes_under_predict", f"{problem}; change one of them", context)
    return found


CheckedAutoscalerPolicy: TypeAlias = Annotated[AutoscalerPolicy, AfterValidator(_writes_nothing_under_predict)]
"""As a field of a policy, after its guidance."""
