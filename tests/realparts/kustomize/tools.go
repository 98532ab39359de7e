//go:build tools

// Package tools pins the version of kustomize that the image has and that tests of manifests build.
package tools

import _ "sigs.k8s.io/kustomize/kustomize/v5"
