//go:build never

// Package controlplane is never built: it makes the module ask for KubeRay's operator, whose command is built as it is.
package controlplane

import _ "github.com/ray-project/kuberay/ray-operator"
