#!/usr/bin/env bash
# Builds an OpenTelemetry collector with the components that docs/shipping.md configures, for the tests that run it. It takes some
# minutes of two cores and 1 GB in Go's caches, so it is built on demand and not in CI. Needs Go 1.26 or newer.
#
#   tests/servers/install-collector.sh
set -eu
cd "$(dirname "$0")/../.."
release=v0.165
directory=$PWD/.cache/collector
[ ! -x "$directory/otelcol" ] || exit 0
mkdir -p "$directory/source"
cd "$directory/source"
contrib=github.com/open-telemetry/opentelemetry-collector-contrib
core=go.opentelemetry.io/collector
cat >go.mod <<GO
module otelcol

go 1.26

require (
	$contrib/exporter/kafkaexporter $release.1
	$contrib/extension/storage/filestorage $release.1
	$contrib/receiver/filelogreceiver $release.1
	$core/otelcol $release.0
)
GO
cat >main.go <<GO
package main

import (
	"log"

	"$contrib/exporter/kafkaexporter"
	"$contrib/extension/storage/filestorage"
	"$contrib/receiver/filelogreceiver"
	"$core/component"
	"$core/confmap"
	"$core/confmap/provider/envprovider"
	"$core/confmap/provider/fileprovider"
	"$core/exporter"
	"$core/extension"
	"$core/otelcol"
	"$core/receiver"
	"$core/service/telemetry/otelconftelemetry"
)

func factories() (otelcol.Factories, error) {
	receivers := filelogreceiver.NewFactory()
	exporters := kafkaexporter.NewFactory()
	extensions := filestorage.NewFactory()
	return otelcol.Factories{
		Receivers:  map[component.Type]receiver.Factory{receivers.Type(): receivers},
		Exporters:  map[component.Type]exporter.Factory{exporters.Type(): exporters},
		Extensions: map[component.Type]extension.Factory{extensions.Type(): extensions},
		Telemetry:  otelconftelemetry.NewFactory(),
	}, nil
}

func main() {
	settings := otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "otelcol", Version: "$release"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{envprovider.NewFactory(), fileprovider.NewFactory()},
		}},
	}
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}
GO
echo "building an OpenTelemetry collector"
export GOFLAGS=-mod=mod
nice -n 15 go mod tidy
nice -n 15 go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$directory/otelcol.new" .
mv "$directory/otelcol.new" "$directory/otelcol" # whole or not at all
echo "the collector is $directory/otelcol"
