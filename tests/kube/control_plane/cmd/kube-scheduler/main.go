// Kubernetes' own kube-scheduler, built from its module.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
)

func main() { os.Exit(cli.Run(app.NewSchedulerCommand())) }
