//go:build tools

// Package tools pins the version of helm that the tests build.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
