// Kubernetes' own kube-apiserver, built from its module.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
)

func main() { os.Exit(cli.Run(app.NewAPIServerCommand())) }
