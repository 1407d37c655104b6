"""Pods that a surge takes out of their ReplicaSets and gives back, and who answers for Services meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.endpoints import ServiceEndpoints
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Service
from rescheduler.model.plan.detachment import Detachment, detachment_of, given_back, taken_out
from rescheduler.model.plan.plan import PodReference


class Detacher:
    """PATCH pods, and GET endpointslices."""

    def __init__(self, store: ObjectStore, settings: SimulationSettings, services: Sequence[Service]) -> None:
        self._store = store
        self._settings = settings
        self._services = services

    def detach(self, reference: PodReference, resource_version: str, detachment: Detachment) -> bool:
        """Take exactly this pod out; False if it has changed since it was read. Raises ClusterError."""
        if self._settings.cannot_surge is not None:
            raise ClusterError(self._settings.cannot_surge)
        self._store.clock.sleep(self._settings.api_seconds)
        pod = self._store.pods.get(reference.key)
        if pod is None or pod.uid != reference.uid or pod.resource_version != resource_version:
            return False
        self._store.write("patch", "pods", pod.namespace, pod.name, detachment.leaving_value)
        self._store.event("Detached", self._store.put_pod(taken_out(pod, detachment)))
        return True

    def give_back(self, reference: PodReference) -> bool:
        """Put the label back; False if there is nothing to give back."""
        self._store.clock.sleep(self._settings.api_seconds)
        pod = self._store.pods.get(reference.key)
        if pod is None or (reference.uid and pod.uid != reference.uid) or pod.is_terminating:
            return False
        detachment = detachment_of(pod)
        if detachment is None:
            return False
        self._store.write("patch", "pods", pod.namespace, pod.name, detachment.value)
        self._store.event("GivenBack", self._store.put_pod(given_back(pod)))
        return True

    def endpoints(self, namespace: str) -> list[ServiceEndpoints]:
        """Of every Service: pods that its selector matches and that have a node; Ready ones get requests."""
        return [
            _of_service(service, self._store.in_namespace(namespace))
            for service in self._services
            if service.namespace == namespace and service.selector
        ]


def _of_service(service: Service, pods: Sequence[Pod]) -> ServiceEndpoints:
    listed = [
        pod
        for pod in pods
        if pod.node_name is not None
        and not pod.is_finished
        and all(pod.labels.get(key) == value for key, value in service.selector.items())
    ]
    ready = (pod.uid for pod in listed if pod.is_ready and not pod.is_terminating)
    return ServiceEndpoints(service.name, frozenset(pod.uid for pod in listed), frozenset(ready))
