{{/* The pod of the daemon, and of one plan. */}}

{{- define "rescheduler.arguments" -}}
{{- if or (include "rescheduler.isDaemon" .) (include "rescheduler.acts" .) -}}
- run
{{- if not (include "rescheduler.isDaemon" .) }}
- --once
{{- end }}
- --log-level
- {{ .Values.logLevel }}
{{- else -}}
- plan
- -o
- {{ .Values.job.output }}
{{- end }}
{{- if .Values.deschedulerPolicy }}
- --policy
- /etc/rescheduler/policy/descheduler.yaml
{{- if and .Values.deschedulingInterval (include "rescheduler.isDaemon" .) }}
- --descheduling-interval
- {{ .Values.deschedulingInterval }}
{{- end }}
{{- end }}
- --policy
- /etc/rescheduler/policy/policy.yaml
- --policy
- /etc/rescheduler/policy/chart.yaml
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "rescheduler.podSecurity" -}}
{{- $ours := dict "runAsNonRoot" true "runAsUser" 65532 "runAsGroup" 65532 "fsGroup" 65532 "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- toYaml (merge (deepCopy .Values.podSecurityContext) $ours) -}}
{{- end -}}

{{- define "rescheduler.containerSecurity" -}}
{{- $ours := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) -}}
{{- toYaml (merge (deepCopy .Values.securityContext) $ours) -}}
{{- end -}}

{{- define "rescheduler.volumes" -}}
- name: policy
  projected:
    sources:
      {{- if .Values.existingPolicy.configMap }}
      - configMap:
          name: {{ .Values.existingPolicy.configMap }}
          items:
            - key: {{ .Values.existingPolicy.key }}
              path: policy.yaml
      {{- end }}
      - configMap:
          name: {{ include "rescheduler.fullname" . }}-policy
- name: state
  {{- if .Values.persistence.enabled }}
  persistentVolumeClaim:
    claimName: {{ default (include "rescheduler.fullname" .) .Values.persistence.existingClaim }}
  {{- else }}
  emptyDir: {}
  {{- end }}
- name: tmp
  emptyDir: {}
{{- if and (include "rescheduler.serves" .) .Values.api.tlsSecret }}
- name: tls
  secret:
    secretName: {{ .Values.api.tlsSecret }}
    defaultMode: 0440
{{- end }}
{{- with .Values.credentials.existingSecret }}
- name: credentials
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "rescheduler.mounts" -}}
- name: policy
  mountPath: /etc/rescheduler/policy
  readOnly: true
- name: state
  mountPath: /var/lib/rescheduler
- name: tmp
  mountPath: /tmp
{{- if and (include "rescheduler.serves" .) .Values.api.tlsSecret }}
- name: tls
  mountPath: /etc/rescheduler/tls
  readOnly: true
{{- end }}
{{- if .Values.credentials.existingSecret }}
- name: credentials
  mountPath: /etc/rescheduler/credentials
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "rescheduler.ports" -}}
ports:
  - name: telemetry
    containerPort: {{ include "rescheduler.port" .Values.telemetry.address }}
    protocol: TCP
  {{- if include "rescheduler.servesOthers" . }}
  - name: api
    containerPort: {{ include "rescheduler.port" .Values.api.address }}
    protocol: TCP
  {{- end }}
{{- end -}}

{{- define "rescheduler.probes" -}}
{{- range $name, $path := dict "livenessProbe" "/livez" "readinessProbe" "/readyz" "startupProbe" "/livez" }}
{{ $name }}:
  httpGet:
    path: {{ $path }}
    port: telemetry
  {{- toYaml (index $.Values $name) | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "rescheduler.container" -}}
name: rescheduler
image: {{ include "rescheduler.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args:
  {{- include "rescheduler.arguments" . | nindent 2 }}
env:
  - name: XDG_STATE_HOME
    value: /var/lib/rescheduler
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if include "rescheduler.isDaemon" . }}
{{ include "rescheduler.ports" . }}
{{- include "rescheduler.probes" . }}
{{- end }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  {{- include "rescheduler.containerSecurity" . | nindent 2 }}
volumeMounts:
  {{- include "rescheduler.mounts" . | nindent 2 }}
{{- end -}}

{{- define "rescheduler.placing" -}}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- range $name := list "imagePullSecrets" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
{{- with index $.Values $name }}
{{ $name }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* template of a workload's pods. */}}
{{- define "rescheduler.podTemplate" -}}
metadata:
  labels:
    {{- include "rescheduler.podLabels" . | nindent 4 }}
  annotations:
    # Modes, addresses and names are read at start; the operator's policy is read again while the daemon runs.
    checksum/chart-policy: {{ include "rescheduler.ownPolicy" . | sha256sum }}
    {{- with merge (deepCopy .Values.podAnnotations) .Values.commonAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "rescheduler.serviceAccount" . }}
  {{- if not (include "rescheduler.isDaemon" .) }}
  restartPolicy: Never
  {{- end }}
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  {{- include "rescheduler.placing" . | nindent 2 }}
  securityContext:
    {{- include "rescheduler.podSecurity" . | nindent 4 }}
  containers:
    - {{- include "rescheduler.container" . | nindent 6 }}
  volumes:
    {{- include "rescheduler.volumes" . | nindent 4 }}
{{- end -}}

{{- define "rescheduler.podLabels" -}}
{{- $ours := fromYaml (include "rescheduler.selectorLabels" .) -}}
{{- toYaml (merge $ours (deepCopy .Values.podLabels) .Values.commonLabels) -}}
{{- end -}}
