{{/* The policy in two files: the operator's, and the chart's own fields, which win. */}}

{{- define "rescheduler.ownPolicy" -}}
apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
mode: {{ .Values.mode }}
guidance: {{ .Values.guidance }}
hold:
  namespace: {{ .Values.holds.namespace | quote }}
ledger:
  name: {{ .Values.ledgerName | quote }}
{{- with .Values.executeNamespaces }}
scope:
  namespaces:
    include: {{ toJson . }}
    exclude: []
{{- end }}
{{- include "rescheduler.ownLeaderElection" . }}
{{- if include "rescheduler.isDaemon" . }}
autoscaler:
  scaleUp: {{ .Values.autoscaler.scaleUp }}
  scaleDown: {{ .Values.autoscaler.scaleDown }}
telemetry:
  address: {{ .Values.telemetry.address | quote }}
{{- include "rescheduler.ownApi" . }}
{{- end }}
{{- end -}}

{{- define "rescheduler.ownLeaderElection" -}}
{{- if include "rescheduler.acts" . }}
leaderElection:
  enabled: {{ if include "rescheduler.elects" . }}true{{ else }}false{{ end }}
  name: {{ include "rescheduler.fullname" . | quote }}
  namespace: {{ .Release.Namespace | quote }}
  leaseDuration: {{ .Values.leaderElection.leaseDuration }}
  renewDeadline: {{ .Values.leaderElection.renewDeadline }}
  retryPeriod: {{ .Values.leaderElection.retryPeriod }}
{{- end }}
{{- end -}}

{{- define "rescheduler.ownApi" -}}
{{- if .Values.api.enabled }}
api:
  address: {{ .Values.api.address | quote }}
  audience: {{ .Values.api.audience | quote }}
  {{- if .Values.api.tlsSecret }}
  tls:
    certFile: /etc/rescheduler/tls/tls.crt
    keyFile: /etc/rescheduler/tls/tls.key
  {{- end }}
{{- end }}
{{- end -}}

{{/* The operator's file, with its head where that was left out. */}}
{{- define "rescheduler.policy" -}}
{{- $head := dict "apiVersion" "rescheduler/v1alpha1" "kind" "ReschedulerPolicy" -}}
{{- $policy := deepCopy .Values.policy -}}
{{- if .Values.deschedulerPolicy -}}
{{- $policy = omit $policy "objectives" -}}
{{- end -}}
{{- toYaml (merge $policy $head) -}}
{{- end -}}

{{/* descheduler's own file, which is read as it is. */}}
{{- define "rescheduler.deschedulerPolicy" -}}
{{- $head := dict "apiVersion" .Values.deschedulerPolicyAPIVersion "kind" "DeschedulerPolicy" -}}
{{- toYaml (merge (deepCopy .Values.deschedulerPolicy) $head) -}}
{{- end -}}
