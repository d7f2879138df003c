//go:build never

// Package kwok is never built: it makes the module ask for kwok, whose command is built as it is.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
