{{/* Names, labels and accounts. */}}

{{- define "rescheduler.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "rescheduler.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "rescheduler.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "rescheduler.selectorLabels" -}}
app.kubernetes.io/name: {{ include "rescheduler.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What people add never wins over what selectors rely on. */}}
{{- define "rescheduler.labels" -}}
{{- $ours := fromYaml (include "rescheduler.selectorLabels" .) -}}
{{- $_ := set $ours "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") -}}
{{- $_ := set $ours "app.kubernetes.io/managed-by" .Release.Service -}}
{{- $_ := set $ours "app.kubernetes.io/part-of" "rescheduler" -}}
{{- $_ := set $ours "app.kubernetes.io/version" (.Chart.AppVersion | replace "+" "_") -}}
{{- toYaml (merge $ours .Values.commonLabels) -}}
{{- end -}}

{{- define "rescheduler.annotations" -}}
{{- with .Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* metadata of an object of this release: dict root, name, and namespace and further labels where it has some. */}}
{{- define "rescheduler.metadata" -}}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "rescheduler.labels" .root | nindent 4 }}
    {{- with .labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- include "rescheduler.annotations" .root | nindent 2 }}
{{- end -}}

{{- define "rescheduler.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "rescheduler.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "rescheduler.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* The port of an address such as 0.0.0.0:8080 or [::]:8080. */}}
{{- define "rescheduler.port" -}}
{{- regexFind "[0-9]+$" . -}}
{{- end -}}

{{- define "rescheduler.isLoopback" -}}
{{- if regexMatch "^(127\\.[0-9.]+|localhost|\\[::1\\]):[0-9]+$" . -}}yes{{- end -}}
{{- end -}}
