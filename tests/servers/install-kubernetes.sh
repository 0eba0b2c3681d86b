#!/usr/bin/env bash
# Builds a Kubernetes control plane from Go modules, for the tests on a real apiserver: etcd, kube-apiserver, kube-scheduler and
# kube-controller-manager; and Helm. It takes some minutes of two cores, 400 MB for the binaries and some GB in Go's own caches.
# `make test` runs it in the background. Needs Go 1.24 or newer.
#
#   tests/servers/install-kubernetes.sh [DIRECTORY]     (.cache/kubernetes where none is given)
set -eu
cd "$(dirname "$0")/../.."
minor=34.2
etcd=v3.6.5
directory=${1:-.cache/kubernetes}
mkdir -p "$directory/bin" "$directory/source"
directory=$(cd "$directory" && pwd)
bin=$directory/bin
export GOFLAGS=-buildvcs=false

# k8s.io/kubernetes cannot be `go install`ed: its go.mod replaces its staging modules by folders. A module that requires it and
# replaces each of them by the published one can be built.
cd "$directory/source"
mkdir -p kubernetes etcd
version=v0.$minor
if [ ! -f kubernetes/go.sum ]; then
  echo "resolving Kubernetes 1.$minor"
  manifest=$(go mod download -json "k8s.io/kubernetes@v1.$minor" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
  {
    printf 'module control-plane\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v1.%s\n\nreplace (\n' "$minor"
    sed -n 's/^\t\(k8s\.io\/[a-z-]*\) v0\.0\.0$/\1/p' "$manifest" | sort -u | sed "s|.*|\t& => & $version|"
    printf ')\n'
  } >kubernetes/go.mod
  cat >kubernetes/tools.go <<'GO'
//go:build tools

package tools

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver/app"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	_ "k8s.io/kubernetes/cmd/kube-scheduler/app"
)
GO
  (cd kubernetes && nice -n 15 go mod tidy)
fi

build() { # the module's folder, a package, what the binary is called
  [ -x "$bin/$3" ] && return
  echo "building $3"
  stamp="-s -w -X k8s.io/component-base/version.gitVersion=v1.$minor"
  (cd "$1" && nice -n 15 go build -mod=mod -trimpath -ldflags "$stamp" -o "$bin/$3.new" "$2")
  mv "$bin/$3.new" "$bin/$3" # whole or not at all
}
build kubernetes k8s.io/kubernetes/cmd/kube-apiserver kube-apiserver

if [ ! -f etcd/go.sum ]; then
  printf 'module store\n\ngo 1.24.0\n\nrequire go.etcd.io/etcd/server/v3 %s\n' "$etcd" >etcd/go.mod
  printf '//go:build tools\n\npackage tools\n\nimport _ "go.etcd.io/etcd/server/v3/etcdmain"\n' >etcd/tools.go
  (cd etcd && nice -n 15 go mod tidy)
fi
build etcd go.etcd.io/etcd/server/v3 etcd
build kubernetes k8s.io/kubernetes/cmd/kube-controller-manager kube-controller-manager
build kubernetes k8s.io/kubernetes/cmd/kube-scheduler kube-scheduler
if [ ! -x "$bin/helm" ]; then # it renders the chart of packaging/helm
  echo "building helm"
  GOBIN=$bin nice -n 15 go install helm.sh/helm/v3/cmd/helm@v3.19.0
fi
echo "Kubernetes is in $bin"
