#!/usr/bin/env bash
# Brings the custom resource definitions of JobSet, Kueue, Volcano and Kubeflow's training operator, and builds their controllers, for the
# tests of jobs of these kinds beside the control plane that install-kubernetes.sh builds. A controller that is not built is passed over by
# the tests that need it. Needs Go 1.25 or newer; some minutes of two cores for each controller.
#
#   tests/servers/install-kubernetes-kinds.sh [DIRECTORY]     (.cache/kubernetes where none is given)
set -eu
cd "$(dirname "$0")/../.."
directory=${1:-.cache/kubernetes}
mkdir -p "$directory/bin" "$directory/kinds"
directory=$(cd "$directory" && pwd)
export GOFLAGS=-buildvcs=false

# Their modules are built as they are: go.mod, go.sum and all replacements come with them.
bring() { # module@version, folder of definitions, folder of webhooks, package of the controller, what it is called
  folder=$(go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
  mkdir -p "$directory/kinds/$5"
  cp -f "$folder/$2"/*.yaml "$directory/kinds/$5/"
  [ -z "$3" ] || cp -f "$folder/$3/manifests.yaml" "$directory/kinds/$5/webhooks.yaml"
  chmod -R u+w "$directory/kinds/$5"
  [ -x "$directory/bin/$5" ] && return
  echo "building $5"
  (cd "$folder" && nice -n 19 go build -trimpath -ldflags "-s -w" -o "$directory/bin/$5.new" "$4")
  mv "$directory/bin/$5.new" "$directory/bin/$5" # whole or not at all
}
bring sigs.k8s.io/jobset@v0.10.1 config/components/crd/bases config/components/webhook . jobset
bring sigs.k8s.io/kueue@v0.14.0 config/components/crd/bases config/components/webhook ./cmd/kueue kueue
bring github.com/kubeflow/training-operator@v1.9.3 manifests/base/crds manifests/base/webhook ./cmd/training-operator.v1 training-operator
bring volcano.sh/volcano@v1.10.0 config/crd/volcano/bases '' ./cmd/controller-manager volcano
echo "the kinds of jobs are in $directory/kinds, their controllers in $directory/bin"
