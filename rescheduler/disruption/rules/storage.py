"""Pods whose data would be lost, or would have to follow them."""

from __future__ import annotations

from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.model.objects.annotations import SAFE_TO_EVICT
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.policy import Permission


def local_storage(pod: Pod, context: EligibilityContext) -> str | None:
    """An emptyDir (in memory too) is lost with the pod; a hostPath stays behind on the node."""
    if context.policy.disruption.local_storage is Permission.ALLOW or context.methods.is_migrated(pod):
        return None
    if pod.annotations.get(SAFE_TO_EVICT) == "true":
        return None
    kinds = sorted({volume.kind for volume in pod.volumes if volume.kind in ("EmptyDir", "HostPath")})
    if kinds:
        return (
            f"keeps data on its node ({', '.join(kinds)}); policy: disruption.localStorage, "
            f'or the annotation {SAFE_TO_EVICT}: "true"'
        )
    return None


def persistent_volume(pod: Pod, context: EligibilityContext) -> str | None:
    """A claimed volume must detach and attach again, which can take long and can fail."""
    if context.methods.is_migrated(pod):
        return None
    allowed = context.policy.disruption.persistent_volumes
    for volume in pod.volumes:
        if volume.kind in ("PersistentVolumeClaim", "Ephemeral"):
            claim = context.cluster.claim_by_key.get((pod.namespace, volume.claim))
            if not allowed.allows(None if claim is None else claim.storage_class):
                of_class = (
                    "" if claim is None or allowed.denies_all else f" of storage class {claim.storage_class or 'none'}"
                )
                return (
                    f"uses the persistent volume claim {volume.claim}{of_class} (policy: disruption.persistentVolumes)"
                )
    return None
