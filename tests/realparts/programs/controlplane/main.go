// Command controlplane is the real Kubernetes control plane of the test-suite:
// etcd, kube-apiserver and kube-controller-manager in one binary, so that they
// share one build and one download. The part to run is chosen by the name the
// binary is called by (a symbolic link, as the envtest layout wants), or else by
// the first argument. Each part takes exactly the flags of its original.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// parts maps a name to what runs it; args[0] is the name itself. Only etcd
// returns nothing: it ends the process by itself.
var parts = map[string]func(args []string) int{
	"etcd": func(args []string) int {
		etcdmain.Main(args)
		return 0
	},
	"kube-apiserver": func(args []string) int {
		return runCobra(apiserver.NewAPIServerCommand(), args)
	},
	"kube-controller-manager": func(args []string) int {
		return runCobra(controllermanager.NewControllerManagerCommand(), args)
	},
}

func runCobra(command *cobra.Command, args []string) int {
	command.SetArgs(args[1:])
	return cli.Run(command)
}

func main() {
	args := os.Args
	run, found := parts[filepath.Base(args[0])]
	if !found && len(args) > 1 {
		args = args[1:]
		run, found = parts[args[0]]
	}
	if !found {
		fmt.Fprintln(os.Stderr, "usage: controlplane etcd|kube-apiserver|kube-controller-manager [flags]")
		os.Exit(2)
	}
	// Some of the parts read os.Args by themselves (for their logs and their name).
	os.Args = args
	os.Exit(run(args))
}
