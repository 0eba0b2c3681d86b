{{- define "schedmate.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "schedmate.selector" -}}
app.kubernetes.io/name: schedmate
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "schedmate.labels" -}}
{{ include "schedmate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* The settings file. */}}
{{- define "schedmate.settings.settings.settings" -}}
schedmate.toml: |
{{ .Values.settings | toToml | indent 2 }}
{{- end }}

{{/* The Secret of a settings section for a program. */}}
{{- define "schedmate.secret" -}}
{{- $secret := index .root.Values.secrets .section }}
{{- if and (eq .section "kafka") .values.kafkaSecret.name }}{{ $secret = .values.kafkaSecret }}{{ end }}
{{- toJson $secret }}
{{- end }}

{{/*
The pod template of a program. Of a dictionary:
  root; component: its name; values: its part of the values; args; config: the ConfigMap
  sections: whose passwords it needs; api: whether it speaks to the API server; state: a volume; node: whether it belongs to a node
  security, pod, volumes, mounts, sidecars: what it has besides
*/}}
{{- define "schedmate.pod" -}}
{{- $root := .root }}{{ $values := .values }}{{ $name := include "schedmate.name" .root }}
metadata:
  labels:
    {{- include "schedmate.labels" . | nindent 4 }}
  annotations:
    checksum/settings: {{ include "schedmate.settings.settings.settings" .root | sha256sum }}
    {{- with $values.podAnnotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ $name }}-{{ .component }}
  automountServiceAccountToken: {{ .api | default false }}
  enableServiceLinks: false
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .pod }}{{ toYaml . | nindent 2 }}{{ end }}
  {{- with $values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if not .security }}
  securityContext: {runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001, seccompProfile: {type: RuntimeDefault}}
  {{- end }}
  {{- if eq .component "setup" }}
  initContainers:
    - name: topics
      args: [topics, create]
      {{- include "schedmate.container" . | nindent 6 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      args: {{- toYaml .args | nindent 8 }}
      {{- include "schedmate.container" . | nindent 6 }}
      {{- if eq .component "web" }}
      # The page listens on loopback alone, so it is asked from inside its pod.
      readinessProbe:
        exec: {command: [python, -c, "import socket; socket.create_connection(('127.0.0.1', 8787), 4)"]}
        periodSeconds: 30
        timeoutSeconds: 10
      {{- else if ne .component "setup" }}
      ports: [{name: metrics, containerPort: 9100}]
      # What waits for a server is not mended by a restart: /health keeps it from being called ready, and no more.
      readinessProbe: {httpGet: {path: /health, port: metrics}, periodSeconds: 15, timeoutSeconds: 5}
      livenessProbe: {tcpSocket: {port: metrics}, initialDelaySeconds: 30, periodSeconds: 30, failureThreshold: 4}
      {{- end }}
    {{- with .sidecars }}{{ toYaml . | nindent 4 }}{{ end }}
  volumes:
    - {name: settings, configMap: {name: {{ .config | default (printf "%s-settings" $name) }}}}
    - {name: temporary, emptyDir: {}}
    - name: state
      {{- toYaml (.state | default (dict "emptyDir" (dict))) | nindent 6 }}
    {{- with $root.Values.authorities }}
    - {name: authorities, configMap: {name: {{ . }}}}
    {{- end }}
    {{- range .sections }}
    {{- $secret := include "schedmate.secret" (dict "root" $root "values" $values "section" .) | fromJson }}
    {{- if $secret.name }}
    - {name: secret-{{ . | replace "_" "-" }}, secret: {secretName: {{ $secret.name }}, defaultMode: 0440, items: [{key: {{ $secret.key }}, path: secret}]}}
    {{- end }}
    {{- end }}
    {{- with .volumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end }}

{{/* A container of our image, without its name and arguments. */}}
{{- define "schedmate.container" -}}
{{- $root := .root }}{{ $values := .values }}
image: {{ printf "%s:%s" $root.Values.image.repository ($root.Values.image.tag | default $root.Chart.AppVersion) }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
securityContext:
  {{- toYaml (.security | default (dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")))) | nindent 2 }}
resources: {{- toYaml $values.resources | nindent 2 }}
env:
  - {name: SCHEDMATE_CONFIG, value: /etc/schedmate/schedmate.toml}
  - {name: SCHEDMATE_PRODUCER__DIRECTORY, value: /var/lib/schedmate}
  {{- if has .component (list "bridge" "spot" "starts") }}
  - {name: SCHEDMATE_BRIDGE__SCHEDULER, value: kubernetes}
  {{- end }}
  {{- if .node }}
  - {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
  {{- end }}
  {{- with $values.kafkaUser }}
  - {name: SCHEDMATE_KAFKA__USERNAME, value: {{ . | quote }}}
  {{- end }}
  {{- range .sections }}
  {{- $secret := include "schedmate.secret" (dict "root" $root "values" $values "section" .) | fromJson }}
  {{- if $secret.name }}
  {{- $setting := get (dict "signing_keys" "BRIDGE__SIGNING_KEYS_FILE" "slack" "NOTIFY__SLACK_FILE" "clickhouse_reader" "CLICKHOUSE__READER_PASSWORD_FILE") . | default (printf "%s__PASSWORD_FILE" (upper .)) }}
  - {name: SCHEDMATE_{{ $setting }}, value: /etc/schedmate/secrets/{{ . }}/secret}
  {{- end }}
  {{- end }}
volumeMounts:
  - {name: settings, mountPath: /etc/schedmate/schedmate.toml, subPath: schedmate.toml, readOnly: true}
  - {name: temporary, mountPath: /tmp}
  - {name: state, mountPath: /var/lib/schedmate}
  {{- if $root.Values.authorities }}
  - {name: authorities, mountPath: /etc/schedmate/authorities, readOnly: true}
  {{- end }}
  {{- range .sections }}
  {{- $secret := include "schedmate.secret" (dict "root" $root "values" $values "section" .) | fromJson }}
  {{- if $secret.name }}
  - {name: secret-{{ . | replace "_" "-" }}, mountPath: /etc/schedmate/secrets/{{ . }}, readOnly: true}
  {{- end }}
  {{- end }}
  {{- with .mounts }}{{ toYaml . | nindent 2 }}{{ end }}
{{- end }}

{{/* A program that runs anywhere. */}}
{{- define "schedmate.deployment" -}}
{{- if .values.enabled }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "schedmate.name" .root }}-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "schedmate.labels" . | nindent 4 }}
spec:
  replicas: {{ .values.replicas | default 1 }}
  {{- if has .component (list "watcher" "advisor") }}
  strategy: {type: Recreate}
  {{- end }}
  selector:
    matchLabels: {{- include "schedmate.selector" . | nindent 6 }}
  template: {{- include "schedmate.pod" . | nindent 4 }}
{{- end }}
{{- end }}

{{/* A program that runs on every node. */}}
{{- define "schedmate.daemonset" -}}
{{- if .values.enabled }}
---
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ include "schedmate.name" .root }}-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "schedmate.labels" . | nindent 4 }}
spec:
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 10%}}
  selector:
    matchLabels: {{- include "schedmate.selector" . | nindent 6 }}
  template: {{- include "schedmate.pod" . | nindent 4 }}
{{- end }}
{{- end }}

{{/* The programs that are turned on, and the actions that the bridge may carry out. */}}
{{- define "schedmate.components" -}}
{{- $found := list }}
{{- range $component, $key := dict "worker" "worker" "sink" "sink" "bridge" "bridge" "watcher" "watcher" "advisor" "advisor" "spot" "spot" "starts" "starts" "model-worker" "modelWorker" "web" "web" "notifier" "notifier" "collector" "collector" "gpu-agent" "gpuAgent" }}
{{- if (index $.Values $key).enabled }}{{ $found = append $found $component }}{{ end }}
{{- end }}
{{- toJson $found }}
{{- end }}
