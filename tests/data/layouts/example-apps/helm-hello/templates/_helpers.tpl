{{- define "helm-hello.labels" -}}
app: {{ .Release.Name }}
chart: {{ .Chart.Name }}
{{- end -}}
