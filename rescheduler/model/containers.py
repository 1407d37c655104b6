"""What the containers of a pod ask for and are limited to, one by one, for predictions of what they will use."""

from __future__ import annotations

from msgspec import Struct

from rescheduler.model.resources import Resources

APP = "App"
INIT = "Init"
SIDECAR = "Sidecar"


class ContainerResources(Struct, frozen=True, gc=False):
    """One container as written. Unlike in other resources a zero stays: that it is set at all decides predictions.

    ``kind``: App, Init, or Sidecar (an init container that keeps running).
    """

    requests: Resources = ()
    limits: Resources = ()
    kind: str = APP
