{{/* What the schema cannot say: values that do not go together, in words. */}}

{{- define "rescheduler.refusals" -}}
{{- $policy := .Values.policy -}}
{{- range list "mode" "guidance" "leaderElection" "telemetry" "api" -}}
{{- if hasKey $policy . -}}
{{- fail (printf "policy.%s: the chart writes this itself; found it in the policy, wanted it as the value %s" . .) -}}
{{- end -}}
{{- end -}}
{{- $autoscaler := default dict $policy.autoscaler -}}
{{- range list "scaleUp" "scaleDown" -}}
{{- if hasKey $autoscaler . -}}
{{- fail (printf "policy.autoscaler.%s: the chart writes this itself; found it in the policy, wanted it as the value autoscaler.%s" . .) -}}
{{- end -}}
{{- end -}}
{{- if hasKey (default dict $policy.hold) "namespace" -}}
{{- fail "policy.hold.namespace: the chart writes this itself; found it in the policy, wanted it as the value holds.namespace" -}}
{{- end -}}
{{- if hasKey (default dict $policy.ledger) "name" -}}
{{- fail "policy.ledger.name: the chart writes this itself; found it in the policy, wanted it as the value ledgerName" -}}
{{- end -}}
{{- if and (not (include "rescheduler.isDaemon" .)) (eq .Values.mode "Approve") -}}
{{- fail (printf "mode: found Approve with kind %s, which ends with its plan; wanted DryRun, Execute, or kind: Deployment" .Values.kind) -}}
{{- end -}}
{{- $asks := or (ne .Values.autoscaler.scaleUp "Leave") (ne .Values.autoscaler.scaleDown "Leave") -}}
{{- if and (include "rescheduler.isDaemon" .) (eq .Values.guidance "Predict") $asks -}}
{{- fail (printf "autoscaler: found scaleUp %s and scaleDown %s with guidance Predict, which writes nothing but evictions; wanted Leave, or another guidance" .Values.autoscaler.scaleUp .Values.autoscaler.scaleDown) -}}
{{- end -}}
{{- if and (include "rescheduler.acts" .) (gt (int .Values.replicas) 1) (not (include "rescheduler.elects" .)) (include "rescheduler.isDaemon" .) -}}
{{- fail (printf "leaderElection.enabled: found false with %v replicas, which would all evict; wanted true, or replicas: 1" .Values.replicas) -}}
{{- end -}}
{{- if include "rescheduler.isLoopback" .Values.telemetry.address -}}
{{- fail (printf "telemetry.address: found %s, which neither probes nor Prometheus reach; wanted 0.0.0.0:PORT or [::]:PORT" .Values.telemetry.address) -}}
{{- end -}}
{{- if and (include "rescheduler.servesOthers" .) (not .Values.api.tlsSecret) -}}
{{- fail (printf "api.tlsSecret: nothing found; api.address %s can be reached by others, which needs TLS: a Secret of type kubernetes.io/tls, or an address on loopback" .Values.api.address) -}}
{{- end -}}
{{- if and .Values.persistence.enabled (include "rescheduler.isDaemon" .) (gt (int .Values.replicas) 1) (not (has "ReadWriteMany" .Values.persistence.accessModes)) -}}
{{- fail (printf "persistence.accessModes: found %s with %v replicas; wanted ReadWriteMany, or replicas: 1" (toJson .Values.persistence.accessModes) .Values.replicas) -}}
{{- end -}}
{{- end -}}
