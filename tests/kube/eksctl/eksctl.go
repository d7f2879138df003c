//go:build never

// Package eksctl is never built: it makes the module ask for eksctl, whose command is built as it is.
package eksctl

import _ "github.com/weaveworks/eksctl/cmd/eksctl"
