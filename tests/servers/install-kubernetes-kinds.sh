#!/usr/bin/env bash
# Brings the custom resource definitions of JobSet, Kueue, Volcano and Kubeflow's training operator, for the tests of jobs of these kinds on the
# control plane that install-kubernetes.sh builds; and builds JobSet's own controller. The tests play the others. Needs Go.
#
#   tests/servers/install-kubernetes-kinds.sh [DIRECTORY]     (.cache/kubernetes where none is given)
set -eu
cd "$(dirname "$0")/../.."
directory=${1:-.cache/kubernetes}
mkdir -p "$directory/kinds"
directory=$(cd "$directory" && pwd)

folder() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p'; }

jobset=sigs.k8s.io/jobset@v0.10.1
kueue=sigs.k8s.io/kueue@v0.14.0
kubeflow=github.com/kubeflow/training-operator@v1.9.3
volcano=volcano.sh/volcano@v1.10.0
define() { # module, folder of definitions
  cp -f "$(folder "$1")/$2"/*_*.yaml "$directory/kinds/"
}
define $jobset config/components/crd/bases
define $kueue config/components/crd/bases
define $kubeflow manifests/base/crds
define $volcano config/crd/volcano/bases
chmod -R u+w "$directory/kinds"
echo "the definitions of the kinds are in $directory/kinds"

if [ ! -x "$directory/bin/jobset" ]; then
  echo "building JobSet's controller"
  cd "$(folder $jobset)" && nice -n 15 go build -mod=mod -buildvcs=false -o "$directory/bin/jobset.new" .
  mv "$directory/bin/jobset.new" "$directory/bin/jobset" # whole or not at all
fi
