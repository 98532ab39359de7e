//go:build tools

// Package tools pins the version of sops that the tests build.
package tools

import _ "github.com/getsops/sops/v3/cmd/sops"
