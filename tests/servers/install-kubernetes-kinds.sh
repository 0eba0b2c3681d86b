#!/usr/bin/env bash
# Brings the custom resource definitions of JobSet, Kueue, Volcano and Kubeflow's training operator, for the tests of jobs of these kinds on the
# control plane that install-kubernetes.sh builds; and builds JobSet's and Kueue's own controllers. The tests play the others. Needs Go.
#
#   tests/servers/install-kubernetes-kinds.sh [DIRECTORY]     (.cache/kubernetes where none is given)
set -eu
cd "$(dirname "$0")/../.."
directory=${1:-.cache/kubernetes}
mkdir -p "$directory/kinds"
directory=$(cd "$directory" && pwd)

folder() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p'; }

jobset=sigs.k8s.io/jobset@v0.10.1
kueue=sigs.k8s.io/kueue@v0.17.0
kubeflow=github.com/kubeflow/training-operator@v1.9.3
volcano=volcano.sh/volcano@v1.10.0
define() { # module, folder of definitions
  cp -f "$(folder "$1")/$2"/*_*.yaml "$directory/kinds/"
}
define $jobset config/components/crd/bases
define $kueue config/components/crd/bases
define $kubeflow manifests/base/crds
define $volcano config/crd/volcano/bases
cp -f "$(folder $kueue)/config/components/webhook/manifests.yaml" "$directory/kinds/kueue-webhooks.yaml"
chmod -R u+w "$directory/kinds"
echo "the definitions of the kinds are in $directory/kinds"

build() { # the module's folder, a package, what the binary is called
  [ -x "$directory/bin/$3" ] && return
  echo "building $3's controller"
  (cd "$1" && nice -n 15 go build -mod=mod -buildvcs=false -o "$directory/bin/$3.new" "$2")
  mv "$directory/bin/$3.new" "$directory/bin/$3" # whole or not at all
}
build "$(folder $jobset)" . jobset
# Kueue looks for a certificate of its metrics below /etc, whatever it is told: here it takes the one of its webhooks.
source=$directory/source/kueue
mkdir -p "$source"
(cd "$(folder $kueue)" && cp -r --no-preserve=mode go.mod go.sum apis client-go cmd internal pkg "$source/")
sed -i 's|"/etc/kueue/metrics/certs"|cfg.Webhook.CertDir|' "$source/cmd/kueue/main.go"
build "$source" ./cmd/kueue kueue
