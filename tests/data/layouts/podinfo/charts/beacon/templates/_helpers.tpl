{{- define "beacon.fullname" -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- define "beacon.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}
