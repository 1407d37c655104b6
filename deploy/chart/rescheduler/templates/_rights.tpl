{{/* Roles are read from the files that `kubectl apply -k deploy` applies, so that there is one list of rights. */}}

{{/* The rules of a role: dict root, file, kind, name. */}}
{{- define "rescheduler.rules" -}}
{{- $found := list -}}
{{- range regexSplit "(?m)^---$" (.root.Files.Get (printf "files/%s" .file)) -1 -}}
{{- $document := fromYaml . -}}
{{- if and (eq (toString $document.kind) $.kind) (eq (toString (dig "metadata" "name" "" $document)) $.name) -}}
{{- $found = $document.rules -}}
{{- end -}}
{{- end -}}
{{- if not $found -}}
{{- fail (printf "files/%s: no %s %s; the chart is not complete" .file .kind .name) -}}
{{- end -}}
{{- toYaml $found -}}
{{- end -}}

{{- define "rescheduler.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "rescheduler.serviceAccount" . }}
    namespace: {{ .Release.Namespace }}
{{- end -}}

{{/* A role for the whole cluster: dict root, file, part. */}}
{{- define "rescheduler.clusterRole" -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
{{ include "rescheduler.metadata" (dict "root" .root "name" (printf "%s-%s" (include "rescheduler.fullname" .root) .part)) }}
rules:
  {{- include "rescheduler.rules" (dict "root" .root "file" .file "kind" "ClusterRole" "name" (printf "rescheduler-%s" .part)) | nindent 2 }}
{{- end -}}

{{- define "rescheduler.clusterRoleBinding" -}}
{{- $name := printf "%s-%s" (include "rescheduler.fullname" .root) .part }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
{{ include "rescheduler.metadata" (dict "root" .root "name" $name) }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ default $name .roleName }}
{{ include "rescheduler.subjects" .root }}
{{- end -}}

{{/* A role for people who look at the daemon or steer it, and whom it is bound to: dict root, part, subjects. */}}
{{- define "rescheduler.people" -}}
{{ include "rescheduler.clusterRole" (dict "root" .root "file" "api.yaml" "part" .part) }}
{{- with .subjects }}
{{- $name := printf "%s-%s" (include "rescheduler.fullname" $.root) $.part }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
{{ include "rescheduler.metadata" (dict "root" $.root "name" $name) }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
subjects:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A ClusterRole bound where pods may be moved: for the whole cluster, or in each of executeNamespaces (and in those of
     `more`) alone: dict root, file, part. */}}
{{- define "rescheduler.grantedWherePodsMove" -}}
{{ include "rescheduler.clusterRole" . }}
{{- $name := printf "%s-%s" (include "rescheduler.fullname" .root) .part }}
{{- if .root.Values.executeNamespaces }}
{{- range uniq (concat .root.Values.executeNamespaces (default list .more)) }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
{{ include "rescheduler.metadata" (dict "root" $.root "name" $name "namespace" .) }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $name }}
{{ include "rescheduler.subjects" $.root }}
{{- end }}
{{- else }}
{{ include "rescheduler.clusterRoleBinding" . }}
{{- end }}
{{- end -}}

{{- define "rescheduler.granted" -}}
{{ include "rescheduler.clusterRole" . }}
{{ include "rescheduler.clusterRoleBinding" . }}
{{- end -}}

{{/* A role in one namespace, bound there: dict root, file, part, namespace, and name and object where they differ:
     name of the role in the file, object: what stands there, and what it is called here. */}}
{{- define "rescheduler.grantedIn" -}}
{{- $name := printf "%s-%s" (include "rescheduler.fullname" .root) .part -}}
{{- $rules := include "rescheduler.rules" (dict "root" .root "file" .file "kind" "Role" "name" (default (printf "rescheduler-%s" .part) .name)) -}}
{{- range $from, $to := (default dict .object) -}}
{{- $rules = regexReplaceAll (printf "(?m)^(\\s*)- %s(-[0-9a-f]{2})?$" $from) $rules (printf "${1}- %s${2}" $to) -}}
{{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
{{ include "rescheduler.metadata" (dict "root" .root "name" $name "namespace" .namespace) }}
rules:
  {{- $rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
{{ include "rescheduler.metadata" (dict "root" .root "name" $name "namespace" .namespace) }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $name }}
{{ include "rescheduler.subjects" .root }}
{{- end -}}
