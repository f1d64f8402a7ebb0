// SPDX-FileCopyrightText: 2026 The metalshift.maas authors
// SPDX-License-Identifier: GPL-3.0-or-later

// etcd, kube-apiserver, kube-controller-manager and kubectl in one binary: they share most of their code, so that one
// is linked sooner and lies smaller on the disk and in memory than four. The name it is called by, or else its first
// argument, says which of them runs.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

var programs = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          kubernetes(apiserver.NewAPIServerCommand),
	"kube-controller-manager": kubernetes(controllermanager.NewControllerManagerCommand),
	"kubectl":                 kubernetes(kubectl.NewDefaultKubectlCommand),
}

func kubernetes(command func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(command())) }
}

func main() {
	if _, known := programs[called()]; !known && len(os.Args) > 1 {
		os.Args = os.Args[1:]
	}
	run, known := programs[called()]
	if !known {
		fmt.Fprintln(os.Stderr, "usage: kubelab etcd|kube-apiserver|kube-controller-manager|kubectl [arguments]")
		os.Exit(2)
	}
	run()
}

func called() string {
	return filepath.Base(os.Args[0])
}
