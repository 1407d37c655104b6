{{/* What mode, guidance and kind come to. Each is "yes" or nothing. */}}

{{- define "rescheduler.isDaemon" -}}
{{- if eq .Values.kind "Deployment" -}}yes{{- end -}}
{{- end -}}

{{/* Evicts pods, at once or when a person has approved. */}}
{{- define "rescheduler.acts" -}}
{{- if ne .Values.mode "DryRun" -}}yes{{- end -}}
{{- end -}}

{{/* Writes more than evictions: the ledger, placeholders, Events. */}}
{{- define "rescheduler.keeps" -}}
{{- if and (ne .Values.mode "DryRun") (ne .Values.guidance "Predict") -}}yes{{- end -}}
{{- end -}}

{{- define "rescheduler.guides" -}}
{{- if and (include "rescheduler.acts" .) (eq .Values.guidance "Guide") -}}yes{{- end -}}
{{- end -}}

{{/* A rule of the policy lets pods move by surge. */}}
{{- define "rescheduler.surges" -}}
{{- if include "rescheduler.keeps" . -}}
{{- $methods := list -}}
{{- range dig "disruption" "moveBy" list (deepCopy .Values.policy) }}{{ $methods = append $methods .method }}{{ end -}}
{{- if has "Surge" $methods -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{- define "rescheduler.taints" -}}
{{- if and (include "rescheduler.acts" .) (eq .Values.guidance "Taint") -}}yes{{- end -}}
{{- end -}}

{{/* Whether a lease says who acts. DryRun has none, since it writes nothing. */}}
{{- define "rescheduler.elects" -}}
{{- if include "rescheduler.acts" . -}}
{{- if kindIs "bool" .Values.leaderElection.enabled -}}
{{- if .Values.leaderElection.enabled -}}yes{{- end -}}
{{- else if or (include "rescheduler.keeps" .) (and (include "rescheduler.isDaemon" .) (gt (int .Values.replicas) 1)) -}}yes{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether the API of the daemon is on. */}}
{{- define "rescheduler.serves" -}}
{{- if and (include "rescheduler.isDaemon" .) .Values.api.enabled -}}yes{{- end -}}
{{- end -}}

{{/* Whether the API can be reached from outside the pod. */}}
{{- define "rescheduler.servesOthers" -}}
{{- if and (include "rescheduler.serves" .) (not (include "rescheduler.isLoopback" .Values.api.address)) -}}yes{{- end -}}
{{- end -}}

{{/* Marks nodes that were emptied, for an autoscaler. */}}
{{- define "rescheduler.marks" -}}
{{- if and (include "rescheduler.isDaemon" .) (include "rescheduler.keeps" .) (has .Values.autoscaler.scaleDown (list "Annotate" "Taint")) -}}yes{{- end -}}
{{- end -}}

{{/* How an autoscaler is asked for room; empty: it is not. */}}
{{- define "rescheduler.asks" -}}
{{- if and (include "rescheduler.isDaemon" .) (include "rescheduler.keeps" .) (ne .Values.autoscaler.scaleUp "Leave") -}}
{{- .Values.autoscaler.scaleUp -}}
{{- end -}}
{{- end -}}
