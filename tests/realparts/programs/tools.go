//go:build tools

// Package tools pins the versions of helm and kustomize that the image has and that the tests build.
package tools

import (
	_ "helm.sh/helm/v3/cmd/helm"
	_ "sigs.k8s.io/kustomize/kustomize/v5"
)
